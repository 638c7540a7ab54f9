"""Settings on the wire. Source: spec, "Settings"; wire reference, 3.8 and 3.9."""

from typing import Annotated, ClassVar, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints

from service_tui.terms import DAY_BUYS_MAX, STOP_MAX, TARGET_MAX, Side
from service_tui.wire.agents import AgentSettingsPatch
from service_tui.wire.base import (
    AMOUNT_MAX,
    MICRO,
    AnyVenue,
    Count,
    Line,
    Moment,
    Money,
    NamingModel,
    SentLine,
    WireModel,
)
from service_tui.wire.buy_limits import BuyLimitsBody

Positive = Annotated[
    float,
    Field(
        # Not merely above 0: what rounds to no micro would be a limit of nothing.
        ge=MICRO,
        le=AMOUNT_MAX,
        description="units, at most six decimals",
        json_schema_extra={"multipleOf": MICRO},
    ),
]
StopLoss = Annotated[float, Field(ge=0, le=STOP_MAX)]
"""Fraction down at which to close; 0 means off. Source: decisions, "Time"."""

TakeProfit = Annotated[float, Field(ge=0, le=TARGET_MAX)]
"""Fraction up at which to close; 0 means off."""

TradesPerDay = Annotated[int, Field(ge=1, le=DAY_BUYS_MAX)]
"""The plans have lower ceilings: 1,000 and 5,000, none for Elite. Source: wire reference, 7."""

_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_KEY_BYTES: Final = 32


def _solana_address(text: str) -> str:
    """An address of the Solana type: 32 bytes in base 58.

    Returns:
        The address as given.

    Raises:
        ValueError: it is none.
    """
    number = 0
    for letter in text:
        digit = _BASE58.find(letter)
        if digit < 0:
            raise ValueError("not base 58")
        number = number * len(_BASE58) + digit
    zeros = len(text) - len(text.lstrip(_BASE58[0]))
    if zeros + (number.bit_length() + 7) // 8 != _KEY_BYTES:
        raise ValueError("not an address of 32 bytes")
    return text


def _https(text: str) -> str:
    """An https address; it is kept and never called.

    Returns:
        The address as given.

    Raises:
        ValueError: another scheme, or no host.
    """
    parts = urlsplit(text)
    if parts.scheme != "https" or not parts.hostname:
        raise ValueError("not an https address")
    return text


SOLANA_MIN: Final = 32
SOLANA_MAX: Final = 44
SolanaAddress = Annotated[
    str,
    StringConstraints(min_length=SOLANA_MIN, max_length=SOLANA_MAX),
    AfterValidator(_solana_address),
]
HttpsAddress = Annotated[SentLine, AfterValidator(_https)]


class SettingsBody(WireModel):
    """Answer of `GET /api/sdk/settings`, with the spec's names and defaults."""

    sdk_real_trading_enabled: bool
    wallet_address: Line | None = None
    wallet_ownership: Line = "native"
    has_legacy_wallet: bool = False
    polymarket_usdc_balance: Money | None = None
    polymarket_allowances_set: bool = False
    sdk_max_trade_amount: Money = 100.0
    sdk_daily_limit: Money = 500.0
    sdk_daily_spent: Money = 0.0
    # True unless the service reports false: a service that does not say counts as paused.
    trading_paused: bool = True
    solana_wallet_address: Line | None = None
    kalshi_usdc_balance: Money | None = None
    last_sdk_version: Line | None = None
    last_sdk_version_seen_at: Moment | None = None
    # Source: wire reference, 3.8; clients read the linked address before the other one.
    wallet_uses_deposit_wallet: bool = False
    deposit_wallet_address: Line | None = None
    linked_wallet_address: Line | None = None


class SettingsPatch(NamingModel):
    """Payload of `POST` and `PATCH /api/sdk/settings`; every field optional (decisions, "Wire").

    The first three name the account's owner on the real service: accepted, without effect here.
    """

    user_email: SentLine | None = None
    dynamic_user_id: SentLine | None = None
    wallet: SentLine | None = None
    sdk_real_trading_enabled: bool | None = None
    sdk_max_trade_amount: Positive | None = None
    sdk_daily_limit: Positive | None = None
    max_trades_per_day: TradesPerDay | None = None
    max_position_usd: Positive | None = None
    default_stop_loss_pct: StopLoss | None = None
    default_take_profit_pct: TakeProfit | None = None
    auto_risk_monitor_enabled: bool | None = None
    trading_paused: bool | None = None
    skill_daily_budget: Positive | None = None


class RemovedMonitorBody(WireModel):
    """A monitor that was removed because automatic stops were turned off."""

    market_id: Line
    side: Side
    venue: AnyVenue
    question: Line = ""


class UserSettingsBody(WireModel):
    """Answer of `GET` and `PATCH /api/sdk/user/settings`."""

    max_trades_per_day: int | None = None
    # ours: buys since midnight UTC, so that a person sees how much of the limit is used.
    trades_today: Count | None = None
    max_position_usd: Money | None = None
    default_stop_loss_pct: StopLoss | None = 0.20
    default_take_profit_pct: TakeProfit | None = None
    auto_risk_monitor_enabled: bool = True
    trading_paused: bool = True
    solana_wallet_address: Line | None = None
    clawdbot_webhook_url: Line | None = None
    clawdbot_chat_id: Line | None = None
    clawdbot_channel: Line | None = None
    # ours: what turning the automatic off has just removed; empty in every other answer.
    monitors_removed: tuple[RemovedMonitorBody, ...] = ()
    # ours: names in the body that nobody reads; empty in every other answer.
    warnings: tuple[Line, ...] = ()
    # ours: what a skill may spend a day, where the service keeps that as well; null is "it does
    # not". And every rail with what is used of it.
    skill_daily_budget: Money | None = None
    rails: BuyLimitsBody | None = None


class AllSettingsBody(SettingsBody, UserSettingsBody):
    """ours: after a change through `/api/sdk/settings`, everything that could have been changed."""


class UserSettingsPatch(NamingModel):
    """Payload of `PATCH /api/sdk/user/settings`: only what is sent changes."""

    max_trades_per_day: TradesPerDay | None = None
    max_position_usd: Positive | None = None
    default_stop_loss_pct: StopLoss | None = None
    default_take_profit_pct: TakeProfit | None = None
    auto_risk_monitor_enabled: bool | None = None
    trading_paused: bool | None = None
    clawdbot_webhook_url: HttpsAddress | None = None
    clawdbot_chat_id: SentLine | None = None
    clawdbot_channel: SentLine | None = None
    # Write-only: what is set shows as `solana_wallet_address`; null takes it away.
    bot_solana_wallet: SolanaAddress | None = None
    skill_daily_budget: Positive | None = None


_BY_CALL: Final = {
    **dict.fromkeys(SettingsPatch.model_fields, "POST /api/sdk/settings"),
    **dict.fromkeys(UserSettingsPatch.model_fields, "PATCH /api/sdk/user/settings"),
    "auto_redeem_enabled": "PATCH /api/sdk/agents/me/settings",
}
for _patch in (SettingsPatch, UserSettingsPatch, AgentSettingsPatch):
    _patch.sister_fields = _BY_CALL


class SentSettingsPatch(SettingsPatch):
    """The same change with nulls sent."""

    sends_null: ClassVar[bool] = True


class SentUserSettingsPatch(UserSettingsPatch):
    """The same change with nulls sent: they take away what can be off."""

    sends_null: ClassVar[bool] = True

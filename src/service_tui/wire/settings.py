"""Settings on the wire. Source: spec, "Settings"; wire reference, 3.8 and 3.9."""

from typing import Annotated

from pydantic import Field

from service_tui.wire.base import AMOUNT_MAX, Count, Line, Moment, Money, SentLine, WireModel

Positive = Annotated[
    float,
    Field(
        # Not merely above 0: what rounds to no micro would be a limit of nothing.
        ge=0.000001,
        le=AMOUNT_MAX,
        description="units, at most six decimals",
        json_schema_extra={"multipleOf": 0.000001},
    ),
]
StopLoss = Annotated[float, Field(ge=0, le=1)]
"""Fraction down at which to close; 0 means off. Source: decisions, "Time"."""

TakeProfit = Annotated[float, Field(ge=0, le=1_000)]
"""Fraction up at which to close; 0 means off."""

TradesPerDay = Annotated[int, Field(ge=1, le=5_000)]
"""5,000 is the ceiling of the Pro plan. Source: wire reference, section 7."""


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
    # True unless the service says false: a service that does not say counts as paused.
    trading_paused: bool = True
    solana_wallet_address: Line | None = None
    kalshi_usdc_balance: Money | None = None
    last_sdk_version: Line | None = None
    last_sdk_version_seen_at: Moment | None = None


class SettingsPatch(WireModel):
    """Payload of `POST /api/sdk/settings`; every field optional (decisions, "Wire")."""

    user_email: SentLine | None = None
    sdk_real_trading_enabled: bool | None = None
    sdk_max_trade_amount: Positive | None = None
    sdk_daily_limit: Positive | None = None
    max_trades_per_day: TradesPerDay | None = None
    trading_paused: bool | None = None


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


class UserSettingsPatch(WireModel):
    """Payload of `PATCH /api/sdk/user/settings`: only what is sent changes."""

    max_trades_per_day: TradesPerDay | None = None
    max_position_usd: Positive | None = None
    default_stop_loss_pct: StopLoss | None = None
    default_take_profit_pct: TakeProfit | None = None
    auto_risk_monitor_enabled: bool | None = None
    trading_paused: bool | None = None

"""Trades on the wire. Source: spec, "Trade"; wire reference, 3.3 to 3.5."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Annotated, Final, Literal, Self, TypeGuard

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict

from service_tui.terms import (
    OFFSET_MAX,
    TRADES_PAGE_MAX,
    Action,
    OrderType,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.wire.base import (
    EXPIRATION_MAX,
    Amount,
    AnyVenue,
    Count,
    Identifier,
    LenientModel,
    Line,
    Moment,
    Money,
    Price,
    Prose,
    ReadSignalData,
    SentLine,
    SentProse,
    SignalData,
    WireModel,
)
from service_tui.wire.chain import Address
from service_tui.wire.moments import RequestedMoment
from service_tui.wire.monitors import StopFraction, TakeFraction
from service_tui.wire.signed_order import SignedOrderBody

CLIENT_REF = "client_ref"
"""Under this key of `signal_data` our own reference travels. Source: decisions, "Wire"."""

SIGNAL_KEYS_MAX = 64
SIGNAL_BYTES_MAX = 8_192
"""Source: failures, B4."""


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


SIGNAL_FIELDS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "edge": (_is_number, "a number"),
    "confidence": (lambda value: _is_number(value) and 0 <= value <= 1, "a number from 0 to 1"),
    "signal_source": (lambda value: isinstance(value, str), "a text"),
}
"""The keys with a meaning of their own. Source: spec, "signal_data"."""

_Kind = tuple[Callable[[object], bool], str]
SIGNAL_FIELD: Final[_Kind] = (
    lambda value: isinstance(value, str) or _is_number(value),
    "a text or a number",
)
"""Every other key."""

_STATUSES = {status.value: status for status in TradeStatus}


def _status(value: object) -> object:
    """A known word in lower case; every other word as it was sent."""
    return _STATUSES.get(value.lower(), value) if isinstance(value, str) else value


AnyStatus = Annotated[
    TradeStatus | Line, Field(union_mode="left_to_right"), BeforeValidator(_status)
]
"""A trade's state; the list of the words is not closed. Source: spec, "Trade status"."""

SkillSlug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\-]{1,128}$")]
"""The skill that made an order."""

_SIZES: JsonDict = {
    "if": {"properties": {"action": {"const": "sell"}}, "required": ["action"]},
    "then": {
        "properties": {
            "amount": {"const": 0},
            "shares": {"exclusiveMinimum": 0, "multipleOf": 0.00001},
            "stop_loss_pct": {"type": "null"},
            "take_profit_pct": {"type": "null"},
        },
        "required": ["shares"],
    },
    "else": {
        "properties": {
            "amount": {"exclusiveMinimum": 0, "multipleOf": 0.01},
            "shares": {"const": 0},
        },
        "required": ["amount"],
    },
}
"""The two shapes of an order, for the document of the service.

Not `oneOf`: generators of clients make a type of each branch, without market and side.
"""


_NO_EXITS: Final = (None, None)


class TradeRequest(WireModel):
    """An order. A buy gives `amount` of money, a sale gives `shares`; the other is 0."""

    model_config = ConfigDict(json_schema_extra=_SIZES)

    market_id: Identifier
    side: Side
    amount: Amount = 0.0
    shares: Amount = 0.0
    action: Action = Action.BUY
    venue: AnyVenue = Venue.SIM
    order_type: OrderType | None = None
    price: Annotated[float, Field(gt=0, lt=1)] | None = None
    # ours: Unix seconds at which a GTD order dies; the published client sends none.
    expiration: Annotated[float, Field(gt=0, le=EXPIRATION_MAX)] | None = None
    dry_run: bool = False
    # Deprecated: asks for `order_params` and carries out nothing. Source: wire reference, 3.3.
    execute: bool | None = None
    reasoning: SentProse | None = None
    source: SentLine | None = None
    skill_slug: SkillSlug | None = None
    signal_data: SignalData | None = None
    # ours: the monitor that a buy sets when it fills; one left out stays, or is the default.
    stop_loss_pct: StopFraction | None = None
    take_profit_pct: TakeFraction | None = None
    # An external wallet's own signature under a real order. Source: wire reference, 3.3 and 6.2.
    signed_order: SignedOrderBody | None = None
    wallet_address: Address | None = None

    @field_validator("signal_data")
    @classmethod
    def _bounded(cls, value: SignalData | None) -> SignalData | None:
        """Keep the private notes of a trade small and flat."""
        if value is None:
            return None
        size = sum(len(key.encode()) + len(str(entry).encode()) for key, entry in value.items())
        if len(value) > SIGNAL_KEYS_MAX or size > SIGNAL_BYTES_MAX:
            raise ValueError(
                f"signal_data holds at most {SIGNAL_KEYS_MAX} keys and {SIGNAL_BYTES_MAX} bytes"
            )
        return value

    @field_validator("signal_data", mode="before")
    @classmethod
    def _of_its_kind(cls, value: JsonValue) -> JsonValue:
        """Name a field of another kind in plain words, not by every kind that was tried."""
        if isinstance(value, dict):
            for name, entry in islice(value.items(), SIGNAL_KEYS_MAX):
                fits, what = SIGNAL_FIELDS.get(name, SIGNAL_FIELD)
                if not fits(entry):
                    raise ValueError(f"signal_data.{name} has to be {what}")
        return value

    @property
    def is_quote(self) -> bool:
        """True for a quote: `dry_run`, or `execute` false."""
        return self.dry_run or bool(self.execute)

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        """A buy is sized by money, a sale by shares."""
        size, other = (
            (self.amount, self.shares) if self.action is Action.BUY else (self.shares, self.amount)
        )
        if not size > 0 or other != 0:
            raise ValueError("a buy needs amount above 0 and no shares; a sell the reverse")
        if self.action is Action.SELL and (self.stop_loss_pct, self.take_profit_pct) != _NO_EXITS:
            raise ValueError("a sale sets no monitor: leave stop_loss_pct and take_profit_pct out")
        return self


class TradeBalance(WireModel):
    """Where the published client looks for the balance."""

    sim_balance: Money | None = None


class GoLiveStep(WireModel):
    """One step on the way to real money, and who takes it."""

    actor: Literal["agent", "owner"]
    action: Line
    method: Line | None = None
    url: Line | None = None
    body: dict[str, str | bool] | None = None


class GoLiveBody(WireModel):
    """A nudge after so many trades on sim. Source: wire reference, 3.4."""

    reason: Line
    sim_trades: Count
    steps: tuple[GoLiveStep, ...]


class OrderParamsBody(WireModel):
    """What an order would be made of. Ids are those of a venue on a chain, null elsewhere."""

    token_id: Line | None = None
    price: Price
    size: Amount
    side: Line
    condition_id: Line | None = None
    neg_risk: bool = False


class TradeBody(LenientModel):
    """What became of an order. `cost` is positive: proceeds on a sale, 0 while resting.

    An answer that leaves out which market and side it is about is still an answer.
    """

    success: bool
    trade_id: Line | None = None
    market_id: Line = ""
    side: Side | None = None
    shares_bought: Amount = 0.0
    shares_sold: Amount = 0.0
    shares_requested: Amount = 0.0
    # The spec's names beside the published client's.
    shares: Amount = 0.0
    status: AnyStatus | None = None
    order_status: Line | None = None
    fill_status: AnyStatus | None = None
    cost: Amount = 0.0
    new_price: Price = 0.0
    price_before: Price | None = None
    avg_price: Price | None = None
    fee_rate_bps: Count = 0
    position: TradeBalance | None = None
    balance: Money | None = None
    dry_run: bool = False
    retryable: bool = False
    error: Line | None = None
    error_code: Line | None = None
    error_hint: Prose | None = None
    fix: Prose | None = None
    order_id: Line | None = None
    # ours: the taker's fee beside `cost`, the money that an open buy keeps, and that it is play.
    fee: Amount = 0.0
    reserved: Amount = 0.0
    simulated: bool = False
    warnings: tuple[Line, ...] = ()
    go_live: GoLiveBody | None = None
    # Only in the answer to the deprecated `execute`. Source: wire reference, 3.3.
    order_params: OrderParamsBody | None = None
    intent_id: Line | None = None
    platform: Line | None = None


class TradesQuery(WireModel):
    """Which part of the history; newest first."""

    venue: AnyVenue | Literal["all"] = "all"
    limit: Annotated[int, Field(ge=1, le=TRADES_PAGE_MAX)] = 50
    offset: Annotated[int, Field(ge=0, le=OFFSET_MAX)] = 0
    market_id: Identifier | None = None
    since: RequestedMoment | None = None
    until: RequestedMoment | None = None
    # ours: accepted; a refused order is answered and leaves no row, as it changed nothing.
    include_failed: bool = False
    # ours: a key sees its own agent alone; any other id is unknown to it.
    agent_id: Identifier | None = None


class TradeRow(WireModel):
    """One accepted order, or one payout (`action` redeem)."""

    id: Line
    trade_id: Line = ""
    market_id: Line
    market_question: Line = ""
    side: Side
    action: Line
    shares: Amount = 0.0
    cost: Amount = 0.0
    price_before: Price | None = None
    price_after: Price | None = None
    avg_price: Price | None = None
    venue: AnyVenue = Venue.SIM
    status: AnyStatus = TradeStatus.FILLED
    source: Line | None = None
    skill_slug: Line | None = None
    reasoning: Prose | None = None
    signal_data: ReadSignalData | None = None
    created_at: Moment
    pnl: Money | None = None
    outcome: bool | None = None
    resolved: bool = False
    market_source: AnyVenue | None = None
    fee: Amount = 0.0
    simulated: bool = False
    # ours: what a share of YES pays once the market has ended, and whether it gave the money back:
    # `outcome` is null where neither side won whole.
    payout_per_yes: Price | None = None
    voided: bool = False


class TradesBody(LenientModel):
    """A page of the history."""

    trades: tuple[TradeRow, ...]
    total_count: Count = 0

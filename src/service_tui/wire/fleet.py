"""Bodies of permissions, pending trades, and alerts on agents.

ours: the spec has no such endpoints. All but one stand under `/api/desk/` and want the operator
key; with its own key an agent asks what became of the trades that it was told are `submitted`.
"""

from datetime import date
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StringConstraints

from service_tui.terms import (
    AGENT_ALERT_MINUTES_MAX,
    LEASH_WAIT_MAX_S,
    LEASH_WAIT_MIN_S,
    LEASH_WAIT_S,
    OFFSET_MAX,
    Action,
    AgentAlertAction,
    AgentAlertKind,
    LeashMode,
    OrderType,
    PendingStatus,
    Side,
    Venue,
)
from service_tui.wire.base import (
    AMOUNT_MAX,
    MICRO,
    Amount,
    AnyVenue,
    Count,
    Identifier,
    LenientModel,
    Line,
    Moment,
    Money,
    OperatorModel,
    Price,
    PriceChange,
    Prose,
    ReadSignalData,
    SentLine,
    SentProse,
    WireModel,
)
from service_tui.wire.moments import RequestedMoment
from service_tui.wire.outcomes import VenueOutcomesBody
from service_tui.wire.trades import TradeBody, TradeRequest, TradeRow

Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\-]{0,128}$")]
"""A skill's folder name; empty is the agent itself, with all its skills."""

Size = Annotated[
    float,
    Field(
        ge=0,
        le=AMOUNT_MAX,
        description="units, at most six decimals",
        json_schema_extra={"multipleOf": MICRO},
    ),
]
BUY_MIN: Final = 0.01

RETURNS_PAGE: Final = 150
"""ours: agents in one answer about returns; a thousand were more than a client reads."""

ROW_MAX: Final = 2**53 - 1
ALL_TRADES_MAX: Final = 1_000
"""ours: rows of all agents in one answer, within what the client reads of one."""

Bound = Annotated[float, Field(gt=0, lt=1, description="price of the trade's side")]

Resized = Annotated[
    float,
    # Not merely above 0: what rounds to no micro would be a trade of nothing.
    Field(ge=BUY_MIN, le=AMOUNT_MAX, description="money", json_schema_extra={"multipleOf": 0.01}),
]


class LeashRequest(OperatorModel):
    """How free an agent is, or one of its skills. A field that is not sent stays as it is.

    A buy above `threshold` waits in `ask`; `daily_budget` is money of buys since midnight UTC,
    null for none. `wait_s` is how long a trade waits before it is refused.
    """

    sends_null: ClassVar[bool] = True

    mode: LeashMode
    skill_slug: Slug = ""
    threshold: Size = 0.0
    daily_budget: Size | None = None
    wait_s: Annotated[int, Field(ge=LEASH_WAIT_MIN_S, le=LEASH_WAIT_MAX_S)] = LEASH_WAIT_S


class LeashQuery(WireModel):
    """Which leash of an agent: its own, or that of one skill."""

    skill_slug: Slug = ""


class LeashBody(WireModel):
    """One leash as it is; `spent` is the money of today's buys that count against it."""

    agent_id: Line
    skill_slug: Line = ""
    mode: LeashMode
    threshold: Amount = 0.0
    daily_budget: Amount | None = None
    wait_s: Count = LEASH_WAIT_S
    spent: Amount = 0.0


class LeashesBody(WireModel):
    """Every leash; an agent without one is free within its limits."""

    leashes: tuple[LeashBody, ...]


class HeldQuery(WireModel):
    """Which trades: those that wait, or the last ones that were decided as well."""

    status: Literal["waiting", "all"] = "waiting"


class OtherSideBody(WireModel):
    """An agent that holds the other side of a market."""

    agent_id: Line
    agent_name: Line = ""
    shares: Amount = 0.0


class HeldTradeBody(WireModel):
    """A trade that waits for the person, or how it was decided.

    `amount` is the money of a buy as requested; `decided_amount` what was approved. `reason` is the
    person's, the deadline's or the venue's. `trade_id` names the trade that came of it.
    `price_asked` is the average price that it would have had when it was requested,
    `decided_bound` the worst one that the person allowed. `other_side` are the agents that hold the
    other side of the market on its venue; the operator alone is told.
    """

    held_id: Line
    agent_id: Line
    agent_name: Line = ""
    status: PendingStatus
    market_id: Line
    question: Line = ""
    venue: AnyVenue
    side: Side
    action: Action
    order_type: OrderType | None = None
    amount: Amount = 0.0
    shares: Amount = 0.0
    price_limit: Price | None = None
    price: Price | None = None
    avg_price: Price | None = None
    shares_estimate: Amount | None = None
    reasoning: Prose = ""
    source: Line = ""
    skill_slug: Line = ""
    signal_data: ReadSignalData | None = None
    created_at: Moment
    expires_at: Moment
    decided_at: Moment | None = None
    # ours: the person who decided, empty for a deadline.
    decided_by: Line = ""
    decided_amount: Amount | None = None
    # ours: what the agent saw, and what the person allowed for it.
    price_asked: Price | None = None
    decided_bound: Price | None = None
    other_side: tuple[OtherSideBody, ...] = ()
    reason: Prose = ""
    trade_id: Line = ""


class ProposalRequest(OperatorModel):
    """A buy with play money that an agent proposes; a misspelt field is refused."""

    market_id: Identifier
    side: Side
    amount: Annotated[Amount, Field(gt=0, json_schema_extra={"multipleOf": 0.01})]
    # The worst price of a share; None for any.
    price: Annotated[float, Field(gt=0, lt=1)] | None = None
    reasoning: SentProse | None = None
    source: SentLine | None = None

    def as_trade(self) -> TradeRequest:
        """The order that it becomes once a person lets it pass."""
        return TradeRequest(**{name: getattr(self, name) for name in type(self).model_fields})


class HeldTradesBody(WireModel):
    """Trades that wait, the nearest deadline first, then those that were decided, newest first."""

    held: tuple[HeldTradeBody, ...]
    waiting_count: Count = 0


class ApproveRequest(OperatorModel):
    """Let a trade go out; with `amount` at another size.

    A buy is carried out at an average price of `not_above` at most, a sale at `not_below` at
    least; beyond it nothing is traded, and the trade is decided as failed.
    """

    amount: Resized | None = None
    # ours: between the question and the answer the price moves; the person says how far it may.
    not_above: Bound | None = None
    not_below: Bound | None = None


class RefuseRequest(OperatorModel):
    """Decline a trade; the agent is given the reason."""

    reason: SentLine = ""


class PnlPoint(WireModel):
    """P&L on sim at a time, what is held counted at the price after its last trade there."""

    at: Moment
    pnl: Money


EDGE_KEPT_MAX: Final = 2
KeptEdge = Annotated[float, Field(ge=-EDGE_KEPT_MAX, le=EDGE_KEPT_MAX)]
"""A difference of two differences of probabilities."""


Ratio = Annotated[float, Field(ge=-AMOUNT_MAX, le=AMOUNT_MAX, description="a fraction or a ratio")]


class CalibrationBody(WireModel):
    """Buys of one span of confidence whose market has an outcome: how sure, how often right."""

    low: Price
    high: Price
    count: Count
    confidence: Price
    hit_rate: Price


class WorthPoint(WireModel):
    """Equity on sim at a time, if all were sold then."""

    at: Moment
    equity: Money


class GainBody(WireModel):
    """What a day, week or month UTC brought on sim; a week begins on Monday."""

    first_day: date
    gained: Money


class ReturnsBody(WireModel):
    """What an agent made of its $SIM, if all were sold; null where a figure is undefined.

    `total_return` is a fraction of its first cash, since it began. `drawdown` is a fraction of its
    highest equity, `max_drawdown` the deepest fall that is noted. `sharpe` is of the daily returns
    of the last thirty days, for a year. `hit_rate` is of sales and payouts that gained or lost.
    `days` are those of the last thirty-one that brought anything.
    """

    agent_id: Line
    points: tuple[WorthPoint, ...] = ()
    total_return: Ratio | None = None
    drawdown: Price | None = None
    max_drawdown: Price | None = None
    sharpe: Ratio | None = None
    hit_rate: Price | None = None
    days: tuple[GainBody, ...] = ()
    weeks: tuple[GainBody, ...] = ()
    months: tuple[GainBody, ...] = ()


class AllReturnsQuery(WireModel):
    """Which agents, in the order of their registration; without a limit all of them."""

    offset: Annotated[int, Field(ge=0, le=OFFSET_MAX)] = 0
    limit: Annotated[int, Field(ge=1, le=RETURNS_PAGE)] | None = None


class AllReturnsBody(WireModel):
    """The returns of every agent, or of those that were asked for; `next` is the offset after."""

    agents: tuple[ReturnsBody, ...]
    next: Count | None = None


class AllTradesQuery(WireModel):
    """Which part of the history of all agents: the newest rows before a row of the journal."""

    before: Annotated[int, Field(ge=1, le=ROW_MAX)] | None = None
    limit: Annotated[int, Field(ge=1, le=ALL_TRADES_MAX)] = ALL_TRADES_MAX


class AgentTradeRow(TradeRow):
    """A trade, and whose it is."""

    agent_id: Line


class AllTradesBody(LenientModel):
    """Trades and payouts of all agents, newest first; `before` begins the next page, if any."""

    trades: tuple[AgentTradeRow, ...]
    before: Count | None = None


class AllOutcomesQuery(WireModel):
    """What was closed since when; wall time."""

    since: RequestedMoment | None = None


class AgentOutcomesBody(WireModel):
    """What one agent's trades came to, by the venues on which it traded or was paid."""

    agent_id: Line
    by_venue: dict[str, VenueOutcomesBody]


class AllOutcomesBody(WireModel):
    """What trades came to, of each agent that traded or was paid since the moment."""

    agents: tuple[AgentOutcomesBody, ...]


class SkillResultBody(WireModel):
    """What one skill's trades on one venue came to; an empty slug has those that name none.

    P&L is in the venue's money; it and wins are of what is closed.
    `confidence`, `hit_rate` and `brier` are of the buys with
    a confidence whose market has an outcome. `edge` and `slippage` are averages of the same buys,
    in probability points, and `edge_kept` what is left.
    """

    skill_slug: Line
    trades: Count
    pnl: Money
    wins: Count
    losses: Count
    confidence: Price | None = None
    hit_rate: Price | None = None
    brier: Price | None = None
    edge: PriceChange | None = None
    slippage: PriceChange | None = None
    edge_kept: KeptEdge | None = None
    calibration: tuple[CalibrationBody, ...] = ()
    venue: Venue = Venue.SIM


class AgentResultsBody(WireModel):
    """An agent's P&L over time, oldest first and at most 240 points, and each skill's figures."""

    agent_id: Line
    points: tuple[PnlPoint, ...] = ()
    skills: tuple[SkillResultBody, ...] = ()


class DecidedBody(WireModel):
    """How a trade was decided, and what the venue answered where it went out."""

    held: HeldTradeBody
    trade: TradeBody | None = None


# -- alerts on agents; ours: the spec has none --------------------------------------------------


Limit = Annotated[
    float,
    Field(
        gt=0,
        le=AMOUNT_MAX,
        description="minutes, fraction of the peak, money, fraction of a price, or errors",
        json_schema_extra={"multipleOf": MICRO},
    ),
]
Minutes = Annotated[int, Field(ge=1, le=AGENT_ALERT_MINUTES_MAX)]


class AgentAlertRequest(OperatorModel):
    """An alert on an agent: of what kind, from which limit on, within how many minutes.

    `limit` counts by the kind: `silent` minutes, `drawdown` a fraction of the peak of the equity,
    `day_loss` and `spend` money, `move` a fraction of a price (0.1 is 10 points), `errors` refused
    orders. `minutes` is the window of `spend`, `move` and `errors`. `skill_slug` is the skill whose
    errors count; empty for all orders of the agent.
    """

    kind: AgentAlertKind
    limit: Limit
    minutes: Minutes | None = None
    action: AgentAlertAction = AgentAlertAction.TELL
    skill_slug: Slug = ""


class AgentAlertBody(WireModel):
    """One alert. `is_beyond`: it has fired, and what it watches has not come back yet.

    `last_value` is what was measured at the last firing, in the unit of `limit`; `last_market_id`
    is the market that had moved.
    """

    id: Line
    agent_id: Line
    agent_name: Line = ""
    kind: AgentAlertKind
    limit: Amount
    minutes: Count = 0
    action: AgentAlertAction
    skill_slug: Line = ""
    created_at: Moment
    is_beyond: bool = False
    fired_count: Count = 0
    last_fired_at: Moment | None = None
    last_value: Amount | None = None
    last_market_id: Line = ""
    last_question: Line = ""


class AgentAlertsBody(WireModel):
    """The alerts on all agents, oldest first."""

    alerts: tuple[AgentAlertBody, ...]

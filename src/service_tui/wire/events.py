"""Events, as consoles receive them: `GET /api/desk/events`, server-sent events.

ours: the spec has no push channel; this one is the operator's.
Each event of the stream has `id:` (the number of its row in the journal), `event:` (its kind) and
one `data:` line, which is an `EventBody`. A kind that is not known is to be passed over.
"""

from enum import StrEnum

from service_tui.terms import Action, AgentStatus, Plan, Side, Venue
from service_tui.wire.base import Amount, AnyVenue, Count, Line, Moment, Money, Price, WireModel


class EventKind(StrEnum):
    """What an event is about.

    `ready` opens a stream on which nothing was missed; `reset` means that events were missed, and
    that everything is to be read again.
    """

    READY = "ready"
    RESET = "reset"
    FILL = "fill"
    ORDER = "order"
    AGENT_REGISTERED = "agent_registered"
    AGENT_CHANGED = "agent_changed"
    MARKET_LISTED = "market_listed"
    MARKET_RESOLVED = "market_resolved"
    SPEED = "speed"
    PLAN = "plan"
    MONITOR = "monitor"
    RISK_ALERT = "risk_alert"
    HALT = "halt"
    EXPERIMENT = "experiment"
    PENDING = "held"
    LEASH = "leash"


class FillPart(WireModel):
    """A trade that was carried out. `price` is the average; `money` spend or proceeds, no fee."""

    trade_id: Line
    agent_id: Line
    agent_name: Line
    market_id: Line
    question: Line
    venue: AnyVenue = Venue.SIM
    side: Side
    action: Action
    shares: Amount
    price: Price
    price_after: Price
    money: Amount
    realized_pnl: Money = 0.0
    source: Line = ""
    skill_slug: Line = ""
    fee: Amount | None = None


class OrderPart(WireModel):
    """What became of an order on a real venue. `state` is submitted, filled or why it ended."""

    order_id: Line
    agent_id: Line
    agent_name: Line
    market_id: Line
    question: Line
    state: Line
    shares: Amount
    money: Amount


class AgentPart(WireModel):
    """An agent after what happened to it. `changed` names settings, or `key`."""

    agent_id: Line
    name: Line
    status: AgentStatus
    plan: Plan
    claimed: bool
    trading_paused: bool
    suspended: bool
    changed: tuple[Line, ...] = ()


class PayoutPart(WireModel):
    """What a resolution brought one agent."""

    agent_id: Line
    payout: Amount
    pnl: Money


class MarketPart(WireModel):
    """A market that opened, or whose outcome is confirmed."""

    market_id: Line
    question: Line
    resolves_at: Moment | None = None
    outcome: bool | None = None
    payouts: tuple[PayoutPart, ...] = ()
    # ours: what a share of YES pays once the market has ended, and whether it gave the money back:
    # `outcome` is null where neither side won whole.
    payout_per_yes: Price | None = None
    voided: bool = False


class MonitorPart(WireModel):
    """A monitor that was set or deleted by hand; those of a buy come with its fill."""

    agent_id: Line
    agent_name: Line
    market_id: Line
    question: Line
    venue: AnyVenue
    side: Side
    state: Line


class RiskAlertPart(WireModel):
    """A breach, or the end of its alert. `state` is a word of `AlertStatus`."""

    id: Line
    agent_id: Line
    agent_name: Line
    market_id: Line
    question: Line
    venue: AnyVenue
    side: Side
    state: Line
    exit_reason: Line
    shares: Amount
    price: Price
    breached_at: Moment


class ExperimentPart(WireModel):
    """The result of an experiment that was posted."""

    id: Line
    agent_id: Line
    agent_name: Line
    skill_slug: Line
    experiment_number: Count
    segment: Count
    state: Line


class HeldPart(WireModel):
    """A trade that waits for the person, or its end. `state` is a word of `HeldStatus`."""

    held_id: Line
    agent_id: Line
    agent_name: Line
    market_id: Line = ""
    question: Line = ""
    state: Line


class EventBody(WireModel):
    """One event; of the parts only the one of its kind is there.

    An `order` that was met at once or while it rested has a `fill` beside it: it is a trade too.
    """

    # A plain word, so that kinds of a newer service can be distinguished from broken ones.
    kind: Line
    seq: Count
    at: Moment
    fill: FillPart | None = None
    order: OrderPart | None = None
    agent: AgentPart | None = None
    market: MarketPart | None = None
    speed: int | None = None
    plan: Plan | None = None
    monitor: MonitorPart | None = None
    risk_alert: RiskAlertPart | None = None
    halted: bool | None = None
    experiment: ExperimentPart | None = None
    held: HeldPart | None = None

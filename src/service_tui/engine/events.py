"""The events that the journal stores and that change the world, named in the past tense.

A replay applies these in order without any other input, so each carries its amounts, not the
arithmetic that led to them.
"""

from typing import Final, NamedTuple

from service_tui.engine.chain_events import CHAIN_KINDS, ChainEvent
from service_tui.engine.listing import Listing
from service_tui.engine.notify_events import NOTIFY_KINDS, NotifyEvent
from service_tui.outcome import Outcome
from service_tui.terms import (
    Action,
    AlertStatus,
    Direction,
    ExitReason,
    ExperimentStatus,
    LeashMode,
    LimitGroup,
    OrderEnd,
    OrderType,
    PendingStatus,
    Plan,
    Side,
    Venue,
)
from service_tui.units import Micros, Timestamp


class MonitorSet(NamedTuple):
    """Somebody put thresholds on a side that an agent holds; an earlier monitor there is replaced.

    Those that come with a buy have no event of their own: they follow from the buy and the
    settings. A trailing stop is `trailing_stop_pct` of the `peak` below it, or
    `trailing_stop_points` of price; the peak is the highest mark seen so far. `exit_at` is the wall
    time of a time stop.
    """

    agent_id: str
    at: Timestamp
    venue: Venue
    market_id: str
    side: Side
    stop_loss_pct: float | None
    take_profit_pct: float | None
    trailing_stop_pct: float | None = None
    trailing_stop_points: float | None = None
    exit_at: Timestamp | None = None
    peak: float = 0.0


class PeakRaised(NamedTuple):
    """The mark of a side rose above the highest one that its trailing stop has seen."""

    agent_id: str
    at: Timestamp
    venue: Venue
    market_id: str
    side: Side
    peak: float


class MonitorDeleted(NamedTuple):
    """Somebody took a monitor away."""

    agent_id: str
    at: Timestamp
    venue: Venue
    market_id: str
    side: Side


class Breached(NamedTuple):
    """A price tick crossed a threshold: the monitor is used up, an alert waits for its exit.

    `level` is the price that the threshold made, of the side held as all prices here; `entry` the
    average cost, `shares` what was held. `at` is the breach's own wall time. `threshold_pct` of a
    trailing stop may be points of price: then `in_points`.
    """

    alert_id: str
    agent_id: str
    at: Timestamp
    world_at: Timestamp
    venue: Venue
    market_id: str
    side: Side
    reason: ExitReason
    threshold_pct: float
    level: float
    entry: float
    price: float
    shares: Micros
    in_points: bool = False


class AlertEnded(NamedTuple):
    """An alert waits no more, but for those that a sale or the outcome has ended."""

    alert_id: str
    agent_id: str
    at: Timestamp
    market_id: str
    status: AlertStatus


RiskEvent = MonitorSet | MonitorDeleted | PeakRaised | Breached | AlertEnded
"""What happens to monitors and alerts."""


class ReactorChanged(NamedTuple):
    """An agent's reactor took new values. `changes` are names of ReactorConfig fields."""

    agent_id: str
    at: Timestamp
    changes: dict[str, object]


class SignalDismissed(NamedTuple):
    """An agent took a signal out, mirrored or not."""

    agent_id: str
    at: Timestamp
    signal_id: str


class Reacted(NamedTuple):
    """An agent reported the result of a signal; `details` are the reaction's other fields."""

    agent_id: str
    at: Timestamp
    tx_hash: str
    decision: str
    details: dict[str, str | float]


class BreakerReset(NamedTuple):
    """The operator closed an agent's circuit breaker by hand."""

    agent_id: str
    at: Timestamp


ReactorEvent = ReactorChanged | SignalDismissed | Reacted | BreakerReset
"""What agents and their operator do with the reactor."""


class AgentRegistered(NamedTuple):
    """A new agent with its first cash. The key itself is kept nowhere."""

    agent_id: str
    at: Timestamp
    name: str
    description: str
    key_hash: str
    claim_code: str
    plan: Plan
    cash: Micros


class AgentChanged(NamedTuple):
    """Settings of an agent took new values. `changes` are names of AgentSettings fields."""

    agent_id: str
    at: Timestamp
    changes: dict[str, object]


class MarketListed(NamedTuple):
    """A market opened. The whole listing stands here: a newer program may word it otherwise.

    One that was imported in the middle of its life comes with the trades that bring it to the price
    of its venue; `charged_to` is the agent whose imports of the day it counts among.
    """

    at: Timestamp
    world_at: Timestamp
    listing: Listing
    opening: "tuple[CrowdTrade, ...]" = ()
    charged_to: str = ""


class Fill(NamedTuple):
    """Shares exchanged for money at a price, final.

    `money` is the spend of a buy or the proceeds of a sale; `realized` the P&L of a sale.
    `at` is wall time, `world_at` the tape's. Prices are of the side traded.
    """

    trade_id: str
    agent_id: str
    market_id: str
    side: Side
    action: Action
    shares: Micros
    money: Micros
    price_before: float
    price_after: float
    at: Timestamp
    world_at: Timestamp
    realized: Micros
    note: "Note"


class Note(NamedTuple):
    """The trader's note on an order; private to its owner but for the name.

    `stop_loss_pct` and `take_profit_pct` are the thresholds of the monitor that a buy sets when it
    fills: fractions of the average cost. One that is None stays as an earlier monitor has it, or is
    the agent's default.
    """

    reasoning: str = ""
    source: str = ""
    skill_slug: str = ""
    signal_data: dict[str, str | float | int] | None = None
    stop_loss_pct: float | None = None
    take_profit_pct: float | None = None

    @property
    def has_exits(self) -> bool:
        """True if the buy sets a monitor of its own."""
        return self.stop_loss_pct is not None or self.take_profit_pct is not None


class CrowdTrade(NamedTuple):
    """A buy of the simulated crowd."""

    market_id: str
    side: Side
    shares: Micros
    cost: Micros
    trader: str


class Settlement(NamedTuple):
    """A trade of a named wallet, as its venue reports it; now and then twice.

    `cost` is what the market maker got for the shares (below 0: gave), 0 where none stood behind
    the trade. `slot` and `number` lead to the question, which may not be listed. `leg` counts the
    fills of a bid that waited; -1 is an order that did not.
    """

    tx_hash: str
    wallet: str
    label: str
    venue: Venue
    market_id: str
    slot: int
    number: int
    side: Side
    action: Action
    shares: Micros
    price: float
    cost: Micros
    leg: int = -1


class Ticked(NamedTuple):
    """The tape moved on, and the crowd and the named wallets traded: one row of the journal.

    `closed` marks the one move over the time in which the desk was not running.
    """

    at: Timestamp
    world_at: Timestamp
    trades: tuple[CrowdTrade, ...]
    closed: bool = False
    settled: tuple[Settlement, ...] = ()


class Payout(NamedTuple):
    """What one side of one agent's position brought at the resolution.

    `realized_before` is the P&L of earlier sales of the same side; `shares` are 0 where all were
    sold before. `sources` are who bought in the market, None in rows of older programs. `wallet`
    is the address that holds it on the EVM venue, empty for the managed wallet; None everywhere
    else, and for an agent whose wallet has never changed.
    """

    agent_id: str
    side: Side
    shares: Micros
    cost: Micros
    payout: Micros
    realized_before: Micros
    opened_at: Timestamp
    sources: tuple[str, ...] | None = None
    wallet: str | None = None


class MarketResolved(NamedTuple):
    """The outcome is confirmed and winners are paid; no redemption step on sim.

    `settled` is what it is worth on the real venues, where a payout is redeemed later.
    """

    market_id: str
    at: Timestamp
    world_at: Timestamp
    outcome: Outcome
    payouts: tuple[Payout, ...]
    crowd_payout: Micros
    settled: tuple[tuple[Venue, Payout], ...] = ()


class SpeedSet(NamedTuple):
    """The operator changed the pace of the tape."""

    at: Timestamp
    world_at: Timestamp
    speed: int


class KeyRotated(NamedTuple):
    """An agent has a new key, and its old one opens nothing any more."""

    agent_id: str
    at: Timestamp
    key_hash: str


class OperatorActed(NamedTuple):
    """A person changed something: the row stands in the transaction of what was changed.

    `action` is the endpoint, `subject` the ids of its path, `detail` its body.
    """

    person: str
    at: Timestamp
    action: str
    subject: str = ""
    detail: str = ""


class PlanSet(NamedTuple):
    """The operator chose the plan of the account: what new agents get."""

    at: Timestamp
    plan: Plan


NO_NOTE: Final = Note()


class OrderPlaced(NamedTuple):
    """A real venue took an order: what it got at once, and what rests.

    `size` is money of a buy and shares of a sale; `price` is its limit, of its own side, 0 for
    none; `asked` the shares it wanted, `rests` those that rest and `reserved` the money kept for
    them. `taken` are prices of YES and shares that it took from the simulated quotes of the
    refresh `number`. `expires_at` is 0 for never. `mark` is that of the side at a buy, without
    the buy's own impact (`Book.mark_of_buy`); 0 for a sale, and in rows of older programs.
    """

    order_id: str
    agent_id: str
    venue: Venue
    market_id: str
    side: Side
    action: Action
    order_type: OrderType
    size: Micros
    price: Micros
    requested: Micros
    shares: Micros
    money: Micros
    fee: Micros
    rests: Micros
    reserved: Micros
    price_before: float
    price_after: float
    at: Timestamp
    world_at: Timestamp
    realized: Micros
    expires_at: Timestamp
    number: int
    taken: tuple[tuple[Micros, Micros], ...]
    note: Note
    mark: float = 0.0


class OrderFilled(NamedTuple):
    """A part of a resting order was met, at its own price or better; makers pay no fee.

    What was traded, where, and for whom is None or empty in rows of older programs. `mark` as in
    `OrderPlaced`.
    """

    order_id: str
    agent_id: str
    market_id: str
    shares: Micros
    money: Micros
    realized: Micros
    at: Timestamp
    world_at: Timestamp
    number: int
    taken: tuple[tuple[Micros, Micros], ...]
    side: Side | None = None
    action: Action | None = None
    source: str = ""
    venue: Venue | None = None
    skill_slug: str = ""
    mark: float = 0.0


class OrderEnded(NamedTuple):
    """A resting order rests no more; totals of its whole life, and the money that came back."""

    order_id: str
    agent_id: str
    market_id: str
    reason: OrderEnd
    at: Timestamp
    world_at: Timestamp
    shares: Micros
    money: Micros
    realized: Micros
    returned: Micros


class PositionRedeemed(NamedTuple):
    """A position on a real venue became cash, or with a payout of 0 was burned for nothing.

    With `tx_hash` it happened on the chain, by an external wallet: the position waits for its
    `MarkedRedeemed`. Without, the service did all of it. `wallet` is as in `Payout`.
    """

    agent_id: str
    venue: Venue
    market_id: str
    side: Side
    shares: Micros
    cost: Micros
    payout: Micros
    at: Timestamp
    world_at: Timestamp
    tx_hash: str = ""
    wallet: str | None = None


class MarkedRedeemed(NamedTuple):
    """A position whose tokens are gone from the chain is redeemable no more.

    `tx_hash` is that of the client's report; empty where the service found the balance at 0.
    """

    agent_id: str
    venue: Venue
    market_id: str
    side: Side
    at: Timestamp
    world_at: Timestamp
    tx_hash: str = ""


VenueEvent = OrderPlaced | OrderFilled | OrderEnded | PositionRedeemed | MarkedRedeemed
"""What happens on the real venues."""


class ClientSeen(NamedTuple):
    """An agent called with another version of the published client than before."""

    agent_id: str
    at: Timestamp
    version: str


class TradeFailed(NamedTuple):
    """A real venue could not carry out an order that had passed every check; nothing moved."""

    agent_id: str
    at: Timestamp
    market_id: str
    side: Side
    reason: str


class HaltSet(NamedTuple):
    """The operator stopped every entry, or takes entries again."""

    at: Timestamp
    halted: bool


class ExposureLimitSet(NamedTuple):
    """The operator limits what a group of holdings may cost; `cost_max` None takes the limit off.

    `key` is a category, an event's or a single question's id, or an agent's id. One that does not
    refuse warns.
    """

    at: Timestamp
    group: LimitGroup
    key: str
    venue: Venue
    cost_max: Micros | None
    refuses: bool = True


class ExperimentLogged(NamedTuple):
    """An agent posted the result of an experiment. `metric` is None where a crash has no figure.

    `number` counts within the skill, `segment` its series; `session` is the series' name, `cap` how
    many it may have, 0 any number. `ref` identifies a repeated result; empty for none.
    """

    experiment_id: str
    agent_id: str
    at: Timestamp
    skill: str
    number: int
    segment: int
    status: ExperimentStatus
    metric_name: str
    metric: float | None
    metric_unit: str
    direction: Direction
    metrics: dict[str, float]
    description: str
    commit: str
    session: str
    cap: int
    ref: str


class SessionBegun(NamedTuple):
    """An agent began a series of experiments on a skill, before the first result of it."""

    agent_id: str
    at: Timestamp
    skill: str
    segment: int
    session: str
    metric_name: str
    metric_unit: str
    direction: Direction
    cap: int


class LeashSet(NamedTuple):
    """The operator put an agent, or one of its skills, on a leash; without a mode took it off."""

    agent_id: str
    at: Timestamp
    skill_slug: str
    mode: LeashMode | None
    threshold: Micros
    budget: Micros | None
    wait_s: int


class TradePending(NamedTuple):
    """A trade waits for the operator until its deadline; nothing moved.

    `size` is money of a buy, `price` the limit that the order named, `expiration` when it would
    die on a book; None where it named none. `asked` is the average price that it would have had
    when it was requested; None where its market took none, and in rows of older programs.
    `question` is that of its market then, which may be forgotten before the request is; empty in
    rows of older programs.
    """

    pending_id: str
    agent_id: str
    at: Timestamp
    expires_at: Timestamp
    venue: Venue
    market_id: str
    side: Side
    action: Action
    size: Micros
    order_type: OrderType | None
    price: float | None
    expiration: float | None
    note: Note
    asked: float | None = None
    question: str = ""


class PendingEnded(NamedTuple):
    """A waiting trade was decided, with the reason; `size` and `trade_id` where it went out.

    `by` is the person who decided, empty for nobody and in rows of older programs. `bound` is the
    worst average price that the person allowed; None for any, and in rows of older programs.
    """

    pending_id: str
    at: Timestamp
    status: PendingStatus
    reason: str
    size: Micros = Micros(0)
    trade_id: str = ""
    by: str = ""
    bound: float | None = None


FleetEvent = LeashSet | TradePending | PendingEnded
"""What happens between agents and the person who holds them."""


Event = (
    AgentRegistered
    | AgentChanged
    | MarketListed
    | Fill
    | Ticked
    | MarketResolved
    | SpeedSet
    | KeyRotated
    | PlanSet
    | VenueEvent
    | ClientSeen
    | TradeFailed
    | HaltSet
    | RiskEvent
    | ReactorEvent
    | ChainEvent
    | ExperimentLogged
    | SessionBegun
    | FleetEvent
    | NotifyEvent
    | OperatorActed
    | ExposureLimitSet
)
"""Everything that can happen."""

KINDS: Final[dict[str, type[Event]]] = {
    "agent": AgentRegistered,
    "change": AgentChanged,
    "listed": MarketListed,
    "fill": Fill,
    "crowd": Ticked,
    "resolved": MarketResolved,
    "speed": SpeedSet,
    "key": KeyRotated,
    "plan": PlanSet,
    "order": OrderPlaced,
    "order_fill": OrderFilled,
    "order_end": OrderEnded,
    "redeemed": PositionRedeemed,
    "client": ClientSeen,
    "failed": TradeFailed,
    "halt": HaltSet,
    "monitor": MonitorSet,
    "monitor_end": MonitorDeleted,
    "peak": PeakRaised,
    "breach": Breached,
    "alert_end": AlertEnded,
    "reactor": ReactorChanged,
    "signal_gone": SignalDismissed,
    "reaction": Reacted,
    "breaker_reset": BreakerReset,
    "claimed": MarkedRedeemed,
    **CHAIN_KINDS,
    "experiment": ExperimentLogged,
    "session": SessionBegun,
    "leash": LeashSet,
    "held": TradePending,
    "held_end": PendingEnded,
    **NOTIFY_KINDS,
    "acted": OperatorActed,
    "exposure_limit": ExposureLimitSet,
}
"""Names of the kinds in the journal. They are on disk: never rename one."""

_KIND_OF: Final = {kind: name for name, kind in KINDS.items()}


def kind_of(event: Event) -> str:
    """The journal's name for this kind of event."""
    return _KIND_OF[type(event)]

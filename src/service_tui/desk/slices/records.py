"""Records that screens show: views with their derived numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from service_tui.desk.reasons import Fix
from service_tui.desk.slices.position_key import position_key
from service_tui.terms import (
    Action,
    AgentStatus,
    MarketStatus,
    Mode,
    Plan,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.units import Micros, Probability, Timestamp, sum_of

NO_TRACE: Final = "not found within 10 minutes"
"""Outcome of an unknown order that was looked for long enough; the person decides what is next."""

NOT_FOUND: Final = "not found after 10 minutes"
"""How the outcome begins where it was looked for as long, but not everything could be read."""


class TicketState(StrEnum):
    """State of a command. `unknown`: sent without an answer; never repeated automatically."""

    QUEUED = "queued"
    SENT = "sent"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Phase(StrEnum):
    """Connection of the desk to the service."""

    CONNECTING = "connecting"
    ONLINE = "online"
    OFFLINE = "offline"
    UNAUTHORIZED = "unauthorized"


class Topic(StrEnum):
    """A topic that is polled; each has its own age."""

    MARKETS = "markets"
    POSITIONS = "positions"
    ACCOUNT = "account"
    BRIEFING = "briefing"
    TRADES = "trades"
    WORLD = "world"
    DETAIL = "detail"
    AGENTS = "agents"
    MONITORS = "monitors"
    REACTOR = "reactor"
    REDEMPTIONS = "redemptions"
    WALLET = "wallet"
    FLEET = "fleet"
    RESEARCH = "research"
    ORDERS = "orders"
    TEAM = "team"


@dataclass(frozen=True, slots=True)
class MarketView:
    """One market. `price` is of YES; `volume` is money of the last 24 hours, None if not known.

    `venues` are those on which it trades, sim first; empty if the service does not report them.
    `tick` is the step of limit prices on its book, micros; `condition_id` what its tokens derive
    from on the chain, empty where it has none, and `fee_rate_bps` what a taker pays there.
    `venue_price` is that of YES on the book of its venue, None without a book; `bid` and `ask` are
    the best prices of YES there, None where nobody stands. `url` is its page on its venue, empty
    where it has none.
    """

    market_id: str
    question: str
    category: str
    tags: tuple[str, ...]
    status: MarketStatus
    price: Probability
    price_24h_ago: float | None
    volume: Micros | None
    opens_at: Timestamp | None
    resolves_at: Timestamp | None
    resolved_at: Timestamp | None
    outcome: bool | None
    liquidity: Micros | None
    sparkline: tuple[float, ...]
    criteria: str = ""
    venues: tuple[Venue, ...] = ()
    tick: Micros = Micros(10_000)
    condition_id: str = ""
    neg_risk: bool = False
    fee_rate_bps: int = 0
    venue_price: float | None = None
    bid: float | None = None
    ask: float | None = None
    url: str = ""

    def quotes_of(self, side: Side) -> tuple[float | None, float | None]:
        """Best bid and ask of a side on the book of its venue."""
        if side is Side.YES:
            return self.bid, self.ask
        bid = None if self.ask is None else 1.0 - self.ask
        return bid, None if self.bid is None else 1.0 - self.bid

    @property
    def gap(self) -> float | None:
        """Price on the venue's book less the price here, in probability points."""
        return None if self.venue_price is None else self.venue_price - self.price

    @property
    def change(self) -> float | None:
        """Price now less the price 24 hours ago (or at listing), in probability points."""
        return None if self.price_24h_ago is None else self.price - self.price_24h_ago

    @property
    def is_open(self) -> bool:
        """True while the market takes orders."""
        return self.status is MarketStatus.ACTIVE

    def price_of(self, side: Side) -> float:
        """Price of one side; both sum to 1."""
        return self.price if side is Side.YES else 1.0 - self.price


@dataclass(frozen=True, slots=True)
class PositionView:
    """One side of one market. `cost` is of the open shares; P&L is realized plus unrealized.

    `exit_value` is what selling this side alone would bring, `exit_together` its part of what
    selling both sides of the market would, None where that is not reported. `wallet` is the address
    that holds it, empty where only one ever did.
    """

    market_id: str
    question: str
    category: str
    side: Side
    venue: Venue
    status: MarketStatus
    shares: Micros
    cost: Micros
    average: float | None
    mark_price: float
    mark_value: Micros
    exit_value: Micros | None
    unrealized: Micros
    realized: Micros
    resolves_at: Timestamp | None
    opened_at: Timestamp | None
    outcome: bool | None = None
    exit_together: Micros | None = None
    wallet: str = ""

    @property
    def is_closed(self) -> bool:
        """True once the outcome is confirmed and paid."""
        return self.status is MarketStatus.RESOLVED

    @property
    def is_sold(self) -> bool:
        """True if all of it was sold before the outcome: none is its own."""
        return self.is_closed and self.outcome is None and not self.shares

    @property
    def end_text(self) -> str:
        """The state of its market; `sold` if it was sold before the outcome."""
        return "sold" if self.is_sold else self.status.value

    @property
    def key(self) -> str:
        """Identity of the row: other wallets may have had the same side before."""
        return f"{self.place}:{self.wallet}" if self.is_closed and self.wallet else self.place

    @property
    def place(self) -> str:
        """The side of a market on a venue, as orders and monitors name it."""
        return position_key(self.market_id, self.side, self.venue)

    @property
    def pnl(self) -> Micros:
        """Realized plus unrealized P&L."""
        return Micros(self.realized + self.unrealized)

    @property
    def to_redeem(self) -> Micros:
        """What it won and is not paid yet; 0 before the outcome, and on sim, which pays at once."""
        waits = self.is_closed and self.venue is not Venue.SIM
        return self.mark_value if waits else Micros(0)

    @property
    def pnl_pct(self) -> float | None:
        """Unrealized P&L as a fraction of the cost of the open shares."""
        return self.unrealized / self.cost if self.cost else None


class Deal(StrEnum):
    """Type of a row in the history; the values are the labels of its row.

    `order`: an order of which nothing was filled. It bought and sold nothing.
    """

    BUY = "buy"
    SALE = "sell"
    PAYOUT = "payout"
    ORDER = "order"


REDEEM: Final = "redeem"
"""The word of the wire for a payout. Source: wire reference, 3.5."""


@dataclass(frozen=True, slots=True)
class TradeView:
    """One accepted order, or a payout (`action` redeem).

    `signal_data` are the figures of the signal that came with the trade, by name.
    `fee` is what the venue took beside `cost`, None where it is not reported.
    """

    trade_id: str
    market_id: str
    question: str
    side: Side
    action: str
    shares: Micros
    cost: Micros
    average: float | None
    price_before: float | None
    price_after: float | None
    venue: Venue
    status: TradeStatus
    reasoning: str
    source: str
    at: Timestamp
    pnl: Micros | None
    client_ref: str = ""
    skill_slug: str = ""
    signal_data: tuple[tuple[str, str], ...] = ()
    fee: Micros | None = None

    @property
    def deal(self) -> Deal:
        """Type of the row: buys and sales are fills, a redemption is a payout."""
        if self.action == REDEEM:
            return Deal.PAYOUT
        if self.shares <= 0 and self.cost <= 0:
            return Deal.ORDER
        return Deal.BUY if self.action == Action.BUY.value else Deal.SALE

    @property
    def is_fill(self) -> bool:
        """True if shares were bought or sold: not a payout, and no order without a fill."""
        return self.deal in {Deal.BUY, Deal.SALE} and self.shares > 0

    @property
    def did(self) -> str:
        """The same for a line of text; an order names its direction: `buy order`."""
        return f"{self.action} order" if self.deal is Deal.ORDER else self.deal.value


class OnBook(StrEnum):
    """What became of an order that was done by resting on a book; the values are its labels."""

    OPEN = "open"
    FILLED = "filled"
    PARTIAL = "partial"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class TicketView:
    """One command and how it ended: a row of the blotter.

    `what` describes the order; `outcome` what became of it; `fix` what to do about a
    no. A buy may spend `amount`; a sale may take `shares` from the position with the row key
    `holding`. An order goes to `venue`; what is none stands under sim. One that rests on a book has
    its `limit`, and `on_book` where its present state is known.
    """

    ticket_id: str
    kind: str
    market_id: str
    what: str
    state: TicketState
    opened_at: Timestamp
    sent_at: Timestamp | None = None
    settled_at: Timestamp | None = None
    outcome: str = ""
    fix: str = ""
    client_ref: str = ""
    amount: Micros = Micros(0)
    question: str = ""
    holding: str = ""
    shares: Micros = Micros(0)
    venue: Venue = Venue.SIM
    limit: float | None = None
    on_book: OnBook | None = None

    @property
    def has_no_trace(self) -> bool:
        """True when it is unknown, and the service surely knows nothing of it."""
        return self.state is TicketState.UNKNOWN and self.outcome == NO_TRACE

    @property
    def is_lost(self) -> bool:
        """True when it is unknown and was not found in time: the person may close it."""
        unread = self.state is TicketState.UNKNOWN and self.outcome.startswith(NOT_FOUND)
        return unread or self.has_no_trace

    @property
    def in_flight(self) -> bool:
        """True while its end is not known."""
        return self.state in {TicketState.QUEUED, TicketState.SENT, TicketState.UNKNOWN}


@dataclass(frozen=True, slots=True)
class AccountView:
    """The desk's own agent. Money in micros; `equity` is cash plus what selling all would bring.

    A service that does not say what selling brings has the mark value in its place
    (`is_at_mark`). `mark_equity` is cash plus mark value in any case. `start` is the equity
    without any P&L, `day_open` the equity at midnight UTC; the P&L of all time and of the day are
    the equity less these, realized and unrealized P&L add up to the mark equity less the start.
    What is made of the positions is None as long as they were never read. `wins` and `losses` count
    sales and payouts on sim that gained or lost.
    """

    agent_id: str
    name: str
    status: AgentStatus
    plan: Plan
    claimed: bool
    cash: Micros
    start: Micros
    day_open: Micros | None
    equity: Micros | None
    day_pnl: Micros | None
    total_pnl: Micros | None
    realized: Micros | None
    unrealized: Micros | None
    trades_count: int
    win_rate: float | None
    wins: int = 0
    losses: int = 0
    mark_equity: Micros | None = None
    is_at_mark: bool = False


@dataclass(frozen=True, slots=True)
class LimitsView:
    """Trading limits. `paused` is True unless the service reported false.

    The day's spend binds real venues, the day's trades (buys only) bind every venue: those that got
    shares, and `day_resting`, which rest without any.
    """

    paused: bool
    max_trade: Micros
    day_spend_max: Micros
    day_spent: Micros
    day_trades_max: int | None
    day_trades: int | None = None
    day_resting: int = 0


@dataclass(frozen=True, slots=True)
class ServiceView:
    """The connected service and its connection.

    `problem` is the last failure that stands, `problem_of` the topic that met it. `dropped` holds,
    by topic, the rows of the last answer that were not of the protocol. `skew_s` is how far, at
    least, our clock is ahead of the service's; `lookup_problem` why unknown orders are not found.
    `address` is where agents of this machine reach the embedded service; `attached` when another
    process serves it; `shared` for a desk of several people. `failures` holds, by topic, why its
    last reading failed, until it succeeds.
    """

    label: str
    mode: Mode
    venue: Venue
    embedded: bool
    phase: Phase
    last_ok_at: Timestamp | None = None
    latency_s: float | None = None
    problem: str = ""
    problem_of: Topic | None = None
    dropped: Mapping[Topic, int] = field(default_factory=dict[Topic, int])
    read_only: bool = False
    skew_s: float | None = None
    lookup_problem: str = ""
    address: str = ""
    attached: bool = False
    shared: bool = False
    problem_status: int = 0
    failures: Mapping[Topic, str] = field(default_factory=dict[Topic, str])

    @property
    def dropped_rows(self) -> int:
        """Rows that could not be used, of the last answers together."""
        return sum(self.dropped.values())


@dataclass(frozen=True, slots=True)
class NewsView:
    """A line of news and what it did to the price of YES."""

    at: Timestamp
    market_id: str
    headline: str
    price_before: float
    price_after: float


@dataclass(frozen=True, slots=True)
class ResolvedView:
    """A market that resolved while the desk was closed."""

    at: Timestamp
    market_id: str
    question: str
    outcome: bool
    payout: Micros
    pnl: Micros


@dataclass(frozen=True, slots=True)
class AbsenceView:
    """Summary of what happened while the desk was closed."""

    closed_at: Timestamp
    opened_at: Timestamp
    world_elapsed_s: float
    resolved_count: int
    listed_count: int
    resolved: tuple[ResolvedView, ...]
    news: tuple[NewsView, ...]
    equity_before: Micros | None
    equity_after: Micros | None


@dataclass(frozen=True, slots=True)
class WorldView:
    """The offline world's clock: at wall time `wall_at` the world's time was `now`.

    `halted_at` is since when its service refuses the entries of every agent.
    """

    now: Timestamp
    wall_at: Timestamp
    speed: int
    seed: int
    open_count: int = 0
    meanwhile: AbsenceView | None = None
    halted_at: Timestamp | None = None

    def time_at(self, wall: Timestamp) -> Timestamp:
        """World time at a wall time soon after `wall_at`."""
        return Timestamp(self.now + max(0.0, wall - self.wall_at) * self.speed)


@dataclass(frozen=True, slots=True)
class TapeTradeView:
    """A public trade in one market."""

    at: Timestamp
    trader: str
    side: Side
    action: Action
    shares: Micros
    price: float


@dataclass(frozen=True, slots=True)
class BookLevelView:
    """A price of YES on an order book, with all shares at it."""

    price: float
    shares: Micros


@dataclass(frozen=True, slots=True)
class DetailView:
    """The market in focus: chart (oldest first), news and trades (newest first).

    `problem` is the reason why there are none, where the service did not give them. `bids` and
    `asks` are the best prices of YES on the book of its venue, best first; empty where it has none.
    """

    market_id: str
    span_s: int
    criteria: str
    points: tuple[tuple[Timestamp, float], ...]
    news: tuple[NewsView, ...]
    trades: tuple[TapeTradeView, ...]
    problem: str = ""
    bids: tuple[BookLevelView, ...] = ()
    asks: tuple[BookLevelView, ...] = ()


@dataclass(frozen=True, slots=True)
class EquityPoint:
    """Equity at a wall time."""

    at: Timestamp
    equity: Micros


class NoticeKind(StrEnum):
    """Topic of a notice; the operator chooses notification channels by it.

    `desk` is what answers a key of the person's own. Another kind is one more line here, and one
    in the console's table of deliveries.
    """

    DESK = "desk"
    ALERT = "alert"
    EXIT = "exit"
    PRICE_ALERT = "price alert"
    FILL = "fill"
    SIGNAL = "signal"
    CONNECTION = "connection"
    HALT = "halt"
    APPROVAL = "approval"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Notice:
    """A line for a toast: what passed. `tone` is info, good, warn or bad.

    `about` identifies its event, if several notices may report the same. `fix` is what
    the operator can do about it.
    """

    notice_id: int
    tone: str
    text: str
    kind: NoticeKind = NoticeKind.DESK
    about: str = ""
    fix: Fix | str = ""


_ROUNDED: Final = 0.6e-6
"""How far a price of six decimals may lie from the one that it was rounded from, and a hair."""


def remark(position: PositionView, market: MarketView | None) -> PositionView:
    """The position at the market's price of now; shares and cost stay the service's."""
    if market is None or position.status is not MarketStatus.ACTIVE:
        return position
    price = market.price_of(position.side)
    value = Micros(math.floor(position.shares * price))
    if abs(price - position.mark_price) <= _ROUNDED:
        # The same price, rounded as lists of markets have it: what was valued by all of it stays.
        price, value = position.mark_price, position.mark_value
    if value == position.mark_value and position.status is market.status:
        return position
    left, together = position.exit_value, position.exit_together
    if position.mark_value > 0:
        # Until the service reports them anew: the same part of the mark as last time.
        left, together = (
            None if one is None else Micros(one * value // position.mark_value)
            for one in (left, together)
        )
    return replace(
        position,
        exit_value=left,
        exit_together=together,
        category=market.category,
        status=market.status,
        mark_price=price,
        mark_value=value,
        unrealized=Micros(value - position.cost),
        resolves_at=market.resolves_at,
    )


def summed(
    account: AccountView, positions: tuple[PositionView, ...] | None, cash: Micros | None = None
) -> AccountView:
    """The account with its sums recomputed from cash and positions.

    None where those are unknown.
    """
    own = account.cash if cash is None else cash
    if positions is None:
        return replace(
            account,
            cash=own,
            equity=None,
            day_pnl=None,
            total_pnl=None,
            unrealized=None,
            realized=None,
            mark_equity=None,
        )
    marked = Micros(own + sum_of(held.mark_value for held in positions))
    parts = [
        held.exit_value if held.exit_together is None else held.exit_together for held in positions
    ]
    exits = [part for part in parts if part is not None]
    is_at_mark = len(exits) != len(positions)
    equity = marked if is_at_mark else Micros(own + sum_of(exits))
    unrealized = sum_of(held.unrealized for held in positions)
    return replace(
        account,
        cash=own,
        equity=equity,
        day_pnl=None if account.day_open is None else Micros(equity - account.day_open),
        total_pnl=Micros(equity - account.start),
        unrealized=unrealized,
        realized=Micros(marked - account.start - unrealized),
        mark_equity=marked,
        is_at_mark=is_at_mark,
    )


Markets = Mapping[str, MarketView]
"""Markets by id; never changed in place."""

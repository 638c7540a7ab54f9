"""Facts: frozen values in the past tense. The only way the state changes."""

from dataclasses import dataclass

from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.account import AccountView
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.log import LogEvent
from service_tui.desk.slices.markets import MarketView, NewsView
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.reactor import ReactorFact
from service_tui.desk.slices.redemption import WalletFact
from service_tui.desk.slices.research import ResearchFact
from service_tui.desk.slices.risk import RiskFact
from service_tui.desk.slices.supervision import FleetFact
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.slices.world import WorldView
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class MarketsSeen:
    """The service listed its markets. `complete` replaces all that were known."""

    markets: tuple[MarketView, ...]
    complete: bool = True
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class PositionsSeen:
    """Positions were read: open ones, those in resolved markets, and cash.

    `on_venues` are its positions in real money, open or ended; None if they were not read.
    """

    positions: tuple[PositionView, ...]
    closed: tuple[PositionView, ...] | None = None
    dropped: int = 0
    cash: Micros | None = None
    on_venues: tuple[PositionView, ...] | None = None


@dataclass(frozen=True, slots=True)
class AccountSeen:
    """The account was read, with its money on each real venue."""

    account: AccountView
    venues: tuple[VenueSumView, ...] = ()


@dataclass(frozen=True, slots=True)
class WorldSeen:
    """Time, speed and news of the offline world were read."""

    world: WorldView
    news: tuple[NewsView, ...]


@dataclass(frozen=True, slots=True)
class ServiceAnswered:
    """A call succeeded: the topic is fresh as of `at`.

    `skew_s` is how far our clock is ahead of the service's, None where that is not known;
    `by_operator`: read with the operator's key, which means nothing for the agent's.
    """

    topic: Topic
    at: Timestamp
    latency_s: float
    skew_s: float | None = None
    by_operator: bool = False


@dataclass(frozen=True, slots=True)
class ServiceFailed:
    """A call failed; what was known stays, and grows old.

    `offline` is False if the service answered with an orderly refusal, of `status`.
    """

    topic: Topic
    at: Timestamp
    problem: str
    unauthorized: bool = False
    offline: bool = True
    by_operator: bool = False
    status: int = 0


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Unknown orders were looked up; `problem` is why that failed, else empty."""

    problem: str = ""


@dataclass(frozen=True, slots=True)
class Served:
    """The embedded service answers at this address; `attached` when another process runs it."""

    address: str
    attached: bool = False


@dataclass(frozen=True, slots=True)
class StarSet:
    """The watchlist changed."""

    market_id: str
    on: bool


@dataclass(frozen=True, slots=True)
class PreferenceSet:
    """Something of the console is to be remembered."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Acted:
    """Something that an agent did, or that was done to it, beside a trade; for the action log."""

    actor: str
    event: LogEvent
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class FillsRead:
    """Trades of agents were read from the history; they move no price."""

    fills: tuple[FillView, ...]


@dataclass(frozen=True, slots=True)
class FillsReceived:
    """Some agents traded, a moment ago; oldest first."""

    fills: tuple[FillView, ...]


@dataclass(frozen=True, slots=True)
class Listening:
    """The event stream connected or ended; without it everything is polled."""

    on: bool


@dataclass(frozen=True, slots=True)
class Noticed:
    """An event that is shown to the operator once.

    `about` names the event: of several notices about one event only one is counted. `fix` is what
    the operator can do about it.
    """

    tone: str
    text: str
    kind: NoticeKind = NoticeKind.DESK
    about: str = ""
    fix: Fix | str = ""


@dataclass(frozen=True, slots=True)
class OrdersSeen:
    """The service listed what of ours rests on its books.

    `gone` are the orders that were known to be cancelled before the request.
    """

    orders: tuple[OpenOrderView, ...]
    dropped: int = 0
    gone: frozenset[str] = frozenset()


Fact = (
    MarketsSeen
    | PositionsSeen
    | AccountSeen
    | WorldSeen
    | ServiceAnswered
    | ServiceFailed
    | LookedUp
    | Served
    | StarSet
    | PreferenceSet
    | FillsReceived
    | FillsRead
    | Listening
    | Noticed
    | RiskFact
    | FleetFact
    | OrdersSeen
    | Acted
    | ReactorFact
    | WalletFact
    | ResearchFact
    | Loaded
    | Changed
    | Removed
)
"""Every fact there is."""

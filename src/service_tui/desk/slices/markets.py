"""Markets as screens show them: prices, the one in focus, its news and public trades."""

from collections.abc import Mapping
from dataclasses import dataclass

from service_tui.outcome import Outcome
from service_tui.terms import (
    Action,
    MarketStatus,
    Side,
    Venue,
)
from service_tui.units import Micros, Probability, Timestamp


@dataclass(frozen=True, slots=True)
class MarketView:
    """One market. `price` is of YES; `volume` is money of the last 24 hours, None if not known.

    `venues` are those on which it trades, sim first; empty if the service does not report them.
    `tick` is the step of limit prices on its book, micros; `condition_id` what its tokens derive
    from on the chain, empty where it has none, and `fee_rate_bps` what a taker pays there.
    `venue_price` is that of YES on the book of its venue, None without a book; `bid` and `ask` are
    the best prices of YES there, None where nobody stands. `url` is its page on its venue, empty
    where it has none. `event_id` and `event_name` are those of the question with several outcomes
    of which it is one, empty where it stands alone.
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
    outcome: Outcome | None
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
    event_id: str = ""
    event_name: str = ""

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
class NewsView:
    """A line of news and what it did to the price of YES."""

    at: Timestamp
    market_id: str
    headline: str
    price_before: float
    price_after: float


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
class BesideView:
    """The prices of the market compared with the one in focus, of the same span, oldest first.

    `problem` is the reason why there are none, where the service did not give them.
    """

    market_id: str
    points: tuple[tuple[Timestamp, float], ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class DetailView:
    """The market in focus: chart (oldest first), news and trades (newest first).

    `problem` is the reason why there are none, where the service did not give them. `bids` and
    `asks` are the best prices of YES on the book of its venue, best first; empty where it has none.
    `filled` are trades of agents that are older than all of `trades`. `beside` is the market that
    is compared with it, None for none.
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
    filled: tuple[TapeTradeView, ...] = ()
    beside: BesideView | None = None


Markets = Mapping[str, MarketView]
"""Markets by id; never changed in place."""

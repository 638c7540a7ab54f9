"""A market as the tape lists it: question, end and outcome."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from service_tui.records import UNSTORED
from service_tui.terms import Category, MarketWindow, Venue
from service_tui.units import Micros, Probability, Timestamp

_WINDOWS: Final = (
    (300.0, MarketWindow.FIVE_MINUTES),
    (900.0, MarketWindow.QUARTER),
    (3_600.0, MarketWindow.HOUR),
    (14_400.0, MarketWindow.FOUR_HOURS),
    (86_400.0, MarketWindow.DAY),
)
"""Lengths of fast markets in seconds, shortest first."""

_LEAD: Final = 1.5
"""A market may open before its window begins, by up to `slots.LEAD_MAX` of its length."""


class NewsReport(NamedTuple):
    """A line of news to come: time, move of the log-odds of YES, text."""

    at: Timestamp
    jump: float
    headline: str


class RecordedQuote(NamedTuple):
    """The best bid and ask of YES that stood at a time, as they were recorded.

    A bid of 0 and an ask of 1 stand for nobody; shares of 0 are not known.
    """

    at: Timestamp
    bid: float
    ask: float
    bid_shares: float
    ask_shares: float


class PricePath(Protocol):
    """The recorded prices of a market."""

    def price_at(self, at: Timestamp) -> float:
        """The last price of YES recorded up to a moment; the first one before it."""
        ...

    def quote_at(self, at: Timestamp) -> RecordedQuote | None:
        """The last bid and ask recorded up to a moment; None where none are by then."""
        ...


class Origin(NamedTuple):
    """Where a recorded market comes from: source, its id there, its event, and its prices.

    `has_end` is False where the source announced no end: `resolves_at` is far away then.
    """

    source: str
    native_id: str
    event: str
    has_end: bool
    path: PricePath


@dataclass(frozen=True, slots=True)
class Listing:
    """One market of the tape.

    `outcome` and `news` are the tape's secrets until their time. `strength` describes how much is
    known by the middle of the life: log-odds have moved by about that much. `home` is the venue
    whose order book trades the question beside the market maker; `sim` where there is none.
    `subject` is whom or what it is about.

    A recorded market has an `origin`, and no outcome: its end stands in the recording alone, and
    nothing of it is written down before it comes. `resolves_at` is the end that was announced.
    """

    market_id: str
    slot: int
    number: int
    category: Category
    question: str
    criteria: str
    tags: tuple[str, ...]
    b: Micros
    start_price: Probability
    opens_at: Timestamp
    resolves_at: Timestamp
    resolved_at: Timestamp
    outcome: bool | None
    strength: float
    news: tuple[NewsReport, ...]
    home: Venue = Venue.SIM
    subject: str = ""
    origin: Origin | None = field(default=None, compare=False, repr=False, metadata=UNSTORED)

    def announced_end(self) -> Timestamp | None:
        """The announced time at which the market may resolve; None if none was announced."""
        return self.resolves_at if self.origin is None or self.origin.has_end else None

    def window(self) -> MarketWindow | None:
        """The window of a fast market, None for one that lasts longer than a day."""
        life_s = self.resolves_at - self.opens_at
        return next((name for length_s, name in _WINDOWS if life_s <= length_s * _LEAD), None)

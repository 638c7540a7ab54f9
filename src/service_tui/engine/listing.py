"""A market as the tape lists it: question, end and outcome."""

from dataclasses import dataclass
from typing import Final, NamedTuple

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


@dataclass(frozen=True, slots=True)
class Listing:
    """One market of the tape.

    `outcome` and `news` are the tape's secrets until their time. `strength` describes how much is
    known by the middle of the life: log-odds have moved by about that much. `home` is the venue
    whose order book trades the question beside the market maker; `sim` where there is none.
    `subject` is whom or what it is about.
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
    outcome: bool
    strength: float
    news: tuple[NewsReport, ...]
    home: Venue = Venue.SIM
    subject: str = ""

    def window(self) -> MarketWindow | None:
        """The window of a fast market, None for one that lasts longer than a day."""
        life_s = self.resolves_at - self.opens_at
        return next((name for length_s, name in _WINDOWS if life_s <= length_s * _LEAD), None)

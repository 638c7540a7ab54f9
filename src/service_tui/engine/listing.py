"""A market as the tape lists it: what is asked, when it ends, how it will end."""

from dataclasses import dataclass
from typing import NamedTuple

from service_tui.terms import Category, Venue
from service_tui.units import Micros, Probability, Timestamp


class NewsReport(NamedTuple):
    """A line of news to come: when, how far it moves the log-odds of YES, what it says."""

    at: Timestamp
    jump: float
    headline: str


@dataclass(frozen=True, slots=True)
class Listing:
    """One market of the tape.

    `outcome` and `news` are the tape's secrets until their time. `strength` says how much is known
    by the middle of the life: log-odds have moved by about that much. `home` is the venue whose
    order book trades the question beside the market maker; `sim` where there is none. `subject` is
    whom or what it is about.
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

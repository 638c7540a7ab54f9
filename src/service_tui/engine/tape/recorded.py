"""The second tape: questions, prices and ends as they were recorded.

Nothing here looks ahead. What a market is called, when it may end and what it costs stands in its
listing and its path; how it ended is asked for by `resolution`, at its time alone.
"""

import hashlib
import math
from functools import lru_cache
from typing import Final

from service_tui.engine.listing import Listing, Origin, PricePath
from service_tui.engine.tape.draws import Draws
from service_tui.engine.tape.feed import B_MAX, B_MIN, NewsItem, Resolution, Tape
from service_tui.engine.tape.history import RecordedMarket, RecordedMarkets
from service_tui.terms import Category, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

SLOT: Final = 99_999
"""The slot of every recorded market: none of the invented world's timetable."""

YEAR_S: Final = 365.0 * 86_400.0

OPEN_ENDED_S: Final = 10 * YEAR_S
"""How long a market without an announced end may trade: its outcome comes first."""

_HOMES: Final = {"polymarket": Venue.EVM, "kalshi": Venue.SOL}
"""Sources that have an order book here, under the venue they are on."""

_CATEGORIES: Final = {
    "politics": Category.POLITICS,
    "geopolitics": Category.POLITICS,
    "elections": Category.POLITICS,
    "world": Category.POLITICS,
    "sports": Category.SPORTS,
    "weather": Category.WEATHER,
    "climate": Category.WEATHER,
    "climate and weather": Category.WEATHER,
    "crypto": Category.CRYPTO,
    "economics": Category.ECONOMICS,
    "economy": Category.ECONOMICS,
    "finance": Category.ECONOMICS,
    "financials": Category.ECONOMICS,
    "business": Category.ECONOMICS,
    "science": Category.SCIENCE,
    "technology": Category.SCIENCE,
    "tech": Category.SCIENCE,
    "science and technology": Category.SCIENCE,
    "health": Category.SCIENCE,
    "culture": Category.CULTURE,
    "entertainment": Category.CULTURE,
    "pop culture": Category.CULTURE,
}
# ours: the words of the sources for what is one subject here; any other word is "other".


class RecordedTape:
    """Markets and prices of a recording. Holds nothing but listings kept ready."""

    has_imports = False

    def __init__(self, history: RecordedMarkets) -> None:
        self.recording: RecordedMarkets = history
        self.ends_at: Timestamp | None = history.ends_at
        self._ready: dict[int, Listing] = {}
        self._standing: tuple[float, float, tuple[Listing, ...]] = (math.inf, -math.inf, ())

    def reached(self, at: Timestamp) -> Timestamp:
        """The time up to which the tape can move: it stops at its end."""
        return min(at, self.recording.ends_at)

    def is_over(self, at: Timestamp) -> bool:
        """True from the end of the recording on."""
        return at >= self.recording.ends_at

    def listings_at(self, at: Timestamp) -> tuple[Listing, ...]:
        """Every market that has opened and not ended."""
        since, until, standing = self._standing
        if not since <= at < until:
            standing = tuple(self._listing(one) for one in self.recording.standing_at(at))
            self._standing = (at, self.recording.next_turn(at), standing)
        return standing

    def next_listings(self, at: Timestamp) -> tuple[Listing, ...]:  # noqa: ARG002
        """None: which markets open next is the future."""
        return ()

    def resolved_count(self, since: Timestamp, until: Timestamp) -> int:
        """How many markets ended with since < their end <= until."""
        return self.recording.ended_count(since, until)

    def listing_of(self, slot: int, number: int) -> Listing:
        """The market with this number; LookupError where there is none."""
        found = self.recording.market(number) if slot == SLOT else None
        if found is None:
            raise LookupError(f"the recording has no market {number}")
        return self._listing(found)

    def known(self, slot: int, number: int, at: Timestamp) -> Listing | None:
        """The market with this number, if it has opened by a moment."""
        found = self.recording.market(number) if slot == SLOT else None
        return None if found is None or found.opens_at > at else self._listing(found)

    def find(self, market_id: str, at: Timestamp) -> Listing | None:
        """The market with this id that stands at a moment."""
        return next((one for one in self.listings_at(at) if one.market_id == market_id), None)

    def bound(self, listing: Listing) -> Listing:
        """A listing that was read from disk, with its prices."""
        return self.listing_of(listing.slot, listing.number)

    def resolution(self, listing: Listing, at: Timestamp) -> Resolution | None:
        """How a market ended, if it has by a moment."""
        found = self.recording.market(listing.number)
        if found is None or found.ends_at is None or found.outcome is None or found.ends_at > at:
            return None
        return Resolution(found.ends_at, found.outcome)

    @staticmethod
    def news(
        listing: Listing,  # noqa: ARG004
        since: Timestamp,  # noqa: ARG004
        until: Timestamp,  # noqa: ARG004
    ) -> tuple[NewsItem, ...]:
        """None: no news are recorded."""
        return ()

    def _listing(self, found: RecordedMarket) -> Listing:
        listing = self._ready.get(found.number)
        if listing is None:
            listing = self._ready[found.number] = _listing_of(
                found, self.recording.path(found.number)
            )
        return listing


def _listing_of(found: RecordedMarket, path: PricePath) -> Listing:
    """What the service lists: nothing in it depends on anything later than the opening."""
    market_id = market_id_of(found.source, found.native_id)
    draws = Draws(int(market_id[-12:], 16))
    category = _CATEGORIES.get(found.category.strip().lower(), Category.OTHER)
    b = round(math.exp(draws.between(math.log(B_MIN), math.log(B_MAX))))
    resolves_at = found.opens_at + OPEN_ENDED_S if found.closes_at is None else found.closes_at
    return Listing(
        market_id=market_id,
        slot=SLOT,
        number=found.number,
        category=category,
        question=found.question,
        criteria=f"As recorded at {found.source}, where its id is {found.native_id}.",
        tags=(category.value, found.source),
        # ours: the volume of a whole life is known at its end alone, so depth is drawn by the id.
        b=Micros(b * ONE),
        start_price=Probability(_inside(path.price_at(found.opens_at))),
        opens_at=found.opens_at,
        resolves_at=Timestamp(max(resolves_at, found.opens_at + 1.0)),
        # ours: what stands here is shown to nobody; when the outcome stands is asked of the tape.
        resolved_at=Timestamp(resolves_at),
        outcome=None,
        strength=0.0,
        news=(),
        home=_HOMES.get(found.source, Venue.SIM),
        origin=Origin(
            found.source, found.native_id, found.event, found.closes_at is not None, path
        ),
    )


_START_MIN: Final = 0.002


def _inside(price: float) -> float:
    """A first price from which the market maker can move both ways."""
    return min(1.0 - _START_MIN, max(_START_MIN, price))


@lru_cache(maxsize=4_096)
def market_id_of(source: str, native_id: str) -> str:
    """The id of a recorded market here, in the shape of a random UUID."""
    text = hashlib.sha256(f"{source}:{native_id}".encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:32]}"


MarketTape = Tape | RecordedTape
"""What a world runs on: an endless stream of invented markets, or what was recorded."""

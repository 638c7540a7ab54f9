"""The tape: an endless stream of markets and news, the same for the same seed.

Any moment is found by arithmetic: nothing is stepped through, whatever was missed.
"""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import crc32

from service_tui.engine.listing import Listing, NewsReport
from service_tui.engine.tape.belief import chance_of, log_odds, news_jump
from service_tui.engine.tape.draws import Draws, bits, mix
from service_tui.engine.tape.history import RecordedMarkets
from service_tui.engine.tape.questions import Wording, headline, word
from service_tui.engine.tape.slots import (
    SLOT_BY_INDEX,
    SLOTS,
    Slot,
    home_of,
    last_resolved,
    numbers_at,
    times_of,
)
from service_tui.engine.tape.topics import Scope, Topics
from service_tui.outcome import NO, YES, Outcome
from service_tui.units import ONE, Micros, Probability, Timestamp

START_MIN: Final = 0.08
START_MAX: Final = 0.92
"""Range of first prices: nothing is listed that is as good as decided."""

B_MIN: Final = 300
B_MAX: Final = 5_000
"""Range of the liquidity parameter, $SIM, log-uniform."""

STRENGTH_MIN: Final = 0.5
STRENGTH_MAX: Final = 1.2
"""How much a market learns by the middle of its life, in log-odds."""

_NEWS_COUNT: Final = {
    Scope.MINUTES: (0, 3),
    Scope.HOURS: (1, 4),
    Scope.DAYS: (2, 6),
    Scope.WEEKS: (3, 6),
}
"""Lines of news in a life: at least, and fewer than."""

_NEWS_STRENGTH: Final = (0.3, 1.2)
_MANY_NEWS_STRENGTH: Final = (0.3, 0.75)
_FEW: Final = 2
"""Strengths of up to `_FEW` lines, and of more: together they leave the end open."""

_NEWS_SPAN: Final = (0.03, 0.85)
"""Share of the life in which news comes: later the market has mostly made up its mind."""

_KEPT: Final = 1_024
"""Listings kept ready; about 220 are in use at a time."""


class NewsItem(NamedTuple):
    """A line of news that has come: `jump` is what it did to the log-odds of YES."""

    market_id: str
    at: Timestamp
    headline: str
    jump: float
    price_before: Probability
    price_after: Probability


class Resolution(NamedTuple):
    """When an outcome is confirmed, and which."""

    at: Timestamp
    outcome: Outcome


class Tape:
    """Markets, beliefs and news of one seed. Holds nothing but listings kept ready."""

    has_imports = True
    ends_at: Timestamp | None = None
    """When the tape ends: never."""

    recording: RecordedMarkets | None = None
    """What was recorded: nothing."""

    def __init__(self, seed: int, topics: Topics) -> None:
        self.seed = seed
        self._topics = topics
        self._ready: dict[tuple[int, int], Listing] = {}
        # What stands from a moment on, and until when nothing opens or ends.
        self._standing: tuple[float, float, tuple[Listing, ...]] = (math.inf, -math.inf, ())

    @staticmethod
    def reached(at: Timestamp) -> Timestamp:
        """The moment up to which the tape can move: any, it is endless."""
        return at

    @staticmethod
    def is_over(at: Timestamp) -> bool:  # noqa: ARG004
        """False: it is endless."""
        return False

    @staticmethod
    def bound(listing: Listing) -> Listing:
        """A listing that was read from disk: it is whole."""
        return listing

    @staticmethod
    def resolution(listing: Listing, at: Timestamp) -> Resolution | None:
        """How a market ended, if its outcome is confirmed by a moment."""
        if listing.outcome is None or listing.resolved_at > at:
            return None
        return Resolution(listing.resolved_at, YES if listing.outcome else NO)

    def known(self, slot: int, number: int, at: Timestamp) -> Listing | None:
        """A market that has opened by a moment; None for a number that no calendar reaches."""
        one = SLOT_BY_INDEX.get(slot)
        # Two periods ahead nothing is open: far numbers would have no date in any calendar.
        if one is None or not 0 < number <= last_resolved(self.seed, one, at) + 2:
            return None
        listing = self.listing_of(slot, number)
        return listing if listing.opens_at <= at else None

    def listings_at(self, at: Timestamp) -> tuple[Listing, ...]:
        """Every market that is open or awaits its outcome: `opens_at` <= at < `resolved_at`."""
        since, until, standing = self._standing
        if not since <= at < until:
            near = [
                self.listing_of(slot.index, number)
                for slot in SLOTS
                for number in numbers_at(self.seed, slot, at)
            ]
            standing = tuple(one for one in near if one.opens_at <= at < one.resolved_at)
            turns = ((one.opens_at, one.resolves_at, one.resolved_at) for one in near)
            until = min((turn for times in turns for turn in times if turn > at), default=at)
            self._standing = (at, until, standing)
        return standing

    def next_listings(self, at: Timestamp) -> tuple[Listing, ...]:
        """The market that each slot lists next, after a moment."""
        near = (
            self.listing_of(slot.index, number)
            for slot in SLOTS
            for number in numbers_at(self.seed, slot, at)
        )
        return tuple(one for one in near if one.opens_at > at)

    def resolved_count(self, since: Timestamp, until: Timestamp) -> int:
        """How many markets have since < `resolved_at` <= until."""
        return sum(len(numbers) for _, numbers in self._resolved(since, until))

    def listing_of(self, slot: int, number: int) -> Listing:
        """The market of a slot by its number."""
        ready = self._ready
        listing = ready.get((slot, number))
        if listing is None:
            if len(ready) >= _KEPT:
                del ready[next(iter(ready))]
            listing = ready[slot, number] = _draw(
                self._topics, self.seed, SLOT_BY_INDEX[slot], number
            )
        return listing

    def find(self, market_id: str, at: Timestamp) -> Listing | None:
        """The market with this id that was open at a moment; None where none of this tape was."""
        for slot in SLOT_BY_INDEX.values():
            for number in numbers_at(self.seed, slot, at):
                if _market_id(self.seed, slot, number) == market_id:
                    return self.listing_of(slot.index, number)
        return None

    @staticmethod
    def news(listing: Listing, since: Timestamp, until: Timestamp) -> tuple[NewsItem, ...]:
        """News of a market with since < at <= until, oldest first."""
        return tuple(
            _news_item(listing, report) for report in listing.news if since < report.at <= until
        )

    def _resolved(self, since: Timestamp, until: Timestamp) -> list[tuple[Slot, range]]:
        """Numbers of each slot whose outcome was confirmed in a span."""
        return [
            (
                slot,
                range(
                    last_resolved(self.seed, slot, since) + 1,
                    last_resolved(self.seed, slot, until) + 1,
                ),
            )
            for slot in SLOTS
        ]


def _draw(topics: Topics, seed: int, slot: Slot, number: int) -> Listing:
    """Everything about one market. Its words and its fate come from different streams."""
    times = times_of(seed, slot, number)
    wording = word(topics, slot, number, seed=seed, closes=times.resolves_at)
    draws = Draws(seed, slot.index, number, crc32(b"fate"))
    start = draws.between(START_MIN, START_MAX)
    b = round(math.exp(draws.between(math.log(B_MIN), math.log(B_MAX))))
    listing = Listing(
        market_id=_market_id(seed, slot, number),
        slot=slot.index,
        number=number,
        category=slot.category,
        question=wording.question,
        criteria=wording.criteria,
        tags=wording.tags,
        b=Micros(b * ONE),
        start_price=Probability(start),
        opens_at=times.opens_at,
        resolves_at=times.resolves_at,
        resolved_at=times.resolved_at,
        outcome=draws.unit() < start,
        strength=draws.between(STRENGTH_MIN, STRENGTH_MAX),
        news=(),
        home=home_of(slot),
        subject=wording.gaps["subject"],
    )
    return replace(listing, news=_news(listing, wording, scope=slot.clock.scope, draws=draws))


def _news(
    listing: Listing, wording: Wording, *, scope: Scope, draws: Draws
) -> tuple[NewsReport, ...]:
    """The market's lines of news, in order; figures in them agree with the belief of the time."""
    fewest, end = _NEWS_COUNT[scope]
    life_s = listing.resolves_at - listing.opens_at
    moments = sorted(
        Timestamp(listing.opens_at + life_s * draws.between(*_NEWS_SPAN))
        for _ in range(fewest + draws.below(end - fewest))
    )
    strengths = _NEWS_STRENGTH if len(moments) <= _FEW else _MANY_NEWS_STRENGTH
    turn = draws.below(60)
    moved = 0.0
    reports: list[NewsReport] = []
    for count, at in enumerate(moments):
        jump = news_jump(draws, draws.between(*strengths), outcome=listing.outcome is True)
        moved += jump
        chance = chance_of(log_odds(listing, at) + moved)
        line = headline(wording, rising=jump > 0, chance=chance, turn=turn + count)
        reports.append(NewsReport(at, jump, line))
    return tuple(reports)


@lru_cache(maxsize=8 * _KEPT)
def _news_item(listing: Listing, report: NewsReport) -> NewsItem:
    after = log_odds(listing, report.at)
    return NewsItem(
        listing.market_id,
        report.at,
        report.headline,
        report.jump,
        chance_of(after - report.jump),
        chance_of(after),
    )


@lru_cache(maxsize=_KEPT)
def _market_id(seed: int, slot: Slot, number: int) -> str:
    """An identity in the shape of a random UUID."""
    high = mix(seed, slot.index, number, crc32(b"identity"))
    text = f"{high:016x}{bits(high, 1):016x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


@lru_cache(maxsize=4)
def tape_of(seed: int, topics: Topics) -> Tape:
    """The tape of a seed. Worlds share it, as it holds nothing but listings kept ready."""
    return Tape(seed, topics)

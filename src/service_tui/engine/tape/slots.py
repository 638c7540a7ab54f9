"""The timetable of the tape: the market that each slot has at a time.

A slot lists one market after the other for ever; the n-th is found by division, so a month's
absence costs nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

from service_tui.engine.tape.draws import mix, unit
from service_tui.engine.tape.topics import Scope
from service_tui.terms import Category, Venue
from service_tui.units import Timestamp

MINUTE_S: Final = 60.0
HOUR_S: Final = 3_600.0
DAY_S: Final = 86_400.0

LEAD_MAX: Final = 0.35
"""How much earlier than its predecessor's end a market may open, in periods.

Every slot has a market open at any moment, so at least as many are open as there are slots;
with the early ones about a sixth more.
"""


class MarketLength(NamedTuple):
    """A length of markets. Ends fall on multiples of `grain_s`, so that texts can name them."""

    period_s: float
    grain_s: float
    scope: Scope


_FIVE_MINUTES: Final = MarketLength(5 * MINUTE_S, MINUTE_S, Scope.MINUTES)
_QUARTER: Final = MarketLength(15 * MINUTE_S, MINUTE_S, Scope.MINUTES)
_HOUR: Final = MarketLength(HOUR_S, 5 * MINUTE_S, Scope.HOURS)
_FOUR_HOURS: Final = MarketLength(4 * HOUR_S, 5 * MINUTE_S, Scope.HOURS)
_DAY: Final = MarketLength(DAY_S, HOUR_S, Scope.DAYS)
_THREE_DAYS: Final = MarketLength(3 * DAY_S, HOUR_S, Scope.DAYS)
_WEEK: Final = MarketLength(7 * DAY_S, HOUR_S, Scope.WEEKS)
_THREE_WEEKS: Final = MarketLength(21 * DAY_S, HOUR_S, Scope.WEEKS)

_CLOCKS: Final = (
    _FIVE_MINUTES,
    _QUARTER,
    _HOUR,
    _FOUR_HOURS,
    _DAY,
    _THREE_DAYS,
    _WEEK,
    _THREE_WEEKS,
)

SHARES: Final = 12
"""Slots of each category; they share its subjects without meeting."""

_MIX: Final = {
    Category.POLITICS: (1, 1, 1, 2, 3, 2, 1, 1),
    Category.SPORTS: (2, 1, 2, 2, 2, 1, 1, 1),
    Category.WEATHER: (2, 1, 1, 2, 2, 2, 1, 1),
    Category.CRYPTO: (2, 2, 2, 1, 2, 1, 1, 1),
    Category.SCIENCE: (1, 1, 1, 2, 2, 2, 2, 1),
    Category.CULTURE: (1, 2, 1, 2, 2, 1, 2, 1),
}
"""Slots of each clock, in the order of `_CLOCKS`; each row sums to SHARES.

Nine five-minute slots bring a resolution about every half minute; two thirds last hours or more.
"""

_DELAYS: Final = {
    Category.POLITICS: (0.08, 20.0, 3 * HOUR_S),
    Category.SPORTS: (0.03, 10.0, 20 * MINUTE_S),
    Category.WEATHER: (0.20, 60.0, 6 * HOUR_S),
    Category.CRYPTO: (0.02, 5.0, 10 * MINUTE_S),
    Category.SCIENCE: (0.12, 30.0, 4 * HOUR_S),
    Category.CULTURE: (0.05, 15.0, HOUR_S),
}
"""Share of the period, least and most seconds until an outcome is confirmed.

Source: spec, resolution semantics: it varies by market type, weather can take hours.
"""
# ours: the figures; as shares of the length, so that a short market does not wait for hours.


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the list that is always filled. `share` counts within the category.

    `event` is the index of the first slot of several that ask the same with the same deadline.
    """

    index: int
    category: Category
    share: int
    clock: MarketLength
    event: int | None = None

    @property
    def anchor(self) -> int:
        """The index from which times, topic and home venue follow."""
        return self.index if self.event is None else self.event


_HOMES: Final = (Venue.EVM, Venue.SIM, Venue.SOL, Venue.EVM)
# ours: half of the questions have an order book on the one real venue, a quarter on the other.

_IMPORT_HOMES: Final = (Venue.EVM, Venue.EVM, Venue.SOL)

IMPORT_FIRST: Final = 1_000
"""Index of the first slot whose questions the venues know and the service lists on request."""

_SINGLES: Final = (_DAY, _THREE_DAYS, _WEEK, _THREE_WEEKS)
_EVENTS: Final = (_THREE_DAYS, _WEEK)
EVENT_SIZE: Final = 4
# ours: what may be imported: of each category four questions of their own, and two events of four.


class Times(NamedTuple):
    """When a market opens, may resolve, and is confirmed."""

    opens_at: Timestamp
    resolves_at: Timestamp
    resolved_at: Timestamp


def _slots() -> Iterator[Slot]:
    index = 0
    for category, counts in _MIX.items():
        ends = tuple(accumulate(counts))
        for share in range(SHARES):
            clock = next(clock for clock, end in zip(_CLOCKS, ends, strict=True) if share < end)
            yield Slot(index, category, share, clock)
            index += 1


SLOTS: Final = tuple(_slots())


def _import_slots() -> Iterator[Slot]:
    index = IMPORT_FIRST
    for category in _MIX:
        for share, clock in enumerate(_SINGLES):
            yield Slot(index + share, category, share, clock)
        share = len(_SINGLES)
        for clock in _EVENTS:
            event = index + share
            for _ in range(EVENT_SIZE):
                yield Slot(index + share, category, share, clock, event)
                share += 1
        index += share


IMPORT_SLOTS: Final = tuple(_import_slots())

SLOT_BY_INDEX: Final = {slot.index: slot for slot in (*SLOTS, *IMPORT_SLOTS)}


def home_of(slot: Slot) -> Venue:
    """The venue that trades the slot's questions beside the market maker."""
    homes = _HOMES if slot.index < IMPORT_FIRST else _IMPORT_HOMES
    return homes[slot.anchor % len(homes)]


def phase_of(seed: int, slot: Slot) -> float:
    """When the slot's market number 0 may resolve, seconds, a multiple of its grain."""
    clock = slot.clock
    steps = int(clock.period_s / clock.grain_s)
    return int(unit(mix(seed, slot.anchor), 0) * steps) * clock.grain_s


def delay_of(slot: Slot) -> float:
    """Seconds between the end of a market and its confirmed outcome; under half a period."""
    share, least, most = _DELAYS[slot.category]
    return round(min(most, max(least, share * slot.clock.period_s)))


def times_of(seed: int, slot: Slot, number: int) -> Times:
    """When the slot's market of this number opens, ends and is confirmed."""
    period_s = slot.clock.period_s
    resolves_at = phase_of(seed, slot) + number * period_s
    lead = LEAD_MAX * unit(mix(seed, slot.anchor, number), 1)
    return Times(
        Timestamp(resolves_at - (1.0 + lead) * period_s),
        Timestamp(resolves_at),
        resolved_at(seed, slot, number),
    )


def resolved_at(seed: int, slot: Slot, number: int) -> Timestamp:
    """When the outcome of the slot's market of this number is confirmed."""
    return Timestamp(phase_of(seed, slot) + number * slot.clock.period_s + delay_of(slot))


def numbers_at(seed: int, slot: Slot, at: Timestamp) -> range:
    """Numbers that may stand at a moment: the one awaiting its outcome, the open one, the next."""
    number = int((at - phase_of(seed, slot)) // slot.clock.period_s) + 1
    return range(number - 1, number + 2)


def last_resolved(seed: int, slot: Slot, at: Timestamp) -> int:
    """The highest number whose outcome is confirmed at a moment."""
    return int((at - phase_of(seed, slot) - delay_of(slot)) // slot.clock.period_s)

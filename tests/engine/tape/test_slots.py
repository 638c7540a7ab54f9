"""The timetable: a world's seed says for ever which market of which slot stands when."""

from typing import Final

import pytest

from service_tui.engine.tape.slots import (
    EVENT_SIZE,
    IMPORT_FIRST,
    IMPORT_SLOTS,
    SHARES,
    SLOT_BY_INDEX,
    SLOTS,
    Times,
    _slots,
    delay_of,
    home_of,
    last_resolved,
    numbers_at,
    phase_of,
    resolved_at,
    times_of,
)
from service_tui.terms import Category, Venue
from service_tui.units import Timestamp

SEED: Final = 7
HOUR_S: Final = 3_600


def test_slots_are_numbered_by_category_and_share() -> None:
    assert [(slot.index, slot.category, slot.share) for slot in SLOTS] == [
        (SHARES * place + share, category, share)
        for place, category in enumerate((
            Category.POLITICS,
            Category.SPORTS,
            Category.WEATHER,
            Category.CRYPTO,
            Category.SCIENCE,
            Category.CULTURE,
        ))
        for share in range(SHARES)
    ]
    assert {slot.event for slot in SLOTS} == {None}
    assert tuple(_slots()) == SLOTS


def test_a_category_has_its_own_mix_of_lengths() -> None:
    def periods(category: Category) -> list[float]:
        return [slot.clock.period_s / 60 for slot in SLOTS if slot.category is category]

    assert periods(Category.POLITICS) == [
        5, 15, 60, 240, 240, 1_440, 1_440, 1_440, 4_320, 4_320, 10_080, 30_240
    ]  # fmt: skip
    assert periods(Category.CRYPTO) == [
        5, 5, 15, 15, 60, 60, 240, 1_440, 1_440, 4_320, 10_080, 30_240
    ]  # fmt: skip


def test_what_may_be_imported_is_four_questions_and_two_events_of_each_category() -> None:
    politics = [slot for slot in IMPORT_SLOTS if slot.category is Category.POLITICS]
    assert [(slot.index, slot.share, slot.event) for slot in politics] == [
        *((IMPORT_FIRST + share, share, None) for share in range(4)),
        *((IMPORT_FIRST + share, share, IMPORT_FIRST + 4) for share in range(4, 4 + EVENT_SIZE)),
        *((IMPORT_FIRST + share, share, IMPORT_FIRST + 8) for share in range(8, 8 + EVENT_SIZE)),
    ]
    days = [slot.clock.period_s / 86_400 for slot in politics]
    assert days == [1, 3, 7, 21, 3, 3, 3, 3, 7, 7, 7, 7]
    assert [slot.index for slot in IMPORT_SLOTS] == list(range(1_000, 1_072))
    assert list(SLOT_BY_INDEX) == [*range(72), *range(1_000, 1_072)]
    assert all(SLOT_BY_INDEX[index].index == index for index in SLOT_BY_INDEX)


@pytest.mark.parametrize(
    ("index", "home"),
    [
        (0, Venue.EVM),
        (1, Venue.SIM),
        (2, Venue.SOL),
        (3, Venue.EVM),
        (5, Venue.SIM),
        (1_000, Venue.EVM),
        (1_001, Venue.SOL),
        (1_002, Venue.EVM),
    ],
)
def test_each_slot_has_its_venue(index: int, home: Venue) -> None:
    assert home_of(SLOT_BY_INDEX[index]) is home


def test_all_questions_of_an_event_have_one_venue_and_one_timetable() -> None:
    event = [slot for slot in IMPORT_SLOTS if slot.event == 1_004]
    assert len(event) == EVENT_SIZE
    assert {home_of(slot) for slot in event} == {Venue.SOL}
    assert len({times_of(SEED, slot, 5) for slot in event}) == 1


@pytest.mark.parametrize(
    ("index", "phase", "delay", "opens_at"),
    [
        (0, 180.0, 24, 300_127.674731),
        (5, 3_600.0, 6_912, 86_374_095.607567),
        (11, 1_083_600.0, 10_800, 1_815_058_799.872965),
        (12, 0.0, 10, 299_907.829435),
        (1_003, 1_036_800.0, 10_800, 1_814_940_281.401931),
        (1_008, 496_800.0, 10_800, 605_292_751.538403),
    ],
)
def test_a_market_opens_ends_and_is_confirmed_at_the_times_of_its_slot(
    index: int, phase: float, delay: float, opens_at: float
) -> None:
    slot = SLOT_BY_INDEX[index]
    ends = phase + 1_001 * slot.clock.period_s
    assert phase_of(SEED, slot) == phase
    assert delay_of(slot) == delay
    assert resolved_at(SEED, slot, 1_001) == ends + delay
    assert times_of(SEED, slot, 1_001) == Times(
        pytest.approx(opens_at, abs=1e-4), Timestamp(ends), Timestamp(ends + delay)
    )


def test_the_wait_for_an_outcome_is_a_share_of_the_length_within_its_bounds() -> None:
    weather = {slot.clock.period_s: delay_of(slot) for slot in SLOTS if slot.index // SHARES == 2}
    assert weather == {
        300: 60,
        900: 180,
        HOUR_S: 720,
        4 * HOUR_S: 2_880,
        24 * HOUR_S: 17_280,
        72 * HOUR_S: 6 * HOUR_S,
        168 * HOUR_S: 6 * HOUR_S,
        504 * HOUR_S: 6 * HOUR_S,
    }


@pytest.mark.parametrize(
    ("after_s", "numbers", "confirmed"),
    [
        (-0.5, range(9, 12), 9),
        (0.0, range(10, 13), 9),
        (23.5, range(10, 13), 9),
        (24.0, range(10, 13), 10),
        (299.5, range(10, 13), 10),
        (300.0, range(11, 14), 10),
    ],
)
def test_the_numbers_of_a_moment_follow_from_the_ends_before_it(
    after_s: float, numbers: range, confirmed: int
) -> None:
    # The slot's market number 10 ends at 180 + 10 * 300, and is confirmed 24 seconds later.
    at = Timestamp(3_180.0 + after_s)
    assert numbers_at(SEED, SLOTS[0], at) == numbers
    assert last_resolved(SEED, SLOTS[0], at) == confirmed

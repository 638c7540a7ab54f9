"""What resolves in which hour or day."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from service_tui.evaluation.calendar import calendar
from service_tui.evaluation.exposure import AgentHolding
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp


def at(text: str) -> Timestamp:
    return Timestamp(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


NOW = at("2026-11-30 10:40")


def due(when: Timestamp | None, market: str = "rain") -> AgentHolding:
    return AgentHolding(
        "a-1", "momentum", market, f"{market}?", "weather", "", Venue.SIM, Side.YES,
        Micros(10 * ONE), Micros(4 * ONE), Micros(5 * ONE), Probability(0.5), when,
    )  # fmt: skip


def test_it_begins_with_what_is_overdue_and_ends_with_what_has_no_end() -> None:
    slots = calendar(
        [due(None), due(at("2026-12-04 09:00")), due(at("2026-11-30 11:05")), due(NOW)], NOW, UTC
    )
    assert [one.is_overdue for one in slots] == [True, False, False, False]
    assert [one.begins_at for one in slots] == [
        None, at("2026-11-30 11:00"), at("2026-12-04 00:00"), None,
    ]  # fmt: skip
    assert [one.is_hour for one in slots] == [False, True, False, False]


def test_two_days_have_hours_and_the_rest_has_days() -> None:
    last, next_ = at("2026-12-02 10:40"), at("2026-12-02 10:41")
    hour, day = calendar([due(last), due(next_)], NOW, UTC)
    assert (hour.begins_at, hour.is_hour) == (at("2026-12-02 10:00"), True)
    assert (day.begins_at, day.is_hour) == (at("2026-12-02 00:00"), False)


def test_markets_of_a_slot_are_rows_with_what_they_pay() -> None:
    (slot,) = calendar([due(at("2026-11-30 11:05")), due(at("2026-11-30 11:59"), "snow")], NOW, UTC)
    assert {(one.name, one.if_yes, one.if_no) for one in slot.markets} == {
        ("rain?", 10 * ONE, 0), ("snow?", 10 * ONE, 0),
    }  # fmt: skip
    (whole,) = slot.totals
    assert (whole.cost, whole.best) == (8 * ONE, 20 * ONE)


@pytest.mark.parametrize(
    "zone", [timezone(timedelta(hours=5, minutes=45)), ZoneInfo("Europe/Berlin")]
)
def test_hours_and_days_are_those_of_the_zone(zone: Any) -> None:
    (slot,) = calendar([due(at("2026-12-05 23:30"))], NOW, zone)
    assert slot.begins_at is not None
    begins = datetime.fromtimestamp(slot.begins_at, zone)
    assert (begins.hour, begins.minute, begins.day) == (0, 0, 6)

"""Price alerts as rows of the disk and of the wire, and their texts."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.samples.desk import NOW
from kit.samples.risk import price_alert_of
from kit.service.stage import open_directory
from service_tui.clock import ManualClock
from service_tui.desk.risk.price_alert_rows import (
    after_price,
    alert_of,
    fired_text,
    gone_text,
    known_price_alerts,
    listed_of,
    may_be,
    place_of,
    row_of,
    stored_price_alerts,
    view_of,
)
from service_tui.desk.slices.risk import PriceAlertView
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.terms import AlertCondition, Side
from service_tui.units import Timestamp
from service_tui.wire.alerts import PriceAlertBody

AT = Timestamp(1_800_000_000.0)

PATHS = [
    (AlertCondition.ABOVE, [0.5, 0.59, 0.6, 0.7], 2),
    (AlertCondition.ABOVE, [0.7, 0.5], 0),
    (AlertCondition.BELOW, [0.7, 0.61, 0.6], 2),
    (AlertCondition.BELOW, [0.5], 0),
    (AlertCondition.CROSSES_ABOVE, [0.7, 0.65, 0.5, 0.62], 3),
    (AlertCondition.CROSSES_ABOVE, [0.6, 0.6, 0.7], None),
    (AlertCondition.CROSSES_ABOVE, [0.59, 0.6], 1),
    (AlertCondition.CROSSES_BELOW, [0.5, 0.55, 0.61, 0.3], 3),
    (AlertCondition.CROSSES_BELOW, [0.5, 0.6, 0.4], None),
]


@pytest.mark.parametrize(("condition", "prices", "fires_at"), PATHS)
def test_each_condition_fires_once_where_it_says(
    condition: AlertCondition, prices: list[float], fires_at: int | None
) -> None:
    alert = price_alert_of(condition=condition)
    fired = []
    for number, price in enumerate(prices):
        before = alert.triggered_at
        alert = after_price(alert, price, Timestamp(AT + number))
        if alert.triggered_at != before:
            fired.append(number)
    assert fired == ([] if fires_at is None else [fires_at])
    if fires_at is not None:
        assert alert.triggered_at == AT + fires_at
        assert alert.triggered_price == prices[fires_at]


def body(alert_id: str, at: float = NOW, **other: Any) -> PriceAlertBody:
    given = {
        "market_id": "m", "side": Side.YES, "condition": AlertCondition.ABOVE, "threshold": 0.6,
        "created_at": datetime.fromtimestamp(at, UTC), "market_question": "Rain?",
    }  # fmt: skip
    return PriceAlertBody(id=alert_id, **{**given, **other})


def test_a_row_of_the_disk_and_its_alert_are_the_same() -> None:
    alert = price_alert_of(
        is_armed=True, service_id="s1", sent_at=Timestamp(NOW), condition=AlertCondition.BELOW
    )
    assert view_of(row_of(alert)) == alert
    assert (row_of(alert)["armed"], row_of(alert, removed=True)["removed"]) == (1, 1)


async def test_what_has_no_meaning_or_was_removed_is_not_shown(tmp_path: Path) -> None:
    async with open_directory(tmp_path, ManualClock()) as database:
        stored = PriceAlerts(database)
        for name in ("side", "condition"):
            await stored.put({**row_of(price_alert_of(name)), name: "other"})
        await stored.put(row_of(price_alert_of("p2")))
        await stored.put(row_of(price_alert_of("p3"), removed=True))
        assert known_price_alerts(stored) == (price_alert_of("p2"),)
        assert stored_price_alerts(stored, removed=True) == (price_alert_of("p3"),)


def test_an_alert_of_the_service_is_known_by_its_id_and_the_second_it_was_set() -> None:
    alert = alert_of(body("s1"))
    assert alert == price_alert_of(f"s1@{NOW:.0f}", service_id="s1")
    assert place_of(alert) != place_of(alert_of(body("s1", NOW + 1)))
    fired = alert_of(body("s1", triggered_at=datetime.fromtimestamp(NOW + 5, UTC)))
    # A service need not say at which price.
    assert (fired.triggered_at, fired.triggered_price) == (NOW + 5, 0.6)


def test_of_an_alert_that_is_listed_twice_the_firing_holds() -> None:
    fired = body("s1", triggered_at=datetime.fromtimestamp(NOW + 5, UTC))
    listed = listed_of([body("s1"), body("s2", webhook_url="https://x.example"), fired], NOW, 1)
    assert [one.is_open for one in listed.rows.values()] == [False, True]
    assert listed.addressed == {("s2", f"{NOW:.0f}")}
    assert not listed.is_whole


ROW = price_alert_of("s", service_id="s1", created_at=Timestamp(NOW))
FIRED = replace(ROW, triggered_at=Timestamp(NOW + 9), triggered_price=0.6)


@pytest.mark.parametrize(
    ("mine", "row", "is_same"),
    [
        ({}, ROW, True),
        ({"market_id": "m2"}, ROW, False),
        ({"side": Side.NO}, ROW, False),
        ({"condition": AlertCondition.CROSSES_ABOVE}, ROW, False),
        ({"threshold": 0.61}, ROW, False),
        ({"created_at": NOW - 9_999}, ROW, True),
        ({"created_at": NOW - 9_999}, FIRED, True),
        ({"created_at": NOW + 9_999}, FIRED, False),
        ({"created_at": NOW - 9_999, "sent_at": NOW - 30}, ROW, True),
        ({"created_at": NOW - 9_999, "sent_at": NOW + 90}, ROW, False),
        ({"triggered_at": NOW + 9}, FIRED, True),
        ({"triggered_at": NOW + 9, "created_at": NOW - 99}, FIRED, False),
    ],
)
def test_an_alert_without_the_services_id_is_found_by_its_terms_and_times(
    mine: dict[str, Any], row: PriceAlertView, *, is_same: bool
) -> None:
    assert may_be(price_alert_of(**mine), row) is is_same


def test_what_fired_a_while_ago_is_told_with_its_time() -> None:
    fired = price_alert_of(triggered_at=Timestamp(NOW), triggered_price=0.61)
    assert fired_text(fired, Timestamp(NOW + 60)) == "price alert: YES > 0.60, now 0.6100, Rain?"
    day = datetime.fromtimestamp(NOW, UTC).strftime("%d %b %H:%M UTC")
    text = f"price alert: YES > 0.60, 0.6100 at {day}, Rain?"
    assert fired_text(fired, Timestamp(NOW + 61)) == text
    assert gone_text(fired).startswith("price alert no longer at the service: YES > 0.60, Rain?;")

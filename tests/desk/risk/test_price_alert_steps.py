"""A price alert from the command to its notice, one step at a time."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.risk import price_alert_of
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.risk import RemovePriceAlert, SetPriceAlert
from service_tui.desk.facts import Noticed
from service_tui.desk.risk.price_alerts import (
    ALERTS_MAX,
    PriceWatch,
    fired_text,
    known_price_alerts,
    remove_price_alert,
    row_of,
    set_price_alert,
    view_of,
)
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.risk import Condition, PriceAlertView
from service_tui.desk.state import DeskState
from service_tui.storage.errors import StorageError
from service_tui.storage.price_alerts import PriceAlerts, Row
from service_tui.terms import AlertCondition, Side
from service_tui.units import Probability, Timestamp
from service_tui.wire.alerts import PriceAlertBody, PriceAlertRequest, PriceAlertsBody, RemovedBody
from service_tui.wire.endpoints.notify import DELETE_PRICE_ALERT, PRICE_ALERTS, SET_PRICE_ALERT

EMPTY = sample_state()
MARKET = replace(next(iter(EMPTY.markets.values())), price=Probability(0.4))
HERE = MARKET.market_id
ID = "0123456789abcdef" * 4
FULL = StorageError("disk full")
SILENT = UnreachableError("no line", Called("POST", "/x"))


class Stored:
    """A table of price alerts that notes what is asked of it."""

    def __init__(self, error: Exception | None = None, *, is_first: bool = True) -> None:
        self.did: list[tuple[Any, ...]] = []
        self.rows: list[Row] = []
        self._error = error
        self._is_first = is_first

    def _note(self, *what: Any) -> None:
        if self._error is not None:
            raise self._error
        self.did.append(what)

    def all(self) -> list[Row]:
        self._note("all")
        return self.rows

    async def put(self, alert: Row) -> None:
        self._note("put", alert)

    async def drop(self, alert_id: str) -> bool:
        self._note("drop", alert_id)
        return True

    async def arm(self, alert_id: str, *, armed: bool) -> None:
        self._note("arm", alert_id, armed)

    async def fire(self, alert_id: str, *, at: float, price: float) -> bool:
        self._note("fire", alert_id, at, price)
        return self._is_first

    @property
    def kept(self) -> PriceAlerts:
        return cast("PriceAlerts", self)


def state_with(*alerts: PriceAlertView, price: float = 0.4, **other: Any) -> DeskState:
    markets = {**EMPTY.markets, HERE: replace(MARKET, price=Probability(price))}
    risk = replace(EMPTY.risk, price_alerts=alerts)
    return replace(EMPTY, markets=markets, risk=risk, **{"from_cache": False, **other})


def service(**of: Any) -> Any:
    return replace(EMPTY.service, **{"embedded": False, "read_only": False, **of})


def test_a_row_and_its_alert_are_the_same() -> None:
    alert = price_alert_of(is_armed=True, side=Side.NO, condition=Condition.CROSSES_BELOW)
    row = row_of(alert)
    assert row == {
        "triggered_at": None,
        "triggered_price": None,
        "alert_id": "p1",
        "market_id": "m",
        "question": "Rain?",
        "side": "no",
        "condition": "crosses_below",
        "threshold": 0.6,
        "created_at": NOW,
        "armed": 1,
    }
    assert view_of(row) == alert
    fired = replace(alert, triggered_at=Timestamp(NOW + 5), triggered_price=0.61, is_armed=False)
    assert view_of({**row, "triggered_at": NOW + 5, "triggered_price": 0.61, "armed": 0}) == fired


@pytest.mark.parametrize("field", ["side", "condition"])
def test_a_row_without_a_meaning_is_none(field: str) -> None:
    row = {**row_of(price_alert_of()), field: "other"}
    assert view_of(row) is None
    stored = Stored()
    stored.rows = [row, row_of(price_alert_of("p2"))]
    assert known_price_alerts(stored.kept) == (price_alert_of("p2"),)


def test_alerts_that_cannot_be_read_are_none() -> None:
    assert known_price_alerts(Stored(FULL).kept) == ()


def looked(before: DeskState, after: DeskState) -> list[Any]:
    there = Offline(after)
    return PriceWatch(Stored().kept, there.ports).look(before, after)


def test_a_new_price_fires_what_it_passes() -> None:
    low = price_alert_of("p1", market_id=HERE, threshold=0.6)
    high = price_alert_of("p2", market_id=HERE, threshold=0.9, is_armed=True)
    gone = price_alert_of("p3", market_id="none")
    no = price_alert_of("p4", market_id=HERE, side=Side.NO, condition=Condition.BELOW)
    over = price_alert_of("p5", market_id=HERE, triggered_at=Timestamp(NOW))
    alerts = (gone, over, low, high, no)
    before, after = state_with(*alerts), state_with(*alerts, price=0.7)
    facts = looked(before, after)
    changed = [fact.row for fact in facts]
    assert [one.alert_id for one in changed] == ["p1", "p4"]
    at = Offline(after).clock.now()
    assert [(one.triggered_at, one.triggered_price) for one in changed] == [
        (at, 0.7),
        (at, pytest.approx(0.3)),
    ]


def test_nothing_is_compared_without_a_new_price() -> None:
    alert = price_alert_of("p1", market_id=HERE, threshold=0.6)
    after = state_with(alert, price=0.7)
    assert looked(after, replace(after, from_cache=True)) == []
    assert looked(state_with(), state_with(price=0.7)) == []
    other = {**after.markets}
    assert looked(after, replace(after, markets=other)) == []


def test_a_cached_price_was_never_compared() -> None:
    alert = price_alert_of("p1", market_id=HERE, threshold=0.6)
    after = state_with(alert, price=0.7)
    cached = replace(after, markets={**after.markets}, from_cache=True)
    assert len(looked(cached, after)) == 1


async def watched(stored: Stored, alert: PriceAlertView, price: float) -> Offline:
    """What a running watch has told once an alert met a price."""
    after = state_with(alert, price=price)
    there = Offline(after)
    watch = PriceWatch(stored.kept, there.ports)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(watch.run())
        watch.look(state_with(alert), after)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not running.done()
        running.cancel()
    return there


@pytest.mark.parametrize("is_first", [True, False])
async def test_it_is_written_down_and_told_the_first_time(*, is_first: bool) -> None:
    stored = Stored(is_first=is_first)
    alert = price_alert_of("p1", market_id=HERE, threshold=0.6)
    there = await watched(stored, alert, 0.7)
    at = there.clock.now()
    assert stored.did == [("fire", "p1", at, 0.7)]
    text = fired_text(replace(alert, triggered_at=at, triggered_price=0.7))
    told = [Noticed("warn", text, NoticeKind.PRICE_ALERT)]
    assert there.told == (told if is_first else [])


async def test_what_is_armed_is_written_and_not_told() -> None:
    stored = Stored()
    alert = price_alert_of("p1", market_id=HERE, condition=Condition.CROSSES_ABOVE, threshold=0.6)
    there = await watched(stored, alert, 0.5)
    assert stored.did == [("arm", "p1", True)]
    assert there.told == []


@pytest.mark.parametrize(("price", "count"), [(0.7, 1), (0.5, 0)])
async def test_what_has_fired_is_told_although_the_disk_is_full(price: float, count: int) -> None:
    condition = Condition.ABOVE if count else Condition.CROSSES_ABOVE
    alert = price_alert_of("p1", market_id=HERE, condition=condition, threshold=0.6)
    there = await watched(Stored(FULL), alert, price)
    assert len(there.told) == count


def test_the_words_of_a_fired_alert() -> None:
    alert = price_alert_of(triggered_price=0.65432)
    assert fired_text(alert) == f"price alert: {alert.describe()}, now 0.6543, Rain?"
    bare = price_alert_of(question="")
    assert fired_text(bare) == f"price alert: {bare.describe()}, now 0.0000"


# -- set


def order(threshold: float = 0.6, **other: Any) -> SetPriceAlert:
    given = {"side": Side.YES, "condition": Condition.ABOVE, "question": ""}
    return SetPriceAlert(market_id=HERE, threshold=threshold, **{**given, **other})


async def test_a_new_alert_is_kept_shown_and_told() -> None:
    stored, there = Stored(), Offline(state_with(service=service()))
    await set_price_alert(order(), stored.kept, there.ports)
    alert = PriceAlertView(
        alert_id=ID,
        market_id=HERE,
        question=MARKET.question,
        side=Side.YES,
        condition=Condition.ABOVE,
        threshold=0.6,
        created_at=there.clock.now(),
        is_armed=True,
    )
    assert stored.did == [("put", row_of(alert))]
    assert there.facts == [Changed(alert), Noticed("info", order().describe())]
    assert there.asked == []


@pytest.mark.parametrize(
    ("question", "market_id", "expected"),
    [("Mine?", HERE, "Mine?"), ("", HERE, MARKET.question), ("", "none", "")],
)
async def test_its_question_is_the_orders_else_the_markets(
    question: str, market_id: str, expected: str
) -> None:
    stored, there = Stored(), Offline(state_with(service=service()))
    wish = replace(order(question=question), market_id=market_id)
    await set_price_alert(wish, stored.kept, there.ports)
    [(_, row)] = stored.did
    assert (row["question"], row["market_id"]) == (expected, market_id)
    assert row["armed"] == int(market_id == HERE)


async def test_a_price_that_is_there_fires_at_once() -> None:
    stored, there = Stored(), Offline(state_with(service=service(embedded=True)))
    await set_price_alert(order(0.3), stored.kept, there.ports)
    at = there.clock.now()
    [put, fire] = stored.did
    assert put[0] == "put"
    assert fire == ("fire", ID, at, 0.4)
    assert [one.kind for one in there.told] == [NoticeKind.PRICE_ALERT]
    assert there.words == [
        ("warn", f"price alert: YES > {order(0.3).describe()[17:]}, now 0.4000, {MARKET.question}")
    ]
    assert there.asked == []


async def test_a_cached_price_fires_and_arms_nothing() -> None:
    stored, there = Stored(), Offline(state_with(service=service(), from_cache=True))
    await set_price_alert(order(0.3), stored.kept, there.ports)
    [(word, row)] = stored.did
    assert (word, row["armed"]) == ("put", 0)


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.1, float("nan")])
async def test_a_price_that_is_none(threshold: float) -> None:
    stored, there = Stored(), Offline(state_with())
    await set_price_alert(order(threshold), stored.kept, there.ports)
    assert there.facts == [Noticed("warn", "price alert: price must be above 0 and below 1")]
    assert stored.did == []


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({}, True),
        ({"threshold": 0.61}, False),
        ({"side": Side.NO}, False),
        ({"condition": Condition.BELOW}, False),
        ({"market_id": "m2"}, False),
        ({"triggered_at": Timestamp(NOW)}, False),
    ],
)
async def test_the_same_alert_is_kept_once(change: dict[str, Any], *, is_same: bool) -> None:
    there = Offline(
        state_with(price_alert_of("p9", **{"market_id": HERE, **change}), service=service())
    )
    stored = Stored()
    await set_price_alert(order(), stored.kept, there.ports)
    assert (stored.did == []) is is_same
    if is_same:
        assert there.facts == [Noticed("warn", f"{order().describe()}: set already")]


@pytest.mark.parametrize(("count", "is_kept"), [(ALERTS_MAX - 1, True), (ALERTS_MAX, False)])
async def test_there_is_a_most(count: int, *, is_kept: bool) -> None:
    alerts = tuple(price_alert_of(f"p{place}", market_id="other") for place in range(count))
    stored, there = Stored(), Offline(state_with(*alerts, service=service()))
    await set_price_alert(order(), stored.kept, there.ports)
    assert bool(stored.did) is is_kept
    if not is_kept:
        text = "limit of 500 price alerts reached: remove some first"
        assert there.facts == [Noticed("warn", text)]


@pytest.mark.parametrize("error", [FULL, UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no")])
async def test_what_cannot_be_written_is_not_set(error: Exception) -> None:
    there = Offline(state_with(service=service(embedded=True)))
    await set_price_alert(order(), Stored(error).kept, there.ports)
    assert there.facts == [Noticed("bad", f"{order().describe()}: {error}; not saved")]
    assert there.asked == []


# -- the same alert at the service


def body(alert_id: str, **other: Any) -> PriceAlertBody:
    given = {
        "market_id": HERE, "side": Side.YES, "condition": AlertCondition.ABOVE, "threshold": 0.6,
        "created_at": datetime.fromtimestamp(NOW, UTC),
    }  # fmt: skip
    return PriceAlertBody(id=alert_id, **{**given, **other})


async def test_the_embedded_service_gets_the_same_alert() -> None:
    there = Offline(state_with(service=service(embedded=True)), {SET_PRICE_ALERT: body("s1")})
    wish = order(condition=Condition.CROSSES_ABOVE)
    await set_price_alert(wish, Stored().kept, there.ports)
    sent = PriceAlertRequest(
        market_id=HERE, side=Side.YES, condition=AlertCondition.CROSSES_ABOVE, threshold=0.6
    )
    assert there.asked == [Asked(SET_PRICE_ALERT, body=sent)]


@pytest.mark.parametrize("where", [{"embedded": True, "read_only": True}, {"embedded": False}])
async def test_no_other_service_is_asked(where: dict[str, bool]) -> None:
    alert = price_alert_of("p1", market_id=HERE)
    there = Offline(state_with(service=service(**where)))
    await set_price_alert(order(), Stored().kept, there.ports)
    there.state = state_with(alert, service=service(**where))
    await remove_price_alert(RemovePriceAlert("p1"), Stored().kept, there.ports)
    assert there.asked == []


async def test_a_service_that_fails_is_shown_nowhere() -> None:
    alert = price_alert_of("p1", market_id=HERE)
    answers = {SET_PRICE_ALERT: SILENT, PRICE_ALERTS: SILENT}
    there = Offline(state_with(service=service(embedded=True)), dict(answers))
    await set_price_alert(order(), Stored().kept, there.ports)
    assert there.words == [("info", order().describe())]
    there = Offline(state_with(alert, service=service(embedded=True)), dict(answers))
    await remove_price_alert(RemovePriceAlert("p1"), Stored().kept, there.ports)
    assert there.words == []
    assert [one.endpoint for one in there.asked] == [PRICE_ALERTS]


# -- remove


def others() -> Iterator[PriceAlertBody]:
    yield body("s1")
    yield body("s2")
    yield body("s3", webhook_url="https://mine.example/in")
    yield body("s4", market_id="m2")
    yield body("s5", side=Side.NO)
    yield body("s6", condition=AlertCondition.BELOW)
    yield body("s7", threshold=0.7)


async def test_the_newest_of_the_same_goes_at_the_service() -> None:
    alert = price_alert_of("p1", market_id=HERE)
    there = Offline(
        state_with(price_alert_of("p0"), alert, service=service(embedded=True)),
        {
            PRICE_ALERTS: PriceAlertsBody(alerts=tuple(others())),
            DELETE_PRICE_ALERT: RemovedBody(success=True, id="s2"),
        },
    )
    stored = Stored()
    await remove_price_alert(RemovePriceAlert("p1"), stored.kept, there.ports)
    assert stored.did == [("drop", "p1")]
    assert there.facts == [Removed(PriceAlertView, "p1")]
    assert there.asked == [
        Asked(PRICE_ALERTS),
        Asked(DELETE_PRICE_ALERT, path={"alert_id": "s2"}),
    ]


@pytest.mark.parametrize("alert_id", ["p1", "p2"])
async def test_what_has_fired_or_is_unknown_is_not_at_the_service(alert_id: str) -> None:
    fired = price_alert_of("p1", market_id=HERE, triggered_at=Timestamp(NOW))
    there = Offline(state_with(fired, service=service(embedded=True)))
    await remove_price_alert(RemovePriceAlert(alert_id), Stored().kept, there.ports)
    assert there.facts == [Removed(PriceAlertView, alert_id)]
    assert there.asked == []


async def test_what_cannot_be_forgotten_stays() -> None:
    alert = price_alert_of("p1", market_id=HERE)
    there = Offline(state_with(alert, service=service(embedded=True)))
    await remove_price_alert(RemovePriceAlert("p1"), Stored(FULL).kept, there.ports)
    assert there.facts == [Noticed("bad", "remove a price alert: disk full")]
    assert there.asked == []

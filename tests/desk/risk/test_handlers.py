"""What a monitor asks of the service, and how its answer is taken."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.risk import monitor_of
from service_tui.client.errors import (
    Called,
    NotFoundError,
    RefusalReason,
    RefusedError,
    UnreachableError,
)
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.risk import RemoveMonitor, SetMonitor, SetMonitors
from service_tui.desk.facts import Noticed
from service_tui.desk.risk.handlers import (
    monitor_request,
    objection,
    remove_monitor,
    set_monitor,
    set_monitors,
)
from service_tui.desk.risk.translate import monitor_view
from service_tui.desk.slices.orders import moment_text
from service_tui.desk.slices.risk import MonitorView, Thresholds
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import DELETE_MONITOR, SET_MONITOR
from service_tui.wire.monitors import MonitorQuery, MonitorRemovedBody, MonitorSetBody

STATE = sample_state()
HELD = next(one for one in STATE.positions if one.venue is Venue.SIM)
HERE = HELD.market_id
CALLED = Called("POST", "/x")
SILENT = UnreachableError("no line", CALLED)
NO = RefusedError(RefusalReason("too tight", "widen it"), CALLED, status=400)
PLAIN = RefusedError(RefusalReason("no"), CALLED, status=400)
GONE = NotFoundError(RefusalReason("no such monitor"), CALLED, status=404)
STOP = Thresholds(stop_loss_pct=0.2)
LATER = moment_text(Timestamp(NOW + 3_600))


def order(thresholds: Thresholds = STOP, **other: Any) -> SetMonitor:
    given = {"market_id": HERE, "side": HELD.side, "venue": HELD.venue}
    return SetMonitor(thresholds=thresholds, **{**given, **other})


def answer(thresholds: Mapping[str, Any] | None = None, **other: Any) -> MonitorSetBody:
    given = {"market_id": HERE, "side": HELD.side, "venue": HELD.venue}
    sent = {"stop_loss_pct": 0.2, "take_profit_pct": None} if thresholds is None else thresholds
    return MonitorSetBody.model_validate({**given, **sent, **other})


def outside(reply: object, *, embedded: bool = False, **other: Any) -> Offline:
    service = replace(STATE.service, embedded=embedded)
    return Offline(replace(STATE, service=service, **other), {SET_MONITOR: reply})


# -- what this desk refuses


def test_a_monitor_of_a_position_is_accepted() -> None:
    assert Topic.POSITIONS in STATE.seen
    assert not objection(STATE, order())


@pytest.mark.parametrize(
    ("thresholds", "why"),
    [
        (Thresholds(), "set at least one threshold"),
        (Thresholds(stop_loss_pct=0.0), "stop: above 0 %, at most 100 %"),
        (Thresholds(stop_loss_pct=1.01), "stop: above 0 %, at most 100 %"),
        (Thresholds(stop_loss_pct=float("nan")), "stop: above 0 %, at most 100 %"),
        (
            Thresholds(stop_loss_pct=0.2, take_profit_pct=-0.1),
            "target: above 0 %, at most 100,000 %",
        ),
        (Thresholds(trailing_stop_pct=1.0), "trailing stop: above 0, below 100 %"),
        (Thresholds(trailing_stop_points=1.0), "trailing stop: above 0, below 100 %"),
        (Thresholds(stop_loss_pct=1.0), ""),
        (Thresholds(trailing_stop_pct=0.99), ""),
        (Thresholds(exit_at=Timestamp(-5.0)), ""),
    ],
)
def test_each_threshold_has_bounds(thresholds: Thresholds, why: str) -> None:
    assert objection(STATE, order(thresholds)) == why


def test_an_ended_market_is_not_watched() -> None:
    markets = {**STATE.markets}
    markets[HERE] = replace(STATE.markets[HERE], status=MarketStatus.RESOLVED)
    ended = replace(STATE, markets=markets)
    assert objection(ended, order()) == "market ended: nothing to monitor"
    del markets[HERE]
    assert not objection(replace(STATE, markets=dict(markets)), order())


@pytest.mark.parametrize(
    ("venue", "seen", "why"),
    [
        (Venue.SIM, True, "no position on this side: buy first"),
        (Venue.SIM, False, ""),
        (Venue.EVM, True, ""),
    ],
)
def test_on_sim_a_position_is_needed(venue: Venue, why: str, *, seen: bool) -> None:
    known = {Topic.POSITIONS: STATE.seen[Topic.POSITIONS]} if seen else {}
    state = replace(STATE, positions=(), seen=known)
    assert objection(state, order(venue=venue)) == why


# -- what is sent

ALL = {
    "stop_loss_pct",
    "take_profit_pct",
    "trailing_stop_pct",
    "trailing_stop_points",
    "exit_at",
}
FIRST = {"stop_loss_pct", "take_profit_pct"}
TRAIL = {"trailing_stop_pct", "trailing_stop_points"}


@pytest.mark.parametrize(
    ("wanted", "known", "has_all", "sent"),
    [
        (STOP, None, False, FIRST),
        (STOP, None, True, ALL),
        (STOP, Thresholds(stop_loss_pct=0.1), False, FIRST),
        (STOP, Thresholds(trailing_stop_points=0.1), False, FIRST | TRAIL),
        (Thresholds(trailing_stop_pct=0.1), None, False, FIRST | TRAIL),
        (STOP, Thresholds(exit_at=Timestamp(NOW)), False, FIRST | {"exit_at"}),
        (Thresholds(exit_at=Timestamp(NOW)), None, False, FIRST | {"exit_at"}),
    ],
)
def test_a_threshold_is_sent_where_the_service_knows_it(
    wanted: Thresholds, known: Thresholds | None, sent: set[str], *, has_all: bool
) -> None:
    fields = (
        "stop_loss_pct",
        "take_profit_pct",
        "trailing_stop_pct",
        "trailing_stop_points",
        "exit_at",
    )
    view = None
    if known is not None:
        view = monitor_of(**{name: getattr(known, name) for name in fields})
    body = monitor_request(order(wanted), view, has_all=has_all)
    assert body.model_fields_set == {"side", "venue", *sent}
    assert (body.side, body.venue) == (HELD.side, HELD.venue)
    assert body.stop_loss_pct == wanted.stop_loss_pct
    assert body.trailing_stop_pct == wanted.trailing_stop_pct
    assert body.exit_at == wanted.exit_at


# -- one position


async def test_a_monitor_that_was_set_is_shown_and_told() -> None:
    there = outside(answer())
    await set_monitor(order(), there.ports)
    request = monitor_request(order(), None, has_all=False)
    assert there.asked == [Asked(SET_MONITOR, path={"market_id": HERE}, body=request)]
    assert there.facts == [
        Changed(replace(monitor_view(answer()), venue=HELD.venue)),
        Noticed("good", order().describe()),
    ]
    assert there.woken == [Topic.MONITORS]


async def test_what_stood_there_and_the_service_decide_what_is_sent() -> None:
    known = monitor_of(HERE, side=HELD.side, venue=HELD.venue, exit_at=Timestamp(NOW))
    risk = replace(STATE.risk, monitors=(monitor_of("other"), known))
    there = outside(answer(), risk=risk)
    await set_monitor(order(), there.ports)
    body = there.asked[0].body
    assert body is not None
    assert body.model_fields_set == {"side", "venue", *FIRST, "exit_at"}
    there = outside(answer(), embedded=True)
    await set_monitor(order(), there.ports)
    assert there.asked[0].body == monitor_request(order(), None, has_all=True)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (SILENT, "no line (POST /x)"),
        (NO, "too tight; widen it"),
        (PLAIN, "no"),
        (ValueError("x"), "invalid thresholds"),
    ],
)
async def test_a_monitor_that_was_not_set_says_why(error: Exception, why: str) -> None:
    there = outside(error)
    await set_monitor(order(), there.ports)
    assert there.facts == [Noticed("warn", f"{order().describe()}: {why}")]
    assert there.woken == [Topic.MONITORS]


async def test_what_this_desk_refuses_is_not_sent() -> None:
    there = outside(answer())
    wish = order(Thresholds())
    await set_monitor(wish, there.ports)
    assert there.words == [("warn", f"{wish.describe()}: set at least one threshold")]
    assert (there.asked, there.woken) == ([], [Topic.MONITORS])


OTHER = "the service answered for another position; reloading the monitors"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"success": False, "message": "too late"}, "too late"),
        ({"success": False}, "refused without a reason"),
        ({"market_id": "m2"}, OTHER),
        ({"side": Side.NO if HELD.side is Side.YES else Side.YES}, OTHER),
        ({"venue": Venue.EVM}, OTHER),
        ({"shares": float("inf")}, "set, answer unreadable; reloading the monitors"),
    ],
)
async def test_an_answer_that_sets_nothing_here(change: dict[str, Any], why: str) -> None:
    body = answer().model_copy(update=change)
    there = outside(body)
    await set_monitor(order(), there.ports)
    assert there.facts == [Noticed("warn", f"{order().describe()}: {why}")]


async def test_an_answer_without_a_venue_is_about_the_one_asked() -> None:
    there = outside(answer(venue=None))
    wish = order(venue=Venue.EVM)
    await set_monitor(wish, there.ports)
    [changed, told] = there.facts
    assert isinstance(changed, Changed)
    assert isinstance(changed.row, MonitorView)
    assert changed.row.venue is Venue.EVM
    assert told == Noticed("good", wish.describe())


@pytest.mark.parametrize(
    ("wanted", "reported", "is_shown", "text"),
    [
        (STOP, {}, False, ""),
        (STOP, {"take_profit_pct": 0.5}, False, "target 50% (requested none)"),
        (Thresholds(take_profit_pct=0.3), {"stop_loss_pct": None}, False, ""),
        (Thresholds(take_profit_pct=0.3), {"take_profit_pct": 0.3}, True, ""),
        (
            STOP,
            {"stop_loss_pct": 0.25, "take_profit_pct": 0.5},
            True,
            "stop 25% (requested 20%), target 50% (requested none)",
        ),
        (STOP, {"stop_loss_pct": None}, True, "no stop (requested 20%)"),
        (
            Thresholds(trailing_stop_points=0.05),
            {"stop_loss_pct": None, "trailing_stop_points": 0.12345},
            True,
            "trailing stop 12.35 pt (requested 5 pt)",
        ),
        (
            Thresholds(stop_loss_pct=0.2, exit_at=Timestamp(NOW)),
            {"stop_loss_pct": 0.2, "exit_at": datetime.fromtimestamp(NOW + 3_600, UTC)},
            True,
            f"time stop {LATER} (requested {moment_text(Timestamp(NOW))})",
        ),
    ],
)
async def test_another_threshold_than_the_one_asked_is_told(
    wanted: Thresholds, reported: dict[str, Any], text: str, *, is_shown: bool
) -> None:
    there = outside(answer(reported))
    wish = order(wanted)
    await set_monitor(wish, there.ports)
    assert any(isinstance(fact, Changed) for fact in there.facts) is is_shown
    if text:
        assert there.words == [("warn", f"{wish.describe()}: the service set {text}")]
    else:
        assert there.words == [("good", wish.describe())]


# -- several


def three() -> SetMonitors:
    return SetMonitors((order(), order(Thresholds(stop_loss_pct=0.3)), order()))


@pytest.mark.parametrize(
    ("replies", "tone", "text"),
    [
        ([answer(), answer({"stop_loss_pct": 0.3}), answer()], "good", "monitor 3 positions"),
        (
            [answer(), NO, answer()],
            "warn",
            "1 of 3 not set as requested: too tight; widen it",
        ),
        (
            [PLAIN, NO, answer()],
            "warn",
            "2 of 3 not set as requested: no (and 1 more)",
        ),
        (
            [SILENT, NO, PLAIN],
            "warn",
            "3 of 3 not set as requested: no line (POST /x) (and 2 more)",
        ),
    ],
)
async def test_a_refusal_stops_no_other(replies: list[object], tone: str, text: str) -> None:
    there = outside(list(replies))
    await set_monitors(three(), there.ports)
    assert there.words == [(tone, text)]
    assert len(there.asked) == 3
    assert there.woken == [Topic.MONITORS]


# -- remove


def watched() -> tuple[RemoveMonitor, DeskState]:
    return RemoveMonitor(HERE, HELD.side, HELD.venue), STATE


@pytest.mark.parametrize(
    "reply", [MonitorRemovedBody(success=True, market_id=HERE, side=HELD.side), GONE]
)
async def test_a_monitor_that_is_gone_is_removed(reply: object) -> None:
    wish, state = watched()
    there = Offline(state, {DELETE_MONITOR: reply})
    await remove_monitor(wish, there.ports)
    query = MonitorQuery(side=HELD.side, venue=HELD.venue)
    assert there.asked == [Asked(DELETE_MONITOR, path={"market_id": HERE}, query=query)]
    assert there.facts == [
        Removed(MonitorView, HELD.key),
        Noticed("good", wish.describe()),
    ]
    assert there.woken == [Topic.MONITORS]


@pytest.mark.parametrize(
    ("error", "why"),
    [(NO, "too tight; widen it"), (SILENT, "no line (POST /x)"), (ValueError("odd"), "odd")],
)
async def test_a_monitor_that_could_not_be_removed_stays(error: Exception, why: str) -> None:
    wish, state = watched()
    there = Offline(state, {DELETE_MONITOR: error})
    await remove_monitor(wish, there.ports)
    assert there.facts == [Noticed("bad", f"{wish.describe()}: {why}")]
    assert there.woken == []

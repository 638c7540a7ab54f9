"""What each reading of the service asks, shows and wakes, and when it is made again."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.api_keys import TRIED_AGAIN_S
from service_tui.client.errors import (
    Called,
    InvalidError,
    MalformedError,
    NotFoundError,
    PlanRequiredError,
    RefusalReason,
    UnauthenticatedError,
    UnreachableError,
)
from service_tui.clock import ManualClock
from service_tui.desk.buy_limits import next_midnight
from service_tui.desk.changes import Changed, Loaded
from service_tui.desk.facts import AccountSeen, PositionsSeen, ServiceAnswered
from service_tui.desk.feed import pollers
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.feed.pollers import (
    ASIDE_S,
    EQUITY_EVERY_S,
    PERIODS,
    REFUSED_BRIEFING_S,
    REFUSED_REST_S,
    mark_equity,
    poll,
    read_briefing,
    read_detail,
    read_monitors,
    read_research,
    topics_of,
)
from service_tui.desk.slices.account import EquityPoint
from service_tui.desk.slices.markets import DetailView
from service_tui.desk.slices.research import ResearchSeen, Source
from service_tui.desk.slices.risk import AlertsSeen, AlertState, MonitorView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.storage.errors import StorageError
from service_tui.terms import (
    EXPERIMENTS_PAGE_MAX,
    HISTORY_HOURS_MAX,
    MarketStatus,
    Mode,
    Side,
    Venue,
)
from service_tui.units import Micros, Timestamp
from service_tui.wire.endpoints.public import (
    AGENT,
    BRIEFING,
    MARKET_HISTORY,
    MONITORS,
    PORTFOLIO,
    RISK_ALERTS,
    SETTINGS,
    USER_SETTINGS,
)
from service_tui.wire.endpoints.research import DESK_RESEARCH, EXPERIMENTS, RESEARCH_STATE
from service_tui.wire.markets import HistoryQuery
from service_tui.wire.monitors import RiskAlertBody, RiskAlertsBody, RiskAlertsQuery
from service_tui.wire.research import ExperimentsQuery

CALLED = Called("GET", "/x")
REFUSAL = RefusalReason("no", "", "")
GONE = NotFoundError(REFUSAL, CALLED, status=404)
PLAN = PlanRequiredError(REFUSAL, CALLED, status=403)
AWAY = UnreachableError("away", CALLED)
BASE = sample_state(8)


def desk(answers: dict[Any, object] | None = None, **service: Any) -> Offline:
    state = replace(BASE, service=replace(BASE.service, **service), tickets=())
    on = Offline(state, answers or {}, clock=ManualClock(NOW))
    on.ports = replace(on.ports, renew=lambda: False)
    return on


# -- which, and how often --------------------------------------------------------------------------


def test_what_is_read_depends_on_whose_service_it_is() -> None:
    own = set(topics_of(replace(BASE.service, embedded=True, shared=True)))
    assert own == set(Topic) & set(pollers.READINGS)
    operators = {Topic.WORLD, Topic.AGENTS, Topic.FLEET, Topic.HOLDINGS}
    assert own - set(topics_of(replace(BASE.service, embedded=True, shared=False))) == {Topic.TEAM}
    assert own - set(topics_of(replace(BASE.service, embedded=False, shared=True))) == operators
    assert set(PERIODS) == set(pollers.READINGS)


@pytest.mark.parametrize(
    ("topic", "error", "rest_s"),
    [
        (Topic.ACCOUNT, UnauthenticatedError(REFUSAL, CALLED), TRIED_AGAIN_S),
        (Topic.BRIEFING, UnauthenticatedError(REFUSAL, CALLED), TRIED_AGAIN_S),
        (Topic.ACCOUNT, PLAN, REFUSED_REST_S),
        (Topic.BRIEFING, PLAN, REFUSED_BRIEFING_S),
        (Topic.ORDERS, GONE, REFUSED_REST_S),
        (Topic.ACCOUNT, GONE, None),
        (Topic.BRIEFING, GONE, None),
        (Topic.ORDERS, AWAY, None),
    ],
)
async def test_how_long_a_topic_rests_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, topic: Topic, error: Exception, rest_s: float | None
) -> None:
    on = desk()
    monkeypatch.setattr(pollers, "next_delay", lambda failures, _: failures * 1_000_000.0)
    rests = await polled(monkeypatch, on, topic, [error, error])
    usual = [1_000_000.0, 2_000_000.0] if rest_s is None else [rest_s] * 2
    assert rests == [ASIDE_S.get(topic, 0.0), *usual]


async def polled(
    monkeypatch: pytest.MonkeyPatch, on: Offline, topic: Topic, results: list[Any]
) -> list[float]:
    """The pauses of a topic that is read so often, with these results."""
    rests: list[float] = []
    left = list(results)

    async def rest(of: Topic, by_s: float) -> None:
        assert of is topic
        rests.append(by_s)
        if not left:
            raise StopAsyncIteration

    async def read(*_: object) -> Any:
        result = left.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setitem(pollers.READINGS, topic, read)
    with pytest.raises(StopAsyncIteration):
        await poll(topic, on.ports, PollerMemory(), rest=rest, rng=random.Random(1))
    return rests


async def test_a_good_reading_is_told_with_its_facts_and_ends_the_failures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on = desk(embedded=True)
    cast("Any", on.ports.client).skew_s = 3.0
    monkeypatch.setattr(pollers, "next_delay", lambda failures, _: failures * 1_000_000.0)
    point = Changed(EquityPoint(NOW, BASE.equity[0].equity if BASE.equity else cast("Any", 5)))
    rests = await polled(
        monkeypatch, on, Topic.WORLD, [AWAY, ([point], 0.25), AWAY, ([], None), AWAY]
    )
    usual = PERIODS[Topic.WORLD]
    assert rests == [0.0, 1_000_000.0, usual, 1_000_000.0, usual, 1_000_000.0]
    assert point in on.facts
    answers = [fact for fact in on.facts if isinstance(fact, ServiceAnswered)]
    assert answers == [ServiceAnswered(Topic.WORLD, NOW, 0.25, 3.0, by_operator=True)]


@pytest.mark.parametrize(
    ("topic", "embedded", "by_operator"),
    [
        (Topic.WORLD, True, True), (Topic.AGENTS, True, True), (Topic.TEAM, False, True),
        (Topic.DETAIL, True, True), (Topic.DETAIL, False, False), (Topic.RESEARCH, True, True),
        (Topic.RESEARCH, False, False), (Topic.ACCOUNT, True, False),
    ],
)  # fmt: skip
async def test_whose_key_a_reading_takes(
    monkeypatch: pytest.MonkeyPatch, topic: Topic, *, embedded: bool, by_operator: bool
) -> None:
    on = desk(embedded=embedded)
    await polled(monkeypatch, on, topic, [([], 0.1)])
    (answered,) = [fact for fact in on.facts if isinstance(fact, ServiceAnswered)]
    assert answered.by_operator is by_operator


async def test_another_key_is_tried_at_once_and_the_same_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on = desk()
    refused = UnauthenticatedError(REFUSAL, CALLED)
    rests = await polled(monkeypatch, on, Topic.ACCOUNT, [refused, ([], 0.1)])
    assert rests == [0.0, TRIED_AGAIN_S, PERIODS[Topic.ACCOUNT]]
    on.ports = replace(on.ports, renew=on._renew)
    rests = await polled(monkeypatch, on, Topic.ACCOUNT, [refused, ([], 0.1)])
    assert (rests, on.renewed) == ([0.0, PERIODS[Topic.ACCOUNT]], 1)
    # Another failure renews no key.
    await polled(monkeypatch, on, Topic.ACCOUNT, [PLAN, AWAY])
    assert on.renewed == 1


async def test_whatever_an_answer_causes_is_a_failure_of_that_topic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on = desk()
    rests = await polled(monkeypatch, on, Topic.ACCOUNT, [KeyError("x"), ([], 0.1)])
    assert len(rests) == 3
    failure = pollers._foreign(Topic.ACCOUNT, KeyError("x"))
    assert isinstance(failure, MalformedError)
    assert str(failure) == str(
        MalformedError("unexpected data in the response", Called("GET", "account"))
    )


# -- the chart of one market -----------------------------------------------------------------------


def memory_of(market_id: str | None, span_s: int = 7_200) -> PollerMemory:
    memory = PollerMemory()
    memory.market_id, memory.span_s = market_id, span_s
    return memory


@pytest.mark.parametrize(
    ("span_s", "hours", "step"),
    [
        (3_600, 1, 5), (3_601, 2, 5), (60, 1, 5), (86_400, 24, 5), (604_800, 168, 33),
        (0, HISTORY_HOURS_MAX, HISTORY_HOURS_MAX * 60 // 300),
        (HISTORY_HOURS_MAX * 3_600 + 1, HISTORY_HOURS_MAX, HISTORY_HOURS_MAX * 60 // 300),
    ],
)  # fmt: skip
async def test_a_chart_of_another_service_is_asked_in_whole_hours_and_few_points(
    monkeypatch: pytest.MonkeyPatch, span_s: int, hours: int, step: int
) -> None:
    on = desk({MARKET_HISTORY: "history"}, embedded=False)
    given: list[tuple[object, ...]] = []
    shown = DetailView("m-00001", span_s, "", (), (), ())

    def detail(*them: object) -> DetailView:
        given.append(them)
        return shown

    monkeypatch.setattr(pollers, "detail_of_history", detail)
    facts, latency_s = await read_detail(on.ports, memory_of("m-00001", span_s))
    assert (facts, latency_s) == ([Changed(shown)], 0.01)
    assert given == [("history", span_s, on.state.markets["m-00001"].criteria)]
    assert on.asked == [
        Asked(MARKET_HISTORY, {"market_id": "m-00001"},
              query=HistoryQuery(hours=hours, interval=step)),
    ]  # fmt: skip


async def test_no_chart_is_asked_while_no_market_is_in_focus() -> None:
    on = desk()
    assert await read_detail(on.ports, memory_of(None)) == ([], None)
    assert on.asked == []


@pytest.mark.parametrize(
    ("focus", "known", "is_shown"),
    [("m-1", None, True), ("m-1", "m-2", True), ("m-1", "m-1", False), (None, "m-2", False)],
)
def test_a_chart_that_failed_is_said_where_no_older_one_is_shown(
    focus: str | None, known: str | None, *, is_shown: bool
) -> None:
    on = desk()
    older = None if known is None else DetailView(known, 60, "", (), (), ())
    on.state = replace(on.state, detail=older)
    pollers._emit_no_detail(on.ports, memory_of(focus), "away")
    empty = DetailView("m-1", 7_200, "", (), (), (), "away")
    assert on.facts == ([Changed(empty)] if is_shown else [])


# -- alerts, monitors, research --------------------------------------------------------------------


def alert(name: str, status: str = "pending", **other: Any) -> RiskAlertBody:
    given: dict[str, Any] = {
        "id": name, "market_id": "m-4", "side": Side.NO, "shares": 3.0,
        "exit_reason": "stop_loss", "status": status,
        "breached_at": datetime.fromtimestamp(NOW - 60, UTC),
    }  # fmt: skip
    return RiskAlertBody(**(given | other))


async def test_alerts_that_wait_are_those_that_are_open_and_in_no_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heartbeat = BASE.briefing
    monkeypatch.setattr(pollers, "briefing_view", lambda body: (body, heartbeat)[1])
    listed = RiskAlertsBody(
        risk_alerts=(alert("a"), alert("b"), alert("c", "expired"), alert("d")),
        history=(
            alert("b", "executed", shares_sold=2.0, ended_at=datetime.fromtimestamp(NOW, UTC)),
            alert("e", "dismissed"),
        ),
    )
    on = desk({BRIEFING: SimpleNamespace(triggered_risk_alerts=None), RISK_ALERTS: listed})
    (first, seen), latency_s = await read_briefing(on.ports, PollerMemory())
    assert (first, latency_s) == (Changed(heartbeat), 0.01)
    assert isinstance(seen, AlertsSeen)
    assert seen.at == NOW
    assert [one.alert_id for one in seen.waiting] == ["a", "d"]
    assert {one.state for one in seen.waiting} == {AlertState.PENDING}
    assert [one.alert_id for one in seen.ended] == ["b", "e"]
    assert len(seen.exits) == 1
    assert on.asked[1] == Asked(RISK_ALERTS, query=RiskAlertsQuery(include_history=True))


@pytest.mark.parametrize("error", [GONE, PLAN])
async def test_a_service_without_a_list_of_alerts_names_them_in_its_briefing(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(pollers, "briefing_view", lambda _: BASE.briefing)
    briefing = SimpleNamespace(triggered_risk_alerts=(alert("a"), "no alert", alert("b")))
    on = desk({BRIEFING: briefing, RISK_ALERTS: error})
    (_, seen), _ = await read_briefing(on.ports, PollerMemory())
    assert isinstance(seen, AlertsSeen)
    assert [one.alert_id for one in seen.waiting] == ["a", "b"]
    assert (seen.ended, seen.exits) == ((), ())


async def test_monitors_are_read_under_either_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pollers, "monitor_view", lambda row: f"view of {row}")
    for body in (
        SimpleNamespace(monitors=("a", "b"), settings=("c",)),
        SimpleNamespace(monitors=(), settings=("a", "b")),
    ):
        on = desk({MONITORS: body}, embedded=False)
        on.dropped = 2
        facts, latency_s = await read_monitors(on.ports, PollerMemory())
        views = cast("Any", ("view of a", "view of b"))
        assert (facts, latency_s) == ([Loaded(MonitorView, views, 2)], 0.01)


async def test_research_is_read_of_all_agents_by_the_operator_and_else_of_the_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pollers, "source_view", lambda body: body)
    query = ExperimentsQuery(limit=EXPERIMENTS_PAGE_MAX)
    on = desk({DESK_RESEARCH: "all"}, embedded=True)
    facts, _ = await read_research(on.ports, PollerMemory())
    assert facts == [ResearchSeen(cast("Source", "all"))]
    assert on.asked == [Asked(DESK_RESEARCH, query=query)]
    on = desk(embedded=False)
    on.answers[RESEARCH_STATE] = PLAN
    assert await read_research(on.ports, PollerMemory()) == (
        [ResearchSeen(Source(), needs_plan=True)], None,
    )  # fmt: skip
    on.answers |= {RESEARCH_STATE: SimpleNamespace(), EXPERIMENTS: PLAN}
    facts, latency_s = await read_research(on.ports, PollerMemory())
    assert (facts[0], latency_s) == (ResearchSeen(Source(), needs_plan=True), None)


# -- the equity curve ------------------------------------------------------------------------------


def whole(**changes: Any) -> DeskState:
    seen = {Topic.ACCOUNT: NOW, Topic.POSITIONS: Timestamp(NOW - 3)}
    return replace(BASE, **({"from_cache": False, "seen": seen, "tickets": ()} | changes))


def settled(at: float | None, state: TicketState = TicketState.DONE) -> tuple[Any, ...]:
    return (replace(BASE.tickets[0], state=state, settled_at=at),)


@pytest.mark.parametrize(
    ("changes", "is_whole"),
    [
        ({}, True),
        ({"from_cache": True}, False),
        ({"seen": {Topic.POSITIONS: NOW}}, False),
        ({"seen": {Topic.ACCOUNT: NOW}}, False),
        ({"tickets": settled(NOW - 3)}, True),
        ({"tickets": settled(NOW - 2)}, False),
        ({"tickets": settled(NOW - 2, TicketState.REFUSED)}, True),
        ({"tickets": settled(None)}, True),
    ],
)
def test_cash_and_positions_are_of_one_moment(changes: dict[str, Any], *, is_whole: bool) -> None:
    assert pollers._is_whole(whole(**changes)) is is_whole


@pytest.mark.parametrize(
    ("age_s", "is_marked"),
    [
        (None, True), (EQUITY_EVERY_S / 2, True), (EQUITY_EVERY_S / 2 - 1, False), (0, False),
        (-1, True),
    ],
)  # fmt: skip
async def test_a_point_of_the_curve_is_added_now_and_then(
    monkeypatch: pytest.MonkeyPatch, age_s: float | None, *, is_marked: bool
) -> None:
    on = desk()
    assert BASE.account is not None
    points = () if age_s is None else (EquityPoint(Timestamp(NOW - age_s), cast("Any", 5)),)
    on.state = whole(equity=points)
    await marked(monkeypatch, on)
    point = Changed(EquityPoint(NOW, BASE.account.equity))
    assert on.facts == ([point] if is_marked else [])


async def marked(monkeypatch: pytest.MonkeyPatch, on: Offline) -> None:
    async def sleep(by_s: float) -> None:
        assert by_s == EQUITY_EVERY_S
        raise StopAsyncIteration

    monkeypatch.setattr(on.clock, "sleep", sleep)
    with pytest.raises(StopAsyncIteration):
        await mark_equity(on.ports)


async def test_no_point_is_added_without_an_account_or_from_half_a_trade(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for state in (whole(account=None, equity=()), whole(from_cache=True, equity=())):
        on = desk()
        on.state = state
        await marked(monkeypatch, on)
        assert on.facts == []


# -- markets, positions and the account ------------------------------------------------------------


async def test_markets_are_asked_at_once_until_a_service_takes_one_state_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on, memory, asked = desk(), PollerMemory(), list[object]()
    refused = InvalidError(REFUSAL, CALLED, status=422)
    left: list[object] = [("one", 0.1), refused, ("two", 0.2), ("three", 0.3)]

    async def pages(ports: object, how: object, pages: object) -> Any:
        assert (ports, pages) == (on.ports, memory.markets)
        asked.append(how)
        result = left.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(pollers, "all_markets", pages)
    told = [await pollers.read_markets(on.ports, memory) for _ in range(3)]
    assert told == [(["one"], 0.1), (["two"], 0.2), (["three"], 0.3)]
    whole, single = pollers.ALL_AT_ONCE, pollers.STATE_BY_STATE
    assert asked == [whole, whole, single, single]


def row(name: str, **other: Any) -> SimpleNamespace:
    return SimpleNamespace(**({"market_id": name, "sim_balance": None} | other))


@pytest.mark.parametrize(
    ("envelope", "rows", "cash"),
    [
        (7.5, (None, 3.5), 7_500_000),
        (0.0, (None, 3.5), 0),
        (None, (None, 3.5, 9.0), 3_500_000),
        (None, (None,), None),
    ],
)
async def test_positions_are_told_by_venue_and_state_with_the_cash_beside_them(
    monkeypatch: pytest.MonkeyPatch,
    envelope: float | None,
    rows: tuple[float | None, ...],
    cash: int | None,
) -> None:
    base = BASE.positions[0]
    views = {
        "open": base,
        "sold": replace(base, market_id="sold", shares=Micros(0)),
        "over": replace(base, market_id="over", status=MarketStatus.RESOLVED),
        "real": replace(base, market_id="real", venue=Venue.EVM),
        "real over": replace(base, venue=Venue.SOL, status=MarketStatus.RESOLVED),
    }
    on, memory = desk(), PollerMemory()
    given: list[object] = []

    def made(body: SimpleNamespace, market: object) -> list[Any]:
        given.append((body.market_id, market))
        if body.market_id == "broken":
            raise ValueError("a side that is none")
        return [views[body.market_id]]

    bodies = [row(name) for name in ("open", "broken", "sold", "over", "real", "real over")]
    answer = SimpleNamespace(
        sim_balance=envelope, positions=[row("x", sim_balance=one) for one in rows]
    )

    async def pages(read: Callable[[object], Any], ended: object) -> SimpleNamespace:
        assert callable(read)
        assert ended is memory.ended
        return SimpleNamespace(rows=bodies, dropped=4, answer=answer, latency_s=0.3)

    monkeypatch.setattr(pollers, "all_positions", pages)
    monkeypatch.setattr(pollers, "position_views", made)
    known = replace(on.state.markets["m-00001"], market_id="open")
    on.state = replace(on.state, markets={"open": known}, positions=(base,))
    facts, latency_s = await pollers.read_positions(on.ports, memory)
    assert given[:2] == [("open", known), ("broken", None)]
    assert latency_s == 0.3
    assert facts == [
        PositionsSeen(
            (views["open"],), (views["over"],), 5, cast("Any", cash),
            (views["real"], views["real over"]),
        )
    ]  # fmt: skip
    assert on.woken == []
    # Shares that went or came without their money: that is read too.
    on.state = replace(on.state, positions=(replace(base, shares=Micros(base.shares + 1)),))
    await pollers.read_positions(on.ports, memory)
    assert on.woken == ([Topic.ACCOUNT] if cash is None else [])


async def test_the_account_is_read_whole_and_other_cash_wakes_the_positions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on = desk(mode=Mode.SIM)
    cast("Any", on.ports.client).skew_s = 40.0
    on.answers = {AGENT: "agent", PORTFOLIO: "portfolio", SETTINGS: "set", USER_SETTINGS: "user"}
    account = on.state.account
    assert account is not None
    given: dict[str, object] = {}

    def noted(name: str, result: object) -> Callable[..., Any]:
        def note(*them: object, **named: object) -> object:
            given[name] = (them, named)
            return result

        return note

    midnight = next_midnight(Timestamp(NOW - 40))
    for name, result in (
        ("account_view", account), ("venue_sums", {}), ("limits_view", BASE.limits),
        ("buy_limits_view", BASE.buy_limits),
    ):  # fmt: skip
        monkeypatch.setattr(pollers, name, noted(name, result))
    reserved: list[float] = []
    blotter = SimpleNamespace(reserved=lambda since: reserved.append(since) or 77)
    on.ports = replace(on.ports, blotter=cast("Any", blotter))
    facts, latency_s = await pollers.read_account(on.ports, PollerMemory())
    assert facts == [AccountSeen(account, {}), Changed(BASE.limits), Changed(BASE.buy_limits)]
    assert (latency_s, on.woken) == (0.01, [])
    assert given == {
        "account_view": (("agent", "portfolio", BASE.positions), {}),
        "venue_sums": (("portfolio",), {}),
        "limits_view": (("set", "user"), {"sim": True}),
        "buy_limits_view": (
            ("set", "user"), {"at": NOW, "midnight": midnight, "own_spent": 77},
        ),
    }  # fmt: skip
    assert reserved == [midnight - 86_400 + 40]
    on.state = replace(on.state, account=replace(account, cash=Micros(account.cash + 1)))

    def broken(_: float) -> int:
        raise StorageError("unreadable")

    blotter.reserved = broken
    await pollers.read_account(on.ports, PollerMemory())
    assert on.woken == [Topic.POSITIONS]
    assert cast("Any", given["buy_limits_view"])[1]["own_spent"] is None

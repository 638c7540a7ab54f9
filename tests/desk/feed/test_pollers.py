from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import pytest

from kit.clock import leap
from kit.desk.faults import (
    Fault,
    Line,
    asleep,
    at_work,
    breaking,
    buy,
    ended,
    is_quote,
    ready,
    said,
    until,
)
from kit.service.stage import OPERATOR, first_state, open_stage, open_test_desk
from service_tui.client.keys import Key, Keys
from service_tui.desk.commands.agents import WatchHoldings
from service_tui.desk.commands.settings import Refresh, WatchMarket
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.facts import Fact, MarketsSeen
from service_tui.desk.feed import market_pages, pollers
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.server.embedded import BASE_URL
from service_tui.wire.endpoints.desk import WORLD
from service_tui.wire.endpoints.public import AGENT, BRIEFING, HEALTH, MARKETS, POSITIONS

pytestmark = pytest.mark.slow

Answer = Fault | httpx.Response | None


def online(state: DeskState) -> bool:
    return state.service.phase is Phase.ONLINE


def tones(state: DeskState) -> list[str]:
    return [notice.tone for notice in state.notices]


# -- an outage ----------------------------------------------------------------------------------


async def test_an_outage_is_asked_through_ever_more_seldom_and_noticed_once(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        known = desk.state
        line.fault = lambda _: Fault.NO_LINE
        await until(desk, lambda s: s.service.phase is Phase.OFFLINE, stage)
        assert "cannot be reached" in desk.state.service.problem
        begun = len(line.sent)
        times: list[float] = []
        line.seen = lambda request: (
            times.append(stage.clock.monotonic()) if request.url.path == MARKETS.path else None
        )
        await stage.clock.advance(150)
        pauses = [later - earlier for earlier, later in pairwise(times)]
        assert max(pauses) > 8
        assert max(pauses) <= 30
        # Three tries at most: of the probe every four seconds, of a topic ever more seldom.
        asked = Counter(one.url.path for one in line.sent[begun:])
        assert asked.pop(HEALTH.path) <= 3 * (150 / 4 + 1)
        assert max(asked.values()) <= 45, asked
        assert desk.state.markets == known.markets
        assert desk.state.positions == known.positions
        assert known.seen.items() <= desk.state.seen.items()
        assert tones(desk.state) == ["bad"]

        line.fault = lambda _: None
        back = stage.clock.monotonic()
        await until(desk, online, stage, step_s=0.25)
        await until(desk, lambda s: s.seen[Topic.MARKETS] > known.seen[Topic.MARKETS], stage)
        await until(desk, lambda s: s.seen[Topic.POSITIONS] > known.seen[Topic.POSITIONS], stage)
        assert stage.clock.monotonic() - back <= 5
        assert tones(desk.state) == ["bad", "good"]
        assert desk.state.service.problem == ""


async def test_nothing_is_asked_of_a_market_that_nobody_watches(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda _: Fault.NO_LINE
        await until(desk, lambda s: s.service.phase is Phase.OFFLINE, stage)
        await stage.clock.advance(20)
        assert desk.state.service.phase is Phase.OFFLINE
        assert Topic.DETAIL not in desk.state.seen


async def test_a_page_of_somebody_else_is_an_outage_and_leaves_what_was_known(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        known = desk.state.markets
        line.fault = lambda _: said(
            b"<html>sign in to this network</html>", content_type="text/html"
        )
        await until(desk, lambda s: s.service.phase is Phase.OFFLINE, stage)
        assert desk.state.markets == known
        problem = desk.state.service.problem
        assert "status 200, text/html" in problem
        assert "GET /api/" in problem
        assert "sign in" not in problem


async def test_a_service_that_is_silent_does_not_hold_up_a_quote(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: None if is_quote(request) else Fault.STUCK
        await until(desk, lambda _: line.waiting >= 5, stage)
        desk.submit(RequestQuote(1, buy(stage.open_markets()[0])))
        assert (await until(desk, lambda s: s.quote, stage, step_s=0.0)).quote.ok


async def test_a_machine_that_slept_asks_again_at_once(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        await asleep(stage.clock, 7_200)
        await until(desk, lambda s: s.seen[Topic.MARKETS] >= stage.clock.now() - 1, stage)
        assert online(desk.state)
        assert tones(desk.state) == []


# -- one path -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 404])
async def test_one_path_that_fails_is_no_outage_and_stays_the_problem(
    tmp_path: Path, status: int
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: (
            said({"error": "out of order"}, status) if request.url.path == BRIEFING.path else None
        )
        await until(desk, lambda s: s.service.problem, stage)
        await stage.clock.advance(40)
        assert online(desk.state)
        assert tones(desk.state) == []
        assert BRIEFING.path in desk.state.service.problem
        line.fault = lambda _: None
        await until(desk, lambda s: not s.service.problem, stage)


async def test_a_path_that_the_plan_does_not_include_is_not_asked_again(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: (
            said({"error": "Pro only", "fix": "upgrade"}, 403)
            if request.url.path == BRIEFING.path
            else None
        )
        await until(desk, lambda s: "Pro only" in s.service.problem, stage)
        assert desk.state.service.problem.endswith("; upgrade")
        asked = line.asked(BRIEFING.path)
        await stage.clock.advance(90)
        assert line.asked(BRIEFING.path) == asked
        assert online(desk.state)
        desk.submit(Refresh())
        await until(desk, lambda _: line.asked(BRIEFING.path) == asked + 1, stage)


# -- a key that is refused ----------------------------------------------------------------------


async def test_a_refused_key_is_not_sent_again_and_says_what_to_check(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda _: said({"error": "unknown key"}, 401)
        await until(desk, lambda s: s.service.phase is Phase.UNAUTHORIZED, stage)
        assert "unknown key" in desk.state.service.problem
        assert "check the key" in desk.state.service.problem
        await stage.clock.advance(12)
        sent = len(line.sent)
        await stage.clock.advance(30)
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.REFUSED
        assert len(line.sent) == sent
        # By hand it is tried at once, and once a minute by itself: who we are, and nothing else.
        desk.submit(Refresh())
        await stage.clock.advance(5)
        assert set(tried(line, sent)) <= {AGENT.path, BRIEFING.path}
        assert 1 <= len(tried(line, sent)) <= 2
        sent = len(line.sent)
        await stage.clock.advance(180)
        assert 1 <= len(tried(line, sent)) <= 6
        assert tones(desk.state)[:1] == ["bad"]
        assert desk.state.markets
        line.fault = lambda _: None
        await until(desk, online, stage, tries=150)
        await until(desk, lambda s: not s.service.failures, stage)
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.DONE


def tried(line: Line, since: int) -> list[str]:
    """Paths to which the agent's key was sent."""
    paths = [one.url.path for one in line.sent[since:]]
    return [path for path in paths if path.startswith("/api/sdk/")]


async def test_a_401_of_one_path_stops_that_path_alone(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: (
            said({"error": "not yours"}, 401) if request.url.path == POSITIONS.path else None
        )
        await until(desk, lambda s: Topic.POSITIONS in s.service.failures, stage)
        asked, markets = line.asked(POSITIONS.path), line.asked(MARKETS.path)
        await stage.clock.advance(50)
        assert online(desk.state)
        assert line.asked(POSITIONS.path) == asked
        assert line.asked(MARKETS.path) > markets + 10
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.DONE
        line.fault = lambda _: None
        desk.submit(Refresh())
        await until(desk, lambda s: not s.service.failures, stage, tries=10)


async def test_the_operators_key_does_not_make_up_for_the_agents(tmp_path: Path) -> None:
    async with at_work(tmp_path, often=True) as (desk, stage, line):
        desk.submit(WatchMarket(stage.open_markets()[0].market_id))
        await until(desk, lambda s: s.detail, stage)
        line.fault = lambda request: (
            said({"error": "unknown key"}, 401) if "/api/sdk/" in request.url.path else None
        )
        await until(desk, lambda s: s.service.phase is Phase.UNAUTHORIZED, stage)
        asked = line.asked(WORLD.path)
        for _ in range(40):
            await stage.clock.advance(0.5)
            assert desk.state.service.phase is Phase.UNAUTHORIZED
            assert "unknown key" in desk.state.service.problem
        assert line.asked(WORLD.path) > asked + 5
        assert tones(desk.state) == ["bad"]
        # Another key, and the agent is heard again.
        line.fault = lambda _: None
        stage.client.renew(Keys(Key(stage.key, BASE_URL), Key(OPERATOR, BASE_URL)))
        desk.submit(Refresh())
        await until(desk, online, stage)
        assert desk.state.service.problem == ""


async def test_an_operators_key_that_is_refused_is_no_refused_agent(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: (
            said({"error": "no operator"}, 401) if request.url.path == WORLD.path else None
        )
        await until(desk, lambda s: "no operator" in s.service.problem, stage)
        await stage.clock.advance(20)
        assert online(desk.state)
        assert "no operator" in desk.state.service.problem
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.DONE


# -- rows that are none -------------------------------------------------------------------------


async def test_rows_that_are_none_are_left_out_and_counted(tmp_path: Path) -> None:
    good = {"id": "m", "question": "?", "current_probability": 0.5}
    held = {"market_id": "m", "shares_yes": 2.0, "sides": []}
    strange = {**held, "sides": [{**SIDE, "side": "maybe"}]}
    answers = {
        MARKETS.path: {"markets": [good, {"id": 7}, {**good, "current_probability": 9}]},
        POSITIONS.path: {"positions": [held, strange, {"market_id": None}]},
    }
    async with at_work(tmp_path) as (desk, stage, line):

        def fault(request: httpx.Request) -> Answer:
            body = answers.get(request.url.path)
            return None if body is None else said({**body, "agent_id": "a"})

        line.fault = fault
        state = await until(
            desk, lambda s: list(s.markets) == ["m"] and len(s.positions) == 1, stage
        )
        assert state.service.dropped_rows == 4
        assert online(state)
        line.fault = lambda _: None
        await until(desk, lambda s: s.service.dropped_rows == 0, stage)


SIDE = {
    "side": "yes",
    "shares": 1.0,
    "cost_basis": 0.5,
    "avg_cost": 0.5,
    "mark_price": 0.5,
    "current_value": 0.5,
    "exit_value": 0.5,
    "realized_pnl": 0.0,
    "opened_at": "2027-01-15T08:00:00Z",
}


async def test_markets_come_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(market_pages, "MARKETS_PAGE_MAX", 20)
    async with at_work(tmp_path) as (desk, stage, line):
        assert set(desk.state.markets) == set(stage.world.markets)
        assert line.asked(MARKETS.path) >= len(stage.world.markets) // 20


async def test_a_page_that_is_missing_loses_no_market(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(market_pages, "MARKETS_PAGE_MAX", 20)
    async with at_work(tmp_path) as (desk, stage, line):
        known = len(desk.state.markets)
        line.fault = lambda request: said(b"[]") if b"offset=20" in request.url.query else None
        await stage.clock.advance(5)
        assert len(desk.state.markets) == known


def page_of(request: httpx.Request, rows: list[dict[str, object]], most: int) -> list[object]:
    """A page as a service gives it that never gives more than so many rows."""
    query = parse_qs(request.url.query.decode())
    offset = int(query["offset"][0])
    return list(rows[offset : offset + most])


def market_row(number: int) -> dict[str, object]:
    return {"id": f"m{number}", "question": "?", "current_probability": 0.5}


@pytest.mark.parametrize("tells", [{}, {"total": 120}, {"total_count": 120}])
async def test_a_service_that_gives_less_than_is_asked_for_is_read_to_its_end(
    tmp_path: Path, tells: dict[str, int]
) -> None:
    listed = [market_row(number) for number in range(120)]
    async with at_work(tmp_path) as (desk, stage, line):

        def fault(request: httpx.Request) -> Answer:
            if request.url.path != MARKETS.path:
                return None
            return said({"markets": page_of(request, listed, 50), "agent_id": "a", **tells})

        line.fault = fault
        state = await until(desk, lambda s: "m0" in s.markets, stage)
        assert list(state.markets) == [f"m{number}" for number in range(120)]


async def test_a_page_that_comes_again_ends_the_list_and_doubles_nothing(tmp_path: Path) -> None:
    listed = [market_row(number) for number in range(50)]
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: (
            said({"markets": listed, "agent_id": "a"}) if request.url.path == MARKETS.path else None
        )
        asked = line.asked(MARKETS.path)
        state = await until(desk, lambda s: "m0" in s.markets, stage)
        assert len(state.markets) == 50
        assert line.asked(MARKETS.path) - asked <= 4
        assert all(b"sort=created" in one.url.query for one in line.sent if is_list(one))


async def test_a_list_without_end_is_bounded_and_forgets_nothing_that_was_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(market_pages, "PAGES_MAX", 3)
    async with at_work(tmp_path) as (desk, stage, line):
        known = set(desk.state.markets)

        def fault(request: httpx.Request) -> Answer:
            if request.url.path != MARKETS.path:
                return None
            offset = int(parse_qs(request.url.query.decode())["offset"][0])
            rows = [market_row(offset + number) for number in range(500)]
            return said({"markets": rows, "agent_id": "a"})

        line.fault = fault
        state = await until(desk, lambda s: "m0" in s.markets, stage)
        assert len(state.markets) == len(known) + 1_500
        assert known < set(state.markets)


def is_list(request: httpx.Request) -> bool:
    return request.url.path == MARKETS.path


@pytest.mark.parametrize("refused", [{"all"}, {"all", "closed"}])
async def test_a_service_that_takes_one_status_at_a_time_is_asked_so(
    tmp_path: Path, refused: set[str]
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):

        def fault(request: httpx.Request) -> Answer:
            if not is_list(request):
                return None
            (status,) = parse_qs(request.url.query.decode())["status"]
            if status in refused or b"sparkline" in request.url.query:
                return said({"detail": [{"loc": ["query", "status"], "msg": "no"}]}, 422)
            row = {**market_row(0), "id": f"m-{status}", "status": status}
            return said({"markets": [row], "agent_id": "a"})

        line.fault = fault
        wanted = {f"m-{status}" for status in ("active", "closed", "resolved")}
        wanted -= {f"m-{status}" for status in refused}
        await until(desk, lambda s: set(s.markets) == wanted, stage)
        line.sent.clear()
        await stage.clock.advance(10)
        asked = Counter(
            parse_qs(one.url.query.decode())["status"][0] for one in line.sent if is_list(one)
        )
        assert asked["all"] == 0
        assert asked["active"] >= 4
        assert online(desk.state)


# -- answers that nobody foresaw ----------------------------------------------------------------


async def test_a_word_that_is_none_on_the_tape_costs_one_row(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0].market_id
        trade = {
            "at": "2027-01-15T08:00:00Z", "trader": "heron", "side": "yes", "action": "buy",
            "shares": 1.0, "price": 0.5,
        }  # fmt: skip
        rows = [trade, {**trade, "action": "burn"}, {**trade, "side": "maybe"}, {"at": 5}]
        tape = {"market_id": market, "resolution_criteria": "", "points": [], "news": []}
        line.fault = lambda request: (
            said({**tape, "trades": rows}) if request.url.path.endswith("/tape") else None
        )
        desk.submit(WatchMarket(market))
        state = await until(desk, lambda s: s.detail, stage)
        assert len(state.detail.trades) == 1
        assert state.service.dropped[Topic.DETAIL] == 3
        line.fault = lambda _: None
        await until(desk, lambda s: not s.service.dropped_rows, stage)


@pytest.mark.parametrize("error", [ValueError("sk"), OverflowError(), KeyError("x")])
async def test_an_answer_that_cannot_be_translated_is_a_problem_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(market_pages, "market_view", broken)
    monkeypatch.setattr(pollers, "detail_of_tape", broken)
    async with (
        open_stage(tmp_path, speed=0) as stage,
        open_test_desk(stage, first_state()) as desk,
    ):
        state = await until(desk, lambda s: s.service.problem, stage)
        assert "unexpected data" in state.service.problem
        assert "markets" in state.service.problem
        desk.submit(WatchMarket(stage.open_markets()[0].market_id))
        await until(desk, lambda s: s.detail and s.detail.problem, stage)
        assert online(desk.state)
        monkeypatch.undo()
        await until(desk, lambda s: not s.service.problem, stage)


async def test_an_answer_that_the_state_cannot_take_is_a_problem_and_no_fresh_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(state: DeskState, fact: Fact) -> DeskState:
        if isinstance(fact, MarketsSeen):
            raise OverflowError
        return reduce(state, fact)

    async with at_work(tmp_path) as (desk, stage, _):
        with monkeypatch.context() as patched:
            patched.setattr("service_tui.desk.desk.reduce", broken)
            state = await until(desk, lambda s: s.service.problem, stage)
            assert "markets" in state.service.problem
            assert "unexpected data" in state.service.problem
            seen = state.seen[Topic.MARKETS]
            await stage.clock.advance(20)
            assert desk.state.seen[Topic.MARKETS] == seen
        await until(desk, lambda s: not s.service.problem, stage)
        assert desk.state.seen[Topic.MARKETS] > seen


# -- pace, focus, other services ----------------------------------------------------------------


async def test_each_topic_is_asked_in_its_own_time(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        assert desk.state.polls == pollers.PERIODS
        # Nobody looks at a market, nor at what all agents hold, so nothing is asked about them.
        asleep = {Topic.DETAIL, Topic.HOLDINGS}
        await until(desk, lambda s: set(Topic) - asleep - {Topic.TEAM} <= set(s.seen), stage)
        assert not asleep & set(desk.state.seen)
        line.sent.clear()
        await stage.clock.advance(30)
        asked = Counter(one.url.path for one in line.sent)
        assert 13 <= asked[MARKETS.path] <= 17
        assert 5 <= asked[POSITIONS.path] <= 8
        assert 1 <= asked[BRIEFING.path] <= 3


async def test_the_market_in_focus_is_followed(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        first, second = (market.market_id for market in stage.open_markets()[:2])
        desk.submit(WatchMarket(first, 3_600))
        state = await until(desk, lambda s: s.detail, stage, step_s=0.05)
        assert (state.detail.market_id, state.detail.span_s) == (first, 3_600)
        assert state.detail.points
        desk.submit(WatchMarket(second))
        await until(desk, lambda s: s.detail.market_id == second, stage, step_s=0.05)
        asked = stage.clock.now()
        desk.submit(WatchMarket(None))
        await stage.clock.advance(10)
        assert desk.state.seen[Topic.DETAIL] <= asked + 0.1


async def test_what_all_agents_hold_is_read_while_it_is_wanted(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        desk.submit(WatchHoldings(is_wanted=True))
        state = await until(desk, lambda s: s.holdings, stage, step_s=0.05)
        assert state.holdings.at == state.seen[Topic.HOLDINGS]
        read = stage.clock.now()
        desk.submit(WatchHoldings(is_wanted=False))
        await stage.clock.advance(10)
        assert desk.state.seen[Topic.HOLDINGS] <= read + 0.1


async def test_another_service_is_asked_for_nothing_of_ours(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        initial = first_state()
        away = replace(initial, service=replace(initial.service, embedded=False))
        async with open_test_desk(stage, away) as desk:
            await until(desk, ready, stage)
            market = stage.open_markets()[0].market_id
            desk.submit(WatchMarket(market, 86_400))
            state = await until(desk, lambda s: s.detail, stage)
            assert state.detail.market_id == market
            assert state.detail.criteria == state.markets[market].criteria
            assert line.asked(WORLD.path) == 0
            assert not any("/api/desk/" in one.url.path for one in line.sent)


async def test_a_wait_that_the_service_asks_for_is_kept(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: (
            said({"error": "slow down"}, 429, retry_after="20")
            if request.url.path == MARKETS.path
            else None
        )
        await until(desk, lambda s: "slow down" in s.service.problem, stage)
        asked, at = line.asked(MARKETS.path), stage.clock.monotonic()
        line.fault = lambda _: None
        await until(desk, lambda _: line.asked(MARKETS.path) > asked, stage)
        assert stage.clock.monotonic() - at >= 15
        assert online(desk.state)


# -- the equity curve ---------------------------------------------------------------------------


async def test_the_curve_grows_slowly_and_never_from_half_a_trade(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        await stage.clock.advance(61)
        points = desk.state.equity
        assert 2 <= len(points) <= 4
        assert {point.equity for point in points} == {10_000_000_000}
        line.fault = lambda request: Fault.NO_LINE if request.method == "GET" else None
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.DONE
        await stage.clock.advance(45)
        assert desk.state.equity[: len(points)] == points
        assert {point.equity for point in desk.state.equity} == {10_000_000_000}
        grown = len(desk.state.equity)
        line.fault = lambda _: None
        await until(desk, lambda s: len(s.equity) > grown, stage)
        assert desk.state.equity[-1].equity == desk.state.account.equity != 10_000_000_000


async def test_a_clock_that_was_set_back_does_not_stop_the_curve(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        await until(desk, lambda s: s.equity, stage)
        stage.clock.set(stage.clock.now() - 3_600)
        grown = len(desk.state.equity)
        await leap(stage.clock, 3_650)
        assert len(desk.state.equity) > grown

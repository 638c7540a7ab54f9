from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from faults import Fault, asleep, at_work, breaking, buy, ended, is_quote, ready, said, until
from service_tui.desk import pollers
from service_tui.desk.commands import AskQuote, Refresh, WatchMarket
from service_tui.desk.records import Phase, TicketState, Topic
from service_tui.desk.state import DeskState
from service_tui.wire.endpoints import BRIEFING, MARKETS, POSITIONS, WORLD
from support import first_state, open_stage, open_test_desk

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
        # Six topics, each at most three tries a round, and the probe every four seconds.
        assert len(line.sent) - begun < 400
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
        desk.submit(AskQuote(1, buy(stage.open_markets()[0])))
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
        desk.submit(Refresh())
        await stage.clock.advance(60)
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.REFUSED
        assert len(line.sent) == sent
        assert tones(desk.state)[:1] == ["bad"]
        assert desk.state.markets


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
    monkeypatch.setattr(pollers, "PAGE", 20)
    async with at_work(tmp_path) as (desk, stage, line):
        assert set(desk.state.markets) == set(stage.world.markets)
        assert line.asked(MARKETS.path) >= len(stage.world.markets) // 20


async def test_a_page_that_is_missing_loses_no_market(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pollers, "PAGE", 20)
    async with at_work(tmp_path) as (desk, stage, line):
        known = len(desk.state.markets)
        line.fault = lambda request: said(b"[]") if b"offset=20" in request.url.query else None
        await stage.clock.advance(5)
        assert len(desk.state.markets) == known


# -- pace, focus, other services ----------------------------------------------------------------


async def test_each_topic_is_asked_in_its_own_time(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        assert desk.state.polls == pollers.PERIODS
        await until(desk, lambda s: Topic.TRADES in s.seen, stage)
        assert set(desk.state.seen) == set(Topic) - {Topic.DETAIL}
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
        stage.clock._now -= 3_600
        grown = len(desk.state.equity)
        await stage.clock.advance(3_650)
        assert len(desk.state.equity) > grown

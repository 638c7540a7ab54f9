"""The pollers: outages, refused keys, retries, and answers that cannot be used."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from kit.clock import leap
from kit.desk.faults import Fault, Line, asleep, at_work, buy, ended, is_quote, said, until
from kit.service.stage import OPERATOR, first_state, open_stage, open_test_desk
from service_tui.client.api_keys import ApiKey, ApiKeys
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
        stage.client.renew(ApiKeys(ApiKey(stage.key, BASE_URL), ApiKey(OPERATOR, BASE_URL)))
        desk.submit(Refresh())
        await until(desk, online, stage)
        assert desk.state.service.problem == ""


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


async def test_the_market_beside_the_one_in_focus_is_followed_and_costs_it_nothing(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        first, second = (market.market_id for market in stage.open_markets()[:2])
        desk.submit(WatchMarket(first, 3_600, second))
        state = await until(desk, lambda s: s.detail and s.detail.beside, stage, step_s=0.05)
        assert state.detail.market_id == first
        assert state.detail.beside.market_id == second
        assert state.detail.beside.points
        desk.submit(WatchMarket(first, 3_600, "nowhere"))
        state = await until(desk, lambda s: s.detail.beside.problem, stage, step_s=0.05)
        assert state.detail.points
        assert not state.detail.problem
        desk.submit(WatchMarket(first, 3_600))
        await until(desk, lambda s: s.detail.beside is None, stage, step_s=0.05)


async def test_what_all_agents_hold_is_read_while_it_is_wanted(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        desk.submit(WatchHoldings(is_wanted=True))
        state = await until(desk, lambda s: s.holdings, stage, step_s=0.05)
        assert state.holdings.at == state.seen[Topic.HOLDINGS]
        read = stage.clock.now()
        desk.submit(WatchHoldings(is_wanted=False))
        await stage.clock.advance(10)
        assert desk.state.seen[Topic.HOLDINGS] <= read + 0.1


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


async def test_a_clock_that_was_set_back_does_not_stop_the_curve(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        await until(desk, lambda s: s.equity, stage)
        stage.clock.set(stage.clock.now() - 3_600)
        grown = len(desk.state.equity)
        await leap(stage.clock, 3_650)
        assert len(desk.state.equity) > grown

"""Each kind of row does in the engine what its name says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from kit.console.drilling import small
from service_tui.clock import ManualClock
from service_tui.drills.courses import START, open_world, play_course
from service_tui.drills.director import Director
from service_tui.drills.kinds import YOU
from service_tui.drills.line import BrokenLine, LineFault
from service_tui.drills.scenario import Scenario
from service_tui.drills.stage import DrillStage
from service_tui.engine.reactor.reactor import When
from service_tui.terms import LeashMode, Side
from service_tui.units import ONE

AGENT = '[[agent]]\nname = "hare"\nleash = "ask"\nthreshold = 20\n'
HELD = '[[position]]\nmarket = "dam"\nmoney = 100\nstop = 0.5\n'


def event(kind: str, at: str = "0:10", **fields: object) -> str:
    rows = "".join(f"{name} = {_toml(value)}\n" for name, value in fields.items())
    return f'[[event]]\nat = "{at}"\nkind = "{kind}"\n{rows}'


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


@asynccontextmanager
async def playing(path: Path, one: Scenario) -> AsyncIterator[tuple[DrillStage, Director]]:
    clock = ManualClock(START)
    async with open_world(one, path, clock) as world:
        line = BrokenLine(world.sim.transport, clock)
        yield world.stage, Director(world.stage, line, one.events)


def price(stage: DrillStage) -> float:
    return round(stage.world.markets[stage.market_id("dam")].price(), 3)


def held(stage: DrillStage, who: str = YOU) -> float:
    agent = stage.world.agents[stage.actors[who].agent_id]
    position = agent.positions.get(stage.market_id("dam"))
    return 0.0 if position is None else position.shares(Side.YES) / ONE


@pytest.mark.slow
async def test_a_price_moves_second_by_second(tmp_path: Path) -> None:
    one = small(event=event("price", market="dam", to=0.7, over="0:10"))
    async with playing(tmp_path, one) as (stage, director):
        seen = []
        for second in (9, 10, 12, 15, 20, 30):
            await director.play_until(second)
            seen.append(price(stage))
    assert seen == [0.5, 0.5, 0.54, 0.6, 0.7, 0.7]


@pytest.mark.slow
async def test_news_comes_at_its_time(tmp_path: Path) -> None:
    one = small(event=event("news", market="dam", text="It rains"))
    async with playing(tmp_path, one) as (stage, director):
        await director.play_until(9)
        assert not stage.world.news(stage.began, 5)
        await director.play_until(10)
        assert [item.headline for item in stage.world.news(stage.began, 5)] == ["It rains"]


@pytest.mark.slow
async def test_an_outcome_pays_the_winners(tmp_path: Path) -> None:
    settles = event("settle", at="0:30", market="dam", outcome="yes", wait="0:10")
    async with playing(tmp_path, small(position=HELD, event=settles)) as (stage, director):
        agent = stage.world.agents[stage.actors[YOU].agent_id]
        shares = held(stage)
        assert shares == pytest.approx(190.90, abs=0.01)
        await director.play_until(29)
        assert stage.world.cash(agent) / ONE == 9_900
        await director.play_until(30)
        assert stage.world.cash(agent) / ONE == pytest.approx(9_900 + shares, abs=1e-4)


FOLLOW = '[[follow]]\nwallet = "Quiet Abacus"\nmirror = 0.5\n'


@pytest.mark.slow
@pytest.mark.parametrize("real", [True, False])
async def test_a_signal_waits_and_only_a_real_one_moves_the_price(
    tmp_path: Path, *, real: bool
) -> None:
    says = event("signal", wallet="Quiet Abacus", market="dam", shares=100, real=real)
    async with playing(tmp_path, small(follow=FOLLOW, event=says)) as (stage, director):
        await director.play_until(11)
        world = stage.world
        agent = world.agents[stage.actors[YOU].agent_id]
        when = When(world.at, world.world_at)
        (waiting,) = world.reactor.pending(agent, world.markets, when)
        assert waiting.settled.label == "Quiet Abacus"
        assert (price(stage) > 0.5) is real
        tape = [trade[1] for trade in world.markets[stage.market_id("dam")].tape]
        assert ("Quiet Abacus" in tape) is real


@pytest.mark.slow
async def test_an_agent_asks_and_supervisors_decide(tmp_path: Path) -> None:
    buys = event("buy", who="hare", market="dam", money=50)
    small_buy = event("buy", at="0:11", who="hare", market="dam", money=10)
    approves = event("approve", at="0:20", agent="hare")
    again = event("buy", at="0:30", who="hare", market="dam", money=60)
    refuses = event("refuse", at="0:40", agent="hare")
    rows = buys + small_buy + approves + again + refuses
    async with playing(tmp_path, small(agent=AGENT, event=rows)) as (stage, director):
        await director.play_until(10)
        assert held(stage, "hare") == 0
        assert len(stage.world.pending_trades.waiting) == 1
        await director.play_until(11)
        small_one = held(stage, "hare")
        assert 19 < small_one < 20
        await director.play_until(20)
        assert held(stage, "hare") > small_one + 90
        await director.play_until(50)
        assert not stage.world.pending_trades.waiting
        assert stage.world.pending_trades.ended[-1][1].status.value == "refused"


@pytest.mark.slow
async def test_a_halt_a_pause_and_a_leash_bind(tmp_path: Path) -> None:
    rows = (
        event("halt")
        + event("buy", at="0:11", who="hare", market="dam", money=10)
        + event("resume", at="0:12")
        + event("pause", at="0:13", agent="hare")
        + event("buy", at="0:14", who="hare", market="dam", money=10)
        + event("pause", at="0:15", agent="hare", on=False)
        + event("leash", at="0:16", agent="hare", mode="observe")
        + event("buy", at="0:17", who="hare", market="dam", money=10)
    )
    async with playing(tmp_path, small(agent=AGENT, event=rows)) as (stage, director):
        await director.play_until(20)
        assert held(stage, "hare") == 0
        agent = stage.world.agents[stage.actors["hare"].agent_id]
        assert [one.mode for one in agent.leashes.values()] == [LeashMode.OBSERVE]
        assert stage.world.halt.since is None
        why = [line.text for line in director.lines if line.who == "hare"]
    assert [text.partition(" (")[2].partition(":")[0] for text in why] == ["refused"] * 3
    assert "halted by the operator" in why[0]
    assert "trading is paused" in why[1]
    assert "observe" in why[2]


@pytest.mark.slow
async def test_a_stop_sells_where_the_book_is_and_a_removed_one_does_not(tmp_path: Path) -> None:
    crash = event("price", market="dam", to=0.1)
    async with playing(tmp_path / "a", small(position=HELD, event=crash)) as (stage, director):
        await director.play_until(11)
        assert held(stage) == 0
        assert any("breached at 0.1" in line.text for line in director.lines)
    gone = event("unstop", at="0:05", market="dam")
    async with playing(tmp_path / "b", small(position=HELD, event=gone + crash)) as (
        stage,
        directs,
    ):
        await directs.play_until(11)
        assert held(stage) > 190


@pytest.mark.slow
async def test_a_sale_takes_the_part_that_it_names(tmp_path: Path) -> None:
    sells = event("sell", market="dam", part=0.25)
    async with playing(tmp_path, small(position=HELD, event=sells)) as (stage, director):
        before = held(stage)
        await director.play_until(10)
        assert held(stage) == pytest.approx(before * 0.75, abs=1e-4)


class Answering(httpx.AsyncBaseTransport):
    def __init__(self) -> None:
        self.count = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.count += 1
        return httpx.Response(200, request=request)


ORDER = httpx.Request("POST", "http://x/api/sdk/trade", content=b'{"dry_run":false}')
QUOTE = httpx.Request("POST", "http://x/api/sdk/trade", content=b'{"dry_run":true}')
READ = httpx.Request("GET", "http://x/api/sdk/markets")


async def test_an_order_is_carried_out_and_its_answer_lost_then_silence() -> None:
    inner, now_s = Answering(), [20.0]
    line = BrokenLine(inner, ManualClock(), lambda: now_s[0])
    line.faults.append(LineFault("orders", "lost", 600.0, 45.0))
    assert (await line.handle_async_request(QUOTE)).status_code == 200
    with pytest.raises(httpx.RemoteProtocolError):
        await line.handle_async_request(ORDER)
    assert inner.count == 2
    with pytest.raises(httpx.ConnectError):
        await line.handle_async_request(READ)
    assert (inner.count, line.is_silent()) == (2, True)
    now_s[0] = 65.0
    assert (await line.handle_async_request(READ)).status_code == 200
    assert (await line.handle_async_request(ORDER)).status_code == 200


@pytest.mark.parametrize(("fault", "reached"), [("refused", 0), ("failed", 1), ("lost", 1)])
async def test_a_fault_of_reads_leaves_orders_alone(fault: str, reached: int) -> None:
    inner = Answering()
    line = BrokenLine(inner, ManualClock())
    line.faults.append(LineFault("reads", fault, 10.0))
    if fault == "failed":
        assert (await line.handle_async_request(READ)).status_code == 500
    else:
        with pytest.raises(httpx.TransportError):
            await line.handle_async_request(READ)
    assert inner.count == reached
    assert (await line.handle_async_request(ORDER)).status_code == 200


@pytest.mark.slow
async def test_a_course_is_the_same_figure_each_time(tmp_path: Path) -> None:
    one = small(event=event("price", market="dam", to=0.6))
    figures = [
        int((await play_course(one, one.best, tmp_path / str(number))).figure) for number in (1, 2)
    ]
    nothing = await play_course(one, (), tmp_path / "nothing")
    assert figures == [10_009_314_132] * 2 or figures[0] == figures[1]
    assert figures[0] > nothing.figure == 10_000 * ONE

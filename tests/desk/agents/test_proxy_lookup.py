"""A skill's buy whose answer was lost: looked up, told as it was, and counted until it is known."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from kit.desk.faults import TRADES, Dated, Fault, Line, breaking, is_order, said
from kit.desk.leash import raw_call, status
from kit.service.stage import Stage, open_stage
from service_tui.desk.agents.proxy_lookup import DESK_REF, marked
from service_tui.desk.agents.skill_proxy import SkillProxies
from service_tui.desk.agents.skill_spending import SkillSpending
from service_tui.desk.agents.stored_leash import StoredLeash
from service_tui.desk.commands.agents import ApproveTrade
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.tickets import NO_TRACE
from service_tui.terms import LeashMode, PendingStatus
from service_tui.units import ONE, Micros

HORIZON_S = 620.0


@dataclass
class Lost:
    """A skill on the desk's leash, and a line to the service that breaks when a test says so."""

    stage: Stage
    line: Line
    lines: SkillProxies
    leash: StoredLeash
    way: tuple[str, str]
    facts: list[Fact] = field(default_factory=list)

    async def buy(self, amount: float, **notes: str) -> bytes:
        market = self.stage.open_markets()[0].market_id
        body: dict[str, Any] = {"market_id": market, "side": "yes", "amount": amount}
        if notes:
            body["signal_data"] = notes
        return await raw_call(self.way, "POST /api/sdk/trade", json.dumps(body).encode())

    async def approve(self) -> str:
        (pending_id,) = self.leash.waiting
        await self.lines.carry_out(ApproveTrade(pending_id, "it"))
        return pending_id

    @property
    def row(self) -> PendingTradeView:
        (row,) = self.leash.decided
        return row

    @property
    def really(self) -> int:
        """What the service knows to be spent."""
        return self.stage.agent.spent_today(self.stage.clock.now())

    @property
    def noticed(self) -> list[str]:
        return [fact.text for fact in self.facts if isinstance(fact, Noticed)]

    async def wait(self, seconds: float) -> None:
        """Let time pass, and every look-up on its way come to its end."""
        for _ in range(int(seconds // 10) + 1):
            await self.stage.clock.advance(10.0)
            await self.stage.database.write(lambda _: None)
            await asyncio.to_thread(int)
            await asyncio.sleep(0)


def spending_of(it: Lost) -> str:
    """Under which name the desk writes down what this skill has spent."""
    return f"{it.leash.agent_id} {it.leash.skill_slug} {it.stage.client.base_url}"


@asynccontextmanager
async def lost(
    path: Path, fault: Fault | None, mode: LeashMode = LeashMode.ASK, **other: Any
) -> AsyncGenerator[Lost]:
    async with open_stage(path, speed=0) as whole:
        stage, line = breaking(whole, fault)
        line.inner = Dated(line.inner, whole.clock)
        facts = list[Fact]()
        spending = SkillSpending(path)
        lines = SkillProxies(stage.client, stage.clock, facts.append, spending=spending)
        leash = StoredLeash(stage.agent_id, "heron", "gauge", mode, **other)
        way = await lines.open("r1", leash, stage.key)
        async with asyncio.TaskGroup() as tasks:
            looking = tasks.create_task(lines.run())
            yield Lost(stage, line, lines, leash, way, facts)
            looking.cancel()
            await lines.close()


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.LOST, Fault.TIMED_OUT, Fault.FAILED, Fault.HALF])
async def test_a_buy_that_was_carried_out_is_found_and_told(tmp_path: Path, fault: Fault) -> None:
    async with lost(tmp_path, fault) as it:
        await it.buy(5.0, edge=0.1)
        pending_id = await it.approve()
        assert it.row.status is PendingStatus.UNKNOWN
        assert "checking the trades" in it.row.reason
        assert it.leash.spent == 5 * ONE
        await it.wait(20)
        assert (it.row.pending_id, it.row.status) == (pending_id, PendingStatus.APPROVED)
        assert "it executed: " in it.row.reason
        assert it.row.trade_id
        assert any("it executed" in words for words in it.noticed)
        assert it.leash.spent == it.really == 5 * ONE
        assert it.leash.unknown == {}
        (sent,) = it.line.orders()
        assert sent["signal_data"]["edge"] == 0.1
        # Found once, it is asked for no more.
        asked = it.line.asked(TRADES)
        await it.wait(60)
        assert it.line.asked(TRADES) == asked


@pytest.mark.slow
async def test_one_that_never_came_counts_until_it_has_surely_left_no_trace(
    tmp_path: Path,
) -> None:
    async with lost(tmp_path, None, budget=Micros(8 * ONE)) as it:
        it.line.fault = lambda one: said({"error": "?"}, 502) if is_order(one) else None
        await it.buy(5.0)
        await it.approve()
        await it.wait(300)
        assert (it.row.status, it.leash.spent) == (PendingStatus.UNKNOWN, 5 * ONE)
        # Nothing that would break the budget passes meanwhile.
        assert b"LEASH_BUDGET" in await it.buy(4.0)
        await it.wait(HORIZON_S - 300)
        assert it.row.status is PendingStatus.FAILED
        assert it.row.reason.startswith(NO_TRACE)
        assert it.leash.spent == it.really == 0
        assert SkillSpending(tmp_path).rows()[spending_of(it)][1] == 0
        assert len(it.line.orders()) == 1
        assert b"LEASH_BUDGET" not in await it.buy(4.0)


@pytest.mark.slow
async def test_where_the_trades_cannot_be_read_it_stays_spent_and_is_found_later(
    tmp_path: Path,
) -> None:
    async with lost(tmp_path, None) as it:

        def fault(one: httpx.Request) -> Any:
            if is_order(one):
                return Fault.LOST
            return said({"error": "busy"}, 503) if one.url.path == TRADES else None

        it.line.fault = fault
        await it.buy(5.0)
        await it.approve()
        await it.wait(HORIZON_S + 60)
        assert it.row.status is PendingStatus.UNKNOWN
        assert "cannot be read" in it.row.reason
        assert it.leash.spent == 5 * ONE
        told = len(it.noticed)
        await it.wait(180)
        assert len(it.noticed) == told, "a doubt is told once"
        it.line.fault = lambda _: None
        await it.wait(70)
        assert it.row.status is PendingStatus.APPROVED
        assert it.leash.spent == 5 * ONE


async def anew(it: Lost) -> StoredLeash:
    """The run begins anew, on a leash of its own."""
    fresh = replace(it.leash, unknown={}, decided=[], waiting={})
    await it.lines.open("r1", fresh, it.stage.key)
    return fresh


@pytest.mark.slow
async def test_a_run_that_begins_anew_while_it_is_looked_up_gets_its_money_back_once(
    tmp_path: Path,
) -> None:
    async with lost(tmp_path, None, LeashMode.AUTO) as it:
        assert status(await it.buy(6.0)) == 200
        it.line.fault = lambda one: said({"error": "?"}, 502) if is_order(one) else None
        await it.buy(5.0)
        await it.wait(HORIZON_S - 30)
        it.line.fault = lambda one: Fault.STUCK if one.url.path == TRADES else None
        while not it.line.waiting:
            await it.wait(10)
        fresh = await anew(it)
        it.line.fault = lambda _: None
        it.line.released.set()
        await it.wait(HORIZON_S)
        assert (fresh.spent, fresh.unknown) == (it.really, {})
        assert it.really == 6 * ONE
        assert sum(NO_TRACE in words for words in it.noticed) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "left"), [(424, 0), (502, 5 * ONE)])
async def test_a_buy_on_its_way_ends_on_the_leash_that_its_run_has_then(
    tmp_path: Path, answer: int, left: int
) -> None:
    async with lost(tmp_path, Fault.STUCK) as it:
        it.line.instead = said({"error": "?"}, answer)
        await it.buy(5.0)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(it.approve())
            while not it.line.waiting:
                await asyncio.to_thread(int)
            fresh = await anew(it)
            it.line.released.set()
        (row,) = fresh.decided
        assert row.status is (PendingStatus.UNKNOWN if left else PendingStatus.FAILED)
        assert (fresh.spent, len(fresh.unknown)) == (left, bool(left))


@pytest.mark.slow
async def test_what_is_not_written_down_is_not_given_back(tmp_path: Path) -> None:
    async with lost(tmp_path, None, LeashMode.AUTO) as it:
        assert status(await it.buy(5.0)) == 200

        def full(*_: object) -> None:
            raise OSError("disk full")

        answer = said({"success": False, "error": "too thin"})
        it.line.fault = lambda one: answer if is_order(one) else None
        it.line.seen = lambda _: setattr(it.lines, "_spending", SimpleNamespace(keep=full))
        await it.buy(3.0)
        assert it.leash.spent == 8 * ONE == SkillSpending(tmp_path).rows()[spending_of(it)][1]
        # A buy that cannot be written down counts nowhere either.
        assert status(await it.buy(2.0)) == 424
        assert it.leash.spent == 8 * ONE


@pytest.mark.slow
async def test_a_buy_is_looked_up_whatever_breaks_after_it_left(tmp_path: Path) -> None:
    async with lost(tmp_path, Fault.SILENT) as it:
        await it.buy(5.0)
        async with asyncio.TaskGroup() as tasks:
            approving = tasks.create_task(it.approve())
            while not it.line.waiting:
                await asyncio.to_thread(int)
            # While it is on its way nobody asks for it.
            await it.wait(30)
            assert it.line.asked(TRADES) == 0
            approving.cancel()
        assert it.leash.spent == it.really == 5 * ONE
        await it.wait(20)
        assert it.row.status is PendingStatus.APPROVED
        assert it.leash.unknown == {}


def test_a_skills_own_note_is_never_taken_for_the_desks() -> None:
    body, ref = marked({"market_id": "m", "signal_data": {DESK_REF: "forged", "edge": 1}})
    assert body["signal_data"] == {DESK_REF: ref, "edge": 1}
    assert ref != "forged"
    full = {"signal_data": {str(number): number for number in range(64)}}
    assert marked(full)[0] == full
    odd = {"signal_data": ["no", "notes"]}
    assert marked(odd)[0] == odd
    bare, ref = marked({})
    assert bare == {"signal_data": {DESK_REF: ref}}

"""Exiting everything while halted: ordinary sales, their progress, and what goes wrong."""

from pathlib import Path

import pytest

from kit.desk.faults import Fault, at_work, buy, ended, is_order, rows, sell, until
from kit.service.stage import Stage
from service_tui.desk.commands.halt import ExitAll, Halt, Resume
from service_tui.desk.desk import Desk
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.storage.blotter import StoredState
from service_tui.terms import Action
from service_tui.units import ONE

pytestmark = pytest.mark.slow


def acked(state: DeskState) -> bool:
    return state.halt is not None and not state.halt.missing


def is_over(state: DeskState) -> bool:
    return state.halt is not None and state.halt.exits is not None and state.halt.exits.is_over


async def holding(desk: Desk, stage: Stage, count: int) -> tuple[str, ...]:
    """Buy in so many markets; the row keys of what is held then."""
    for market in stage.open_markets()[:count]:
        desk.submit(buy(market))
    state = await until(desk, lambda s: len(s.positions) == count, stage)
    return tuple(held.key for held in state.positions)


async def halted(desk: Desk, stage: Stage) -> None:
    desk.submit(Halt())
    await until(desk, acked, stage)


async def test_everything_confirmed_is_sold_and_entries_stay_blocked(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        keys = await holding(desk, stage, 6)
        await halted(desk, stage)
        line.fault = lambda one: Fault.STUCK if is_order(one) else None
        desk.submit(ExitAll(keys))
        await until(desk, lambda _: line.waiting == 4, stage, step_s=0.1)
        exits = desk.state.halt.exits
        assert (exits.holdings, len(exits.tickets), exits.is_over) == (keys, 4, False)
        # Nothing enters, and nothing ends the halt, while it goes on.
        entry = desk.submit(buy(stage.open_markets()[0]))
        assert entry.view.state is TicketState.REFUSED
        await desk.submit(Resume("RESUME")).wait()
        assert "selling positions" in desk.state.notices[-1].text
        assert desk.ports.gate.is_closed
        line.released.set()
        state = await until(desk, lambda s: is_over(s) and not s.positions, stage)
        assert len(state.halt.exits.tickets) == 6
        assert {order["action"] for order in line.orders()[6:]} == {Action.SELL}
        assert desk.ports.gate.is_closed
        assert any(one.text == "sell all: 6 of 6 sold" for one in state.notices)
        sold = [row for row in await rows(stage) if row.amount_micros == 0]
        assert [row.state for row in sold] == [StoredState.DONE] * 6
        assert state.account.equity == stage.world.cash(stage.agent)


async def test_what_is_gone_by_its_turn_is_passed_over(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        keys = await holding(desk, stage, 2)
        await halted(desk, stage)
        await ended(desk, desk.submit(sell(desk.state.positions[0])), stage)
        state = await until(desk, lambda s: len(s.positions) == 1, stage)
        desk.submit(ExitAll((*keys, "m-none:yes", keys[0])))
        state = await until(desk, is_over, stage)
        assert (len(state.halt.exits.tickets), state.halt.exits.skipped) == (1, 2)
        assert len(line.orders()) == 4


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.TIMED_OUT])
async def test_an_unknown_exit_is_looked_up_and_never_sent_again(
    tmp_path: Path, fault: Fault
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        keys = await holding(desk, stage, 2)
        await halted(desk, stage)
        lost = set[str]()

        def lose_one(request: object) -> Fault | None:
            if is_order(request) and not lost:
                lost.add(request.url.path)
                return fault
            return None

        line.fault = lose_one
        desk.submit(ExitAll(keys))
        state = await until(desk, is_over, stage, step_s=0.05)
        said = next(one.text for one in state.notices if one.text.startswith("sell all:"))
        assert said == "sell all: 1 of 2 sold, 1 unknown, being looked up"
        state = await until(desk, lambda s: s.in_flight == 0 and not s.positions, stage)
        assert {ticket.state for ticket in state.tickets} == {TicketState.DONE}
        assert len(line.orders()) == 4


async def test_exits_that_fail_are_told_and_can_be_asked_for_again(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        keys = await holding(desk, stage, 2)
        await halted(desk, stage)
        line.fault = lambda one: Fault.NO_LINE if is_order(one) else None
        desk.submit(ExitAll(keys))
        state = await until(desk, is_over, stage)
        said = [(one.text, one.fix) for one in state.notices]
        assert ("sell all: 0 of 2 sold, 2 not sold", Fix.SEE_HALT) in said
        line.fault = lambda _: None
        desk.submit(ExitAll(keys))
        await until(desk, lambda s: is_over(s) and not s.positions, stage)


async def test_nothing_is_sold_before_it_is_halted(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        keys = await holding(desk, stage, 1)
        await desk.submit(ExitAll(keys)).wait()
        assert "halt first" in desk.state.notices[-1].text
        assert len(line.orders()) == 1
        await halted(desk, stage)
        await desk.submit(ExitAll(())).wait()
        assert "no open positions" in desk.state.notices[-1].text
        assert desk.state.halt.exits is None
        assert stage.world.cash(stage.agent) == 9_975 * ONE

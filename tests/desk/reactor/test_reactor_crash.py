"""Programs that were killed between once-key, trade, report and deletion: one mirror at most."""

import asyncio
import os
import random
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.faults import Fault, Line, asleep, breaking, rows, until
from kit.desk.reactor import (
    ANN,
    bought,
    configure,
    decisions,
    deleted,
    has,
    is_deletion,
    is_report,
    is_trade,
    settle,
    signals,
)
from kit.service.stage import Stage, first_state, open_stage, open_test_desk
from service_tui.clock import ManualClock
from service_tui.desk.desk import Desk
from service_tui.desk.feed.pollers import PERIODS
from service_tui.desk.opening import DeskMemory
from service_tui.desk.ports import DeskContext
from service_tui.desk.reactor.stored import known_reactor
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.reactor import ReactorView, SignalState
from service_tui.desk.state import DeskState
from service_tui.storage.blotter import Blotter, StoredState
from service_tui.storage.reactor import StoredReactor

pytestmark = [pytest.mark.process, pytest.mark.slow]


HERE = Path(__file__).resolve().parents[2] / "kit" / "programs"
PLACES = {"trade": is_trade, "report": is_report, "deletion": is_deletion}
POINTS = [(place, fault) for place in PLACES for fault in (Fault.STUCK, Fault.SILENT)]


async def killed(stage: Stage, line: Line) -> None:
    """Run a desk until something of it hangs on the line, then end it without any closing."""
    around = DeskContext(
        stage.client, stage.database, stage.clock, lambda: f"k{len(line.sent)}", random.Random(2)
    )
    blotter = Blotter(stage.database)
    reactor = known_reactor(StoredReactor(stage.database), ReactorView())
    initial = replace(first_state(), polls=PERIODS, reactor=reactor)
    desk = Desk(initial, around, blotter, DeskMemory(stage.database, stage.clock))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(desk.run())
        await until(desk, lambda _: line.waiting, stage)
        running.cancel()
    assert line.waiting == 0


async def mirrored(stage: Stage) -> int:
    """How many mirrors the service has carried out."""
    return len(stage.world.reactor.mirrors.done.get(stage.agent_id, {}))


async def authorised(stage: Stage) -> None:
    """Whatever the wallet does is mirrored without a question."""
    await configure(stage)
    await StoredReactor(stage.database).choose({"address": ANN, "label": "", "policy": "auto"})


@pytest.mark.parametrize(("place", "fault"), POINTS)
async def test_a_desk_killed_in_the_middle_of_a_mirror_mirrors_once_at_most(
    tmp_path: Path, place: str, fault: Fault
) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        await authorised(stage)
        await settle(stage)
        line.fault = lambda request: fault if PLACES[place](request) else None
        await killed(stage, line)
        line.fault = lambda _: None
        never_left = (place, fault) == ("trade", Fault.STUCK)
        async with open_test_desk(stage) as desk:
            if never_left:
                await until(desk, has(SignalState.UNKNOWN), stage)
                await asleep(stage.clock, 601.0)
            wanted = SignalState.FAILED if never_left else SignalState.MIRRORED
            state = await until(desk, has(wanted), stage)
            (one,) = signals(state)
            if never_left:
                assert "not mirrored" in one.detail
                assert any(note.fix == Fix.NEVER_MIRRORED_AGAIN for note in state.notices)
            else:
                await until(desk, lambda s: signals(s)[0].shares > 0 and deleted(line), stage)
                # What was deleted had been told by the program that deleted it.
                was_told = (place, fault) == ("deletion", Fault.SILENT)
                await until(desk, lambda s: told(s) or was_told, stage)
            await stage.clock.advance(10.0)
        assert len(bought(line)) == 1
        assert await mirrored(stage) == (0 if never_left else 1)
        assert await decisions(stage) == ["failed" if never_left else "mirrored"]
        (row,) = await rows(stage)
        # Nobody closes what nobody saw happen: that is left to the person.
        assert row.state is (StoredState.QUEUED if never_left else StoredState.DONE)
        assert stage.world.ledger.total() == 0


def told(state: DeskState) -> bool:
    """Whether the person hears what became of the mirror."""
    return any(note.text.startswith("mirror") for note in state.notices)


REAL = [("trade", "before"), ("trade", "after")]


@pytest.mark.parametrize(("place", "when"), REAL)
async def test_a_program_killed_for_good_mirrors_once_at_most(
    tmp_path: Path, place: str, when: str
) -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "reactor_crash.py"), str(tmp_path), place, when,
        stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    first_words, _ = await program.communicate()
    assert program.returncode == -signal.SIGKILL
    key, agent_id = first_words.decode().split()
    clock = ManualClock()
    await clock.advance(30.0)
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id, speed=0) as whole:
        stage, line = breaking(whole)
        never_left = (place, when) == ("trade", "before")
        async with open_test_desk(stage) as desk:
            if never_left:
                await until(desk, has(SignalState.UNKNOWN), stage)
                await asleep(stage.clock, 601.0)
            wanted = SignalState.FAILED if never_left else SignalState.MIRRORED
            await until(desk, has(wanted), stage)
            await until(desk, told, stage)
            await stage.clock.advance(10.0)
        assert bought(line) == []
        assert await mirrored(stage) == (0 if never_left else 1)
        (row,) = await rows(stage)
        # Nobody closes what nobody saw happen: that is left to the person.
        assert row.state is (StoredState.QUEUED if never_left else StoredState.DONE)

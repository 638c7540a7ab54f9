"""A drill begins once, and ends once it runs."""

from dataclasses import replace

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.desk.changes import Changed
from service_tui.desk.command import Command
from service_tui.desk.commands.drill import BeginDrill, EndDrill
from service_tui.desk.drill.handlers import HANDLERS, begin, end
from service_tui.desk.registry import Registry
from service_tui.desk.slices.drill import DrillPhase, DrillView
from service_tui.desk.tickets import Ticket
from service_tui.units import Timestamp

DRILL = DrillView("crash", "A crash", "Sell.", 10)


def outside(drill: DrillView | None) -> Offline:
    return Offline(replace(sample_state(), drill=drill))


def test_the_clock_starts_at_the_wall_time() -> None:
    there = outside(DRILL)
    begin(BeginDrill(), there.ports)
    at = there.clock.now()
    assert there.facts == [Changed(replace(DRILL, phase=DrillPhase.RUNNING, began_at=at))]


def test_a_running_drill_is_ended_and_nothing_else_of_it_changes() -> None:
    running = replace(DRILL, phase=DrillPhase.RUNNING, began_at=Timestamp(NOW))
    there = outside(running)
    end(EndDrill(), there.ports)
    assert there.facts == [Changed(replace(running, phase=DrillPhase.ENDING))]


@pytest.mark.parametrize("phase", [*DrillPhase, None])
def test_each_happens_in_its_phase_alone(phase: DrillPhase | None) -> None:
    drill = None if phase is None else replace(DRILL, phase=phase)
    there = outside(drill)
    begin(BeginDrill(), there.ports)
    assert bool(there.facts) is (phase is DrillPhase.BRIEFING)
    there = outside(drill)
    end(EndDrill(), there.ports)
    assert bool(there.facts) is (phase is DrillPhase.RUNNING)


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [
        (BeginDrill(), DrillPhase.BRIEFING, DrillPhase.RUNNING),
        (EndDrill(), DrillPhase.RUNNING, DrillPhase.ENDING),
    ],
)
async def test_the_commands_are_known(
    command: Command, before: DrillPhase, after: DrillPhase
) -> None:
    there = outside(replace(DRILL, phase=before))
    registry = Registry()
    registry.take(HANDLERS, there.ports)
    await registry.carry_out(Ticket(command, there.state.tickets[0]))
    assert there.state.drill is not None
    assert there.state.drill.phase is after

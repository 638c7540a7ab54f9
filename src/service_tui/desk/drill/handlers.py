"""BeginDrill and EndDrill: the drill's phase in the state, which whoever plays it follows."""

from dataclasses import replace
from typing import Final

from service_tui.desk.changes import Changed
from service_tui.desk.commands.drill import BeginDrill, EndDrill
from service_tui.desk.ports import Ports
from service_tui.desk.registry import Handlers
from service_tui.desk.slices.drill import DrillPhase


def begin(_: BeginDrill, ports: Ports) -> None:
    """Start the clock, once."""
    drill = ports.state().drill
    if drill is not None and drill.phase is DrillPhase.BRIEFING:
        running = replace(drill, phase=DrillPhase.RUNNING, began_at=ports.clock.now())
        ports.emit(Changed(running))


def end(_: EndDrill, ports: Ports) -> None:
    """Stop the clock of a running drill."""
    drill = ports.state().drill
    if drill is not None and drill.phase is DrillPhase.RUNNING:
        ports.emit(Changed(replace(drill, phase=DrillPhase.ENDING)))


HANDLERS: Final[Handlers] = {BeginDrill: begin, EndDrill: end}

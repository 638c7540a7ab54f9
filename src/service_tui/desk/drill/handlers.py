"""BeginDrill and EndDrill: the drill's phase in the state, which whoever plays it follows."""

from dataclasses import replace

from service_tui.desk.changes import Changed
from service_tui.desk.commands.drill import BeginDrill, EndDrill
from service_tui.desk.ports import Ports
from service_tui.desk.registry import Registry
from service_tui.desk.slices.drill import DrillPhase


def register(registry: Registry, ports: Ports) -> None:
    """Register the commands of a drill."""
    registry.on(BeginDrill, lambda _: begin(ports))
    registry.on(EndDrill, lambda _: end(ports))


def begin(ports: Ports) -> None:
    """Start the clock, once."""
    drill = ports.state().drill
    if drill is not None and drill.phase is DrillPhase.BRIEFING:
        running = replace(drill, phase=DrillPhase.RUNNING, began_at=ports.clock.now())
        ports.emit(Changed(running))


def end(ports: Ports) -> None:
    """Stop the clock of a running drill."""
    drill = ports.state().drill
    if drill is not None and drill.phase is DrillPhase.RUNNING:
        ports.emit(Changed(replace(drill, phase=DrillPhase.ENDING)))

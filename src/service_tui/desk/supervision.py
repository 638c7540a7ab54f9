"""The desk's part that supervises agents: which handler takes what, and what runs beside it.

Knows the handlers of the fleet, the runs of skills, and the action log. Must not know widgets.
Used by desk.desk, which owns the tasks.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from service_tui.desk.actions import Actions
from service_tui.desk.agent_past import pasts_of
from service_tui.desk.commands import PlaceTrade
from service_tui.desk.commands_fleet import (
    ApproveHeld,
    ExportData,
    FleetCommand,
    NoteConfirmed,
    PauseAll,
    ReadDay,
    ReadLog,
    RefuseHeld,
    SetLeash,
    WatchAgent,
)
from service_tui.desk.facts_fleet import PastsSeen
from service_tui.desk.halt_skills import SkillAgents
from service_tui.desk.handlers import exports, fleet, skills
from service_tui.desk.leash_line import LeashLines
from service_tui.desk.live_orders import against_skill
from service_tui.desk.polling import Watched
from service_tui.desk.ports import Ports, Surroundings
from service_tui.desk.records import Topic
from service_tui.desk.skill_home import SkillHome
from service_tui.desk.skill_runs import SkillRuns
from service_tui.desk.skill_spending import SkillSpending
from service_tui.units import Micros


class Supervision:
    """The person's hand on the agents, as the desk carries it out."""

    def __init__(self, around: Surroundings, ports: Ports, watched: Watched) -> None:
        data_dir, clock = around.database.path.parent, around.clock
        self._ports = ports
        self._watched = watched
        self._data_dir = data_dir
        self._clock = clock
        self._held_in = around.held_in
        self._runs = SkillRuns(data_dir, clock, ports.gate, ports.say, held_in=around.held_in)
        self._lines = LeashLines(
            ports.client,
            clock,
            ports.say,
            lambda: ports.gate.is_closed,
            against_real=self._against_real,
            spending=SkillSpending(data_dir),
        )
        self._skills = skills.SkillPorts(SkillHome(data_dir), self._runs, self._lines)
        self.halted = SkillAgents(ports.client, self._skills.home.key_of, self._lines.agents)
        # Beside the holder of a directory: one log for both, which the holder writes, too.
        notes = around.notes
        beside = notes is not None and notes != data_dir
        self.actions = Actions(notes or data_dir, clock, ports.say, beside=beside)

    async def handle(self, command: FleetCommand) -> None:
        """Carry a command out, and say how it went."""
        match command:
            case SetLeash() | ApproveHeld() | RefuseHeld() if self._keeps_leash():
                await self._lines.carry_out(command)
            case SetLeash() | ApproveHeld() | RefuseHeld() | PauseAll():
                await fleet.carry_out(command, self._ports)
            case ExportData():
                await exports.export_data(command, self._data_dir, self._ports)
            case ReadLog():
                await self.actions.read()
            case ReadDay():
                pasts = await pasts_of(self._ports)
                self._ports.say(PastsSeen(tuple(pasts.values()), self._ports.now()))
            case NoteConfirmed():
                # It was written down when it was given.
                pass
            case WatchAgent():
                self._watched.agent_id, self._watched.run_id = command.agent_id, command.run_id
                self._skills.runs.look_at(command.run_id)
                self._ports.poke(Topic.FLEET)
            case _:
                await skills.carry_out(command, self._skills, self._ports)

    def loops(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """What runs as long as the desk does."""
        self._runs.take_in(self._data_dir)
        return (
            partial(skills.watch_skills, self._skills.home, self._ports),
            self._skills.runs.run,
            self.actions.run,
            self._lines.run,
        )

    def hold(self) -> None:
        """Look after the skills of the directory: this desk holds it now."""
        if self._held_in is not None:
            self._runs.take_in(self._held_in)

    async def close(self) -> None:
        """End what runs for this desk and was not detached."""
        await self._skills.runs.close()
        self._lines.close()

    def _against_real(self, order: PlaceTrade, spent: Micros) -> tuple[str, str] | None:
        """What the desk has against a skill's buy for real money; None where it has nothing."""
        found = against_skill(self._ports.state(), order, self._ports.now(), spent)
        return next(found, None)

    def _keeps_leash(self) -> bool:
        """Whether the service keeps none, and this desk may change something."""
        service = self._ports.state().service
        return not service.embedded and not service.read_only

"""Registers the handlers for agents, skills, exports and the audit log, and runs their loops."""

from collections.abc import Awaitable, Callable
from functools import partial

from service_tui.desk.agents import leash_handlers as fleet
from service_tui.desk.agents import skills
from service_tui.desk.agents.past import pasts_of
from service_tui.desk.agents.refused_today import refuse_for_today
from service_tui.desk.agents.skill_home import SkillHome
from service_tui.desk.agents.skill_proxy import SkillProxies
from service_tui.desk.agents.skill_runs import SkillRuns
from service_tui.desk.agents.skill_spending import SkillSpending
from service_tui.desk.audit import handlers as exports
from service_tui.desk.audit.actions import Actions
from service_tui.desk.commands.agents import (
    ApproveTrade,
    DetachSkill,
    ExportData,
    InstallSkill,
    NoteConfirmed,
    PauseAll,
    ReadDay,
    ReadLog,
    RefuseTrade,
    RemoveAgentAlert,
    RestartSkill,
    SaveOutput,
    SetAgentAlert,
    SetLeash,
    StartSkill,
    StopSkill,
    WatchAgent,
    WatchHoldings,
)
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.halt.skills import SkillAgents
from service_tui.desk.ports import DeskContext, Ports
from service_tui.desk.reasons import Reason
from service_tui.desk.registry import OwnHandlers
from service_tui.desk.slices.supervision import PastsSeen
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.live_orders import against_skill
from service_tui.units import Micros


class Supervision:
    """Runs the operator's fleet commands: permissions, approvals, skills, action log."""

    def __init__(self, context: DeskContext, ports: Ports, poller_memory: PollerMemory) -> None:
        data_dir, clock = context.database.path.parent, context.clock
        self._ports = ports
        self._poller_memory = poller_memory
        self._data_dir = data_dir
        self._clock = clock
        self._holder_dir = context.holder_dir
        self._runs = SkillRuns(
            data_dir, clock, ports.gate, ports.emit, holder_dir=context.holder_dir
        )
        self._lines = SkillProxies(
            ports.client,
            clock,
            ports.emit,
            lambda: ports.gate.is_closed,
            against_real=self._against_real,
            spending=SkillSpending(data_dir),
        )
        # Skills and the keys of their agents are shared by all consoles on one directory: whoever
        # takes it over restarts what another had started.
        home = SkillHome(context.holder_dir or data_dir, former=data_dir)
        self._skills = skills.SkillPorts(home, self._runs, self._lines)
        self.halted = SkillAgents(ports.client, self._skills.home.key_of, self._lines.agents)
        # Beside the holder of a directory: one log for both, which the holder writes, too.
        notes = context.notes
        beside = notes is not None and notes != data_dir
        self.actions = Actions(notes or data_dir, clock, ports.emit, beside=beside)

    def handlers(self) -> OwnHandlers:
        """What carries out the commands about agents, skills, exports and the log."""
        ports, folder = self._ports, self._data_dir
        of_skills = (StartSkill, StopSkill, RestartSkill, DetachSkill, InstallSkill)
        return {
            **dict.fromkeys((SetLeash, ApproveTrade, RefuseTrade), self._lead),
            **dict.fromkeys(
                (PauseAll, SetAgentAlert, RemoveAgentAlert),
                lambda order: fleet.carry_out(order, ports),
            ),
            **dict.fromkeys(of_skills, lambda order: skills.carry_out(order, self._skills, ports)),
            ExportData: lambda order: exports.export_data(order, folder, ports),
            SaveOutput: lambda order: exports.save_output(order, folder, ports),
            ReadLog: lambda _: self.actions.read(),
            ReadDay: lambda _: self._read_day(),
            # It was written down when it was given.
            NoteConfirmed: lambda _: None,
            WatchAgent: self._watch,
            WatchHoldings: self._watch_holdings,
        }

    async def _lead(self, order: SetLeash | ApproveTrade | RefuseTrade) -> None:
        """Change a leash or decide a trade that waits, wherever the leash is kept."""
        if self._keeps_leash():
            await self._lines.carry_out(order)
        else:
            await fleet.carry_out(order, self._ports)

    async def _read_day(self) -> None:
        pasts = await pasts_of(self._ports)
        self._ports.emit(PastsSeen(tuple(pasts.values()), self._ports.now()))

    def _watch(self, order: WatchAgent) -> None:
        self._poller_memory.agent_id, self._poller_memory.run_id = order.agent_id, order.run_id
        self._skills.runs.look_at(order.run_id)
        self._ports.refresh(Topic.FLEET)

    def _watch_holdings(self, order: WatchHoldings) -> None:
        self._poller_memory.wants_holdings = order.is_wanted
        if order.is_wanted:
            self._ports.refresh(Topic.HOLDINGS)

    def loops(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """Background loops."""
        self._runs.take_in(self._data_dir)
        return (
            partial(skills.watch_skills, self._skills.home, self._ports),
            self._skills.runs.run,
            self.actions.run,
            self._lines.run,
            partial(refuse_for_today, self._ports, self._lead),
        )

    def hold(self) -> None:
        """Run the skills of the data directory, which this desk now owns."""
        if self._holder_dir is not None:
            self._runs.take_in(self._holder_dir)

    async def close(self) -> None:
        """End what runs for this desk and was not detached."""
        await self._skills.runs.close()
        await self._lines.close()

    def _against_real(self, order: PlaceTrade, spent: Micros) -> Reason | None:
        """The desk's objection to a skill's buy for real money; None without one."""
        found = against_skill(self._ports.state(), order, self._ports.now(), spent)
        return next(found, None)

    def _keeps_leash(self) -> bool:
        """True if this desk must keep leashes, as the service does not."""
        service = self._ports.state().service
        return not service.embedded and not service.read_only

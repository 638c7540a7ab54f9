"""What a person does with the skills and the leash of an agent: run, stop, lead, set free.

Knows commands and dialogs. Must not know the layout of the screen.
Used by the agents screen, by way of its other acts.
"""

from typing import Final, Generic, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.dialogs.confirm import Confirm, Question
from service_tui.console.dialogs.start_skill import StartSkillForm
from service_tui.console.messages import Said
from service_tui.console.screens.rows import RowsScreen
from service_tui.desk.commands_fleet import (
    DetachSkill,
    ExportData,
    PauseAll,
    RestartSkill,
    SetLeash,
    StartSkill,
    StopSkill,
)
from service_tui.desk.fleet import AgentView
from service_tui.desk.records_fleet import SkillRunState, SkillRunView
from service_tui.terms import LeashMode
from service_tui.units import Micros

Part = TypeVar("Part")

_NEXT_LEASH: Final = {
    None: LeashMode.OBSERVE,
    LeashMode.OBSERVE: LeashMode.ASK,
    LeashMode.ASK: LeashMode.AUTO,
    LeashMode.AUTO: None,
}


class HandActs(RowsScreen[Part, AgentView], Generic[Part]):
    """Stopping and a shorter leash ask nothing; a longer one is asked first."""

    def action_start_skill(self) -> None:
        """Run a skill as an agent of its own."""
        why = self.why_not("start_skill")
        if why:
            self.post_message(Said(why, "warn"))
            return

        def filled(order: StartSkill | None) -> None:
            if order is not None:
                self.give(order)

        self._app().push_screen(StartSkillForm(self.state, self.now), filled)

    def action_stop_skill(self) -> None:
        """End what runs as the agent; asks nothing."""
        for run in self._runs("stop_skill", alive=True):
            self.give(StopSkill(run.run_id, f"{run.skill_slug} as {run.agent_name}"))

    def action_restart_skill(self) -> None:
        """Begin its last skill anew."""
        for run in self._runs("restart_skill", alive=False)[:1]:
            self.give(RestartSkill(run.run_id, f"{run.skill_slug} as {run.agent_name}"))

    def action_detach_skill(self) -> None:
        """Let what runs as the agent outlive the console, or not."""
        for run in self._runs("detach_skill", alive=True):
            detached = run.state is not SkillRunState.DETACHED
            self.give(DetachSkill(run.run_id, detached, f"{run.skill_slug} as {run.agent_name}"))

    def _runs(self, action: str, *, alive: bool) -> list[SkillRunView]:
        """The runs of the agent in focus, or a word that there are none."""
        agent = self.agent_for(action)
        if agent is None:
            return []
        runs = self.state.supervision.runs_of(agent.agent_id)
        found = [run for run in runs if run.state.is_alive or not alive]
        if not found:
            self.post_message(Said(f"no skill of this desk runs as {agent.name}", "warn"))
        return found

    def action_leash(self) -> None:
        """The next leash of the agent: strictness is one key, freedom is confirmed."""
        agent = self.agent_for("leash")
        if agent is None:
            return
        known = self.state.supervision.leash_of(agent.agent_id)
        mode = _NEXT_LEASH[None if known is None else known.mode]
        order = SetLeash(
            agent.agent_id,
            agent.name,
            mode,
            budget=None if known is None else known.budget,
            threshold=Micros(0) if known is None else known.threshold,
        )
        if mode not in {None, LeashMode.AUTO}:
            self.give(order)
            return
        body = Text.assemble(
            formats.plain(agent.name, 60), " may then buy by itself, within its budget and limits."
        )

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self.give(order)

        word = "free" if mode is None else mode.value
        self._app().push_screen(Confirm(Question("A longer leash?", body, word)), answered)

    def action_pause_all(self) -> None:
        """Hold the buys of every agent but the person's own; asks nothing."""
        why = self.why_not("pause_all")
        if why:
            self.post_message(Said(why, "warn"))
        else:
            self.give(PauseAll(paused=True))

    def action_export(self) -> None:
        """Write what is known as files."""
        self.give(ExportData())

    def agent_for(self, action: str) -> AgentView | None:
        """The agent that an action is about; None, and said, when it does not apply."""
        agent = self.row_in_focus()
        why = self.why_not(action)
        if agent is not None and why:
            self.post_message(Said(f"{formats.plain(agent.name, 40).plain}: {why}", "warn"))
            return None
        return agent

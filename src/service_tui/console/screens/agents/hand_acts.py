"""What a person does with the skills and the leash of an agent: run, stop, lead, set free."""

from typing import Generic, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.messages import Said
from service_tui.console.parts.rows import RowsScreen
from service_tui.console.screens.agents.install_skill import InstallSkillForm
from service_tui.console.screens.agents.leash_form import LeashForm
from service_tui.console.screens.agents.start_skill import StartSkillForm
from service_tui.desk.agents.health import leash_mode
from service_tui.desk.commands.agents import (
    DetachSkill,
    ExportData,
    InstallSkill,
    PauseAll,
    RestartSkill,
    SetLeash,
    StartSkill,
    StopSkill,
)
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.fleet import SkillRunState, SkillRunView
from service_tui.terms import counted

Part = TypeVar("Part")


class HandActs(RowsScreen[Part, AgentView], Generic[Part]):
    """Stopping and a shorter leash ask nothing; a longer one is asked first."""

    def action_start_skill(self) -> None:
        """Run a skill as an agent of its own."""
        if self.is_refused("start_skill"):
            return

        def filled(order: StartSkill | None) -> None:
            if order is not None:
                self.give(order)

        self._app().push_screen(StartSkillForm(self.state, self.now), filled)

    def action_install_skill(self) -> None:
        """Install a skill from a folder or an archive."""
        if self.is_refused("install_skill"):
            return

        def filled(order: InstallSkill | None) -> None:
            if order is not None:
                self.give(order)

        self._app().push_screen(InstallSkillForm(self.state, self.now), filled)

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
        """How free the agent is, or one of its skills: the leash that binds comes first."""
        agent = self.agent_for("leash")
        if agent is not None:
            bound = leash_mode(agent, self.state.supervision)
            slug = "" if bound is None else bound.skill_slug
            self._open_leash(LeashForm(self.state, self.now, agent, skill_slug=slug))

    def action_budget(self) -> None:
        """What its skill may spend a day; without a skill, what the agent may."""
        agent = self.agent_for("budget")
        if agent is None:
            return
        runs = self.state.supervision.runs_of(agent.agent_id)
        slug = runs[0].skill_slug if runs else ""
        self._open_leash(LeashForm(self.state, self.now, agent, skill_slug=slug, budget_first=True))

    def _open_leash(self, form: LeashForm) -> None:
        def filled(order: SetLeash | None) -> None:
            if order is not None:
                self.give(order)

        self._app().push_screen(form, filled)

    def action_pause_all(self) -> None:
        """Hold the buys of every agent but the person's own; once all are held, let them go on."""
        if self.is_refused("pause_all"):
            return
        fleet = self.state.fleet
        others = [] if fleet is None else [one for one in fleet.agents if not one.is_own]
        if not others or not all(one.paused for one in others):
            self.give(PauseAll(paused=True))
            return

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self.give(PauseAll(paused=False))

        body = Text(f"{counted(len(others), 'agent')} may then buy again by themselves.")
        self._app().push_screen(Confirm(Question("Resume all?", body, "resume all")), answered)

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

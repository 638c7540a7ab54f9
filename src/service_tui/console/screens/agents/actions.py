"""What a person does with an agent: claim, pause, suspend, plan, key; asked where it matters."""

from typing import Final, Generic, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.about import About, Tell
from service_tui.console.forms.choose_plan import ChoosePlan
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.messages import Said
from service_tui.console.parts.rows import NO_ROW
from service_tui.console.screens.agents.hand_acts import HandActs
from service_tui.console.screens.agents.secret import Secret
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.commands.settings import Forget
from service_tui.desk.slices.agents import AgentView, RevealedView
from service_tui.desk.slices.records import Phase
from service_tui.terms import Plan

Part = TypeVar("Part")

_ON_A_ROW: Final = frozenset({
    "claim", "code", "pause", "plan", "new_key", "suspend", "retire", "leash",
    "stop_skill", "restart_skill", "detach_skill", "budget",
})  # fmt: skip
_ON_OUR_SKILLS: Final = frozenset({
    "leash", "budget", "stop_skill", "restart_skill", "detach_skill",
})  # fmt: skip
"""What this desk does itself, whatever the service is."""

_ON_ALL: Final = frozenset({"new_plan", "pause_all"})
_OTHERS_KEY: Final = (
    " uses now is dead at once: whatever runs with it is refused. The new one is shown once. "
    "This cannot be undone."
)
_OWN_KEY: Final = (
    " uses now is dead at once: a program that was given it is refused. This desk and every other "
    "one of its data directory go on with the new one, which is not shown. This cannot be undone."
)
_CLAIMED: Final = "it is claimed already"


class AgentActs(HandActs[Part], Generic[Part]):
    """Stopping asks nothing; what starts something, or cannot be undone, is asked first."""

    _is_revealing: bool = False

    def why_not(self, action: str) -> str:
        """Why a key does nothing here."""
        if action in {"start_skill", "install_skill"}:
            return self._why_no_skill(action)
        if action not in _ON_A_ROW | _ON_ALL:
            return super().why_not(action)
        if not self.state.service.embedded and action not in _ON_OUR_SKILLS:
            return "only agents of the embedded service are governed from here"
        if self.state.service.read_only:
            return "this desk is read-only: it changes nothing"
        return "" if action in _ON_ALL else self._why_not_on(action, self.table.selected())

    def action_claim(self) -> None:
        """Claim the agent, once that is confirmed."""
        agent = self.agent_for("claim")
        if agent is not None:
            body = Text.assemble(
                formats.plain(agent.name, 60),
                " is yours from then on, and may go beyond simulated money wherever its own "
                "settings and limits allow that. This cannot be taken back.",
            )
            self._ask(Question("Claim this agent?", body, "claim"), AgentAct.CLAIM, agent)

    def action_code(self) -> None:
        """Make the code that its claim page asks for."""
        agent = self.agent_for("code")
        if agent is not None:
            self._order(AgentAct.CODE, agent)

    def action_pause(self) -> None:
        """Stop its buys at once; let it buy again once that is confirmed."""
        agent = self.agent_for("pause")
        if agent is None:
            return
        if not agent.paused:
            self._order(AgentAct.PAUSE, agent)
            return
        body = Text.assemble(formats.plain(agent.name, 60), " may then buy again by itself.")
        self._ask(Question("Resume this agent?", body, "resume"), AgentAct.RESUME, agent)

    def action_suspend(self) -> None:
        """Stop everything it does at once; let it in again once that is confirmed."""
        agent = self.agent_for("suspend")
        if agent is None:
            return
        if not agent.suspended:
            self._order(AgentAct.SUSPEND, agent)
            return
        body = Text.assemble(formats.plain(agent.name, 60), " may then trade again by itself.")
        self._ask(Question("Readmit this agent?", body, "readmit"), AgentAct.READMIT, agent)

    def action_retire(self) -> None:
        """Give its slot back for good, once that is confirmed; readmit takes it back."""
        agent = self.agent_for("retire")
        if agent is not None:
            body = Text.assemble(
                formats.plain(agent.name, 60),
                " does nothing any more, and its slot is free for another agent. Its open orders "
                "are cancelled. Its history, its key and what it holds stay; readmit takes it back "
                "while a slot is free.",
            )
            self._ask(Question("Retire this agent?", body, "retire"), AgentAct.RETIRE, agent)

    def action_new_key(self) -> None:
        """Give it another key, once that is confirmed; that of others is shown once."""
        agent = self.agent_for("new_key")
        if agent is not None:
            body = Text.assemble(
                "The key that ",
                formats.plain(agent.name, 60),
                _OWN_KEY if agent.is_own else _OTHERS_KEY,
            )
            self._ask(Question("New key?", body, "new key"), AgentAct.NEW_KEY, agent)

    def action_plan(self) -> None:
        """Choose the plan of the agent."""
        agent = self.agent_for("plan")
        if agent is None:
            return

        def chosen(plan: Plan | None) -> None:
            if plan is not None and plan is not agent.plan:
                self.give(Govern(AgentAct.PLAN, agent.agent_id, agent.name, plan))

        name = formats.plain(agent.name, 30).plain
        self._app().push_screen(ChoosePlan(name, agent.plan), chosen)

    def action_new_plan(self) -> None:
        """Choose the plan of agents that are still to come."""
        fleet = self.state.fleet
        why = self.why_not("new_plan") or ("" if fleet else "the agents are not known yet")
        if fleet is None or why:
            self.post_message(Said(why, "warn"))
            return

        def chosen(plan: Plan | None) -> None:
            if plan is not None and plan is not fleet.plan:
                self.give(Govern(AgentAct.PLAN, plan=plan))

        self._app().push_screen(ChoosePlan("new agents", fleet.plan), chosen)

    def reveal(self, revealed: RevealedView | None) -> None:
        """Show a secret on a page of its own, and have it forgotten when that is left."""
        if revealed is None or self._is_revealing:
            return
        self._is_revealing = True
        self._app().push_screen(Secret(revealed), self._seen)

    def open_about(self, title: str, tell: Tell) -> None:
        """Show one page."""
        name = formats.plain(title, 40).plain
        self._app().push_screen(About(name, tell, self.state, self.now))

    def _seen(self, _: None) -> None:
        self._is_revealing = False
        self.give(Forget())

    def _why_no_skill(self, action: str) -> str:
        service = self.state.service
        if service.read_only:
            return "this desk is read-only"
        is_known = bool(self.state.supervision.skills) or action != "start_skill"
        is_early = service.phase is Phase.CONNECTING and not is_known
        return "still connecting: the skills are not known yet" if is_early else ""

    def _why_not_on(self, action: str, agent: AgentView | None) -> str:
        if agent is None:
            return NO_ROW
        if action in {"claim", "code"} and agent.claimed:
            return _CLAIMED
        if action == "retire" and agent.is_own:
            return "this is the agent of this desk: it takes no slot"
        return "it is retired already" if action == "retire" and agent.retired else ""

    def _ask(self, question: Question, act: AgentAct, agent: AgentView) -> None:
        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self._order(act, agent)

        self._app().push_screen(Confirm(question), answered)

    def _order(self, act: AgentAct, agent: AgentView) -> None:
        self.give(Govern(act, agent.agent_id, agent.name))

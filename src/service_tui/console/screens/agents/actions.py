"""Actions on agents: claim, pause, suspend, plan, key; their skills and leashes.

Stopping and a shorter leash need no confirmation. Starting, and actions that cannot be undone,
do. `ACTIONS`, at the end, is the list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.text import Text

from service_tui.console import formats
from service_tui.console.actions import ScreenAction, UnmetReason
from service_tui.console.forms.about import About
from service_tui.console.forms.choose_plan import ChoosePlan
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.leash_form import LeashForm
from service_tui.console.forms.skill_log import SkillLog
from service_tui.console.parts.shared_actions import (
    can_change,
    export,
    has_row,
    has_rows,
    mark,
    mark_all,
)
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.agents.alerts import AgentAlertList
from service_tui.console.screens.agents.detail import describe, history_text
from service_tui.console.screens.agents.skill_forms import InstallSkillForm, StartSkillForm
from service_tui.console.view_context import ViewContext
from service_tui.desk.agents.health import strictest_leash
from service_tui.desk.commands.agents import (
    AgentAct,
    DetachSkill,
    Govern,
    PauseAll,
    RestartSkill,
    StopSkill,
)
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.supervision import SkillRunState, SkillRunView
from service_tui.desk.state import DeskState
from service_tui.terms import Plan, counted
from service_tui.units import Timestamp

Agents: TypeAlias = TableScreen[AgentView]

_OTHERS_KEY: Final = (
    " uses now is revoked, and programs that use it are refused. The new key is shown once. "
    "This cannot be undone."
)
_OWN_KEY: Final = (
    " uses now is revoked, and programs that use it are refused. Consoles of this data "
    "directory switch to the new key, which is not shown. This cannot be undone."
)

# -- requirements -------------------------------------------------------------------------------


def is_governed(screen: Agents) -> UnmetReason:
    """The service is the embedded one. Actions of this desk alone do not require it."""
    if screen.state.service.embedded:
        return ""
    return "only agents of the embedded service are managed here"


def is_unclaimed(screen: Agents) -> UnmetReason:
    """The highlighted agent is unclaimed."""
    agent = screen.selected()
    return "already claimed" if agent is not None and agent.claimed else ""


def is_retirable(screen: Agents) -> UnmetReason:
    """The highlighted agent takes a slot."""
    agent = screen.selected()
    if agent is None:
        return ""
    if agent.is_own:
        return "agent of this desk: it uses no slot"
    return "already retired" if agent.retired else ""


def has_demos(screen: Agents) -> UnmetReason:
    """A demo agent is at work."""
    return "" if screen.state.living_demos else "no demo agents here"


def are_agents_loaded(screen: Agents) -> UnmetReason:
    """The service's agents have loaded."""
    return "agents not loaded yet" if screen.state.fleet is None else ""


def can_run_skills(screen: Agents) -> UnmetReason:
    """This desk may start and install skills."""
    return "this desk is read-only" if screen.state.service.read_only else ""


def are_skills_loaded(screen: Agents) -> UnmetReason:
    """The skills of this machine have loaded, or will not load."""
    state = screen.state
    is_early = state.service.phase is Phase.CONNECTING and not state.supervision.skills
    return "skills not loaded yet" if is_early else ""


# -- one agent ----------------------------------------------------------------------------------


def open_agent(screen: Agents) -> None:
    """Focus the pane of the highlighted agent; without room for it, open a page."""
    agent = screen.row_in_focus()
    if agent is None:
        return
    if screen.has_class("-beside"):
        screen.query_one("#agents-detail").focus()
        return
    width = max(40, screen.size.width - 16)

    def make_text(state: DeskState, now: Timestamp) -> Text:
        """The agent in full as it is now, or as it was last."""
        every = () if state.fleet is None else state.fleet.agents
        newest = next((one for one in every if one.agent_id == agent.agent_id), agent)
        view = ViewContext.of(state, now, width)
        return Text("\n\n").join((describe(newest, view), history_text(newest, view)))

    title = formats.plain(agent.name, 40).plain
    screen.open_dialog(About(title, make_text, screen.state, screen.now))


def claim(screen: Agents) -> None:
    """Claim the agent, after a confirmation."""
    agent = screen.row_in_focus()
    if agent is not None:
        body = Text.assemble(
            formats.plain(agent.name, 60),
            " is yours then, and may trade real money within its own settings and limits. This "
            "cannot be undone.",
        )
        _confirm(screen, Question("Claim this agent?", body, "claim"), AgentAct.CLAIM, agent)


def make_claim_code(screen: Agents) -> None:
    """Create the code that its claim page requires."""
    agent = screen.row_in_focus()
    if agent is not None:
        _govern(screen, AgentAct.CODE, agent)


def pause(screen: Agents) -> None:
    """Pause its buys at once; resume them after a confirmation. The same of all marked agents."""
    _stop_or_start(screen, _PAUSING)


def suspend(screen: Agents) -> None:
    """Suspend the agent at once; readmit it after a confirmation. The same of all marked agents."""
    _stop_or_start(screen, _SUSPENDING)


@dataclass(frozen=True)
class _Stopping:
    """A state that agents are put into at once, and taken out of after a question."""

    stop: AgentAct
    start: AgentAct
    is_stopped: Callable[[AgentView], bool]
    verb: str
    may: str


_PAUSING: Final = _Stopping(
    AgentAct.PAUSE, AgentAct.RESUME, lambda agent: agent.paused, "resume", "buy"
)
_SUSPENDING: Final = _Stopping(
    AgentAct.SUSPEND, AgentAct.READMIT, lambda agent: agent.suspended, "readmit", "trade"
)


def _stop_or_start(screen: Agents, way: _Stopping) -> None:
    """Stop those that are not stopped; once all are, start them again after one question."""
    agents = screen.table.selected_or_marked()
    running = [agent for agent in agents if not way.is_stopped(agent)]
    for agent in running:
        _govern(screen, way.stop, agent)
    if len(agents) == 1 and not running:
        body = Text.assemble(
            formats.plain(agents[0].name, 60), f" may {way.may} again without you."
        )
        question = Question(f"{way.verb.capitalize()} this agent?", body, way.verb)
        _confirm(screen, question, way.start, agents[0])
    elif agents and not running:
        _ask_to_start(screen, way, agents)
    elif not agents:
        screen.row_in_focus()


def _ask_to_start(screen: Agents, way: _Stopping, agents: Sequence[AgentView]) -> None:
    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            for agent in agents:
                _govern(screen, way.start, agent)
            screen.table.clear_marks()

    who = counted(len(agents), "agent")
    question = Question(
        f"{way.verb.capitalize()} the marked agents?",
        Text(f"{who} may {way.may} again without you.\n"),
        way.verb,
    )
    lines = tuple(formats.plain(agent.name, 60) for agent in agents)
    screen.open_dialog(ConfirmMany(question, lines), answered)


def retire(screen: Agents) -> None:
    """Release its slot for good, after a confirmation; readmit undoes it."""
    agent = screen.row_in_focus()
    if agent is not None:
        body = Text.assemble(
            formats.plain(agent.name, 60),
            " stops, its open orders are cancelled, and its slot becomes free. History, key "
            "and positions stay. Readmit restores it while a slot is free.",
        )
        _confirm(screen, Question("Retire this agent?", body, "retire"), AgentAct.RETIRE, agent)


def retire_demos(screen: Agents) -> None:
    """Retire all demo agents, after a confirmation."""
    chosen = screen.state.living_demos
    names = ", ".join(formats.plain(agent.name, 30).plain for agent in chosen)
    body = Text(
        f"{names} stop for good. Their trades stay in the lists, their positions end with "
        "the markets."
    )
    orders = tuple(Govern(AgentAct.RETIRE, one.agent_id, one.name) for one in chosen)

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        for order in orders if confirmed else ():
            screen.give(order)

    screen.open_dialog(Confirm(Question("Retire the demo agents?", body, "retire")), answered)


def replace_key(screen: Agents) -> None:
    """Give it another key, after a confirmation; that of others is shown once."""
    agent = screen.row_in_focus()
    if agent is not None:
        body = Text.assemble(
            "The key that ",
            formats.plain(agent.name, 60),
            _OWN_KEY if agent.is_own else _OTHERS_KEY,
        )
        _confirm(screen, Question("Rotate the API key?", body, "new key"), AgentAct.NEW_KEY, agent)


def choose_plan(screen: Agents) -> None:
    """Choose the plan of the agent."""
    agent = screen.row_in_focus()
    if agent is None:
        return

    def set_plan(plan: Plan) -> None:
        if plan is not agent.plan:
            screen.give(Govern(AgentAct.PLAN, agent.agent_id, agent.name, plan))

    name = formats.plain(agent.name, 30).plain
    screen.open_dialog(ChoosePlan(name, agent.plan), set_plan)


def _confirm(screen: Agents, question: Question, act: AgentAct, agent: AgentView) -> None:
    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            _govern(screen, act, agent)

    screen.open_dialog(Confirm(question), answered)


def _govern(screen: Agents, act: AgentAct, agent: AgentView) -> None:
    screen.give(Govern(act, agent.agent_id, agent.name))


# -- all agents ---------------------------------------------------------------------------------


def choose_plan_of_new(screen: Agents) -> None:
    """Choose the plan of future agents."""
    fleet = screen.state.fleet
    if fleet is None:
        return

    def set_plan(plan: Plan) -> None:
        if plan is not fleet.plan:
            screen.give(Govern(AgentAct.PLAN, plan=plan))

    screen.open_dialog(ChoosePlan("new agents", fleet.plan), set_plan)


def pause_all(screen: Agents) -> None:
    """Pause buys of every agent but the person's own; once all are paused, resume them."""
    fleet = screen.state.fleet
    others = [] if fleet is None else [agent for agent in fleet.agents if not agent.is_own]
    if not others or not all(agent.paused for agent in others):
        screen.give(PauseAll(paused=True))
        return

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            screen.give(PauseAll(paused=False))

    body = Text(f"{counted(len(others), 'agent')} may buy again without you.")
    screen.open_dialog(Confirm(Question("Resume all agents?", body, "resume all")), answered)


def show_other(screen: Agents) -> None:
    """Show the agent in focus, or the trades of all; a tall screen shows both."""
    screen.toggle_class("-all")


# -- skills and leashes -------------------------------------------------------------------------


def start_skill(screen: Agents) -> None:
    """Run a skill as an agent of its own."""
    screen.open_dialog(StartSkillForm(screen.state, screen.now), screen.give)


def install_skill(screen: Agents) -> None:
    """Install a skill from a folder or an archive."""
    screen.open_dialog(InstallSkillForm(screen.state, screen.now), screen.give)


def stop_skills(screen: Agents) -> None:
    """End the runs of the agent, without a confirmation."""
    for run in _runs(screen, is_alive=True):
        screen.give(StopSkill(run.run_id, _name_of(run)))


def restart_skill(screen: Agents) -> None:
    """Start its last skill again."""
    for run in _runs(screen, is_alive=False)[:1]:
        screen.give(RestartSkill(run.run_id, _name_of(run)))


def detach_skills(screen: Agents) -> None:
    """Detach the agent's runs, so that they outlive the console, or attach them."""
    for run in _runs(screen, is_alive=True):
        detached = run.state is not SkillRunState.DETACHED
        screen.give(DetachSkill(run.run_id, detached, _name_of(run)))


def _name_of(run: SkillRunView) -> str:
    return f"{run.skill_slug} as {run.agent_name}"


def _runs(screen: Agents, *, is_alive: bool) -> list[SkillRunView]:
    """The runs of the agent in focus, only those alive or all; a toast if there is none."""
    agent = screen.row_in_focus()
    if agent is None:
        return []
    runs = screen.state.supervision.runs_of(agent.agent_id)
    matching = [run for run in runs if run.state.is_alive or not is_alive]
    if not matching:
        screen.show_toast(f"no local skill runs as {agent.name}", "warn")
    return matching


def show_output(screen: Agents) -> None:
    """Show the output of the agent's newest skill, which the desk reads while it is in focus."""
    runs = _runs(screen, is_alive=False)
    if runs:
        screen.open_dialog(SkillLog(screen.state, screen.now, runs[0]))


def edit_leash(screen: Agents) -> None:
    """Edit the leash of the agent or of one of its skills: the one that binds comes first."""
    agent = screen.row_in_focus()
    if agent is not None:
        bound = strictest_leash(agent, screen.state.supervision)
        slug = "" if bound is None else bound.skill_slug
        form = LeashForm(screen.state, screen.now, agent, skill_slug=slug)
        screen.open_dialog(form, screen.give)


def edit_budget(screen: Agents) -> None:
    """Edit the day's budget of its skill; without a skill, of the agent."""
    agent = screen.row_in_focus()
    if agent is not None:
        runs = screen.state.supervision.runs_of(agent.agent_id)
        slug = runs[0].skill_slug if runs else ""
        form = LeashForm(screen.state, screen.now, agent, skill_slug=slug, budget_first=True)
        screen.open_dialog(form, screen.give)


def show_alerts(screen: Agents) -> None:
    """List the alerts on the agent, where one is set or removed."""
    agent = screen.row_in_focus()
    if agent is not None:
        screen.open_dialog(AgentAlertList(screen.state, screen.now, agent))


_GOVERNED: Final = (is_governed, can_change, has_row)
_SEVERAL: Final = (is_governed, can_change, has_rows)

ACTIONS: Final[tuple[ScreenAction[Agents], ...]] = (
    ScreenAction("agents.open", open_agent),
    ScreenAction("agents.mark", mark, requires=(has_row,)),
    ScreenAction("agents.mark_all", mark_all),
    ScreenAction("agents.pause", pause, requires=_SEVERAL),
    ScreenAction("agents.claim", claim, requires=(*_GOVERNED, is_unclaimed)),
    ScreenAction("agents.code", make_claim_code, requires=(*_GOVERNED, is_unclaimed)),
    ScreenAction("agents.plan", choose_plan, requires=_GOVERNED),
    ScreenAction(
        "agents.new_plan", choose_plan_of_new, requires=(is_governed, can_change, are_agents_loaded)
    ),
    ScreenAction("agents.key", replace_key, requires=_GOVERNED),
    ScreenAction("agents.suspend", suspend, requires=_SEVERAL),
    ScreenAction("agents.retire", retire, requires=(*_GOVERNED, is_retirable)),
    ScreenAction(
        "agents.retire_demos", retire_demos, requires=(is_governed, can_change, has_demos)
    ),
    ScreenAction("agents.start", start_skill, requires=(can_run_skills, are_skills_loaded)),
    ScreenAction("agents.install", install_skill, requires=(can_run_skills,)),
    ScreenAction("agents.stop", stop_skills, requires=(can_change, has_row)),
    ScreenAction("agents.again", restart_skill, requires=(can_change, has_row)),
    ScreenAction("agents.detach", detach_skills, requires=(can_change, has_row)),
    ScreenAction("agents.output", show_output, requires=(has_row,)),
    ScreenAction("agents.leash", edit_leash, requires=(can_change, has_row)),
    ScreenAction("agents.budget", edit_budget, requires=(can_change, has_row)),
    ScreenAction("agents.alerts", show_alerts, requires=(is_governed, has_row)),
    ScreenAction("agents.list", show_other),
    ScreenAction("agents.pause_all", pause_all, requires=(is_governed, can_change)),
    ScreenAction("agents.export", export),
)

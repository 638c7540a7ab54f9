"""What each key of the agents' screen does: to which agent, with which command, after what."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, confirm, decline, perform
from kit.samples.fleet import fleet_state, leash_of
from service_tui.console.forms.about import About
from service_tui.console.forms.choose_plan import ChoosePlan
from service_tui.console.forms.leash_form import BUDGET, THRESHOLD, LeashForm
from service_tui.console.forms.skill_log import SkillLog
from service_tui.console.screens.agents.actions import ACTIONS
from service_tui.console.screens.agents.skill_forms import InstallSkillForm, StartSkillForm
from service_tui.desk.commands.agents import (
    AgentAct,
    DetachSkill,
    ExportData,
    Govern,
    PauseAll,
    RestartSkill,
    StopSkill,
)
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.supervision import SkillRunState
from service_tui.desk.state import DeskState
from service_tui.terms import LeashMode, Plan

STATE = fleet_state()
assert STATE.fleet is not None
OWN, HERON, MOSS, TIDE, REED = STATE.fleet.agents
EMBEDDED_ONLY = "only agents of the embedded service are managed here"


def on(agent: AgentView, state: DeskState = STATE) -> StubScreen:
    return StubScreen(state, (agent, OWN))


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"agents.{key}")


def with_service(**changed: Any) -> DeskState:
    return replace(STATE, service=replace(STATE.service, **changed))


def with_runs(**changed: Any) -> DeskState:
    """The runs of the sample, that of heron changed."""
    first, *others = STATE.supervision.runs
    runs = (replace(first, **changed), *others)
    return replace(STATE, supervision=replace(STATE.supervision, runs=runs))


AT_ONCE = {
    "code": (TIDE, AgentAct.CODE),
    "pause": (HERON, AgentAct.PAUSE),
    "suspend": (HERON, AgentAct.SUSPEND),
}

ASKED = {
    "claim": (TIDE, AgentAct.CLAIM, "Claim this agent?", "claim"),
    "pause": (replace(HERON, paused=True), AgentAct.RESUME, "Resume this agent?", "resume"),
    "suspend": (replace(HERON, suspended=True), AgentAct.READMIT, "Readmit this agent?", "readmit"),
    "retire": (HERON, AgentAct.RETIRE, "Retire this agent?", "retire"),
    "key": (HERON, AgentAct.NEW_KEY, "Rotate the API key?", "new key"),
}


@pytest.mark.parametrize("key", AT_ONCE)
def test_what_takes_risk_away_is_done_at_once(key: str) -> None:
    agent, act = AT_ONCE[key]
    screen = on(agent)
    assert not press(screen, key)
    assert screen.given == [Govern(act, agent.agent_id, agent.name)]
    assert not screen.opened


@pytest.mark.parametrize("key", ASKED)
def test_what_cannot_be_undone_is_asked_about_this_agent_first(key: str) -> None:
    agent, act, title, verb = ASKED[key]
    screen = on(agent)
    assert not press(screen, key)
    assert not screen.given
    assert (screen.question.title, screen.question.confirm) == (title, verb)
    assert agent.name.split()[0] in screen.question.body.plain
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == [Govern(act, agent.agent_id, agent.name)]


def test_the_question_says_what_follows() -> None:
    told = {}
    for key in ASKED:
        screen = on(ASKED[key][0])
        press(screen, key)
        told[key] = screen.question.body.plain
    assert "may trade real money" in told["claim"]
    assert told["claim"].endswith("cannot be undone.")
    assert told["pause"] == "heron may buy again without you."
    assert told["suspend"] == "heron may trade again without you."
    assert "its open orders are cancelled" in told["retire"]
    assert told["key"].startswith("The key that heron uses now is revoked")
    assert "shown once" in told["key"]


def test_the_own_key_is_not_shown_after_it_is_replaced() -> None:
    screen = on(OWN)
    press(screen, "key")
    assert "not shown" in screen.question.body.plain
    assert "shown once" not in screen.question.body.plain


GOVERNED = ("pause", "claim", "code", "plan", "new_plan", "key", "suspend", "retire", "pause_all")
CHANGING = (*GOVERNED, "stop", "again", "detach", "leash", "budget", "start", "install")
OF_A_ROW = tuple(
    key for key in (*CHANGING, "output") if key not in {"new_plan", "pause_all", "start", "install"}
)


@pytest.mark.parametrize("key", GOVERNED)
def test_agents_of_another_service_are_not_managed_here(key: str) -> None:
    assert press(on(TIDE, with_service(embedded=False)), key) == EMBEDDED_ONLY


@pytest.mark.parametrize("key", ["stop", "again", "detach", "leash", "budget", "output"])
def test_what_is_of_this_machine_is_done_with_any_service(key: str) -> None:
    assert not press(on(HERON, with_service(embedded=False)), key)


@pytest.mark.parametrize("key", CHANGING)
def test_a_read_only_desk_changes_no_agent(key: str) -> None:
    screen = on(TIDE, with_service(read_only=True))
    assert press(screen, key) in {READ_ONLY, "this desk is read-only"}
    assert not screen.given
    assert not screen.opened


@pytest.mark.parametrize("key", OF_A_ROW)
def test_without_an_agent_nothing_is_done(key: str) -> None:
    screen = StubScreen(STATE)
    assert press(screen, key) == "select a row"


@pytest.mark.parametrize("key", ["claim", "code"])
def test_a_claimed_agent_is_not_claimed_again(key: str) -> None:
    assert press(on(HERON), key) == "already claimed"


def test_who_uses_no_slot_is_not_retired() -> None:
    assert press(on(OWN), "retire") == "agent of this desk: it uses no slot"
    assert press(on(replace(HERON, retired=True)), "retire") == "already retired"


def test_without_agents_there_is_no_plan_of_new_ones() -> None:
    assert press(StubScreen(replace(STATE, fleet=None)), "new_plan") == "agents not loaded yet"


def test_a_skill_starts_once_the_skills_have_loaded() -> None:
    early = with_service(phase=Phase.CONNECTING)
    assert not press(on(HERON, early), "start")
    bare = replace(early, supervision=replace(early.supervision, skills=()))
    assert press(on(HERON, bare), "start") == "skills not loaded yet"
    assert not press(on(HERON, replace(bare, service=STATE.service)), "start")


@pytest.mark.parametrize(
    ("key", "form"), [("start", StartSkillForm), ("install", InstallSkillForm)]
)
def test_a_form_gives_its_command(key: str, form: type) -> None:
    screen = on(HERON)
    press(screen, key)
    assert isinstance(screen.opened[-1], form)
    screen.answer("its command")
    assert screen.given == ["its command"]


def test_another_plan_is_set_and_the_same_one_is_not() -> None:
    screen = on(HERON)
    press(screen, "plan")
    assert isinstance(screen.opened[-1], ChoosePlan)
    assert (screen.opened[-1]._name, screen.opened[-1]._now) == ("heron", Plan.PRO)
    screen.answer(Plan.PRO)
    assert not screen.given
    screen.answer(Plan.ELITE)
    assert screen.given == [Govern(AgentAct.PLAN, "a-2", "heron", Plan.ELITE)]


def test_the_plan_of_new_agents_is_nobodys() -> None:
    screen = on(MOSS)
    press(screen, "new_plan")
    assert (screen.opened[-1]._name, screen.opened[-1]._now) == ("new agents", Plan.PRO)
    screen.answer(Plan.PRO)
    assert not screen.given
    screen.answer(Plan.FREE)
    assert screen.given == [Govern(AgentAct.PLAN, plan=Plan.FREE)]


def all_paused(*, but: tuple[AgentView, ...] = ()) -> DeskState:
    assert STATE.fleet is not None
    agents = tuple(
        replace(one, paused=not one.is_own and one not in but) for one in STATE.fleet.agents
    )
    return replace(STATE, fleet=replace(STATE.fleet, agents=agents))


@pytest.mark.parametrize("state", [STATE, all_paused(but=(HERON,)), replace(STATE, fleet=None)])
def test_while_one_may_buy_all_are_paused(state: DeskState) -> None:
    screen = on(HERON, state)
    press(screen, "pause_all")
    assert screen.given == [PauseAll(paused=True)]
    assert not screen.opened


def test_all_are_resumed_after_a_question() -> None:
    screen = on(HERON, all_paused())
    press(screen, "pause_all")
    assert not screen.given
    assert screen.question.title == "Resume all agents?"
    assert screen.question.body.plain == "4 agents may buy again without you."
    assert screen.question.confirm == "resume all"
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == [PauseAll(paused=False)]


NAME = "mean-reversion as heron"


def test_the_runs_of_this_agent_are_stopped() -> None:
    screen = on(HERON)
    press(screen, "stop")
    assert screen.given == [StopSkill("r1", NAME)]


def test_the_last_run_of_this_agent_is_started_again() -> None:
    first, *others = STATE.supervision.runs
    runs = (first, replace(first, run_id="r0", state=SkillRunState.STOPPED), *others)
    screen = on(HERON, replace(STATE, supervision=replace(STATE.supervision, runs=runs)))
    press(screen, "again")
    assert screen.given == [RestartSkill("r1", NAME)]


@pytest.mark.parametrize(
    ("state", "detached"), [(SkillRunState.RUNNING, True), (SkillRunState.DETACHED, False)]
)
def test_a_run_is_detached_or_attached_again(state: SkillRunState, *, detached: bool) -> None:
    screen = on(HERON, with_runs(state=state))
    press(screen, "detach")
    assert screen.given == [DetachSkill("r1", detached, NAME)]


@pytest.mark.parametrize("key", ["stop", "detach", "again", "output"])
def test_without_a_run_a_toast_says_so(key: str) -> None:
    screen = on(TIDE)
    press(screen, key)
    assert not screen.given
    assert not screen.opened
    assert screen.toasts == [(f"no local skill runs as {TIDE.name}", "warn")]


@pytest.mark.parametrize(("key", "is_done"), [("stop", False), ("detach", False), ("again", True)])
def test_a_run_that_has_ended_is_only_started_again(key: str, *, is_done: bool) -> None:
    screen = on(HERON, with_runs(state=SkillRunState.STOPPED))
    press(screen, key)
    assert len(screen.given) == is_done
    assert len(screen.toasts) == (not is_done)


def test_the_output_of_the_newest_run_is_shown() -> None:
    screen = on(HERON)
    press(screen, "output")
    (page,) = screen.opened
    assert isinstance(page, SkillLog)
    assert page._run.run_id == "r1"


def test_the_output_of_a_run_that_has_ended_can_be_read() -> None:
    screen = on(HERON, with_runs(state=SkillRunState.STOPPED))
    press(screen, "output")
    assert len(screen.opened) == 1


def test_the_leash_that_binds_most_is_edited_first() -> None:
    screen = on(REED)
    press(screen, "leash")
    form = screen.opened[-1]
    assert isinstance(form, LeashForm)
    assert form._agent == REED
    assert form.body.index(THRESHOLD) < form.body.index(BUDGET)
    screen.answer("a leash")
    assert screen.given == ["a leash"]
    assert form._subjects[form._place] == ""


def test_the_leash_of_a_skill_is_edited_first_where_it_binds_more() -> None:
    tight = leash_of("a-2", skill_slug="mean-reversion", mode=LeashMode.OBSERVE)
    leashes = (leash_of("a-2"), tight)
    screen = on(HERON, replace(STATE, supervision=replace(STATE.supervision, leashes=leashes)))
    press(screen, "leash")
    form = screen.opened[-1]
    assert form._subjects[form._place] == "mean-reversion"


@pytest.mark.parametrize(("agent", "slug"), [(HERON, "mean-reversion"), (TIDE, "")])
def test_the_budget_edited_is_that_of_the_skill_if_there_is_one(
    agent: AgentView, slug: str
) -> None:
    screen = on(agent)
    press(screen, "budget")
    form = screen.opened[-1]
    assert form._agent == agent
    assert form._subjects[form._place] == slug
    assert form.body.index(BUDGET) < form.body.index(THRESHOLD)
    screen.answer("a leash")
    assert screen.given == ["a leash"]


def test_an_agent_opens_in_its_pane_or_as_a_page() -> None:
    class Pane:
        is_focused = False

        def focus(self) -> None:
            self.is_focused = True

    pane = Pane()
    beside = on(HERON)
    beside.classes.add("-beside")
    beside.parts["#agents-detail"] = pane
    press(beside, "open")
    assert pane.is_focused
    assert not beside.opened
    screen = on(HERON)
    press(screen, "open")
    (page,) = screen.opened
    assert isinstance(page, About)
    assert page.text().plain.count("heron")
    assert "trades" in page.text().plain


def test_a_page_shows_the_agent_as_it_is_now() -> None:
    assert STATE.fleet is not None
    screen = on(HERON)
    press(screen, "open")
    (page,) = screen.opened
    later = replace(HERON, description="sleeps")
    agents = tuple(later if one == HERON else one for one in STATE.fleet.agents)
    newer = replace(STATE, fleet=replace(STATE.fleet, agents=agents))
    assert "sleeps" in page._make_text(newer, screen.now).plain
    gone = replace(STATE, fleet=None)
    assert "watches the gauges" in page._make_text(gone, screen.now).plain


def test_the_other_list_and_the_export() -> None:
    screen = on(HERON)
    press(screen, "list")
    assert screen.calls == [("toggle_class", "-all")]
    press(screen, "export")
    assert screen.given == [ExportData()]


@pytest.mark.parametrize(
    ("key", "stop", "start", "field"),
    [
        ("pause", AgentAct.PAUSE, AgentAct.RESUME, "paused"),
        ("suspend", AgentAct.SUSPEND, AgentAct.READMIT, "suspended"),
    ],
)
def test_marked_agents_are_stopped_at_once_and_started_after_one_question(
    key: str, stop: AgentAct, start: AgentAct, field: str
) -> None:
    running, stopped = replace(HERON, **{field: False}), replace(MOSS, **{field: True})
    screen = StubScreen(STATE, (OWN,), marked=(running, stopped))
    press(screen, key)
    assert screen.given == [Govern(stop, HERON.agent_id, HERON.name)]
    assert not screen.opened
    both = (replace(running, **{field: True}), stopped)
    screen = StubScreen(STATE, (OWN,), marked=both)
    press(screen, key)
    assert not screen.given
    decline(screen)
    assert not screen.given
    assert "2 agents" in screen.question.body.plain
    confirm(screen)
    assert screen.given == [Govern(start, one.agent_id, one.name) for one in both]

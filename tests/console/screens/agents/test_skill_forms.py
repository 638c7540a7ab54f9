"""The forms that start and install a skill, without an app."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import Alone
from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state
from service_tui.console.screens.agents.skill_forms import (
    BUDGET,
    EVERY,
    NAME,
    PATH,
    THRESHOLD,
    InstallSkillForm,
    StartSkillForm,
)
from service_tui.desk.commands.agents import InstallSkill, StartSkill
from service_tui.desk.slices.supervision import Pace, SkillView
from service_tui.desk.state import DeskState
from service_tui.terms import LeashMode
from service_tui.units import ONE, Micros

FLEET = fleet_state()
SKILLS = tuple(SkillView(slug, slug.title(), f"about {slug}", "1") for slug in ("ada", "bo", "cy"))
PACE, MODE = "skill-pace", "skill-mode"


def with_skills(*skills: SkillView) -> DeskState:
    return replace(FLEET, supervision=replace(FLEET.supervision, skills=skills))


def start(*skills: SkillView) -> Alone:
    return Alone(StartSkillForm(with_skills(*(skills or SKILLS)), NOW))


def started(form: Alone) -> StartSkill:
    form.dialog.action_set()
    (result,) = form.left
    return result


FIRST = StartSkill(
    "ada", Pace.LOOP, every_s=60, live=True, name="ada", mode=LeashMode.ASK,
    threshold=Micros(0), budget=Micros(20 * ONE),
)  # fmt: skip


def test_a_skill_is_started_asking_each_time_unless_it_is_changed() -> None:
    form = start()
    assert form.part(PACE).options == (("loop", "every", "once"), 0)
    assert form.part(MODE).options == (("ask", "observe", "auto"), 0)
    assert form.text("form-question") == "ada (1 of 3): about ada"
    assert "Each buy needs your approval" in form.text("form-preview")
    assert started(form) == FIRST


def test_the_typed_figures_are_those_of_the_command() -> None:
    form = start()
    form.pick(PACE, 1)
    for field, text in ((NAME, " Mine "), (EVERY, "30"), (THRESHOLD, "2.5"), (BUDGET, "7")):
        form.type(field.name, text)
    assert started(form) == replace(
        FIRST, pace=Pace.EVERY, every_s=30, name="Mine", threshold=Micros(2_500_000),
        budget=Micros(7 * ONE),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "live", "used"),
    [
        (LeashMode.ASK, True, {EVERY: False, THRESHOLD: True, BUDGET: True}),
        (LeashMode.OBSERVE, False, {EVERY: False, THRESHOLD: False, BUDGET: False}),
        (LeashMode.AUTO, True, {EVERY: False, THRESHOLD: False, BUDGET: True}),
    ],
)
def test_only_a_leash_that_watches_leaves_it_on_paper_and_figures_without_use_are_off(
    mode: LeashMode, used: dict[Any, bool], *, live: bool
) -> None:
    form = start()
    form.pick(MODE, (LeashMode.ASK, LeashMode.OBSERVE, LeashMode.AUTO).index(mode))
    assert {field: not form.part(field.name).disabled for field in used} == used
    # A figure without use is the first one, whatever stands in its line.
    for field, is_used in used.items():
        if not is_used:
            form.part(field.name).value = "nonsense"
    assert started(form) == replace(FIRST, mode=mode, live=live)


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        (THRESHOLD, "-1"), (BUDGET, "0"), (BUDGET, ""), (EVERY, "0"), (EVERY, "86401"),
        (EVERY, "1.5"),
    ],
)  # fmt: skip
def test_a_figure_out_of_bounds_starts_nothing(field: Any, typed: str) -> None:
    form = start()
    form.pick(PACE, 1)
    form.type(field.name, typed)
    form.dialog.action_set()
    assert form.left == []
    assert form.problem
    assert form.part("form-set").disabled


def test_keys_go_round_the_skills_the_paces_and_the_leashes() -> None:
    form = start()
    seen: list[tuple[str, int, int]] = []
    for _ in range(3):
        form.dialog.action_skill()
        form.dialog.action_pace()
        form.dialog.action_mode()
        slug = form.text("form-question").partition(" ")[0]
        seen.append((slug, form.part(PACE).options[1], form.part(MODE).options[1]))
    assert seen == [("bo", 1, 1), ("cy", 2, 2), ("ada", 0, 0)]


def test_the_selected_skill_stays_whatever_is_installed() -> None:
    form = start()
    form.dialog.action_skill()
    form.dialog.take(with_skills(SKILLS[2], SKILLS[1]), NOW)
    assert form.text("form-question").startswith("bo (2 of 2)")
    form.dialog.take(with_skills(SKILLS[2]), NOW)
    assert form.text("form-question").startswith("cy (1 of 1)")
    # Behind another one that is installed, the skill on the form is still the selected one.
    form.dialog.take(with_skills(SKILLS[0], SKILLS[2]), NOW)
    assert form.text("form-question").startswith("cy (2 of 2)")
    assert started(form) == replace(FIRST, skill_slug="cy", name="cy")


def test_without_a_skill_or_with_a_broken_one_nothing_starts() -> None:
    form = start(SKILLS[0].with_problem("needs python 4"))
    form.dialog.action_set()
    assert (form.left, form.problem) == ([], "needs python 4")
    form.dialog.take(with_skills(), NOW)
    assert form.problem == "no skill installed"
    form.dialog.action_skill()
    form.dialog.action_set()
    assert form.left == []


def test_a_package_is_installed_from_its_path() -> None:
    form = Alone(InstallSkillForm(FLEET, NOW))
    form.dialog.action_set()
    assert (form.left, form.problem) == ([], "Enter a folder, or a .zip or .tar archive")
    assert "Nothing of it runs yet" in form.text("form-preview")
    form.type(PATH.name, " /skills/a.zip ")
    form.dialog.action_set()
    assert form.left == [InstallSkill("/skills/a.zip")]

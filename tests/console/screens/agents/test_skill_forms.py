"""The forms that start and install a skill, by their keys, lines and text."""

from dataclasses import replace

import pytest

from kit.console.opened import opened
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
    started_text,
)
from service_tui.desk.commands.agents import InstallSkill, StartSkill
from service_tui.desk.slices.supervision import Pace, SkillView
from service_tui.desk.state import DeskState
from service_tui.terms import LeashMode
from service_tui.units import ONE, Micros

FLEET = fleet_state()
SKILLS = tuple(SkillView(slug, slug.title(), f"about {slug}", "1") for slug in ("ada", "bo", "cy"))
FIRST = StartSkill(
    "ada", Pace.LOOP, every_s=60, live=True, name="ada", mode=LeashMode.ASK,
    threshold=Micros(0), budget=Micros(20 * ONE),
)  # fmt: skip


def with_skills(*skills: SkillView) -> DeskState:
    return replace(FLEET, supervision=replace(FLEET.supervision, skills=skills))


STATE = with_skills(*SKILLS)


async def test_a_skill_is_started_asking_each_time_unless_it_is_changed() -> None:
    async with opened(StartSkillForm(STATE, NOW), STATE) as form:
        assert form.told("form-question") == "ada (1 of 3): about ada"
        assert "Each buy needs your approval" in form.told("form-preview")
        await form.press("ctrl+j")
        assert form.returned == [FIRST]
        await form.again(StartSkillForm(STATE, NOW))
        await form.press("f6")
        for field, text in ((NAME, " Mine "), (EVERY, "30"), (THRESHOLD, "2.5"), (BUDGET, "7")):
            await form.type(field.name, text)
        await form.press("ctrl+j")
        assert form.returned == [
            replace(FIRST, pace=Pace.EVERY, every_s=30, name="Mine",
                    threshold=Micros(2_500_000), budget=Micros(7 * ONE))
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("turns", "mode", "live", "used"),
    [
        (0, LeashMode.ASK, True, {THRESHOLD.name, BUDGET.name}),
        (1, LeashMode.OBSERVE, False, set[str]()),
        (2, LeashMode.AUTO, True, {BUDGET.name}),
    ],
)
async def test_figures_without_use_are_off_and_only_a_leash_that_watches_stays_on_paper(
    turns: int, mode: LeashMode, used: set[str], *, live: bool
) -> None:
    names = {EVERY.name, THRESHOLD.name, BUDGET.name}
    async with opened(StartSkillForm(STATE, NOW), STATE) as form:
        await form.press(*["f7"] * turns)
        assert {name for name in names if not form.is_off(f"{name}")} == used
        # A figure without use is the first one, whatever stands in its line.
        for name in names - used:
            await form.type(name, "nonsense")
        await form.press("ctrl+j")
        assert form.returned == [replace(FIRST, mode=mode, live=live)]


async def test_a_figure_out_of_bounds_starts_nothing() -> None:
    async with opened(StartSkillForm(STATE, NOW), STATE) as form:
        await form.press("f6")
        for field, typed in (
            (THRESHOLD, "-1"), (BUDGET, "0"), (BUDGET, ""), (EVERY, "0"), (EVERY, "86401"),
            (EVERY, "1.5"),
        ):  # fmt: skip
            before = form.line(field.name).value
            await form.type(field.name, typed)
            await form.press("ctrl+j")
            assert form.returned == []
            assert form.problem, typed
            assert form.is_off("form-set")
            await form.type(field.name, before)
        assert form.problem == ""


async def test_the_selected_skill_stays_whatever_is_installed() -> None:
    async with opened(StartSkillForm(STATE, NOW), STATE) as form:
        for name in ("bo (2", "cy (3", "ada (1", "bo (2"):
            await form.press("f5")
            assert form.told("form-question").startswith(name)
        for skills, shown in (
            (SKILLS[:0:-1], "bo (2 of 2)"), (SKILLS[2:], "cy (1 of 1)"),
            (SKILLS[::2], "cy (2 of 2)"),
        ):  # fmt: skip
            await form.bring(with_skills(*skills))
            assert form.told("form-question").startswith(shown)
        await form.bring(with_skills(SKILLS[2].with_problem("needs python 4")))
        await form.press("ctrl+j")
        assert (form.returned, form.problem) == ([], "needs python 4")
        await form.bring(with_skills())
        await form.press("f5", "ctrl+j")
        assert (form.returned, form.problem) == ([], "no skill installed")


async def test_a_package_is_installed_from_its_path() -> None:
    async with opened(InstallSkillForm(FLEET, NOW), FLEET) as form:
        await form.press("enter")
        assert (form.returned, form.problem) == ([], "Enter a folder, or a .zip or .tar archive")
        assert "Nothing of it runs yet" in form.told("form-preview")
        await form.type(PATH.name, " /skills/a.zip ")
        await form.press("enter")
        assert form.returned == [InstallSkill("/skills/a.zip")]


@pytest.mark.parametrize(
    ("pace", "name", "text"),
    [
        (Pace.LOOP, "", "Runs ebb without pause, as an agent of that name"),
        (Pace.EVERY, "heron", "Runs ebb every 90 seconds, as an agent named heron"),
        (Pace.ONCE, "ebb", "Runs ebb once, as an agent of that name"),
    ],
)
def test_what_a_start_does_is_said_in_a_sentence(pace: Pace, name: str, text: str) -> None:
    assert started_text(StartSkill("ebb", pace, 90, name=name)) == text

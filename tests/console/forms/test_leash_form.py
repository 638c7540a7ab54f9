"""A leash as it is typed: whose it is, how it is held, and what needs a second enter."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from kit.console.opened import Opened, opened
from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state, leash_of
from service_tui.console.forms.form import SECOND_THOUGHT_S
from service_tui.console.forms.leash_form import LeashForm, more_freedom, subjects_of
from service_tui.desk.commands.agents import SetLeash
from service_tui.desk.slices.supervision import LeashView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import LEASH_WAIT_S, LeashMode
from service_tui.units import ONE, Micros

FLEET = fleet_state()
STATE = replace(FLEET, seen={**FLEET.seen, Topic.FLEET: NOW})
assert STATE.fleet is not None
HERON = next(one for one in STATE.fleet.agents if one.agent_id == "a-2")
SKILL = "mean-reversion"
FIGURES = ("leash-threshold", "leash-budget", "leash-wait")
AS_IT_IS = SetLeash(
    "a-2", HERON.name, LeashMode.ASK, Micros(10 * ONE), Micros(100 * ONE), 300, ""
)  # fmt: skip


def held_by(*leashes: LeashView) -> DeskState:
    return replace(STATE, supervision=replace(STATE.supervision, leashes=leashes))


@asynccontextmanager
async def leash(state: DeskState = STATE, **given: Any) -> AsyncIterator[Opened[LeashForm]]:
    async with opened(LeashForm(state, NOW, HERON, **given), state) as seen:
        yield seen


@pytest.mark.parametrize(
    ("known", "wanted", "said"),
    [
        # More freedom, in each of its steps; less never asks.
        ({"mode": LeashMode.OBSERVE}, {"mode": LeashMode.ASK}, "allows the agent more"),
        ({"mode": LeashMode.ASK}, {"mode": LeashMode.AUTO}, "allows the agent more"),
        ({"mode": LeashMode.AUTO}, {"mode": None}, "allows the agent more"),
        ({"mode": LeashMode.AUTO}, {"mode": LeashMode.ASK}, ""),
        ({"mode": LeashMode.ASK}, {"mode": LeashMode.OBSERVE}, ""),
        (None, {"mode": LeashMode.OBSERVE}, ""),
        (None, {"mode": None}, ""),
        # A larger buy without approval.
        ({}, {"threshold": Micros(10 * ONE + 1)}, "larger buys go without approval"),
        ({}, {"threshold": Micros(10 * ONE)}, ""),
        ({"mode": LeashMode.AUTO}, {"mode": LeashMode.AUTO, "threshold": Micros(11 * ONE)}, ""),
        # More money.
        ({}, {"budget": Micros(100 * ONE + 1)}, "raises the daily budget"),
        ({}, {"budget": None}, "raises the daily budget"),
        ({}, {"budget": Micros(100 * ONE)}, ""),
        ({"budget": None}, {"budget": Micros(500 * ONE)}, ""),
        (
            {"mode": LeashMode.AUTO}, {"mode": LeashMode.AUTO, "budget": Micros(200 * ONE)},
            "raises the daily budget",
        ),
    ],
)  # fmt: skip
def test_more_freedom_and_more_money_are_confirmed(
    known: dict[str, Any] | None, wanted: dict[str, Any], said: str
) -> None:
    present = None if known is None else leash_of(**known)
    objection = more_freedom(present, replace(AS_IT_IS, **wanted))
    assert said in objection
    assert bool(objection) is bool(said)


def test_the_subjects_are_the_agent_and_every_skill_with_a_run_or_a_leash() -> None:
    state = held_by(leash_of(skill_slug="momentum"), leash_of("a-3", skill_slug="other"))
    assert subjects_of(state, HERON) == ("", SKILL, "momentum")


@pytest.mark.slow
async def test_the_form_opens_with_the_leash_that_is_on_or_asks_for_every_buy() -> None:
    async with leash() as t:
        assert t.lines(*FIGURES) == ["10.00", "100.00", "300"]
        assert "● ask" in t.told("leash-mode")
        assert t.told("form-question") == f"{HERON.name}: ask now, 82.00 spent today."
        await t.press("enter")
        assert t.returned == [AS_IT_IS]
    async with leash(held_by()) as t:
        assert t.lines(*FIGURES) == ["0", "", str(LEASH_WAIT_S)]
        assert t.told("form-question") == f"{HERON.name}: free now."
        await t.press("enter")
        (given,) = t.returned
        assert (given.mode, given.threshold, given.budget) == (LeashMode.ASK, 0, None)
    async with leash(replace(held_by(leash_of(budget=None)), seen={})) as t:
        assert t.lines(*FIGURES) == ["10.00", "", "300"]
        await t.press("enter")
        assert "not loaded yet" in t.told("form-problem")
        await t.pilot.pause(2 * SECOND_THOUGHT_S)
        await t.press("enter")
        assert len(t.returned) == 1
    async with leash(replace(held_by(), seen={})) as t:
        assert t.told("form-question") == f"{HERON.name}: permissions not loaded yet now."


@pytest.mark.slow
async def test_subjects_and_modes_come_round_by_key_and_by_click() -> None:
    auto = leash_of(skill_slug=SKILL, mode=LeashMode.AUTO, wait_s=60)
    async with leash(held_by(leash_of(), auto, leash_of(skill_slug="momentum"))) as t:
        for name, mode, wait in (
            (SKILL, "auto", "60"), ("momentum", "ask", "300"), ("whole agent", "ask", "300"),
            (SKILL, "auto", "60"),
        ):  # fmt: skip
            await t.type("leash-wait", "77")
            await t.press("f5")
            assert f"● {name}" in t.told("leash-whose")
            assert f"● {mode}" in t.told("leash-mode")
            assert t.lines("leash-wait") == [wait]
            is_skill = name != "whole agent"
            assert ("Applies to trades that name the skill" in t.told("form-preview")) is is_skill
        for mode in ("free", "observe", "ask"):
            await t.press("f7")
            assert f"● {mode}" in t.told("leash-mode")
        await t.click("leash-mode")
        assert "● observe" in t.told("leash-mode")
        await t.click("form-set")
        assert (t.returned[0].skill_slug, t.returned[0].mode) == (SKILL, LeashMode.OBSERVE)


@pytest.mark.slow
async def test_it_opens_at_the_subject_and_with_the_threshold_that_were_asked_for() -> None:
    for slug, opens_at in ((SKILL, SKILL), ("unheard of", "")):
        async with leash(held_by(), skill_slug=slug) as t:
            await t.press("f7", "f7", "enter")
            # Without a leash there is nothing else to set.
            assert t.returned == [SetLeash("a-2", HERON.name, None, skill_slug=opens_at)]
    state = held_by(leash_of(mode=LeashMode.AUTO))
    async with leash(state, threshold=Micros(25 * ONE), budget_first=True) as t:
        assert t.lines(*FIGURES) == ["25.00", "100.00", "300"]
        assert "● ask" in t.told("leash-mode")
        assert t.focused == "leash-budget"


@pytest.mark.slow
async def test_a_figure_that_is_none_is_refused() -> None:
    async with leash() as t:
        for name, text, said in (
            ("leash-threshold", "-1", "threshold"), ("leash-threshold", "", "threshold"),
            ("leash-budget", "0", "budget: above 0; empty for none"),
            ("leash-wait", "0", ""), ("leash-wait", "x", ""),
        ):  # fmt: skip
            before = t.line(name).value
            await t.type(name, text)
            assert said in t.told("form-problem").lower()
            await t.press("enter")
            assert (t.returned, t.is_off("form-set")) == ([], True)
            await t.type(name, before)

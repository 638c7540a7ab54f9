"""A leash as it is typed: whose it is, how it is held, and what needs a second enter."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state, leash_of
from service_tui.console.forms.leash_form import LeashForm, subjects_of
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


def held_by(*leashes: LeashView) -> DeskState:
    return replace(STATE, supervision=replace(STATE.supervision, leashes=leashes))


@contextmanager
def leash(state: DeskState = STATE, **given: Any) -> Iterator[Unopened[LeashForm]]:
    with unopened(LeashForm(state, NOW, HERON, **given)) as seen:
        yield seen


def shown(t: Unopened[LeashForm]) -> tuple[str, str, str]:
    names = ("leash-threshold", "leash-budget", "leash-wait")
    return tuple(t.line(name).value for name in names)  # type: ignore[return-value]


def test_the_form_opens_with_the_leash_that_is_on_and_returns_it_untouched() -> None:
    with leash() as t:
        assert shown(t) == ("10.00", "100.00", "300")
        assert "● ask" in t.text("leash-mode")
        assert t.text("form-question") == f"{HERON.name}: ask now, 82.00 spent today."
        t.submit("leash-threshold")
        assert t.returned == [
            SetLeash("a-2", HERON.name, LeashMode.ASK, Micros(10 * ONE), Micros(100 * ONE), 300, "")
        ]


def test_without_a_leash_it_begins_at_asking_for_every_buy() -> None:
    with leash(held_by()) as t:
        assert shown(t) == ("0", "", str(LEASH_WAIT_S))
        assert "● ask" in t.text("leash-mode")
        assert t.text("form-question") == f"{HERON.name}: free now."
        t.submit("leash-threshold")
        (given,) = t.returned
        assert (given.mode, given.threshold, given.budget) == (LeashMode.ASK, 0, None)


def test_a_leash_with_no_budget_shows_none() -> None:
    with leash(held_by(leash_of(budget=None))) as t:
        assert shown(t) == ("10.00", "", "300")


def test_the_subjects_are_the_agent_and_every_skill_with_a_run_or_a_leash() -> None:
    state = held_by(leash_of(skill_slug="momentum"), leash_of("a-3", skill_slug="other"))
    assert subjects_of(state, HERON) == ("", SKILL, "momentum")


@pytest.mark.slow
def test_the_subject_comes_round_by_key_and_by_click_with_its_own_figures() -> None:
    state = held_by(leash_of(), leash_of(skill_slug=SKILL, mode=LeashMode.AUTO, wait_s=60))
    own, skills = ("10.00", "100.00", "300"), ("10.00", "100.00", "60")
    with leash(state) as t:
        for act, is_skill in (
            (t.form.action_whose, True),
            (t.form.action_whose, False),
            (lambda: t.pick("leash-whose", 1), True),
            (lambda: t.pick("leash-whose", 0), False),
            (lambda: t.pick("leash-whose", 1), True),
        ):
            t.type("leash-wait", "77")
            act()
            assert shown(t) == (skills if is_skill else own)
            assert f"● {SKILL if is_skill else 'whole agent'}" in t.text("leash-whose")
            assert ("● auto" if is_skill else "● ask") in t.text("leash-mode")
            assert ("Applies to trades that name the skill" in t.text("form-preview")) is is_skill
        t.submit("leash-wait")
        assert (t.returned[0].skill_slug, t.returned[0].mode) == (SKILL, LeashMode.AUTO)


@pytest.mark.parametrize(("slug", "opens_at"), [(SKILL, SKILL), ("", ""), ("unheard of", "")])
def test_it_opens_at_the_subject_that_was_asked_for(slug: str, opens_at: str) -> None:
    with leash(skill_slug=slug) as t:
        t.form.action_mode()
        t.form.action_mode()
        t.submit("leash-wait")
        t.end_waits()
        t.submit("leash-wait")
        # Without a leash there is nothing else to set.
        assert t.returned == [SetLeash("a-2", HERON.name, None, skill_slug=opens_at)]


def test_modes_come_round_by_key_and_by_click() -> None:
    with leash() as t:
        for mode in ("auto", "free", "observe", "ask", "auto"):
            t.form.action_mode()
            assert f"● {mode}" in t.text("leash-mode")
        for place, mode in enumerate(("observe", "ask", "auto", "free")):
            t.pick("leash-mode", place)
            assert f"● {mode}" in t.text("leash-mode")


def test_a_threshold_that_is_brought_asks_above_it() -> None:
    state = held_by(leash_of(mode=LeashMode.AUTO))
    with leash(state, threshold=Micros(25 * ONE), budget_first=True) as t:
        assert shown(t) == ("25.00", "100.00", "300")
        assert "● ask" in t.text("leash-mode")
        assert [one.id for one in t.form.query("PlainInput")] == [
            "leash-budget", "leash-threshold", "leash-wait",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("known", "typed", "said"),
    [
        # More freedom, in each of its steps; less never asks.
        ({"mode": LeashMode.OBSERVE}, {"mode": 1}, "loosens the leash"),
        ({"mode": LeashMode.ASK}, {"mode": 2}, "loosens the leash"),
        ({"mode": LeashMode.AUTO}, {"mode": 3}, "loosens the leash"),
        ({"mode": LeashMode.AUTO}, {"mode": 1}, ""),
        ({"mode": LeashMode.ASK}, {"mode": 0}, ""),
        # A larger buy without approval.
        ({}, {"threshold": "10.01"}, "larger buys go without approval"),
        ({}, {"threshold": "10"}, ""),
        ({}, {"threshold": "9.99"}, ""),
        ({"mode": LeashMode.AUTO}, {"threshold": "10.01"}, ""),
        # More money.
        ({}, {"budget": "100.01"}, "raises the daily budget"),
        ({}, {"budget": ""}, "raises the daily budget"),
        ({}, {"budget": "100"}, ""),
        ({}, {"budget": "99"}, ""),
        ({"budget": None}, {"budget": "500"}, ""),
        ({"mode": LeashMode.AUTO}, {"budget": "200"}, "raises the daily budget"),
    ],
)
def test_more_freedom_and_more_money_need_a_second_enter(
    known: dict[str, Any], typed: dict[str, Any], said: str
) -> None:
    with leash(held_by(leash_of(**known))) as t:
        if "mode" in typed:
            t.pick("leash-mode", typed["mode"])
        for name in ("threshold", "budget"):
            if name in typed:
                t.type(f"leash-{name}", typed[name])
        t.submit("leash-wait")
        assert said in t.text("form-problem")
        assert len(t.returned) == (not said)


def test_a_leash_that_is_not_loaded_yet_is_not_told_as_free() -> None:
    state = replace(held_by(), seen={})
    with leash(state) as t:
        assert t.text("form-question") == f"{HERON.name}: leash not loaded yet now."
        t.submit("leash-wait")
        assert (t.returned, t.text("form-problem")) == (
            [], "Current leash not loaded yet. Enter again to set this one.",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("leash-threshold", "-1", "threshold"),
        ("leash-budget", "0", "budget: above 0; empty for none"),
        ("leash-wait", "0", ""),
        ("leash-wait", "x", ""),
        ("leash-threshold", "", "threshold"),
    ],
)
def test_a_figure_that_is_none_is_refused(name: str, text: str, said: str) -> None:
    with leash() as t:
        t.type(name, text)
        assert said in t.text("form-problem").lower()
        t.submit(name)
        assert t.returned == []


def test_the_key_goes_from_subject_to_subject_in_their_order() -> None:
    state = held_by(leash_of(), leash_of(skill_slug="momentum"))
    with leash(state) as t:
        for name in (SKILL, "momentum", "whole agent", SKILL):
            t.form.action_whose()
            assert f"● {name}" in t.text("leash-whose")

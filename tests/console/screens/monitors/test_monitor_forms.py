"""Thresholds of many monitors at once, without an app: what is changed, and what is confirmed."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import Alone
from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.monitor_draft import Change
from service_tui.console.screens.monitors.forms import STOP, TARGET, MonitorMany, change_line
from service_tui.desk.slices.risk import MonitorState, MonitorView
from service_tui.desk.state import DeskState

STATE = guarded_state()
HELD = replace(
    STATE.risk.monitors[0], state=MonitorState.WATCHING, stop_pct=0.2, target_pct=0.5, entry=0.5,
    mark=0.45, trail_pct=None,
)  # fmt: skip
OTHER = replace(STATE.risk.monitors[1], **{
    name: getattr(HELD, name) for name in ("state", "stop_pct", "target_pct", "entry", "mark")
})  # fmt: skip
CLOSED = replace(STATE.risk.monitors[2], state=MonitorState.CLOSED)


def having(*monitors: MonitorView) -> DeskState:
    return replace(STATE, risk=replace(STATE.risk, monitors=monitors))


def many(*monitors: MonitorView) -> Alone:
    return Alone(MonitorMany(having(*monitors), NOW, monitors))


def preview(form: Alone) -> str:
    return form.text("form-preview")


def test_only_monitors_that_change_are_counted_and_set() -> None:
    same = replace(OTHER, stop_pct=0.3)
    form = many(HELD, same, CLOSED)
    assert form.text("form-question") == "3 monitors"
    assert preview(form) == "no change yet, 1 closed or exiting left out"
    assert form.problem.startswith("Enter a stop or a target")
    form.type(STOP.name, "30")
    assert preview(form) == "1 change, 1 unchanged, 1 closed or exiting left out"
    form.dialog.action_set()
    (asked,) = form.opened
    assert isinstance(asked, ConfirmMany)
    assert form.left == []
    form.answer(result=True)
    ((change,),) = form.left
    assert change.monitor == HELD
    assert (change.thresholds.stop_pct, change.thresholds.target_pct) == (0.3, 0.5)


@pytest.mark.parametrize("answer", [False, None])
def test_changes_that_are_not_confirmed_are_not_set(answer: Any) -> None:
    form = many(HELD, OTHER)
    form.type(TARGET.name, "60")
    assert preview(form) == "2 change, 0 unchanged"
    form.dialog.action_set()
    form.answer(answer)
    assert form.left == []
    form.dialog.action_set()
    assert len(form.opened) == 2


@pytest.mark.parametrize(
    ("monitors", "text"),
    [
        ((HELD,), "1 of 1 monitor changes and become manual."),
        ((HELD, OTHER), "2 of 2 monitors change and become manual."),
        ((HELD, CLOSED), "1 of 2 monitors changes and become manual."),
    ],
)
def test_the_confirmation_names_how_many_change_of_how_many(
    monitors: tuple[MonitorView, ...], text: str
) -> None:
    form = many(*monitors)
    form.type(TARGET.name, "60")
    form.dialog.action_set()
    body = form.opened[0]._question.body.plain
    assert body.splitlines()[0] == text
    assert "sold at once" not in body


def test_what_would_be_sold_at_once_is_said_before_and_in_the_confirmation() -> None:
    # Bought at 0.5 and now at 0.45: a stop of a twentieth is passed already.
    form = many(HELD, replace(OTHER, mark=0.5))
    form.type(STOP.name, "5")
    assert preview(form).splitlines() == ["2 change, 0 unchanged", "1 sold at once"]
    form.dialog.action_set()
    assert "1 already past the new threshold: sold at once." in form.opened[0]._question.body.plain


def test_monitors_that_are_gone_meanwhile_are_left_out_and_counted() -> None:
    form = many(HELD, OTHER)
    form.type(STOP.name, "30")
    changed = replace(OTHER, stop_pct=0.3)
    form.dialog.take(having(changed), NOW)
    assert form.text("form-question") == "1 monitor, 1 removed meanwhile"
    assert form.problem == "No change: all have these thresholds already"
    form.dialog.take(having(changed, HELD), NOW)
    # One that was left out stays out, also when it comes back.
    assert form.text("form-question") == "1 monitor, 1 removed meanwhile"
    form.dialog.take(having(), NOW)
    assert form.text("form-question") == "0 monitors, 2 removed meanwhile"
    assert form.problem.startswith("No monitors left.")
    form.dialog.action_set()
    assert (form.left, form.opened) == ([], [])


def test_a_line_tells_each_threshold_before_and_after() -> None:
    thresholds = replace(HELD.thresholds, stop_pct=None, target_pct=0.5)
    lines = change_line(Change(HELD, thresholds)).plain.splitlines()
    assert lines[0].startswith(HELD.side.value.upper())
    assert lines[1].strip() == "stop 20 % → off, target 50 %"
    sold = change_line(Change(HELD, replace(HELD.thresholds, stop_pct=0.05))).plain
    assert sold.endswith("stop 20 % → 5 %, target 50 %, past its stop: sold at once")

"""Thresholds of many monitors at once: what is changed, and what is confirmed."""

from dataclasses import replace

from kit.console.opened import opened
from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.monitor_draft import Change
from service_tui.console.screens.monitors.forms import STOP, TARGET, MonitorMany, change_line
from service_tui.desk.slices.risk import MonitorState, MonitorView
from service_tui.desk.state import DeskState

STATE = guarded_state()
HELD = replace(
    STATE.risk.monitors[0], state=MonitorState.WATCHING, stop_loss_pct=0.2, take_profit_pct=0.5,
    entry=0.5, mark=0.45, trailing_stop_pct=None,
)  # fmt: skip
OTHER = replace(STATE.risk.monitors[1], **{
    name: getattr(HELD, name)
    for name in ("state", "stop_loss_pct", "take_profit_pct", "entry", "mark")
})  # fmt: skip
CLOSED = replace(STATE.risk.monitors[2], state=MonitorState.CLOSED)


def having(*monitors: MonitorView) -> DeskState:
    return replace(STATE, risk=replace(STATE.risk, monitors=monitors))


def many(*monitors: MonitorView) -> MonitorMany:
    return MonitorMany(having(*monitors), NOW, monitors)


async def test_only_monitors_that_change_are_counted_and_set_once_confirmed() -> None:
    three = (HELD, replace(OTHER, stop_loss_pct=0.3), CLOSED)
    async with opened(many(*three), having(*three)) as form:
        assert form.told("form-question") == "3 monitors"
        assert form.told("form-preview") == "no change yet, 1 closed or being sold left out"
        assert form.problem.startswith("Enter a stop or a target")
        await form.type(STOP.name, "30")
        assert form.told("form-preview") == "1 change, 1 unchanged, 1 closed or being sold left out"
        await form.press("enter")
        assert isinstance(form.app.screen, ConfirmMany)
        assert "1 of 3 monitors changes and become manual." in form.text
        await form.press("escape")
        assert form.returned == []
        await form.press("enter")
        await form.armed()
        await form.press("y")
        ((change,),) = form.returned
        assert change.monitor == HELD
        assert (change.thresholds.stop_loss_pct, change.thresholds.take_profit_pct) == (0.3, 0.5)


async def test_what_would_be_sold_at_once_is_said_before_and_in_the_confirmation() -> None:
    # Bought at 0.5 and now at 0.45: a stop of a twentieth is passed already.
    two = (HELD, replace(OTHER, mark=0.5))
    async with opened(many(*two), having(*two)) as form:
        await form.type(TARGET.name, "60")
        assert form.told("form-preview") == "2 change, 0 unchanged"
        await form.press("enter")
        assert "2 of 2 monitors change and become manual." in form.text
        assert "sold at once" not in form.text
        await form.press("escape")
        await form.type(STOP.name, "5")
        assert form.told("form-preview").splitlines()[1:] == ["1 sold at once"]
        await form.press("enter")
        assert "1 already past the new threshold: sold at once." in form.text


async def test_monitors_that_are_gone_meanwhile_are_left_out_and_counted() -> None:
    async with opened(many(HELD, OTHER), having(HELD, OTHER)) as form:
        await form.type(STOP.name, "30")
        changed = replace(OTHER, stop_loss_pct=0.3)
        await form.bring(having(changed))
        assert form.told("form-question") == "1 monitor, 1 removed meanwhile"
        assert form.problem == "No change: all have these thresholds already"
        # One that was left out stays out, also when it comes back.
        await form.bring(having(changed, HELD))
        assert form.told("form-question") == "1 monitor, 1 removed meanwhile"
        await form.bring(having())
        assert form.told("form-question") == "0 monitors, 2 removed meanwhile"
        await form.press("enter")
        assert form.app.screen is form.dialog
        assert form.returned == []


def test_a_line_tells_each_threshold_before_and_after() -> None:
    thresholds = replace(HELD.thresholds, stop_loss_pct=None, take_profit_pct=0.5)
    lines = change_line(Change(HELD, thresholds)).plain.splitlines()
    assert lines[0].startswith(HELD.side.value.upper())
    assert lines[1].strip() == "stop 20 % → off, target 50 %"
    sold = change_line(Change(HELD, replace(HELD.thresholds, stop_loss_pct=0.05))).plain
    assert sold.endswith("stop 20 % → 5 %, target 50 %, past its stop: sold at once")

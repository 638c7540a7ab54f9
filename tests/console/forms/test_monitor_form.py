"""A monitor as it is typed: percent and price of each threshold, and what an exit brings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW, sample_state
from kit.samples.risk import monitor_of
from service_tui.console.formats import NOT_KNOWN
from service_tui.console.forms.monitor_form import MonitorForm
from service_tui.desk.slices.risk import MonitorView, RiskView, Thresholds
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, Timestamp

BARE = replace(sample_state(), positions=(), risk=RiskView())
MONITOR = monitor_of(shares=Micros(50 * ONE), entry=0.5, mark=0.45, stop_pct=0.2)


def of(monitor: MonitorView) -> DeskState:
    return replace(BARE, risk=RiskView(monitors=(monitor,)))


@contextmanager
def form(**changes: Any) -> Iterator[Unopened[MonitorForm]]:
    about = replace(MONITOR, **changes)
    dialog = MonitorForm(of(about), NOW, about)
    with unopened(dialog) as seen:
        # The base, which an app calls too, shows the parts.
        super(MonitorForm, dialog).on_mount()
        yield seen


def shown(t: Unopened[MonitorForm]) -> list[str]:
    names = ("stop-percent", "stop-price", "target-percent", "target-price")
    return [t.line(name).value for name in names]


def test_the_form_opens_with_what_is_set_and_returns_it_untouched() -> None:
    with form(target_pct=0.5, trail_pct=0.05, exit_at=Timestamp(NOW + 7_200)) as t:
        assert shown(t) == ["20", "0.4", "50", "0.75"]
        assert (t.line("trail").value, t.line("exit-at").value) == ("5%", "2h")
        t.submit("stop-percent")
        (change,) = t.returned
        assert change.is_same_as(t.form._monitor)


def test_a_position_without_a_monitor_begins_with_the_usual_stop() -> None:
    with form(stop_pct=None) as t:
        assert shown(t) == ["20", "0.4", "", ""]
        assert t.text("form-about").endswith("not protected yet")


def test_what_is_typed_as_percent_is_shown_as_price_and_the_other_way() -> None:
    with form() as t:
        for line, text, now in (
            ("stop-percent", "10", ["10", "0.45", "", ""]),
            ("stop-price", "0.35", ["30", "0.35", "", ""]),
            ("target-price", "0.75", ["30", "0.35", "50", "0.75"]),
            ("target-percent", "20", ["30", "0.35", "20", "0.6"]),
            ("stop-price", "0.6", ["", "0.6", "20", "0.6"]),
            ("target-percent", "x", ["", "0.6", "x", ""]),
        ):
            t.type(line, text)
            assert shown(t) == now
        t.type("trail", "5%")
        assert shown(t) == ["", "0.6", "x", ""]


def test_the_change_has_the_threshold_that_was_typed_last() -> None:
    with form(mark=0.48) as t:
        t.type("stop-percent", "10")
        t.type("stop-price", "0.35")
        t.type("target-price", "0.75")
        t.type("trail", "3pt")
        t.type("exit-at", "2h")
        t.submit("trail")
        (change,) = t.returned
        wanted = change.thresholds
        assert wanted.stop_pct == pytest.approx(0.3)
        assert wanted.target_pct == pytest.approx(0.5)
        assert (wanted.trail_pct, wanted.trail_points) == (None, pytest.approx(0.03))
        assert wanted.exit_at == NOW + 7_200


def test_a_price_of_an_unknown_entry_cannot_be_typed() -> None:
    with form(entry=None) as t:
        assert (t.is_disabled("stop-price"), t.is_disabled("target-price")) == (True, True)
        assert shown(t) == ["20", "", "", ""]
    with form() as t:
        assert (t.is_disabled("stop-price"), t.is_disabled("target-price")) == (False, False)


def test_a_newer_state_derives_anew_and_a_sold_position_sets_nothing() -> None:
    with form() as t:
        t.form.take(of(replace(MONITOR, entry=0.6)), NOW)
        assert shown(t)[:2] == ["20", "0.48"]
        t.form.take(BARE, NOW)
        assert t.text("form-problem") == "Position closed. esc cancels"
        t.submit("trail")
        assert t.returned == []
        t.form.take(of(MONITOR), NOW)
        assert (t.text("form-problem"), shown(t)[1]) == ("", "0.4")


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        ("stop-percent", "10", "stop"),
        ("stop-price", "0.46", "stop"),
        ("target-price", "0.44", None),
        ("stop-percent", "11", ""),
    ],
)
def test_a_threshold_that_the_mark_has_passed_needs_a_second_enter(
    line: str, text: str, said: str | None
) -> None:
    with form() as t:
        t.type(line, text)
        t.submit(line)
        if said is None:
            assert "must be above the entry" in t.text("form-problem")
            return
        assert len(t.returned) == (not said)
        if said:
            told = f"Mark already past this {said}. Enter again sets and exits"
            assert t.text("form-problem") == told
            t.end_waits()
            t.submit(line)
            assert len(t.returned) == 1


def rows(t: Unopened[MonitorForm]) -> dict[str, list[str]]:
    lines = t.text("form-preview").splitlines()
    return {line[:14].strip(): line[14:].split() for line in lines}


def test_the_preview_has_what_an_exit_brings_now_and_at_each_threshold() -> None:
    with form(target_pct=0.5) as t:
        # 50 shares at 0.45 bring 22 of 22.50 now: 44 of 45 parts of the mark.
        assert rows(t) == {
            "": ["price", "proceeds", "$", "P&L", "$"],
            "if sold now": ["0.450", "22.00", "-3.00"],
            "if stopped out": ["0.400", "19.56", "-5.44"],
            "at target": ["0.750", "36.67", "+11.67"],
        }


def test_what_is_off_or_unknown_is_a_dash_and_the_floor_stays_while_another_line_is_wrong() -> None:
    with form() as t:
        assert rows(t)["at target"] == [NOT_KNOWN] * 3
        t.type("target-percent", "x")
        assert rows(t)["if stopped out"][0] == "0.400"
        t.type("exit-at", "x")
        assert rows(t)["if stopped out"][0] == "0.400"
        t.type("exit-at", "")
        t.type("trail", "1pt")
        assert rows(t)["if stopped out"][0] == "0.440"
        t.type("target-percent", "")
        assert rows(t)["if stopped out"][0] == "0.440"
        t.type("stop-percent", "x")
        assert rows(t)["if stopped out"] == [NOT_KNOWN] * 3


@pytest.mark.parametrize(("width", "has_percent"), [(49, False), (50, True)])
def test_a_wide_form_has_the_way_from_the_entry_too(
    monkeypatch: pytest.MonkeyPatch, width: int, *, has_percent: bool
) -> None:
    monkeypatch.setattr(MonitorForm, "text_width", width)
    with form() as t:
        assert ("from entry" in t.text("form-preview")) is has_percent
        assert ("-10.0" in t.text("form-preview")) is has_percent


def test_a_row_of_real_money_names_its_money() -> None:
    with form(venue=Venue.EVM) as t:
        assert t.text("form-preview").startswith("in ")
        assert "$" not in t.text("form-preview").splitlines()[0]


def test_masked_amounts_stay_masked() -> None:
    about = replace(MONITOR, shares=Micros(77 * ONE))
    state = replace(of(about), preferences={"privacy": "on"})
    with unopened(MonitorForm(state, NOW, about)) as t:
        t.form.refresh_form()
        assert "77" not in t.text("form-about")
        assert "22.00" not in t.text("form-preview")
        assert "-3.00" not in t.text("form-preview")
        assert "0.450" in t.text("form-preview")


@pytest.mark.parametrize(
    ("changes", "typed", "said"),
    [
        ({}, {"target-percent": "100"}, "Target above 1: never reached."),
        ({}, {"target-percent": "99"}, "Setting makes it manual"),
        ({"automatic": False}, {}, "A breach sells all shares"),
        ({"stop_pct": None}, {}, "A breach sells all shares"),
        ({}, {"trail": "5%"}, "The trailing stop rises with the mark and never falls."),
        ({}, {"exit-at": "2h"}, "Sells all "),
        ({}, {"stop-percent": "x"}, "Setting makes it manual"),
    ],
)
def test_the_hint_says_what_matters_most(
    changes: dict[str, Any], typed: dict[str, str], said: str
) -> None:
    with form(**changes) as t:
        for name, text in typed.items():
            t.type(name, text)
        assert t.text("form-hint").startswith(said)


def test_nothing_left_to_watch_is_refused() -> None:
    with form() as t:
        t.type("stop-percent", "off")
        assert t.text("form-problem").startswith("Enter a stop, a target, a trailing stop")
        assert "removes the monitor" in t.text("form-problem")
        t.type("target-percent", "30")
        t.submit("target-percent")
        assert t.returned[0].thresholds == Thresholds(target_pct=pytest.approx(0.3))


def test_the_form_says_whose_monitor_it_is() -> None:
    for automatic, kind in ((True, "auto (on buy)"), (False, "manual")):
        with form(automatic=automatic) as t:
            assert t.text("form-about") == f"YES on sim   50.00 shares, entry 0.500   {kind}"

"""A monitor as it is typed: percent and price of each threshold, and what an exit brings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from kit.console.opened import Opened, opened
from kit.samples.desk import NOW, sample_state
from kit.samples.risk import monitor_of
from service_tui.console.formats import NOT_KNOWN
from service_tui.console.forms.form import SECOND_THOUGHT_S
from service_tui.console.forms.monitor_form import MonitorForm
from service_tui.desk.slices.risk import MonitorView, RiskView, Thresholds
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, Timestamp

pytestmark = pytest.mark.slow

BARE = replace(sample_state(), positions=(), risk=RiskView())
MONITOR = monitor_of(shares=Micros(50 * ONE), entry=0.5, mark=0.45, stop_loss_pct=0.2)
LINES = ("stop-percent", "stop-price", "target-percent", "target-price")


def of(monitor: MonitorView) -> DeskState:
    return replace(BARE, risk=RiskView(monitors=(monitor,)))


@asynccontextmanager
async def form(
    size: tuple[int, int] = (100, 30), preferences: dict[str, str] | None = None, **changes: Any
) -> AsyncIterator[Opened[MonitorForm]]:
    about = replace(MONITOR, **changes)
    state = replace(of(about), preferences=preferences or {})
    async with opened(MonitorForm(state, NOW, about), state, size) as seen:
        yield seen


def rows(t: Opened[MonitorForm]) -> dict[str, list[str]]:
    lines = t.told("form-preview").splitlines()
    return {line[:14].strip(): line[14:].split() for line in lines}


async def test_what_is_set_comes_back_untouched_and_a_bare_position_begins_with_a_stop() -> None:
    async with form(
        take_profit_pct=0.5, trailing_stop_pct=0.05, exit_at=Timestamp(NOW + 7_200)
    ) as t:
        assert t.lines(*LINES, "trail", "exit-at") == ["20", "0.4", "50", "0.75", "5%", "2h"]
        assert t.told("form-about") == "YES on sim   50.00 shares, entry 0.500   auto (on buy)"
        await t.press("enter")
        assert t.returned[0].is_same_as(t.returned[0].monitor)
    async with form(stop_loss_pct=None) as t:
        assert t.lines(*LINES) == ["20", "0.4", "", ""]
        assert t.told("form-about").endswith("not protected yet")
        assert t.told("form-hint").startswith("A breach sells all shares")
    async with form(automatic=False) as t:
        assert t.told("form-about").endswith("manual")
        assert t.told("form-hint").startswith("A breach sells all shares")


async def test_percent_and_price_follow_each_other_and_the_last_typed_is_set() -> None:
    async with form() as t:
        for line, text, now in (
            ("stop-percent", "10", ["10", "0.45", "", ""]),
            ("target-price", "0.75", ["10", "0.45", "50", "0.75"]),
            ("target-percent", "20", ["10", "0.45", "20", "0.6"]),
            ("stop-price", "0.6", ["", "0.6", "20", "0.6"]),
            ("target-percent", "x", ["", "0.6", "x", ""]),
            ("stop-price", "0.35", ["30", "0.35", "x", ""]),
            ("target-price", "0.75", ["30", "0.35", "50", "0.75"]),
            ("trail", "3pt", ["30", "0.35", "50", "0.75"]),
            ("exit-at", "2h", ["30", "0.35", "50", "0.75"]),
        ):
            await t.type(line, text)
            assert t.lines(*LINES) == now
        await t.press("enter")
        wanted = t.returned[0].thresholds
        assert (wanted.stop_loss_pct, wanted.take_profit_pct) == (
            pytest.approx(0.3),
            pytest.approx(0.5),
        )
        assert (wanted.trailing_stop_pct, wanted.trailing_stop_points) == (
            None,
            pytest.approx(0.03),
        )
        assert wanted.exit_at == NOW + 7_200
    async with form(entry=None) as t:
        assert (t.is_off("stop-price"), t.is_off("target-price")) == (True, True)
        assert t.lines(*LINES) == ["20", "", "", ""]


async def test_a_newer_state_derives_anew_and_a_sold_position_sets_nothing() -> None:
    async with form() as t:
        await t.bring(of(replace(MONITOR, entry=0.6)))
        assert t.lines(*LINES)[:2] == ["20", "0.48"]
        await t.bring(BARE)
        assert t.told("form-problem") == "Position closed. esc cancels"
        await t.press("enter")
        assert t.returned == []
        await t.bring(of(MONITOR))
        assert (t.told("form-problem"), t.lines(*LINES)[1]) == ("", "0.4")


async def test_a_threshold_that_the_mark_has_passed_needs_a_second_enter() -> None:
    async with form() as t:
        await t.type("target-price", "0.44")
        assert "must be above the entry" in t.told("form-problem")
        await t.type("target-price", "")
        await t.type("stop-percent", "10")
        await t.press("enter")
        assert t.told("form-problem") == "Mark already past this stop. Enter again sets and sells"
        await t.pilot.pause(2 * SECOND_THOUGHT_S)
        await t.press("enter")
        assert len(t.returned) == 1
    async with form() as t:
        await t.type("stop-percent", "11")
        await t.press("enter")
        assert len(t.returned) == 1


async def test_the_preview_has_what_an_exit_brings_now_and_at_each_threshold() -> None:
    async with form(size=(50, 30), take_profit_pct=0.5) as t:
        # 50 shares at 0.45 bring 22 of 22.50 now: 44 of 45 parts of the mark.
        assert rows(t) == {
            "": ["price", "proceeds", "$", "P&L", "$"],
            "if sold now": ["0.450", "22.00", "-3.00"],
            "if stopped out": ["0.400", "19.56", "-5.44"],
            "at target": ["0.750", "36.67", "+11.67"],
        }
        await t.pilot.resize_terminal(100, 30)
        await t.pilot.pause()
        assert rows(t)["if sold now"] == ["0.450", "-10.0%", "22.00", "-3.00"]
    async with form(size=(50, 30), venue=Venue.EVM) as t:
        assert t.told("form-preview").startswith("in ")
        assert "$" not in t.told("form-preview").splitlines()[0]
        assert rows(t)["at target"] == [NOT_KNOWN] * 3
        # The floor stays in sight while another line is wrong.
        for line, text, price in (
            ("target-percent", "x", "0.400"), ("exit-at", "x", "0.400"), ("exit-at", "", "0.400"),
            ("trail", "1pt", "0.440"), ("target-percent", "", "0.440"),
            ("stop-percent", "x", NOT_KNOWN),
        ):  # fmt: skip
            await t.type(line, text)
            assert rows(t)["if stopped out"][0] == price
    async with form(preferences={"privacy": "on"}, shares=Micros(77 * ONE)) as t:
        assert "0.450" in t.told("form-preview")
        for amount in ("77", "33.", "-3.00"):
            assert amount not in t.text


async def test_the_hint_says_what_matters_most_and_nothing_to_watch_is_refused() -> None:
    async with form() as t:
        for line, text, said in (
            ("target-percent", "100", "Target above 1: never reached."),
            ("target-percent", "99", "Saving replaces the automatic stop"),
            ("trail", "5%", "The trailing stop rises with the mark and never falls."),
            ("exit-at", "2h", "The trailing stop rises with the mark and never falls. Sells all "),
            ("trail", "", "Sells all "),
            ("stop-percent", "x", "Saving replaces the automatic stop"),
        ):
            await t.type(line, text)
            assert t.told("form-hint").startswith(said)
    async with form() as t:
        await t.type("stop-percent", "off")
        assert t.told("form-problem").startswith("Enter a stop, a target, a trailing stop")
        assert "removes the monitor" in t.told("form-problem")
        await t.type("target-percent", "30")
        await t.press("enter")
        assert t.returned[0].thresholds == Thresholds(take_profit_pct=pytest.approx(0.3))

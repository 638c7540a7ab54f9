"""The settings screen: rows, forms, and values that cannot be read."""

from dataclasses import replace

import pytest
from textual.widgets import Input

from kit.console.doors import DATA_PATH, LOG_PATH, Running, running, seen_before
from kit.console.snapshot import assert_snapshot
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.about import About
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.form import Form
from service_tui.console.screens.settings.detail import about_text, describe, describe_shortly
from service_tui.console.screens.settings.screen import SettingsScreen
from service_tui.console.screens.settings.table import SettingRow, settings
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.numbered_view import ProgramInfo
from service_tui.desk.commands.buy_limits import SetBuyLimit
from service_tui.desk.slices.buy_limits import RULES, BuyLimit
from service_tui.desk.slices.service import ServiceView
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Venue
from service_tui.units import ONE, Timestamp

STATE = seen_before(sample_state())
STATE = replace(STATE, preferences={**STATE.preferences, "theme": "night"})
AROUND = ProgramInfo(LOG_PATH, DATA_PATH, ("night", "paper"))


def row(key: str, state: DeskState = STATE, now: float = NOW) -> SettingRow:
    return next(
        one for one in settings(ViewContext.of(state, Timestamp(now)), "night") if one.key == key
    )


def detail(key: str, state: DeskState = STATE, now: float = NOW) -> str:
    return describe(row(key, state, now), ViewContext.of(state, Timestamp(now))).plain


async def on(seen: Running, key: str) -> None:
    front = seen.app.front
    assert isinstance(front, SettingsScreen)
    front.focus_row(key)
    await seen.pilot.pause()
    assert front.current_row() == key


async def edit(seen: Running, key: str) -> Form[object]:
    await on(seen, key)
    await seen.press("e")
    await seen.until(lambda: isinstance(seen.app.screen, Form))
    form = seen.app.screen
    assert isinstance(form, Form)
    return form


async def write(seen: Running, name: str, text: str) -> None:
    line = seen.app.screen.query_one(f"#{name}", Input)
    line.value = text
    await seen.pilot.pause()


async def confirm(seen: Running, key: str = "y") -> None:
    await seen.until(lambda: isinstance(seen.app.screen, Confirm) and seen.app.screen.is_armed)
    await seen.press(key)
    await seen.until(lambda: not isinstance(seen.app.screen, Confirm))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40)])
async def test_the_screen_looks_so(size: tuple[int, int]) -> None:
    themes = ("night", "harbor") if size == (120, 40) else ("night",)
    async with running(STATE, first="settings", size=size) as seen:
        await assert_snapshot(seen.pilot, f"settings_{size[0]}x{size[1]}", themes=themes)


# -- limits ---------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_limit_that_is_loosened_is_asked_once_more_and_can_be_brought_back() -> None:
    async with running(STATE, first="settings") as seen:
        await edit(seen, "limit.trade")
        await write(seen, "limit-service", "250")
        await seen.until(lambda: "confirm it next" in seen.text)
        await seen.press("enter")
        await confirm(seen, "escape")
        assert seen.doors.submitted == []
        await edit(seen, "limit.trade")
        await write(seen, "limit-service", "250")
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, Confirm))
        await seen.until(lambda: "100.00  service" in seen.text)
        await seen.until(lambda: "250.00  service" in seen.text)
        await confirm(seen)
        await seen.until(lambda: seen.doors.submitted == [SetBuyLimit(BuyLimit.TRADE, 250 * ONE)])
        await seen.press("u")
        await seen.until(lambda: len(seen.doors.submitted) == 2)
        assert seen.doors.submitted[-1] == SetBuyLimit(BuyLimit.TRADE, 100 * ONE)
        await seen.until(lambda: f"restored: {RULES[BuyLimit.TRADE].name}" in seen.toasts[-1])
        await seen.press("u")
        await seen.until(lambda: "nothing to undo here" in seen.toasts[-1])
        assert len(seen.doors.submitted) == 2


@pytest.mark.slow
async def test_a_key_that_was_pasted_into_a_limit_is_cleared() -> None:
    async with running(STATE, first="settings") as seen:
        await edit(seen, "limit.trade")
        await write(seen, "limit-own", "ab" * 32)
        await seen.until(lambda: seen.app.screen.query_one("#limit-own", Input).value == "")


@pytest.mark.slow
async def test_what_is_used_goes_on_while_the_form_is_open() -> None:
    async with running(STATE, first="settings", size=(100, 36)) as seen:
        await edit(seen, "limit.day_buys")
        assert STATE.buy_limits is not None
        await seen.bring(replace(STATE, buy_limits=replace(STATE.buy_limits, day_buys=444)))
        await seen.until(lambda: "445 of 500" in seen.text)


# -- risk and trading -----------------------------------------------------------------------------


# -- notices --------------------------------------------------------------------------------------


# -- the desk -------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_whose_desk_this_is_stands_on_a_page_or_beside() -> None:
    async with running(STATE, first="settings", size=(80, 40)) as seen:
        assert "e change" in seen.lines[-2]
        await on(seen, "desk.about")
        await seen.bring(replace(STATE, stars=frozenset({"x"})))
        assert "enter show" in seen.lines[-2]
        assert "change" not in seen.lines[-2]
        await seen.press("enter")
        await seen.until(lambda: DATA_PATH in seen.text)
    async with running(STATE, first="settings", size=(170, 40)) as seen:
        assert LOG_PATH in seen.text


@pytest.mark.slow
async def test_the_page_says_who_serves_now_while_it_is_open() -> None:
    service = replace(STATE.service, embedded=True, attached=True)
    attached = replace(STATE, service=service)
    async with running(attached, first="settings", size=(80, 24)) as seen:
        await on(seen, "desk.about")
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, About))
        page = seen.app.screen
        assert isinstance(page, About)
        assert "another program on this machine" in page.text().plain
        await seen.bring(replace(STATE, service=replace(service, attached=False)))
        await seen.until(lambda: "this program" in page.text().plain)
        assert "another program" not in page.text().plain


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 120, 160])
async def test_the_row_in_focus_is_told_at_every_width(width: int) -> None:
    async with running(STATE, first="settings", size=(width, 30)) as seen:
        await on(seen, "limit.day_spend")
        words = " ".join(seen.text.split())
        assert "in 16h 00m" in words
        assert "midnight UTC" in words


# -- the words alone ------------------------------------------------------------------------------


def test_every_limit_says_both_figures_what_is_used_and_when_it_starts_anew() -> None:
    text = detail("limit.day_buys")
    for part in ("service      500", "this desk    no limit", "effective    500  service"):
        assert part in text
    assert "used         8 of 500  2%, 1 of it pending" in text
    assert "left         492" in text
    assert "in 16h 00m" in text
    assert "midnight UTC, 00:00 here" in text


def test_a_limit_of_the_desks_own_binds_where_it_is_smaller() -> None:
    own = replace(STATE, preferences={"limits.sim_trade": str(40 * ONE)})
    assert "effective    40.00  this desk" in detail("limit.sim_trade", own)
    assert (
        "service 500.00, this desk 40.00"
        in describe_shortly(row("limit.sim_trade", own), ViewContext.of(own, NOW)).plain
    )


def test_a_figure_that_cannot_be_read_is_said_loudly() -> None:
    broken = replace(STATE, preferences={"limits.sim_trade": "nan"})
    assert row("limit.sim_trade", broken).value.plain == "unreadable"
    assert "this desk    unreadable" in detail("limit.sim_trade", broken)


def test_cooldowns_and_skills_are_listed_until_they_end() -> None:
    assert row("trading.cooldowns").value.plain == "1 now"
    assert "in 21m 00s" in detail("trading.cooldowns")
    assert row("trading.cooldowns", now=NOW + 1_300).value.plain == "none now"
    assert "gauge-watc" in detail("limit.skill_day")


def test_nothing_known_is_no_row_and_no_word() -> None:
    bare = DeskState(
        service=ServiceView(
            "host:443", Mode.SIM, Venue.SIM, embedded=False, phase=STATE.service.phase
        )
    )
    keys = [one.key for one in settings(ViewContext.of(bare, NOW), "night")]
    assert not any(key.startswith(("limit.", "risk.", "trading.")) for key in keys)
    text = about_text(bare, NOW, ProgramInfo()).plain
    assert "not loaded yet" in text
    assert "None" not in text


def test_it_tells_account_world_service_and_places() -> None:
    text = about_text(STATE, NOW, AROUND).plain
    for part in ("seed               7", "embedded", DATA_PATH, LOG_PATH, "unclaimed", "pro"):
        assert part in text


def test_privacy_masks_limits() -> None:
    private = replace(STATE, preferences={"privacy": "on"})
    assert "500.00" not in detail("limit.day_spend", private)
    for one in settings(ViewContext.of(private, NOW), "night"):
        assert "500.00" not in f"{one.value.plain}{one.beside.plain}"

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from textual.widgets import Input, Static

from kit.console.doors import DATA_PATH, LOG_PATH, Running, running, seen_before
from kit.console.snapshot import assert_snapshot
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.about import About
from service_tui.console.forms.choose_plan import ChoosePlan
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.form import Form
from service_tui.console.notifications import Channel, channels_text, choices_of
from service_tui.console.screens.settings.detail import about_text, describe, describe_shortly
from service_tui.console.screens.settings.screen import SettingsScreen
from service_tui.console.screens.settings.table import SettingRow, settings
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.numbered_view import ProgramInfo
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.commands.buy_limits import SetBuyLimit, SetDefaults, SetPaused
from service_tui.desk.commands.settings import SetPreference, SetSpeed
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, RiskDefaults
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.service import ServiceView
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Plan, Venue
from service_tui.units import ONE, Timestamp

STATE = seen_before(sample_state())
STATE = replace(STATE, preferences={**STATE.preferences, "theme": "night"})
AROUND = ProgramInfo(LOG_PATH, DATA_PATH, ("night", "paper"))
BAD = ("nan", "inf", "-5", "99999999999", "five")


def row(key: str, state: DeskState = STATE, now: float = NOW) -> SettingRow:
    return next(
        one for one in settings(ViewContext.of(state, Timestamp(now)), "night") if one.key == key
    )


def detail(key: str, state: DeskState = STATE, now: float = NOW) -> str:
    return describe(row(key, state, now), ViewContext.of(state, Timestamp(now))).plain


def paused(state: DeskState = STATE) -> DeskState:
    assert state.limits is not None
    return replace(state, limits=replace(state.limits, paused=True))


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
async def test_a_limit_that_is_tightened_is_ordered_at_once() -> None:
    async with running(STATE, first="settings") as seen:
        await edit(seen, "limit.trade")
        await write(seen, "rail-service", "80")
        await write(seen, "rail-own", "25.50")
        await seen.until(lambda: "25.50  this desk" in seen.text)
        await seen.press("enter")
        await seen.until(lambda: bool(seen.doors.submitted))
        assert seen.doors.submitted == [
            SetBuyLimit(BuyLimit.TRADE, 25_500_000, own=True),
            SetBuyLimit(BuyLimit.TRADE, 80 * ONE),
        ]


@pytest.mark.slow
async def test_a_limit_that_is_loosened_is_asked_once_more_and_can_be_brought_back() -> None:
    async with running(STATE, first="settings") as seen:
        await edit(seen, "limit.trade")
        await write(seen, "rail-service", "250")
        await seen.until(lambda: "confirm it next" in seen.text)
        await seen.press("enter")
        await confirm(seen, "escape")
        assert seen.doors.submitted == []
        await edit(seen, "limit.trade")
        await write(seen, "rail-service", "250")
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


def editable() -> Iterator[tuple[str, str]]:
    for rail in BuyLimit:
        if rail not in {BuyLimit.SIM_TRADE, BuyLimit.DESK_DAY}:
            yield f"limit.{rail.value}", "rail-service"
        if rail is not BuyLimit.SKILL_DAY:
            yield f"limit.{rail.value}", "rail-own"
    yield "risk.stop", "defaults-stop"
    yield "risk.target", "defaults-target"
    yield "tell.quiet", "quiet-hours"


@pytest.mark.slow
async def test_bad_input_says_why_and_orders_nothing() -> None:
    taken: list[tuple[str, str]] = []
    async with running(STATE, first="settings", size=(100, 36)) as seen:
        for key, line in editable():
            form = await edit(seen, key)
            taken += [(line, bad) async for bad in taken_by(seen, line)]
            assert seen.app.screen is form, line
            assert seen.doors.submitted == []
            await seen.press("escape")
            assert seen.app.screen is form
            await seen.press("escape")
            await seen.until(lambda: not isinstance(seen.app.screen, Form))
            assert seen.doors.submitted == []
    assert taken == []


async def taken_by(seen: Running, line: str) -> AsyncIterator[str]:
    """What is no figure, and is taken for one by a line of the form."""
    form = seen.app.screen
    for bad in (*BAD, "1e3", "0x1", "\u0665", "1.2.3", ".", "=1+1", "[red]"):
        form.query_one(f"#{line}", Input).value = bad
        # Painted once, when all have been typed.
        await seen.pilot.press("enter")
        if seen.app.screen is not form or not is_refused(seen):
            yield bad
            return


def is_refused(seen: Running) -> bool:
    """Whether the form says why, and what."""
    problem = str(seen.app.screen.query_one("#form-problem", Static).content)
    return bool(problem) and "No change" not in problem


@pytest.mark.slow
async def test_a_key_that_was_pasted_into_a_limit_is_cleared() -> None:
    async with running(STATE, first="settings") as seen:
        await edit(seen, "limit.trade")
        await write(seen, "rail-own", "ab" * 32)
        await seen.until(lambda: seen.app.screen.query_one("#rail-own", Input).value == "")


@pytest.mark.slow
async def test_the_plans_most_binds_the_number_of_buys() -> None:
    async with running(STATE, first="settings") as seen:
        await edit(seen, "limit.day_buys")
        await write(seen, "rail-service", "5001")
        await seen.until(lambda: "limit of 5,000" in seen.text)


@pytest.mark.slow
async def test_what_is_used_goes_on_while_the_form_is_open() -> None:
    async with running(STATE, first="settings", size=(100, 36)) as seen:
        await edit(seen, "limit.day_buys")
        assert STATE.buy_limits is not None
        await seen.bring(replace(STATE, buy_limits=replace(STATE.buy_limits, day_buys=444)))
        await seen.until(lambda: "445 of 500" in seen.text)


# -- risk and trading -----------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_stricter_stop_is_set_at_once_and_a_wider_one_is_asked() -> None:
    async with running(STATE, first="settings") as seen:
        await edit(seen, "risk.stop")
        await write(seen, "defaults-stop", "10")
        await seen.press("enter")
        strict = SetDefaults(RiskDefaults(0.1, None, auto_monitor=True))
        await seen.until(lambda: seen.doors.submitted == [strict])
        await edit(seen, "risk.target")
        await write(seen, "defaults-stop", "off")
        await write(seen, "defaults-target", "150")
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, Confirm))
        await seen.until(lambda: "without a stop" in seen.text)
        await confirm(seen)
        wide = SetDefaults(RiskDefaults(None, 1.5, auto_monitor=True))
        await seen.until(lambda: seen.doors.submitted[-1] == wide)


@pytest.mark.slow
async def test_turning_the_automatic_off_says_what_goes() -> None:
    async with running(STATE, first="settings") as seen:
        await on(seen, "risk.auto")
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, Confirm))
        assert "manual ones stay" in " ".join(seen.text.split())
        await confirm(seen)
        off = SetDefaults(RiskDefaults(0.2, None, auto_monitor=False))
        await seen.until(lambda: seen.doors.submitted == [off])


@pytest.mark.slow
async def test_pausing_asks_nothing_and_resuming_does() -> None:
    async with running(STATE, first="settings") as seen:
        await on(seen, "trading.paused")
        await seen.press("enter")
        await seen.until(lambda: seen.doors.submitted == [SetPaused(paused=True)])
        await seen.bring(paused())
        await seen.press("enter")
        await confirm(seen, "escape")
        assert len(seen.doors.submitted) == 1
        await seen.press("enter")
        await confirm(seen)
        await seen.until(lambda: seen.doors.submitted[-1] == SetPaused(paused=False))


@pytest.mark.slow
async def test_a_halt_is_not_ended_from_here() -> None:
    assert STATE.world is not None
    halted = replace(paused(), world=replace(STATE.world, halted_at=NOW))
    async with running(halted, first="settings", size=(120, 40)) as seen:
        await on(seen, "trading.paused")
        await seen.press("enter")
        await seen.until(lambda: any("F9 opens Halt" in toast for toast in seen.toasts))
        assert seen.doors.submitted == []
        assert row("trading.paused", halted).value.plain == "halted"


@pytest.mark.slow
async def test_the_plan_of_the_own_agent_is_chosen_by_a_digit() -> None:
    assert STATE.account is not None
    state = replace(STATE, account=replace(STATE.account, plan=Plan.FREE))
    async with running(state, first="settings") as seen:
        await on(seen, "trading.plan")
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, ChoosePlan))
        await seen.until(lambda: "● free " in seen.text)
        await seen.press("3")
        elite = Govern(AgentAct.PLAN, "a-1", "desk", Plan.ELITE)
        await seen.until(lambda: seen.doors.submitted == [elite])


@pytest.mark.slow
async def test_another_services_plan_is_not_changed_from_here() -> None:
    away = replace(STATE, service=replace(STATE.service, embedded=False))
    async with running(away, first="settings") as seen:
        await on(seen, "trading.plan")
        await seen.press("enter")
        await seen.until(lambda: bool(seen.toasts))
        assert seen.doors.submitted == []
        assert "world speed" not in seen.text


@pytest.mark.slow
async def test_a_read_only_desk_changes_no_limit() -> None:
    state = replace(STATE, service=replace(STATE.service, read_only=True))
    async with running(state, first="settings") as seen:
        for key in ("limit.trade", "risk.stop", "risk.auto", "trading.paused", "trading.plan"):
            await on(seen, key)
            seen.app.clear_notifications()
            await seen.press("enter")
            await seen.until(lambda: bool(seen.toasts))
            assert "read-only" in seen.toasts[-1]
        assert seen.doors.submitted == []


# -- notices --------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_ways_of_a_kind_are_turned_by_digits() -> None:
    ordered: list[Command] = []
    async with running(STATE, first="settings") as seen:
        for kind in NoticeKind:
            if kind is NoticeKind.DESK:
                continue
            seen.doors.submitted.clear()
            await edit(seen, f"tell.{kind.value}")
            await seen.press("3", "4", "enter")
            await seen.until(lambda: bool(seen.doors.submitted))
            before = choices_of({}).channels_of(kind)
            wanted = channels_text(before | {Channel.BELL, Channel.DESKTOP})
            name = f"notify.{kind.value}"
            ordered += [SetPreference(name, wanted), SetPreference(name, channels_text(before))]
            assert seen.doors.submitted == ordered[-2:-1]
            seen.app.clear_notifications()
            await seen.press("u")
            await seen.until(lambda: len(seen.doors.submitted) == 2)
            assert seen.doors.submitted == ordered[-2:]
            await seen.until(lambda: "restored: the setting" in "".join(seen.toasts[-1:]))
    assert len({one.name for one in ordered if isinstance(one, SetPreference)}) == 9


@pytest.mark.slow
async def test_quiet_hours_are_written_and_taken_away() -> None:
    async with running(STATE, first="settings") as seen:
        await edit(seen, "tell.quiet")
        await write(seen, "quiet-hours", "22-7")
        await seen.press("enter")
        await seen.until(lambda: bool(seen.doors.submitted))
        assert seen.doors.submitted == [SetPreference("notify.quiet", "22:00-07:00")]
        await edit(seen, "tell.quiet")
        await write(seen, "quiet-hours", "")
        await seen.press("enter")
        await seen.until(lambda: len(seen.doors.submitted) == 2)
        assert seen.doors.submitted[-1] == SetPreference("notify.quiet", "")


@pytest.mark.slow
async def test_the_desktops_protocol_is_turned() -> None:
    async with running(STATE, first="settings") as seen:
        await on(seen, "tell.protocol")
        await seen.press("enter")
        wanted = SetPreference("notify.protocol", "OSC 777")
        await seen.until(lambda: seen.doors.submitted == [wanted])


# -- the desk -------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_theme_is_chosen_by_name_and_the_next_pace_by_enter() -> None:
    async with running(STATE, first="settings") as seen:
        await on(seen, "desk.theme")
        await seen.press("enter")
        await seen.until(lambda: seen.app.screen.id == "themes")
        await seen.press("escape")
        await seen.until(lambda: seen.app.screen.id != "themes")
        await on(seen, "desk.pace")
        await seen.press("enter")
        await seen.until(lambda: seen.doors.submitted == [SetSpeed(10)])


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
    for part in ("service      500", "this desk    no limit", "binds        500  service"):
        assert part in text
    assert "used         8 of 500  2%, 1 of it pending" in text
    assert "left         492" in text
    assert "in 16h 00m" in text
    assert "midnight UTC, 00:00 here" in text


def test_a_limit_of_the_desks_own_binds_where_it_is_smaller() -> None:
    own = replace(STATE, preferences={"limits.sim_trade": str(40 * ONE)})
    assert "binds        40.00  this desk" in detail("limit.sim_trade", own)
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

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Static

from console.snapshot import assert_snapshot
from doors import DATA_PATH, LOG_PATH, THEMES, running, seen_before
from samples import NOW, sample_state
from service_tui.console.screens.base import Surroundings
from service_tui.console.screens.settings_text import next_midnight, settings_text, trades_today
from service_tui.desk.commands import SetPreference, SetSpeed
from service_tui.desk.records import ServiceView
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Venue
from service_tui.units import Timestamp

STATE = replace(sample_state(), preferences={"welcome": "seen", "theme": "night"})
AROUND = Surroundings(LOG_PATH, DATA_PATH, ("night", "paper"))


def told(state: DeskState = STATE, now: float = NOW) -> str:
    return settings_text(state, Timestamp(now), AROUND).plain


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40)])
async def test_the_screen_looks_so(size: tuple[int, int]) -> None:
    themes = ("night", "harbor") if size == (120, 40) else ("night",)
    async with running(STATE, first="settings", size=size) as seen:
        await assert_snapshot(seen.pilot, f"settings_{size[0]}x{size[1]}", themes=themes)


async def test_moving_over_a_theme_shows_it_and_leaving_gives_it_back() -> None:
    async with running(STATE, first="settings") as seen:
        await seen.press("k")
        await seen.until(lambda: seen.app.theme != "night")
        tried = seen.app.theme
        await seen.press("0")
        await seen.until(lambda: seen.app.theme == "night")
        await seen.press("8")
        assert seen.app.front.current_row() == "night"
        assert seen.doors.submitted == []
        assert tried in {theme.name for theme in THEMES.themes}


async def test_enter_keeps_the_theme() -> None:
    async with running(STATE, first="settings") as seen:
        await seen.press("k", "enter")
        await seen.until(lambda: bool(seen.doors.submitted))
        kept = seen.app.theme
        assert seen.doors.submitted == [SetPreference("theme", kept)]
        await seen.press("0")
        assert seen.app.theme == kept


async def test_a_click_on_a_speed_orders_it() -> None:
    async with running(STATE, first="settings") as seen:
        row = next(place for place, line in enumerate(seen.lines) if "60x" in line)
        await seen.pilot.click(offset=(seen.lines[row].index("60x"), row))
        await seen.until(lambda: seen.doors.submitted == [SetSpeed(60)])


async def test_a_service_without_a_world_offers_no_speed() -> None:
    state = replace(STATE, service=replace(STATE.service, embedded=False))
    async with running(seen_before(state), first="settings") as seen:
        assert "60x" not in seen.text
        assert "no world of its own" in str(
            seen.app.query_one("#settings-facts-text", Static).content
        )


# -- the words alone ----------------------------------------------------------------------------


def test_it_tells_limits_world_service_and_places() -> None:
    text = told()
    for part in (
        "7 of 500 trades",
        "most of one trade  500.00",
        "seed               7",
        "embedded",
        DATA_PATH,
        LOG_PATH,
        "unclaimed",
        "pro",
    ):
        assert part in text


def test_on_a_real_venue_the_days_spend_is_told_with_its_share() -> None:
    live = replace(STATE, service=replace(STATE.service, mode=Mode.LIVE, venue=Venue.EVM))
    assert "24%  120.00 of 500.00" in told(live)


def test_limits_start_anew_at_midnight_utc() -> None:
    assert "in 15h 59m at midnight UTC, 00:00 here" in told(now=NOW + 30)


@given(st.floats(0, 4e9))
def test_the_next_midnight_is_less_than_a_day_ahead(now: float) -> None:
    midnight = next_midnight(Timestamp(now))
    assert 0 < midnight - now <= 86_400
    assert datetime.fromtimestamp(midnight, UTC).strftime("%H%M%S") == "000000"


def test_buys_of_today_are_counted_and_sales_are_not() -> None:
    trades = (
        *STATE.trades,
        replace(STATE.trades[0], action="sell"),
        replace(STATE.trades[0], at=Timestamp(NOW - 86_400)),
    )
    assert trades_today(replace(STATE, trades=trades), NOW) == len(STATE.trades)


def test_nothing_known_is_told_as_such() -> None:
    bare = DeskState(
        service=ServiceView(
            "host:443", Mode.SIM, Venue.SIM, embedded=False, phase=STATE.service.phase
        )
    )
    text = settings_text(bare, NOW, Surroundings()).plain
    assert text.count("not known yet") == 2
    assert "None" not in text


def test_paused_trading_is_told() -> None:
    paused = replace(STATE, limits=replace(STATE.limits, paused=True))
    assert "paused: buys are refused" in told(paused)


def test_privacy_masks_limits() -> None:
    assert "500.00" not in told(replace(STATE, preferences={"privacy": "on"}))

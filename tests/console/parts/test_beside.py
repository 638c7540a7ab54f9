"""Two at once: a second list or chart beside the first, kept of each screen, seen and never hit."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.guarded import guarded_state
from service_tui.console.app import ConsoleApp
from service_tui.console.parts.beside import Beside
from service_tui.console.parts.view_memory import BESIDE
from service_tui.console.shell.views import BESIDE_FROM
from service_tui.desk.commands.agents import WatchHoldings
from service_tui.desk.commands.settings import SetPreference, WatchMarket
from service_tui.desk.state import DeskState

STATE = seen_before(guarded_state())
WIDE, NARROW = (BESIDE_FROM, 40), (BESIDE_FROM - 1, 40)


def with_beside(**chosen: str) -> DeskState:
    kept = {f"{BESIDE}{screen}": name for screen, name in chosen.items()}
    return replace(STATE, preferences={**STATE.preferences, **kept})


def beside(app: ConsoleApp) -> str:
    """What stands beside the screen in front; empty for nothing."""
    found = app.screen_stack[0].query(Beside)
    return found.first().chosen if found else ""


async def test_a_list_is_chosen_and_kept_of_its_screen_alone() -> None:
    async with running(STATE, first="portfolio", size=WIDE) as seen:
        await seen.press("backslash", "j", "j", "enter")
        kept = [one for one in seen.doors.submitted if isinstance(one, SetPreference)]
        assert kept == [SetPreference(f"{BESIDE}portfolio", "markets")]
        await seen.until(lambda: beside(seen.app) == "markets")
        assert "72 of 80" in seen.text
        assert "sale value" in seen.text
        await seen.press("3")
        await seen.until(lambda: not beside(seen.app))
        await seen.press("1")
        await seen.until(lambda: beside(seen.app) == "markets")
        await seen.press("backslash", "k", "k", "k", "enter")
        await seen.until(lambda: not beside(seen.app))


async def test_keys_and_clicks_act_on_the_first_list_alone() -> None:
    async with running(with_beside(portfolio="markets"), first="portfolio", size=WIDE) as seen:
        await seen.until(lambda: beside(seen.app) == "markets")
        row = seen.app.front.current_row()
        await seen.pilot.click(offset=(BESIDE_FROM - 20, 12))
        await seen.press("b")
        assert "Market not listed" not in seen.text
        assert seen.app.front.name_in_keys == "portfolio"
        assert seen.app.front.current_row() == row
        # Nothing of what stands there is kept in the place of its own screen.
        names = {one.name for one in seen.doors.submitted if isinstance(one, SetPreference)}
        assert not any("markets" in name for name in names)


async def test_without_room_there_is_one_list_and_the_key_says_why() -> None:
    async with running(with_beside(portfolio="markets"), first="portfolio", size=NARROW) as seen:
        await seen.press("backslash")
        assert not beside(seen.app)
        assert f"from {BESIDE_FROM} columns on" in seen.toasts[-1]


@pytest.mark.parametrize("unknown", ["nowhere", "chart:nothing", "portfolio"])
async def test_what_a_file_names_and_nobody_knows_is_nothing(unknown: str) -> None:
    async with running(with_beside(portfolio=unknown), first="portfolio", size=WIDE) as seen:
        await seen.press("j")
        assert not beside(seen.app)
        assert not seen.toasts


async def test_a_page_that_has_something_read_stops_with_its_place() -> None:
    async with running(with_beside(portfolio="exposure"), first="portfolio", size=WIDE) as seen:
        await seen.until(lambda: beside(seen.app) == "exposure")
        await seen.press("3")
        await seen.until(lambda: not beside(seen.app))
        asked = [one.is_wanted for one in seen.doors.submitted if isinstance(one, WatchHoldings)]
        assert asked == [True, False]


async def test_a_chart_follows_the_market_under_the_cursor() -> None:
    state = with_beside(portfolio="chart:price")
    async with running(state, first="portfolio", size=WIDE) as seen:
        await seen.until(lambda: beside(seen.app) == "chart:price")
        first = seen.app.front.current_market()
        for _ in range(2):
            await seen.bring(replace(seen.doors.state))
        asked = [one.market_id for one in seen.doors.submitted if isinstance(one, WatchMarket)]
        assert asked == [first]
        await seen.press("3")
        await seen.until(lambda: not beside(seen.app))
        asked = [one.market_id for one in seen.doors.submitted if isinstance(one, WatchMarket)]
        assert asked == [first, None]


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["attention", "agents", "log", "settings", "chart:equity"])
async def test_every_other_screen_and_chart_can_stand_there(chosen: str) -> None:
    async with running(with_beside(portfolio=chosen), first="portfolio", size=WIDE) as seen:
        await seen.until(lambda: beside(seen.app) == chosen)
        await seen.bring(replace(seen.doors.state))
        assert not [toast for toast in seen.toasts if "failed" in toast]


async def test_a_second_list_is_chosen_by_its_key_and_says_that_it_is_read_only() -> None:
    async with running(STATE, first="portfolio", size=WIDE) as seen:
        await seen.press("backslash", "2")
        await seen.bring(with_beside(portfolio="markets"))
        chosen = [one for one in seen.doors.submitted if isinstance(one, SetPreference)]
        assert ("beside.portfolio", "markets") in [(one.name, one.value) for one in chosen]
        await seen.until(lambda: beside(seen.app) == "markets")
        assert "to read only" in seen.text

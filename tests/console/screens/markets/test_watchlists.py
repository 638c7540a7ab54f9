"""Several watchlists: markets put in and out by keys, one list shown, kept under its name."""

from dataclasses import replace

from kit.console.doors import Running, running, seen_before
from kit.samples.guarded import guarded_state
from service_tui.console.saved import WATCHLISTS, Watchlist, keep_watchlists, watchlists_of
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.state import DeskState

BARE = seen_before(guarded_state())
FIRST, SECOND, THIRD, *_ = (one.market_id for one in BARE.markets.values() if one.is_open)
RAIN, SPORT = Watchlist("Rain", (FIRST, SECOND)), Watchlist("Sport", (THIRD,))


def kept_with(*lists: Watchlist) -> DeskState:
    kept = keep_watchlists(lists)
    return replace(BARE, preferences={**BARE.preferences, kept.name: kept.value})


def kept(seen: Running) -> tuple[Watchlist, ...]:
    orders = [one for one in seen.doors.submitted if isinstance(one, SetPreference)]
    last = next(one for one in reversed(orders) if one.name == WATCHLISTS)
    return watchlists_of({WATCHLISTS: last.value})


def listed(seen: Running) -> set[str]:
    order = seen.app.front.table.order
    return {order[place].market_id for place in range(len(order))}


async def test_marked_markets_go_into_a_new_list_and_out_again() -> None:
    async with running(BARE, first="markets", size=(120, 40)) as seen:
        order = seen.app.front.table.order
        ids = tuple(order[place].market_id for place in (0, 1))
        await seen.press("space", "space", "ctrl+o", "n", *"Rain", "enter")
        assert kept(seen) == (Watchlist("Rain", ids),)
        await seen.bring(kept_with(Watchlist("Rain", ids)))
        assert "✓ Rain" in seen.text
        await seen.press("space")
        assert kept(seen) == (Watchlist("Rain"),)


async def test_a_key_shows_the_stars_then_each_list_then_all() -> None:
    state = replace(kept_with(RAIN, SPORT), stars=frozenset({THIRD}))
    async with running(state, first="markets", size=(120, 40)) as seen:
        everything = listed(seen)
        shown = []
        for _ in range(4):
            await seen.press("w")
            shown.append(listed(seen))
        assert shown == [{THIRD}, {FIRST, SECOND}, {THIRD}, everything]


async def test_enter_shows_a_list_alone_and_a_removed_one_is_empty() -> None:
    state = kept_with(RAIN, SPORT)
    async with running(state, first="markets", size=(80, 24)) as seen:
        await seen.press("c", "ctrl+o", "j", "enter")
        assert listed(seen) == {THIRD}
        assert "w Sport" in seen.text
        await seen.bring(kept_with(RAIN))
        assert listed(seen) == set()
        assert "w Sport" in seen.text
        await seen.press("w")
        assert "w starred" in seen.text


async def test_the_line_of_commands_opens_the_lists_from_any_screen() -> None:
    async with running(kept_with(RAIN), first="portfolio", size=(120, 40)) as seen:
        await seen.press("colon", *"watchlists", "enter")
        await seen.until(lambda: "Watchlists" in seen.text)
        assert "2 markets" in seen.text

"""A screen of tables by its keys: its lists, its search, its memory, and what each key says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from textual.widgets import Input

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from service_tui.console.actions import NO_ROW
from service_tui.console.forms.explain import Explain
from service_tui.console.forms.sort_menu import SortMenu
from service_tui.console.freshness import NO_DESK
from service_tui.console.key_queue import gone_text
from service_tui.console.parts.table_screen import REST_S, TableScreen
from service_tui.console.parts.view_memory import VIEW
from service_tui.console.screens.monitors.screen import MonitorsScreen
from service_tui.console.screens.portfolio.screen import PortfolioScreen
from service_tui.desk.commands.settings import SetPreference, WatchMarket
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = seen_before(guarded_state())
BARE = replace(STATE, positions=(), risk=replace(STATE.risk, monitors=()))


@asynccontextmanager
async def shown(
    first: str = "portfolio", state: DeskState = STATE, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Running, TableScreen]]:
    async with running(state, first=first, size=size) as seen:
        front = seen.app.front
        assert isinstance(front, TableScreen)
        yield seen, front


def last_toast(seen: Running) -> str:
    return seen.toasts[-1].removeprefix("! ")


# -- without an app ----------------------------------------------------------------------------


def test_a_screen_has_its_rows_its_reasons_and_the_market_in_focus_before_it_is_shown() -> None:
    screen = PortfolioScreen(STATE, NOW)
    assert screen.rows() == screen.spec.rows(STATE)
    assert screen.table is screen.lists[0]
    assert (screen.is_settled(), screen.current_market()) == (True, "")
    assert PortfolioScreen(replace(STATE, from_cache=True), NOW).is_settled() is False
    assert screen.list_reason("copy_row") == screen.list_reason("copy_cell") == NO_ROW
    assert screen.list_reason("wide") == "no detail beside the list"
    assert screen.names["value"] == "value"
    assert screen.parsed("value:>abc").problem
    assert screen.parsed("rain").problem == ""


def test_what_is_watched_are_its_fields_masking_and_what_was_loaded() -> None:
    screen = MonitorsScreen(STATE, NOW)
    before = screen.watched()
    for changed in (
        replace(STATE, seen={}),
        replace(STATE, preferences={**STATE.preferences, "privacy": "on"}),
        replace(STATE, risk=replace(STATE.risk, monitors=())),
    ):
        screen.state = changed
        assert screen.watched() != before
    screen.state = replace(STATE, stars=frozenset({"x"}))
    assert screen.watched() == before


# -- lists and search --------------------------------------------------------------------------


async def test_another_list_takes_the_terms_that_it_can_use_and_keeps_the_rest() -> None:
    async with shown() as (seen, front):
        await seen.press("slash")
        front.query_one(Input).value = "will pnl:>-99999"
        await seen.pilot.pause()
        assert front.parsed("pnl:>0").problem == ""
        for place, typed in ((1, "will"), (2, "will pnl:>-99999"), (0, "will pnl:>-99999")):
            front.bring_forward(place)
            await seen.pilot.pause()
            assert (front.place, front.line.typed) == (place, typed)
        # What was typed meanwhile counts.
        front.bring_forward(1)
        front.query_one(Input).value = "bus"
        await seen.pilot.pause()
        front.bring_forward(0)
        assert front.line.typed == "bus"


async def test_a_search_shows_its_problem_and_what_it_hides_can_be_gone_to() -> None:
    async with shown("monitors") as (seen, front):
        rows = front.rows()
        await seen.press("slash")
        front.query_one(Input).value = "entry:>abc"
        await seen.pilot.pause()
        assert "wants a number" in seen.text
        assert len(front.table.order) == len(rows)
        front.query_one(Input).value = "zzz"
        await seen.pilot.pause()
        hidden = rows[-1].key
        assert len(front.table.order) == 0
        assert front.is_hidden(hidden)
        front.focus_row(hidden)
        await seen.pilot.pause()
        assert (front.current_row(), front.line.typed) == (hidden, "")
        front.focus_row("not there yet")
        assert front.place == 0


async def test_escape_leaves_one_thing_at_a_time() -> None:
    async with shown("monitors") as (seen, front):
        front.bring_forward(1)
        front.bring_forward(0)
        await seen.press("space", "slash", "w", "enter")
        marked = front.table.order.marked
        assert (front.line.typed, bool(marked)) == ("w", True)
        await seen.press("escape")
        assert (front.line.typed, front.table.order.marked) == ("", marked)
        await seen.press("escape")
        assert not front.table.order.marked
        front.bring_forward(1)
        await seen.press("escape")
        assert front.place == 0
        assert not front.step_out()


async def test_a_list_without_rows_says_why_and_so_does_a_key() -> None:
    async with shown("monitors", BARE) as (seen, front):
        await seen.press("d")
        assert last_toast(seen) not in {gone_text("d"), ""}
        assert len(front.table.order) == 0
        nobody = replace(BARE.service, problem=NO_DESK)
        await seen.bring(replace(BARE, service=nobody, rewound_to=Timestamp(NOW)))
        assert "No record shown." in seen.text


# -- memory ------------------------------------------------------------------------------------


async def test_the_order_is_kept_at_once_and_the_rest_once_it_has_rested() -> None:
    async with shown() as (seen, front):
        await seen.press("s")
        front.keep()
        await seen.pilot.pause()
        kept = [one for one in seen.doors.submitted if isinstance(one, SetPreference)]
        (order,) = (one for one in kept if one.name == "sort.portfolio")
        state = front.table.state()
        assert order.value == f"{state.sort or ''} {'falling' if state.falling else 'rising'}"
        await seen.press("slash", "w", "enter")
        at = front.now
        for later_s, is_kept in ((0.1, False), (REST_S, False), (REST_S + 0.2, True)):
            front.take(front.state, Timestamp(at + later_s))
            await seen.pilot.pause()
            assert (f"{VIEW}portfolio" in seen.doors.views) is is_kept
        assert front.memory().search == "w"
        assert front.view_to_keep() is None


# -- keys --------------------------------------------------------------------------------------


async def test_a_row_is_copied_sorted_explained_and_widened_by_its_keys() -> None:
    async with shown() as (seen, front):
        row = front.selected()
        assert row is not None
        assert front.name_of(row) == row.question
        assert front.name_of(object()) == ""
        assert front.current_market() == row.market_id
        front.action_copy_cell()
        await seen.pilot.pause()
        assert "the name" in last_toast(seen)
        front.action_copy_row()
        await seen.pilot.pause()
        assert "the row as JSON" in last_toast(seen)
        front.action_explain()
        await seen.until(lambda: isinstance(seen.app.screen, Explain))
        assert row.question[:20] in seen.text
        await seen.press("escape")
        front.action_sort_menu()
        await seen.until(lambda: isinstance(seen.app.screen, SortMenu))
        await seen.press("escape")
        assert front.is_beside
        front.action_wide()
        await seen.pilot.pause()
        assert (front.is_wide, last_toast(seen)) == (True, "list over the whole width")
        assert not front.shows_detail
        front.action_wide()
        await seen.pilot.pause()
        assert (front.is_wide, last_toast(seen)) == (False, "list and detail")
        assert front.shows_detail


async def test_a_key_that_is_disabled_says_why_and_on_a_recorded_state_that_first() -> None:
    async with shown("monitors", BARE) as (seen, front):
        assert front.selected() is None
        action = front.actions[0].id
        front.action_perform(action)
        await seen.pilot.pause()
        assert last_toast(seen)
        await seen.bring(replace(STATE, rewound_to=Timestamp(NOW - 60)))
        for one in front.actions:
            front.action_perform(one.id)
        await seen.pilot.pause()
        # A market is watched by whoever looks at it, also then.
        assert {type(one) for one in seen.doors.submitted} <= {WatchMarket}


async def test_where_no_detail_stands_beside_the_list_it_comes_to_the_front() -> None:
    async with shown("monitors", size=(60, 16)) as (seen, front):
        assert not front.is_beside
        front.action_wide()
        await seen.pilot.pause()
        assert last_toast(seen) == "no detail beside the list"
        front.open_row()
        await seen.pilot.pause()
        assert front.has_class("-opened")
        assert front.shows_detail
        assert front.step_out()
        assert not front.shows_detail

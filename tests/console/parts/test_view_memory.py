"""Cursor, scroll position, search, order, tab, width and last screen survive a restart."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import sample_state
from kit.samples.reactor import reactor_state
from service_tui.console.parts.table_screen import REST_S
from service_tui.console.parts.view_memory import ViewMemory
from service_tui.console.shell.views import SCREENS
from service_tui.console.widgets.record_table import TableState
from service_tui.desk.state import DeskState

STATE = seen_before(sample_state())
SIZE = (100, 30)


def after(seen: Running, state: DeskState = STATE) -> DeskState:
    """The state of the next start."""
    given = {one.name: one.value for one in seen.doors.submitted if hasattr(one, "value")}
    return replace(state, preferences={**state.preferences, **given, **seen.doors.views})


def without(state: DeskState, market_id: str) -> DeskState:
    markets = {key: value for key, value in state.markets.items() if key != market_id}
    return replace(state, markets=markets)


def keys_of(seen: Running) -> list[str]:
    order = seen.app.front.table.order
    return [order.key_at(place) for place in range(len(order))]


async def kept_after(*keys: str, state: DeskState = STATE) -> DeskState:
    """The state of the start after one in which these keys were pressed."""
    async with running(state, first="markets", size=SIZE) as seen:
        await seen.press(*keys)
        seen.app.exit()
        return after(seen, state)


@pytest.mark.slow
async def test_the_cursor_and_the_scroll_position_come_back() -> None:
    async with running(STATE, first="markets", size=SIZE) as seen:
        await seen.press(*["ctrl+d"] * 3, "k", "k")
        before = seen.app.front.table.state()
        assert before.scroll > 0
        seen.app.exit()
    async with running(after(seen), size=SIZE, first="markets") as again:
        assert again.app.front.table.state() == before
        assert again.app.front.selected() is not None


@pytest.mark.slow
async def test_the_screen_in_front_comes_back_and_a_named_one_goes_before_it() -> None:
    state = await kept_after("7", "4")
    async with running(state, first="", size=SIZE) as seen:
        assert seen.app.front.name_in_keys == "reactor"
    odd = replace(state, preferences={**state.preferences, "view": "nowhere"})
    async with running(odd, first="", size=SIZE) as seen:
        assert seen.app.front.name_in_keys == "portfolio"


@pytest.mark.slow
async def test_a_cursor_whose_row_is_gone_falls_to_the_neighbour_at_its_place() -> None:
    async with running(STATE, first="markets", size=SIZE) as seen:
        await seen.press("j", "j", "j")
        rows = keys_of(seen)
        seen.app.exit()
    async with running(without(after(seen), rows[3]), first="markets", size=SIZE) as again:
        assert again.app.front.current_row() == rows[4]
        assert again.app.front.table.order.index == 3


@pytest.mark.slow
async def test_a_row_that_comes_with_the_service_is_waited_for() -> None:
    async with running(STATE, first="markets", size=SIZE) as seen:
        await seen.press("j", "j", "j")
        rows = keys_of(seen)
        seen.app.exit()
    state = after(seen)
    cached = replace(without(state, rows[3]), from_cache=True)
    async with running(state, initial=cached, first="markets", size=SIZE, waits=False) as again:
        await again.until(lambda: not again.app.desk_state.from_cache)
        await again.pilot.pause()
        assert again.app.front.current_row() == rows[3]
        assert again.app.front.table.order.index == 3


@pytest.mark.slow
async def test_a_key_moves_on_from_the_place_of_a_row_that_is_waited_for() -> None:
    async with running(STATE, first="markets", size=SIZE) as seen:
        await seen.press("j", "j", "j")
        rows = keys_of(seen)
        seen.app.exit()
    cached = replace(without(after(seen), rows[3]), from_cache=True)
    async with running(cached, first="markets", size=SIZE) as again:
        assert again.app.front.selected() is None
        await again.press("j")
        assert again.app.front.current_row() == rows[4]


@pytest.mark.slow
async def test_the_list_its_order_its_search_and_the_width_come_back() -> None:
    async with running(STATE, first="monitors", size=(140, 40)) as seen:
        await seen.press("o", "s", "s", "S", "vertical_line", "slash", *"a", "enter")
        front = seen.app.front
        before = (front.place, front.is_wide, front.line.typed, front.table.state())
        assert before[:3] == (1, True, "a")
        rows = keys_of(seen)
        seen.app.exit()
    async with running(after(seen), first="monitors", size=(140, 40)) as again:
        front = again.app.front
        assert (front.place, front.is_wide, front.line.typed, front.table.state()) == before
        assert keys_of(again) == rows
        await again.press("escape", "escape")
        assert (front.line.typed, front.place) == ("", 0)


@pytest.mark.slow
async def test_a_search_that_is_kept_does_not_move_the_cursor() -> None:
    async with running(STATE, first="agents", size=SIZE) as seen:
        await seen.press("slash", *"e", "enter", "j", "j")
        row = seen.app.front.current_row()
        assert row == keys_of(seen)[2]
        seen.app.exit()
    async with running(after(seen), first="agents", size=SIZE) as again:
        assert again.app.front.current_row() == row
        assert again.app.front.line.typed == "e"


@pytest.mark.slow
async def test_a_cursor_is_written_once_it_has_rested_and_not_at_each_key() -> None:
    async with running(STATE, first="markets", size=SIZE) as seen:
        await seen.press("j")
        seen.app._tick()
        assert "view.markets" not in seen.doors.views
        seen.clock[0] += REST_S / 2
        await seen.press("j")
        seen.app._tick()
        seen.clock[0] += REST_S / 2
        seen.app._tick()
        await seen.pilot.pause()
        assert "view.markets" not in seen.doors.views
        seen.clock[0] += REST_S
        seen.app._tick()
        await seen.pilot.pause()
        kept = ViewMemory.from_text(seen.doors.views["view.markets"])
        assert kept.lists[0].cursor == seen.app.front.current_row()


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
async def test_a_screen_that_is_only_looked_at_writes_nothing(name: str) -> None:
    async with running(STATE, first=name, size=SIZE) as seen:
        for _ in range(3):
            seen.clock[0] += REST_S
            seen.app._tick()
            await seen.pilot.pause()
        assert f"view.{name}" not in seen.doors.views


def test_a_memory_is_the_same_after_the_disk() -> None:
    memory = ViewMemory(
        tab=2,
        wide=True,
        search="a b",
        lists=(TableState("price", falling=True, cursor="m-1", scroll=3, place=7), TableState()),
        choices={"state": "waiting"},
    )
    assert ViewMemory.from_text(memory.to_text()) == memory


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"tab": "x", "lists": 3, "choices": []}',
        '{"lists": [1, null]}',
    ],
)
def test_a_damaged_memory_is_as_at_the_first_start(text: str) -> None:
    memory = ViewMemory.from_text(text)
    assert (memory.tab, memory.wide, memory.search) == (0, False, "")
    assert all(one == TableState() for one in memory.lists)


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["tab", "lists", "cursor", "scroll", "sort"]), inner)
        ),
    )
)
def test_no_memory_is_beyond_reading(kept: object) -> None:
    memory = ViewMemory.from_text(json.dumps(kept))
    assert ViewMemory.from_text(memory.to_text()) == memory


@pytest.mark.slow
async def test_the_filters_of_the_feed_come_back_with_the_list_that_they_apply_to() -> None:
    state = seen_before(reactor_state())
    async with running(state, first="reactor", size=(140, 40)) as seen:
        await seen.press("c", "w")
        rows = keys_of(seen)
        everything = len(state.reactor.signals)
        assert 0 < len(rows) < everything
        seen.app.exit()
    async with running(after(seen, state), first="reactor", size=(140, 40)) as again:
        assert keys_of(again) == rows
        assert "only waiting" in again.text
        await again.press("escape")
        assert len(keys_of(again)) == everything


@pytest.mark.slow
async def test_a_list_or_a_kind_that_is_no_more_is_the_first() -> None:
    kept = {
        "view.monitors": ViewMemory(99).to_text(),
        "view.timeline": ViewMemory(choices={"only": "of tomorrow"}).to_text(),
    }
    state = replace(STATE, preferences={**STATE.preferences, **kept})
    async with running(state, first="monitors", size=SIZE) as seen:
        assert seen.app.front.place == 0
        await seen.press("apostrophe")
        first = keys_of(seen)
        await seen.press("c")
        rows = keys_of(seen)
        assert len(rows) >= len(first)
        seen.app.exit()
    # Every kind is a choice as well, and comes back.
    async with running(after(seen, state), first="timeline", size=SIZE) as again:
        assert keys_of(again) == rows
        await again.press("escape")
        assert keys_of(again) == first


def test_a_memory_is_readable_text_and_comes_back() -> None:
    memory = ViewMemory(
        tab=2,
        wide=True,
        search="Zürich",
        lists=(TableState("price", falling=True, cursor="m-1", scroll=3, place=4), TableState()),
        choices={"span": "1h"},
    )
    assert "Zürich" in memory.to_text()
    assert ViewMemory.from_text(memory.to_text()) == memory
    assert memory.list_at(1) == TableState()
    assert memory.list_at(2) is None


def test_what_moves_by_itself_is_no_choice() -> None:
    first = TableState("price", falling=True, cursor="m-1", scroll=3, place=0)
    later = replace(first, place=2)
    chosen = ViewMemory(tab=1, lists=(first, later)).chosen
    assert chosen.lists == (
        TableState("price", falling=True, cursor=None, scroll=0, place=0),
        TableState("price", falling=True, cursor="m-1", scroll=0, place=0),
    )
    assert chosen.tab == 1


@pytest.mark.parametrize("tab", [-1, True, "3", None, 2.5])
def test_a_list_in_front_that_is_no_number_is_as_at_the_first_start(tab: object) -> None:
    kept = json.dumps({"tab": tab, "search": "rain"})
    assert ViewMemory.from_text(kept) == ViewMemory()
    assert ViewMemory.from_text(kept.replace(json.dumps(tab), "3")).tab == 3

"""What a screen of tables restores of a former start, and the keys of every one, without an app."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import event
from kit.console.lone_screen import LoneScreen
from kit.samples.desk import NOW
from kit.samples.whole import whole_desk
from service_tui.console.forms.sort_menu import SortMenu
from service_tui.console.messages import Copied
from service_tui.console.parts.view_memory import VIEW, ViewMemory
from service_tui.console.screens.monitors.screen import MonitorsScreen
from service_tui.console.widgets.record_table import TableState
from service_tui.desk.state import DeskState

STATE = replace(whole_desk(), rewound_to=None, from_cache=False, preferences={})


def monitors(state: DeskState = STATE, size: tuple[int, int] = (120, 40)) -> LoneScreen:
    return LoneScreen(MonitorsScreen(state, NOW), size)


def left(memory: ViewMemory, **other: str) -> DeskState:
    """The state of somebody who left the screen so."""
    return replace(STATE, preferences={f"{VIEW}monitors": memory.to_text(), **other})


def test_the_table_the_search_and_the_layout_of_each_list_come_back() -> None:
    column = next(one.id for one in MonitorsScreen.tables[1].columns if one.sort_key)
    second = TableState(column, falling=True)
    memory = ViewMemory(1, search="will", lists=(TableState(), second), wide=True)
    lone = monitors(left(memory))
    screen = lone.screen
    assert (screen.place, screen.is_wide) == (1, True)
    assert lone.line.typed == "will"
    assert screen.search
    assert screen.has_class("-list-1")
    kept = screen.lists[1].state()
    assert (kept.sort, kept.falling) == (column, True)
    assert not screen.has_class("-with-detail")


@pytest.mark.parametrize("tab", [len(MonitorsScreen.tables), 99])
def test_a_table_that_is_no_more_is_the_first(tab: int) -> None:
    assert monitors(left(ViewMemory(tab))).screen.place == 0


def test_the_last_table_comes_back() -> None:
    last = len(MonitorsScreen.tables) - 1
    assert monitors(left(ViewMemory(last))).screen.place == last


def test_a_kept_search_narrows_from_the_start() -> None:
    every = monitors().listed
    word = STATE.risk.monitors[0].question.split()[-1]
    lone = monitors(left(ViewMemory(search=word)))
    assert 0 < len(lone.listed) < len(every)


@pytest.mark.parametrize("way", ["rising", "falling"])
def test_the_kept_order_of_the_first_table_is_in_force_and_not_written_again(way: str) -> None:
    column = next(one.id for one in MonitorsScreen.tables[0].columns if one.sort_key)
    lone = monitors(left(ViewMemory(), **{"sort.monitors": f"{column} {way}"}))
    kept = lone.screen.lists[0].state()
    assert (kept.sort, kept.falling) == (column, way == "falling")
    assert "sort.monitors" not in lone.kept
    lone.screen.action_sort_reverse()
    lone.screen.keep()
    assert lone.kept["sort.monitors"] == f"{column} {'rising' if way == 'falling' else 'falling'}"


def test_the_cursor_comes_back_to_its_row() -> None:
    key = monitors().listed[3]
    lone = monitors(left(ViewMemory(lists=(TableState(cursor=key, place=3),))))
    assert lone.screen.current_row() == key
    assert lone.screen.current_market() == lone.screen.selected().market_id


def test_the_detail_is_beside_the_list_unless_the_list_is_wide_or_there_is_no_room() -> None:
    width, height = MonitorsScreen.sizes["-with-detail"]
    enough = (max(width, 80), height)
    assert monitors(size=enough).screen.has_class("-with-detail")
    assert not monitors(size=(enough[0], height - 1)).screen.has_class("-with-detail")
    lone = monitors(size=enough)
    lone.screen.add_class("-opened")
    lone.screen.action_wide()
    assert not lone.screen.has_class("-with-detail")
    assert lone.toasts == ["list over the whole width"]
    lone.screen.action_wide()
    assert lone.screen.has_class("-with-detail")
    assert not lone.screen.has_class("-opened")


def test_a_search_finds_by_words_and_by_the_names_of_columns() -> None:
    lone = monitors()
    first = lone.screen.table.order[0]
    column = next(one for one in lone.screen.table.columns if one.title and not one.flex)
    assert lone.screen.cell_of(first, column.id) == str(column.cell(first, lone.screen.view))
    assert lone.screen.cell_of(first, "unknown") == ""
    lone.search("no such words")
    assert lone.listed == []
    assert lone.screen.is_found(first, lone.screen.parsed(first.question.split()[1].casefold()))
    # Compared as the column is titled.
    title = next(name for name, ident in lone.screen.names.items() if name != ident)
    assert lone.screen.parsed(f"{title}:>0") != lone.screen.parsed("unknown:>0")


def test_sorting_keys_work_whatever_has_the_focus() -> None:
    lone = monitors()
    lone.screen.table._lines.lay_out(120, 120)
    before = lone.screen.table.state()
    lone.screen.action_sort_next()
    assert lone.screen.table.state().sort != before.sort
    lone.screen.action_sort_menu()
    (menu,) = lone.opened
    assert isinstance(menu, SortMenu)
    columns = [one.id for one in lone.screen.table.columns if one.sort_key]
    lone.answer(columns[-1])
    assert lone.screen.table.state().sort == columns[-1]
    lone.screen.table.columns = ()
    lone.screen.action_sort_menu()
    assert len(lone.opened) == 1
    assert lone.toasts == ["no sortable column"]


HANDLERS = (
    ("_row_moved", {}), ("_row_opened", {}), ("_row_lost", {}), ("_search_left", {}),
    ("_search_typed", {"text": "x"}), ("_sort_menu_requested", {}), ("_detail_widened", {}),
)  # fmt: skip


@pytest.mark.parametrize(("handler", "given"), HANDLERS)
def test_an_event_of_a_table_is_handled_here_alone(handler: str, given: dict[str, Any]) -> None:
    lone = monitors()
    happened = event(**given)
    getattr(lone.screen, handler)(happened)
    assert happened.stopped == ["stop"]


def test_a_row_that_is_moved_to_is_described_and_enter_opens_its_pane() -> None:
    lone = monitors()
    lone.screen.table.action_move(1)
    before = lone.detail
    lone.screen._row_moved(event())
    assert lone.detail != before
    if not lone.screen.opens:
        lone.screen._row_opened(event())
        assert lone.focused[-1] is lone.screen.pane
    lone.screen._search_left(event())
    assert lone.focused[-1] is lone.screen.table


def test_a_row_is_copied_by_its_name_or_as_json() -> None:
    lone = monitors()
    row = replace(lone.screen.selected(), question="Größe?")
    lone.screen.row_in_focus = lambda: row
    lone.screen.action_copy_cell()
    lone.screen.action_copy_row()
    name, record = (one for one in lone.posted if isinstance(one, Copied))
    assert (name.text, name.what) == ("Größe?", "the name")
    assert json.loads(record.text)["question"] == "Größe?"
    assert "Größe?" in record.text
    assert record.what == "the row as JSON"


def test_a_key_that_neither_the_screen_nor_its_tables_have_is_not_here() -> None:
    lone = monitors()
    screen = lone.screen
    screen._tables = lambda: screen.lists
    assert screen.list_reason("sort_reverse") == ""
    assert screen.list_reason("no_such_action") == "not here"
    key = next(iter(screen.actions))
    assert screen.as_offered(key) is key


def test_a_new_size_arranges_the_screen_anew() -> None:
    lone = monitors(size=(120, 10))
    assert not lone.screen.has_class("-with-detail")
    lone.size = lone.size.with_height(40)
    lone.screen._resized()
    assert lone.screen.has_class("-with-detail")
    assert len(lone.later) > 0

"""A table without an app: where its cursor and its rows go, what it sends, and what it repaints."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from textual.geometry import Offset, Region, Size

from kit.console.alone import event
from kit.console.lone_screen import Fallen
from kit.samples.desk import NOW, sample_state
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.record_table import RecordTable, TableState
from service_tui.console.widgets.table_lines import RowState

VIEW = ViewContext.of(sample_state(), NOW)
WIDTH, HEIGHT = 60, 6
PAGE = HEIGHT - 1


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    value: float | None = None


COLUMNS = (
    Column[Row]("name", "Name", 12, lambda row, _: row.key, lambda row, _: row.key, flex=True),
    Column[Row]("other", "Other", 6, lambda row, _: row.key, lambda row, _: row.key),
    Column[Row]("plain", "Plain", 6, lambda row, _: row.key),
    Column[Row](
        "value", "Value", 8, lambda row, _: f"{row.value}", lambda row, _: row.value, numeric=True
    ),
)


class Bare(RecordTable[Row]):
    """A table of six lines; keeps what is sent, scrolled to and repainted."""

    def __init__(self, rows: Sequence[Row] = (), height: int = HEIGHT) -> None:
        self.cells = Size(WIDTH, height)
        self.y = 0
        self.sent: list[tuple[str, str | None]] = []
        self.painted: list[Any] = []
        self.timers: list[Any] = []
        super().__init__(COLUMNS, lambda row: row.key, "No rows.", view=lambda: VIEW)
        self._fall = Fallen()  # type: ignore[assignment]
        self._lines.lay_out(WIDTH, WIDTH)
        self.show(tuple(rows))
        self.forget()

    @property
    def size(self) -> Size:
        return self.cells

    @property
    def app(self) -> Any:
        return SimpleNamespace(animation_level="none", _exit=True)

    @property
    def scroll_offset(self) -> Any:
        return SimpleNamespace(x=0, y=self.y)

    def scroll_to(self, *_: Any, **given: Any) -> None:
        assert given["animate"] is False
        assert given["force"] is True
        last = max(0, len(self.order) + 1 - self.cells.height)
        before, self.y = self.y, min(last, max(0, given["y"]))
        if before != self.y:
            self._mark_seen()

    def post_message(self, message: Any) -> bool:
        self.sent.append((type(message).__name__.lower(), getattr(message, "row_key", None)))
        return True

    def refresh(self, *regions: Region, **_: Any) -> Any:
        self.painted.extend([one.y for one in regions] or ["all"])
        return self

    def refresh_line(self, y: int) -> None:
        self.painted.append(y)

    def forget(self) -> None:
        """Forget what was sent and painted."""
        self.sent.clear()
        self.painted.clear()

    @property
    def here(self) -> str | None:
        return self.order.cursor

    def keys(self) -> list[str]:
        return [self.order.key_at(place) for place in range(len(self.order))]


def bare(listed: Sequence[Row] = (), height: int = HEIGHT) -> Any:
    return Bare(listed, height)


def rows(count: int, first: int = 0) -> tuple[Row, ...]:
    return tuple(Row(f"k{place:02}", float(place)) for place in range(first, first + count))


def draw(table: Any) -> None:
    """Lay out what is visible, as a paint does."""
    for place in table._visible():
        table._lines.laid(table.order.key_at(place), table.order[place])


# -- the cursor ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "row", "top"),
    [
        ([], 0, 0),
        ([("move", 1)], 1, 0),
        ([("move", -1)], 0, 0),
        ([("move", PAGE - 1)], PAGE - 1, 0),
        ([("move", PAGE)], PAGE, 1),
        ([("move_page", 1)], PAGE, PAGE),
        ([("move_page", 1), ("move_page", -1)], 0, 0),
        ([("move_page", 0.5)], PAGE // 2, PAGE // 2),
        ([("move_to_end", True)], 19, 15),
        ([("move_to_end", True), ("move_to_end", False)], 0, 0),
        ([("move_to_end", True), ("move", -PAGE)], 14, 14),
        ([("move", 100)], 19, 15),
    ],
)
def test_the_cursor_goes_where_its_key_says_and_stays_in_sight(
    keys: list[tuple[str, Any]], row: int, top: int
) -> None:
    table = bare(rows(20))
    for name, by in keys:
        getattr(table, f"action_{name}")(by)
    assert (table.order.index, table.y) == (row, top)
    assert table.sent == [("moved", key) for _, key in table.sent]
    assert len(table.sent) == len(keys)


def test_a_moved_cursor_repaints_the_row_that_it_left_and_its_own() -> None:
    table = bare(rows(4))
    table.action_move(2)
    assert table.painted == [1, 3]
    table.forget()
    table._focus_changed()
    assert table.painted == [3]


def test_a_page_of_a_tiny_table_is_one_row() -> None:
    table = bare(rows(5), height=1)
    table.action_move_page(0.1)
    assert table.order.index == 1


def test_the_cursor_stays_on_its_row_when_rows_come_in_above() -> None:
    table = bare(rows(20, first=10))
    table.action_move(8)
    line = table.order.index - table.y
    table.show(rows(30))
    assert table.here == "k18"
    assert table.order.index is not None
    assert table.order.index - table.y == line


def test_at_the_top_rows_that_come_in_are_seen_while_the_cursor_is() -> None:
    table = bare(rows(20, first=2))
    table.show(rows(22))
    assert (table.here, table.y) == ("k02", 0)
    table.show((*rows(PAGE, first=50), *rows(22)))
    assert table.here == "k02"
    assert table.order.index is not None
    assert table.y <= table.order.index < table.y + PAGE


def test_a_row_that_went_hands_the_cursor_to_its_place_and_keys_do_nothing() -> None:
    table = bare(rows(5))
    table.action_move(2)
    table.forget()
    table.show((*rows(2), *rows(2, first=3)))
    assert table.here == "k03"
    assert 3 in table.painted
    assert table.has_just_fallen
    assert table.selected() is None
    assert table.highlighted() == Row("k03", 3.0)
    assert table.selected_or_marked() == ()
    table.forget()
    table.action_open()
    table.action_mark()
    assert [name for name, _ in table.sent] == ["lost", "lost"]
    assert table.order.marked == frozenset()
    table.action_move(0)
    assert table.selected() == Row("k03", 3.0)
    table.action_open()
    assert table.sent[-1] == ("opened", "k03")


def test_the_last_row_that_went_leaves_the_cursor_to_the_first_that_comes() -> None:
    table = bare(rows(1))
    table.show(())
    assert table.has_just_fallen
    table.action_open()
    assert table.sent[-1][0] == "lost"
    table._fall.end()
    table.show(rows(2, first=5))
    assert table.here == "k05"
    assert table.has_just_fallen


def test_marked_rows_are_those_of_an_action_else_the_highlighted_one() -> None:
    table = bare(rows(3))
    assert [row.key for row in table.selected_or_marked()] == ["k00"]
    table.action_move(1)
    table.action_mark()
    assert table.sent[-1] == ("moved", "k01")
    table.action_move(1)
    assert [row.key for row in table.selected_or_marked()] == ["k01"]
    table.forget()
    table.toggle_all_marks()
    assert table.order.marked == {"k00", "k01", "k02"}
    assert (table.sent, table.painted) == ([("moved", "k02")], ["all"])
    table.clear_marks()
    assert table.order.marked == frozenset()
    assert table.painted == ["all", "all"]


def test_the_cursor_is_put_on_a_row_now_or_as_soon_as_it_comes() -> None:
    table = bare(rows(20))
    table._fall.begin()
    table.put_cursor("k10")
    assert (table.here, table.has_just_fallen) == ("k10", False)
    assert not table.awaits_cursor
    assert table.y <= 10 < table.y + PAGE
    other = bare()
    other.put_cursor("k03")
    other.show(rows(5))
    assert other.here == "k03"
    assert not other.has_just_fallen


# -- a kept layout -------------------------------------------------------------------------------


def test_a_layout_comes_back_once_its_rows_are_there() -> None:
    table = bare(rows(20))
    table.sort_by("value", falling=True)
    table.action_move_to_end(True)  # noqa: FBT003 - as the key gives it
    kept = table.state()
    assert kept == TableState("value", falling=True, cursor="k00", scroll=15, place=19)
    other = bare()
    other.restore(kept)
    assert other.state() == kept
    assert other.awaits_cursor
    other.show(rows(20))
    assert other.state() == kept
    assert not other.awaits_cursor
    assert other.keys()[0] == "k19"


def test_a_kept_cursor_whose_row_went_falls_to_its_place_once_all_is_there() -> None:
    table = bare()
    table.restore(TableState(cursor="gone", place=2))
    table.settle_cursor()
    assert table.awaits_cursor
    table.show(rows(5))
    assert table.here == "gone"
    assert not table.has_just_fallen
    table.settle_cursor()
    assert table.here == "k02"
    assert table.has_just_fallen
    table._fall.end()
    table.settle_cursor()
    assert not table.has_just_fallen


def test_a_layout_without_a_cursor_leaves_it_where_it_is() -> None:
    table = bare(rows(3))
    table.action_move(1)
    table.restore(TableState())
    assert table.here == "k01"
    assert not table.awaits_cursor


# -- the order of rows ---------------------------------------------------------------------------


def test_sorting_walks_the_sortable_columns_and_can_be_reversed() -> None:
    table = bare(rows(3))
    orders: list[tuple[str | None, str]] = []
    for _ in range(4):
        table.action_sort_next()
        orders.append((table.state().sort, table.keys()[0]))
    assert orders == [
        ("name", "k00"), ("other", "k00"), ("value", "k02"), ("name", "k00"),
    ]  # fmt: skip
    table.action_sort_reverse()
    assert (table.state().falling, table.keys()[0]) == (True, "k02")
    table.pick_sort("name")
    assert not table.state().falling
    table.pick_sort("value")
    assert table.state() == replace(table.state(), sort="value", falling=True)
    table.pick_sort("value")
    assert (table.state().falling, table.keys()[0]) == (False, "k00")
    table.sort_by("plain")
    table.action_sort_reverse()
    assert table.state().sort is None
    assert table.keys() == ["k00", "k01", "k02"]
    assert table.shown_columns == {"name", "other", "plain", "value"}


def test_rows_without_a_value_come_last_either_way() -> None:
    table = bare((Row("none"), *rows(2)))
    for falling in (False, True):
        table.sort_by("value", falling=falling)
        assert table.keys()[-1] == "none"


def test_a_filter_hides_rows_and_says_so_when_it_hides_all() -> None:
    table = bare(rows(3))

    def is_second(row: Row) -> bool:
        return row.key == "k01"

    def is_none(_: Row) -> bool:
        return False

    table.filter(is_second)
    assert table.keys() == ["k01"]
    table.filter(is_none)
    assert " 3 " in f" {table.no_row_text} "
    table.filter(None)
    assert len(table.keys()) == 3
    assert bare().no_row_text == "No rows."


def offset_of(offset: Offset | None, _: object) -> Offset | None:
    return offset


def click(table: Any, x: int, y: int, chain: int = 1) -> Any:
    clicked = event(get_content_offset=partial(offset_of, Offset(x, y)), chain=chain)
    table._clicked(clicked)
    return clicked


def test_a_click_selects_a_double_click_opens_and_the_header_sorts() -> None:
    table = bare(rows(4))
    assert click(table, 3, 2).stopped == ["stop"]
    assert table.here == "k01"
    click(table, 3, 3, chain=2)
    assert table.sent == [("moved", "k01"), ("moved", "k02")]
    click(table, 3, 3, chain=2)
    assert table.sent[-1] == ("opened", "k02")
    table.forget()
    click(table, 3, 5)
    assert table.sent == []
    for place in table._lines.placed:
        click(table, place.left, 0)
        sort = None if place.column.id == "plain" else place.column.id
        assert table.state().sort == (sort or "other")
        click(table, place.left + place.width, 0)
    table.y = 0
    outside = event(get_content_offset=partial(offset_of, None), chain=1)
    table._clicked(outside)
    assert outside.stopped == []


# -- what is new above ---------------------------------------------------------------------------


def test_rows_that_come_in_above_are_counted_until_they_were_seen() -> None:
    table = bare(rows(20, first=10))
    table.action_move_to_end(True)  # noqa: FBT003 - as the key gives it
    table.forget()
    table.show((*rows(3), *rows(20, first=10)))
    assert table._above == 3
    assert 0 in table.painted
    table.action_move_to_end(False)  # noqa: FBT003 - as the key gives it
    assert table._above == 0
    table.action_move_to_end(True)  # noqa: FBT003 - as the key gives it
    assert table._above == 0


def test_rows_of_another_list_or_filter_are_not_new() -> None:
    table = bare(rows(20, first=10))
    table.action_move_to_end(True)  # noqa: FBT003 - as the key gives it
    table.show((*rows(3), *rows(20, first=10)))
    table.see_all()
    assert table._above == 0
    table.show(rows(20, first=50))
    assert table._above == 0
    table.show((*rows(2), *rows(20, first=50)))
    first = table._above
    table.show((*rows(2), *rows(20, first=50)))
    assert table._above == first


# -- what is repainted ---------------------------------------------------------------------------


def test_only_lines_that_read_differently_are_repainted() -> None:
    table = bare(rows(4))
    draw(table)
    table.forget()
    table.show(rows(4))
    assert table.painted == []
    draw(table)
    changed = (*rows(2), Row("k02", 99.0), Row("k03", 3.0))
    table.show(changed)
    assert table.painted == [3]
    draw(table)
    table.forget()
    table.redraw()
    assert table.painted == []
    table.show(rows(3))
    assert set(table.painted) == {"all"}


def test_the_title_of_the_row_in_focus_has_a_line_if_there_is_room() -> None:
    table = bare(rows(10), height=12)
    page = table._page

    def title(row: Row) -> str:
        return f"title of {row.key}"

    table.title_of = title
    table.shows_title = True
    assert table._page == page - 1
    assert table._title_of_cursor() == "title of k00"
    table.forget()
    table.action_move(1)
    assert 11 in table.painted
    table.cells = Size(WIDTH, 3)
    assert table._page == 2


@pytest.mark.parametrize(
    ("state", "paper", "bar", "mark"),
    [
        (RowState(), "", False, False),
        (RowState(has_cursor=True, has_focus=True), "row-cursor", True, False),
        (RowState(has_cursor=True), "row-cursor-blurred", True, False),
        (RowState(is_marked=True), "row-mark", False, True),
        (RowState(has_cursor=True, has_focus=True, is_marked=True), "row-cursor", True, True),
    ],
)
def test_a_row_shows_its_cursor_and_its_mark_also_without_colour(
    state: RowState, paper: str, *, bar: bool, mark: bool
) -> None:
    assert state.paper == paper
    assert (state.bar != " ", state.mark != " ") == (bar, mark)


def test_the_state_of_a_row_is_that_of_the_cursor_the_focus_and_the_marks() -> None:
    table = bare(rows(3))
    table.action_mark()
    table.action_move(1)
    assert table._row_state(0) == RowState(is_marked=True)
    assert table._row_state(1) == RowState(has_cursor=True)
    assert table._row_state(2) == RowState()

"""The table of records: cursor, sorting, filter, marks, and stored layouts."""

import asyncio
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text
from textual.app import App, ComposeResult
from textual.events import Click, MouseScrollDown
from textual.pilot import Pilot
from textual.widgets import Label

from kit.console import painting
from kit.console.painted import strips_of
from kit.console.snapshot import assert_snapshot, picture
from kit.console.textual_private import merged_bindings_of, mouse_events
from kit.samples.desk import NOW, sample_state
from service_tui.console import formats, theme
from service_tui.console.keys import bindings_of
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets import table_lines
from service_tui.console.widgets.columns import Column, fitted, fitted_line, placed
from service_tui.console.widgets.cursor_loss import DEAD_S
from service_tui.console.widgets.paint import Paint
from service_tui.console.widgets.record_table import RecordTable, TableState
from service_tui.console.widgets.table_lines import TableLines
from service_tui.units import Micros

SIZE = (80, 12)
VIEW = ViewContext.of(sample_state(), NOW)
PAGE = SIZE[1] - 1
EVIL = "[@click=app.quit]press me[/] [/red] [bold]"


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    name: str
    price: float | None
    pnl: int = 0


COLUMNS = (
    Column[Row]("name", "Name", 12, lambda row, _: row.name, lambda row, _: row.name, flex=True),
    Column[Row](
        "price",
        "Price",
        6,
        lambda row, _: formats.price(row.price, aligned=True),
        lambda row, _: row.price,
        numeric=True,
    ),
    Column[Row](
        "pnl", "P&L $", 10, lambda row, _: formats.pnl(Micros(row.pnl)), numeric=True, tier=80
    ),
    Column[Row]("wide", "Wide", 12, lambda row, _: row.key, tier=120),
)


def rows(count: int) -> tuple[Row, ...]:
    return tuple(
        Row(f"k{at}", f"row {at}", (at * 37 % 97) / 100, (at % 5 - 2) * 1_500_000)
        for at in range(count)
    )


@pytest.fixture(autouse=True)
def each_frame() -> Generator[None]:
    """These tests are about what a frame paints."""
    with painting.each_frame():
        yield


class Bare(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, shown: Sequence[Row] = (), columns: Sequence[Column[Row]] = COLUMNS) -> None:
        super().__init__()
        for each in theme.load_themes(theme.shipped_folder()).themes:
            self.register_theme(each)
        self.theme = "night"
        self.table = RecordTable(
            columns, lambda row: row.key, "No rows yet.\n\nPress r to ask.", view=lambda: VIEW
        )
        self.table.show(shown)
        self.heard: list[tuple[str, str | None]] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.variable_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield self.table

    def on_record_table_moved(self, event: RecordTable.Moved) -> None:
        assert event.control is self.table
        self.heard.append(("moved", event.row_key))

    def on_record_table_opened(self, event: RecordTable.Opened) -> None:
        self.heard.append(("opened", event.row_key))

    def on_record_table_lost(self, event: RecordTable.Lost) -> None:
        self.heard.append(("lost", event.row_key))


def screen_lines(app: App[None]) -> list[str]:
    return [strip.text for strip in strips_of(app.screen)]


def selected_key(app: Bare) -> str | None:
    row = app.table.selected()
    return None if row is None else row.key


async def settled(pilot: Pilot[None], table: RecordTable[Row]) -> None:
    """Let no glow be left, without waiting for it."""
    table._rest()
    await pilot.pause()


@pytest.mark.slow
async def test_the_table_looks_as_it_is_kept() -> None:
    app = Bare(rows(30))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        app.table.sort_by("price", falling=False)
        await pilot.press("j")
        app.table.action_mark()
        await pilot.press("j", "j")
        await assert_snapshot(pilot, "record_table", themes=("night", "paper", "contrast"))


async def test_an_empty_table_says_why_and_what_to_do() -> None:
    app = Bare()
    async with app.run_test(size=SIZE) as pilot:
        assert "No rows yet." in "\n".join(screen_lines(app))
        app.table.empty = "The service is offline."
        await pilot.pause()
        assert "The service is offline." in "\n".join(screen_lines(app))


async def test_an_empty_table_is_painted_again_only_with_another_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Bare()
    async with app.run_test(size=SIZE) as pilot:
        painted: list[object] = []
        refresh = app.table.refresh

        def count(*regions: Any, **how: Any) -> Any:
            painted.append(regions)
            return refresh(*regions, **how)

        monkeypatch.setattr(app.table, "refresh", count)
        app.table.redraw()
        app.table.show(())
        assert painted == []
        app.table.empty = "The service is offline."
        await pilot.pause()
        assert len(painted) == 1
        app.table.filter(lambda _: False)
        painted.clear()
        app.table.show(rows(3))
        await pilot.pause()
        assert "The filter hides all 3 rows." in "\n".join(screen_lines(app))
        assert len(painted) == 1
        app.table.redraw()
        assert len(painted) == 1


@pytest.mark.slow
async def test_a_filter_that_hides_everything_says_so() -> None:
    app = Bare(rows(1_200))
    async with app.run_test(size=SIZE) as pilot:
        app.table.filter(lambda _: False)
        await pilot.pause()
        assert "The filter hides all 1,200 rows." in "\n".join(screen_lines(app))


@pytest.mark.slow
async def test_every_key_of_movement_moves_the_cursor() -> None:
    app = Bare(rows(100))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        half = PAGE // 2
        for key, place in (
            ("j", 1),
            ("down", 2),
            ("k", 1),
            ("up", 0),
            ("k", 0),
            ("ctrl+d", half),
            ("ctrl+u", 0),
            ("pagedown", PAGE),
            ("pageup", 0),
            ("G", 99),
            ("g", 0),
            ("end", 99),
            ("home", 0),
        ):
            await pilot.press(key)
            assert app.table.order.index == place, key
        assert app.heard[:2] == [("moved", "k1"), ("moved", "k2")]


async def test_every_binding_has_an_id_that_no_other_has() -> None:
    bound = merged_bindings_of(RecordTable).key_to_bindings
    ids = [binding.id for binding in bound["j"]]
    assert ids == ["table.down"]
    bindings = [
        b for group in merged_bindings_of(RecordTable).key_to_bindings.values() for b in group
    ]
    assert all(binding.id for binding in bindings)
    own = {b.id for b in bindings_of("rows")} & {binding.id for binding in bindings}
    assert own == {"rows.sort", "rows.reverse", "rows.sort_menu"}


@pytest.mark.slow
async def test_the_cursor_stays_on_its_row_and_its_line_when_rows_are_inserted_above() -> None:
    app = Bare(rows(100))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        await pilot.press("pagedown", "j", "j")
        row = app.table.selected()
        line = app.table.order.index - app.table.scroll_offset.y
        more = tuple(Row(f"n{at}", "new", None) for at in range(40))
        app.table.show(more + rows(100))
        await pilot.pause()
        assert app.table.selected() == row
        assert app.table.order.index - app.table.scroll_offset.y == line


async def test_at_the_top_new_rows_are_seen_as_long_as_the_cursor_is() -> None:
    app = Bare(rows(100))
    async with app.run_test(size=SIZE) as pilot:
        app.table.show((Row("new", "new", None), *rows(100)))
        await pilot.pause()
        assert app.table.scroll_offset.y == 0
        assert app.table.order.index == 1
        assert "new" in screen_lines(app)[1]


@pytest.mark.slow
async def test_a_resort_moves_the_row_and_not_the_selection() -> None:
    app = Bare(rows(50))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        await pilot.press("j", "j", "j")
        for key in "sssSs":
            await pilot.press(key)
            assert selected_key(app) == "k3"
            visible = range(app.table.scroll_offset.y, app.table.scroll_offset.y + PAGE)
            assert app.table.order.index in visible


@pytest.mark.slow
async def test_a_vanished_row_hands_the_cursor_on_and_keys_are_dead_for_a_moment() -> None:
    app = Bare(rows(5))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        await pilot.press("j")
        app.table.show(tuple(row for row in rows(5) if row.key != "k1"))
        app.heard.clear()
        # The neighbour at the same place is highlighted at once, and no key acts on it yet.
        assert app.table.order.cursor == "k2"
        assert app.table.selected() is None
        assert app.table.selected_or_marked() == ()
        app.table.action_open()
        app.table.action_mark()
        await pilot.pause()
        assert app.heard == [("lost", "k2"), ("lost", "k2")]
        assert any(line.startswith("▌") for line in screen_lines(app))
        await asyncio.sleep(DEAD_S)
        assert app.table.selected() is app.table.highlighted()
        await pilot.press("enter")
        assert app.heard[-1] == ("opened", "k2")
        # The last row hands it to the one above; a move of the hand ends the moment.
        await pilot.press("G")
        app.table.show(rows(3))
        assert app.table.order.cursor == "k2"
        await pilot.press("k", "enter")
        assert app.heard[-1] == ("opened", "k1")


async def test_sorting_walks_the_columns_and_shows_its_arrow() -> None:
    app = Bare(rows(9))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        await pilot.press("s")
        assert app.table.state().sort == "name"
        assert "Name↑" in screen_lines(app)[0]
        await pilot.press("s")
        assert app.table.state() == TableState("price", falling=True, cursor="k0", place=8)
        assert "↓Price" in screen_lines(app)[0]
        await pilot.press("S")
        assert "↑Price" in screen_lines(app)[0]
        await pilot.press("s")
        assert app.table.state().sort == "name"


@pytest.mark.slow
async def test_a_click_selects_a_double_click_opens_and_the_header_sorts() -> None:
    app = Bare(rows(9))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(offset=(5, 3))
        assert selected_key(app) == "k2"
        await pilot.double_click(offset=(5, 5))
        assert app.heard[-1] == ("opened", "k4")
        await pilot.click(offset=(5, 0))
        assert app.table.state().sort == "name"
        await pilot.click(offset=(5, 0))
        assert app.table.state().falling
        await pilot.click(offset=(5, 11))
        assert selected_key(app) == "k4"


async def test_a_double_click_opens_no_row_that_came_between_its_clicks() -> None:
    app = Bare(rows(9))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(offset=(5, 5))
        assert selected_key(app) == "k4"
        app.table.show((Row("new", "new", 0.5), *rows(9)))
        second = {"x": 5, "y": 5, "screen_x": 5, "screen_y": 5, "delta_x": 0, "delta_y": 0}
        keys = {"button": 1, "shift": False, "meta": False, "ctrl": False}
        app.table.post_message(Click(app.table, **second, **keys, chain=2))
        await pilot.pause()
        assert selected_key(app) == "k3"
        assert ("opened", "k3") not in app.heard


@pytest.mark.slow
async def test_the_wheel_scrolls_and_leaves_the_cursor() -> None:
    app = Bare(rows(100))
    async with app.run_test(size=SIZE) as pilot:
        await mouse_events(pilot, [MouseScrollDown], offset=(5, 5))
        await pilot.pause()
        assert app.table.scroll_offset.y > 0
        assert selected_key(app) == "k0"
        assert screen_lines(app)[0].split()[0] == "Name"


@pytest.mark.slow
async def test_a_state_kept_comes_back_even_before_there_are_rows() -> None:
    app = Bare(rows(100))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        app.table.sort_by("price")
        await pilot.press("pagedown", "pagedown", "k")
        kept = app.table.state()
    later = Bare()
    later.table.restore(kept)
    async with later.run_test(size=SIZE) as pilot:
        assert later.table.state() == kept
        later.table.show(rows(100))
        await pilot.pause()
        assert later.table.state() == kept
        assert selected_key(later) == kept.cursor


async def test_markup_in_a_cell_is_shown_and_does_nothing() -> None:
    app = Bare((Row("a", EVIL, 0.5), Row("b", "\x1b[31mred\x1b[0m\nline\ttab", 0.5)))
    async with app.run_test(size=SIZE) as pilot:
        lines = screen_lines(app)
        assert EVIL in lines[1]
        assert "\x1b" not in "".join(lines)
        assert "line tab" in lines[2]
        await pilot.click(offset=(6, 1))
        assert app.is_running


@pytest.mark.slow
async def test_every_line_is_as_wide_as_the_screen_whatever_letters_it_has() -> None:
    names = (
        "日本語の市場はどうなりますか、明日までに",
        "🎉🎉🎉 party 🎉🎉",
        "e\u0301te\u0301",
        "naïve",
    )
    shown = tuple(Row(name, name * 4, 0.5) for name in names)
    app = Bare(shown)
    for width in (60, 61, 80, 133, 250):
        async with Bare(shown).run_test(size=(width, 8)) as pilot:
            for line in screen_lines(pilot.app):
                assert cell_len(line) == width
    async with app.run_test(size=(60, 8)):
        assert "…" in screen_lines(app)[1]
        starts = {
            cell_len(line[: line.index("0.500")]) for line in screen_lines(app) if "0.500" in line
        }
        assert len(starts) == 1


@pytest.mark.slow
async def test_columns_come_with_the_width() -> None:
    for width, titles in ((70, 2), (81, 3), (121, 4)):
        app = Bare(rows(3))
        async with app.run_test(size=(width, 8)):
            assert len(app.table._lines.placed) == titles


async def test_a_changed_cell_glows_in_its_direction_and_then_rests() -> None:
    app = Bare(rows(5))
    async with app.run_test(size=SIZE) as pilot:
        calm = await picture(pilot, ("night",))
        changed = list(rows(5))
        changed[1] = replace(changed[1], price=0.9, name="other")
        changed[2] = replace(changed[2], price=0.01)
        app.table.show(tuple(changed))
        assert app.table._lines.glow == {
            "k1": {"name": "glow", "price": "glow-up"},
            "k2": {"price": "glow-down"},
        }
        assert app.table._resting is not None
        # What changes while it glows glows as long as what changed first.
        first = app.table._resting
        changed[3] = replace(changed[3], price=0.95)
        app.table.show(tuple(changed))
        assert app.table._lines.glow.keys() == {"k3"}
        assert app.table._resting is not first
        await settled(pilot, app.table)
        assert app.table._lines.glow == {}
        assert app.table._resting is None
        app.table.show(rows(5))
        await settled(pilot, app.table)
        assert await picture(pilot, ("night",)) == calm


async def test_nothing_glows_when_it_is_turned_off_or_nothing_changed() -> None:
    app = Bare(rows(5))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        app.table.show(rows(5))
        assert app.table._resting is None
        app.table.glowing = False
        app.table.show(tuple(replace(row, price=0.99) for row in rows(5)))
        assert app.table._resting is None
        app.table.glowing = True
        app.animation_level = "none"
        app.table.show(rows(5))
        assert app.table._resting is None


async def test_only_lines_that_read_differently_are_painted_again() -> None:
    app = Bare(rows(50))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        drawn: list[int] = []
        plain = app._display

        def displayed(on: object, update: Any) -> None:
            if update is not None:
                drawn.extend(line for line, _, _ in update.spans)
            plain(on, update)

        app._display = displayed
        app.table.show(
            tuple(replace(row, price=0.99) if row.key == "k3" else row for row in rows(50))
        )
        await pilot.pause()
        assert drawn == [4]
        drawn.clear()
        app.table.redraw()
        await pilot.pause()
        assert drawn == []


async def test_a_line_is_painted_again_when_its_glow_ends() -> None:
    app = Bare(rows(50))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        app.table.show(
            tuple(replace(row, price=0.99) if row.key == "k3" else row for row in rows(50))
        )
        await pilot.pause()
        drawn: list[int] = []
        plain = app._display

        def displayed(on: object, update: Any) -> None:
            if update is not None:
                drawn.extend(line for line, _, _ in update.spans)
            plain(on, update)

        app._display = displayed
        await settled(pilot, app.table)
        assert drawn == [4]


async def test_redraw_shows_what_the_cells_say_now() -> None:
    masked = [False]
    column = Column[Row](
        "pnl",
        "P&L",
        10,
        lambda row, _: formats.pnl(Micros(row.pnl), masked=masked[0]),
        numeric=True,
    )
    app = Bare(rows(3), (column,))
    async with app.run_test(size=SIZE) as pilot:
        assert "-3.00" in screen_lines(app)[1]
        masked[0] = True
        app.table.redraw()
        await pilot.pause()
        assert "•••" in screen_lines(app)[1]


@pytest.mark.slow
async def test_a_hundred_thousand_rows_are_no_burden() -> None:
    app = Bare(rows(100_000))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        await pilot.press("G")
        assert selected_key(app) == "k99999"
        assert len(app.table._lines._laid) < 100


@pytest.mark.slow
async def test_the_table_shrinks_and_grows_with_the_screen() -> None:
    app = Bare(rows(30))
    async with app.run_test(size=(120, 30)) as pilot:
        app.table.focus()
        await pilot.press("G")
        for size in ((60, 10), (20, 3), (8, 2), (3, 1), (200, 50)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert all(cell_len(line) == size[0] for line in screen_lines(app))
            assert selected_key(app) == "k29"


@pytest.mark.slow
async def test_the_table_works_under_a_theme_that_knows_none_of_our_names() -> None:
    app = Bare(rows(5))
    async with app.run_test(size=SIZE) as pilot:
        for name in ("textual-dark", "textual-light", "ansi-dark", "gruvbox"):
            app.theme = name
            await pilot.pause()
            assert "row 0" in screen_lines(app)[1]


def test_columns_leave_by_tier_and_the_flexible_one_takes_the_rest() -> None:
    def shown(width: int) -> dict[str, int]:
        return {each.column.id: each.width for each in placed(COLUMNS, width)}

    assert shown(130) == {"name": 130 - 2 - 6 - 10 - 12 - 6, "price": 6, "pnl": 10, "wide": 12}
    assert list(shown(80)) == ["name", "price", "pnl"]
    assert list(shown(60)) == ["name", "price"]
    assert shown(20) == {"name": 10, "price": 6}
    assert list(shown(12)) == ["name"]


@given(text=st.text(max_size=40), width=st.integers(0, 30), right=st.booleans())
def test_any_text_fills_its_cell_exactly(text: str, width: int, *, right: bool) -> None:
    line = fitted_line(text, width, right=right)
    assert cell_len(line) == width
    assert line.isprintable()


@pytest.mark.slow
@given(
    first=st.text(max_size=12),
    second=st.text(max_size=12),
    width=st.integers(0, 30),
    right=st.booleans(),
)
def test_text_in_two_colours_fills_its_cell_exactly(
    first: str, second: str, *, width: int, right: bool
) -> None:
    cell = Text.assemble((first, "profit"), (second, "loss"))
    pieces = fitted(cell, width, right=right)
    assert sum(cell_len(text) for text, _ in pieces) == width


def test_a_text_in_two_colours_keeps_them() -> None:
    cell = Text.assemble(("ab", "profit"), ("cd", "loss"))
    assert fitted(cell, 6, right=True) == (("  ", ""), ("ab", "profit"), ("cd", "loss"))
    assert fitted(cell, 3, right=False) == (("ab", "profit"), ("…", "loss"))
    assert fitted(cell, 2, right=False) == (("a…", "profit"),)


@pytest.mark.slow
async def test_rows_that_come_in_above_the_fold_are_counted_until_they_were_seen() -> None:
    app = Bare(rows(40))
    async with app.run_test(size=SIZE) as pilot:
        newer = tuple(Row(f"n{at}", f"newer {at}", 0.5) for at in range(PAGE + 3))
        app.table.show((*newer[-2:], *rows(40)))
        await pilot.pause()
        # At the top they are seen as they come in.
        assert "new above" not in screen_lines(app)[0]
        app.table.show((*newer, *rows(40)))
        await pilot.pause()
        assert selected_key(app) == "k0"
        assert f"▲ {PAGE + 1} new above" in screen_lines(app)[0]
        assert all(title in screen_lines(app)[0] for title in ("Name", "Price", "P&L $"))
        await pilot.press("k", "k")
        await pilot.press("home")
        await pilot.pause()
        assert "new above" not in screen_lines(app)[0]
        # Another list is no news.
        await pilot.press("end")
        app.table.show(tuple(replace(one, key=f"other {one.key}") for one in rows(90)))
        await pilot.pause()
        assert "new above" not in screen_lines(app)[0]
        # Nor are rows that another filter brings.
        await pilot.press("end")
        app.table.show((*newer, *app.table.order._rows))
        app.table.see_all()
        await pilot.pause()
        assert "new above" not in screen_lines(app)[0]


def test_a_cell_of_the_row_alone_is_laid_out_once_a_row_and_masking() -> None:
    asked: list[str] = []

    def cell(name: str, *, of_row: bool) -> Column[Row]:
        def text(row: Row, view: ViewContext) -> str:
            asked.append(name)
            return f"{row.name} {view.masked}"

        return Column[Row](name, name, 12, text, of_row=of_row)

    state = sample_state()
    views = [ViewContext.of(state, NOW)]
    columns = (cell("fixed", of_row=True), cell("timed", of_row=False))
    lines = TableLines(columns, Paint(Label()), lambda: views[0])
    lines.lay_out(60, 60)
    row = Row("k", "first", 0.5)
    first = lines.laid("k", row).cells
    assert asked == ["fixed", "timed"]
    lines.forget()
    assert lines.laid("k", row).cells == first
    assert asked == ["fixed", "timed", "timed"]
    # Nothing is laid out twice without a reason, and two redraws without a paint lose nothing.
    lines.forget()
    lines.forget()
    lines.laid("k", row)
    assert asked[3:] == ["timed"]
    # Another row of the same key, masking, or another width: every cell anew.
    lines.forget()
    assert "second" in lines.laid("k", replace(row, name="second")).cells[0][0][0]
    assert asked[4:] == ["fixed", "timed"]
    views[0] = ViewContext.of(replace(state, preferences={"privacy": "on"}), NOW)
    lines.forget()
    assert "True" in lines.laid("k", row).cells[0][0][0]
    asked.clear()
    lines.lay_out(80, 80)
    lines.laid("k", row)
    assert asked == ["fixed", "timed"]


@pytest.mark.parametrize(
    ("was", "now", "ground"),
    [(0.0, 0.5, "glow-up"), (0.5, 0.0, "glow-down"), (0.5, 0.5, "glow"), (None, 0.5, "glow")],
)
def test_a_figure_that_was_or_is_nothing_has_a_direction_too(
    was: float | None, now: float, ground: str
) -> None:
    before, after = Row("k", "a", was), Row("k", "a", now)
    assert table_lines._direction(COLUMNS[1], before, after, VIEW) == ground


@pytest.mark.slow
async def test_a_new_theme_colours_every_kept_line_anew() -> None:
    def styles() -> list[list[object]]:
        return [[part.style for part in strip] for strip in strips_of(app.screen)]

    app = Bare(rows(30))
    async with app.run_test(size=SIZE) as pilot:
        before = styles()
        app.theme = "paper"
        await pilot.pause()
        assert all(was != now for was, now in zip(before, styles(), strict=True))


@pytest.mark.slow
async def test_a_column_that_fits_is_as_wide_as_its_longest_text_so_far() -> None:
    def width() -> int:
        return screen_lines(app)[0].index("Agent") - 2

    agent = Column[Row]("agent", "Agent", 14, lambda row, _: row.key, fits=True)
    app = Bare(rows(5), (COLUMNS[0], agent))
    async with app.run_test(size=SIZE) as pilot:
        narrow = width()
        app.table.show((Row("moss-run", "one", 0.5), *rows(5)))
        await pilot.pause()
        assert (narrow - width(), "moss-run" in screen_lines(app)[1]) == (3, True)
        app.table.show((Row("a name of twenty and more letters", "one", 0.5),))
        await pilot.pause()
        assert (narrow - width(), "a name of twe…" in screen_lines(app)[1]) == (9, True)
        # It does not jump back and forth with what is shown.
        app.table.show(rows(5))
        await pilot.pause()
        assert narrow - width() == 9


@pytest.mark.slow
async def test_a_page_moves_the_view_and_a_row_only_as_far_as_it_must() -> None:
    app = Bare(rows(40))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        for keys, row, top in (
            ((*"jjjjjjjjjj",), PAGE - 1, 0),
            (("j",), PAGE, 1),
            (("home", "pagedown"), PAGE, PAGE),
            (("pageup",), 0, 0),
            (("ctrl+d",), PAGE // 2, PAGE // 2),
            (("end",), 39, 40 - PAGE),
            ((*"kkkkkkkkkkk",), 39 - PAGE, 39 - PAGE),
        ):
            await pilot.press(*keys)
            assert (app.table.order.index, app.table.scroll_offset.y) == (row, top), keys
        await pilot.resize_terminal(80, 1)
        await pilot.press("home", "ctrl+d")
        assert app.table.order.index == 1


@pytest.mark.slow
async def test_the_first_row_after_none_is_no_row_that_a_key_means_at_once() -> None:
    app = Bare(rows(1))
    async with app.run_test(size=SIZE) as pilot:
        app.table.focus()
        app.table.show(())
        await pilot.press("enter")
        assert app.heard[-1][0] == "lost"
        # The row comes back as it was, and is the one that the person saw.
        app.table.show(rows(1))
        await pilot.press("enter")
        assert app.heard[-1] == ("opened", "k0")
        app.table.show(())
        await asyncio.sleep(DEAD_S)
        app.table.show((Row("other", "other", 0.5),))
        assert app.table.order.cursor == "other"
        await pilot.press("enter")
        assert app.heard[-1] == ("lost", "other")
        # A cursor that is put on a row means it.
        app.table.put_cursor("other")
        await pilot.press("enter")
        assert app.heard[-1] == ("opened", "other")


async def test_a_column_that_is_picked_again_is_reversed_and_one_without_an_order_is_none() -> None:
    app = Bare(rows(9))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert app.table.shown_columns == {"name", "price", "pnl"}
        for column, sort, falls in (
            ("price", "price", True), ("price", "price", False), ("name", "name", False),
            ("pnl", None, True),
        ):  # fmt: skip
            app.table.pick_sort(column)
            kept = app.table.state()
            assert (kept.sort, kept.falling or sort is None) == (sort, falls)
        app.table.focus()
        await pilot.press("S")
        assert app.table.state().sort is None
        assert app.table.order.key_at(0) == "k0"
        header = screen_lines(app)[0]
        await pilot.click(offset=(header.index("Price") + 4, 0))
        assert app.table.state().sort == "price"
        await pilot.click(offset=(header.index("P&L"), 0))
        assert app.table.state().sort == "price"


@pytest.mark.slow
async def test_the_last_line_is_the_whole_title_of_the_row_in_focus_if_there_is_room() -> None:
    app = Bare(rows(40))
    async with app.run_test(size=SIZE) as pilot:
        app.table.title_of = lambda row: f"title of {row.key}"
        app.table.shows_title = True
        app.table.focus()
        await pilot.pause()
        assert screen_lines(app)[-1].strip() == "title of k0"
        await pilot.press("j")
        assert screen_lines(app)[-1].strip() == "title of k1"
        await pilot.press("end")
        assert "row 39" in screen_lines(app)[-2]
        await pilot.resize_terminal(80, 5)
        await pilot.pause()
        assert "title of" not in "\n".join(screen_lines(app))


@pytest.mark.slow
async def test_a_journal_opens_at_its_newest_row_and_stays_there() -> None:
    app = Bare(rows(3))
    app.table.newest_on_top = True
    async with app.run_test(size=SIZE) as pilot:
        app.table.restore(TableState(cursor="k2", place=2))
        assert app.table.highlighted() == rows(3)[0]
        newer = Row("newer", "just now", 0.5)
        app.table.show((newer, *rows(3)))
        assert app.table.highlighted() == newer
        # Nobody has seen it yet: no key works on it at first.
        assert app.table.selected() is None
        await pilot.press("g")
        assert app.table.selected() == newer
        # Whoever has left the top keeps the row that he reads.
        await pilot.press("j")
        app.table.show((Row("newest", "now", 0.5), newer, *rows(3)))
        assert app.table.selected() == rows(3)[0]


NEWEST = Row("newest", "now", 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sort", "falling", "follows"),
    [
        (None, False, True),
        ("price", True, True),
        ("price", False, False),
        ("name", True, False),
    ],
)
async def test_a_journal_follows_its_newest_row_in_its_own_order_only(
    sort: str | None, *, falling: bool, follows: bool
) -> None:
    app = Bare(rows(3))
    app.table.newest_on_top, app.table.newest_by = True, "price"
    async with app.run_test(size=SIZE):
        app.table.sort_by(sort, falling=falling)
        before = app.table.highlighted()
        app.table.show((NEWEST, *rows(3)))
        assert app.table.highlighted() == (NEWEST if follows else before)


@pytest.mark.slow
async def test_a_journal_that_is_acted_on_holds_its_row_while_it_is_looked_at() -> None:
    app = Bare(rows(3))
    app.table.newest_on_top = app.table.keeps_row = True
    async with app.run_test(size=SIZE) as pilot:
        first, second = Row("n1", "now", 0.5), Row("n2", "now", 0.5)
        # Not all of its rows are here: nobody can have read it.
        app.table.show((first, *rows(3)))
        assert app.table.highlighted() == first
        app.table.settle_cursor()
        app.table.show((second, first, *rows(3)))
        assert app.table.highlighted() == first
        await pilot.pause()
        # Looked at anew it is at its newest row, unless the person has moved it.
        app.table.look_away()
        app.table.show((NEWEST, second, first, *rows(3)))
        assert app.table.highlighted() == NEWEST
        app.table.settle_cursor()
        app.table.focus()
        await pilot.press("j")
        app.table.look_away()
        app.table.show((Row("n4", "now", 0.5), NEWEST, second, first, *rows(3)))
        assert app.table.highlighted() == second


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("insufficient balance: 1,204.50 of it", 26, "insufficient balance:…     "[:26]),
        ("bought 51.20 NO at 0.412 for 21.09", 30, "bought 51.20 NO at 0.412 for… "[:30]),
        ("bought 51.20 NO at 0.412 for 21.09", 34, "bought 51.20 NO at 0.412 for 21.09"),
        ("0x72f5aa00bb11cc22dd33ee44ff5566", 26, "0x72f5aa00bb11cc22dd33ee4…"),
        ("Lumen trades above", 10, "Lumen tra…"),
    ],
)
def test_a_sentence_is_cut_at_a_word_so_that_no_number_is_halved(
    text: str, width: int, line: str
) -> None:
    assert fitted_line(text, width) == line

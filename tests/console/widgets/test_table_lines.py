"""The lines of a table without an app: their cells, marks and notes, each as wide as the table."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from rich.segment import Segment
from rich.style import Style

from kit.samples.desk import NOW, sample_state
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import GUTTER, Column
from service_tui.console.widgets.table_lines import RowState, TableLines

STATE = replace(sample_state(), preferences={})
PRIVATE = replace(STATE, preferences={"privacy": "on"})
INNER, OUTER = 40, 42


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    value: float


class NamedStyles:
    """One style for each pair of ink and paper, and the reverse: which pair a style is of."""

    def __init__(self) -> None:
        self.made: dict[tuple[Any, str], Style] = {}
        self.ground = Style()

    def style(self, ink: Any = "", paper: str = "") -> Style:
        return self.made.setdefault((ink, paper), Style(meta={"is": f"{ink}/{paper}"}))

    def named(self, segment: Segment) -> str:
        assert segment.style is not None
        return str(segment.style.meta.get("is", "ground"))


def sign(row: Row, _: ViewContext) -> str:
    return "▲" if row.value > 0 else ""


def name(row: Row, view: ViewContext) -> str:
    return "hidden" if view.masked else f"row {row.key}"


def figure(row: Row, _: ViewContext) -> str:
    return f"{row.value}"


NAME = Column[Row]("name", "Name", 12, name, lambda row, _: row.key, flex=True, of_row=True)
VALUE = Column[Row]("value", "Value", 6, figure, lambda row, _: row.value, numeric=True)


class Lines:
    """The lines of a table of two columns."""

    def __init__(self, *columns: Column[Row]) -> None:
        self.view = ViewContext.of(STATE, NOW)
        self.paint = NamedStyles()
        paint: Any = self.paint
        self.lines = TableLines[Row](columns or (NAME, VALUE), paint, lambda: self.view)
        self.lines.lay_out(INNER, OUTER)

    def row(self, row: Row, state: RowState | None = None) -> str:
        strip = self.lines.row(row.key, row, state or RowState())
        assert strip.cell_length == OUTER
        return strip.text

    def inks(self, row: Row, state: RowState | None = None) -> list[tuple[str, str]]:
        strip = self.lines.row(row.key, row, state or RowState())
        return [(one.text.strip(), self.paint.named(one)) for one in strip if one.text.strip()]


ONE = Row("one", 1.5)


def test_a_row_has_its_cursor_its_mark_and_its_cells() -> None:
    lines = Lines()
    assert lines.row(ONE).split() == ["row", "one", "1.5"]
    assert lines.row(ONE, RowState(has_cursor=True, has_focus=True)).startswith("▌")
    assert lines.row(ONE, RowState(is_marked=True))[1] != " "
    # Drawn anew once its state differs, and kept while it does not.
    assert lines.lines.row("one", ONE, RowState()) is lines.lines.row("one", ONE, RowState())
    lines.lines.recolour()
    first = lines.lines.row("one", ONE, RowState())
    lines.lines.recolour()
    assert lines.lines.row("one", ONE, RowState()) is not first


def test_the_ground_of_the_cursor_wins_over_a_glow() -> None:
    lines = Lines()
    lines.lines.glow = {"one": {"value": "glow-up"}}
    assert dict(lines.inks(ONE))["1.5"] == "/glow-up"
    grounds = {ink for _, ink in lines.inks(ONE, RowState(has_cursor=True))}
    assert grounds == {"accent/row-cursor-blurred", "/row-cursor-blurred"}


def test_masking_shows_and_hides_every_cell_anew() -> None:
    lines = Lines()
    for state, said in ((STATE, "row one"), (PRIVATE, "hidden"), (STATE, "row one")):
        lines.view = ViewContext.of(state, NOW)
        lines.lines.forget()
        assert said in lines.row(ONE)
    begun = Lines()
    begun.view = ViewContext.of(PRIVATE, NOW)
    assert "hidden" in begun.row(ONE)


def test_a_sign_in_the_gutter_gives_way_to_a_mark() -> None:
    column = Column[Row]("sign", "", 1, sign, in_gutter=True)
    lines = Lines(column, NAME, VALUE)
    assert "▲" in lines.row(ONE)[:GUTTER]
    marked = lines.row(ONE, RowState(is_marked=True))
    assert "▲" not in marked
    # The other cells stay where they are.
    assert marked.index("row one") == lines.row(ONE).index("row one")
    assert marked.split()[-1] == "1.5"


@pytest.mark.parametrize(
    ("sort", "falling", "shown"),
    [(None, False, "Value"), ("value", False, "↑Value"), ("value", True, "↓Value"),
     ("name", True, "Name↓")],
)  # fmt: skip
def test_the_sorted_title_has_its_arrow(sort: str | None, shown: str, *, falling: bool) -> None:
    strip = Lines().lines.header(sort, falling=falling)
    assert strip.cell_length == OUTER
    assert shown in strip.text.split()
    assert ("↑" in strip.text or "↓" in strip.text) is (sort is not None)


def test_a_note_stands_in_the_header_beside_every_title() -> None:
    plain = Lines().lines.header(None, falling=False)
    noted = Lines().lines.header(None, falling=False, note=" ▲ 5 new above ")
    assert noted.cell_length == plain.cell_length == OUTER
    assert noted.text.split() == ["Name", "▲", "5", "new", "above", "Value"]
    assert noted.text.index("Value") == plain.text.index("Value")


def test_a_title_a_blank_line_and_a_quiet_text_fill_the_table() -> None:
    lines = Lines().lines
    title = lines.title("a whole title")
    assert (title.text.rstrip(), title.cell_length) == (f"{' ' * GUTTER}a whole title", OUTER)
    assert lines.title("x" * 99).cell_length == OUTER
    assert (lines.blank().text.strip(), lines.blank().cell_length) == ("", OUTER)
    shown = [lines.text_line("No rows.\n\nPress r.", y, 9) for y in range(9)]
    assert {strip.cell_length for strip in shown} == {OUTER}
    assert [strip.text.strip() for strip in shown] == [
        "",
        "",
        "No rows.",
        "",
        "Press r.",
        *[""] * 4,
    ]
    narrow = Lines().lines
    narrow.lay_out(1, 1)
    assert narrow.title("text").cell_length == 1

"""What the screens say of a state, made by their functions: no app runs, nothing is painted.

    assert_text("texts_monitors", lines_of(MonitorsScreen, state))

The file is compared line by line, and written anew by SNAPSHOT_UPDATE=1. A style stands in
brackets before what it colours.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from kit.console.acting import StubScreen
from kit.console.snapshot import assert_same
from service_tui.console.forms.explain import Explanation
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.table_spec import TableSpec
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.line_fit import Bit

ROWS_MAX = 12


def assert_text(name: str, lines: Iterable[str], folder: Path | None = None) -> None:
    """Compare lines with the file of that name."""
    text = "\n".join(lines)
    assert text, f"{name} says nothing"
    assert_same(name, f"{text}\n", folder)


def shown(text: Any) -> str:
    """A text with its styles, on one line."""
    if isinstance(text, Bit):
        parts = [shown(getattr(text, one.name)) for one in fields(text)]
        return " | ".join(parts)
    if not isinstance(text, Text):
        return str(text)
    return text.markup.replace("\n", "⏎")


def lines_of(screen: type[TableScreen[Any]], view: ViewContext) -> Iterator[str]:
    """Every table of a screen: its cells, orders, searches, and what is told of each row."""
    for spec in screen.tables:
        yield f"== {spec.label(view.state)}"
        rows = spec.rows(view.state)[:ROWS_MAX]
        for row in rows:
            yield f"-- {spec.key(row)}"
            yield from cells(spec, row, view)
        yield from orders(spec, rows, view)
        yield f"empty: {spec.empty_text(view.state)!r}"


def cells(spec: TableSpec[Any], row: Any, view: ViewContext) -> Iterator[str]:
    for column in spec.columns:
        yield f"{column.id}: {shown(column.cell(row, view))}"
    for name, value in spec.compared.items():
        yield f"{name} = {value(row, view)}"
    yield f"found by {spec.search_text(row, view)!r}"


def orders(spec: TableSpec[Any], rows: Iterable[Any], view: ViewContext) -> Iterator[str]:
    """The rank of each row in each column by which a table is sorted."""
    for column in spec.columns:
        if column.sort_key is not None:
            yield f"{column.id} sorts by {[column.sort_key(row, view) for row in rows]}"


def told(texts: Iterable[Any], name: str = "") -> Iterator[str]:
    """Texts of a pane or a page, each on a line of its own."""
    for place, text in enumerate(texts):
        yield f"{name}{place}: {shown(text)}"


def explained(parts: Iterable[Explanation]) -> Iterator[str]:
    """Where each number comes from."""
    for part in parts:
        inputs = "; ".join(f"{label} = {shown(value)}" for label, value in part.inputs)
        yield f"{part.name} = {shown(part.value)} by {part.formula!r}"
        yield f"    of {inputs} | {part.source} | {shown(part.age)}"


def of_record(record: Any) -> Iterator[str]:
    """Every field of a record on a line, texts with their styles."""
    assert is_dataclass(record)
    for one in fields(record):
        value = getattr(record, one.name)
        if is_dataclass(value) or (isinstance(value, tuple) and value and is_dataclass(value[0])):
            continue
        yield f"{one.name}: {shown(value)}"


def explanations(screen: type[TableScreen[Any]], view: ViewContext) -> Iterator[str]:
    """What `explain` shows of each row of each table of a screen."""
    for spec in screen.tables:
        stub: Any = StubScreen(view.state, spec=spec, now=view.now)
        for row in (None, *spec.rows(view.state)[:ROWS_MAX]):
            yield f"-- {'no row' if row is None else spec.key(row)}"
            yield from explained(screen.explain(stub, row, view))

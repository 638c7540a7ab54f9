"""Rows of a list as lines of text, for a shell."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len

from service_tui.console import formats
from service_tui.desk.audit.exports import Row, Rows
from service_tui.desk.audit.listings import LISTINGS
from service_tui.desk.audit.report_rows import Cell

CELL_MAX: Final = 200
_PRICES: Final = frozenset({"yes", "average", "mark_price", "price", "trigger_price", "change_24h"})
_MOMENTS: Final = frozenset({"at", "ends", "created", "expires", "world_time", "halted_since"})
_NONE: Final = {"alerts": "no open alert; the console lists ended ones as well"}
_GAP: Final = "  "
_UNKNOWN: Final = "-"


def as_lines(name: str, rows: Rows) -> list[str]:
    """The rows as a table for a person, or the fields of one row below each other."""
    if not rows:
        return [_NONE.get(name, f"no {name}")]
    columns = LISTINGS[name].columns
    if not columns:
        blocks = ["\n".join(_fields(row)) for row in rows]
        return "\n\n".join(blocks).split("\n")
    return _table(columns, rows)


def _fields(row: Row) -> list[str]:
    width = max(map(len, row))
    return [f"{_title(key):<{width}}{_GAP}{_text(key, cell)}" for key, cell in row.items()]


def _table(columns: Sequence[str], rows: Rows) -> list[str]:
    texts = [[_text(key, row[key]) for key in columns] for row in rows]
    heads = [_title(key) for key in columns]
    widths = [max(map(cell_len, column)) for column in zip(heads, *texts, strict=True)]
    rights = [any(isinstance(row[key], int | float) for row in rows) for key in columns]
    return [
        _GAP.join(
            _padded(cell, width, right=right)
            for cell, width, right in zip(cells, widths, rights, strict=True)
        ).rstrip()
        for cells in (heads, *texts)
    ]


def _padded(cell: str, width: int, *, right: bool) -> str:
    room = " " * (width - cell_len(cell))
    return room + cell if right else cell + room


def _title(key: str) -> str:
    return key.replace("_", " ")


def _text(key: str, cell: Cell) -> str:
    if cell is None:
        return _UNKNOWN
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:z.4f}" if key in _PRICES else f"{cell:z,.2f}"
    text = formats.plain(str(cell), CELL_MAX).plain
    if key in _MOMENTS:
        return f"{text[:16].replace('T', ' ')} UTC"
    return text

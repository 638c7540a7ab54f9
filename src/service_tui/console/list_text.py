"""Rows of a list as lines of text, for a shell."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Final

from rich.cells import cell_len

from service_tui.console import formats
from service_tui.console.need_rows import LISTINGS
from service_tui.console.questions import short_question
from service_tui.desk.audit.exports import Row, Rows
from service_tui.desk.audit.report_rows import Cell

CELL_MAX: Final = 200
_PRICES: Final = frozenset({
    *("yes", "average", "mark_price", "price", "trigger_price", "stop", "target"),
})
_MOMENTS: Final = frozenset({
    *("at", "ends", "resolves", "created", "expires", "world_time", "halted_since"),
})
_IDS: Final = frozenset({"market", "order", "agent"})
"""Columns of ids: nobody reads them, and a script takes `--json`."""

_NAME: Final = "question"
_NAME_MIN: Final = 24
"""Cells of a name at least, in which it is wrapped at its words."""

_TITLES: Final = {
    "exit_value": "sale value",
    "mark_price": "mark",
    "yes": "YES",
    "agent_name": "agent",
    "left_s": "seconds left",
    "pays_worst": "pays at worst",
    "pays_best": "at best",
    "sum_yes": "sum of YES",
    "yes_set_cost": "YES set",
    "yes_set_pays": "pays",
    "no_set_cost": "NO set",
    "no_set_pays": "pays",
    "pays_yes": "if YES",
    "pays_no": "if NO",
    "sale_value": "sale value",
    "change_24h": "24h pt",
    "volume_24h": "24h vol $",
    "unrealized": "P&L",
    "pnl": "P&L",
    "average": "avg",
    "trigger_price": "trigger",
    "mark_equity": "at mark",
    "day_pnl": "day P&L",
    "total_pnl": "total P&L",
    "money": "ccy",
    "cost": "amount",
    "leash": "permissions",
    "to_redeem": "pays",
    _NAME: "market",
}
"""What the screens call a figure, where the key of a row says it another way."""

_NONE: Final = {
    "alerts": "no open alert; the console lists ended ones as well",
    "needs": "nothing needs you",
    "events": "no event: no two outcomes of one question are listed",
    **dict.fromkeys(("exposure", "calendar", "held"), "nobody holds anything"),
}
_GAP: Final = "  "
_UNKNOWN: Final = "-"


def as_lines(name: str, rows: Rows, *, ids: bool = False, width: int = 0) -> list[str]:
    """The rows as a table for a person, or the fields of one row below each other.

    Args:
        name: one of LISTINGS.
        rows: its rows; of markets those that ended are left out, and counted below.
        ids: whether ids are shown as well.
        width: cells of a line, in which names are wrapped; 0: as long as they are.
    """
    if not rows:
        return [_NONE.get(name, f"no {name}")]
    columns = LISTINGS[name].columns
    if not columns:
        # The name first, as in a list; `status` is of one agent and has none.
        blocks = ["\n".join(_fields(_named(row, ids=ids))) for row in rows]
        return "\n\n".join(blocks).split("\n")
    shown = [row for row in rows if name != "markets" or row["status"] == "active"]
    if not shown:
        return ["no open market; --json has those that ended"]
    # The name first: a list is read by it.
    first = [_NAME] if _NAME in columns else []
    others = [key for key in columns if key != _NAME and (ids or key not in _IDS)]
    lines = _table((*first, *others), shown, width)
    over = len(rows) - len(shown)
    return [*lines, *([f"{over:,} ended, left out; --json has them"] if over else [])]


def _fields(row: Row) -> list[str]:
    width = max(len(_title(key)) for key in row)
    return [f"{_title(key):<{width}}{_GAP}{_text(key, cell)}" for key, cell in row.items()]


def _named(row: Row, *, ids: bool) -> Row:
    """The fields of a row for a person: its name first, its ids where they were asked for."""
    first = {key: row[key] for key in ("name",) if key in row}
    return first | {key: cell for key, cell in row.items() if ids or key not in _IDS}


def _table(columns: Sequence[str], rows: Rows, width: int) -> list[str]:
    """Numbered rows under their titles; a name that is too long goes on in the lines below."""
    numbers = [f"{place}" for place in range(1, len(rows) + 1)]
    texts = [
        [number, *(_text(key, row[key]) for key in columns)]
        for number, row in zip(numbers, rows, strict=True)
    ]
    heads = ["#", *map(_title, columns)]
    widths = [max(map(cell_len, column)) for column in zip(heads, *texts, strict=True)]
    rights = [True, *(any(isinstance(row[key], int | float) for row in rows) for key in columns)]
    if width and _NAME in columns:
        place = columns.index(_NAME) + 1
        spare = width - sum(widths) - len(_GAP) * (len(widths) - 1)
        widths[place] = max(min(widths[place], _NAME_MIN), widths[place] + min(0, spare))
        texts = [line for cells in texts for line in _wrapped(cells, place, widths[place])]
    return [
        _GAP.join(
            _padded(cell, width, right=right)
            for cell, width, right in zip(cells, widths, rights, strict=True)
        ).rstrip()
        for cells in (heads, *texts)
    ]


def _wrapped(cells: list[str], place: int, width: int) -> list[list[str]]:
    """A row as one line or more: its name at one place is wrapped at its words."""
    first, *more = wrap(cells[place], width, break_on_hyphens=False) or [""]
    blank = [""] * len(cells)
    return [
        [*cells[:place], first, *cells[place + 1 :]],
        *([*blank[:place], part, *blank[place + 1 :]] for part in more),
    ]


def _padded(cell: str, width: int, *, right: bool) -> str:
    room = " " * (width - cell_len(cell))
    return room + cell if right else cell + room


def _title(key: str) -> str:
    return _TITLES.get(key, key.replace("_", " "))


def _text(key: str, cell: Cell) -> str:
    if cell is None:
        return _UNKNOWN
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return _number(key, cell)
    if key == _NAME:
        return short_question(str(cell))
    return str(cell).upper() if key == "side" else _plain(key, str(cell))


def _number(key: str, value: float) -> str:
    if key == "change_24h":
        return f"{100 * value:+z.1f}"
    if key in _PRICES:
        return formats.price(value).plain
    return f"{value:z,.2f}"


def _plain(key: str, cell: str) -> str:
    text = formats.plain(cell, CELL_MAX).plain
    return f"{text[:16].replace('T', ' ')} UTC" if key in _MOMENTS else text

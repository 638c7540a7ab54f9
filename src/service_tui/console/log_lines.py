"""Lines of an output: bounded, joined from successive tails, searched, or as a table. Pure."""

import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias, cast

from rich.cells import cell_len, chop_cells, set_cell_size

from service_tui.folding import folded

LINES_MAX: Final = 5_000
"""Lines of an output that are kept; older ones are only in its file."""

COLUMNS_MAX: Final = 12
CELLS_MAX: Final = 32
"""Columns of the table, and cells of one."""

_GAP: Final = "  "
_NUMBER: Final = (int, float)

JsonObject: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line of the view, and the line of the output that it is a part of."""

    source: int
    text: str


class LogLines:
    """The newest lines of an output, oldest first."""

    def __init__(self, lines_max: int = LINES_MAX) -> None:
        self._lines: deque[str] = deque(maxlen=lines_max)
        self._tail: tuple[str, ...] = ()
        self.dropped = 0
        """Lines that were left out at the front so far."""

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines that are kept."""
        return tuple(self._lines)

    def feed(self, tail: tuple[str, ...]) -> int:
        """Take the newest end of the output.

        Args:
            tail: its last lines; the last may still grow.

        Returns:
            The number of new lines.
        """
        if tail == self._tail:
            return 0
        shared = shared_lines(self._tail, tail)
        if shared and self._lines:
            # It may have grown since.
            self._lines[-1] = tail[shared - 1]
        fresh = tail[shared:]
        self.dropped += max(0, len(self._lines) + len(fresh) - (self._lines.maxlen or 0))
        self._lines.extend(fresh)
        self._tail = tail
        return len(fresh)


def shared_lines(before: Sequence[str], after: Sequence[str]) -> int:
    """The number of lines at the start of `after` that were the end of `before`."""
    for start in range(len(before)):
        count = len(before) - start
        if count > len(after):
            continue
        whole = count - 1
        if after[whole].startswith(before[-1]) and all(
            old == new
            for old, new in zip(islice(before, start, None), islice(after, whole), strict=False)
        ):
            return count
    return 0


def wrapped(lines: Iterable[str], width: int) -> list[ShownLine]:
    """The lines, those too long continued on the next one.

    Width in cells; below 2 it is taken as 2, the width of the widest letter.
    """
    return [
        ShownLine(source, part)
        for source, line in enumerate(lines)
        for part in (_parts(line, max(2, width)) if cell_len(line) > width else (line,))
    ]


def _parts(line: str, width: int) -> list[str]:
    """A line cut behind a space where its last third has one, else at the edge."""
    parts: list[str] = []
    while cell_len(line) > width:
        part = chop_cells(line, width)[0]
        space = part.rfind(" ") + 1
        part = part[:space] if space > len(part) * 2 // 3 else part
        parts.append(part)
        line = line[len(part) :]
    return [*parts, line] if line else parts


def unwrapped(lines: Iterable[str]) -> list[ShownLine]:
    """The lines as they are."""
    return [ShownLine(source, line) for source, line in enumerate(lines)]


def matches(lines: Sequence[ShownLine], typed: str) -> tuple[int, ...]:
    """Places of the lines that contain a text, upper and lower case alike; none for no text."""
    wanted = folded(typed)
    if not wanted:
        return ()
    return tuple(place for place, line in enumerate(lines) if wanted in folded(line.text))


# -- JSON lines as a table ------------------------------------------------------------------------


def json_object(line: str) -> JsonObject | None:
    """The object that a line is; None for any other text."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None


def has_json(lines: Iterable[str]) -> bool:
    """True if any line is a JSON object."""
    return any(json_object(line) is not None for line in lines)


def as_table(lines: Sequence[str]) -> tuple[str, list[ShownLine]]:
    """The JSON lines as rows of one table.

    Columns are the keys in the order in which they come, those of the inner object where a line
    has one key only; numbers are right-aligned, nested values are compact JSON. Other lines stay
    between the rows as they are.

    Returns:
        The head, and a line for each line of the output.
    """
    rows = [_inner(json_object(line)) for line in lines]
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row or ()))
    columns = tuple(islice(names, COLUMNS_MAX))
    titles = [_cell(name) for name in columns]
    texts = [None if row is None else [_cell(row.get(name)) for name in columns] for row in rows]
    widths = [
        min(CELLS_MAX, max(cell_len(cells[place]) for cells in (titles, *filter(None, texts))))
        for place in range(len(columns))
    ]
    numeric = [
        all(_is_number(row[name]) for row in rows if row is not None and row.get(name) is not None)
        for name in columns
    ]

    def joined(cells: Sequence[str]) -> str:
        parts = zip(cells, widths, numeric, strict=True)
        return _GAP.join(_fitted(cell, width, right=right) for cell, width, right in parts).rstrip()

    shown = [
        ShownLine(source, lines[source] if cells is None else joined(cells))
        for source, cells in enumerate(texts)
    ]
    return joined(titles), shown


def _inner(row: JsonObject | None) -> JsonObject | None:
    """The object inside one with a single key, such as a skill's report; else the row itself."""
    (value, *more) = (row or {None: None}).values()
    is_wrapped = not more and isinstance(value, dict)
    return cast("JsonObject", value) if is_wrapped else row


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value if value.isprintable() else _compact(value)
    return _compact(value)


def _compact(value: object) -> str:
    """The value as JSON; letters that a terminal would obey or hide are left as their codes.

    The line was cleaned before it was decoded, and decoding brings such letters back.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text if text.isprintable() else json.dumps(value, separators=(",", ":"))
    except RecursionError:
        return "…"


def _is_number(value: object) -> bool:
    return isinstance(value, _NUMBER) and not isinstance(value, bool)


def _fitted(cell: str, width: int, *, right: bool) -> str:
    length = cell_len(cell)
    if length > width:
        return set_cell_size(cell, width - 1) + "…"
    room = " " * (width - length)
    return room + cell if right else cell + room

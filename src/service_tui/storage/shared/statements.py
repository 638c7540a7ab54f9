"""Translates SQLite statements for PostgreSQL's driver."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

_PARAMETER: Final = re.compile(r"(?<!:):([a-z_]\w*)")
_HINT: Final = re.compile(r" INDEXED BY \w+| LIMIT -1\b")
"""What only SQLite's planner needs."""


@lru_cache(maxsize=512)
def translated(sql: str) -> str:
    """A statement with its parameters as the driver names them: `%(name)s` for `:name`."""
    return _PARAMETER.sub(r"%(\1)s", _HINT.sub("", sql.replace("%", "%%")))


_INSERT: Final = re.compile(r"INSERT INTO (\w+) \(([\w, ]+)\) VALUES \(([\w:, ]+)\)")


@lru_cache(maxsize=64)
def inserting_all(sql: str) -> str | None:
    """An INSERT of one row as one of all rows, which are its one parameter; None for another one.

    Half of what a trade costs the writer is what a statement costs the driver.
    """
    found = _INSERT.fullmatch(" ".join(sql.split()))
    if found is None:
        return None
    table, columns, values = found.groups()
    if [f":{name}" for name in columns.split(", ")] != values.split(", "):
        return None
    return (
        f"INSERT INTO {table} ({columns}) SELECT {columns} "  # noqa: S608 - a statement of ours
        f"FROM json_populate_recordset(NULL::{table}, %s::json)"
    )


def as_json(rows: Sequence[Mapping[str, object]]) -> str | None:
    """Rows as one text of JSON; None where a value would not come back as it is."""
    try:
        text = json.dumps(rows, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        return None
    # PostgreSQL refuses a NUL in any text; alone, the driver replaces it.
    return None if "\\u0000" in text else text

"""Checks that a database declares our tables, columns and indexes, and no other objects.

A trigger or a view of somebody else would change what we write, or what we read, without a word.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from service_tui.storage.db.declared import CREATIONS
from service_tui.storage.db.schema import SCHEMA, Schema
from service_tui.toml_lines import printable

OBJECTS_MAX: Final = 200
SQL_MAX: Final = 10_000
NAME_MAX: Final = 60
"""Objects, letters of a declaration, letters of a name that are shown; ours are under 60, 1,000
and 30."""

ENCODING: Final = "UTF-8"

_TOKEN: Final = re.compile(r"""'(?:[^']|'')*'|"\w+"|\w+|\S""")
_OF_SQLITE: Final = frozenset({"sqlite_stat1", "sqlite_stat4"})
"""What ANALYZE leaves behind: figures about rows, which only order a search."""

_OWN_INDEX: Final = "sqlite_autoindex_"
"""How SQLite names the index of a key; no other name may begin so."""

Declared = tuple[str, str, frozenset[tuple[str, int]]]
"""Table, head or kind, and the parts of the declaration, each with how often it stands there."""


class _Row(NamedTuple):
    """A row of SQLite's own table of objects."""

    kind: object
    name: object
    table: object
    page: object
    sql: object


class ForeignSchema(Exception):
    """Something is declared that is not ours; the text names it."""


class MissingObject(ForeignSchema):
    """Nothing is declared but ours, and something of ours is not there."""


def check_schema(connection: sqlite3.Connection, *, version: int, schema: Schema) -> None:
    """Compare every object of a database with ours, without writing to it.

    Those of an older version are compared with ours as its migration would leave them.

    Raises:
        ForeignSchema: an object is not ours, or one of ours is missing or another one.
    """
    if schema is not SCHEMA:
        # Of a test, with tables that no class declares.
        return
    _check_settings(connection)
    rows = [row for row in _rows(connection) if row.name not in _OF_SQLITE]
    for row in rows:
        _check_kind(row)
    _check_pages(rows)
    found = _declared(rows) if version == schema.version else _migrated(rows, version, schema)
    ours = _ours()
    for name in sorted(found.keys() - ours.keys()):
        raise ForeignSchema(f"{_shown(name)} is not ours")
    for name in sorted(ours.keys() & found.keys()):
        if found[name] != ours[name]:
            raise ForeignSchema(f"{_shown(name)} is not as ours")
    for name in sorted(ours.keys() - found.keys()):
        is_kept_apart = name[0] == "index" and not name[1].startswith(_OWN_INDEX)
        missing = ForeignSchema if is_kept_apart else MissingObject
        raise missing(f"{_shown(name)} is missing")


def _check_settings(connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application:
        raise ForeignSchema("its application id is that of another program")
    (encoding,) = connection.execute("PRAGMA encoding").fetchone()
    if encoding != ENCODING:
        raise ForeignSchema(f"its text is not {ENCODING}")


def _rows(connection: sqlite3.Connection) -> list[_Row]:
    query = "SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_schema LIMIT ?"
    rows = [_Row(*row) for row in connection.execute(query, (OBJECTS_MAX + 1,))]
    if len(rows) > OBJECTS_MAX:
        raise ForeignSchema("it declares too much")
    return rows


def _check_kind(row: _Row) -> None:
    name = row.name if isinstance(row.name, str) else ""
    if row.kind not in {"table", "index"} or not isinstance(row.table, str) or not name:
        raise ForeignSchema(
            f"{printable(str(row.kind))[:NAME_MAX]} {printable(name)[:NAME_MAX]!r} is not ours"
        )
    if row.sql is None and row.kind == "index" and name.startswith(_OWN_INDEX):
        return
    if not isinstance(row.sql, str) or len(row.sql) > SQL_MAX:
        raise ForeignSchema(f"{_shown((str(row.kind), name))} is not ours")
    head = _TOKEN.findall(row.sql)[:3]
    if head[:2] not in (["CREATE", "TABLE"], ["CREATE", "INDEX"]) and head != [
        "CREATE", "UNIQUE", "INDEX",
    ]:  # fmt: skip
        raise ForeignSchema(f"{_shown((str(row.kind), name))} is not ours")


def _check_pages(rows: list[_Row]) -> None:
    """Two objects that share their pages would be written through each other."""
    pages = Counter(row.page for row in rows)
    for row in rows:
        if type(row.page) is not int or row.page <= 1 or pages[row.page] > 1:
            raise ForeignSchema(f"{_shown((str(row.kind), str(row.name)))} lies where another does")


def _declared(rows: list[_Row]) -> dict[tuple[str, str], Declared]:
    return {
        (str(row.kind), str(row.name)): (str(row.table), *_parts(str(row.sql or "")))
        for row in rows
    }


def _migrated(rows: list[_Row], version: int, schema: Schema) -> dict[tuple[str, str], Declared]:
    """What an empty database with these objects declares after its migration."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        # Tables first. Nothing but tables and indexes has come so far.
        tables_first = sorted(rows, key=lambda row: row.kind != "table")
        made = [str(row.sql) for row in tables_first if row.sql is not None]
        steps = [schema.steps[step] for step in range(version, schema.version)]
        try:
            for statement in chain(made, *steps):
                empty.execute(statement)
        except sqlite3.Error as error:
            raise ForeignSchema(f"its tables are not those of version {version}") from error
        return _declared(_rows(empty))


@cache
def _ours() -> dict[tuple[str, str], Declared]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        for each in CREATIONS:
            empty.execute(each)
        return _declared(_rows(empty))


def _parts(sql: str) -> tuple[str, frozenset[tuple[str, int]]]:
    """A declaration without its spaces and quotes: what stands outside, and each part inside.

    Columns that were added later stand behind others, and mean the same.
    """
    outside: list[str] = []
    parts: list[list[str]] = [[]]
    depth = 0
    for word in _tokens(sql):
        depth -= word == ")"
        if depth <= 0:
            outside.append(word)
        elif depth == 1 and word == ",":
            parts.append([])
        else:
            parts[-1].append(word)
        depth += word == "("
    inside = Counter(" ".join(part) for part in parts)
    ordered = [] if outside[1:2] == ["TABLE"] else [" ".join(part) for part in parts]
    return " ".join([*outside, *ordered]), frozenset(inside.items())


def _tokens(sql: str) -> Iterator[str]:
    for word in _TOKEN.findall(sql):
        yield word[1:-1] if word.startswith('"') and len(word) > 1 else word


def _shown(name: tuple[str, str]) -> str:
    kind, of = name
    return f"{kind} {printable(of)[:NAME_MAX]!r}"

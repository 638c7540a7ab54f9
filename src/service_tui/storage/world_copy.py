"""A world copied from one database to another, whole or not at all, and compared."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from service_tui.storage.db.declared import TABLES, WORLD
from service_tui.storage.db.statements import adding, columns
from service_tui.storage.errors import StorageError
from service_tui.storage.world_database import ReadConnection, WorldDatabase, WriteConnection

_CHUNK: Final = 1_000
"""Rows read and written at one time."""


@dataclass(frozen=True, slots=True)
class WorldCopy:
    """What was copied. `digest` is that of both sides, which are the same row by row."""

    rows: int
    digest: str


async def copy_world(source: WorldDatabase, target: WorldDatabase) -> WorldCopy:
    """Copy every row of a world into an empty one, in one transaction.

    Args:
        source: nobody writes to it meanwhile.
        target: has tables, and no row.

    Returns:
        How much it was.

    Raises:
        StorageError: the target is not empty, or either side refused; then nothing was copied.
    """
    if count_of(target):
        raise StorageError("the target holds a world already; nothing was copied")

    def work(connection: WriteConnection) -> int:
        rows = 0
        with source.reader() as reading:
            for table in WORLD:
                put, names = adding(table), TABLES[table].columns
                for chunk in _chunks(reading, table):
                    connection.executemany(
                        put, [dict(zip(names, row, strict=True)) for row in chunk]
                    )
                    rows += len(chunk)
        return rows

    rows = await target.write(work)
    digest = digest_of(source)
    if digest_of(target) != digest:
        raise StorageError("the copy differs from its source; do not use it")
    return WorldCopy(rows, digest)


def count_of(database: WorldDatabase) -> int:
    """Rows of the world, in all its tables. Blocks."""
    query = " UNION ALL ".join(f"SELECT count(*) FROM {table}" for table in WORLD)  # noqa: S608 - names of ours
    return sum(count for (count,) in database.rows(query, {}))


def digest_of(database: WorldDatabase) -> str:
    """A hash of every row of the world, the same in either database. Blocks."""
    found = hashlib.sha256()
    with database.reader() as reading:
        for table in WORLD:
            found.update(table.encode())
            for row in chain.from_iterable(_chunks(reading, table)):
                found.update(repr([*row]).encode())
    return found.hexdigest()


def _chunks(connection: ReadConnection, table: str) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a table, in the order of their keys."""
    names, key = TABLES[table]
    order, last = ", ".join(key), ", ".join(f":{name}" for name in key)
    query = f"SELECT {columns(table)} FROM {table}"  # noqa: S608 - names of ours
    end = f"ORDER BY {order} LIMIT {_CHUNK}"
    rows = connection.execute(f"{query} {end}").fetchall()
    while rows:
        yield rows
        place = {name: rows[-1][names.index(name)] for name in key}
        rows = connection.execute(f"{query} WHERE ({order}) > ({last}) {end}", place).fetchall()

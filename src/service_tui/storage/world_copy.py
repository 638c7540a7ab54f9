"""A world copied from one database to another, whole or not at all, and compared."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from sqlalchemy import func, insert, select
from sqlmodel import Session, SQLModel

from service_tui.storage.db.tables import WORLD, statement, table_of
from service_tui.storage.errors import StorageError
from service_tui.storage.world_database import WorldDatabase, WriteConnection

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
        with source.reader() as session:
            for model in WORLD:
                put = statement(insert(table_of(model)))
                for chunk in _chunks(session, model):
                    connection.executemany(put, chunk)
                    rows += len(chunk)
        return rows

    rows = await target.write(work)
    digest = digest_of(source)
    if digest_of(target) != digest:
        raise StorageError("the copy differs from its source; do not use it")
    return WorldCopy(rows, digest)


def count_of(database: WorldDatabase) -> int:
    """Rows of the world, in all its tables. Blocks."""
    with database.reader() as session:
        connection = session.connection()
        tables = [table_of(model) for model in WORLD]
        counts = [connection.scalar(select(func.count()).select_from(one)) for one in tables]
    return sum(count or 0 for count in counts)


def digest_of(database: WorldDatabase) -> str:
    """A hash of every row of the world, the same in either database. Blocks."""
    found = hashlib.sha256()
    with database.reader() as session:
        for model in WORLD:
            found.update(table_of(model).name.encode())
            for row in chain.from_iterable(_chunks(session, model)):
                found.update(repr([*row.values()]).encode())
    return found.hexdigest()


def _chunks(session: Session, model: type[SQLModel]) -> Iterator[list[Mapping[str, object]]]:
    """The rows of a table, in the order of their keys."""
    table = table_of(model)
    query = select(table).order_by(*table.primary_key).execution_options(yield_per=_CHUNK)
    for rows in session.connection().execute(query).mappings().partitions():
        yield [dict(row) for row in rows]

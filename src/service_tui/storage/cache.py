"""Stores the last answers and the operator's preferences for the next start.

Reading at the start goes through `storage.cached_state`, which needs no sqlmodel.
"""

import sqlite3
from typing import Final

from sqlalchemy.dialects.sqlite import insert
from sqlmodel import col, select

from service_tui.storage.db import tables
from service_tui.storage.db.database import Database
from service_tui.storage.db.tables import statement

_ANSWER: Final = insert(tables.Cache)
_PUT: Final = statement(
    _ANSWER.on_conflict_do_update(
        index_elements=["key"],
        set_={"at": _ANSWER.excluded.at, "body": _ANSWER.excluded.body},
        # Two answers may arrive out of order: the younger one stays.
        where=_ANSWER.excluded.at >= col(tables.Cache.at),
    )
)
_PREFER: Final = statement(insert(tables.Preferences).prefix_with("OR REPLACE"))


class CacheStore:
    """Last answers and preferences of one data directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, key: str, at: float, body: str) -> None:
        """Store an answer of `at` (seconds since 1970), unless a newer one is stored."""
        await self._run(_PUT, {"key": key, "at": at, "body": body})

    async def put_preference(self, key: str, value: str) -> None:
        """Keep a choice of the person."""
        await self._run(_PREFER, {"key": key, "value": value})

    def preferences(self) -> dict[str, str]:
        """Every choice kept, by key."""
        with self._database.reader() as session:
            return {row.key: row.value for row in session.exec(select(tables.Preferences))}

    async def _run(self, sql: str, values: dict[str, str | float]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(sql, values)

        await self._database.write(work)

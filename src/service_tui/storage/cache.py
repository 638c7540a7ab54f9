"""Stores the last answers and the operator's preferences for the next start.

Reading at the start goes through `storage.cached_state`, which opens no database.
"""

import sqlite3
from typing import Final

from service_tui.storage.db.database import Database
from service_tui.storage.db.statements import replacing

# Two answers may arrive out of order: the younger one stays.
_PUT: Final = f"{replacing('cache')} WHERE excluded.at >= cache.at"
_PREFER: Final = replacing("preferences")


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
        return dict(self._database.rows("SELECT key, value FROM preferences", {}))

    async def _run(self, sql: str, values: dict[str, str | float]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(sql, values)

        await self._database.write(work)

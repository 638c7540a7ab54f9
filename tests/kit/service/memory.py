"""Tables in memory, for what only reads and writes rows: no file, no lock, no thread."""

import sqlite3
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from service_tui.storage.db.declared import CREATIONS


class MemoryDatabase:
    """The tables of one directory."""

    def __init__(self) -> None:
        self.driver = sqlite3.connect(":memory:", check_same_thread=False)
        for each in CREATIONS:
            self.driver.execute(each)

    @contextmanager
    def reader(self) -> Generator[sqlite3.Connection]:
        yield self.driver

    def rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        """The rows of a query."""
        return self.driver.execute(query, values).fetchall()

    async def write(self, work: Callable[[Any], Any]) -> Any:
        """Carry a write out, in one transaction."""
        with self.driver as connection:
            return work(connection)

    def close(self) -> None:
        self.driver.close()

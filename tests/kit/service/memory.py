"""Tables in memory, for what only reads and writes rows: no file, no lock, no thread."""

import sqlite3
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool
from sqlmodel import Session, SQLModel

from service_tui.storage.db.tables import table_of


class MemoryDatabase:
    """Some tables of one world."""

    def __init__(self, *models: type[SQLModel]) -> None:
        self._engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        SQLModel.metadata.create_all(self._engine, tables=[table_of(one) for one in models])

    @contextmanager
    def reader(self) -> Generator[Session]:
        with Session(self._engine) as session:
            yield session

    def rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        """The rows of a query, straight from the driver."""
        return self._driver().execute(query, values).fetchall()

    async def write(self, work: Callable[[Any], Any]) -> Any:
        """Carry a write out, in one transaction."""
        with self._driver() as connection:
            return work(connection)

    def _driver(self) -> sqlite3.Connection:
        raw = self._engine.raw_connection().driver_connection
        assert isinstance(raw, sqlite3.Connection)
        return raw

    def close(self) -> None:
        self._engine.dispose()

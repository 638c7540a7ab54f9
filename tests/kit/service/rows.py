"""The part of a connection to PostgreSQL that gives the rows of the last statement."""

from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(kw_only=True)
class RowsLine:
    """Its own cursor and transaction. With `failing` it raises that when it is closed."""

    closed: bool = False
    failing: Exception | None = None
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def fetchone(self) -> tuple[Any, ...] | None:
        return self.rows[0] if self.rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.rows

    def own(self) -> Self:
        return self

    cursor = transaction = __enter__ = own

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        self.closed = True
        if self.failing is not None:
            raise self.failing

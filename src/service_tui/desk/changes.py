"""Facts about rows of any type: a list was loaded, a row changed, a row was removed.

Handlers and pollers emit these facts; `desk/reduce.py` applies them to the state.
"""

from dataclasses import dataclass
from typing import TypeVar, cast

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The service listed all rows of a type; `dropped` of them could not be read."""

    kind: type[object]
    rows: tuple[object, ...]
    dropped: int = 0

    def of(self, kind: type[Row]) -> tuple[Row, ...]:
        """The rows, which must be of this type.

        Raises:
            TypeError: they are of another type.
        """
        if self.kind is not kind:
            raise TypeError(f"rows of {self.kind.__name__}, not of {kind.__name__}")
        return cast("tuple[Row, ...]", self.rows)


@dataclass(frozen=True, slots=True)
class Changed:
    """A row is new or has changed; `dropped` parts of it could not be read."""

    row: object
    dropped: int = 0

    @property
    def kind(self) -> type[object]:
        """Type of the row."""
        return type(self.row)


@dataclass(frozen=True, slots=True)
class Removed:
    """The row of this type with this key was removed; without a key: the only row of the type."""

    kind: type[object]
    key: str = ""


def changed(fact: object, kind: type[Row]) -> Row | None:
    """The row in a `Changed` fact if it is of this type; None for every other fact."""
    return fact.row if isinstance(fact, Changed) and isinstance(fact.row, kind) else None

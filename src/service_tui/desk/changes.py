"""Facts that most nouns share: a list was loaded, a row changed, a row was removed."""

from dataclasses import dataclass
from typing import TypeVar, cast

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The service listed all rows of a kind; `dropped` is how many could not be read."""

    kind: type[object]
    rows: tuple[object, ...]
    dropped: int = 0

    def of(self, kind: type[Row]) -> tuple[Row, ...]:
        """The rows, which are of this kind.

        Raises:
            TypeError: they are of another.
        """
        if self.kind is not kind:
            raise TypeError(f"rows of {self.kind.__name__}, not of {kind.__name__}")
        return cast("tuple[Row, ...]", self.rows)


@dataclass(frozen=True, slots=True)
class Changed:
    """A row is new, or another than before; `dropped` parts of it could not be read."""

    row: object
    dropped: int = 0

    @property
    def kind(self) -> type[object]:
        """Type of the row."""
        return type(self.row)


@dataclass(frozen=True, slots=True)
class Removed:
    """The row of a type with this key was removed; the single one if the type has but one."""

    kind: type[object]
    key: str = ""


def changed(fact: object, kind: type[Row]) -> Row | None:
    """The row of this kind that a fact brings; None where it brings none."""
    return fact.row if isinstance(fact, Changed) and isinstance(fact.row, kind) else None

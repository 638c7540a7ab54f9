"""Writes `storage/db/declared.py`, what the classes of `tables.py` declare: `make tables`."""

from pathlib import Path

from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement
from sqlmodel import SQLModel

from service_tui.storage.db import tables

PATH = Path(__file__).resolve().parents[2] / "src/service_tui/storage/db/declared.py"

HEAD = '''"""What `tables.py` declares, as plain text: to open and to read needs no SQLAlchemy.

Made by `make tables`; a test fails while it is not what the classes declare.
"""

from typing import Final, NamedTuple


class TableShape(NamedTuple):
    """A table: its columns in their order, and those of its key."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


'''


def creations() -> tuple[str, ...]:
    """What creates every table and index, as SQLAlchemy compiles it."""
    made: list[str] = []
    for table in SQLModel.metadata.sorted_tables:
        made.append(_compiled(CreateTable(table)))
        indexes = sorted(table.indexes, key=lambda one: str(one.name))
        made += [_compiled(CreateIndex(index)) for index in indexes]
    return tuple(made)


def declared() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Columns and key of every table."""
    return {
        table.name: (
            tuple(column.name for column in table.columns),
            tuple(column.name for column in table.primary_key),
        )
        for table in SQLModel.metadata.sorted_tables
    }


def world() -> tuple[str, ...]:
    """The tables of a world."""
    return tuple(tables.table_of(model).name for model in tables.WORLD)


def _compiled(element: DDLElement) -> str:
    text = str(element.compile(dialect=dialect())).replace(" WHERE ", "\nWHERE ")
    lines = text.replace(" ON ", "\nON ").split("\n")
    return "\n".join(f"    {line.strip()}" for line in lines if line.strip()).strip()


def written() -> str:
    """The text of the module."""
    named = [
        f"    {name!r}: TableShape({of!r}, {key!r})," for name, (of, key) in declared().items()
    ]
    made = [f'    """{one}""",' for one in creations()]
    parts = (
        ("TABLES: Final = {", *named, "}"),
        (f"WORLD: Final = {world()!r}",),
        ('"""The tables of a world; they exist in the PostgreSQL of a shared desk as well."""', ""),
        ("CREATIONS: Final = (", *made, ")"),
        ('"""What creates every table and index."""',),
    )
    return HEAD + "\n".join("\n".join(part) for part in parts) + "\n"


if __name__ == "__main__":
    PATH.write_text(written(), encoding="utf-8")

"""Statements on a table by its name, as text for either database, with parameters as `:names`.

The columns are those of `declared`, so that neither a start nor a brief command loads SQLAlchemy.
"""

from collections.abc import Iterable

from service_tui.storage.db.declared import TABLES


def columns(table: str) -> str:
    """The columns of a table in their order, for a SELECT."""
    return ", ".join(TABLES[table].columns)


def adding(table: str) -> str:
    """An insert of a whole row."""
    places = ", ".join(f":{name}" for name in TABLES[table].columns)
    return f"INSERT INTO {table} ({columns(table)}) VALUES ({places})"  # noqa: S608 - names of ours


def replacing(table: str) -> str:
    """An insert that replaces the row of the same key."""
    declared = TABLES[table]
    others = (name for name in declared.columns if name not in declared.key)
    put = ", ".join(f"{name} = excluded.{name}" for name in others)
    return f"{adding(table)} ON CONFLICT ({', '.join(declared.key)}) DO UPDATE SET {put}"


def keeping(table: str) -> str:
    """An insert that leaves a row of the same key as it is."""
    return f"{adding(table)} ON CONFLICT DO NOTHING"


def one_of(column: str, values: Iterable[object]) -> tuple[str, dict[str, object]]:
    """A condition that a column has one of these values, none of none; with its parameters."""
    given = {f"{column}_{place}": value for place, value in enumerate(values)}
    return f"{column} IN ({', '.join(f':{name}' for name in given) or 'NULL'})", given

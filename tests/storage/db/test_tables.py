"""The tables as plain text are those that the classes declare, and so are statements on them."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import insert
from sqlalchemy.dialects import sqlite
from sqlmodel import SQLModel

from kit import declared as made
from kit.service.memory import MemoryDatabase
from service_tui.storage.db import declared
from service_tui.storage.db.statements import adding, columns, keeping, one_of, replacing

OLD = {"agent_id": "a", "key": "k", "path": "/", "body_hash": "h", "answer": "old", "at": 1.0}
NEW = {**OLD, "path": "/new", "answer": "new", "at": 2.0}


def test_the_plain_text_is_what_the_classes_declare() -> None:
    again = "the classes of tables.py have changed: make tables"
    assert made.declared() == declared.TABLES, again
    assert made.world() == declared.WORLD, again
    assert made.creations() == declared.CREATIONS, again


@pytest.mark.parametrize("table", declared.TABLES)
def test_a_row_is_added_as_by_sqlalchemy(table: str) -> None:
    compiled = insert(SQLModel.metadata.tables[table]).compile(
        dialect=sqlite.dialect(paramstyle="named")
    )
    assert adding(table) == str(compiled).replace('"', "")
    assert columns(table) in adding(table)


async def after(query: str, row: dict[str, Any]) -> list[Any]:
    """The rows of a table after one more is put to a first one."""
    database = MemoryDatabase()
    await database.write(lambda connection: connection.execute(query, OLD))
    await database.write(lambda connection: connection.execute(query, row))
    names = columns("idempotency")
    return database.rows(f"SELECT {names} FROM idempotency ORDER BY agent_id, key", {})  # noqa: S608 - names of ours


async def test_a_row_of_the_same_key_is_replaced_in_every_column() -> None:
    assert await after(replacing("idempotency"), NEW) == [tuple(NEW.values())]
    # PostgreSQL wants the key named.
    assert "ON CONFLICT (agent_id, key)" in replacing("idempotency")


async def test_a_row_of_the_same_key_is_kept_as_it_is() -> None:
    assert await after(keeping("idempotency"), NEW) == [tuple(OLD.values())]


@pytest.mark.parametrize("put", [replacing, keeping])
@pytest.mark.parametrize("part", ["agent_id", "key"])
async def test_a_key_of_two_columns_differs_in_either(put: Callable[[str], str], part: str) -> None:
    other = {**NEW, part: "z"}
    assert await after(put("idempotency"), other) == [
        tuple(OLD.values()), tuple(other.values()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "found"), [((), []), (("fill",), [1]), (("fill", "it's"), [1, 2]), (("%",), [])]
)
def test_one_of_some_values_is_none_of_none(kinds: tuple[str, ...], found: list[int]) -> None:
    condition, values = one_of("kind", kinds)
    rows = "(SELECT 1 AS seq, 'fill' AS kind UNION ALL SELECT 2, 'it''s')"
    query = f"SELECT seq FROM {rows} WHERE {condition} ORDER BY seq"  # noqa: S608 - a condition of ours
    assert MemoryDatabase().rows(query, values) == [(seq,) for seq in found]

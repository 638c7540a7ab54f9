"""Statements that are the same text in either database, and what they do to a row that is there."""

from typing import Any

import pytest
from sqlalchemy import bindparam, select
from sqlmodel import col

from kit.service.memory import MemoryDatabase
from service_tui.storage.db import tables
from service_tui.storage.db.tables import keeping, replacing, statement

OLD = {"agent_id": "a", "key": "k", "path": "/", "body_hash": "h", "answer": "old", "at": 1.0}
NEW = {**OLD, "path": "/new", "answer": "new", "at": 2.0}


async def after(query: str, row: dict[str, Any]) -> list[Any]:
    """The rows of a table after one more is put to a first one."""
    database = MemoryDatabase(tables.Idempotency)
    await database.write(lambda connection: connection.execute(query, OLD))
    await database.write(lambda connection: connection.execute(query, row))
    names = "agent_id, key, path, body_hash, answer, at"
    return database.rows(f"SELECT {names} FROM idempotency ORDER BY agent_id, key", {})  # noqa: S608 - names of ours


async def test_a_row_of_the_same_key_is_replaced_in_every_column() -> None:
    assert await after(replacing(tables.Idempotency), NEW) == [tuple(NEW.values())]
    # PostgreSQL wants the key named.
    assert 'ON CONFLICT (agent_id, "key")' in replacing(tables.Idempotency)


async def test_a_row_of_the_same_key_is_kept_as_it_is() -> None:
    assert await after(keeping(tables.Idempotency), NEW) == [tuple(OLD.values())]


@pytest.mark.parametrize("put", [replacing, keeping])
@pytest.mark.parametrize("part", ["agent_id", "key"])
async def test_a_key_of_two_columns_differs_in_either(put: Any, part: str) -> None:
    other = {**NEW, part: "z"}
    assert await after(put(tables.Idempotency), other) == [
        tuple(OLD.values()), tuple(other.values()),
    ]  # fmt: skip


def test_a_statement_names_each_of_its_parameters() -> None:
    seq = col(tables.Journal.seq)
    assert statement(select(seq).where(seq > bindparam("after"))).endswith("> :after")
    assert ":" not in statement(select(seq))
    # A value is not in the text, which would be another statement then.
    for where in (seq == 5, seq.in_([1, 2]), (seq > bindparam("after")) & (seq < 5)):
        with pytest.raises(ValueError, match="name every parameter"):
            statement(select(seq).where(where))

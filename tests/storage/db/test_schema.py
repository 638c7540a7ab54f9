"""A database is brought from any older version to the newest, in one transaction."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from service_tui.storage.db.schema import SCHEMA, Schema, create, migrate

STEPS = Schema(
    4,
    {
        1: ("CREATE TABLE second (n INTEGER)", "INSERT INTO second VALUES (2)"),
        2: ("CREATE TABLE third (n INTEGER)",),
        3: ("CREATE TABLE fourth (n INTEGER)",),
    },
)


def tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    return [name for (name,) in rows]


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.parametrize(
    ("found", "made"),
    [(1, ["second", "third", "fourth"]), (2, ["third", "fourth"]), (3, ["fourth"]), (4, [])],
)
def test_each_step_that_is_missing_is_taken_once(found: int, made: list[str]) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, found=found, schema=STEPS)
        assert tables(connection) == made
        assert version(connection) == STEPS.version
        assert not connection.in_transaction


def test_a_step_that_fails_leaves_nothing_of_the_others() -> None:
    broken = Schema(4, {**STEPS.steps, 3: ("CREATE TABLE third (n INTEGER)",)})
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            migrate(connection, found=1, schema=broken)
        assert tables(connection) == []
        assert version(connection) == 0
        assert not connection.in_transaction


def test_a_new_database_is_empty_private_and_of_its_version(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    create(path, version=SCHEMA.version)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["new.db"]
    with closing(sqlite3.connect(path)) as connection:
        assert version(connection) == SCHEMA.version


def test_every_version_has_its_step() -> None:
    assert sorted(SCHEMA.steps) == list(range(1, SCHEMA.version))

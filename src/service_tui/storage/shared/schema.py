"""The tables of a world in PostgreSQL."""

from collections.abc import Mapping
from typing import Final, LiteralString, cast

from psycopg import sql
from sqlalchemy import Dialect, MetaData, Text
from sqlalchemy.dialects.postgresql import psycopg as driver
from sqlalchemy.schema import CreateIndex, CreateTable

from service_tui.storage.db.tables import WORLD, table_of
from service_tui.storage.errors import NewerSchemaError, StorageError
from service_tui.storage.shared.connection import Raw, WorldPlace, connect, refuse_split_sessions
from service_tui.storage.shared.errors import as_shared_error
from service_tui.storage.shared.server_settings import refuse_other_encoding

VERSION: Final = 2
"""Version of the tables below and of those that both databases have. Version 2 adds people,
invitations, and an index of their actions."""

MAKING: Final = 0x5EB1CE
"""The lock under which one process at a time makes or changes a schema."""

_OWN: Final[tuple[LiteralString, ...]] = (
    # One row. `epoch` counts the leaders; the processes of the present one are named, so that they
    # can be ended by the server when they no longer answer.
    """CREATE TABLE world (
    one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL, epoch bigint NOT NULL,
    holder text NOT NULL, address text, lock_pid integer, writer_pid integer,
    operator_hash text)""",
    # A table of its own: a beat need not wait for a transaction that locks the world's row.
    """CREATE TABLE beat (
    one integer PRIMARY KEY CHECK (one = 1), epoch bigint NOT NULL, at timestamptz NOT NULL)""",
    """CREATE TABLE leaders (
    epoch bigint PRIMARY KEY, after_seq bigint NOT NULL, holder text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp())""",
    # Which leader wrote a row, by its connection: shows that no two of them wrote in turns.
    "ALTER TABLE journal ADD COLUMN epoch bigint NOT NULL",
    """ALTER TABLE journal ALTER COLUMN epoch
    SET DEFAULT current_setting('service_tui.epoch')::bigint""",
    # Statements of backtests call SQLite's function; this is the same for numbers.
    """CREATE FUNCTION json_extract(signal text, path text) RETURNS double precision
    LANGUAGE sql IMMUTABLE AS $$
    SELECT (jsonb_path_query_first(signal::jsonb, path::jsonpath) #>> '{}')::double precision $$""",
    "INSERT INTO beat (one, epoch, at) SELECT 1, 0, clock_timestamp()",
)


_STEPS: Final[Mapping[int, tuple[LiteralString, ...]]] = {
    1: (
        """CREATE TABLE people (
        name text COLLATE "C" NOT NULL, role text COLLATE "C" NOT NULL,
        salt text COLLATE "C" NOT NULL, key_hash text COLLATE "C" NOT NULL,
        created_at double precision NOT NULL, created_by text COLLATE "C" NOT NULL,
        ended_at double precision, PRIMARY KEY (name))""",
        """CREATE TABLE invitations (
        invitation_id text COLLATE "C" NOT NULL, salt text COLLATE "C" NOT NULL,
        code_hash text COLLATE "C" NOT NULL, uses bigint NOT NULL, plan text COLLATE "C",
        budget bigint, person text COLLATE "C" NOT NULL, created_at double precision NOT NULL,
        created_by text COLLATE "C" NOT NULL, expires_at double precision NOT NULL,
        ended_at double precision, PRIMARY KEY (invitation_id))""",
        "CREATE INDEX journal_of_people ON journal (seq) WHERE kind = 'acted'",
    ),
}
"""Statements that upgrade each version to the next."""


def ensure(place: WorldPlace, *, upgrade: bool = False, any_encoding: bool = False) -> bool:
    """Create the world's tables if there are none. Blocks.

    Args:
        place: the world.
        upgrade: change the tables of an older program, all steps in one transaction.
        any_encoding: take a database that does not hold every text, to copy a world out of it.

    Returns:
        True if they were made or changed now.

    Raises:
        StorageError: the database cannot be reached, lacks a right, has an encoding that does not
            hold every text, or a pooler before it that keeps no sessions.
        NewerSchemaError: a newer program made them.
    """
    with connect(place, "schema") as raw, as_shared_error():
        # Before the lock, which would be left behind in another client's session.
        refuse_split_sessions(place, raw)
        # A lock of the transaction ends with it, whichever session a pooler gave it.
        with raw.transaction():
            raw.execute("SELECT pg_advisory_xact_lock(%s)", [MAKING])
            if not any_encoding:
                refuse_other_encoding(raw)
            return _made(raw, place, upgrade=upgrade)


def _made(raw: Raw, place: WorldPlace, *, upgrade: bool) -> bool:
    found = version_of(raw, place)
    if found is None:
        _create(raw, place)
        return True
    if upgrade and found in _STEPS:
        _upgrade(raw, found)
        return True
    _refuse_other(place, found)
    return False


def _upgrade(raw: Raw, found: int) -> None:
    for version in range(found, VERSION):
        for step in _STEPS[version]:
            raw.execute(step)
    raw.execute("UPDATE world SET version = %s", [VERSION])


def version_of(raw: Raw, place: WorldPlace) -> int | None:
    """The schema's version; None where the world does not exist."""
    with as_shared_error():
        there = raw.execute("SELECT to_regclass(%s)", [f"{place.schema}.world"]).fetchone()
        if there is None or there[0] is None:
            return None
        row = raw.execute("SELECT version FROM world").fetchone()
    return None if row is None else cast("int", row[0])


def worlds_in(place: WorldPlace, *, by_age: bool = False) -> tuple[str, ...]:
    """The names of all worlds of the database, by name or the oldest first. Blocks."""
    order = "oid" if by_age else "nspname"
    query = f"SELECT nspname FROM pg_namespace WHERE nspname LIKE 'world\\_%' ORDER BY {order}"  # noqa: S608 - a column
    with connect(place, "list") as raw, as_shared_error():
        rows = raw.execute(query.encode()).fetchall()
    return tuple(str(name).removeprefix("world_") for (name,) in rows)


def _refuse_other(place: WorldPlace, found: int) -> None:
    if found > VERSION:
        raise NewerSchemaError(str(place), found=found, known=VERSION)
    if found < VERSION:
        raise StorageError(f"{place} has the older schema {found}; run service-tui db migrate")


def _create(raw: Raw, place: WorldPlace) -> None:
    raw.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(place.schema)))
    for statement in (*_shared(), *(each.encode() for each in _OWN)):
        raw.execute(statement)
    raw.execute("INSERT INTO world (one, version, epoch, holder) SELECT 1, %s, 0, ''", [VERSION])


def _shared() -> list[bytes]:
    """The statements that make the tables which both databases have."""
    metadata, dialect = MetaData(), cast("Dialect", driver.dialect())
    made: list[bytes] = []
    for model in WORLD:
        table = table_of(model).to_metadata(metadata)
        for column in table.c:
            # The journal gives a row its number; texts are sorted by their bytes.
            column.autoincrement = False
            if isinstance(column.type, Text):
                column.type = Text(collation="C")
        for index in table.indexes:
            # Declared for SQLite alone: naming PostgreSQL there would load it at each start.
            options = index.dialect_options
            options["postgresql"]["where"] = options["sqlite"]["where"]
        made.append(str(CreateTable(table).compile(dialect=dialect)).encode())
        made += [
            str(CreateIndex(index).compile(dialect=dialect)).encode()
            for index in sorted(table.indexes, key=lambda each: str(each.name))
        ]
    return made

"""Counts the running processes that serve several worlds of one database."""

from contextlib import suppress
from threading import Lock
from typing import Final, cast

import psycopg

from service_tui.storage.errors import StorageError
from service_tui.storage.shared.connection import Connect, Raw, WorldPlace, connect
from service_tui.storage.shared.errors import as_shared_error
from service_tui.storage.shared.schema import MAKING

ALIVE_S: Final = 3.0
"""A process that has not called for so long does not count; who lost its connection, at once."""

_MAKE: Final = (
    "CREATE SCHEMA IF NOT EXISTS service_tui",
    """CREATE TABLE IF NOT EXISTS service_tui.processes (
    name text PRIMARY KEY, pid integer NOT NULL, at timestamptz NOT NULL)""",
)
_CALL: Final = (
    b"INSERT INTO service_tui.processes (name, pid, at) "
    b"VALUES (%s, pg_backend_pid(), clock_timestamp()) "
    b"ON CONFLICT (name) DO UPDATE SET pid = excluded.pid, at = excluded.at"
)
_ALIVE: Final = (
    b"SELECT count(*) FROM service_tui.processes JOIN pg_stat_activity USING (pid) "
    b"WHERE clock_timestamp() - at < make_interval(secs => %s) AND datname = current_database()"
)
_FORGET: Final = (
    b"DELETE FROM service_tui.processes WHERE clock_timestamp() - at > interval '1 hour'"
)


class Roll:
    """One process's line on the roll. Both calls block."""

    def __init__(self, place: WorldPlace, name: str, *, connect: Connect = connect) -> None:
        self._connect = connect
        self._place = place
        self._name = name
        self._raw: Raw | None = None
        self._calling = Lock()

    def call(self) -> int:
        """Show that this process is there.

        Returns:
            How many are there, with this one.

        Raises:
            StorageError: the database does not answer.
        """
        with self._calling, as_shared_error():
            raw = self._connection()
            raw.execute(_CALL, [self._name])
            row = raw.execute(_ALIVE, [ALIVE_S]).fetchone()
        if row is None:
            raise StorageError("the database counts no processes")
        return cast("int", row[0])

    def close(self) -> None:
        """Leave the roll, once a call of another thread is over."""
        with self._calling:
            raw, self._raw = self._raw, None
            if raw is not None:
                with suppress(psycopg.Error):
                    raw.close()

    def _connection(self) -> Raw:
        if self._raw is None or self._raw.closed:
            raw = self._raw = self._connect(self._place, "roll")
            with raw.transaction():
                raw.execute("SELECT pg_advisory_xact_lock(%s)", [MAKING])
                for statement in _MAKE:
                    raw.execute(statement.encode())
                raw.execute(_FORGET)
        return self._raw

"""Connections that all worlds of one process share in one database.

Not shared: the lock of a leader, which belongs to a session; its writer; a follower's feed.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import Any, Final, cast

import psycopg
from psycopg import sql
from sqlalchemy import Engine, QueuePool, create_engine
from sqlmodel import Session

from service_tui.storage.errors import StorageError
from service_tui.storage.shared.connection import Connect, Raw, WorldPlace, connect
from service_tui.storage.shared.errors import as_shared_error
from service_tui.storage.shared.feed import log
from service_tui.storage.world_database import READERS_MAX

SHARED: Final = READERS_MAX + 3
"""Most of these connections of a process: readers, notifier, watch, and the one of the roll."""

PER_WORLD: Final = 2
"""Connections of a world that a process leads: its lock, its writer."""

_FREE: Final = (
    b"SELECT current_setting('max_connections')::int, "
    b"coalesce(current_setting('superuser_reserved_connections', true), '0')::int "
    b"+ coalesce(current_setting('reserved_connections', true), '0')::int, "
    b"(SELECT coalesce(sum(numbackends), 0)::int FROM pg_stat_database) - 1"
)


def reading_engine(place: WorldPlace) -> Engine:
    """Engine for SQLModel's sessions on a world; connects at first use."""

    def connected() -> Raw:
        raw = connect(place, "reader")
        # Every SELECT of a session sees the same moment.
        raw.autocommit = False
        raw.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        raw.read_only = True
        return raw

    creator: Callable[[], Any] = connected
    return create_engine(
        "postgresql+psycopg://",
        creator=creator,
        poolclass=QueuePool,
        pool_size=READERS_MAX,
        max_overflow=0,
        pool_pre_ping=True,
    )


class SharedConnections:
    """Readers, a notifier and a watch for all worlds of a process.

    Args:
        place: one of the worlds.
    """

    def __init__(self, place: WorldPlace, *, connect: Connect = connect) -> None:
        self._place = place
        self._connect = connect
        self._engine = reading_engine(place)
        self._watch: Raw | None = None
        self._watching = Lock()
        self._schemas: set[str] = set()
        self._noting = Lock()
        self._due = Event()
        self._is_closed = False
        self._thread = Thread(target=self._run, name="storage-notifier", daemon=True)
        self._thread.start()

    @contextmanager
    def session(self, place: WorldPlace) -> Generator[Session]:
        """A session that sees one moment of a world and cannot write; keep it short."""
        with self._engine.connect() as connection:
            raw = cast("Raw", connection.connection.driver_connection)
            if connection.info.get("world") != place.world:
                # Where the change does not come to its end, the next look makes it again.
                connection.info.pop("world", None)
                with as_shared_error():
                    _search(raw, place)
                connection.info["world"] = place.world
            with Session(connection) as session:
                yield session

    def watch(self, place: WorldPlace, query: sql.SQL) -> tuple[object, ...] | None:
        """The first row of a query on a world. Blocks.

        Raises:
            StorageError: the database does not answer.
        """
        with self._watching, as_shared_error():
            if self._watch is None or self._watch.closed:
                self._watch = self._connect(self._place, "watch")
            raw = self._watch
            # One statement each, so that both are of the same world.
            raw.execute(_searching(place))
            return raw.execute(query).fetchone()

    def notify(self, place: WorldPlace) -> None:
        """Wake the followers of a world soon. Called from any thread."""
        with self._noting:
            self._schemas.add(place.schema)
        self._due.set()

    def close(self) -> None:
        """Close all, once calls of other threads are over. Blocks."""
        self._is_closed = True
        self._due.set()
        self._thread.join()
        with self._watching:
            raw, self._watch = self._watch, None
            if raw is not None:
                with suppress(psycopg.Error):
                    raw.close()
        self._engine.dispose()

    def _run(self) -> None:
        raw: Raw | None = None
        is_well = True
        while self._due.wait() and not self._is_closed:
            self._due.clear()
            with self._noting:
                schemas, self._schemas = self._schemas, set()
            try:
                raw = raw or self._connect(self._place, "notifier")
                for schema in schemas:
                    raw.execute(sql.SQL("NOTIFY {}").format(sql.Identifier(schema)))
                is_well = True
            except (psycopg.Error, StorageError) as error:
                # The next commit tries again; followers look by themselves meanwhile.
                if is_well:
                    log.warning("followers look for new rows by themselves: %s", error)
                is_well = False
                if raw is not None:
                    raw.close()
                raw = None
        if raw is not None:
            raw.close()


def _search(raw: Raw, place: WorldPlace) -> None:
    """Let a connection see one world; outside of a transaction, whose end could undo it."""
    raw.autocommit = True
    try:
        raw.execute(_searching(place))
    finally:
        raw.autocommit = False


def _searching(place: WorldPlace) -> sql.Composed:
    return sql.SQL("SET search_path = {}").format(sql.Identifier(place.schema))


def connections_needed(worlds: int) -> int:
    """Most connections that a process on so many worlds comes to, once it leads all of them."""
    return SHARED + PER_WORLD * worlds


def shortage_of(place: WorldPlace, needed: int) -> str:
    """One sentence where the server has fewer connections than this process may need. Blocks.

    Returns:
        The sentence, empty where there are enough.

    Raises:
        StorageError: the database does not answer.
    """
    with connect(place, "settings") as raw, as_shared_error():
        row = raw.execute(_FREE).fetchone()
    if row is None:
        return ""
    most, reserved, used = (cast("int", one) for one in row)
    free = max(0, most - reserved - used)
    if free >= needed:
        return ""
    return (
        f"warning: this process may need {needed} connections of the database, and {free} are free "
        f"(max_connections {most}, {reserved} reserved, {used} in use); raise max_connections"
    )

"""Connections to the PostgreSQL of a shared desk."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import urlsplit

import psycopg
from psycopg import conninfo, sql
from psycopg.abc import Buffer
from psycopg.pq import TransactionStatus
from psycopg.types.string import StrDumper

from service_tui.storage.errors import StorageError
from service_tui.storage.shared.errors import NotLeadingError, as_shared_error, shared_error
from service_tui.storage.shared.statements import translated
from service_tui.storage.world_database import Rows

Raw = psycopg.Connection[tuple[object, ...]]

_WORLD: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SCHEMES: Final = ("postgresql", "postgres")
_LINE: Final[Mapping[str, int]] = {
    "connect_timeout": 5,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 5_000,
}
"""A lost connection is noticed within five seconds, also while no statement runs."""

SPLIT_SESSIONS: Final = (
    "a pooler stands before the database and gives each transaction another session, and the lead "
    "of a world belongs to one; set its pool_mode to session, or name the database itself"
)

_ENCODING: Final = "UTF8"
"""Texts travel in it, whatever the role, the address or `PGCLIENTENCODING` ask for."""

_SESSION: Final = (
    # Also what the server itself waits for: a client that is gone, and one that stands.
    b"SET tcp_keepalives_idle = 2",
    b"SET tcp_keepalives_interval = 1",
    b"SET tcp_keepalives_count = 3",
    # A role or a database may say otherwise. Fewer digits would change the moments of rows, and
    # a stricter isolation would refuse a new leader that waits for the former one.
    b"SET extra_float_digits = 1",
    b"SET default_transaction_isolation = 'read committed'",
    # What is acknowledged is on the server's disk. `local`, `remote_write` and `remote_apply` are
    # the person's choice. The value is fixed for the session: no reload of the configuration
    # weakens it between a trade and its commit.
    (
        b"SELECT set_config('synchronous_commit', CASE now WHEN 'off' THEN 'on' ELSE now END, "
        b"false) FROM current_setting('synchronous_commit') AS now"
    ),
)

_TRANSACTION_MAX_S: Final = 10
"""A transaction that stands still longer is ended by the server: its writer was paused."""


@dataclass(frozen=True, slots=True)
class WorldPlace:
    """One world in one database. `url` holds a password, maybe: it is shown nowhere."""

    url: str
    world: str

    def __post_init__(self) -> None:
        """Check both.

        Raises:
            StorageError: no address of PostgreSQL, or no name of a world.
        """
        if not _WORLD.fullmatch(self.world):
            raise StorageError(
                f"no name of a world: {self.world!r}; take 1 to 40 small letters, digits and _"
            )
        try:
            is_known = urlsplit(self.url).scheme in _SCHEMES
            shown = {**conninfo.conninfo_to_dict(self.url), "password": ""}
        except (ValueError, psycopg.Error):
            is_known, shown = False, {}
        if not is_known:
            raise StorageError("no address of a database; write postgresql://user@host/name")
        # A part of a password that was taken for a host or a name would be shown with it.
        if any("@" in str(part) for part in shown.values()):
            raise StorageError(
                "the address of the database has an @ too many; in a password write %40 for @, "
                "%2F for /, %3A for :, %3F for ? and %23 for #"
            )

    def __repr__(self) -> str:
        return f"WorldPlace({self})"

    def __str__(self) -> str:
        parts = conninfo.conninfo_to_dict(self.url)
        host = parts.get("host") or "local"
        return f"{self.world} on {host}/{parts.get('dbname') or parts.get('user') or ''}"

    @property
    def schema(self) -> str:
        """The database's schema in which this world lies."""
        return f"world_{self.world}"

    @property
    def lock_key(self) -> int:
        """The number of the world's lock: 64 bits, the same in every process."""
        digest = hashlib.sha256(f"service-tui/{self.world}".encode()).digest()
        return int.from_bytes(digest[:8], signed=True)


class _TextDumper(StrDumper):
    """Texts without NUL, which PostgreSQL takes in none: what has one is found nowhere."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\x00", "\ufffd"))


def connect(place: WorldPlace, purpose: str) -> Raw:
    """Open a connection in which each statement is its own transaction. Blocks.

    Args:
        place: the world that its statements are about.
        purpose: shown in the server's list of connections.

    Returns:
        The connection.

    Raises:
        StorageError: there is no way to the database; gives the reason.
    """
    with as_shared_error():
        name = f"service-tui {purpose} {place.world}"
        line = conninfo.make_conninfo(
            place.url, application_name=name, client_encoding=_ENCODING, **_LINE
        )
        raw = psycopg.connect(line, autocommit=True)
        raw.adapters.register_dumper(str, _TextDumper)
        try:
            raw.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(place.schema)))
            for statement in _SESSION:
                raw.execute(statement)
            raw.execute(
                f"SET idle_in_transaction_session_timeout = {1_000 * _TRANSACTION_MAX_S}".encode()
            )
        except psycopg.Error:
            raw.close()
            raise
    return raw


Connect = Callable[[WorldPlace, str], Raw]
"""Opens a connection, as `connect` does."""


def refuse_split_sessions(place: WorldPlace, raw: Raw) -> None:
    """Refuse a pooler that lets each transaction of a connection have another session. Blocks.

    The lock of the lead, what a connection has set, and its prepared statements belong to a
    session: behind such a pooler they would be somebody else's.

    Raises:
        StorageError: there is one; gives the fix.
    """
    session = _session_of(raw)
    if session == raw.info.backend_pid:
        return
    # A pooler gave a number of its own at connecting. One that keeps no sessions gives that of the
    # first connection, which does nothing now, to the transaction of another one.
    with connect(place, "schema") as other, as_shared_error(), other.transaction():
        if _session_of(other) == session or _session_of(raw) != session:
            raise StorageError(SPLIT_SESSIONS)


def _session_of(raw: Raw) -> int:
    row = raw.execute(b"SELECT pg_backend_pid()").fetchone()
    return 0 if row is None else cast("int", row[0])


class SharedConnection:
    """What works write through: statements as SQLite takes them."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw

    def execute(self, statement: str, parameters: Mapping[str, object] | None = None, /) -> Rows:
        """Run one statement."""
        return self._raw.execute(translated(statement), parameters or {})  # pyright: ignore[reportArgumentType, reportCallIssue] - text of ours

    def executemany(self, statement: str, rows: Iterable[Mapping[str, object]], /) -> None:
        """Run one statement for each of the rows, without waiting between them."""
        with self._raw.cursor() as cursor:
            cursor.executemany(translated(statement), rows)  # pyright: ignore[reportArgumentType] - text of ours


class SharedPort:
    """The writing connection of a leader: no transaction begins once its epoch is over.

    Args:
        raw: a connection of its own.
        epoch: of the leader.
        committed: called after each commit; does not block.
    """

    failures: tuple[type[Exception], ...] = (psycopg.Error,)

    def __init__(self, raw: Raw, epoch: int, committed: Callable[[], None]) -> None:
        self._raw = raw
        self._committed = committed
        self.connection = SharedConnection(raw)
        raw.execute(f"SET service_tui.epoch = '{epoch:d}'".encode())
        # The row stays locked until the end of the transaction: a new leader waits for that.
        self._begin = (
            f"BEGIN; SELECT 1 FROM world WHERE epoch = {epoch:d} FOR NO KEY UPDATE"  # noqa: S608 - a number
        ).encode()

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is open."""
        return self._raw.info.transaction_status in {
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
        }

    def begin(self) -> None:
        """Begin a transaction of this epoch.

        Raises:
            NotLeadingError: another process leads the world by now.
        """
        cursor = self._raw.execute(self._begin)
        cursor.nextset()
        if cursor.fetchone() is None:
            raise NotLeadingError(
                "another process leads this world; nothing was written; try again"
            )

    def execute(self, sql: str) -> None:
        """Run COMMIT, ROLLBACK or a statement of a savepoint."""
        self._raw.execute(sql.encode())

    def confirm(self) -> None:
        """Nothing to confirm: what the server has committed is on its disk."""
        self._committed()

    def is_final(self, error: Exception, *, is_committing: bool) -> bool:
        """True for a commit that failed, and for a line that is lost."""
        del error
        return is_committing or self._raw.closed

    def named(self, error: Exception) -> StorageError:
        """The error as one of ours, with a plain sentence."""
        if isinstance(error, StorageError):
            return error
        if isinstance(error, psycopg.Error):
            return shared_error(error)
        raise error

    def close(self) -> None:
        """Close the connection; one that is lost is closed already."""
        with suppress(psycopg.Error):
            self._raw.close()

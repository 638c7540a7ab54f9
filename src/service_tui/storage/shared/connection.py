"""Opens connections to the PostgreSQL database of a shared desk.

It also refuses a pooler that splits sessions, and gives the leader a connection that begins no
transaction once another process leads.
"""

import hashlib
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
from service_tui.storage.shared.statements import as_json, inserting_all, translated
from service_tui.storage.world_database import LateConnection, Rows

Raw = psycopg.Connection[tuple[object, ...]]

_WORLD: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PORT: Final = 5432
_SCHEMES: Final = ("postgresql", "postgres")
_TIMEOUTS: Final[Mapping[str, int]] = {
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

_ROUNDS: Final = 24
"""How often a pooler is asked for the session of a connection: the busier, the less one tells."""

_ENCODING: Final = "UTF8"
"""The encoding of texts, whatever the role, the address or `PGCLIENTENCODING` request."""

_SESSION: Final = (
    # The server's own side of the connection: it notices within five seconds that a client is gone.
    b"SET tcp_keepalives_idle = 2",
    b"SET tcp_keepalives_interval = 1",
    b"SET tcp_keepalives_count = 3",
    # These override the settings of the role and the database. Fewer digits would change the times
    # of rows, and a stricter isolation would refuse a new leader that waits for the former one.
    b"SET extra_float_digits = 1",
    b"SET default_transaction_isolation = 'read committed'",
    # An acknowledged commit is on the server's disk: `off` becomes `on`. Whether a replica has to
    # confirm as well (`local`, `remote_write`, `remote_apply`) stays as configured. The value is
    # fixed for the session: reloading the configuration between a trade and its commit cannot
    # weaken it.
    (
        b"SELECT set_config('synchronous_commit', CASE now WHEN 'off' THEN 'on' ELSE now END, "
        b"false) FROM current_setting('synchronous_commit') AS now"
    ),
)

ROWS_AT_ONCE: Final = 1_000
"""ours: rows of one statement; a world that is copied has millions, and is one transaction."""

_TRANSACTION_MAX_S: Final = 10
"""The server ends a transaction that is idle for longer: the process that opened it was paused."""


@dataclass(frozen=True, slots=True)
class WorldPlace:
    """One world in one database. `url` may contain a password: it is never shown."""

    url: str
    world: str

    def __post_init__(self) -> None:
        """Check the name and the address.

        Raises:
            StorageError: the address is not one of PostgreSQL, or the name not one of a world.
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
        # With an unescaped @, a part of the password would be shown as the host or the name.
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
        """The number of the world's advisory lock: 64 bits, the same in every process."""
        digest = hashlib.sha256(f"service-tui/{self.world}".encode()).digest()
        return int.from_bytes(digest[:8], signed=True)


def host_of(url: str) -> tuple[str, int]:
    """The host of a database's address, empty or a folder for one on this machine, and the port."""
    try:
        parts = conninfo.conninfo_to_dict(url)
        host = str(parts.get("hostaddr") or parts.get("host") or "")
        # Several may be named: they are of one network.
        port = str(parts.get("port") or _PORT)
        return host.partition(",")[0], int(port.partition(",")[0])
    except (ValueError, psycopg.Error):
        return "", _PORT


class _TextDumper(StrDumper):
    """Replaces NUL in texts, which PostgreSQL does not store: a search for one finds no row."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\x00", "\ufffd"))


def connect(place: WorldPlace, purpose: str) -> Raw:
    """Open a connection in which each statement is its own transaction. Blocks.

    Args:
        place: the world; its schema is searched first.
        purpose: shown in the server's list of connections.

    Returns:
        The connection.

    Raises:
        StorageError: the database cannot be reached; gives the reason.
    """
    with as_shared_error():
        name = f"service-tui {purpose} {place.world}"
        address = conninfo.make_conninfo(
            place.url, application_name=name, client_encoding=_ENCODING, **_TIMEOUTS
        )
        raw = psycopg.connect(address, autocommit=True)
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
    """Refuse a pooler that gives each transaction of a connection another session. Blocks.

    The leader's lock, the settings of a connection and its prepared statements belong to a session:
    behind such a pooler, statements of other clients would run in it.

    Raises:
        StorageError: there is such a pooler; gives the fix.
    """
    session = session_of(raw)
    if session == raw.info.backend_pid:
        return
    # The process id that was shown at connecting is not that of the session: there is a pooler. If
    # it splits sessions, a second connection is given the session of the first, which is idle now,
    # or the first one another. With other work for the pooler that need not be so at once.
    with connect(place, "schema") as other, as_shared_error():
        if not all(_keeps_session(raw, other, session) for _ in range(_ROUNDS)):
            raise StorageError(SPLIT_SESSIONS)


def _keeps_session(raw: Raw, other: Raw, session: int) -> bool:
    """True if a connection is still given its session while another one has a transaction."""
    with other.transaction():
        return session_of(other) != session and session_of(raw) == session


def session_of(raw: Raw) -> int:
    """The server's process behind a connection; behind a pooler it is not the one shown. Blocks."""
    row = raw.execute(b"SELECT pg_backend_pid()").fetchone()
    return 0 if row is None else cast("int", row[0])


class _LateRows:
    """The result of a statement that was sent; whoever looks at it waits for it."""

    def __init__(self, rows: Rows, pipeline: psycopg.Pipeline) -> None:
        self._rows = rows
        self._pipeline = pipeline
        self.fetchone = rows.fetchone
        self.fetchall = rows.fetchall

    @property
    def rowcount(self) -> int:
        if self._rows.rowcount < 0:
            self._pipeline.sync()
        return self._rows.rowcount


class SharedConnection(LateConnection):
    """Runs statements in SQLite's dialect on PostgreSQL; the leader's writes go through it."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self._pipeline: psycopg.Pipeline | None = None
        self._checks: list[Callable[[], None]] = []
        self._unsent: tuple[str, list[Mapping[str, object]]] = ("", [])

    def execute(self, statement: str, parameters: Mapping[str, object] | None = None, /) -> Rows:
        """Run one statement."""
        self._send()
        rows: Rows = self._raw.execute(translated(statement), parameters or {})  # pyright: ignore[reportArgumentType, reportCallIssue, reportAssignmentType] - text of ours
        return rows if self._pipeline is None else _LateRows(rows, self._pipeline)

    def note_written(self, seq: int) -> None:
        """Remember, until the end of `together`, up to which row the journal is written."""
        # Elsewhere a work can be taken back alone, and its rows with it.
        if self._pipeline is not None:
            self.written_to = seq

    def check_later(self, rows: Rows, check: Callable[[Rows], None]) -> None:
        """Give a result to a check: now, or once all statements of `together` have theirs."""
        if self._pipeline is None:
            check(rows)
        else:
            self._checks.append(lambda: check(rows))

    @contextmanager
    def together(self) -> Generator[None]:
        """Send statements without waiting for results, unless one is looked at.

        An error of a statement keeps all later ones from being run, and is raised at the end at the
        latest; then the results are given to the checks.
        """
        self._checks, self.written_to = [], None
        try:
            with self._raw.pipeline() as pipeline:
                self._pipeline = pipeline
                yield
                self._send()
        finally:
            self._pipeline, self.written_to = None, None
            self._unsent = ("", [])
        for check in self._checks:
            check()

    def executemany(self, statement: str, rows: Iterable[Mapping[str, object]], /) -> None:
        """Run one statement for each of the rows, without waiting between them."""
        if self._pipeline is None:
            self._run_for_each(statement, rows)
            return
        for row in rows:
            if self._unsent[0] != statement or len(self._unsent[1]) >= ROWS_AT_ONCE:
                self._send()
                self._unsent = (statement, [])
            self._unsent[1].append(row)

    def _send(self) -> None:
        """Send the rows that were put aside, as one statement where that can be."""
        (statement, rows), self._unsent = self._unsent, ("", [])
        at_once = inserting_all(statement) if len(rows) > 1 else None
        text = None if at_once is None else as_json(rows)
        if at_once is not None and text is not None:
            self._raw.execute(at_once, [text])  # pyright: ignore[reportArgumentType, reportCallIssue] - text of ours
        elif rows:
            self._run_for_each(statement, rows)

    def _run_for_each(self, statement: str, rows: Iterable[Mapping[str, object]]) -> None:
        with self._raw.cursor() as cursor:
            cursor.executemany(translated(statement), rows)  # pyright: ignore[reportArgumentType] - text of ours


class SharedPort:
    """The connection a leader writes through; it begins no transaction after the leader's epoch.

    Args:
        raw: a connection that nothing else uses.
        epoch: of the leader.
        committed: called after each commit; does not block.
    """

    failures: tuple[type[Exception], ...] = (psycopg.Error,)

    def __init__(self, raw: Raw, epoch: int, committed: Callable[[], None]) -> None:
        self._raw = raw
        self._committed = committed
        self.connection = SharedConnection(raw)
        raw.execute(f"SET service_tui.epoch = '{epoch:d}'".encode())
        # At the first use: of a statement that was to be prepared later, and was not run as one
        # before it failed, the driver would not know that the server has it not (psycopg 3.3.9).
        raw.prepare_threshold = 0
        # The row stays locked until the end of the transaction: a new leader waits for that.
        led = f"SELECT 1 FROM world WHERE epoch = {epoch:d} FOR NO KEY UPDATE"  # noqa: S608 - a number
        self._begin = f"BEGIN; {led}".encode()
        # An error on the server, so that of a former leader no statement after it is run.
        self._led_or_error = f"SELECT 1 / count(*) FROM ({led}) AS led".encode()  # noqa: S608 - as above

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is open."""
        return self._raw.info.transaction_status in {
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
        }

    def attempt(self, parts: Iterator[Sequence[Callable[[SharedConnection], object]]]) -> bool:
        """Run works in a transaction of this epoch, a part in one round trip where none needs more.

        Returns:
            False if a statement, a check or a work refused, or another process leads: all is
            rolled back.

        Raises:
            psycopg.Error: the connection is lost; nothing was committed.
        """
        try:
            with self.connection.together():
                self._raw.execute(b"BEGIN")
                self._raw.execute(self._led_or_error)
                self._run(next(parts, ()))
            for works in parts:
                with self.connection.together():
                    self._run(works)
        except Exception as error:
            if self._raw.closed:
                if isinstance(error, psycopg.Error):
                    raise
                # A work failed by itself as well.
                raise psycopg.OperationalError("the connection was lost") from error
            # Run one by one, each work meets its own error once more.
            self._raw.execute(b"ROLLBACK")
            return False
        return True

    def _run(self, works: Sequence[Callable[[SharedConnection], object]]) -> None:
        for work in works:
            work(self.connection)

    def begin(self) -> None:
        """Begin a transaction of this epoch.

        Raises:
            NotLeadingError: another process leads the world now.
        """
        # Two statements, of which none can be prepared together.
        cursor = self._raw.execute(self._begin, prepare=False)
        cursor.nextset()
        if cursor.fetchone() is None:
            raise NotLeadingError(
                "another process leads this world; nothing was written; try again"
            )

    def execute(self, sql: str) -> None:
        """Run COMMIT, ROLLBACK or a statement of a savepoint.

        Raises:
            psycopg.Error: it was refused, or nothing was committed.
        """
        done = self._raw.execute(sql.encode()).statusmessage
        # A COMMIT after an error that a work kept to itself is a ROLLBACK, and no error.
        if sql == "COMMIT" and done != sql:
            raise psycopg.errors.InFailedSqlTransaction("a statement before the commit failed")

    def confirm(self) -> None:
        """Report the commit; the server has it on its disk already."""
        self._committed()

    def is_final(self, error: Exception, *, is_committing: bool) -> bool:
        """True if a commit failed or the connection is lost."""
        del error
        return is_committing or self._raw.closed

    def named(self, error: Exception) -> StorageError:
        """The error as a `StorageError` with a plain sentence."""
        if isinstance(error, StorageError):
            return error
        if isinstance(error, psycopg.Error):
            return shared_error(error)
        raise error

    def close(self) -> None:
        """Close the connection; a lost one needs no closing."""
        with suppress(psycopg.Error):
            self._raw.close()

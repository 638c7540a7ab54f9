"""The lead of a world: a lock on the server, an epoch, and a regular renewal.

The lock belongs to a connection of its own and ends with it. The epoch fences: a former leader can
begin no transaction. The beat distinguishes a leader that has stopped from one that works; its
connections are ended by the server, so that another process can take the lock.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import Final, cast

import psycopg
from psycopg import sql

from service_tui.storage.errors import StorageError
from service_tui.storage.shared.connection import Connect, Raw, WorldPlace, connect
from service_tui.storage.shared.errors import NotLeadingError, as_shared_error
from service_tui.storage.shared.sharing import SharedConnections

BEAT_S: Final = 0.4
"""How often a leader shows that it works."""

SILENT_S: Final = 2.0
"""A leader that was silent for so long is replaced, by the server's clock."""

CERTAIN_S: Final = 1.4
"""A leader that has not beaten for so long answers nothing: it may be replaced soon."""


IDLE_S: Final = 3.0
"""How long a process that follows keeps the connection by which it last tried for the lead."""

_LEADER: Final = (
    "SELECT world.epoch, holder, address, "
    "extract(epoch FROM clock_timestamp() - beat.at)::float8, operator_hash FROM world, beat"
)

OPERATORS_MAX: Final = 16
"""# ours: operator's keys of one world; each process brings that of its folder."""


@dataclass(frozen=True, slots=True)
class Leader:
    """The leader of a world. `address` is None until it serves; `silent_s` since its last renewal.

    `operator_hashes` are those of the operator's keys of this world, none before the first leader.
    """

    epoch: int
    holder: str
    address: str | None
    silent_s: float
    operator_hashes: tuple[str, ...] = ()


class Leadership:
    """One process's way to the lead of one world. Every call but `check` blocks.

    Args:
        place: the world.
        holder: this process, shown to the others.
        monotonic: a clock of seconds.
    """

    def __init__(
        self,
        place: WorldPlace,
        holder: str,
        monotonic: Callable[[], float],
        *,
        connect: Connect = connect,
        shared: SharedConnections | None = None,
    ) -> None:
        # With `shared` a process that does not try for the lead holds no connection for it.
        self._shared = shared
        self._tried_at = float("-inf")
        self._connect = connect
        self._place = place
        self._holder = holder
        self._monotonic = monotonic
        self._raw: Raw | None = None
        self._certain_until = 0.0
        self._calling = Lock()
        self.epoch: int | None = None
        """The epoch that this process leads; None while another one does."""

        self.operator_hashes: tuple[str, ...] = ()
        """Of the operator's keys of this world, as the database last named them."""

    def try_lead(self) -> int | None:
        """Take the lead if no process has it.

        Returns:
            The new epoch, None while another process leads.

        Raises:
            StorageError: the database does not answer.
        """
        begun = self._tried_at = self._monotonic()
        with self._call():
            raw = self._connection()
            with raw.transaction():
                # In one session with the row that names it, whatever stands before the database.
                (is_ours,) = _one(raw, "SELECT pg_try_advisory_lock(%s)", [self._place.lock_key])
                if not is_ours:
                    return None
                (epoch,) = _one(
                    raw,
                    "UPDATE world SET epoch = epoch + 1, holder = %s, address = NULL, "
                    "lock_pid = pg_backend_pid(), writer_pid = NULL RETURNING epoch",
                    [self._holder],
                )
                raw.execute(
                    "INSERT INTO leaders (epoch, after_seq, holder) "
                    "SELECT %s, coalesce(max(seq), 0), %s FROM journal",
                    [epoch, self._holder],
                )
                raw.execute("UPDATE beat SET epoch = %s, at = clock_timestamp()", [epoch])
            self.epoch = cast("int", epoch)
            self._certain_until = begun + CERTAIN_S
            return self.epoch

    def note_writer(self, pid: int) -> None:
        """Note the server's process behind the writer, which another leader may have to end."""
        with self._call():
            self._connection().execute(
                "UPDATE world SET writer_pid = %s WHERE epoch = %s", [pid, self.epoch]
            )

    def publish(self, address: str | None) -> None:
        """Publish where the leader serves; None withdraws it."""
        with self._call():
            self._connection().execute(
                "UPDATE world SET address = %s WHERE epoch = %s", [address, self.epoch]
            )

    def beat(self) -> None:
        """Show that this leader works.

        Raises:
            NotLeadingError: another process leads by now.
            StorageError: the database does not answer.
        """
        begun = self._monotonic()
        with self._call():
            if self._raw is None or self._raw.closed:
                # The lock went with its connection.
                self._lose()
                raise NotLeadingError("the connection that holds the lead was lost")
            beaten = self._raw.execute(
                "UPDATE beat SET at = clock_timestamp() WHERE epoch = %s "
                "RETURNING (SELECT operator_hash FROM world)",
                [self.epoch],
            )
            if beaten.rowcount == 0:
                self._lose()
                raise NotLeadingError("another process leads this world")
            for (kept,) in beaten.fetchall():
                self.operator_hashes = _hashes(kept)
            self._certain_until = begun + CERTAIN_S

    def check(self) -> None:
        """Refuse to answer for the world while it is not certain who leads. Does not block.

        Raises:
            NotLeadingError: the last beat is too long ago, or another process leads.
        """
        if self.epoch is None or self._monotonic() >= self._certain_until:
            raise NotLeadingError("who leads this world is not certain at the moment; try again")

    def leader(self) -> Leader | None:
        """The leader that the database names; None before the first one.

        Raises:
            StorageError: the database does not answer.
        """
        with self._call():
            epoch, holder, address, silent_s, hashes = self._named()
        found = Leader(
            cast("int", epoch),
            str(holder),
            None if address is None else str(address),
            cast("float", silent_s),
            _hashes(hashes),
        )
        return found if found.epoch else None

    def _named(self) -> tuple[object, ...]:
        if self._shared is None or self.epoch is not None:
            return _one(self._connection(), _LEADER, [])
        if self._monotonic() - self._tried_at > IDLE_S and self._raw is not None:
            self._raw.close()
        row = self._shared.watch(self._place, sql.SQL(_LEADER))
        return row or _one(self._connection(), _LEADER, [])

    def end_silent(self) -> None:
        """Have the server end the connections of a leader that was silent for too long."""
        with self._call():
            self._connection().execute(
                "SELECT pg_terminate_backend(pid) FROM world, beat, "
                "unnest(ARRAY[lock_pid, writer_pid]) AS pid "
                "WHERE pid IS NOT NULL AND pid <> pg_backend_pid() "
                "AND clock_timestamp() - beat.at > make_interval(secs => %s) "
                # A number is given again: only connections of this program to this database.
                "AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                "AND application_name LIKE 'service-tui %%')",
                [SILENT_S],
            )

    def add_operator(self, mine: str) -> tuple[str, ...]:
        """Have the operator's key of this process open the world, beside those of the others.

        Whoever has the address of the database has the world, so that no key need be asked for.

        Args:
            mine: the hash of the key.

        Returns:
            The hashes of all that do, the first process's first; at most OPERATORS_MAX.
        """
        with self._call():
            (kept,) = _one(
                self._connection(),
                "UPDATE world SET operator_hash = CASE WHEN operator_hash IS NULL THEN %s "
                "WHEN %s = ANY(string_to_array(operator_hash, ' ')) "
                "OR cardinality(string_to_array(operator_hash, ' ')) >= %s THEN operator_hash "
                "ELSE operator_hash || ' ' || %s END RETURNING operator_hash",
                [mine, mine, OPERATORS_MAX, mine],
            )
        self.operator_hashes = _hashes(kept)
        return self.operator_hashes

    def close(self) -> None:
        """Give up the lead, if any, and the connection, once a call of another thread is over."""
        with self._calling:
            raw, self._raw = self._raw, None
            answered_lately = self._monotonic() < self._certain_until
            self._lose()
            if raw is None:
                return
            with suppress(psycopg.Error):
                if answered_lately:
                    # The server notices the end of a connection a little later, and until then
                    # whoever asks next would find the world led.
                    raw.execute("SELECT pg_advisory_unlock_all()")
            with suppress(psycopg.Error):
                raw.close()

    @contextmanager
    def _call(self) -> Generator[None]:
        """One call at a time: whoever closes waits for one that nobody waits for any more."""
        with self._calling, as_shared_error():
            yield

    def _lose(self) -> None:
        self.epoch, self._certain_until = None, 0.0

    def _connection(self) -> Raw:
        if self._raw is None or self._raw.closed:
            if self.epoch is not None:
                self._lose()
                raise NotLeadingError("the connection that holds the lead was lost")
            self._raw = self._connect(self._place, "lead")
        return self._raw


def _hashes(kept: object) -> tuple[str, ...]:
    """What a world keeps of its operators' keys: hashes with spaces between."""
    return () if kept is None else tuple(str(kept).split())


def _one(raw: Raw, query: str, values: list[object]) -> tuple[object, ...]:
    row = raw.execute(query.encode(), values).fetchone()
    if row is None:
        raise StorageError("the world's own row is missing; the database was changed by hand")
    return row

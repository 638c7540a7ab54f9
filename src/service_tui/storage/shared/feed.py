"""The growing journal of a world: followers wait here for rows that the leader has committed.

A notification wakes them. It carries nothing and may be lost: what is new is read from the table,
and looked for now and then without being woken.
"""

import asyncio
import logging
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

import psycopg
from psycopg import sql

from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import JournalRow
from service_tui.storage.shared.connection import Connect, Raw, WorldPlace, connect
from service_tui.storage.shared.errors import as_shared_error

log = logging.getLogger(__name__)

FEED_ROWS_MAX: Final = 500
"""Rows of one reading. Applying them takes less than a tenth of a second."""

_ROWS: Final = (
    b"SELECT seq, at, kind, agent_id, market_id, body, epoch FROM journal "
    b"WHERE seq > %s ORDER BY seq LIMIT %s"
)


class CommitNotifier:
    """Wakes the followers of a world after each commit, in a thread: no commit waits for it.

    What is committed while it works is one more notification together. Not in the transaction of
    the rows: PostgreSQL lets only one transaction that notifies commit at a time, in all worlds.
    """

    def __init__(self, place: WorldPlace, *, connect: Connect = connect) -> None:
        self._connect = connect
        self._place = place
        self._due = Event()
        self._is_closed = False
        self._thread = Thread(target=self._run, name="storage-notifier", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """Wake the followers soon. Called from any thread."""
        self._due.set()

    def close(self) -> None:
        """End the thread. Blocks for a moment."""
        self._is_closed = True
        self._due.set()
        self._thread.join()

    def _run(self) -> None:
        query = sql.SQL("NOTIFY {}").format(sql.Identifier(self._place.schema))
        try:
            raw = self._connect(self._place, "notifier")
        except StorageError as error:
            self._report(error)
            return
        with raw:
            while self._due.wait() and not self._is_closed:
                self._due.clear()
                try:
                    raw.execute(query)
                except psycopg.Error as error:
                    self._report(error)
                    return

    def _report(self, error: Exception) -> None:
        # The writer meets the same soon, and is opened again with a notifier of its own.
        log.warning("followers look for new rows by themselves from now on: %s", error)


class JournalFeed:
    """New rows of a journal, on a connection that cannot write. All calls but `changed` block."""

    def __init__(self, place: WorldPlace, *, connect: Connect = connect) -> None:
        self._connect = connect
        self._place = place
        self._raw: Raw | None = None
        self._epoch = 0
        self._is_notified = False
        self._is_closed = False
        self._closing = Lock()

    def open(self) -> None:
        """Connect, and listen from now on.

        Raises:
            StorageError: the database does not answer, or the feed was closed meanwhile.
        """
        raw = self._connect(self._place, "follower")
        with self._closing:
            # Who waits for this thread may have given up, and closed what was there.
            if self._is_closed:
                raw.close()
                raise StorageError("the feed is closed")
            self._raw = raw
        raw.add_notify_handler(self._note)
        with as_shared_error():
            raw.execute("SET default_transaction_read_only = on")
            raw.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._place.schema)))

    def rows_after(self, seq: int) -> list[JournalRow]:
        """At most `FEED_ROWS_MAX` rows that follow row `seq` without a gap.

        Raises:
            DamagedRowsError: rows are missing, or one is of an earlier leader than the row before.
            StorageError: the database does not answer.
        """
        raw = self._opened()
        with as_shared_error():
            self._take_notifications(raw)
            found = raw.execute(_ROWS, [seq, FEED_ROWS_MAX]).fetchall()
        rows: list[JournalRow] = []
        for *fields, epoch in found:
            row = JournalRow(*fields)  # pyright: ignore[reportArgumentType] - as the table has them
            seq += 1
            if row.seq != seq:
                raise DamagedRowsError(f"row {seq} of the journal is missing", seq=seq)
            if not isinstance(epoch, int) or epoch < self._epoch:
                raise DamagedRowsError(f"row {seq} is of the former leader {epoch}", seq=seq)
            self._epoch = epoch
            rows.append(row)
        return rows

    async def changed(self, seconds: float) -> None:
        """Wait until rows were committed, at most so long."""
        raw = self._opened()
        if self._is_notified or raw.closed:
            return
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        with as_shared_error():
            ear = raw.fileno()

        def heard() -> None:
            # Once: the bytes stay there until they are read.
            loop.remove_reader(ear)
            came.set()

        loop.add_reader(ear, heard)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await came.wait()
        finally:
            loop.remove_reader(ear)

    def close(self) -> None:
        """Close the connection, for good; also one that is being opened by another thread."""
        with self._closing:
            self._is_closed = True
            raw, self._raw = self._raw, None
        if raw is not None:
            with suppress(psycopg.Error):
                raw.close()

    def _opened(self) -> Raw:
        if self._raw is None:
            raise StorageError("the feed is closed")
        return self._raw

    def _take_notifications(self, raw: Raw) -> None:
        """Forget those that have come: what they are about is read now."""
        raw.pgconn.consume_input()
        while raw.pgconn.notifies() is not None:
            pass
        self._is_notified = False

    def _note(self, _: psycopg.Notify) -> None:
        # It came with the answer to a query: the rows may be newer than that.
        self._is_notified = True

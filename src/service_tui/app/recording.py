"""Records an open desk's states beside its database, for as long as it is open."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from threading import Lock
from typing import Final

from service_tui.clock import Clock
from service_tui.desk.desk import Desk
from service_tui.desk.facts import Noticed
from service_tui.desk.recording.recorder import AFTER_EVENT_S, Recorder
from service_tui.desk.restarting import keep_running
from service_tui.desk.state import DeskState
from service_tui.storage.errors import StorageError
from service_tui.storage.recordings import Recordings
from service_tui.units import Timestamp

log = logging.getLogger(__name__)

KEPT_S: Final = 30 * 86_400.0
AGAIN_S: Final = 60.0
"""Pause before a disk that refused is tried again."""

LAST_S: Final = 1.0
"""ours: longest wait for the last record when the desk is left."""


@asynccontextmanager
async def recording(desk: Desk, clock: Clock) -> AsyncGenerator[Recordings]:
    """Record a desk in the background while the context lasts.

    A failing disk ends nothing: one notice reports it, and the recording continues later.

    Yields:
        Where the records are kept.
    """
    store = Recordings(desk.folder)
    writer = RecordWriter(store, desk, clock)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(keep_running("recording", writer.run, desk.ports))
        try:
            yield store
        finally:
            task.cancel()
            # Here, because a console that quits cancels every task that waits for the group.
            await writer.write_last()


class RecordWriter:
    """Writes the records of one open desk."""

    def __init__(self, store: Recordings, desk: Desk, clock: Clock) -> None:
        self._store = store
        self._desk = desk
        self._clock = clock
        self._recorder: Recorder | None = None
        self._is_begun = False
        self._has_failed = False
        self._writing = Lock()

    async def run(self) -> None:
        """Record the desk's states as they come, until cancelled."""
        async for state in self._desk.changes():
            # What was kept from an earlier run is recorded already.
            if not state.from_cache:
                await self._record(state)
            await self._clock.sleep(AFTER_EVENT_S)

    async def write_last(self) -> None:
        """Record the state in which the desk is left; a disk that refuses is left alone."""
        state = self._desk.state
        if self._is_begun and not state.from_cache:
            with suppress(StorageError, TimeoutError):
                async with asyncio.timeout(LAST_S):
                    await asyncio.to_thread(self._write, state, self._clock.now())

    async def _record(self, state: DeskState) -> None:
        now = self._clock.now()
        if self._recorder is not None and not self._recorder.is_due(state, now):
            return
        try:
            # In a thread: a whole state takes some milliseconds, and the disk its time.
            await asyncio.to_thread(self._write, state, now)
            self._has_failed = False
        except StorageError as error:
            await self._rest(error)

    def _write(self, state: DeskState, now: Timestamp) -> None:
        # The last record of all is written while that of a moment before may still be under way.
        with self._writing:
            recorder = self._begun()
            row = recorder.record(state, now)
            if row is None:
                return
            try:
                self._store.add(row)
                recorder.kept(row)
                if row.is_whole:
                    self._store.forget_before(now - KEPT_S)
            except StorageError:
                # Whatever was wrong with the file is looked at first the next time.
                self._is_begun = False
                recorder.forget()
                raise

    def _begun(self) -> Recorder:
        """The recorder, with the file looked at and made if need be."""
        if self._recorder is None or not self._is_begun:
            last_at = self._store.begin()
            if self._recorder is None:
                self._recorder = Recorder(None if last_at is None else Timestamp(last_at))
            self._is_begun = True
        return self._recorder

    async def _rest(self, error: StorageError) -> None:
        log.warning("%s", error)
        if not self._has_failed:
            self._has_failed = True
            self._desk.ports.emit(Noticed("warn", f"{error}: the replay has a gap from here on"))
        await self._clock.sleep(AGAIN_S)

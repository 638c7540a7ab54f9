"""The data directory: its lock, its database, and the blotters of attached consoles."""

import logging
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from service_tui.app.options import BESIDE, BESIDE_MAX, Options
from service_tui.clock import Clock
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock, private_directory
from service_tui.storage.db.room import copied_elsewhere
from service_tui.storage.errors import (
    CorruptDatabaseError,
    DamagedFileError,
    DamagedRowsError,
    DirectoryLockedError,
    Holder,
    LockUnavailableError,
    StorageFullError,
)
from service_tui.storage.opening import open_database
from service_tui.storage.recovery.damage import answer, set_aside

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Data:
    """An open data directory; `lock` is None where the file system cannot lock."""

    database: Database
    lock: DataDirLock | None

    def publish(self, address: str | None) -> None:
        """Publish this process's address to other processes; None withdraws it."""
        if self.lock is not None and self.lock.is_ours:
            self.lock.publish(address)


@asynccontextmanager
async def open_data(data_dir: Path, clock: Clock) -> AsyncGenerator[Data]:
    """The data directory, locked and open, closed in order; damaged files are moved aside."""
    try:
        lock = DataDirLock.acquire(data_dir, pid=os.getpid(), now=clock.now())
    except LockUnavailableError as error:
        # Slower, and two processes at once are not kept apart; no reason to keep the desk shut.
        log.warning("working without a lock: %s", error)
        lock = None
    try:
        database = open_database(data_dir, now=clock.now(), lock=lock)
        try:
            yield Data(database, lock)
        except (DamagedFileError, DamagedRowsError) as damage:
            database.close(clock.now())
            raise _keep_aside(database.path, damage, clock) from damage
        finally:
            database.close(clock.now())
    finally:
        if lock is not None:
            lock.release()


@asynccontextmanager
async def open_data_to_read(data_dir: Path, clock: Clock) -> AsyncGenerator[Data]:
    """The same for a moment of reading: of a copy elsewhere where the disk has no byte left.

    Yields:
        The directory, or the copy, to which nothing is written that stays.

    Raises:
        DirectoryLockedError: another process owns the directory.
    """
    async with AsyncExitStack() as stack:
        try:
            data = await stack.enter_async_context(open_data(data_dir, clock))
        except StorageFullError as error:
            log.warning("reading a copy: %s", error)
            lock = DataDirLock.acquire(data_dir, pid=os.getpid(), now=clock.now())
            stack.callback(lock.release)
            folder = stack.enter_context(copied_elsewhere(data_dir / DATABASE_FILE))
            data = await stack.enter_async_context(open_data(folder, clock))
        yield data


def _keep_aside(
    path: Path, damage: DamagedFileError | DamagedRowsError, clock: Clock
) -> CorruptDatabaseError:
    """Move damaged files aside; the error offers the choices to go on."""
    before = damage.seq if isinstance(damage, DamagedRowsError) else None
    reason = str(damage.__cause__ or damage) if before is None else str(damage)
    return set_aside(path, reason=reason, now=clock.now(), before=before)


@asynccontextmanager
async def open_beside(data_dir: Path, clock: Clock) -> AsyncGenerator[Data]:
    """A separate database below a data directory that another process owns.

    The owner alone writes the directory's own database. Places are numbered and the first free
    one is used, so that the next attached console finds the orders that the last one left open.

    Yields:
        The database and its lock.

    Raises:
        DirectoryLockedError: no place is free.
    """
    private_directory(data_dir / BESIDE)
    async with AsyncExitStack() as stack:
        for place in range(1, BESIDE_MAX + 1):
            try:
                folder = data_dir / BESIDE / str(place)
                # It has no world, and orders kept aside are looked up: there is nothing to choose.
                answer(folder / DATABASE_FILE)
                data = await stack.enter_async_context(open_data(folder, clock))
            except DirectoryLockedError:
                continue
            yield data
            return
        raise DirectoryLockedError(data_dir / BESIDE, Holder(None, None, None))


@asynccontextmanager
async def open_data_of(options: Options, clock: Clock) -> AsyncGenerator[Data]:
    """The data directory of another service; a read-only desk may run beside its owner."""
    async with AsyncExitStack() as stack:
        try:
            data = await stack.enter_async_context(open_data(options.data_dir, clock))
        except DirectoryLockedError:
            if not options.read_only:
                raise
            data = await stack.enter_async_context(open_beside(options.data_dir, clock))
        yield data

"""An attached console takes the data directory over when its owner has ended.

The desk itself goes on as before, over loopback: it finds this process in the lock file as it found
the former owner.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from service_tui.app.options import Options
from service_tui.clock import Clock
from service_tui.credentials.api_keys import ApiKeysError
from service_tui.desk.facts import Fact, Noticed, Served
from service_tui.engine.codec.errors import NewerJournalError
from service_tui.loading import imported
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import DirectoryLockedError, StorageError

if TYPE_CHECKING:
    from service_tui.app.ownership import DirectoryOwner

log = logging.getLogger(__name__)

CHECK_S: Final = 0.5
GRACE_S: Final = 2.0
"""ours: so long a directory without a holder is left to a `serve` that stands by, which is faster,
or to a holder that is started again."""

AGAIN_S: Final = 30.0
"""Delay before another attempt to own the directory."""

TAKEN_OVER: Final = (
    "the program that owned this directory has ended: this console serves it now, at {}"
)

_REASONS: Final = (StorageError, ApiKeysError, NewerJournalError, OSError)
"""Why a directory cannot be owned; anything else is a bug."""


class Succession:
    """Waits for the end of the owner, then owns the directory. Emits nothing before `report_to`."""

    def __init__(self, options: Options, clock: Clock, *, signs: bool) -> None:
        self.address = ""
        self._options = options
        self._clock = clock
        self._signs = signs
        self._emit: Callable[[Fact], None] = lambda _: None
        self._pass_database: Callable[[Database | None], None] = lambda _: None
        self._database: Database | None = None

    def report_to(
        self,
        emit: Callable[[Fact], None],
        pass_database: Callable[[Database | None], None] = lambda _: None,
    ) -> None:
        """Emit facts from now on; `pass_database` lets the console's own desk sign, or not."""
        self._emit, self._pass_database = emit, pass_database
        pass_database(self._database)

    def _hand_over(self, database: Database | None) -> None:
        self._database = database
        self._pass_database(database)

    async def run(self) -> None:
        """Check for an owner at intervals, for ever."""
        free_since: float | None = None
        while True:
            await self._clock.sleep(CHECK_S)
            now = self._clock.monotonic()
            if self._is_owned():
                free_since = None
            elif free_since is None:
                free_since = now
            elif now - free_since >= GRACE_S:
                free_since = None
                await self._try_to_own()

    def _is_owned(self) -> bool:
        try:
            return holder_of(self._options.data_dir) is not None
        except StorageError as error:
            log.warning("lock file without an address: %s", error)
            return True

    async def _try_to_own(self) -> None:
        try:
            await self._own()
        except DirectoryLockedError:
            # Another process was faster: it is found in the lock file.
            return
        except _REASONS as error:
            message = f"cannot take over this directory: {error}"
            log.warning("%s", message)
            self._emit(Noticed("bad", message))
            await self._clock.sleep(AGAIN_S)

    async def _own(self) -> None:
        """Own the directory until the end."""
        # The world goes on at its former pace and with its former plan.
        options = replace(self._options, seed=None, speed=None, plan=None)
        # Few consoles ever own: the service is imported only then, and in a thread, so that the
        # console keeps responding.
        await imported("service_tui.app.ownership")
        from service_tui.app.ownership import own_directory  # noqa: PLC0415
        from service_tui.server.http.loopback import bind_wanted  # noqa: PLC0415

        with bind_wanted(options.listen or 0) as listener:
            async with own_directory(
                options, self._clock, listener=listener, signs=self._signs
            ) as owner:
                self.address = owner.address
                log.info("took over, serving %s", owner.address)
                self._emit(Served(owner.address))
                self._emit(Noticed("info", TAKEN_OVER.format(owner.address)))
                await self._stay(owner)

    async def _stay(self, owner: "DirectoryOwner") -> None:
        """Let the console's own desk sign until the end, and copy everything once a day."""
        from service_tui.app.ownership import BACK_UP_S  # noqa: PLC0415

        self._hand_over(owner.database)
        try:
            while True:
                await self._clock.sleep(BACK_UP_S)
                await owner.back_up()
        finally:
            self._hand_over(None)


@asynccontextmanager
async def succeeding(
    options: Options, clock: Clock, *, signs: bool = True
) -> AsyncGenerator[Succession]:
    """Be ready to take over while the context lasts; a read-only desk never does.

    Args:
        options: which directory, and how.
        clock: time.
        signs: the new owner itself follows what earlier owners have signed. One desk signs for a
        wallet: a console with a desk of its own, on which a person unlocks the key, passes
        False and gets the database by `Succession.report_to`.

    Yields:
        The one that waits.
    """
    succession = Succession(options, clock, signs=signs)
    if options.read_only or options.listen is None:
        yield succession
        return
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(succession.run())
        try:
            yield succession
        finally:
            running.cancel()

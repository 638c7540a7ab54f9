"""A console that was attached takes the data directory over when its holder has ended.

The desk itself goes on as before, over loopback: it finds this process in the lock file as it found
the other one.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from service_tui.clock import Clock
from service_tui.desk.facts import Fact, Noticed, Served
from service_tui.engine.codec.events import NewerJournalError
from service_tui.loading import imported
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import DirectoryLockedError, StorageError
from service_tui.wiring.keys import KeysError
from service_tui.wiring.options import Options

if TYPE_CHECKING:
    from service_tui.wiring.holding import DirectoryOwner

log = logging.getLogger(__name__)

LOOK_S: Final = 0.5
GRACE_S: Final = 2.0
"""ours: so long a directory without a holder is left to a `serve` that stands by, which is faster,
or to a holder that is started again."""

AGAIN_S: Final = 30.0
"""Until a directory that could not be held is tried again."""

TAKEN: Final = "the program that held this directory has ended: this console serves it now, at {}"

_REASONS: Final = (StorageError, KeysError, NewerJournalError, OSError)
"""Why a directory may not be held; anything else is a bug."""


class Succession:
    """Waits for the end of the holder, and then holds. Says nothing before `tell`."""

    def __init__(self, options: Options, clock: Clock, *, signs: bool) -> None:
        self.address = ""
        self._options = options
        self._clock = clock
        self._signs = signs
        self._say: Callable[[Fact], None] = lambda _: None
        self._hold_desk: Callable[[Database | None], None] = lambda _: None
        self._database: Database | None = None

    def tell(
        self, say: Callable[[Fact], None], hold: Callable[[Database | None], None] = lambda _: None
    ) -> None:
        """From now on say what happens; `hold` lets the console's own desk sign, or no longer."""
        self._say, self._hold_desk = say, hold
        hold(self._database)

    def _hand_over(self, database: Database | None) -> None:
        self._database = database
        self._hold_desk(database)

    async def run(self) -> None:
        """Look now and then whether somebody holds the directory; for ever."""
        free_since: float | None = None
        while True:
            await self._clock.sleep(LOOK_S)
            now = self._clock.monotonic()
            if self._is_held():
                free_since = None
            elif free_since is None:
                free_since = now
            elif now - free_since >= GRACE_S:
                free_since = None
                await self._try_to_hold()

    def _is_held(self) -> bool:
        try:
            return holder_of(self._options.data_dir) is not None
        except StorageError as error:
            log.warning("the lock file tells nothing: %s", error)
            return True

    async def _try_to_hold(self) -> None:
        try:
            await self._hold()
        except DirectoryLockedError:
            # Somebody else was faster: that one is found in the lock file.
            return
        except _REASONS as error:
            said = f"nobody holds this directory, and it cannot be taken over: {error}"
            log.warning("%s", said)
            self._say(Noticed("bad", said))
            await self._clock.sleep(AGAIN_S)

    async def _hold(self) -> None:
        """Hold until the end."""
        # The world goes on as it was, at the pace and with the plan that it had.
        options = replace(self._options, seed=None, speed=None, plan=None)
        # Hardly anybody ever holds: the service is imported for those who do, and in a thread, so
        # that whoever waits here stays alive meanwhile.
        await imported("service_tui.wiring.holding")
        from service_tui.server.http.loopback import bind_wanted  # noqa: PLC0415
        from service_tui.wiring.holding import holding  # noqa: PLC0415

        with bind_wanted(options.listen or 0) as listener:
            async with holding(options, self._clock, listener=listener, signs=self._signs) as held:
                self.address = held.address
                log.info("took over, serving %s", held.address)
                self._say(Served(held.address))
                self._say(Noticed("info", TAKEN.format(held.address)))
                await self._stay(held)

    async def _stay(self, held: "DirectoryOwner") -> None:
        """Let the console's own desk sign until the end, and copy everything once a day."""
        from service_tui.wiring.holding import BACK_UP_S  # noqa: PLC0415

        self._hand_over(held.database)
        try:
            while True:
                await self._clock.sleep(BACK_UP_S)
                await held.back_up()
        finally:
            self._hand_over(None)


@asynccontextmanager
async def succeeding(
    options: Options, clock: Clock, *, signs: bool = True
) -> AsyncGenerator[Succession]:
    """Stand ready to take over while the context lasts; who only looks, or serves nobody, never.

    Args:
        options: which directory, and how.
        clock: time.
        signs: what earlier holders have signed is followed by the new holder itself. One desk
            signs for a wallet: a console with a desk of its own, on which a person unlocks the
            key, says no here and is handed the database by `Succession.tell`.

    Yields:
        The one who waits.
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

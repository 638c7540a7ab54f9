"""Opening a desk: stored state, unsettled tickets, and the loops that keep it up to date."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from service_tui.clock import Clock
from service_tui.desk.blotter import ticket_of
from service_tui.desk.cached_state import STATE_KEY, dump_state
from service_tui.desk.desk import Desk
from service_tui.desk.feed.pollers import PERIODS
from service_tui.desk.ports import DeskContext
from service_tui.desk.reactor.stored import known_reactor
from service_tui.desk.reduce import capped
from service_tui.desk.risk.price_alert_rows import known_price_alerts
from service_tui.desk.slices.halt import HALT, KeptHalt, kept_halt, newest
from service_tui.desk.state import DeskState
from service_tui.desk.wallet.payments import CAP, cap_of
from service_tui.storage.blotter import TAKEN_OVER, Blotter, StoredTicket, recent_elsewhere
from service_tui.storage.cache import CacheStore
from service_tui.storage.db.database import Database
from service_tui.storage.errors import StorageError
from service_tui.storage.halt_mark import clear_halt, mark_halt, marked_at
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.storage.reactor import StoredReactor

log = logging.getLogger(__name__)

TICKETS_SHOWN: Final = 200

MARKED: Final = "marked: no room on the disk for more"


class DeskMemory:
    """Stores state, preferences and the halt between two starts. A failing disk is only logged."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._cache = CacheStore(database)
        self._clock = clock

    async def save(self, state: DeskState) -> None:
        """Store the state for the next start, and resume writing once a full disk has room."""
        try:
            if self._database.failure is not None:
                await self._database.reopen()
            await self._cache.put(STATE_KEY, self._clock.now(), dump_state(state))
        except StorageError as error:
            log.warning("the state was not cached: %s", error)

    async def prefer(self, name: str, value: str) -> None:
        """Keep one preference."""
        try:
            await self._cache.put_preference(name, value)
        except (StorageError, UnicodeError) as error:
            # Half a surrogate, which a keyboard may bring, is no text to a database.
            log.warning("a preference was not kept: %s", error)

    async def keep_halt(self, kept: KeptHalt) -> str:
        """Store the halt, or its end; unlike the others it raises StorageError.

        A halt that finds no room is marked, which needs none, so that the next start is halted.

        Returns:
            How it is kept, where it is not as usual.
        """
        folder = self._database.path.parent
        try:
            if self._database.failure is not None:
                await self._database.reopen()
            await self._cache.put_preference(HALT, kept.as_text())
        except StorageError as error:
            if not kept.on:
                raise
            try:
                await asyncio.to_thread(mark_halt, folder, kept.at)
            except StorageError:
                raise error from None
            if kept.was_paused or kept.agents:
                raise StorageError(f"{MARKED}, without its pauses: {error}") from error
            log.warning("the halt is marked only: %s", error)
            return MARKED
        await asyncio.to_thread(clear_halt, folder)
        return ""

    def kept_halt(self) -> KeptHalt | None:
        """Stored halt; None if there never was one. Blocks."""
        return kept_halt(self._cache.preferences().get(HALT))

    def marked_halt(self) -> float | None:
        """Since when a program has marked the directory as halted; None without a mark. Blocks.

        One that is older than the last word of the database was ended by a RESUME.
        """
        marked = marked_at(self._database.path.parent)
        kept = None if marked is None else self.kept_halt()
        is_ended = kept is not None and marked is not None and not kept.on and kept.at >= marked
        return None if is_ended else marked

    async def back_up(self) -> None:
        """Copy the database once a day. Source: failures, F-15."""
        try:
            await self._database.back_up(self._clock.now())
        except StorageError as error:
            log.warning("the daily copy was not made: %s", error)


class HaltMemory(DeskMemory):
    """Memory of a desk without a console: stores a halt and nothing else."""

    async def save(self, state: DeskState) -> None:
        """Keep nothing."""

    async def prefer(self, name: str, value: str) -> None:
        """Keep nothing."""

    async def back_up(self) -> None:
        """Copy nothing: the owner of the directory does."""


@asynccontextmanager
async def open_desk(initial: DeskState, context: DeskContext) -> AsyncGenerator[Desk]:
    """Run a desk while the context lasts.

    At the end pending commands get up to two seconds, then everything is stopped; commands without
    an answer stay in the blotter as unknown and are looked up at the next start.

    Yields:
        The running desk.
    """
    blotter = Blotter(context.database)
    memory_class = HaltMemory if context.exits_only else DeskMemory
    memory = memory_class(context.database, context.clock)
    own_halt = await asyncio.to_thread(memory.kept_halt)
    rows = await asyncio.to_thread(blotter.recent, TICKETS_SHOWN)
    unsettled = await asyncio.to_thread(blotter.open_tickets)
    elsewhere = await asyncio.to_thread(_elsewhere, context.blotters())
    known = {row.ticket_id: ticket_of(row) for row in [*elsewhere, *unsettled, *rows]}
    tickets = sorted(known.values(), key=lambda ticket: ticket.opened_at, reverse=True)
    price_alerts = await asyncio.to_thread(known_price_alerts, PriceAlerts(context.database))
    executes = context.executes and not initial.service.read_only
    risk = replace(initial.risk, price_alerts=price_alerts, executes=executes)
    kept = StoredReactor(context.database)
    reactor = await asyncio.to_thread(known_reactor, kept, initial.reactor)
    cap = cap_of(initial.preferences.get(CAP, ""))
    wallet = replace(initial.wallet, pay=replace(initial.wallet.pay, day_max=cap))
    desk = Desk(
        replace(
            initial,
            tickets=capped(tuple(tickets)),
            polls=PERIODS,
            risk=risk,
            reactor=reactor,
            redemption=replace(initial.redemption, executes=executes and context.signs),
            wallet=wallet,
            halt=newest((own_halt, *context.halts)),
        ),
        context,
        blotter,
        memory,
    )
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(desk.run())
        try:
            yield desk
        finally:
            await desk.close()
            running.cancel()


def _elsewhere(blotters: Iterable[Path]) -> list[StoredTicket]:
    """Commands that ended on the other consoles of the directory; blocks."""
    rows = (row for path in blotters for row in recent_elsewhere(path, TICKETS_SHOWN))
    return [row for row in rows if row.outcome != TAKEN_OVER]

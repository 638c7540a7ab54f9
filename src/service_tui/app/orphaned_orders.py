"""Orphaned orders of consoles that are gone, moved to the next desk of the directory."""

import asyncio
import logging
from contextlib import AsyncExitStack
from pathlib import Path

from service_tui.app.data import Data, open_data
from service_tui.app.options import BESIDE, Options
from service_tui.clock import Clock
from service_tui.storage.blotter import (
    TAKEN_OVER,
    Blotter,
    Intent,
    StoredState,
    StoredTicket,
)
from service_tui.storage.cached_state import has_open_tickets
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.errors import StorageError, TicketStateError

log = logging.getLogger(__name__)


async def take_over(options: Options, data: Data, clock: Clock) -> None:
    """Move the open orders of consoles that are gone into this desk's own blotter.

    A ticket is in the new blotter before it ends in the old one: killed between the two, both look
    it up, which does no harm. A blotter that cannot be read now is tried at the next start.
    """
    if options.read_only:
        return
    own = Blotter(data.database)
    for folder in sorted((options.data_dir / BESIDE).glob("*")):
        if folder != data.database.path.parent and has_open_tickets(folder / DATABASE_FILE):
            try:
                await _take_from(folder, own, clock)
            except StorageError as error:
                log.info("orders left in %s: %s", folder, error)


async def _take_from(folder: Path, own: Blotter, clock: Clock) -> None:
    async with AsyncExitStack() as stack:
        abandoned = Blotter((await stack.enter_async_context(open_data(folder, clock))).database)
        for ticket in await asyncio.to_thread(abandoned.open_tickets):
            await _copy(ticket, own, clock)
            await abandoned.settle(
                ticket.ticket_id, StoredState.FAILED, TAKEN_OVER, now=clock.now()
            )
            log.info("checking an order of %s from here", folder)


async def _copy(ticket: StoredTicket, own: Blotter, clock: Clock) -> None:
    intent = Intent(
        ticket_id=ticket.ticket_id,
        at=ticket.at,
        kind=ticket.kind,
        subject=ticket.subject,
        body=ticket.body,
        venue=ticket.venue,
        amount_micros=ticket.amount_micros,
        client_ref=ticket.client_ref,
    )
    try:
        await own.open_ticket(intent)
    except TicketStateError:
        # Taken over before, by a desk that was killed at this point.
        return
    if ticket.state is StoredState.UNKNOWN:
        await own.settle(ticket.ticket_id, ticket.state, ticket.outcome, now=clock.now())

"""A submitted command: callers await its end, and cancelling a caller does not cancel it."""

import asyncio
from dataclasses import replace

from service_tui.desk.command import Command
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.reasons import HALTED
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.units import Timestamp


def row_of(command: Command, ticket_id: str, now: Timestamp) -> TicketView:
    """The row of a command that was just submitted; that of an order has all its fields."""
    row = TicketView(
        ticket_id=ticket_id,
        kind=command.kind,
        market_id="",
        what=command.describe(),
        state=TicketState.QUEUED,
        opened_at=now,
    )
    if not isinstance(command, PlaceTrade):
        return row
    return replace(
        row,
        market_id=command.market_id,
        question=command.question,
        amount=command.amount,
        holding=command.holding,
        shares=command.shares,
        venue=command.venue,
        limit=command.price if command.rests else None,
    )


def never_left(row: TicketView, why: str, now: Timestamp, *, halted: bool) -> TicketView:
    """The end of a command of which nothing was sent; a halt refuses it and names the fix."""
    return replace(
        row,
        state=TicketState.REFUSED if halted else TicketState.FAILED,
        settled_at=now,
        outcome=f"{why}; nothing sent",
        fix=HALTED.fix if halted else "",
    )


def state_after_fault(command: Command, state: TicketState) -> TicketState:
    """The state of a command that met a fault of the program: what may have left is unknown."""
    if not command.is_ticketed:
        return state
    ends = {TicketState.SENT: TicketState.UNKNOWN, TicketState.QUEUED: TicketState.FAILED}
    return ends.get(state, state)


def is_waited_for(command: Command) -> bool:
    """Whether an end of the desk waits for this command: a quote has no effect."""
    return not isinstance(command, RequestQuote)


class Ticket:
    """Handle of a submitted command. `view` is the newest.

    `has_begun` is True once its turn came.
    """

    def __init__(self, command: Command, view: TicketView) -> None:
        self.command = command
        self.view = view
        self.has_begun = False
        self._ended = asyncio.Event()

    def update(self, view: TicketView) -> None:
        """Set the newest view; an end, `unknown` included, wakes every waiter."""
        self.view = view
        if view.state not in {TicketState.QUEUED, TicketState.SENT}:
            self._ended.set()

    def end(self) -> None:
        """Wake every waiter; the handler has returned."""
        self._ended.set()

    async def wait(self) -> TicketView:
        """The view at the end of the command."""
        await self._ended.wait()
        return self.view

"""One command on its way: awaitable, and not cancelled by who awaits it."""

import asyncio

from service_tui.desk.command import Command
from service_tui.desk.slices.tickets import TicketState, TicketView


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

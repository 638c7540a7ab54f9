"""One command on its way: awaitable, and not cancelled by who awaits it."""

import asyncio

from service_tui.desk.command import Command
from service_tui.desk.slices.records import TicketState, TicketView


class Ticket:
    """Handle of a command given. `view` is the newest; `has_begun` is True once it had its turn."""

    def __init__(self, command: Command, view: TicketView) -> None:
        self.command = command
        self.view = view
        self.has_begun = False
        self._ended = asyncio.Event()

    def update(self, view: TicketView) -> None:
        """Take the newest view; an end, `unknown` included, wakes whoever waits."""
        self.view = view
        if view.state not in {TicketState.QUEUED, TicketState.SENT}:
            self._ended.set()

    def end(self) -> None:
        """Wake whoever waits; the handler is through."""
        self._ended.set()

    async def wait(self) -> TicketView:
        """The view at the end of the command."""
        await self._ended.wait()
        return self.view

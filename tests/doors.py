"""Doors of a desk that shows the states it is given and keeps what is ordered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service_tui.console.doors import DeskClosedError
from service_tui.desk.commands import Command
from service_tui.desk.state import DeskState


class RecordingDoors:
    def __init__(self, state: DeskState) -> None:
        self.state = state
        self.submitted: list[Command] = []
        self.is_open = False
        self.was_closed = False
        self.refuses: DeskClosedError | None = None
        self.fault: Exception | None = None
        self.may_open = asyncio.Event()
        self.may_open.set()
        self._changed = asyncio.Event()

    def bring(self, state: DeskState) -> None:
        self.state = state
        self._changed.set()

    def fail(self, fault: Exception) -> None:
        self.fault = fault
        self._changed.set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator["RecordingDoors"]:
        await self.may_open.wait()
        if self.refuses is not None:
            raise self.refuses
        self.is_open = True
        try:
            yield self
        finally:
            self.is_open = False
            self.was_closed = True

    async def changes(self) -> AsyncIterator[DeskState]:
        while True:
            if self.fault is not None:
                raise self.fault
            self._changed.clear()
            yield self.state
            await self._changed.wait()

    def submit(self, command: Command) -> None:
        self.submitted.append(command)

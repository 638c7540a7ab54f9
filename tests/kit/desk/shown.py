"""A desk that only shows states: what a command waits for, without a service."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from service_tui.desk.state import DeskState


class ShownDesk:
    """Shows its state, and those of `answers` one after the other once something was submitted."""

    def __init__(self, state: DeskState, *answers: DeskState) -> None:
        self.state = state
        self.submitted: list[Any] = []
        self._answers = answers

    def submit(self, command: Any) -> None:
        self.submitted.append(command)

    async def changes(self) -> AsyncIterator[DeskState]:
        yield self.state
        if self.submitted:
            for one in self._answers:
                self.state = one
                yield one
        await asyncio.sleep(3_600)

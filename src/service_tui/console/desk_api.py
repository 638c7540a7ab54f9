"""The desk as the console sees it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from service_tui.desk.command import Command
from service_tui.desk.state import DeskState


class DeskApi(Protocol):
    """The desk's interface for the console."""

    @property
    def state(self) -> DeskState:
        """The present state."""
        ...

    def changes(self) -> AsyncIterator[DeskState]:
        """Newer states as they come; a slow consumer gets the latest and none between."""
        ...

    def submit(self, command: Command) -> object:
        """Accept a command; never blocks, never raises. The result is ignored."""
        ...


OpenDesk = Callable[[], AbstractAsyncContextManager[DeskApi]]
"""Opens a desk when entered and closes it, within two seconds, when left."""

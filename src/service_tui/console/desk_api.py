"""The desk as the console sees it, and the reasons why it may not open."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
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


Act = Callable[[], tuple[str, ...]]
"""Runs a recovery off the event loop and returns its result in lines; raises DeskClosedError if it
fails."""


@dataclass(frozen=True, slots=True)
class RecoveryOption:
    """One way to continue with a desk that cannot be opened as it is.

    Args:
        label: text of its button.
        details: its meaning, in lines.
        act: runs it; the desk is opened again afterwards.
    """

    label: str
    details: str
    act: Act


class DeskClosedError(Exception):
    """A desk that cannot be opened; the console continues with the cached state.

    Args:
        sentence: what happened, to which file or directory, without a full stop.
        fix: what the person can do about it.
        choices: ways to continue, best first; the console offers them.
    """

    def __init__(self, sentence: str, fix: str, choices: tuple[RecoveryOption, ...] = ()) -> None:
        super().__init__(f"{sentence}; {fix}" if fix else sentence)
        self.sentence = sentence
        self.fix = fix
        self.choices = choices

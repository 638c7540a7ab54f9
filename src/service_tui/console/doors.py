"""The desk as the console sees it: three doors, and the ways in which it may stay shut."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from service_tui.desk.command import Command
from service_tui.desk.state import DeskState


class DeskDoors(Protocol):
    """What an operator may do with a desk."""

    @property
    def state(self) -> DeskState:
        """What is known now."""
        ...

    def changes(self) -> AsyncIterator[DeskState]:
        """Newer states as they come; whoever is slow gets the latest and none between."""
        ...

    def submit(self, command: Command) -> object:
        """Take a command in; never blocks, never raises. What it returns is not looked at."""
        ...


OpenDesk = Callable[[], AbstractAsyncContextManager[DeskDoors]]
"""Opens a desk when entered and closes it, within two seconds, when left."""


Act = Callable[[], tuple[str, ...]]
"""Does what was chosen, off the event loop, and tells it in lines; DeskClosedError where it cannot.
"""


@dataclass(frozen=True, slots=True)
class RecoveryOption:
    """One way to go on with a desk that cannot be opened as it is.

    Args:
        label: what its button says.
        told: what it means, in lines.
        act: does it; the desk is opened again afterwards.
    """

    label: str
    told: str
    act: Act


class DeskClosedError(Exception):
    """A desk that cannot be opened; the console goes on with what was known before.

    Args:
        sentence: what happened, to which thing, without a full stop.
        fix: what the person can do about it.
        choices: ways to go on, best first; a console asks which.
    """

    def __init__(self, sentence: str, fix: str, choices: tuple[RecoveryOption, ...] = ()) -> None:
        super().__init__(f"{sentence}; {fix}" if fix else sentence)
        self.sentence = sentence
        self.fix = fix
        self.choices = choices

"""Commands of the halt: begin it, end it, sell everything under it."""

from dataclasses import dataclass
from typing import ClassVar, Final

from service_tui.desk.command import Command
from service_tui.terms import counted


@dataclass(frozen=True, slots=True)
class Halt(Command):
    """Block every entry at once, here and on the service, until resumed. Needs no confirmation."""

    kind: ClassVar[str] = "halt"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "halt"


RESUME_WORD: Final = "RESUME"
"""The word that ends a halt."""


@dataclass(frozen=True, slots=True)
class Resume(Command):
    """End the halt. `word` is the text that the operator typed."""

    kind: ClassVar[str] = "resume"

    word: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "resume trading"


@dataclass(frozen=True, slots=True)
class ExitAll(Command):
    """Sell these positions whole, while halted. `holdings` are the row keys that were confirmed."""

    kind: ClassVar[str] = "exit all"

    holdings: tuple[str, ...]

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"sell {counted(len(self.holdings), 'position')}"

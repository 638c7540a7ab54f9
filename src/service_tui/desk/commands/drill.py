"""Commands of a drill: begin it, end it early."""

from dataclasses import dataclass
from typing import ClassVar

from service_tui.desk.command import Command


@dataclass(frozen=True, slots=True)
class BeginDrill(Command):
    """Start the clock of the drill whose brief was read."""

    kind: ClassVar[str] = "drill"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "begin the drill"


@dataclass(frozen=True, slots=True)
class EndDrill(Command):
    """End the drill before its time; it gets no score."""

    kind: ClassVar[str] = "drill"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "end the drill"

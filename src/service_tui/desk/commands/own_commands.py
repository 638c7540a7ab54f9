"""The command that runs a person's own shell line with a row's fields."""

from dataclasses import dataclass, field
from typing import ClassVar

from service_tui.desk.command import Command


@dataclass(frozen=True, slots=True)
class RunOwnCommand(Command):
    """Run a line of the person's own file in a shell.

    `variables` are fields of the highlighted row, by their names. They come from outside, and are
    given to the shell as variables of its environment alone, never as a part of the line.
    """

    kind: ClassVar[str] = "own command"

    name: str
    line: str
    variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"own command {self.name}"

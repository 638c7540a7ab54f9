"""The commands typed before, newest last; kept over restarts."""

from dataclasses import dataclass, replace
from typing import ClassVar, Final

KEPT_MAX: Final = 50
"""Most commands kept."""


@dataclass(frozen=True, slots=True)
class CommandHistory:
    """The commands, and which of them the line shows.

    `place` counts back from the text being typed, which is 0; `draft` is that text.
    """

    PREFERENCE: ClassVar[str] = "command.history"

    commands: tuple[str, ...] = ()
    place: int = 0
    draft: str = ""

    @classmethod
    def from_text(cls, text: str) -> "CommandHistory":
        """The commands of a preference."""
        return cls(tuple(line for line in text.split("\n") if line)[-KEPT_MAX:])

    def to_text(self) -> str:
        """The commands as a preference keeps them."""
        return "\n".join(self.commands)

    def with_command(self, typed: str) -> "CommandHistory":
        """The commands with one more; a repeated one moves to the end."""
        others = (command for command in self.commands if command != typed)
        return CommandHistory((*others, typed)[-KEPT_MAX:])

    def stepped(self, by: int, typed: str) -> "CommandHistory":
        """Older (-1) or newer (1); beyond the newest comes what was being typed."""
        draft = self.draft if self.place else typed
        place = max(0, min(self.place - by, len(self.commands)))
        return replace(self, place=place, draft=draft)

    @property
    def shown(self) -> str:
        """The text for the line."""
        return self.commands[-self.place] if self.place else self.draft

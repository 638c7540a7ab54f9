"""Why a desk may not open, and the ways to continue; a command that opens none loads only this."""

from collections.abc import Callable
from dataclasses import dataclass

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

"""The messages that leave a screen. All others stay inside their widget."""

from typing import Final

from textual.message import Message

from service_tui.console.keys import KeyBinding
from service_tui.desk.command import Command

NEW_SESSION: Final = "new:"
"""Begins the row of autoresearch that is a session to begin; a session's key may follow."""


class CommandGiven(Message):
    """The operator ordered something; the app hands it to the desk and nobody waits."""

    def __init__(self, command: Command) -> None:
        super().__init__()
        self.command = command


class GoTo(Message):
    """Show another screen, and there the row with this key, if any; then do what a key does."""

    def __init__(self, screen: str, row: str | None = None, act: KeyBinding | None = None) -> None:
        super().__init__()
        self.screen_name = screen
        self.row = row
        self.act = act


class ApprovalWanted(Message):
    """The person wants to decide this waiting trade."""

    def __init__(self, held_id: str) -> None:
        super().__init__()
        self.held_id = held_id


class ToastMessage(Message):
    """A toast: one plain sentence. `tone` is info, good, warn or bad."""

    def __init__(self, text: str, tone: str = "info") -> None:
        super().__init__()
        self.text = text
        self.tone = tone


class Copied(Message):
    """A text for the clipboard; `what` names it in the toast that says what was copied."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what


class ConfirmGiven(Message):
    """A person said yes to a question; `what` are its words, for the action log."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


class KeyChosen(Message):
    """An action of the key table was chosen by the mouse or by name; the app finds who does it."""

    def __init__(self, key: KeyBinding) -> None:
        super().__init__()
        self.key = key


class ThemeTried(Message):
    """Show a theme without keeping it; None shows again the one that is kept."""

    def __init__(self, name: str | None) -> None:
        super().__init__()
        self.name = name

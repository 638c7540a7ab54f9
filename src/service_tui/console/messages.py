"""The messages that leave a screen. All others stay inside their widget."""

from typing import Final

from textual.message import Message

from service_tui.console.keys import KeyBinding
from service_tui.desk.command import Command

NEW_SESSION: Final = "new:"
"""Prefix of the row key that opens a new research session; a session's key may follow."""


class CommandGiven(Message):
    """The operator gave a command; the app hands it to the desk without waiting."""

    def __init__(self, command: Command) -> None:
        super().__init__()
        self.command = command


class GoTo(Message):
    """Show another screen, and there the row with this key, if any; then perform a key's action."""

    def __init__(self, screen: str, row: str | None = None, act: KeyBinding | None = None) -> None:
        super().__init__()
        self.screen_name = screen
        self.row = row
        self.act = act


class ApprovalRequested(Message):
    """The person opens this waiting trade for a decision; `refuse`: at the line for the reason."""

    def __init__(self, held_id: str, *, refuse: bool = False) -> None:
        super().__init__()
        self.held_id = held_id
        self.refuse = refuse


class ToastMessage(Message):
    """A toast: one plain sentence. `tone` is info, good, warn or bad."""

    def __init__(self, text: str, tone: str = "info") -> None:
        super().__init__()
        self.text = text
        self.tone = tone


class Copied(Message):
    """A text for the clipboard; `what` names it in the toast."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what


class ConfirmGiven(Message):
    """A person confirmed a question; `what` is its text, for the action log."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


class KeyChosen(Message):
    """An action of the key table was chosen by the mouse or by name; the app finds its target."""

    def __init__(self, key: KeyBinding) -> None:
        super().__init__()
        self.key = key


class HelpRequested(Message):
    """Show the help, narrowed to a word; empty: all of it."""

    def __init__(self, word: str = "") -> None:
        super().__init__()
        self.word = word


class ResumeRequested(Message):
    """The person wants to end the halt; the typed word follows."""


class ThemeTried(Message):
    """Preview a theme; None shows the stored theme again."""

    def __init__(self, name: str | None) -> None:
        super().__init__()
        self.name = name

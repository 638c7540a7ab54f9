"""The messages that leave a screen. All others stay inside their widget.

Knows the desk's commands. Must not know a screen.
Used by screens and dialogs (which post them) and by the app (which handles them, once).
"""

from textual.message import Message

from service_tui.desk.commands import Command


class CommandGiven(Message):
    """The operator ordered something; the app hands it to the desk and nobody waits."""

    def __init__(self, command: Command) -> None:
        super().__init__()
        self.command = command


class GoTo(Message):
    """Show another screen, and there the row with this key, if any."""

    def __init__(self, screen: str, row: str | None = None) -> None:
        super().__init__()
        self.screen_name = screen
        self.row = row


class Said(Message):
    """A toast: one plain sentence. `tone` is info, good, warn or bad."""

    def __init__(self, text: str, tone: str = "info") -> None:
        super().__init__()
        self.text = text
        self.tone = tone

"""One page about something, made elsewhere, to be read and left.

Knows texts. Must not know what they say.
Used by the agents screen where there is no room for a pane.
"""

from rich.text import Text

from service_tui.console.dialogs.page import Page


class About(Page):
    """A title and a text."""

    def __init__(self, title: str, text: Text) -> None:
        super().__init__(title, "esc closes")
        self._text = text

    def text(self) -> Text:
        """What was made elsewhere."""
        return self._text

"""One page of text, renewed as long as it is open."""

from collections.abc import Callable
from typing import TypeAlias

from rich.text import Text

from service_tui.console.forms.page import Page
from service_tui.console.keys import cap
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

MakeText: TypeAlias = Callable[[DeskState, Timestamp], Text]
"""Makes the page's text at a wall time."""


class About(Page):
    """A title and a text that is never older than the screen behind it."""

    def __init__(self, title: str, make_text: MakeText, state: DeskState, now: Timestamp) -> None:
        super().__init__(title, f"{cap('dialog.close')} closes")
        self._make_text = make_text
        self._state = state
        self._now = now

    def text(self) -> Text:
        """The present text."""
        return self._make_text(self._state, self._now)

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Renew the text."""
        self._state, self._now = state, now
        self._text_block.show_text(self.text())

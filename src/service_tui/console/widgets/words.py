"""A block of text that is repainted only when it changed, and laid out only when its shape did.

Knows Textual. Must not know what it says.
Used wherever figures tick: the ticket, the detail panes, the rows of options.
"""

import re
from typing import Final

from rich.text import Text
from textual.content import Content
from textual.widgets import Static

from service_tui.console.theme import content

_INK: Final = re.compile(r"[!-~]")
"""Letters of one cell; any other may be two wide, and counts as itself."""


class Words(Static):
    """Text from the desk; never read as markup."""

    def __init__(
        self,
        text: str = "",
        *,
        id: str | None = None,  # noqa: A002 - Textual's own word
        classes: str | None = None,
    ) -> None:
        super().__init__(Content(text), id=id, classes=classes)
        self._told = Content(text)

    def tell(self, text: Text | Content | str) -> None:
        """Say this from now on."""
        told = _content(text)
        if told.is_same(self._told):
            return
        # Lines break at blanks: with the same blanks the block keeps its height and width.
        moved = _INK.sub("x", told.plain) != _INK.sub("x", self._told.plain)
        self._told = told
        self.update(told, layout=moved)


def _content(text: Text | Content | str) -> Content:
    if isinstance(text, Content):
        return text
    return Content(text) if isinstance(text, str) else content(text)

"""A block of text that is repainted only when it changed, and laid out only when its shape did.

Knows Textual. Must not know what it says.
Used wherever figures tick: the ticket, the detail panes, the rows of options.
"""

from rich.text import Text
from textual.content import Content
from textual.css.styles import RulesMap
from textual.widgets import Static

from service_tui.console.theme import content


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
        before, self._told = self._told, told
        # A layout paints the whole screen anew: blocks that tick would ask for one each second.
        self.update(told, layout=not self._takes_same_room(before, told))

    def _takes_same_room(self, before: Content, told: Content) -> bool:
        styles, width = self.styles, self.content_size.width
        if styles.is_auto_width or not width:
            return False
        rules: RulesMap = {
            "text_wrap": styles.text_wrap,
            "text_overflow": styles.text_overflow,
            "line_pad": styles.line_pad,
        }
        return before.get_height(rules, width) == told.get_height(rules, width)


def _content(text: Text | Content | str) -> Content:
    if isinstance(text, Content):
        return text
    return Content(text) if isinstance(text, str) else content(text)

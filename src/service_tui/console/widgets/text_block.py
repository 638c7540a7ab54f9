"""A block of text that is repainted only after a change, and laid out only after one of its shape.

Used wherever figures tick: the ticket, the detail panes, the rows of options.
"""

from typing import Final

from rich.text import Text
from textual import events, on
from textual.content import Content
from textual.css.styles import RulesMap
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from service_tui.console.theme import content

REST_S: Final = 0.5
"""How long a block that keeps its room must be shorter before the room is given back."""


class TextBlock(Static):
    """Text from the desk; never read as markup.

    Args:
        text: the first text.
        id: Textual's id.
        classes: Textual's classes.
        keeps_room: whether a shorter text leaves the block's height for a moment: for
        blocks that change with each key, where a layout would cost more than all the rest.
    """

    def __init__(
        self,
        text: str = "",
        *,
        id: str | None = None,  # noqa: A002 - Textual's own word
        classes: str | None = None,
        keeps_room: bool = False,
    ) -> None:
        super().__init__(Content(text), id=id, classes=classes)
        self._shown = Content(text)
        self._keeps_room = keeps_room
        self._resting: Timer | None = None
        self._width = 0

    def show_text(self, text: Text | Content | str) -> None:
        """Show this text."""
        shown = _content(text)
        if shown.is_same(self._shown):
            return
        before, self._shown = self._shown, shown
        # A layout paints the whole screen anew: blocks that tick would request one each second.
        self.update(shown, layout=not self._has_room(before, shown))

    def show_if_any(self, text: Text) -> None:
        """Show this text; an empty one takes no room."""
        self.display = bool(text.plain)
        self.show_text(text)

    def _has_room(self, before: Content, content: Content) -> bool:
        if self.styles.is_auto_width or not self.content_size.width:
            return False
        needed = self._height(content)
        width_before, self._width = self._width, self.content_size.width
        if not self._keeps_room or self._width != width_before:
            return needed == self._height(before)
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        if needed < self.content_size.height:
            self._resting = self.set_timer(REST_S, self._give_back)
        return needed <= self.content_size.height

    def _height(self, text: Content) -> int:
        styles = self.styles
        rules: RulesMap = {
            "text_wrap": styles.text_wrap,
            "text_overflow": styles.text_overflow,
            "line_pad": styles.line_pad,
        }
        return text.get_height(rules, self.content_size.width)

    def _give_back(self) -> None:
        self._resting = None
        # A hidden block is laid out when it is shown again.
        if all(node.display for node in self.ancestors_with_self):
            self.refresh(layout=True)


class MeasuredBlock(TextBlock):
    """A block whose text is made for its width: it reports each new one."""

    class Widened(Message):
        """The block has more or fewer cells than before, or is shown for the first time."""

    _measured = 0

    @on(events.Resize)
    def _measure(self) -> None:
        width_before, self._measured = self._measured, self.size.width
        if self._measured != width_before:
            self.post_message(self.Widened())


def _content(text: Text | Content | str) -> Content:
    if isinstance(text, Content):
        return text
    return Content(text) if isinstance(text, str) else content(text)

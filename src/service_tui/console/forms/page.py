"""One page of text in a frame, to be read and left."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget

from service_tui.console.formats import clock_time
from service_tui.console.keys import bindings_of
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.text_block import TextBlock
from service_tui.units import Timestamp


class Page(Dialog[None]):
    """A frame with a title, a hint of the closing keys, and a text that scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        Binding("j", "lines(1)", show=False),
        Binding("k", "lines(-1)", show=False),
        Binding("ctrl+d", "lines(10)", show=False),
        Binding("ctrl+u", "lines(-10)", show=False),
    ]

    def __init__(self, title: str, hint: str, at: Timestamp | None = None, clock: str = "") -> None:
        """A page; `at` is the time of a text that is not renewed, by a named clock."""
        super().__init__()
        self._text_block = TextBlock()
        self._title = title
        self._hint = hint if at is None else f"as of {clock_time(at).plain}{clock}, {hint}"

    @abstractmethod
    def text(self) -> Text:
        """The page's text."""

    def compose(self) -> ComposeResult:
        """The frame and its text."""
        self._text_block.show_text(self.text())
        with VerticalScroll(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" {self._title} "))
            frame.border_subtitle = content(Text(f" {self._hint} "))
            yield from self.above()
            yield self._text_block

    def above(self) -> Iterable[Widget]:
        """Widgets above the text."""
        return ()

    def show(self) -> None:
        """Show the text again."""
        self._text_block.show_text(self.text())

    def action_lines(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one("#frame").scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        """Leave."""
        self.dismiss(None)

"""Shows lines drawn by another module, in the colours of the theme."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events, on
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from service_tui.console.widgets.columns import Piece
from service_tui.console.widgets.paint import Paint


class ChartView(Widget):
    """Lines of pieces; it asks for them whenever its size changes.

    Args:
        draw: the lines for a width and a height.
    """

    ALLOW_SELECT: ClassVar[bool] = False

    class CellPicked(Message):
        """The mouse chose the cell at this place."""

        def __init__(self, x: int, y: int) -> None:
            super().__init__()
            self.x = x
            self.y = y

    class Turned(Message):
        """The wheel turned up (-1) or down (1)."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def __init__(self, draw: Callable[[tuple[int, int]], Sequence[Sequence[Piece]]]) -> None:
        super().__init__()
        self._draw = draw
        self._paint = Paint(self)
        self._lines: Sequence[Sequence[Piece]] = ()

    def redraw(self) -> None:
        """Ask for the lines again."""
        self._lines = self._draw((self.size.width, self.size.height))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the chart."""
        self._paint.prepare()
        style = self._paint.style
        pieces = self._lines[y] if y < len(self._lines) else ()
        segments = [Segment(text, style(ink)) for text, ink in pieces if text]
        return Strip(segments).adjust_cell_length(self.size.width, style())

    @on(events.Resize)
    def _resized(self) -> None:
        self.redraw()

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            event.stop()
            self.post_message(self.CellPicked(offset.x, offset.y))

    @on(events.MouseScrollUp)
    def _wheel_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Turned(-1))

    @on(events.MouseScrollDown)
    def _wheel_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Turned(1))

"""Lines of an output, of which only the visible ones are drawn, however many there are."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from service_tui.console.log_lines import ShownLine
from service_tui.console.widgets.paint import Paint


class OutputView(ScrollView, can_focus=True):
    """Shows the end while it follows; scrolling up stops it."""

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS: ClassVar[str] = """
    OutputView { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    OutputView { overflow-x: hidden; overflow-y: auto; }
    """

    class WidthChanged(Message):
        """The view has another width: its lines must be wrapped again."""

    class Scrolled(Message):
        """Another part is visible, or following has stopped."""

    def __init__(self) -> None:
        super().__init__()
        self._paint = Paint(self)
        self._shown: Sequence[ShownLine] = ()
        self._found: frozenset[int] = frozenset()
        self._at = -1
        self._is_placing = False
        self.left = 0
        """Cells cut off at the left."""
        self.follows = True

    @property
    def below(self) -> int:
        """Lines below the visible ones."""
        return max(0, len(self._shown) - round(self.scroll_y) - self.size.height)

    @property
    def top(self) -> int:
        """The place of the first visible line."""
        return round(self.scroll_y)

    def show(self, lines: Sequence[ShownLine], found: Sequence[int], at: int) -> None:
        """Show these lines; `found` are the places that match a search, `at` the one in focus."""
        self._shown, self._found, self._at = lines, frozenset(found), at
        self.virtual_size = Size(self.size.width, len(lines))
        if self.follows:
            self.place(len(lines))
        self.refresh()

    def place(self, line: int) -> None:
        """Scroll a line to the top, as far as there are lines; following goes on."""
        self._is_placing = True
        highest = max(0, len(self._shown) - self.size.height)
        # Before its first layout the view has no scrollbar, and would not move otherwise.
        self.scroll_to(y=min(max(0, line), highest), animate=False, immediate=True, force=True)
        self._is_placing = False

    def follow(self, *, on: bool) -> None:
        """Start or stop showing the end."""
        self.follows = on
        if on:
            self.place(len(self._shown))

    def reveal(self, line: int) -> None:
        """Show a line in the middle; following stops."""
        self.follows = False
        self.place(line - self.size.height // 2)

    def step(self, by: int) -> None:
        """Scroll by lines; following stops on the way up."""
        if by < 0:
            self.follows = False
        self.place(self.top + by)
        self.post_message(self.Scrolled())

    def on_resize(self) -> None:
        """Have the lines laid out for the new size."""
        self.post_message(self.WidthChanged())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when the mouse or the scrollbar moves up."""
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value and not self._is_placing:
            self.follows = False
        self.post_message(self.Scrolled())

    def render_line(self, y: int) -> Strip:
        """One visible line; one that matches the search is marked."""
        self._paint.prepare()
        width, place = self.size.width, self.top + y
        if place >= len(self._shown):
            return Strip([Segment(" " * width, self._paint.style())], width)
        ink = "bold accent" if place in self._found else ""
        style = self._paint.style("bold reverse accent" if place == self._at else ink)
        strip = Strip([Segment(self._shown[place].text, style)]).crop(self.left, self.left + width)
        return strip.extend_cell_length(width, self._paint.style())

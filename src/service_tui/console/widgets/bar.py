"""A line or two across the screen, drawn from given texts."""

from abc import abstractmethod

from rich.text import Text
from textual.content import Content
from textual.widget import Widget

from service_tui.console.theme import content


class Bar(Widget):
    """A widget that shows the lines of `drawn` for its size."""

    ALLOW_SELECT = False

    @abstractmethod
    def drawn(self, width: int, height: int) -> Text:
        """The lines, fitted into so many cells; cheap, as it runs at every change of width."""

    def render(self) -> Content:
        """The lines for the size that the bar has now."""
        return content(self.drawn(self.size.width, self.size.height))

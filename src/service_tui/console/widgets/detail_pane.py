"""The row in focus in full: a head, an optional chart, and blocks of text."""

from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from service_tui.console.widgets.price_chart import PriceChart
from service_tui.console.widgets.text_block import MeasuredBlock, TextBlock


class Detail(NamedTuple):
    """The blocks of text that a pane shows of a row."""

    head: Text
    body: Text
    more: Text


class DetailPane(VerticalScroll, can_focus=True):
    """Two columns of blocks, the second below the first until class `-two` is set."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "down", show=False),
        Binding("k", "scroll_up", "up", show=False),
    ]
    DEFAULT_CSS: ClassVar[str] = """
    DetailPane {
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        Vertical { height: auto; }
        TextBlock { height: auto; }
        .detail-rest { padding-top: 1; }
        &.-two {
            layout: horizontal;
            Vertical { width: 1fr; }
            .detail-rest { padding-top: 0; margin-left: 3; }
        }
    }
    """

    def __init__(self, chart: PriceChart | None = None, *, id: str) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._chart = chart
        self._wide = 40

    def compose(self) -> ComposeResult:
        """The head, the chart, and two blocks of text."""
        with Vertical(classes="detail-first"):
            yield MeasuredBlock(classes="detail-head", keeps_room=True)
            if self._chart is not None:
                yield self._chart
            yield TextBlock(classes="detail-body", keeps_room=True)
        with Vertical(classes="detail-rest"):
            yield TextBlock(classes="detail-more", keeps_room=True)

    @property
    def text_width(self) -> int:
        """Cells that a line of text has in one column."""
        # A pane that comes back has no size until it is laid out: most likely the former one.
        self._wide = self.query_one(".detail-head").size.width or self._wide
        return self._wide

    def show(self, head: Text, body: Text, more: Text) -> None:
        """Show these blocks; an unchanged one is left alone."""
        for name, text in (("head", head), ("body", body), ("more", more)):
            self.query_one(f".detail-{name}", TextBlock).show_text(text)

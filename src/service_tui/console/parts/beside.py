"""A second list or chart beside the screen in front; keys act on the first alone."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from service_tui.console.charts.bars import drawn_bars
from service_tui.console.charts.drawing import Drawn, drawn_time
from service_tui.console.charts.series import Series, TimeSeries, Window
from service_tui.console.charts.sources import OF_MARKET, OF_PAST, ChartName, series_of
from service_tui.console.keys import cap
from service_tui.console.messages import CommandGiven
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.chart_view import ChartView
from service_tui.console.widgets.columns import Piece
from service_tui.console.widgets.numbered_view import NumberedView
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.agents import ReadDay
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

READ_ONLY: Final = f"to read only, {cap('app.beside')} changes it"
"""What a second list says of itself: its tabs and its cursor look as if keys reached them."""

_SPAN_S: Final = 86_400
_SHORTEST_S: Final = 1.0


class BesideChart(Vertical):
    """One chart as it is now, of the market under the cursor of the screen in front."""

    def __init__(self, name: ChartName, state: DeskState, now: Timestamp) -> None:
        super().__init__()
        self._chart = name
        self._state, self._now = state, now
        self._market_id = ""
        self.agent_ids: tuple[str, ...] = ()
        self._requested = ""
        self._has_read = False
        self._series: Series | None = None
        self._drawn = Drawn([])
        self._title = TextBlock(classes="beside-chart-title")
        self._view = ChartView(self._draw)

    def compose(self) -> ComposeResult:
        """The title and the chart."""
        yield self._title
        yield self._view

    def show(self, state: DeskState, now: Timestamp, market_id: str, *, reads: bool) -> None:
        """Show the chart in a state.

        Args:
            state: the newest.
            now: wall time.
            market_id: the market of a chart that is of one; empty for none.
            reads: whether the market's prices are to be read for it: the screen in front does not.
        """
        is_resting, self._market_id = market_id == self._market_id, market_id
        self._state, self._now = state, now
        if self._chart in OF_MARKET and reads and is_resting and market_id != self._requested:
            self._requested = market_id
            self.post_message(CommandGiven(WatchMarket(market_id or None, _SPAN_S)))
        if self._chart in OF_PAST and not self._has_read:
            self._has_read = True
            self.post_message(CommandGiven(ReadDay()))
        view = ViewContext.of(state, now)
        self._series = series_of(self._chart, view, market_id, _SPAN_S, agent_ids=self.agent_ids)
        self._title.show_text(Text(self._series.title, "heading", no_wrap=True))
        self._view.redraw()

    def release(self) -> None:
        """Have nothing read any more."""
        if self._requested:
            self._requested = ""
            self.post_message(CommandGiven(WatchMarket(None)))

    def _draw(self, size: tuple[int, int]) -> list[list[Piece]]:
        series = self._series
        if series is None:
            return []
        if isinstance(series, TimeSeries):
            first, last = series.span
            window = Window(first, max(last, first + _SHORTEST_S))
            self._drawn = drawn_time(series, size, window, None)
        else:
            window = Window(0.0, max(0.0, len(series.bars) - 1.0))
            self._drawn = drawn_bars(series, size, window, None)
        return self._drawn.lines


class Beside(Vertical):
    """The right half: its title, and a screen or a chart that takes no keys."""

    DEFAULT_CSS: ClassVar[str] = """
    Beside {
        dock: right;
        width: 50%;
        height: 100%;
        border-left: solid $faint;
        background: $background;
        .beside-title { height: 1; padding: 0 1; background: $surface; }
        BesideChart { height: 1fr; padding: 0 1; }
        BesideChart ChartView { height: 1fr; }
        .beside-chart-title { height: 1; }
    }
    """

    def __init__(self, chosen: str, heading: str, part: NumberedView | BesideChart) -> None:
        super().__init__(id="beside")
        self.chosen = chosen
        self.part = part
        self._heading = heading
        if isinstance(part, NumberedView):
            # Seen only: a key or a click must never act on a list that is not in front.
            part.is_guest = part.disabled = True

    def compose(self) -> ComposeResult:
        """The title, and what is shown."""
        yield TextBlock(f"{self._heading}   {READ_ONLY}", classes="beside-title")
        yield self.part

    def show(self, state: DeskState, now: Timestamp, front: NumberedView) -> None:
        """Show a newer state beside the screen in front."""
        if isinstance(self.part, NumberedView):
            self.part.take(state, now)
        else:
            reads = front.name_in_keys != "markets"
            self.part.agent_ids = front.rows_chosen() if front.name_in_keys == "agents" else ()
            self.part.show(state, now, front.current_market(), reads=reads)

    def leave(self) -> None:
        """Have nothing read for it any more."""
        if isinstance(self.part, NumberedView):
            self.part.leave()
        else:
            self.part.release()

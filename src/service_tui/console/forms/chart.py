"""The charts: one at a time, with a cursor that reads its figures, zoom and ranges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from service_tui.console import formats
from service_tui.console.charts.bars import drawn_bars
from service_tui.console.charts.drawing import Drawn, drawn_time
from service_tui.console.charts.series import BarSeries, Series, TimeSeries, Window, measured
from service_tui.console.charts.sources import (
    OF_MARKET,
    OF_PAST,
    RANGES,
    ChartName,
    series_of,
)
from service_tui.console.forms.compare_menu import CompareMenu
from service_tui.console.keys import bindings_of, cap, with_keys
from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.theme import content
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.chart_lines import LINE_INKS
from service_tui.console.widgets.chart_view import ChartView
from service_tui.console.widgets.columns import Piece
from service_tui.console.widgets.dialog import Dialog, open_above
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.agents import ReadDay
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

ZOOM: Final = 2.0
FAR: Final = 1_000_000
"""More places than any chart has."""

LEAST_S: Final = 30.0
"""Shortest window of a chart over time."""

LEAST_BARS: Final = 3.0
_NAMES: Final = tuple(ChartName)

AGENTS_CHOSEN: Final = with_keys(
    "compare: mark the agents on {app.agents} with {agents.mark}, or filter them there"
)


@dataclass(frozen=True, slots=True)
class ChartPlace:
    """What a person looks at in one chart: the part in sight and the cursor; None for all, none."""

    window: Window | None = None
    cursor: float | None = None


class ChartDialog(Dialog[None]):
    """Shows the charts of the state, renewed while it is open.

    Args:
        state: the newest.
        now: wall time.
        market_id: the market of the first two charts; empty for none.
        first: the chart in front.
        recent: ids of markets that were looked at, the newest first.
        agent_ids: the agents of the chart of agents; empty for all.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        *bindings_of("chart"),
        Binding("left,up,k", "move(-1)", show=False),
        Binding("right,down,j", "move(1)", show=False),
        Binding("pageup,ctrl+u", "move(-10)", show=False),
        Binding("pagedown,ctrl+d", "move(10)", show=False),
        Binding("home,g", f"move(-{FAR})", show=False),
        Binding("end,G", f"move({FAR})", show=False),
        *(Binding(str(place + 1), f"pick({place})", show=False) for place in range(len(_NAMES))),
    ]
    name_in_keys: ClassVar[str] = "chart"

    def __init__(
        self,
        state: DeskState,
        now: Timestamp,
        market_id: str,
        first: ChartName,
        *,
        recent: Sequence[str] = (),
        agent_ids: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._state, self._now = state, now
        self._market_id, self._beside_id = market_id, ""
        self._recent, self._agent_ids = recent, agent_ids
        self.chart_name = first
        self._span_s = 86_400
        self._places: dict[ChartName, ChartPlace] = {}
        self._fixed: dict[ChartName, float] = {}
        self._requested: tuple[str, int, str] | None = None
        self._has_read = False
        # The market and the span that the screen below had read, and gets again.
        detail = state.detail
        self._before = None if detail is None else WatchMarket(detail.market_id, detail.span_s)
        self._tabs = TextBlock(id="chart-tabs")
        self._title = TextBlock(id="chart-title")
        self._reading = TextBlock(id="chart-reading")
        self._view = ChartView(self._draw)
        self.drawn = Drawn([])
        self.series: Series = self._made()

    def compose(self) -> ComposeResult:
        """The names of the charts, the title, the chart, and the figures under the cursor."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(self._heading())
            keys = (
                f"{cap('chart.next')} next, ← → cursor, {cap('chart.zoom_in')} "
                f"{cap('chart.zoom_out')} zoom, {cap('chart.whole')} whole, "
                f"{cap('chart.range')} range, {cap('chart.compare')} compare, "
                f"{cap('dialog.close')} closes"
            )
            frame.border_subtitle = content(Text(f" {keys} "))
            yield self._tabs
            yield self._title
            yield self._view
            yield self._reading

    def on_mount(self) -> None:
        """Have the desk read what the chart in front needs."""
        self._ask()
        self._show_names()
        # A recorded state is followed by no newer one, which would show the texts.
        self.call_after_refresh(self._redraw)

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Show a newer state; a window that reached to the end still does."""
        if state is self._state and self.chart_name not in {*OF_MARKET, ChartName.EQUITY}:
            return
        whole = self._whole()
        self._state, self._now = state, now
        self.series = self._made()
        place = self._places.get(self.chart_name)
        if place is not None and place.window is not None:
            moved = followed(place.window, whole, self._whole())
            self._places[self.chart_name] = ChartPlace(moved, place.cursor)
        self._redraw()

    # -- keys -----------------------------------------------------------------------------------

    def action_close(self) -> None:
        """Leave, and let the screen below have its market again."""
        if self._requested is not None and self._before is not None:
            self.post_message(CommandGiven(self._before))
        self.dismiss(None)

    def action_turn(self, by: int) -> None:
        """Show the next chart, or the one before."""
        self.action_pick((_NAMES.index(self.chart_name) + by) % len(_NAMES))

    def action_pick(self, place: int) -> None:
        """Show the chart at a place of the list."""
        self.chart_name = _NAMES[place]
        self._ask()
        self.series = self._made()
        self._show_names()
        self._redraw()

    def action_move(self, by: int) -> None:
        """Move the cursor by places; the first press starts at the newest."""
        if self.drawn.places:
            whole = self._whole()
            cursor = moved_cursor(self.drawn, by, whole)
            self._look(self._window().around(cursor, whole), cursor)

    def action_zoom(self, by: int) -> None:
        """Show half as much around the cursor (-1), twice as much (1), or all of the chart (0)."""
        window, whole = self._window(), self._whole()
        cursor = self._place().cursor
        if not by:
            self._look(None, cursor)
            return
        around = window.last if cursor is None else cursor
        least = LEAST_S if isinstance(self.series, TimeSeries) else LEAST_BARS - 1
        if whole.length > least:
            self._look(window.zoomed(ZOOM**by, around, whole, least), cursor)

    def action_measure(self) -> None:
        """Measure from the cursor on, wherever it goes then; pressed there again, no more."""
        cursor = self._place().cursor
        if not isinstance(self.series, TimeSeries) or cursor is None:
            self.post_message(ToastMessage("measure: move the cursor of a line first", "warn"))
        elif self._fixed.get(self.chart_name) == cursor:
            del self._fixed[self.chart_name]
        else:
            self._fixed[self.chart_name] = cursor
        self._redraw()

    def action_compare(self) -> None:
        """Choose a market whose price is shown with this one's; pressed again, show one."""
        market = self._state.markets.get(self._market_id)
        if self.chart_name is ChartName.AGENTS:
            self.post_message(ToastMessage(AGENTS_CHOSEN, "warn"))
        elif market is None:
            self.post_message(ToastMessage("compare: select a market first", "warn"))
        elif self._beside_id:
            self._compare("")
        else:
            menu = CompareMenu(self._state, self._now, market, self._recent)
            open_above(self, menu, self._compare)

    def _compare(self, market_id: str) -> None:
        self._beside_id = market_id
        self._fixed.pop(ChartName.PRICE, None)
        self.action_pick(_NAMES.index(ChartName.PRICE))

    def action_range(self) -> None:
        """Show the next range: of a market the desk reads it, of the equity it is a window."""
        spans = list(RANGES)
        if self.chart_name in OF_MARKET:
            self._span_s = spans[(spans.index(self._span_s) + 1) % len(spans)]
            self._places = {}
            self._ask()
            self.series = self._made()
            self._redraw()
        elif isinstance(self.series, TimeSeries):
            self._look(next_range(self._window(), self._whole()), self._place().cursor)
        else:
            self.action_zoom(0)

    # -- mouse ----------------------------------------------------------------------------------

    @on(ChartView.CellPicked)
    def _picked(self, event: ChartView.CellPicked) -> None:
        event.stop()
        is_lying = isinstance(self.series, BarSeries) and self.series.lies
        place = place_under(self.drawn, event.x, event.y, is_lying=is_lying)
        if place is not None:
            self._look(self._place().window, place)

    @on(ChartView.Turned)
    def _turned(self, event: ChartView.Turned) -> None:
        event.stop()
        self.action_zoom(event.by)

    # -- what is shown ---------------------------------------------------------------------------

    def _made(self) -> Series:
        view = ViewContext.of(self._state, self._now)
        return series_of(
            self.chart_name,
            view,
            self._market_id,
            self._span_s,
            beside_id=self._beside_id,
            agent_ids=self._agent_ids,
        )

    def _ask(self) -> None:
        """Have the desk read what the chart in front shows, once."""
        wanted = self._market_id, self._span_s, self._beside_id
        if self.chart_name in OF_MARKET and self._market_id and wanted != self._requested:
            self._requested = wanted
            self.post_message(CommandGiven(WatchMarket(*wanted)))
        if self.chart_name in OF_PAST and not self._has_read:
            self._has_read = True
            self.post_message(CommandGiven(ReadDay()))

    def _place(self) -> ChartPlace:
        return self._places.get(self.chart_name, ChartPlace())

    def _whole(self) -> Window:
        if isinstance(self.series, TimeSeries):
            return Window(*self.series.span)
        return Window(0.0, max(0.0, len(self.series.bars) - 1.0))

    def _window(self) -> Window:
        return self._place().window or self._whole()

    def _look(self, window: Window | None, cursor: float | None) -> None:
        whole = self._whole()
        if window is not None and window.length >= whole.length:
            window = None
        self._places[self.chart_name] = ChartPlace(window, cursor)
        self._redraw()

    def _draw(self, size: tuple[int, int]) -> list[list[Piece]]:
        cursor = self._place().cursor
        if isinstance(self.series, TimeSeries):
            self.drawn = drawn_time(self.series, size, self._window(), cursor)
        else:
            self.drawn = drawn_bars(self.series, size, self._window(), cursor)
        return self.drawn.lines

    def _redraw(self) -> None:
        if not self.is_mounted:
            return
        self._view.redraw()
        self.query_one("#frame").border_title = content(self._heading())
        self._title.show_text(self._heads())
        reading = Text(self.drawn.reading, "bold foreground")
        if between := self._between():
            reading = Text(between, "bold accent").append("\n").append_text(reading)
        self._reading.show_text(reading)

    def _heads(self) -> Text:
        """The title, and of lines with a legend each one's number and name in its colour."""
        lines = [Text(self.series.title, "heading")]
        if isinstance(self.series, TimeSeries):
            lines += [
                Text.assemble(
                    (f"{place + 1} ", f"bold {LINE_INKS[place]}"), (name, LINE_INKS[place])
                )
                for place, name in enumerate(self.series.legend)
            ]
        text = Text("\n").join(lines)
        text.no_wrap = True
        return text

    def _between(self) -> str:
        """What lies between the place measured from and the cursor; empty without both."""
        fixed, cursor = self._fixed.get(self.chart_name), self._place().cursor
        if not isinstance(self.series, TimeSeries) or fixed is None or cursor is None:
            return ""
        return measured(self.series, fixed, cursor)

    def _heading(self) -> Text:
        """The title of the frame; a recorded state is marked with its time."""
        at = self._state.rewound_to
        if at is None:
            return Text(" Charts ")
        return Text.assemble(
            " Charts ", (f" REPLAY {formats.date_time_s(at)} ", "bold reverse warn")
        )

    def _show_names(self) -> None:
        line = Text(no_wrap=True)
        for place, name in enumerate(_NAMES, start=1):
            line.append(f" {place} ", "accent")
            ink = "bold reverse accent" if name is self.chart_name else "muted"
            line.append(f" {name.value} ", ink)
        self._tabs.show_text(line)


def moved_cursor(drawn: Drawn, by: int, whole: Window) -> float:
    """Where the cursor is after a move by places of a chart that has some.

    The first press shows the newest in sight; beyond the part in sight a place is as far as the
    drawn ones are from each other.
    """
    if abs(by) >= FAR:
        return whole.first if by < 0 else whole.last
    last = len(drawn.places) - 1
    wanted = last if drawn.cursor is None else drawn.cursor + by
    if 0 <= wanted <= last:
        return drawn.places[wanted]
    step = (drawn.places[-1] - drawn.places[0]) / max(1, last)
    end, beyond = (0, wanted) if wanted < 0 else (last, wanted - last)
    return min(whole.last, max(whole.first, drawn.places[end] + step * beyond))


def next_range(window: Window, whole: Window) -> Window | None:
    """The next longer range at the end of a chart, round and round; None: all of it."""
    spans = list(RANGES)
    longer = next((span for span in spans if span > window.length + 1), 0)
    if not longer or longer >= whole.length:
        longer = spans[0] if window.length >= whole.length - 1 else 0
    return Window(whole.last - longer, whole.last).within(whole) if longer else None


def followed(window: Window, before: Window, after: Window) -> Window:
    """A window of a chart that has grown: one that reached to the end still does."""
    if window.last < before.last:
        return window
    return Window(after.last - window.length, after.last).within(after)


def place_under(drawn: Drawn, x: int, y: int, *, is_lying: bool) -> float | None:
    """The place that a cell of the chart shows; None beside all of them."""
    at = y if is_lying else (x - drawn.margin) // drawn.pitch
    return drawn.places[at] if 0 <= at < len(drawn.places) else None

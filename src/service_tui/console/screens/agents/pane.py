"""One agent in full, and the trades of all: the parts below the table of the agents."""

from collections.abc import Callable
from typing import Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll

from service_tui.console import formats
from service_tui.console.freshness import awaited
from service_tui.console.messages import CommandGiven, GoTo, ToastMessage
from service_tui.console.registering import how_to_register
from service_tui.console.screens.agents.detail import describe, history_text
from service_tui.console.screens.agents.table import TRADES, no_trades_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.price_chart import PriceChart
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.text_block import MeasuredBlock, TextBlock
from service_tui.desk.commands.agents import WatchAgent
from service_tui.desk.figures import pnl_points
from service_tui.desk.slices.agents import AgentView, FillView
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, decimal

NO_POINTS: Final = "P&L appears with the first trade"
LOADING: Final = "loading P&L"

_SPAN_MIN: Final = 1.0
"""Least span of the P&L's axis: less is noise."""


class AgentPane(Horizontal):
    """An agent's description, its P&L over time, its trades with reasons."""

    def __init__(self) -> None:
        super().__init__(id="agents-one")
        self._detail = TextBlock(id="agents-detail-text", keeps_room=True)
        self._story = MeasuredBlock(id="agents-story-text", keeps_room=True)
        self._curve = PriceChart(
            value=self._worth,
            bounds=None,
            span_min=_SPAN_MIN,
            empty=NO_POINTS,
            id="agents-curve",
        )
        self._masked = False
        self._watched = ("", "")

    def compose(self) -> ComposeResult:
        """Money, curve, history."""
        with VerticalScroll(id="agents-detail"):
            yield self._detail
        with Vertical(id="agents-did"):
            yield self._curve
            with VerticalScroll(id="agents-story"):
                yield self._story

    def watch_agent(self, agent: AgentView | None, state: DeskState) -> None:
        """Have the desk keep this agent's trades and output fresh; None: no agent."""
        runs = () if agent is None else state.supervision.runs_of(agent.agent_id)
        requested = ("" if agent is None else agent.agent_id, runs[0].run_id if runs else "")
        if requested != self._watched and (state.service.embedded or any(requested)):
            self._watched = requested
            self.post_message(CommandGiven(WatchAgent(*requested)))

    def watch_again(self) -> None:
        """Request the next agent even if it is the same one."""
        self._watched = ("", "")

    def show_agent(self, agent: AgentView | None, view: ViewContext) -> None:
        """Show an agent; None: none is in focus. `view.width` is for a pane not laid out yet."""
        self._masked = view.masked
        text, story = Text("select an agent", "muted"), Text()
        if agent is not None:
            text = describe(agent, view)
            width = self._story.size.width or view.width
            story = history_text(agent, ViewContext.of(view.state, view.now, width))
        if view.state.service.embedded:
            text = Text("\n\n").join((text, how_to_register(view.state)))
        self._detail.show_text(text)
        self._story.show_text(story)
        detail = view.state.supervision.detail
        points = () if agent is None else pnl_points(agent, detail, view.now)
        is_read = agent is None or (detail is not None and detail.agent_id == agent.agent_id)
        self._curve.show(
            [(at, decimal(pnl)) for at, pnl in points],
            title="P&L, $SIM",
            empty=NO_POINTS
            if is_read or not view.state.service.embedded
            else awaited(view.state, LOADING),
        )

    def _worth(self, value: float) -> str:
        return formats.money(Micros(round(value * ONE)), masked=self._masked).plain


class TradesOfAll(RecordTable[FillView]):
    """The trades of all agents, the newest on top; enter shows the market of one."""

    is_styled_by_focus = True
    newest_on_top = True
    newest_by = "time"

    def __init__(self, state: DeskState, view: Callable[[], ViewContext]) -> None:
        empty = no_trades_text(state)
        super().__init__(TRADES, lambda fill: fill.key, empty, view=view, id="agents-feed")

    def on_mount(self) -> None:
        """Sort the newest to the top."""
        self.sort_by("time", falling=True)

    def show_trades(self, state: DeskState) -> None:
        """Show the trades, or why there are none."""
        self.empty = no_trades_text(state)
        self.show(state.fills)

    @on(RecordTable.Opened)
    def _opened(self, event: RecordTable.Opened) -> None:
        event.stop()
        fill = self.selected()
        if fill is not None and fill.market_id in self._view().state.markets:
            self.post_message(GoTo("markets", fill.market_id))
        else:
            self.post_message(ToastMessage("market not listed", "warn"))

"""Every agent of the embedded service, and what they trade, as it happens."""

from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of
from service_tui.console.messages import GoTo, Said
from service_tui.console.screens.agents.actions import AgentActs
from service_tui.console.screens.agents.columns import agent_columns, fill_columns
from service_tui.console.screens.agents.text import (
    COMPARED,
    agent_detail,
    agent_story,
    empty_words,
    fleet_bits,
    how_to_register,
    number_of,
    rows_of,
    words_of,
)
from service_tui.console.widgets.fleet_bar import FleetBar
from service_tui.console.widgets.price_chart import PriceChart
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.agents import WatchAgent
from service_tui.desk.figures import pnl_points
from service_tui.desk.slices.agents import AgentView, FillView, FleetView, RevealedView
from service_tui.desk.slices.fleet import SupervisionView
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, Timestamp, decimal

_SPAN_MIN: Final = 1.0
"""The P&L's axis spans at least so much money: less is noise."""

_SORT: Final = "equity falling"
_SILENCE: Final = "No agent has traded yet."
_UNREAD: Final = "Not known yet: the trades of the agents are being read."
_ELSEWHERE: Final = "Another service does not tell what its agents trade."


class AgentsPart(NamedTuple):
    """What this screen shows."""

    fleet: FleetView | None
    fills: tuple[FillView, ...]
    revealed: RevealedView | None
    listening: bool
    service: tuple[str, str]
    embedded: bool
    address: str
    masked: bool
    supervision: SupervisionView


class AgentsScreen(AgentActs[AgentsPart]):  # noqa: PLR0904 - one method an act
    """The agents, one of them in detail, and the trades of all."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("agents")]

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-beside": (120, 0),
        "-fed": (0, 14),
        "-tall": (0, 46),
    }
    """From where one agent is told below the list, and the trades of all stand below it too: in its
    place, and beside it."""

    name_in_keys: ClassVar[str] = "agents"
    title: ClassVar[str] = "Agents"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[AgentView](
            agent_columns(lambda: self.state, lambda: self.now),
            key=lambda agent: agent.agent_id,
            empty=empty_words(state),
            id="agents-table",
        )
        self.feed = RecordTable[FillView](
            fill_columns(lambda: self.state),
            key=lambda fill: fill.key,
            empty=_silence(state),
            id="agents-feed",
        )
        self.feed.is_styled_by_focus = True
        self._sums = FleetBar()
        self._detail = Words(id="agents-detail-text", keeps_room=True)
        self._story = Words(id="agents-story-text", keeps_room=True)
        self._curve = PriceChart(
            value=self._worth,
            bounds=None,
            span_min=_SPAN_MIN,
            empty="P&L appears with the first trade",
            id="agents-curve",
        )
        self._lists_all = False
        self._watched = ("", "")

    def compose(self) -> ComposeResult:
        """The sums, the list with its search line, the detail, the trades."""
        yield self._sums
        yield self.line
        yield self.table
        with Horizontal(id="agents-one"):
            with VerticalScroll(id="agents-detail"):
                yield self._detail
            with Vertical(id="agents-did"):
                yield self._curve
                with VerticalScroll(id="agents-story"):
                    yield self._story
        yield self.feed

    def on_mount(self) -> None:
        """Sort as last time; the newest trade is on top."""
        self.restore_sort(_SORT)
        self.feed.sort_by("time", falling=True)

    def part_of(self, state: DeskState) -> AgentsPart:
        """The agents, their trades, and what is to be shown once."""
        return AgentsPart(
            state.fleet,
            state.fills,
            state.revealed,
            state.listening,
            (state.service.phase.value, state.service.problem),
            state.service.embedded,
            state.service.address,
            is_private(state),
            state.supervision,
        )

    def show(self, part: AgentsPart) -> None:
        """Show the agents and their trades; a secret gets a page of its own."""
        self.table.empty = empty_words(self.state)
        self.table.show(rows_of(self.state))
        self.feed.empty = _silence(self.state)
        self.feed.show(part.fills)
        self._sums.show(fleet_bits(self.state))
        self._watch()
        self.show_focus()
        self.reveal(part.revealed)

    @property
    def compared(self) -> tuple[str, ...]:
        """Columns that can be compared."""
        return COMPARED

    def words_of(self, row: AgentView) -> str:
        """Everything that a search finds an agent by."""
        return words_of(row, self.state, self.now)

    def number_of(self, row: AgentView, column: str) -> float | None:
        """An agent's value in a column."""
        return number_of(row, column)

    def name_of(self, row: AgentView) -> str:
        """What the agent is called."""
        return row.name

    def explained(self, row: AgentView | None) -> tuple[Explanation, ...]:
        """What an agent's P&L is made of."""
        if row is None:
            return ()
        masked = is_private(self.state)
        inputs = (
            ("equity", formats.money(row.equity, masked=masked)),
            ("cash", formats.money(row.cash, masked=masked)),
        )
        age = formats.age(row.last_trade_at, self.now)
        pnl = formats.pnl(row.total_pnl, masked=masked)
        formula = "equity - what it was given; equity = cash + positions at the market's price"
        return (Explanation("P&L, $SIM", pnl, formula, inputs, "told by the service", age),)

    def action_open(self) -> None:
        """All about the agent that is highlighted, where there is no pane for it: a page."""
        agent = self.row_in_focus()
        if agent is None:
            return
        if self.has_class("-beside"):
            self.query_one("#agents-detail").focus()
        else:
            width = max(40, self.size.width - 16)

            def tell(state: DeskState, now: Timestamp) -> Text:
                """All about it as it is now, or as it was last."""
                every = () if state.fleet is None else state.fleet.agents
                same = (one for one in every if one.agent_id == agent.agent_id)
                newest = next(same, agent)
                parts = agent_detail(newest, state, now), agent_story(newest, state, now, width)
                return Text("\n\n").join(parts)

            self.open_about(agent.name, tell)

    def action_next_list(self) -> None:
        """The agent in focus, or the trades of all; on a tall screen both stand there."""
        self._lists_all = not self._lists_all
        self.set_class(self._lists_all, "-all")

    @on(RecordTable.Moved)
    def _moved(self) -> None:
        self._watch()

    def _watch(self) -> None:
        """Have the desk keep fresh what the agent in focus does, and says."""
        agent = self.table.selected()
        runs = () if agent is None else self.state.supervision.runs_of(agent.agent_id)
        wanted = (
            "" if agent is None else agent.agent_id,
            runs[0].run_id if runs else "",
        )
        if wanted != self._watched and (self.state.service.embedded or any(wanted)):
            self._watched = wanted
            self.give(WatchAgent(*wanted))

    @on(RecordTable.Opened, "#agents-feed")
    def _trade_opened(self, event: RecordTable.Opened) -> None:
        event.stop()
        event.prevent_default()
        fill = self.feed.selected()
        if fill is not None and fill.market_id in self.state.markets:
            self.post_message(GoTo("markets", fill.market_id))
        else:
            self.post_message(Said("that market is not among those known here", "warn"))

    def show_focus(self) -> None:
        """Show the agent under the cursor, where there is room."""
        if not self.has_class("-beside"):
            return
        agent = self.table.selected()
        text = Text("no agent highlighted", "muted")
        story = Text()
        if agent is not None:
            text = agent_detail(agent, self.state, self.now)
            width = self._story.size.width or self.size.width // 2
            story = agent_story(agent, self.state, self.now, width)
        if self.state.service.embedded:
            text = Text("\n\n").join((text, how_to_register(self.state)))
        self._detail.tell(text)
        self._story.tell(story)
        detail = self.state.supervision.detail
        points = () if agent is None else pnl_points(agent, detail, self.now)
        self._curve.show([(at, decimal(pnl)) for at, pnl in points], title="P&L, $SIM")

    def _worth(self, value: float) -> str:
        amount = Micros(round(value * ONE))
        return formats.money(amount, masked=is_private(self.state)).plain


def _silence(state: DeskState) -> str:
    """Why no trade of an agent is shown."""
    if not state.service.embedded:
        return _ELSEWHERE
    fleet = state.fleet
    if fleet is None or any(one.trades_count for one in fleet.agents):
        return _UNREAD
    return _SILENCE

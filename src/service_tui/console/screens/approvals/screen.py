"""Trades of agents that need approval, and one of them in full."""

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import bindings_of, cap
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.approvals.actions import ACTIONS
from service_tui.console.screens.approvals.detail import describe, explain_approval, totals
from service_tui.console.screens.approvals.table import APPROVALS
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.agents.refused_today import refused_today
from service_tui.desk.commands.agents import WatchAgent
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class ApprovalsScreen(TableScreen[PendingTradeView]):
    """The trades, the nearest deadline first; marked ones are decided together."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("approvals")]

    name_in_keys: ClassVar[str] = "approvals"
    title: ClassVar[str] = "Approvals"
    tables = (APPROVALS,)
    actions = ACTIONS
    opens = "approvals.review"
    watches = ("supervision", "markets", "positions", "fleet", "preferences", "service.phase")
    no_row_text: ClassVar[str] = "Select a trade"
    question_cells: ClassVar[Mapping[int, int]] = {200: 46, 150: 30, 120: 40}

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-with-detail": (0, 22),
        "-beside": (150, 0),
    }

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._watched = ""

    def leave(self) -> None:
        """Forget the agent that was read: it is read again when the screen comes back."""
        super().leave()
        self._watched = ""

    def compose(self) -> ComposeResult:
        """The rules of today, the list with its search line, a trade in full, the sums."""
        yield TextBlock(id="approvals-rules")
        yield self.line
        with Horizontal(id="approvals-body"):
            yield self.table
            if self.pane is not None:
                yield self.pane
        yield SumsBar(id="approvals-sums")

    def detail(self, row: PendingTradeView, view: ViewContext) -> Detail:
        """A trade in full; its agent's positions are read."""
        if row.agent_id != self._watched:
            self._watched = row.agent_id
            self.give(WatchAgent(row.agent_id))
        return describe(row, view)

    def explain(self, row: PendingTradeView | None, view: ViewContext) -> tuple[Explanation, ...]:
        """The figures of a trade."""
        return () if row is None else explain_approval(row, view)

    def show_header(self) -> None:
        """Show the agents refused for today, and the sums of what is marked or listed."""
        refused = refused_today(self.state, self.now)
        agents = () if self.state.fleet is None else self.state.fleet.agents
        names = {one.agent_id: one.name for one in agents}
        line = Text()
        if refused:
            who = ", ".join(formats.plain(names.get(one, one), 30).plain for one in refused)
            line = Text.assemble(
                ("refused today: ", "muted"), (who, "warn"),
                (f"   {cap('approvals.lift')} lets them ask again", "muted"),
            )  # fmt: skip
        self.query_one("#approvals-rules", TextBlock).show_if_any(line)
        order = self.table.order
        marked = order.marked
        keys = [order.key_at(place) for place in range(len(order))]
        rows = [order[place] for place, key in enumerate(keys) if not marked or key in marked]
        sums = self.query_one(SumsBar)
        sums.display = bool(rows)
        sums.show(totals(rows, self.view))

"""Every agent of the embedded service, and their trades as they happen."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from textual.app import App, ComposeResult
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.actions import ScreenAction
from service_tui.console.forms.explain import Explanation
from service_tui.console.forms.secret import Secret
from service_tui.console.keys import bindings_of
from service_tui.console.parts.shared_actions import has_row
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.agents.actions import ACTIONS
from service_tui.console.screens.agents.detail import explain_agent, fleet_bits
from service_tui.console.screens.agents.pane import AgentPane, TradesOfAll
from service_tui.console.screens.agents.table import AGENTS
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.desk.commands.settings import Forget
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_ALL: Final = "all"


class AgentsScreen(TableScreen[AgentView]):
    """The agents, one of them in detail, and the trades of all."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("agents")]

    name_in_keys: ClassVar[str] = "agents"
    title: ClassVar[str] = "Agents"
    tables = (AGENTS,)
    actions = ACTIONS
    opens = "agents.open"
    watches = (
        "fleet",
        "fills",
        "revealed",
        "listening",
        "service.phase",
        "service.problem",
        "service.embedded",
        "service.address",
        "supervision",
    )
    pane_type = None
    # The names of agents are short: the figures have the rest.
    name_cells: ClassVar[Mapping[int, int]] = {160: 20}

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-beside": (120, 0),
        "-fed": (0, 14),
        "-tall": (0, 46),
    }
    """Least sizes at which one agent is described below the list, and the trades of all stand below
    it too: in its place, and beside it."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._sums = SumsBar(id="agents-sums")
        self.agent = AgentPane()
        self.feed = TradesOfAll(state, lambda: self.view)
        self._is_revealing = False

    def compose(self) -> ComposeResult:
        """The sums, the list with its search line, the detail, the trades."""
        yield self._sums
        yield self.line
        yield self.table
        yield self.agent
        yield self.feed

    def leave(self) -> None:
        """Request the agent again when the screen comes back: another one may have its own."""
        super().leave()
        self.agent.watch_again()

    def choices(self) -> Mapping[str, str]:
        """Whether the trades of all agents stand below the list."""
        return {_ALL: "on"} if self.has_class(f"-{_ALL}") else {}

    def restore_choices(self, choices: Mapping[str, str]) -> None:
        """Show the trades of all agents again."""
        self.set_class(_ALL in choices, f"-{_ALL}")

    def name_of(self, row: AgentView) -> str:
        """The agent's name."""
        return row.name

    def explain(self, row: AgentView | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Inputs of an agent's P&L."""
        return () if row is None else explain_agent(row, view)

    def refusal(self, action: ScreenAction[Any], why: str) -> str:
        """The reason, behind the name of the agent if the action is about one."""
        agent = self.selected() if has_row in action.requires else None
        return why if agent is None else f"{formats.plain(agent.name, 40).plain}: {why}"

    def show_parts(self) -> None:
        """Show the trades of all; a secret gets a page of its own."""
        self.feed.show_trades(self.state)
        revealed = self.state.revealed
        is_of_agent = revealed is not None and not revealed.is_webhook
        if revealed is not None and is_of_agent and not (self._is_revealing or self.is_guest):
            self._is_revealing = True
            app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
            app.push_screen(Secret(revealed), self._forget)

    def show_header(self) -> None:
        """Show the sums."""
        self._sums.show(fleet_bits(self.view))

    def show_detail(self) -> None:
        """Watch the agent under the cursor, and show it if there is room."""
        agent = self.selected()
        self.agent.watch_agent(agent, self.state)
        if self.has_class("-beside"):
            view = ViewContext.of(self.state, self.now, self.size.width // 2)
            self.agent.show_agent(agent, view)

    def _forget(self, _: None) -> None:
        self._is_revealing = False
        self.give(Forget())

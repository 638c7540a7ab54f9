"""The action log: actions of the person and the agents, newest first, and its chain's state."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import on_wall
from service_tui.console.keys import bindings_of
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.log.actions import ACTIONS, by_actor
from service_tui.console.screens.log.detail import chain_text, entry_text, explain_entry
from service_tui.console.screens.log.table import log_table
from service_tui.console.theme import content
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.agents import ReadLog
from service_tui.desk.slices.log import ActionView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_WHO: Final = "who"


class LogScreen(TableScreen[ActionView]):
    """The entries, the newest first, and one of them in full."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("log")]

    name_in_keys: ClassVar[str] = "log"
    title: ClassVar[str] = "Action log"
    tables = (log_table(""),)
    actions = ACTIONS
    opens = "log.open"
    watches = ("log",)
    pane_type = None

    across: ClassVar[str] = "-beside"

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-beside": (120, 0)}
    """Least sizes at which an entry is beside the list; else below it."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        self.tables = (log_table(on_wall(state)),)
        super().__init__(state, now)
        self._chain = Static(markup=False, id="log-chain")
        self._detail = Static(markup=False, id="log-detail-text")

    def compose(self) -> ComposeResult:
        """The chain, the list with its search line, the entry."""
        yield self._chain
        yield self.line
        with Horizontal(id="log-body"):
            with Vertical(id="log-list"):
                yield self.table
            with VerticalScroll(id="log-detail"):
                yield self._detail

    def on_mount(self) -> None:
        """Have the chain verified when the log is first shown."""
        self.give(ReadLog())

    def choices(self) -> Mapping[str, str]:
        """The actor whose entries alone are listed."""
        return {_WHO: self.only.name} if self.only else {}

    def restore_choices(self, choices: Mapping[str, str]) -> None:
        """List the entries of that actor alone."""
        if choices.get(_WHO):
            self.only = by_actor(choices[_WHO])

    def name_of(self, row: ActionView) -> str:
        """Its hash, by which the command line finds it."""
        return row.hash

    def explain(self, row: ActionView | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Inputs of an entry's hash."""
        return () if row is None else explain_entry(row, view)

    def show_header(self) -> None:
        """Show the state of the chain, and the actor whose entries alone are listed."""
        line = chain_text(self.state.log, self.now)
        if self.only:
            line.append_text(Text.assemble(("  only ", "muted"), (self.only.name, "accent")))
        self._chain.update(content(line))

    def show_detail(self) -> None:
        """Show the entry under the cursor."""
        entry = self.selected()
        text = Text("select an entry", "muted")
        if entry is not None:
            text = entry_text(entry, self.state, self.now)
        self._detail.update(content(text))

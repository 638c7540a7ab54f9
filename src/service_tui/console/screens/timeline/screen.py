"""The timeline: everything that happened, with links to the things themselves."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import on_wall
from service_tui.console.keys import bindings_of, cap
from service_tui.console.moments import MomentKind, MomentView, outcomes_and_own
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.timeline.actions import ACTIONS, AWAY, OURS, of_kind
from service_tui.console.screens.timeline.detail import describe, explain_moment
from service_tui.console.screens.timeline.table import timeline_table, words
from service_tui.console.theme import content
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.desk.commands.agents import ReadLog
from service_tui.desk.state import DeskState
from service_tui.terms import counted
from service_tui.units import Timestamp

_ONLY: Final = "only"
ALL: Final = "all"


class TimelineScreen(TableScreen[MomentView]):
    """All moments, the newest first, and one of them in full."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("timeline")]

    name_in_keys: ClassVar[str] = "timeline"
    title: ClassVar[str] = "Timeline"
    tables = (timeline_table(""),)
    actions = ACTIONS
    opens = "timeline.open"
    watches = (
        *("fills", "trades", "log", "risk", "reactor.signals", "research.experiments", "news"),
        "service.phase",
    )
    no_row_text: ClassVar[str] = "Select a row"

    across: ClassVar[str] = "-beside"

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-with-detail": (0, 22),
        "-beside": (150, 0),
    }

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        self.tables = (timeline_table(on_wall(state)),)
        super().__init__(state, now)
        self._head = Static(markup=False, id="timeline-head")
        self.only = self.only or OURS

    def compose(self) -> ComposeResult:
        """The filter in force, the list with its search line, a moment in full."""
        yield self._head
        yield self.line
        with Horizontal(id="timeline-body"):
            yield self.table
            if self.pane is not None:
                yield self.pane

    def watched(self) -> object:
        """Besides, which markets ended and which are ours, and what may not be known yet."""
        world, account, team = self.state.world, self.state.account, self.state.team
        absence = None if world is None else world.meanwhile
        own = "" if account is None else account.agent_id
        acts = () if team is None else team.acts
        return super().watched(), outcomes_and_own(self.state), absence, own, acts

    def on_mount(self) -> None:
        """Have the log read when the timeline is first shown."""
        self.give(ReadLog())

    def choices(self) -> Mapping[str, str]:
        """What alone is listed; without a choice, what is about this desk."""
        if self.only is AWAY or self.only is OURS:
            return {}
        return {_ONLY: self.only.name if self.only else ALL}

    def restore_choices(self, choices: Mapping[str, str]) -> None:
        """List that alone again."""
        kinds, kept = {kind.value: kind for kind in MomentKind}, choices.get(_ONLY, "")
        if kept == ALL:
            self.only = None
        elif kept in kinds:
            self.only = of_kind(kinds[kept])

    def step_out(self) -> bool:
        """As everywhere; what the timeline begins with is no filter to leave.

        Returns:
            False if nothing is left to leave.
        """
        chosen, self.only = self.only, None
        has_left = super().step_out()
        self.only = OURS
        if not has_left and chosen is not OURS:
            self.filter_rows()
            return True
        return has_left

    def name_of(self, row: MomentView) -> str:
        """What happened."""
        return words(row, self.view)

    def detail(self, row: MomentView, view: ViewContext) -> Detail:
        """A moment in full."""
        return describe(row, view)

    def explain(self, row: MomentView | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Where its time comes from."""
        return () if row is None else explain_moment(row, view)

    def show_header(self) -> None:
        """Show how many are listed, which alone, and how many came while the desk was closed."""
        order = self.table.order
        line = Text(counted(len(order), "row"), "muted")
        if self.only:
            line.append_text(Text.assemble(("  only ", "muted"), (self.only.name, "accent")))
        missed = sum(row.is_away for row in self.spec.rows(self.state))
        if missed:
            line.append(f"  ◂ {missed:,} while you were away, ", "warn")
            line.append(f"{cap('timeline.away')} alone", "muted")
        self._head.update(content(line))

"""Autoresearch: sessions, their experiments, what runs now, backtests."""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import bindings_of
from service_tui.console.messages import NEW_SESSION
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.research.actions import ACTIONS
from service_tui.console.screens.research.detail import (
    describe,
    describe_backtest,
    describe_diff,
    explain_experiment,
    why_line,
)
from service_tui.console.screens.research.session import SessionLine
from service_tui.console.screens.research.table import EXPERIMENTS, empty_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.research import ShowDiff
from service_tui.desk.slices.research import ExperimentView, SessionView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class ResearchScreen(TableScreen[ExperimentView]):
    """The experiments of one session, with its chart, its run, and the last backtest."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("research")]

    name_in_keys: ClassVar[str] = "research"
    title: ClassVar[str] = "Autoresearch"
    tables = (EXPERIMENTS,)
    actions = ACTIONS
    opens = "research.diff"
    watches = ("research", "service.phase", "service.problem")

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-with-detail": (0, 20), "-two": (110, 0)}

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.session_line = SessionLine()

    def compose(self) -> ComposeResult:
        """The session in front, why it has stopped, its experiments, the detail."""
        yield self.session_line
        yield TextBlock(id="research-why")
        yield self.line
        yield self.table
        if self.pane is not None:
            yield self.pane

    @property
    def session(self) -> SessionView | None:
        """The session in front."""
        return self.session_line.session(self.state.research)

    def rows(self) -> tuple[ExperimentView, ...]:
        """The experiments of the session in front."""
        session = self.session
        return () if session is None else self.state.research.of(session)

    def empty_text(self) -> str:
        """Why there is no experiment, and how to get one."""
        return empty_text(self.state, self.session)

    def name_of(self, row: ExperimentView) -> str:
        """The experiment's description."""
        return row.description

    def focus_row(self, row: str | None) -> None:
        """Bring the session of a row to the front, and put the cursor there.

        `NEW_SESSION` and the key of a session: open the form for a new one like it.
        """
        research = self.state.research
        if row is not None and row.startswith(NEW_SESSION):
            like = row.removeprefix(NEW_SESSION)
            if research.session(like) is not None:
                self.session_line.selected_key = like
            self.show_state()
            super().focus_row(None)
            self.call_after_refresh(self.action_perform, "research.new")
            return
        experiment = next(
            (experiment for experiment in research.experiments if experiment.key == row), None
        )
        if experiment is not None:
            self.session_line.selected_key = f"{experiment.agent}:{experiment.skill}"
            self.show_state()
        super().focus_row(row)

    def step_out(self) -> bool:
        """From the diff and the backtest to the experiment, then as everywhere."""
        if self.state.research.diff is not None:
            self.give(ShowDiff("", ""))
        elif self.session_line.shows_backtest:
            self.session_line.shows_backtest = False
            self.show_detail()
        else:
            return super().step_out()
        return True

    def show_header(self) -> None:
        """Show the session in front, and why it has stopped."""
        self.session_line.show_session(self.state)
        self.query_one("#research-why", TextBlock).show_if_any(why_line(self.state, self.session))

    def show_detail(self) -> None:
        """Show a diff, the backtest, or the session with the experiment in focus."""
        if self.pane is not None and self.shows_detail:
            width = self.pane.text_width
            self.pane.show(*self._pane(ViewContext.of(self.state, self.now, width)))

    def _pane(self, view: ViewContext) -> Detail:
        diff = view.state.research.diff
        if diff is not None:
            return describe_diff(diff)
        if self.session_line.shows_backtest:
            return describe_backtest(view)
        row, is_wide = self.table.highlighted(), self.has_class("-two")
        return describe(self.session, row, view, is_wide=is_wide)

    def explain(self, row: ExperimentView | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Sources of an experiment's changes."""
        session = self.session
        return () if row is None or session is None else explain_experiment(row, session, view)

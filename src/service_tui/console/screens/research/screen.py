"""Autoresearch: sessions, their experiments, what runs now, backtests."""

from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_heard, is_private
from service_tui.console.keys import bindings_of, cap
from service_tui.console.messages import NEW_SESSION
from service_tui.console.parts.panes import PaneScreen
from service_tui.console.parts.rows import why_not_changed
from service_tui.console.screens.research.chart import metric_chart, sweep_chart
from service_tui.console.screens.research.forms import BacktestForm, SessionForm
from service_tui.console.screens.research.text import (
    backtest_text,
    diff_text,
    empty_words,
    experiment_columns,
    experiment_text,
    run_text,
    session_head,
    session_line,
    why_line,
)
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.research import EndSession, RunBacktest, ShowDiff, StartSession
from service_tui.desk.slices.records import Topic
from service_tui.desk.slices.research import ExperimentView, ResearchView, SessionView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

CHART_LINES: Final = 9
CHART_LINES_LOW: Final = 7
COMPARED: Final = ("number", "metric", "change", "behind")
_CHANGES: Final = frozenset({"new_session", "end_session"})


class ResearchPart(NamedTuple):
    """What this screen shows."""

    research: ResearchView
    service: tuple[str, str]
    is_heard: bool
    masked: bool


class ResearchScreen(PaneScreen[ResearchPart, ExperimentView]):  # noqa: PLR0904 - one action a key
    """The experiments of one session, with its chart, what runs there, and the last backtest."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("research")]

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-with-detail": (0, 20), "-two": (110, 0)}

    name_in_keys: ClassVar[str] = "research"
    title: ClassVar[str] = "Autoresearch"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[ExperimentView](
            experiment_columns(lambda: self.now),
            key=lambda row: row.key,
            empty=empty_words(state, None),
            id="research-table",
        )
        self.pane = DetailPane(id="research-detail")
        self._session = ""
        self._asked = 0
        self._shows_backtest = False

    def compose(self) -> ComposeResult:
        """The session in front, why it stands, its experiments, the detail."""
        yield Words(id="research-session")
        yield Words(id="research-why")
        yield self.line
        yield self.table
        yield self.pane

    def on_mount(self) -> None:
        """The newest experiment on top, unless it was kept otherwise."""
        self.restore_sort("number falling")

    def part_of(self, state: DeskState) -> ResearchPart:
        """All of autoresearch."""
        service = (state.service.phase.value, state.service.problem)
        heard = is_heard(state, Topic.RESEARCH)
        return ResearchPart(state.research, service, heard, is_private(state))

    def show(self, part: ResearchPart) -> None:
        """Show the session in front, its experiments, and the detail."""
        del part
        session = self.session
        self.table.empty = empty_words(self.state, session)
        rows = () if session is None else self.state.research.of(session)
        self.table.show(rows)
        self.show_focus()

    @property
    def session(self) -> SessionView | None:
        """The session in front: the one chosen, else the newest."""
        research = self.state.research
        return research.session(self._session) or next(iter(research.sessions), None)

    def focus_row(self, row: str | None) -> None:
        """Bring the session of a row to the front, and put the cursor there.

        `NEW_SESSION` and the key of a session: ask for a new one like it.
        """
        if row is not None and row.startswith(NEW_SESSION):
            like = row.removeprefix(NEW_SESSION)
            if self.state.research.session(like) is not None:
                self._session = like
            self.show(self.part_of(self.state))
            super().focus_row(None)
            self.call_after_refresh(self.action_new_session)
            return
        found = next((one for one in self.state.research.experiments if one.key == row), None)
        if found is not None:
            self._session = f"{found.agent}:{found.skill}"
            self.show(self.part_of(self.state))
        super().focus_row(row)

    @property
    def compared(self) -> tuple[str, ...]:
        """Columns that can be compared."""
        return COMPARED

    def words_of(self, row: ExperimentView) -> str:
        """Everything that a search finds an experiment by."""
        return f"{row.description} {row.status.value} {row.commit} {row.session}".casefold()

    def number_of(self, row: ExperimentView, column: str) -> float | None:
        """An experiment's value in a column."""
        return {
            "number": float(row.number),
            "metric": row.metric,
            "change": row.change,
            "behind": row.behind,
        }.get(column)

    def name_of(self, row: ExperimentView) -> str:
        """What was tried."""
        return row.description

    def explained(self, row: ExperimentView | None) -> tuple[Explanation, ...]:
        """Where the changes of an experiment come from."""
        session = self.session
        if row is None or session is None:
            return ()
        source = "autoresearch.jsonl and the service"
        age = formats.age(row.at, self.now)
        return (
            Explanation(
                "vs base",
                formats.percent_change(row.change),
                "(metric - baseline) / |baseline|, turned round where lower is better",
                (("baseline", Text(str(session.baseline))), ("metric", Text(str(row.metric)))),
                source,
                age,
            ),
        )

    def why_not(self, action: str) -> str:
        """Why a key does nothing here."""
        if action in _CHANGES and (why := why_not_changed(self.state)):
            return why
        if action in {"end_session", "next_session"} and self.session is None:
            return "there is no session"
        if action == "show_diff":
            row = self.table.selected()
            if row is None or not row.commit:
                return "only a kept experiment has a commit"
        return super().why_not(action)

    def step_out(self) -> bool:
        """From the diff and the backtest to the experiment, then as everywhere."""
        if self.state.research.diff is not None:
            self.give(ShowDiff("", ""))
        elif self._shows_backtest:
            self._shows_backtest = False
            self.show_focus()
        else:
            return super().step_out()
        return True

    # -- keys ------------------------------------------------------------------------------

    def action_next_session(self) -> None:
        """Bring the next session to the front."""
        sessions = self.state.research.sessions
        session = self.session
        if session is not None:
            place = [one.key for one in sessions].index(session.key)
            self._session = sessions[(place + 1) % len(sessions)].key
            self.show(self.part_of(self.state))

    def action_backtest(self) -> None:
        """Ask under which thresholds the skill's trades are to be replayed."""
        self._asked = max(self._asked, self.state.research.asking) + 1
        skill = self.session.skill if self.session is not None else ""
        form = BacktestForm(self.state, self.now, skill, self._asked)
        self._app().push_screen(form, self._replay)

    def _replay(self, order: RunBacktest | None) -> None:
        if order is not None:
            self._shows_backtest = True
            self.give(order)

    def action_new_session(self) -> None:
        """Ask where and on what a session is to begin."""
        if self.is_refused("new_session"):
            return
        self._app().push_screen(SessionForm(self.state, self.now, self.session), self._begin)

    def _begin(self, order: StartSession | None) -> None:
        if order is not None:
            self.give(order)

    def action_end_session(self) -> None:
        """Take no more experiments of this skill."""
        session = self.session
        if not self.is_refused("end_session") and session is not None:
            self.give(EndSession(session.skill))

    def action_show_diff(self) -> None:
        """Show what the commit of the highlighted experiment changed."""
        if self.is_refused("show_diff"):
            return
        row, session = self.row_in_focus(), self.session
        if row is not None and session is not None:
            self.give(ShowDiff(session.key, row.commit))

    def action_open(self) -> None:
        """Show what the commit of the highlighted experiment changed."""
        self.action_show_diff()

    # -- what is shown ---------------------------------------------------------------------

    def show_focus(self) -> None:
        """Show the session in front, why it stands, and the detail."""
        research, session = self.state.research, self.session
        top = self.query_one("#research-session", Words)
        if session is None:
            is_known = is_heard(self.state, Topic.RESEARCH) or research.needs_plan
            top.tell(Text("no session" if is_known else "sessions are not known yet", "muted"))
        else:
            place = [one.key for one in research.sessions].index(session.key)
            top.tell(session_line(session, place, len(research.sessions)))
        self.query_one("#research-why", Words).tell_if_any(why_line(self.state, session))
        if self.is_told:
            self.pane.show(*self._detail(research, session))

    def _detail(
        self, research: ResearchView, session: SessionView | None
    ) -> tuple[Text, Text, Text]:
        width = self.pane.text_width
        diff = research.diff
        if diff is not None:
            said = Text(diff.words, "warn") if diff.words else diff_text(diff.text)
            return (
                Text(f"commit {diff.commit}, {cap('rows.out')} closes", "heading"),
                said,
                Text(),
            )
        if self._shows_backtest:
            masked = is_private(self.state)
            view = research.backtest
            chart = Text() if view is None else sweep_chart(view, width, CHART_LINES)
            return (
                Text(f"backtest, {cap('rows.out')} closes", "heading"),
                chart,
                (backtest_text(view, research, masked=masked)),
            )
        if session is None:
            return Text(), Text(), backtest_text(research.backtest, research, masked=False)
        rows = [one for one in reversed(research.of(session)) if one.segment == session.segment]
        is_wide = self.pane.has_class("-two")
        # In a low pane what runs now comes before what was tried.
        parts = [experiment_text(self.table.highlighted()), run_text(session, self.now)]
        more = Text("\n").join(parts if is_wide else parts[::-1])
        lines = CHART_LINES if is_wide else CHART_LINES_LOW
        return session_head(session, self.now), metric_chart(rows, width, lines), more

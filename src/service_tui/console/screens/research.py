"""Autoresearch: sessions, their experiments, what runs now, backtests.

Knows the desk's state. Must not know any other screen but by its name.
Used by the app as screen 6.
"""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.dialogs.explain import Explanation
from service_tui.console.dialogs.research_forms import BacktestForm, SessionForm
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of
from service_tui.console.messages import NEW_SESSION, Said
from service_tui.console.screens.research_chart import metric_chart, sweep_chart
from service_tui.console.screens.research_text import (
    NO_SESSION,
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
from service_tui.console.screens.rows import RowsScreen, why_not_changed
from service_tui.console.search import Search, read_search
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.words import Words
from service_tui.desk.commands_research import EndSession, RunBacktest, ShowDiff, StartSession
from service_tui.desk.records_research import ExperimentView, ResearchView, SessionView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DETAIL_FROM: Final = 20
TWO_FROM: Final = 110
CHART_LINES: Final = 9
CHART_LINES_LOW: Final = 7
COMPARED: Final = ("number", "metric", "change", "behind")
_CHANGES: Final = frozenset({"new_session", "end_session"})


class ResearchPart(NamedTuple):
    """What this screen shows."""

    research: ResearchView
    service: tuple[str, str]
    masked: bool


class ResearchScreen(RowsScreen[ResearchPart, ExperimentView]):  # noqa: PLR0904 - one action a key
    """The experiments of one session, with its chart, what runs there, and the last backtest."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("research")]

    name_in_keys: ClassVar[str] = "research"
    title: ClassVar[str] = "Autoresearch"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[ExperimentView](
            experiment_columns(lambda: self.now),
            key=lambda row: row.key,
            empty=NO_SESSION,
            id="research-table",
        )
        self.line = FilterLine()
        self._search = Search()
        self._pane = DetailPane(id="research-detail")
        self._session = ""
        self._asked = 0
        self._shows_backtest = False

    def compose(self) -> ComposeResult:
        """The session in front, why it stands, its experiments, the detail."""
        yield Words(id="research-session")
        yield Words(id="research-why")
        yield self.table
        yield self.line
        yield self._pane

    def on_mount(self) -> None:
        """The newest experiment on top, unless it was kept otherwise."""
        self.restore_sort("number falling")

    def part_of(self, state: DeskState) -> ResearchPart:
        """All of autoresearch."""
        service = (state.service.phase.value, state.service.problem)
        return ResearchPart(state.research, service, is_private(state))

    def show(self, part: ResearchPart) -> None:
        """Show the session in front, its experiments, and the detail."""
        del part
        session = self.session
        self.table.empty = empty_words(self.state.research, session)
        rows = () if session is None else self.state.research.of(session)
        self.table.show(rows)
        self._show_rest()

    def tick(self) -> None:
        """Let time pass for ages and for what runs."""
        super().tick()
        self._show_rest()

    @property
    def session(self) -> SessionView | None:
        """The session in front: the one chosen, else the newest."""
        research = self.state.research
        return research.session(self._session) or next(iter(research.sessions), None)

    def current_row(self) -> str | None:
        """The row under the cursor."""
        return self.table.order.cursor

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

    def narrow(self, typed: str) -> None:
        """Show the experiments that match."""
        self._search = search = read_search(typed, COMPARED)
        self.line.say(search.problem)

        def keep(row: ExperimentView) -> bool:
            words = f"{row.description} {row.status.value} {row.commit} {row.session}".casefold()
            return search.matches(words, lambda column: _number(row, column))

        self.table.filter(keep if search else None)
        self.highlight_first_if_lost()
        self._show_rest()

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
        """From the diff and the backtest to the experiment, from the search to all."""
        if self.state.research.diff is not None:
            self.give(ShowDiff("", ""))
        elif self._shows_backtest:
            self._shows_backtest = False
            self._show_rest()
        elif not self.table.has_focus:
            self.table.focus()
        elif self._search:
            self.line.clear()
        else:
            return False
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
        if self._is_refused("new_session"):
            return
        self._app().push_screen(SessionForm(self.state, self.now, self.session), self._begin)

    def _begin(self, order: StartSession | None) -> None:
        if order is not None:
            self.give(order)

    def action_end_session(self) -> None:
        """Take no more experiments of this skill."""
        session = self.session
        if not self._is_refused("end_session") and session is not None:
            self.give(EndSession(session.skill))

    def action_show_diff(self) -> None:
        """Show what the commit of the highlighted experiment changed."""
        if self._is_refused("show_diff"):
            return
        row, session = self.row_in_focus(), self.session
        if row is not None and session is not None:
            self.give(ShowDiff(session.key, row.commit))

    def _is_refused(self, action: str) -> bool:
        why = self.why_not(action)
        if why:
            self.post_message(Said(why, "warn"))
        return bool(why)

    @on(RecordTable.Moved)
    def _moved(self) -> None:
        self._show_rest()

    @on(RecordTable.Opened)
    def _opened(self) -> None:
        self.action_show_diff()

    @on(events.Resize)
    def _resized(self) -> None:
        width, height = self.size
        self.set_class(height >= DETAIL_FROM, "-with-detail")
        self._pane.set_class(width >= TWO_FROM, "-two")
        self.call_after_refresh(self._show_rest)

    # -- what is shown ---------------------------------------------------------------------

    def _show_rest(self) -> None:
        research, session = self.state.research, self.session
        top = self.query_one("#research-session", Words)
        if session is None:
            top.tell(Text("no session", "muted"))
        else:
            place = [one.key for one in research.sessions].index(session.key)
            top.tell(session_line(session, place, len(research.sessions)))
        why = why_line(self.state, session)
        block = self.query_one("#research-why", Words)
        block.display = bool(why.plain)
        block.tell(why)
        if self.has_class("-with-detail"):
            self._pane.show(*self._detail(research, session))

    def _detail(
        self, research: ResearchView, session: SessionView | None
    ) -> tuple[Text, Text, Text]:
        width = self._pane.text_width
        diff = research.diff
        if diff is not None:
            said = Text(diff.words, "warn") if diff.words else diff_text(diff.text)
            return Text(f"commit {diff.commit}, esc closes", "heading"), said, Text()
        if self._shows_backtest:
            masked = is_private(self.state)
            view = research.backtest
            chart = Text() if view is None else sweep_chart(view, width, CHART_LINES)
            return (
                Text("backtest, esc closes", "heading"),
                chart,
                (backtest_text(view, research, masked=masked)),
            )
        if session is None:
            return Text(), Text(), backtest_text(research.backtest, research, masked=False)
        rows = [one for one in reversed(research.of(session)) if one.segment == session.segment]
        is_wide = self._pane.has_class("-two")
        # In a low pane what runs now comes before what was tried.
        parts = [experiment_text(self.table.selected()), run_text(session, self.now)]
        more = Text("\n").join(parts if is_wide else parts[::-1])
        lines = CHART_LINES if is_wide else CHART_LINES_LOW
        return session_head(session, self.now), metric_chart(rows, width, lines), more


def _number(row: ExperimentView, column: str) -> float | None:
    return {
        "number": float(row.number),
        "metric": row.metric,
        "change": row.change,
        "behind": row.behind,
    }.get(column)

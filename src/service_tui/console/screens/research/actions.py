"""Actions on sessions: begin, end, switch, run a backtest, read a diff."""

from typing import Final, TypeAlias

from service_tui.console.actions import ScreenAction, UnmetReason
from service_tui.console.forms.evaluations import Evaluations
from service_tui.console.parts.shared_actions import can_change
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.research.forms import BacktestForm, SessionForm
from service_tui.console.screens.research.session import SessionLine
from service_tui.desk.commands.research import EndSession, ReadEvaluations, RunBacktest, ShowDiff
from service_tui.desk.slices.research import ExperimentView, SessionView

Research: TypeAlias = TableScreen[ExperimentView]


def _session(screen: Research) -> SessionView | None:
    return screen.query_one(SessionLine).session(screen.state.research)


def has_session(screen: Research) -> UnmetReason:
    """A session is in front."""
    return "no session" if _session(screen) is None else ""


def has_commit(screen: Research) -> UnmetReason:
    """The highlighted experiment was kept."""
    row = screen.selected()
    return "" if row is not None and row.commit else "only kept experiments have a commit"


def next_session(screen: Research) -> None:
    """Bring the next session to the front."""
    session, sessions = _session(screen), screen.state.research.sessions
    if session is not None:
        place = [one.key for one in sessions].index(session.key)
        screen.query_one(SessionLine).selected_key = sessions[(place + 1) % len(sessions)].key
        screen.show_state()


def backtest(screen: Research) -> None:
    """Open the form for a backtest of the skill's trades."""
    line, session = screen.query_one(SessionLine), _session(screen)
    line.requested = max(line.requested, screen.state.research.request_id) + 1
    skill = "" if session is None else session.skill

    def replay(order: RunBacktest) -> None:
        line.shows_backtest = True
        screen.give(order)

    screen.open_dialog(BacktestForm(screen.state, screen.now, skill, line.requested), replay)


def new_session(screen: Research) -> None:
    """Open the form for a new session."""
    form = SessionForm(screen.state, screen.now, _session(screen))
    screen.open_dialog(form, screen.give)


def end_session(screen: Research) -> None:
    """End the session: no more experiments of this skill."""
    session = _session(screen)
    if session is not None:
        screen.give(EndSession(session.skill))


def evaluations(screen: Research) -> None:
    """Open the reports of evaluations of this machine."""
    screen.give(ReadEvaluations())
    screen.open_dialog(Evaluations(screen.state))


def show_diff(screen: Research) -> None:
    """Show the commit of the highlighted experiment."""
    row, session = screen.row_in_focus(), _session(screen)
    if row is not None and session is not None:
        screen.give(ShowDiff(session.key, row.commit))


ACTIONS: Final[tuple[ScreenAction[Research], ...]] = (
    ScreenAction("research.diff", show_diff, requires=(has_commit,)),
    ScreenAction("research.backtest", backtest),
    ScreenAction("research.new", new_session, requires=(can_change,)),
    ScreenAction("research.evaluations", evaluations),
    ScreenAction("research.next", next_session, requires=(has_session,)),
    ScreenAction("research.off", end_session, requires=(can_change, has_session)),
)

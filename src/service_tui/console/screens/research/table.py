"""The table of the experiments of a session."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_answered, not_loaded_text
from service_tui.console.keys import with_keys
from service_tui.console.screens.research.chart import MARKS, figure
from service_tui.console.table_spec import TableSpec
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.research import ExperimentView, SessionView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.terms import SessionState

NO_SESSION: Final = (
    "Improve a skill by experiments. This needs a git folder with the skill: {research.new} starts "
    "a session there, or 'service-tui autoresearch' for an MCP client."
)
NO_EXPERIMENT: Final = (
    "No experiments. The MCP client of 'service-tui autoresearch' calls run_experiment, then "
    "log_experiment."
)
NO_MORE: Final = "No experiments, and the session is closed. {research.new} starts a new one."
_WAITING: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nSessions appear once it responds.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\n{app.refresh} retries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nCheck it in "
    "Settings ({app.settings}).",
}
NEEDS_PLAN: Final = (
    "Autoresearch needs the Pro plan. Change it in Agents ({app.agents}, {agents.plan})."
)


def status_text(row: ExperimentView) -> Text:
    """Its result, as a sign and a word."""
    glyph, ink = MARKS[row.status]
    return Text(f"{glyph} {row.status.value.replace('_', ' ')}"[:9], ink)


def behind_text(row: ExperimentView) -> Text:
    """Distance of its metric from the best one; "best" for that one itself."""
    return Text("best", "accent") if row.is_best else formats.percent_change(row.behind)


def metrics_text(row: ExperimentView) -> str:
    """The secondary metrics on one line."""
    return "  ".join(f"{name} {value:g}" for name, value in row.metrics.items())


def commit_text(row: ExperimentView) -> Text:
    """The commit, or that the service does not have it yet."""
    if not row.synced:
        return Text("not sent", "warn")
    return Text(row.commit or formats.NOT_KNOWN, "" if row.commit else "muted")


def empty_text(state: DeskState, session: SessionView | None) -> str:
    """Why there is no experiment, and how to get one."""
    if session is not None:
        return NO_EXPERIMENT if session.state is SessionState.RUNNING else with_keys(NO_MORE)
    if state.research.needs_plan:
        return with_keys(NEEDS_PLAN)
    service = state.service
    if service.phase in _WAITING:
        return with_keys(_WAITING[service.phase]).replace(
            "{problem}", service.problem or "no response"
        )
    return (
        with_keys(NO_SESSION) if is_answered(state, Topic.RESEARCH) else not_loaded_text("sessions")
    )


def _search_text(row: ExperimentView, _: ViewContext) -> str:
    return folded(f"{row.description} {row.status.value} {row.commit} {row.session}")


EXPERIMENTS: Final = TableSpec[ExperimentView](
    "experiments",
    rows=lambda state: state.research.experiments,
    key=lambda row: row.key,
    columns=(
        Column(
            "number",
            "#",
            4,
            lambda row, _: str(row.number),
            sort_key=lambda row, _: row.number,
            numeric=True,
        ),
        Column(
            "status",
            "status",
            9,
            lambda row, _: status_text(row),
            sort_key=lambda row, _: row.status.value,
        ),
        Column(
            "metric",
            "metric",
            10,
            lambda row, _: figure(row.metric),
            sort_key=lambda row, _: row.metric,
            numeric=True,
        ),
        Column(
            "change",
            "vs base",
            9,
            lambda row, _: formats.percent_change(row.change),
            sort_key=lambda row, _: row.change,
            numeric=True,
        ),
        Column(
            "behind",
            "vs best",
            9,
            lambda row, _: behind_text(row),
            sort_key=lambda row, _: row.behind,
            numeric=True,
            tier=80,
        ),
        Column(
            "description",
            "change",
            20,
            lambda row, _: formats.plain(row.description, 160),
            flex=True,
            glows=False,
        ),
        Column("metrics", "secondary", 24, lambda row, _: metrics_text(row), tier=160, glows=False),
        Column("commit", "commit", 8, lambda row, _: commit_text(row), tier=120),
        Column(
            "age",
            "age",
            5,
            lambda row, view: formats.age(row.at, view.now),
            sort_key=lambda row, _: row.at,
            align="right",
            glows=False,
        ),
    ),
    search_text=_search_text,
    empty_text=lambda state: empty_text(state, None),
    sort="number",
    falling=True,
    compared={
        "number": lambda row, _: float(row.number),
        "metric": lambda row, _: row.metric,
        "change": lambda row, _: row.change,
        "behind": lambda row, _: row.behind,
    },
    is_loaded=lambda state: is_answered(state, Topic.RESEARCH),
)

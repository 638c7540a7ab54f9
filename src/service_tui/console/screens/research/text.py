"""What the research screen says of a session, an experiment and a backtest."""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_heard, not_told
from service_tui.console.keys import cap, with_keys
from service_tui.console.screens.research.chart import MARKS, figure
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.records import Phase, Topic
from service_tui.desk.slices.research import (
    BacktestView,
    ExperimentRunView,
    ExperimentView,
    ResearchView,
    SessionView,
)
from service_tui.desk.state import DeskState
from service_tui.terms import SessionState, counted
from service_tui.units import Timestamp

STATES: Final = {
    SessionState.RUNNING: ("●", "profit"),
    SessionState.PAUSED: ("‖", "warn"),
    SessionState.CAPPED: ("■", "breach"),
}
NO_SESSION: Final = (
    "No session yet: {research.new} begins one in a git repository, "
    "or an MCP client calls init_experiment on 'service-tui autoresearch'."
)
NO_EXPERIMENT: Final = (
    "No experiment yet: the MCP client that drives 'service-tui autoresearch' calls "
    "run_experiment, then log_experiment, which brings the first row."
)
NO_MORE: Final = (
    "No experiment is known here, and the session takes none now: {research.new} begins a new one."
)
_WAITING: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nSessions appear with its first answer.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\n{app.refresh} tries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nSettings ({app.settings}) "
    "show which.",
}
NEEDS_PLAN: Final = (
    "Autoresearch needs the Pro plan: {app.agents} shows the agents, "
    "{agents.plan} changes the plan."
)
DIFF_INKS: Final = {"+": "profit", "-": "loss", "@": "accent"}
TAIL: Final = 8
CONFIDENCE: Final = ((2.0, "likely real"), (1.0, "unsure"), (0.0, "noise"))
"""Source: wire reference, 9.2."""


def experiment_columns(now: Callable[[], Timestamp]) -> tuple[Column[ExperimentView], ...]:
    """The columns of the experiments, from left to right."""
    return (
        Column[ExperimentView](
            "number", "#", 4, lambda row: str(row.number), sort_key=lambda row: row.number,
            numeric=True,
        ),
        Column[ExperimentView](
            "status", "status", 9, status_text, sort_key=lambda row: row.status.value
        ),
        Column[ExperimentView](
            "metric", "metric", 10, lambda row: figure(row.metric),
            sort_key=lambda row: row.metric, numeric=True,
        ),
        Column[ExperimentView](
            "change", "vs base", 9, lambda row: formats.percent_change(row.change),
            sort_key=lambda row: row.change, numeric=True,
        ),
        Column[ExperimentView](
            "behind", "vs best", 9, behind_text, sort_key=lambda row: row.behind, numeric=True,
            tier=80,
        ),
        Column[ExperimentView](
            "description", "what was tried", 20,
            lambda row: formats.plain(row.description, 160), flex=True, glows=False,
        ),
        Column[ExperimentView](
            "metrics", "secondary", 24, metrics_text, tier=160, glows=False
        ),
        Column[ExperimentView]("commit", "commit", 8, commit_text, tier=120),
        Column[ExperimentView](
            "age", "age", 5, lambda row: formats.age(row.at, now()), sort_key=lambda row: row.at,
            align="right", glows=False,
        ),
    )  # fmt: skip


def status_text(row: ExperimentView) -> Text:
    """Its end, in a sign and a word."""
    glyph, ink = MARKS[row.status]
    return Text(f"{glyph} {row.status.value.replace('_', ' ')}"[:9], ink)


def behind_text(row: ExperimentView) -> Text:
    """How far it is from the best, which is named."""
    return Text("best", "accent") if row.is_best else formats.percent_change(row.behind)


def metrics_text(row: ExperimentView) -> str:
    """The secondary metrics on one line."""
    return "  ".join(f"{name} {value:g}" for name, value in row.metrics.items())


def commit_text(row: ExperimentView) -> Text:
    """The commit, or that the service does not have it yet."""
    if not row.synced:
        return Text("not sent", "warn")
    return Text(row.commit or formats.NOT_KNOWN, "" if row.commit else "muted")


def session_line(session: SessionView, place: int, total: int) -> Text:
    """Which session is in front, and how it stands."""
    glyph, ink = STATES[session.state]
    count = f"{session.count}/{session.cap}" if session.cap else f"{session.count}"
    said = Text.assemble(
        (f"{glyph} {session.state.value}", ink),
        ("  ", ""),
        (session.skill, "bold"),
        (f"  {session.name}", "muted"),
        (f"  {count} experiments", "warn" if session.near_cap else ""),
    )
    if session.crashes_in_row:
        said.append(f"  {session.crashes_in_row} crashes in a row", "loss")
    if total > 1:
        said.append(f"  {place + 1} of {total}, {cap('research.next')} next", "muted")
    return said


def empty_words(state: DeskState, session: SessionView | None) -> str:
    """Why there is no row to see, and what brings one."""
    if session is not None:
        return NO_EXPERIMENT if session.state is SessionState.RUNNING else with_keys(NO_MORE)
    if state.research.needs_plan:
        return with_keys(NEEDS_PLAN)
    service = state.service
    if service.phase in _WAITING:
        return with_keys(_WAITING[service.phase]).replace(
            "{problem}", service.problem or "no answer"
        )
    return with_keys(NO_SESSION) if is_heard(state, Topic.RESEARCH) else not_told("sessions")


def why_line(state: DeskState, session: SessionView | None) -> Text:
    """Why nothing goes on, and what clears it; empty while all is well."""
    research = state.research
    if session is None:
        return Text(with_keys(NEEDS_PLAN), "warn") if research.needs_plan else Text("")
    if session.why:
        return Text(f"{session.state.value}: {session.why}", "warn")
    if session.warning or session.near_cap:
        words = session.warning or f"{session.count} of {session.cap} experiments are done"
        return Text(words, "warn")
    return Text("")


def session_head(session: SessionView, now: Timestamp) -> Text:
    """The figures of a session."""
    better = f"{session.direction.value} is better"
    said = Text.assemble(
        (f"{session.metric_name} ({better})  ", "heading"),
        ("baseline ", "muted"),
        figure(session.baseline, session.metric_unit),
        ("  best ", "muted"),
        (figure(session.best, session.metric_unit), "bold accent"),
        (f" in #{session.best_number}" if session.best_number is not None else "", "muted"),
        ("  ", ""),
        formats.percent_change(session.gain),
    )
    if session.confidence is not None:
        words = next(word for bound, word in CONFIDENCE if session.confidence >= bound)
        said.append(f"  {session.confidence:.1f} spreads, {words}", "muted")
    said.append(f"  {session.kept} kept {session.discarded} dropped {session.crashed} crashed")
    if session.last_at is not None:
        said.append_text(Text("  last ", "muted"))
        said.append_text(formats.age(session.last_at, now))
    return said


def run_text(session: SessionView | None, now: Timestamp) -> Text:
    """What runs now, with the end of its output."""
    run: ExperimentRunView | None = None if session is None else session.run
    if session is None or run is None:
        where = "" if session is None else session.repository
        return Text(f"nothing runs here{'; ' + where if where else ''}", "muted")
    said = Text()
    if run.is_running and session.is_open:
        spent = max(0.0, now - run.started_at)
        said.append(
            f"▶ {formats.duration(spent)} of {formats.duration(run.deadline_s)}  ", "accent"
        )
    elif run.is_running:
        said.append("■ its server is gone  ", "warn")
    elif run.timed_out:
        said.append("✗ timed out  ", "loss")
    elif run.exit_code is None:
        said.append("✗ was ended  ", "loss")
    else:
        good = run.exit_code == 0
        said.append(
            f"{'✓' if good else '✗'} last run ended with {run.exit_code}  ",
            "profit" if good else "loss",
        )
    said.append_text(formats.plain(run.command, 120))
    tail = [one for one in run.tail.splitlines() if one.strip()][-TAIL:]
    for each in tail:
        said.append("\n")
        said.append_text(formats.plain(each, 160))
    return said


def experiment_text(row: ExperimentView | None) -> Text:
    """All about the experiment in focus."""
    if row is None:
        return Text("no row is highlighted", "muted")
    said = Text.assemble(
        (f"#{row.number} ", "bold"), status_text(row), "  ", (row.session, "muted")
    )
    said.append(f"\n{row.metric_name} {figure(row.metric, row.metric_unit)}")
    if row.metrics:
        said.append(f"\n{metrics_text(row)}", "muted")
    said.append("\n")
    said.append_text(formats.plain(row.description, 600))
    if row.commit:
        said.append(f"\ncommit {row.commit}: {cap('research.diff')} shows its diff", "muted")
    return said


def diff_text(text: str) -> Text:
    """A diff, with what came and what went in colours beside their signs."""
    said = Text()
    is_body = False
    for each in text.splitlines():
        is_body = (is_body or each.startswith("@@")) and not each.startswith("diff ")
        ink = DIFF_INKS.get(each[:1], "") if is_body else "muted"
        said.append(f"{each}\n", ink)
    return said


def backtest_text(view: BacktestView | None, research: ResearchView, *, masked: bool) -> Text:
    """The figures of the last backtest, or why it has none."""
    if research.asking:
        return Text("replaying trades ...", "muted")
    said = Text()
    if research.words:
        said.append(f"{research.words}\n", "warn")
    if view is None:
        said.append(
            f"{cap('research.backtest')} replays this desk's agent's trades of a skill under "
            "thresholds",
            "muted",
        )
        return said
    point = view.best if view.best is not None else view.point
    config = ", ".join(f"{name} {figure(value)}" for name, value in point.config)
    where = f"{view.skill} on {view.venue.value}, {counted(view.days, 'day')}"
    said.append(f"{where}, of this desk's agent: ", "heading")
    if not view.total:
        said.append(view.message or "no trades to replay", "warn")
        return said
    said.append(f"{point.included} of {counted(view.total, 'trade')} pass  ")
    said.append_text(formats.pnl(point.pnl, masked=masked))
    said.append(" instead of ", "muted")
    said.append_text(formats.pnl(view.original, masked=masked))
    said.append("  ")
    said.append_text(formats.percent_change(point.improvement))
    if point.win_rate is not None:
        said.append(f"  {point.win_rate:.0%} won")
    if config:
        said.append(f"\nbest: {config}", "accent")
    if view.message:
        said.append(f"\n{view.message}", "warn")
    return said

"""Texts of the research screen on a session, an experiment and a backtest. Pure functions."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_answered
from service_tui.console.keys import cap, with_keys
from service_tui.console.screens.research.chart import figure, metric_chart, sweep_chart
from service_tui.console.screens.research.table import NEEDS_PLAN, metrics_text, status_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.desk.slices.research import (
    BacktestView,
    DiffView,
    ExperimentRunView,
    ExperimentView,
    HoldoutView,
    ResearchView,
    SessionView,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.experiments import JUDGED_TEXT
from service_tui.terms import SessionState, counted
from service_tui.units import Timestamp

CHART_LINES: Final = 9
CHART_LINES_LOW: Final = 7
STATES: Final = {
    SessionState.RUNNING: ("●", "profit"),
    SessionState.PAUSED: ("‖", "warn"),
    SessionState.CAPPED: ("■", "breach"),
}
DIFF_INKS: Final = {"+": "profit", "-": "loss", "@": "accent"}
TAIL: Final = 8
FIGURE: Final = 12
"""Cells of a figure beside others."""

CONFIDENCE: Final = ((2.0, "likely real"), (1.0, "unsure"), (0.0, "noise"))
"""Source: wire reference, 9.2."""


# -- above the table ----------------------------------------------------------------------------


def session_text(state: DeskState, session: SessionView | None) -> Text:
    """The session in front, and its state."""
    research = state.research
    if session is None:
        is_known = is_answered(state, Topic.RESEARCH) or research.needs_plan
        return Text("no session" if is_known else "sessions not loaded yet", "muted")
    place = [one.key for one in research.sessions].index(session.key)
    return session_line(session, place, len(research.sessions))


def session_line(session: SessionView, place: int, total: int) -> Text:
    """One session, and its state."""
    glyph, ink = STATES[session.state]
    count = f"{session.count}/{session.cap}" if session.cap else f"{session.count}"
    text = Text.assemble(
        (f"{glyph} {session.state.value}", ink),
        ("  ", ""),
        (session.skill, "bold"),
        (f"  {session.name}", "muted"),
        (f"  {count} experiments", "warn" if session.near_cap else ""),
    )
    if session.crashes_in_row:
        text.append(f"  {session.crashes_in_row} crashes in a row", "loss")
    if total > 1:
        text.append(f"  {place + 1} of {total}, {cap('research.next')} next", "muted")
    return text


def why_line(state: DeskState, session: SessionView | None) -> Text:
    """Why the session has stopped, and the fix; empty if it runs."""
    research = state.research
    if session is None:
        return Text(with_keys(NEEDS_PLAN), "warn") if research.needs_plan else Text("")
    if session.why:
        return Text(f"{session.state.value}: {session.why}", "warn")
    if session.warning or session.near_cap:
        text = session.warning or f"{session.count} of {session.cap} experiments done"
        return Text(text, "warn")
    return Text("")


# -- the pane -----------------------------------------------------------------------------------


def describe_diff(diff: DiffView) -> Detail:
    """The diff of a commit, or why it is not known."""
    text = Text(diff.problem, "warn") if diff.problem else diff_text(diff.text)
    return Detail(Text(f"commit {diff.commit}, {cap('rows.out')} closes", "heading"), text, Text())


def describe_backtest(view: ViewContext) -> Detail:
    """The last backtest as a chart, and its figures."""
    research = view.state.research
    result = research.backtest
    chart = Text() if result is None else sweep_chart(result, view.width, CHART_LINES)
    return Detail(
        Text(f"backtest, {cap('rows.out')} closes", "heading"),
        chart,
        backtest_text(result, research, masked=view.masked),
    )


def describe(
    session: SessionView | None, row: ExperimentView | None, view: ViewContext, *, is_wide: bool
) -> Detail:
    """A session with its chart, its run, and the experiment in focus.

    Args:
        session: the one in front.
        row: the experiment in focus.
        view: its width is that of a line.
        is_wide: whether the pane has two columns.

    Returns:
        The pane's content.
    """
    research = view.state.research
    if session is None:
        return Detail(Text(), Text(), backtest_text(research.backtest, research, masked=False))
    rows = [one for one in reversed(research.of(session)) if one.segment == session.segment]
    # In a low pane the present run comes before the former experiments.
    parts = [experiment_text(row), run_text(session, view.now)]
    more = Text("\n").join(parts if is_wide else parts[::-1])
    lines = CHART_LINES if is_wide else CHART_LINES_LOW
    return Detail(session_head(session, view.now), metric_chart(rows, view.width, lines), more)


def session_head(session: SessionView, now: Timestamp) -> Text:
    """The figures of a session."""
    better = f"{session.direction.value} is better"
    text = Text.assemble(
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
        confidence_word = next(word for bound, word in CONFIDENCE if session.confidence >= bound)
        text.append(f"  {session.confidence:.1f} spreads, {confidence_word}", "muted")
    outcomes = (session.kept, "kept"), (session.discarded, "dropped"), (session.crashed, "crashed")
    counts = [f"{'-' if count is None else count} {outcome}" for count, outcome in outcomes]
    text.append(f"  {' '.join(counts)}")
    if session.last_at is not None:
        text.append_text(Text("  last ", "muted"))
        text.append_text(formats.age(session.last_at, now))
    if session.holdout is not None:
        text.append("\n")
        text.append_text(holdout_text(session.holdout, session.metric_unit))
    return text


def holdout_text(holdout: HoldoutView, unit: str) -> Text:
    """The time that is kept back, and the figures side by side once the session was judged."""
    days = f"{formats.day(holdout.until)} to {formats.day(holdout.ends_at)}"
    text = Text.assemble(("held back ", "muted"), days, (f" of {holdout.history}", "muted"))
    if not holdout.rows:
        text.append(f"  judged on it when it ends, {cap('research.off')}", "muted")
        return text
    heads = ("logged", "known time", "held back")
    text.append(f"\n{'':14}{''.join(f'{one:>{FIGURE}}' for one in heads)}", "muted")
    for row in holdout.rows:
        text.append(f"\n{f'{row.name} #{row.number}':<14}", "muted")
        text.append(f"{figure(row.logged, unit):>{FIGURE}}{figure(row.known, unit):>{FIGURE}}")
        text.append(f"{figure(row.held_back, unit):>{FIGURE}}", "bold accent")
    for trouble in holdout.troubles:
        text.append(f"\n{trouble}", "warn")
    text.append(f"\n{JUDGED_TEXT}", "muted")
    return text


def run_text(session: SessionView | None, now: Timestamp) -> Text:
    """The present run, with the end of its output."""
    run: ExperimentRunView | None = None if session is None else session.run
    if session is None or run is None:
        where = "" if session is None else session.repository
        return Text(f"no run{'; ' + where if where else ''}", "muted")
    text = Text()
    if run.is_running and session.is_open:
        spent = max(0.0, now - run.started_at)
        text.append(
            f"▶ {formats.duration(spent)} of {formats.duration(run.deadline_s)}  ", "accent"
        )
    elif run.is_running:
        text.append("■ server gone  ", "warn")
    elif run.timed_out:
        text.append("✗ timed out  ", "loss")
    elif run.exit_code is None:
        text.append("✗ ended  ", "loss")
    else:
        good = run.exit_code == 0
        text.append(
            f"{'✓' if good else '✗'} last run: exit code {run.exit_code}  ",
            "profit" if good else "loss",
        )
    text.append_text(formats.plain(run.command, 120))
    tail = [line for line in run.tail.splitlines() if line.strip()][-TAIL:]
    for each in tail:
        text.append("\n")
        text.append_text(formats.plain(each, 160))
    return text


def experiment_text(row: ExperimentView | None) -> Text:
    """The experiment in focus in full."""
    if row is None:
        return Text("select a row", "muted")
    text = Text.assemble(
        (f"#{row.number} ", "bold"), status_text(row), "  ", (row.session, "muted")
    )
    text.append(f"\n{row.metric_name} {figure(row.metric, row.metric_unit)}")
    if row.metrics:
        text.append(f"\n{metrics_text(row)}", "muted")
    text.append("\n")
    text.append_text(formats.plain(row.description, 600))
    if row.commit:
        text.append(f"\ncommit {row.commit}: {cap('research.diff')} shows the diff", "muted")
    return text


def diff_text(text: str) -> Text:
    """A diff, with added and removed lines in colours beside their signs."""
    shown = Text()
    is_body = False
    for line in text.splitlines():
        is_body = (is_body or line.startswith("@@")) and not line.startswith("diff ")
        ink = DIFF_INKS.get(line[:1], "") if is_body else "muted"
        shown.append(f"{line}\n", ink)
    return shown


def backtest_text(view: BacktestView | None, research: ResearchView, *, masked: bool) -> Text:
    """The figures of the last backtest, or why it has none."""
    if research.request_id:
        return Text("replaying trades ...", "muted")
    text = Text()
    if research.problem:
        text.append(f"{research.problem}\n", "warn")
    if view is None:
        text.append(
            f"{cap('research.backtest')} replays your own trades of a skill, as if it had bought "
            "only above a threshold",
            "muted",
        )
        return text
    point = view.best if view.best is not None else view.point
    config = ", ".join(f"{name} {figure(value)}" for name, value in point.config)
    where = f"{view.skill} on {view.venue.value}, {counted(view.days, 'day')}"
    text.append(f"{where}, of this desk's agent: ", "heading")
    if not view.total:
        text.append(view.message or "no trades to replay", "warn")
        return text
    text.append(f"{point.included} of {counted(view.total, 'trade')} pass  ")
    text.append_text(formats.pnl(point.pnl, masked=masked))
    text.append(" instead of ", "muted")
    text.append_text(formats.pnl(view.original, masked=masked))
    text.append("  ")
    text.append_text(formats.percent_change(point.improvement))
    if point.win_rate is not None:
        text.append(f"  {point.win_rate:.0%} won")
    if config:
        text.append(f"\nbest: {config}", "accent")
    if view.message:
        text.append(f"\n{view.message}", "warn")
    return text


def explain_experiment(
    row: ExperimentView, session: SessionView, view: ViewContext
) -> tuple[Explanation, ...]:
    """Sources of an experiment's changes."""
    return (
        Explanation(
            "vs base",
            formats.percent_change(row.change),
            "(metric - baseline) / |baseline|; sign flipped where lower is better",
            (("baseline", Text(str(session.baseline))), ("metric", Text(str(row.metric)))),
            "autoresearch.jsonl and the service",
            formats.age(row.at, view.now),
        ),
    )

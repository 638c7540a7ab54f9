"""Experiments, their sessions and backtests, as an operator sees them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from service_tui.desk.changes import Changed, Loaded, Removed, changed
from service_tui.evaluation.report import EvaluationReport
from service_tui.terms import Direction, ExperimentStatus, SessionState, Venue
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """One experiment of a session.

    `metric` is None where a crash has no figure. `commit` is the short hash of a kept one, else
    empty. `is_best`: the best kept of its segment. `change` is against the segment's baseline,
    `behind` against its best: fractions, above 0 is better, None where one is missing or 0.
    `synced`: the service has it; else it waits in the file. `ref` is the same in both places.
    """

    skill: str
    segment: int
    number: int
    status: ExperimentStatus
    metric: float | None
    description: str
    at: Timestamp
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    commit: str = ""
    change: float | None = None
    behind: float | None = None
    is_best: bool = False
    synced: bool = True
    session: str = ""
    agent: str = ""
    metric_name: str = ""
    metric_unit: str = ""
    direction: Direction = Direction.HIGHER
    ref: str = ""

    @property
    def key(self) -> str:
        """Identity of the row."""
        return self.ref or f"{self.agent}:{self.skill}:{self.segment}:{self.number}"


@dataclass(frozen=True, slots=True)
class ExperimentRunView:
    """The command that runs now, or the last one. `tail` is the end of its output, plain text.

    `exit_code` None while it runs; `ended_at` likewise.
    """

    command: str
    started_at: Timestamp
    deadline_s: float
    tail: str = ""
    ended_at: Timestamp | None = None
    exit_code: int | None = None
    timed_out: bool = False
    metric: float | None = None

    @property
    def is_running(self) -> bool:
        """True until it has ended."""
        return self.ended_at is None


@dataclass(frozen=True, slots=True)
class JudgedView:
    """One experiment of a session on a history: the same metric three times.

    `logged` is what the session wrote down; `known` and `held_back` were measured at its end, on
    the time that it could see and behind it. None where a figure is missing.
    """

    name: str
    number: int
    logged: float | None
    known: float | None
    held_back: float | None


@dataclass(frozen=True, slots=True)
class HoldoutView:
    """Time of a history that is kept back from a session, and what it came to on it.

    `rows` are its baseline and its best, empty until it was judged; `troubles` say what went wrong
    in their trials.
    """

    history: str
    until: Timestamp
    ends_at: Timestamp
    rows: tuple[JudgedView, ...] = ()
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionView:
    """A series of experiments on one skill with one baseline.

    `why` is the reason why it is paused or capped, and what clears it; empty while it runs.
    `cap` 0 is any number. `repository` and `branch` are where it works, empty where another machine
    does. `best` is the best kept metric, `baseline` the first result; None before there is one.
    `kept`, `discarded` and `crashed` are None where a service does not count them.
    `is_open`: a program drives it now. `holdout` is None where nothing is kept back from it.
    """

    skill: str
    name: str
    segment: int
    metric_name: str
    metric_unit: str
    direction: Direction
    state: SessionState
    count: int
    cap: int
    crashes_in_row: int = 0
    kept: int | None = None
    discarded: int | None = None
    crashed: int | None = None
    baseline: float | None = None
    best: float | None = None
    best_number: int | None = None
    confidence: float | None = None
    near_cap: bool = False
    why: str = ""
    warning: str = ""
    started_at: Timestamp | None = None
    last_at: Timestamp | None = None
    repository: str = ""
    branch: str = ""
    file: str = ""
    agent: str = ""
    run: ExperimentRunView | None = None
    is_open: bool = False
    allows_shell: bool = False
    holdout: HoldoutView | None = None

    @property
    def key(self) -> str:
        """Identity of the row: one skill of one agent has one session at a time."""
        return f"{self.agent}:{self.skill}"

    @property
    def gain(self) -> float | None:
        """Improvement of the best over the baseline, as a fraction; above 0 is better."""
        return better_by(self.best, self.baseline, self.direction)


def better_by(one: float | None, other: float | None, direction: Direction) -> float | None:
    """Improvement of `one` over `other`, as a fraction; None if undefined."""
    if one is None or other is None or not other:
        return None
    change = (one - other) / abs(other)
    return change if direction is Direction.HIGHER else -change


@dataclass(frozen=True, slots=True)
class BacktestPoint:
    """Result of one combination of thresholds. `win_rate` 0 to 1."""

    config: tuple[tuple[str, float], ...]
    included: int
    excluded: int
    pnl: Micros
    win_rate: float | None
    improvement: float | None


@dataclass(frozen=True, slots=True)
class BacktestView:
    """Trades of a skill, replayed under thresholds.

    `original` is what they brought without them. `improvement` is a fraction, None where the
    original is 0. `message` describes what makes the figures mean something, or nothing. `points`
    are those of a sweep in the order of the grid; empty without one.
    """

    request_id: int
    skill: str
    venue: Venue
    days: int
    at: Timestamp
    total: int
    original: Micros
    point: BacktestPoint
    message: str = ""
    unknown_keys: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    points: tuple[BacktestPoint, ...] = ()
    best: BacktestPoint | None = None


@dataclass(frozen=True, slots=True)
class DiffView:
    """Diff of a session's commit. `text` is plain; `problem` is why it is missing."""

    key: str
    commit: str
    text: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """An evaluation of skills on this machine, by its name; `at` is when it ended.

    `report` is None where it cannot be read, with the reason in `problem`.
    """

    name: str
    at: Timestamp
    report: EvaluationReport | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Sessions and experiments of one source, newest first."""

    sessions: tuple[SessionView, ...] = ()
    experiments: tuple[ExperimentView, ...] = ()


@dataclass(frozen=True, slots=True)
class ResearchView:
    """Sessions and experiments, newest first, with the latest requested backtest and diff.

    `needs_plan`: the service answers nothing without a Pro plan. `request_id` is that of the
    backtest in flight, 0 for none; `problem` is why the last one failed. `from_service` and
    `from_files` are the two sources; `sessions` and `experiments` merge them. `evaluations` are
    the newest first; None before they were read.
    """

    sessions: tuple[SessionView, ...] = ()
    experiments: tuple[ExperimentView, ...] = ()
    from_service: Source = field(default_factory=Source)
    from_files: Source = field(default_factory=Source)
    backtest: BacktestView | None = None
    diff: DiffView | None = None
    needs_plan: bool = False
    request_id: int = 0
    problem: str = ""
    evaluations: tuple[EvaluationView, ...] | None = None

    def session(self, key: str) -> SessionView | None:
        """The session with this row key."""
        return next((one for one in self.sessions if one.key == key), None)

    def of(self, session: SessionView) -> tuple[ExperimentView, ...]:
        """The experiments of a session's skill, newest first."""
        return tuple(
            one
            for one in self.experiments
            if one.skill == session.skill and one.agent == session.agent
        )


@dataclass(frozen=True, slots=True)
class ResearchSeen:
    """Sessions and newest experiments of the service were read; `needs_plan`.

    The plan lacks them.
    """

    source: Source
    needs_plan: bool = False


@dataclass(frozen=True, slots=True)
class FilesSeen:
    """Session files of this machine were read, with running commands."""

    source: Source


@dataclass(frozen=True, slots=True)
class BacktestRequested:
    """A backtest is on its way; 0: none is."""

    request_id: int


@dataclass(frozen=True, slots=True)
class BacktestSeen:
    """A backtest ended with figures, or with a `problem`."""

    request_id: int
    backtest: BacktestView | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationsSeen:
    """The evaluations of this machine were read, newest first."""

    evaluations: tuple[EvaluationView, ...]


ResearchFact = (
    ResearchSeen
    | FilesSeen
    | BacktestRequested
    | BacktestSeen
    | EvaluationsSeen
    | Loaded
    | Changed
    | Removed
)
"""Every fact of this subject."""


EXPERIMENTS_MAX: Final = 1_000
"""What the state keeps of endless things; files and service keep the rest."""


def reduce_research(  # noqa: PLR0911  (one line a kind)
    research: ResearchView, fact: ResearchFact
) -> ResearchView:
    """The slice after a fact."""
    match fact:
        case ResearchSeen():
            source = research.from_service if fact.needs_plan else fact.source
            merged = replace(research, from_service=source, needs_plan=fact.needs_plan)
            return research if merged == research else _merged(merged)
        case FilesSeen():
            if fact.source == research.from_files:
                return research
            return _merged(replace(research, from_files=fact.source))
        case BacktestRequested():
            return replace(research, request_id=fact.request_id, problem="")
        case BacktestSeen():
            if fact.request_id != research.request_id:
                return research
            shown = fact.backtest or research.backtest
            return replace(research, backtest=shown, request_id=0, problem=fact.problem)
        case EvaluationsSeen():
            return replace(research, evaluations=fact.evaluations)
        case _:
            return replace(research, diff=changed(fact, DiffView))


def _merged(research: ResearchView) -> ResearchView:
    """The slice with one row for what both places know."""
    service, files = research.from_service, research.from_files
    rows = _experiments(service, files)
    sessions = tuple(_counted(one, rows) for one in _sessions(service, files))
    return replace(research, sessions=sessions, experiments=rows)


def _counted(session: SessionView, rows: Iterable[ExperimentView]) -> SessionView:
    """A session whose service does not count by outcome: counted, if all its rows are here."""
    if session.kept is not None:
        return session
    place = session.agent, session.skill, session.segment
    statuses = [one.status for one in rows if (one.agent, one.skill, one.segment) == place]
    if len(statuses) != session.count:
        return session
    return replace(
        session,
        kept=statuses.count(ExperimentStatus.KEEP),
        discarded=statuses.count(ExperimentStatus.DISCARD),
        crashed=sum(status.is_crash for status in statuses),
    )


def _sessions(service: Source, files: Source) -> tuple[SessionView, ...]:
    merged = {one.key: one for one in service.sessions}
    for one in files.sessions:
        other = merged.get(one.key)
        is_behind = other is not None and (other.segment, other.count) > (one.segment, one.count)
        merged[one.key] = _of_both(other, one) if other is not None and is_behind else one
    return tuple(sorted(merged.values(), key=lambda one: -(one.last_at or one.started_at or 0.0)))


def _of_both(service: SessionView, files: SessionView) -> SessionView:
    """The service's session with the repository and running command from its file."""
    return replace(
        service,
        repository=files.repository,
        branch=files.branch,
        file=files.file,
        run=files.run,
        is_open=files.is_open,
        allows_shell=files.allows_shell,
        warning=files.warning,
        holdout=files.holdout,
    )


def _experiments(service: Source, files: Source) -> tuple[ExperimentView, ...]:
    known = {one.ref for one in service.experiments if one.ref}
    rows = [*service.experiments, *(one for one in files.experiments if one.ref not in known)]
    rows.sort(key=lambda one: (-one.at, -one.number))
    return marked(rows[:EXPERIMENTS_MAX])


def marked(rows: Iterable[ExperimentView]) -> tuple[ExperimentView, ...]:
    """Rows, newest first, with their changes against the baseline and the best of their segment."""
    rows = tuple(rows)
    baseline: dict[tuple[str, str, int], float | None] = {}
    best: dict[tuple[str, str, int], ExperimentView] = {}
    for one in reversed(rows):
        place = (one.agent, one.skill, one.segment)
        baseline.setdefault(place, one.metric)
        if one.status is not ExperimentStatus.KEEP or one.metric is None:
            continue
        known = best.get(place)
        if (
            known is None
            or known.metric is None
            or one.direction.is_better(one.metric, known.metric)
        ):
            best[place] = one
    return tuple(
        _marked(one, baseline[one.agent, one.skill, one.segment],
                best.get((one.agent, one.skill, one.segment)))
        for one in rows
    )  # fmt: skip


def _marked(
    experiment: ExperimentView, baseline: float | None, best: ExperimentView | None
) -> ExperimentView:
    return replace(
        experiment,
        change=better_by(experiment.metric, baseline, experiment.direction),
        behind=None
        if best is None
        else better_by(experiment.metric, best.metric, experiment.direction),
        is_best=best is not None and best.key == experiment.key,
    )

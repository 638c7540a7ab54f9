"""Bodies of autoresearch: experiments, session states, backtests.

Source: spec, "Autoresearch session", "Autoresearch experiment tool parameters"; wire reference, 2.6
and 9.2.
"""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from service_tui.experiments import CAP_DEFAULT
from service_tui.terms import (
    DAYS_DEFAULT,
    DAYS_MAX,
    EXPERIMENTS_PAGE_MAX,
    GRID_MAX,
    ID_PATTERN,
    SLUG_PATTERN,
    THRESHOLD_PATTERN,
    Direction,
    ExperimentStatus,
    SessionState,
    Venue,
)
from service_tui.wire.base import (
    COUNT_MAX,
    Amount,
    AnyVenue,
    Count,
    LenientModel,
    Line,
    Moment,
    Money,
    Prose,
    SentLine,
    SentProse,
    WireModel,
    type_venue,
)

METRICS_MAX: Final = 64
METRIC_LETTERS_MAX: Final = 64
THRESHOLDS_MAX: Final = 16
FIGURE_MAX: Final = 1e15
# ours: bounds of what one call may carry; a metric may be more than any amount of money.

Slug = Annotated[
    str,
    StringConstraints(pattern=rf"^{SLUG_PATTERN}$"),
    Field(description="a skill's slug"),
]
Figure = Annotated[float, Field(ge=-FIGURE_MAX, le=FIGURE_MAX)]
MetricName = Annotated[str, StringConstraints(min_length=1, max_length=METRIC_LETTERS_MAX)]
Metrics = Annotated[dict[MetricName, Figure], Field(max_length=METRICS_MAX)]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{4,64}$")]
Reference = Annotated[str, StringConstraints(pattern=rf"^{ID_PATTERN}$")]
KeyName = Annotated[str, StringConstraints(pattern=rf"^{THRESHOLD_PATTERN}$")]
Config = Annotated[
    dict[KeyName, Figure],
    Field(
        max_length=THRESHOLDS_MAX,
        description="min_x at least, max_x at most, x at least",
        json_schema_extra={"additionalProperties": False},
    ),
]
Values = Annotated[tuple[Figure, ...], Field(min_length=1, max_length=GRID_MAX)]
Grid = Annotated[
    dict[KeyName, Values],
    Field(
        max_length=THRESHOLDS_MAX,
        description="values of each threshold to try",
        json_schema_extra={"additionalProperties": False},
    ),
]


class ExperimentRequest(WireModel):
    """One result. Source: wire reference, 9.2, "POST experiments body"."""

    skill_slug: Slug
    experiment_number: Annotated[int, Field(ge=1, le=COUNT_MAX)]
    segment: Count = 0
    status: ExperimentStatus
    metric_name: SentLine = "pnl"
    # Null where a crash has no figure.
    metric_value: Figure | None = None
    metric_unit: SentLine = ""
    best_direction: Direction = Direction.HIGHER
    secondary_metrics: Metrics = Field(default_factory=dict[str, float])
    description: SentProse = ""
    commit_hash: Commit | None = None
    # ours: the session's name, and how many experiments it may have (0: any number).
    session: SentLine = ""
    max_experiments: Count = CAP_DEFAULT
    # ours: a result that is sent again under the same reference is the same result.
    client_ref: Reference | None = None


class ExperimentLoggedBody(LenientModel):
    """A result is kept, or was already.

    `status_mismatch`: kept although it is no new best, or discarded although it is one.
    `prior_best_value`: the best kept before it, None for the first of its segment.
    """

    id: Line
    experiment_number: Count
    is_new_best: bool = False
    status_mismatch: bool = False
    zero_metric_keep: bool = False
    prior_best_value: Figure | None = None
    latest_version: Line | None = None
    # ours: it was here before, and nothing was added.
    already_known: bool = False


class ExperimentsQuery(WireModel):
    """Which results, and how many of the newest."""

    skill_slug: Slug | None = None
    limit: Annotated[int, Field(ge=1, le=EXPERIMENTS_PAGE_MAX)] = 100
    offset: Count = 0


class ExperimentBody(LenientModel):
    """A result, read back. `is_new_best`: it was the best of its segment when it was kept."""

    id: Line
    skill_slug: Line
    experiment_number: Count
    segment: Count = 0
    status: ExperimentStatus
    metric_name: Line = ""
    metric_value: Figure | None = None
    metric_unit: Line = ""
    best_direction: Direction = Direction.HIGHER
    secondary_metrics: dict[str, float] = Field(default_factory=dict[str, float])
    description: Prose = ""
    commit_hash: Line | None = None
    created_at: Moment
    session: Line = ""
    is_new_best: bool = False
    client_ref: Line | None = None
    # ours: whose it is, for the operator.
    agent_id: Line = ""
    agent_name: Line = ""


class ExperimentsBody(LenientModel):
    """Results, newest first."""

    experiments: tuple[ExperimentBody, ...] = ()
    total_count: Count = 0


class StateQuery(WireModel):
    """Of which skill; without one, of the skill that had the last experiment."""

    skill_slug: Slug | None = None


class StateBody(LenientModel):
    """Where a skill's session stands; numbers of 0 where there was no experiment yet.

    Figures but `last_experiment_number` are of the current segment.
    """

    skill_slug: Line | None = None
    last_experiment_number: Count = 0
    current_segment: Count = 0
    best_metric: Figure | None = None
    best_direction: Direction = Direction.HIGHER
    metric_name: Line | None = None
    metric_unit: Line | None = None
    # ours: the rest of what a new process must know, and a person wants to.
    session: Line = ""
    state: SessionState = SessionState.RUNNING
    why: Line = ""
    experiment_count: Count = 0
    max_experiments: Count = CAP_DEFAULT
    near_cap: bool = False
    consecutive_crashes: Count = 0
    baseline_metric: Figure | None = None
    best_number: Count | None = None
    kept_count: Count | None = None
    discarded_count: Count | None = None
    crashed_count: Count | None = None
    last_at: Moment | None = None
    agent_id: Line = ""
    agent_name: Line = ""


class SessionRequest(WireModel):
    """ours: a session begins; the service knows so before the first result, and clears a pause."""

    skill_slug: Slug
    session: SentLine
    segment: Count = 0
    metric_name: SentLine = "pnl"
    metric_unit: SentLine = ""
    best_direction: Direction = Direction.HIGHER
    max_experiments: Count = CAP_DEFAULT


class ResearchBody(LenientModel):
    """ours: the newest results of all agents, and their sessions, newest first."""

    experiments: tuple[ExperimentBody, ...] = ()
    sessions: tuple[StateBody, ...] = ()
    total_count: Count = 0


class BacktestRequest(WireModel):
    """Thresholds to replay the trades of a skill under. `sweep` asks for a grid of them."""

    skill_slug: Slug
    config: Config
    days: Annotated[int, Field(ge=1, le=DAYS_MAX)] = DAYS_DEFAULT
    venue: Annotated[
        Literal[Venue.SIM, Venue.EVM],
        type_venue,
    ] = Venue.SIM
    # ours: every combination of these values, each beside `config`.
    sweep: Grid | None = None


class BacktestPointBody(LenientModel):
    """What one combination of thresholds would have brought."""

    config: dict[str, float] = Field(default_factory=dict[str, float])
    trades_included: Count = 0
    trades_excluded: Count = 0
    simulated_pnl: Money = 0.0
    win_rate: Amount | None = None
    improvement_pct: Figure | None = None


class BacktestBody(LenientModel):
    """What the thresholds would have brought. Money in units of the venue.

    `win_rate` is 0 to 1, of the trades included whose end is known; `improvement_pct` null where
    the original P&L is 0. `trades_total` are those that carry `signal_data`; what is not decided
    yet counts at the prices of now.
    """

    trades_total: Count = 0
    trades_included: Count = 0
    trades_excluded: Count = 0
    simulated_pnl: Money = 0.0
    original_pnl: Money = 0.0
    win_rate: Amount = 0.0
    improvement_pct: Figure | None = None
    # ours: what makes the figures above mean something, or nothing.
    message: Prose = ""
    trades_without_signal: Count = 0
    trades_open: Count = 0
    unknown_keys: tuple[Line, ...] = ()
    keys: tuple[Line, ...] = ()
    days: Count = DAYS_DEFAULT
    venue: AnyVenue = Venue.SIM
    skill_slug: Line = ""
    points: tuple[BacktestPointBody, ...] = ()
    best: BacktestPointBody | None = None

"""Arguments of the four tools, as a client of the MCP server sends them.

Source: spec, "Autoresearch experiment tool parameters"; the optional extras of published clients:
wire reference, section 0.
"""

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, StringConstraints

from service_tui.terms import (
    DAYS_DEFAULT,
    DAYS_MAX,
    LINE_MAX,
    PROSE_MAX,
    Direction,
    ExperimentStatus,
    Venue,
)
from service_tui.wire.base import WireModel, type_venue
from service_tui.wire.research import (
    Config,
    Figure,
    Metrics,
    Slug,
)

TIMEOUT_DEFAULT_S: Final = 300.0
"""Source: spec, "Limits", "run_experiment timeout"."""

TIMEOUT_MAX_S: Final = 3_600.0
COMMAND_MAX: Final = 10_000
UNIT_MAX: Final = 32
COMMIT_MAX: Final = 64
# ours: an hour, and a command that is no program of its own.

Name = Annotated[str, StringConstraints(min_length=1, max_length=LINE_MAX, pattern=r"\S")]
Seconds = Annotated[float, Field(gt=0, le=TIMEOUT_MAX_S)]


class Arguments(WireModel):
    """Arguments of a tool: a name that is not known is an error, which says so at once."""

    model_config = ConfigDict(extra="forbid")


class InitArguments(Arguments):
    """`init_experiment`."""

    name: Annotated[Name, Field(description="session name; a new one begins a fresh baseline")]
    skill_slug: Annotated[Slug, Field(description="registry slug of the skill to optimize")]
    metric_name: Annotated[Name, Field(description="for example pnl, avg_edge")]
    metric_unit: Annotated[str, StringConstraints(max_length=UNIT_MAX)] = "$"
    direction: Direction = Direction.HIGHER


class RunArguments(Arguments):
    """`run_experiment`."""

    command: Annotated[
        str,
        StringConstraints(min_length=1, max_length=COMMAND_MAX, pattern=r"\S"),
        Field(description="shell command to run in the session's worktree"),
    ]
    timeout: Annotated[Seconds, Field(description="seconds")] = TIMEOUT_DEFAULT_S
    timeout_seconds: Annotated[Seconds | None, Field(description="the same, an older name")] = None

    @property
    def deadline_s(self) -> float:
        """Seconds that the command may take."""
        return self.timeout if self.timeout_seconds is None else self.timeout_seconds


class LogArguments(Arguments):
    """`log_experiment`."""

    status: Annotated[ExperimentStatus, Field(description="keep, discard or crash")]
    metric: Figure
    description: Annotated[
        str,
        StringConstraints(min_length=1, max_length=PROSE_MAX, pattern=r"\S"),
        Field(description="what was tried and what happened"),
    ]
    secondary_metrics: Metrics | None = None
    metrics: Annotated[Metrics | None, Field(description="the same, an older name")] = None
    commit: Annotated[str, StringConstraints(max_length=COMMIT_MAX)] | None = None
    asi: dict[str, str | float | int | bool | None] | None = None
    force: Annotated[bool, Field(description="take in secondary metrics of other names")] = False


class BacktestArguments(Arguments):
    """`backtest_experiment`."""

    skill_slug: Annotated[Slug, Field(description="skill to backtest")]
    config: Annotated[Config, Field(description="thresholds, for example min_edge")]
    days: Annotated[int, Field(ge=1, le=DAYS_MAX)] = DAYS_DEFAULT
    venue: Annotated[Literal[Venue.SIM, Venue.EVM], type_venue] = Venue.SIM

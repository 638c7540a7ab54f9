"""The stored report of an evaluation: every field of `report.json`. Pure.

Money is in units; a figure is None where it is undefined; an interval is both its ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

SCHEMA: Final = "service-tui/evaluation/1"
Figure = float | None
Ends = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class TrialReport:
    """One trial. Times are Unix seconds; `history` is None for an invented world.

    `ended` says why it ended before its time. `is_fenced`: the recording was closed to the skill.
    `curve` is time and equity, by the hour.
    """

    name: str
    history: str | None
    seed: int
    begins_at: float
    ends_at: float
    every_s: float
    budget: float
    rounds: int
    failed_rounds: int
    skipped_rounds: int
    ended: str | None
    errors: Mapping[str, int]
    refusals: Mapping[str, int]
    left_behind: int
    is_fenced: bool
    total_return: Figure
    max_drawdown: Figure
    under_water_s: Figure
    sharpe: Figure
    sortino: Figure
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """Forecasts between two probabilities."""

    low: float
    high: float
    forecasts: int
    stated: float
    came: float
    interval: Ends


@dataclass(frozen=True, slots=True)
class EdgeReport:
    """Buys with about the same claimed edge."""

    buys: int
    claimed: float
    realised: float


@dataclass(frozen=True, slots=True)
class GroupReport:
    """A group of markets that were bought."""

    name: str
    buys: int
    bought: float
    pnl: float


@dataclass(frozen=True, slots=True)
class SkillReport:
    """What one skill came to in its trials; `controls` is the P&L of random traders, ascending."""

    skill: str
    verdict: str
    trials: tuple[TrialReport, ...]
    trades: int
    events: int
    bought: float
    pnl: float
    roi: Figure
    roi_interval: Ends
    turnover: float
    slippage: float
    forecasts: int
    brier: Figure
    market_brier: Figure
    log_loss: Figure
    market_log_loss: Figure
    skill_score: Figure
    skill_interval: Ends
    closing_line: Figure
    controls_beaten: int
    controls: tuple[float, ...]
    calibration: tuple[CalibrationReport, ...]
    edges: tuple[EdgeReport, ...]
    groups: Mapping[str, tuple[GroupReport, ...]]


@dataclass(frozen=True, slots=True)
class DifferenceReport:
    """By how much the first skill made more than the other."""

    first: str
    other: str
    more: float
    interval: Ends


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The whole report; `schema` names its form."""

    # What reads it takes finite numbers alone.
    __pydantic_config__: ClassVar[dict[str, object]] = {"allow_inf_nan": False, "extra": "ignore"}

    schema: str
    skills: tuple[SkillReport, ...]
    differences: tuple[DifferenceReport, ...]

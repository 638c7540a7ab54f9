"""The rules of a series of experiments: when it pauses, when it is full, what is best.

Source: spec, "Autoresearch session", "Limits"; wire reference, 9.2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from service_tui.terms import Direction, ExperimentStatus, SessionState

CRASHES_MAX: Final = 3
"""In a row, and the session pauses."""

JUDGED_TEXT: Final = "the held-back figure counts: a worse one means overfitting"
"""Said below what a session came to on time that was kept back from it."""

CAP_DEFAULT: Final = 50
WARN_SHARE: Final = 0.8
CONFIDENCE_NEEDS: Final = 3
"""Number of figures below which a spread means nothing."""

CLEARS: Final = "a session with a new name clears it"


class Result(NamedTuple):
    """Result of one experiment. `metric` is None if it crashed without a figure."""

    status: ExperimentStatus
    metric: float | None


@dataclass(frozen=True, slots=True)
class SeriesState:
    """State of a series after its results.

    `why` is the reason why it is not running, and what clears it. `best` is the best kept metric
    and `best_index` its place in the series; `baseline` the figure of the first result.
    `confidence` is how far the best is from the baseline in spreads of all figures: 2 is likely
    real, below 1 is noise; None if it cannot be computed.
    """

    state: SessionState
    why: str
    count: int
    crashes_in_row: int
    kept: int
    discarded: int
    crashed: int
    baseline: float | None
    best: float | None
    best_index: int | None
    near_cap: bool
    confidence: float | None


def warns_at(cap: int) -> int:
    """The count at which the agent is warned; 0 for a series without an end."""
    return int(WARN_SHARE * cap)


def standing(results: Sequence[Result], *, cap: int, direction: Direction) -> SeriesState:
    """State of a series. `cap` is its maximum number of results, 0 for no maximum."""
    count = len(results)
    why = _pause_of(results)
    state = SessionState.PAUSED if why else SessionState.RUNNING
    if not why and cap and count >= cap:
        state = SessionState.CAPPED
        why = f"{count} of {cap} experiments are done; a session with a new name counts anew"
    best_index = best_of(results, direction)
    best = None if best_index is None else results[best_index].metric
    baseline = results[0].metric if results else None
    statuses = [result.status for result in results]
    return SeriesState(
        state=state,
        why=why,
        count=count,
        crashes_in_row=_crashes_at_end(results),
        kept=statuses.count(ExperimentStatus.KEEP),
        discarded=statuses.count(ExperimentStatus.DISCARD),
        crashed=sum(status.is_crash for status in statuses),
        baseline=baseline,
        best=best,
        best_index=best_index,
        near_cap=bool(cap) and count >= max(1, warns_at(cap)),
        confidence=_confidence(results, baseline, best),
    )


def best_of(results: Sequence[Result], direction: Direction) -> int | None:
    """Index of the best kept result, the earliest of equals; None without one."""
    best: int | None = None
    best_metric = 0.0
    for index, (status, metric) in enumerate(results):
        if status is not ExperimentStatus.KEEP or metric is None:
            continue
        if best is None or direction.is_better(metric, best_metric):
            best, best_metric = index, metric
    return best


def _pause_of(results: Sequence[Result]) -> str:
    """Reason why the series is paused; a pause lasts until a new series begins."""
    if results and results[0].status.is_crash:
        return f"the first experiment crashed, so the skill is presumed misconfigured; {CLEARS}"
    in_row = 0
    for result in results:
        in_row = in_row + 1 if result.status.is_crash else 0
        if in_row >= CRASHES_MAX:
            return f"{CRASHES_MAX} experiments crashed in a row; {CLEARS}"
    return ""


def _crashes_at_end(results: Sequence[Result]) -> int:
    in_row = 0
    for result in reversed(results):
        if not result.status.is_crash:
            break
        in_row += 1
    return in_row


def _confidence(
    results: Sequence[Result], baseline: float | None, best: float | None
) -> float | None:
    """|best - baseline| over the median absolute deviation of the figures above 0."""
    figures = [metric for _, metric in results if metric is not None and metric > 0]
    if baseline is None or best is None or len(figures) < CONFIDENCE_NEEDS:
        return None
    middle = _median(figures)
    spread = _median([abs(figure - middle) for figure in figures])
    confidence = abs(best - baseline) / spread if spread else math.inf
    return confidence if math.isfinite(confidence) else None


def _median(figures: Sequence[float]) -> float:
    ordered = sorted(figures)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2

"""How the slice of autoresearch changes: (slice, fact) -> slice. Pure.

Knows the slice and its facts. Must not know wire, network, time.
Used by desk.reduce.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, assert_never

from service_tui.desk.facts_research import (
    BacktestAsked,
    BacktestSeen,
    DiffSeen,
    FilesSeen,
    ResearchFact,
    ResearchSeen,
)
from service_tui.desk.records_research import (
    ExperimentView,
    ResearchView,
    SessionView,
    Source,
    better_by,
)
from service_tui.terms import ExperimentStatus

EXPERIMENTS_MAX: Final = 1_000
"""What the state keeps of endless things; files and service keep the rest."""


def reduce_research(  # noqa: PLR0911  (one line a kind)
    research: ResearchView, fact: ResearchFact
) -> ResearchView:
    """The slice after a fact."""
    match fact:
        case ResearchSeen():
            told = research.told if fact.needs_plan else fact.told
            changed = replace(research, told=told, needs_plan=fact.needs_plan)
            return research if changed == research else _merged(changed)
        case FilesSeen():
            if fact.filed == research.filed:
                return research
            return _merged(replace(research, filed=fact.filed))
        case BacktestAsked():
            return replace(research, asking=fact.request_id, words="")
        case BacktestSeen():
            if fact.request_id != research.asking:
                return research
            shown = fact.backtest or research.backtest
            return replace(research, backtest=shown, asking=0, words=fact.words)
        case DiffSeen():
            return replace(research, diff=fact.diff)
        case _:
            assert_never(fact)


def _merged(research: ResearchView) -> ResearchView:
    """The slice with one row for what both places know."""
    told, filed = research.told, research.filed
    return replace(
        research,
        sessions=_sessions(told, filed),
        experiments=_experiments(told, filed),
    )


def _sessions(told: Source, filed: Source) -> tuple[SessionView, ...]:
    merged = {one.key: one for one in told.sessions}
    for one in filed.sessions:
        other = merged.get(one.key)
        is_behind = other is not None and (other.segment, other.count) > (one.segment, one.count)
        merged[one.key] = _of_both(other, one) if other is not None and is_behind else one
    return tuple(sorted(merged.values(), key=lambda one: -(one.last_at or one.started_at or 0.0)))


def _of_both(told: SessionView, filed: SessionView) -> SessionView:
    """What the service knows better, with where it works and what runs there."""
    return replace(
        told,
        repository=filed.repository,
        branch=filed.branch,
        file=filed.file,
        run=filed.run,
        is_open=filed.is_open,
        allows_shell=filed.allows_shell,
        warning=filed.warning,
    )


def _experiments(told: Source, filed: Source) -> tuple[ExperimentView, ...]:
    known = {one.ref for one in told.experiments if one.ref}
    rows = [*told.experiments, *(one for one in filed.experiments if one.ref not in known)]
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
        held = best.get(place)
        if held is None or held.metric is None or one.direction.is_better(one.metric, held.metric):
            best[place] = one
    return tuple(
        _marked(one, baseline[one.agent, one.skill, one.segment],
                best.get((one.agent, one.skill, one.segment)))
        for one in rows
    )  # fmt: skip


def _marked(
    one: ExperimentView, baseline: float | None, best: ExperimentView | None
) -> ExperimentView:
    return replace(
        one,
        change=better_by(one.metric, baseline, one.direction),
        behind=None if best is None else better_by(one.metric, best.metric, one.direction),
        is_best=best is not None and best.key == one.key,
    )

"""Experiments, sessions and backtests of the wire, and of files, as views."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from service_tui.desk.slices.research import (
    BacktestPoint,
    BacktestView,
    ExperimentRunView,
    ExperimentView,
    HoldoutView,
    SessionView,
    Source,
)
from service_tui.desk.wire_values import amount
from service_tui.experiments import SeriesState
from service_tui.notes.notebook import COMMIT_SHORT, Config, Logged, Notes
from service_tui.notes.registry import Live, RegistryEntry
from service_tui.terms import ExperimentStatus, SessionState
from service_tui.units import Micros, Timestamp
from service_tui.wire.base import timestamp
from service_tui.wire.research import (
    BacktestBody,
    BacktestPointBody,
    ExperimentBody,
    ResearchBody,
    StateBody,
)
from service_tui.wire.text import line, prose

OFF_TEXT: Final = "turned off; a new session turns it on"
THOUSAND: Final = 1_000


def source_view(body: ResearchBody) -> Source:
    """Sessions and experiments of the service."""
    return Source(
        tuple(session_view(one) for one in body.sessions if one.skill_slug),
        tuple(experiment_view(one) for one in body.experiments),
    )


def session_view(body: StateBody) -> SessionView:
    """One session, as its service counts it."""
    return SessionView(
        skill=body.skill_slug or "",
        name=body.session,
        segment=body.current_segment,
        metric_name=body.metric_name or "",
        metric_unit=body.metric_unit or "",
        direction=body.best_direction,
        state=body.state,
        count=body.experiment_count,
        cap=body.max_experiments,
        crashes_in_row=body.consecutive_crashes,
        kept=body.kept_count,
        discarded=body.discarded_count,
        crashed=body.crashed_count,
        baseline=body.baseline_metric,
        best=body.best_metric,
        best_number=body.best_number,
        near_cap=body.near_cap,
        why=body.why,
        last_at=None if body.last_at is None else timestamp(body.last_at),
        agent=body.agent_id,
    )


def experiment_view(body: ExperimentBody) -> ExperimentView:
    """One experiment; only a kept one has a commit of its own."""
    is_kept = body.status is ExperimentStatus.KEEP
    return ExperimentView(
        skill=body.skill_slug,
        segment=body.segment,
        number=body.experiment_number,
        status=body.status,
        metric=body.metric_value,
        description=body.description,
        at=timestamp(body.created_at),
        metrics=body.secondary_metrics,
        commit=(body.commit_hash or "")[:COMMIT_SHORT] if is_kept else "",
        session=body.session,
        agent=body.agent_id,
        metric_name=body.metric_name,
        metric_unit=body.metric_unit,
        direction=body.best_direction,
        ref=body.client_ref or body.id,
    )


# -- files ---------------------------------------------------------------------------------


def file_view(
    entry: RegistryEntry, notes: Notes, holdouts: Mapping[str, HoldoutView], *, is_open: bool
) -> Source:
    """Sessions and experiments of one repository's file, with its running command.

    `holdouts` is what is kept back, by skill.
    """
    skills = list(dict.fromkeys(one.skill for one in notes.configs))
    configs = [config for skill in skills if (config := notes.config_of(skill)) is not None]
    return Source(
        tuple(
            replace(
                _file_session(entry, notes, config, is_open=is_open),
                holdout=holdouts.get(config.skill),
            )
            for config in configs
        ),
        tuple(_file_experiment(one, entry) for one in reversed(notes.results)),
    )


def _file_session(
    entry: RegistryEntry, notes: Notes, config: Config, *, is_open: bool
) -> SessionView:
    series: SeriesState = notes.standing_of(config)
    results = notes.results_of(config)
    is_off = config.skill in notes.off
    is_its = entry.skill == config.skill
    last = results[-1].timestamp_ms if results else config.started_ms
    best = None if series.best_index is None else results[series.best_index].run
    return SessionView(
        skill=config.skill,
        name=line(config.name),
        segment=config.segment,
        metric_name=line(config.metric_name),
        metric_unit=line(config.metric_unit),
        direction=config.direction,
        state=SessionState.PAUSED if is_off else series.state,
        count=series.count,
        cap=config.cap,
        crashes_in_row=series.crashes_in_row,
        kept=series.kept,
        discarded=series.discarded,
        crashed=series.crashed,
        baseline=series.baseline,
        best=series.best,
        best_number=best,
        confidence=series.confidence,
        near_cap=series.near_cap,
        why=OFF_TEXT if is_off else series.why,
        warning=line(entry.warning) if is_its else "",
        started_at=Timestamp(config.started_ms / THOUSAND) if config.started_ms else None,
        last_at=Timestamp(last / THOUSAND) if last else None,
        repository=line(entry.repository, limit=1_000),
        branch=f"autoresearch/{config.skill}",
        agent=line(entry.agent_id),
        run=run_view(entry.live) if entry.live is not None and is_its else None,
        is_open=is_open and is_its,
        allows_shell=entry.allows_shell,
    )


def _file_experiment(result: Logged, entry: RegistryEntry) -> ExperimentView:
    config = result.config
    is_kept = result.status is ExperimentStatus.KEEP
    return ExperimentView(
        skill=config.skill,
        segment=result.segment,
        number=result.run,
        status=result.status,
        metric=result.metric,
        description=prose(result.description),
        at=Timestamp(result.timestamp_ms / THOUSAND),
        metrics={line(name): value for name, value in result.metrics.items()},
        commit=line(result.commit)[:COMMIT_SHORT] if is_kept else "",
        synced=False,
        session=line(config.name),
        agent=line(entry.agent_id),
        metric_name=line(config.metric_name),
        metric_unit=line(config.metric_unit),
        direction=config.direction,
        ref=result.ref,
    )


def run_view(live: Live) -> ExperimentRunView:
    """A command that runs, or ran last."""
    return ExperimentRunView(
        command=line(live.command, limit=1_000),
        started_at=Timestamp(live.started_at),
        deadline_s=live.deadline_s,
        tail=prose(live.tail, limit=16_000),
        ended_at=Timestamp(live.ended_at) if live.ended_at else None,
        exit_code=live.exit_code,
        timed_out=live.timed_out,
    )


# -- backtests -----------------------------------------------------------------------------


def backtest_view(body: BacktestBody, request_id: int, at: Timestamp) -> BacktestView:
    """Result of a backtest."""
    improvement = body.improvement_pct
    point = BacktestPoint(
        config=(),
        included=body.trades_included,
        excluded=body.trades_excluded,
        pnl=amount(body.simulated_pnl),
        win_rate=body.win_rate if body.trades_included else None,
        improvement=None if improvement is None else improvement / 100.0,
    )
    return BacktestView(
        request_id=request_id,
        skill=body.skill_slug,
        venue=body.venue,
        days=body.days,
        at=at,
        total=body.trades_total,
        original=Micros(amount(body.original_pnl)),
        point=point,
        message=body.message,
        unknown_keys=body.unknown_keys,
        keys=body.keys,
        points=tuple(_point(one) for one in body.points),
        best=None if body.best is None else _point(body.best),
    )


def _point(body: BacktestPointBody) -> BacktestPoint:
    improvement = body.improvement_pct
    return BacktestPoint(
        config=tuple(body.config.items()),
        included=body.trades_included,
        excluded=body.trades_excluded,
        pnl=amount(body.simulated_pnl),
        win_rate=body.win_rate,
        improvement=None if improvement is None else improvement / 100.0,
    )

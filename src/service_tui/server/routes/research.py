"""Autoresearch: experiments, where their sessions stand, backtests."""

import asyncio
from typing import Final

from service_tui.engine.agents import Agent
from service_tui.engine.events import ExperimentLogged
from service_tui.engine.limits import DAY_S
from service_tui.engine.world import World
from service_tui.server.refusals import invalid_items
from service_tui.server.replays import prices_of, read, thresholds_in, weigh
from service_tui.server.service import Asked, Routes
from service_tui.storage.entries import Wanted
from service_tui.terms import ExperimentStatus
from service_tui.wire.base import moment
from service_tui.wire.endpoints_research import (
    BACKTEST,
    DESK_RESEARCH,
    EXPERIMENTS,
    POST_EXPERIMENT,
    RESEARCH_STATE,
)
from service_tui.wire.research import (
    GRID_MAX,
    BacktestBody,
    BacktestRequest,
    ExperimentBody,
    ExperimentLoggedBody,
    ExperimentRequest,
    ExperimentsBody,
    ExperimentsQuery,
    ResearchBody,
    StateBody,
    StateQuery,
)

# -- experiments ---------------------------------------------------------------------------


async def post(asked: Asked) -> ExperimentLoggedBody:
    """Keep a result; one that is sent again, for want of an answer, is kept once."""
    said = asked.body_as(ExperimentRequest)
    research = asked.world.research
    wanted = ExperimentLogged(
        experiment_id=f"x{research.count + 1}",
        agent_id=asked.agent.agent_id,
        at=asked.now,
        skill=said.skill_slug,
        number=said.experiment_number,
        segment=said.segment,
        status=said.status,
        metric_name=said.metric_name,
        metric=said.metric_value,
        metric_unit=said.metric_unit,
        direction=said.best_direction,
        metrics=said.secondary_metrics,
        description=said.description,
        commit=said.commit_hash or "",
        session=said.session,
        cap=said.max_experiments,
        ref=said.client_ref or "",
    )
    keeper = asked.service.keeper
    keeper.check_whole()
    known = research.same(wanted)
    if known is not None:
        return _logged(asked, known, already_known=True)
    await keeper.commit(asked.world.note(wanted))
    return _logged(asked, wanted, already_known=False)


def _logged(asked: Asked, one: ExperimentLogged, *, already_known: bool) -> ExperimentLoggedBody:
    prior = asked.world.research.best_before(one)
    is_better = one.metric is not None and (
        prior is None or one.direction.is_better(one.metric, prior)
    )
    kept = one.status is ExperimentStatus.KEEP
    return ExperimentLoggedBody(
        id=one.experiment_id,
        experiment_number=one.number,
        is_new_best=kept and is_better,
        # Of the first there is nothing to be better than.
        status_mismatch=prior is not None
        and not one.status.is_crash
        and one.metric is not None
        and kept is not is_better,
        zero_metric_keep=kept and not one.metric,
        prior_best_value=prior,
        already_known=already_known,
    )


async def experiments(asked: Asked) -> ExperimentsBody:
    """The agent's results, newest first."""
    query = asked.query_as(ExperimentsQuery)
    rows = _of(asked.world, asked.agent, query)
    page = rows[query.offset : query.offset + query.limit]
    return ExperimentsBody(experiments=tuple(page), total_count=len(rows))


def _of(world: World, agent: Agent, query: ExperimentsQuery) -> list[ExperimentBody]:
    bests = world.research.new_bests(agent.agent_id)
    return [
        _body(one, agent, is_new_best=one.experiment_id in bests)
        for one in world.research.experiments(agent.agent_id, query.skill_slug)
    ]


def _body(one: ExperimentLogged, agent: Agent, *, is_new_best: bool) -> ExperimentBody:
    return ExperimentBody(
        id=one.experiment_id,
        skill_slug=one.skill,
        experiment_number=one.number,
        segment=one.segment,
        status=one.status,
        metric_name=one.metric_name,
        metric_value=one.metric,
        metric_unit=one.metric_unit,
        best_direction=one.direction,
        secondary_metrics=one.metrics,
        description=one.description,
        commit_hash=one.commit or None,
        created_at=moment(one.at),
        session=one.session,
        is_new_best=is_new_best,
        client_ref=one.ref or None,
        agent_id=agent.agent_id,
        agent_name=agent.settings.name,
    )


# -- state ---------------------------------------------------------------------------------


async def state(asked: Asked) -> StateBody:
    """Where a skill's session stands, for a process that begins."""
    agent = asked.agent
    wanted = asked.query_as(StateQuery).skill_slug
    skills = asked.world.research.skills(agent.agent_id)
    skill = wanted if wanted is not None else next(iter(skills), None)
    return StateBody() if skill is None else _state(asked.world, agent, skill)


def _state(world: World, agent: Agent, skill: str) -> StateBody:
    found = world.research.state(agent.agent_id, skill)
    last, stands = found.last, found.standing
    body = StateBody(
        skill_slug=skill,
        last_experiment_number=found.last_number,
        current_segment=found.segment,
        best_metric=stands.best,
        state=stands.state,
        why=stands.why,
        experiment_count=stands.count,
        max_experiments=found.cap,
        near_cap=stands.near_cap,
        consecutive_crashes=stands.crashes_in_row,
        baseline_metric=stands.baseline,
        best_number=found.best_number,
        agent_id=agent.agent_id,
        agent_name=agent.settings.name,
    )
    if last is None:
        return body
    return body.model_copy(
        update={
            "best_direction": last.direction,
            "metric_name": last.metric_name,
            "metric_unit": last.metric_unit,
            "session": last.session,
            "last_at": moment(last.at),
        }
    )


async def everything(asked: Asked) -> ResearchBody:
    """Sessions and results of all agents, newest first."""
    query = asked.query_as(ExperimentsQuery)
    world = asked.world
    rows: list[ExperimentBody] = []
    sessions: list[StateBody] = []
    for agent_id in world.research.by_agent:
        agent = world.agents[agent_id]
        rows += _of(world, agent, query)
        sessions += [
            _state(world, agent, skill)
            for skill in world.research.skills(agent_id)
            if query.skill_slug in {None, skill}
        ]
    rows.sort(key=lambda one: one.created_at, reverse=True)
    sessions.sort(key=lambda one: str(one.last_at), reverse=True)
    page = rows[query.offset : query.offset + query.limit]
    return ResearchBody(experiments=tuple(page), sessions=tuple(sessions), total_count=len(rows))


# -- backtest ------------------------------------------------------------------------------


async def backtest(asked: Asked) -> BacktestBody:
    """Replay what a skill bought, with the signals it had, under thresholds."""
    said = asked.body_as(BacktestRequest)
    grid = said.sweep or {}
    points = 1
    for values in grid.values():
        points *= len(values)
    if points > GRID_MAX:
        told = f"{points} combinations are too many; {GRID_MAX} at most"
        raise invalid_items([(("body", "sweep"), told, "too_long")])
    digest = asked.service.keeper.digest
    await digest.catch_up()
    thresholds = thresholds_in(said)
    wanted = Wanted(
        agent_id=asked.agent.agent_id,
        skill=said.skill_slug,
        venue=said.venue.value,
        since=asked.now - said.days * DAY_S,
    )
    found = await asyncio.to_thread(read, digest.entries, wanted, thresholds)
    prices = prices_of(asked.world, found, said.venue)
    return await asyncio.to_thread(weigh, said, thresholds, found, prices)


ROUTES: Final[Routes] = {
    POST_EXPERIMENT: post,
    EXPERIMENTS: experiments,
    RESEARCH_STATE: state,
    BACKTEST: backtest,
    DESK_RESEARCH: everything,
}

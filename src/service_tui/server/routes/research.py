"""Routes of autoresearch: experiments, session states, backtests."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.events import ExperimentLogged, SessionBegun
from service_tui.engine.exit_values import mark_of
from service_tui.engine.limits import DAY_S
from service_tui.engine.research.backtest import (
    Point,
    Replay,
    Replayed,
    Threshold,
    sweep,
    threshold_of,
    thresholds_of,
)
from service_tui.engine.world import World
from service_tui.server.http.refusals import invalid_items
from service_tui.server.http.service import RequestContext, Routes
from service_tui.storage.entries import Bound, EntryQuery, EntryStore, Replayable, Sums
from service_tui.terms import ExperimentStatus, Side, Venue
from service_tui.units import Micros, decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints.research import (
    BACKTEST,
    BEGIN_SESSION,
    DESK_RESEARCH,
    EXPERIMENTS,
    POST_EXPERIMENT,
    RESEARCH_STATE,
)
from service_tui.wire.research import (
    GRID_MAX,
    BacktestBody,
    BacktestPointBody,
    BacktestRequest,
    ExperimentBody,
    ExperimentLoggedBody,
    ExperimentRequest,
    ExperimentsBody,
    ExperimentsQuery,
    ResearchBody,
    SessionRequest,
    StateBody,
    StateQuery,
)

Prices = Mapping[str, float]
"""What a share of YES is worth now, by market; None of markets that are forgotten."""


@dataclass(frozen=True, slots=True)
class BacktestData:
    """What the database holds for a backtest.

    `sums` are all entries added up, and those that pass its config; `rows` every single one, for a
    sweep only. `keys` are figures that the newest carry, `unknown` those that none carries though
    a threshold asks for them; `silent` counts the buys that came without a signal.
    """

    sums: Sequence[Sums]
    rows: Sequence[Replayable]
    keys: tuple[str, ...]
    unknown: tuple[str, ...]
    silent: int

    @property
    def total(self) -> int:
        """Entries that carry signals."""
        return sum(one.bought for one in self.sums)


@dataclass(frozen=True, slots=True)
class BacktestThresholds:
    """All of a request: those of its config, those that hold throughout, those that are swept."""

    config: tuple[Threshold, ...]
    fixed: tuple[Threshold, ...]
    swept: tuple[Threshold, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Requested signals, each once."""
        return tuple(dict.fromkeys(one.key for one in (*self.config, *self.swept)))


def thresholds_in(request: BacktestRequest) -> BacktestThresholds:
    """The thresholds of a request: swept keys vary, the others stay fixed."""
    grid = request.sweep or {}
    return BacktestThresholds(
        config=thresholds_of(request.config),
        fixed=thresholds_of({key: one for key, one in request.config.items() if key not in grid}),
        swept=tuple(threshold_of(key, 0.0) for key in grid),
    )


def read(entries: EntryStore, query: EntryQuery, thresholds: BacktestThresholds) -> BacktestData:
    """Everything that is on disk for it; blocks."""
    bounds = [Bound(one.key, one.is_max, one.value) for one in thresholds.config]
    keys: set[str] = set()
    for signal in entries.signals_lately(query):
        keys |= json.loads(signal).keys()
    return BacktestData(
        sums=entries.sums(query, bounds),
        rows=entries.replay(query) if thresholds.swept else (),
        keys=tuple(sorted(keys)),
        unknown=tuple(
            key for key in thresholds.keys if key not in keys and not entries.carries(query, key)
        ),
        silent=entries.silent(query),
    )


def prices_of(world: World, found: BacktestData, venue: Venue) -> Prices:
    """What the markets are worth in which something is held still."""
    held = {one.market_id for one in found.sums if one.market_id is not None}
    times = (world.at, world.world_at)
    prices: dict[str, float] = {}
    for market_id in held:
        market = world.markets.get(market_id)
        if market is None:
            continue
        if market.outcome is not None:
            # Where the money went back nothing is held any more, and a share has no value.
            if market.outcome.part is not None:
                prices[market_id] = market.outcome.part
        else:
            prices[market_id] = mark_of(world, venue, market_id, times)
    return prices


def weigh(
    request: BacktestRequest, thresholds: BacktestThresholds, found: BacktestData, prices: Prices
) -> BacktestBody:
    """The figures of a backtest; pure, and some tenths of a second for a sweep of very many."""
    original, chosen = _added_up(found.sums, prices)
    total = chosen.included + chosen.excluded
    unknown = found.unknown if total else ()
    body = BacktestBody(
        trades_total=total,
        trades_included=chosen.included,
        trades_excluded=chosen.excluded,
        simulated_pnl=decimal(chosen.pnl),
        original_pnl=decimal(original),
        win_rate=chosen.win_rate or 0.0,
        improvement_pct=chosen.improvement_pct(original),
        message=_message(request, found, unknown, chosen),
        trades_without_signal=found.silent,
        trades_open=sum(one.bought for one in found.sums if one.market_id is not None),
        unknown_keys=unknown,
        keys=found.keys,
        days=request.days,
        venue=request.venue,
        skill_slug=request.skill_slug,
    )
    if not request.sweep:
        return body
    kept = passing(found.rows, thresholds, prices)
    tried = sweep(kept, thresholds.swept, list(request.sweep.values()))
    points = [_point(point, request, thresholds, (total, original)) for point in tried]
    best = max(points, key=lambda one: one.simulated_pnl)
    return body.model_copy(update={"points": tuple(points), "best": best})


def _added_up(sums: Sequence[Sums], prices: Prices) -> tuple[Micros, Replay]:
    """What all of it brought, and what passes; what is held counts at the price of now.

    Trades of unknown value are left out of both.

    Returns:
        The original P&L, and what passes.
    """
    original = pnl = included = excluded = decided = won = 0
    for one in sums:
        worth = worth_of(one.market_id, one.side, prices)
        if worth is None:
            continue
        original += one.gained + int(one.held * worth)
        pnl += one.passed_gained + int(one.passed_held * worth)
        included += one.passed
        excluded += one.bought - one.passed
        if one.market_id is None:
            decided += one.passed
            won += one.won
    return Micros(original), Replay(included, excluded, Micros(pnl), decided, won)


def worth_of(market_id: str | None, side: str | None, prices: Prices) -> float | None:
    """Value of a share of a side; 0 if the market is decided, None if unknown."""
    if market_id is None:
        return 0.0
    price = prices.get(market_id)
    if price is None:
        return None
    return price if side == Side.YES.value else 1.0 - price


def passing(
    rows: Sequence[Replayable], thresholds: BacktestThresholds, prices: Prices
) -> list[Replayed]:
    """Trades that pass what holds throughout, with the signals of what is swept."""
    # One text is read much faster than a hundred thousand.
    signals: list[dict[str, float]] = json.loads(f"[{','.join([row[4] for row in rows])}]")
    keys = [one.key for one in thresholds.swept]
    found: list[Replayed] = []
    for (gained, held, market_id, side, _), carried in zip(rows, signals, strict=True):
        if not all(one.passes(carried.get(one.key)) for one in thresholds.fixed):
            continue
        worth = worth_of(market_id, side, prices)
        if worth is not None:
            pnl = Micros(gained + int(held * worth))
            figures = tuple([carried.get(key) for key in keys])
            found.append(Replayed(pnl, is_open=bool(held), signals=figures))
    return found


def _point(
    point: Point, request: BacktestRequest, thresholds: BacktestThresholds, of: tuple[int, Micros]
) -> BacktestPointBody:
    values, found = point
    total, original = of
    chosen = {one.name: value for one, value in zip(thresholds.swept, values, strict=True)}
    return BacktestPointBody(
        config={**request.config, **chosen},
        trades_included=found.included,
        trades_excluded=total - found.included,
        simulated_pnl=decimal(found.pnl),
        win_rate=found.win_rate,
        improvement_pct=found.improvement_pct(original),
    )


def _message(
    request: BacktestRequest, found: BacktestData, unknown: Sequence[str], chosen: Replay
) -> str:
    """What makes the figures mean something, or nothing."""
    where = f"{request.skill_slug} on {request.venue.value} in the last {request.days} days"
    if not found.total and not found.silent:
        return f"this agent has no trade of {where}: look at the slug, the venue and the days"
    if not found.total:
        return (
            f"none of the {found.silent} trades of {where} carries signal_data, so there is "
            "nothing to replay: pass signal_data to trade()"
        )
    notes: list[str] = []
    if unknown:
        named = ", ".join(unknown)
        known = ", ".join(found.keys) or "none"
        notes.append(f"no trade carries a figure named {named}, which excludes all; known: {known}")
    if found.silent:
        notes.append(f"{found.silent} trades carry no signal_data and were left out")
    if chosen.included and not chosen.decided:
        notes.append("nothing that passes is decided yet: it is valued at the prices of now")
    return "; ".join(notes)


# -- experiments ---------------------------------------------------------------------------


async def post(request: RequestContext) -> ExperimentLoggedBody:
    """Keep a result; one that is sent again, for want of an answer, is kept once."""
    experiment_sent = request.body_as(ExperimentRequest)
    research = request.world.research
    experiment = ExperimentLogged(
        experiment_id=f"x{research.count + 1}",
        agent_id=request.agent.agent_id,
        at=request.now,
        skill=experiment_sent.skill_slug,
        number=experiment_sent.experiment_number,
        segment=experiment_sent.segment,
        status=experiment_sent.status,
        metric_name=experiment_sent.metric_name,
        metric=experiment_sent.metric_value,
        metric_unit=experiment_sent.metric_unit,
        direction=experiment_sent.best_direction,
        metrics=experiment_sent.secondary_metrics,
        description=experiment_sent.description,
        commit=experiment_sent.commit_hash or "",
        session=experiment_sent.session,
        cap=experiment_sent.max_experiments,
        ref=experiment_sent.client_ref or "",
    )
    world_store = request.service.world_store
    world_store.check_whole()
    known = research.same(experiment)
    if known is not None:
        return _logged(request, known, already_known=True)
    await world_store.commit(request.world.note(experiment))
    return _logged(request, experiment, already_known=False)


def _logged(
    request: RequestContext, one: ExperimentLogged, *, already_known: bool
) -> ExperimentLoggedBody:
    prior = request.world.research.best_before(one)
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


async def experiments(request: RequestContext) -> ExperimentsBody:
    """The agent's results, newest first."""
    query = request.query_as(ExperimentsQuery)
    rows = _of(request.world, request.agent, query)
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


async def state(request: RequestContext) -> StateBody:
    """State of a skill's session, for a process that begins."""
    agent = request.agent
    skill_slug = request.query_as(StateQuery).skill_slug
    skills = request.world.research.skills(agent.agent_id)
    skill = skill_slug if skill_slug is not None else next(iter(skills), None)
    return StateBody() if skill is None else _state(request.world, agent, skill)


def _state(world: World, agent: Agent, skill: str) -> StateBody:
    found = world.research.state(agent.agent_id, skill)
    last, standing = found.last, found.standing
    body = StateBody(
        skill_slug=skill,
        last_experiment_number=found.last_number,
        current_segment=found.segment,
        best_metric=standing.best,
        state=standing.state,
        why=standing.why,
        experiment_count=standing.count,
        max_experiments=found.cap,
        near_cap=standing.near_cap,
        consecutive_crashes=standing.crashes_in_row,
        baseline_metric=standing.baseline,
        best_number=found.best_number,
        kept_count=standing.kept,
        discarded_count=standing.discarded,
        crashed_count=standing.crashed,
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


async def begin(request: RequestContext) -> StateBody:
    """Begin a session; one that has begun already, or been overtaken, is left as it is."""
    sent = request.body_as(SessionRequest)
    world, agent = request.world, request.agent
    now = world.research.state(agent.agent_id, sent.skill_slug)
    if sent.segment > now.segment + 1:
        # ours: a number far ahead would hide every later result behind a session without any.
        message = f"sessions follow one another: {now.segment + 1} at most"
        raise invalid_items([(("body", "segment"), message, "value")])
    if now.last is None or sent.segment > now.segment:
        event = SessionBegun(
            agent_id=agent.agent_id,
            at=request.now,
            skill=sent.skill_slug,
            segment=sent.segment,
            session=sent.session,
            metric_name=sent.metric_name,
            metric_unit=sent.metric_unit,
            direction=sent.best_direction,
            cap=sent.max_experiments,
        )
        request.service.world_store.check_whole()
        await request.service.world_store.commit(world.note(event))
    return _state(world, agent, sent.skill_slug)


async def everything(request: RequestContext) -> ResearchBody:
    """Sessions and results of all agents, newest first."""
    query = request.query_as(ExperimentsQuery)
    world = request.world
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


async def backtest(request: RequestContext) -> BacktestBody:
    """Replay what a skill bought, with the signals it had, under thresholds."""
    sent = request.body_as(BacktestRequest)
    grid = sent.sweep or {}
    points = 1
    for values in grid.values():
        points *= len(values)
    if points > GRID_MAX:
        message = f"{points} combinations are too many; {GRID_MAX} at most"
        raise invalid_items([(("body", "sweep"), message, "too_long")])
    digest = request.service.world_store.digest
    await digest.catch_up()
    thresholds = thresholds_in(sent)
    query = EntryQuery(
        agent_id=request.agent.agent_id,
        skill=sent.skill_slug,
        venue=sent.venue.value,
        since=request.now - sent.days * DAY_S,
    )
    found = await asyncio.to_thread(read, digest.entries, query, thresholds)
    prices = prices_of(request.world, found, sent.venue)
    return await asyncio.to_thread(weigh, sent, thresholds, found, prices)


ROUTES: Final[Routes] = {
    POST_EXPERIMENT: post,
    EXPERIMENTS: experiments,
    RESEARCH_STATE: state,
    BEGIN_SESSION: begin,
    BACKTEST: backtest,
    DESK_RESEARCH: everything,
}

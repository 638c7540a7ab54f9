"""Routes of an agent's results: P&L over time, and results by skill."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.evaluation.returns import mean_of
from service_tui.outcome import Outcome
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.past.agent_past import AgentFill, AgentPayout, in_one_form
from service_tui.server.past.history import Past
from service_tui.server.past.outcomes import Closing, books_of
from service_tui.server.projections.present import exit_pnl
from service_tui.server.projections.returns import history_of, returns_body
from service_tui.server.routes import outcomes
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp, decimal, sum_of
from service_tui.wire.base import moment
from service_tui.wire.endpoints.fleet import DESK_AGENT_RESULTS, DESK_RETURNS, SKILL_ANALYTICS
from service_tui.wire.fleet import (
    AgentResultsBody,
    AllReturnsBody,
    AllReturnsQuery,
    CalibrationBody,
    PnlPoint,
    SkillResultBody,
)

POINTS_MAX: Final = 240
"""Points of a curve; more than any terminal has columns of dots for."""

BUCKETS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Edges by which confidences are distinguished."""

OutcomeOf = Callable[[str], Outcome | None]
"""Whether a market ended YES; None while that is open, or where the market is forgotten."""

Point = tuple[Timestamp, Micros]


@dataclass(frozen=True, slots=True)
class Bucket:
    """Buys whose confidence lay from `low` to `high`: how sure they were, how often right."""

    low: float
    high: float
    count: int
    confidence: float
    hit_rate: float


@dataclass(frozen=True, slots=True)
class SkillResult:
    """Result of a skill's trades on one venue, in its currency; None if no trade records it.

    `edge` and `slippage` are averages of the same buys, in probability points; what is left of
    the edge after the slippage is `kept`. `brier` is the mean square of confidence less outcome.
    """

    skill: str
    trades: int
    pnl: Micros
    wins: int
    losses: int
    confidence: float | None = None
    hit_rate: float | None = None
    brier: float | None = None
    edge: float | None = None
    slippage: float | None = None
    buckets: tuple[Bucket, ...] = ()
    venue: Venue = Venue.SIM

    @property
    def kept(self) -> float | None:
        """The edge that was left after the price had moved under the buy."""
        if self.edge is None or self.slippage is None:
            return None
        return self.edge - self.slippage


@dataclass(slots=True)
class _Sums:
    """What is added up for one skill."""

    trades: set[str] = field(default_factory=set[str])
    sure: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    edges: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    closings: list[Closing] = field(default_factory=list[Closing])


def skill_results(
    past: Sequence[AgentFill | AgentPayout], outcome: OutcomeOf
) -> tuple[SkillResult, ...]:
    """The results by skill and venue, the busiest first; the empty name has what names no skill.

    Args:
        past: oldest first. A payout records how its market ended if `outcome` does not.
        outcome: how a market ended.

    Returns:
        One result for each skill and venue: no sum holds two kinds of money.
    """
    ended = {one.market_id: one.outcome for one in past if isinstance(one, AgentPayout)}
    books = books_of(past)
    sums: dict[tuple[str, Venue], _Sums] = {}
    for one in past:
        if isinstance(one, AgentFill):
            known = outcome(one.market_id)
            over = ended.get(one.market_id) if known is None else known
            _add(sums.setdefault((books.skills[one.trade_id], one.venue), _Sums()), one, over)
    for closing in books.closings:
        sums.setdefault((closing.skill, closing.venue), _Sums()).closings.append(closing)
    ranked = sorted(sums.items(), key=lambda item: (-len(item[1].trades), item[0]))
    return tuple(_result(skill, venue, own) for (skill, venue), own in ranked)


def _add(own: _Sums, fill: AgentFill, over: Outcome | None) -> None:
    own.trades.add(fill.trade_id)
    if fill.action is not Action.BUY:
        return
    edge, confidence = fill.signal("edge"), fill.signal("confidence")
    if edge is not None and fill.price_before is not None:
        own.edges.append((edge, fill.price - fill.price_before))
    # ours: at a part of 1 a side was right by what it paid; money back says nothing of anybody.
    if confidence is not None and 0 <= confidence <= 1 and over is not None and not over.is_void:
        own.sure.append((confidence, over.price(fill.side)))


def _result(skill: str, venue: Venue, own: _Sums) -> SkillResult:
    return SkillResult(
        skill=skill,
        venue=venue,
        trades=len(own.trades),
        pnl=sum_of(one.pnl for one in own.closings),
        wins=sum(one.pnl > 0 for one in own.closings),
        losses=sum(one.pnl < 0 for one in own.closings),
        confidence=mean_of(confidence for confidence, _ in own.sure),
        hit_rate=mean_of(hit for _, hit in own.sure),
        brier=mean_of((confidence - hit) ** 2 for confidence, hit in own.sure),
        edge=mean_of(edge for edge, _ in own.edges),
        slippage=mean_of(slipped for _, slipped in own.edges),
        buckets=tuple(buckets_of(own.sure)),
    )


def buckets_of(sure: Sequence[tuple[float, float]]) -> Iterable[Bucket]:
    """How often each fifth of confidence was right; a fifth without a trade is left out."""
    for low, high in pairwise(BUCKETS):
        is_last = high == BUCKETS[-1]
        found = [one for one in sure if low <= one[0] < high or (is_last and one[0] == high)]
        if found:
            confidence = sum(one[0] for one in found) / len(found)
            hit_rate = sum(one[1] for one in found) / len(found)
            yield Bucket(low, high, len(found), confidence, hit_rate)


@dataclass(slots=True)
class _Book:
    """One market of an agent: what it spent and got there, what it holds, the price of YES."""

    flow: int = 0
    yes: int = 0
    no: int = 0
    price: float = 0.0

    @property
    def worth(self) -> float:
        """What it came to, in micros, what is held at the last price."""
        return self.flow + self.yes * self.price + self.no * (1.0 - self.price)

    def take(self, one: AgentFill | AgentPayout) -> None:
        """Enter one thing that happened."""
        is_yes = one.side is Side.YES
        if isinstance(one, AgentPayout):
            shares = self.yes if is_yes else self.no
            self.flow += int(one.outcome.paid(one.side, Micros(shares), one.payout))
            change = -shares
        else:
            buys = one.action is Action.BUY
            self.flow += int(-one.money if buys else one.money)
            change = one.shares if buys else -one.shares
            after = one.price if one.price_after is None else one.price_after
            self.price = after if is_yes else 1.0 - after
        if is_yes:
            self.yes += int(change)
        else:
            self.no += int(change)


def pnl_curve(
    past: Sequence[AgentFill | AgentPayout],
    marks: Sequence[Point],
    now: Timestamp,
    total: Micros,
) -> tuple[Point, ...]:
    """P&L on sim over time, if all were sold then: by the marks of every minute.

    Of the time before the first mark, which an older program did not note: after each trade and
    payout, what was held at the last price seen.

    Args:
        past: oldest first.
        marks: P&L of each mark, oldest first.
        now: time of the last point.
        total: P&L now, which is the last point.

    Returns:
        At most `POINTS_MAX` points, the first one 0 at the first trade; none before any trade.
    """
    first = marks[0][0] if marks else now
    early = [one for one in _by_trades(past) if one[0] < first]
    points = [*early, *marks]
    return (*_thinned(points), (now, total)) if points else ()


def _by_trades(past: Sequence[AgentFill | AgentPayout]) -> Sequence[Point]:
    """P&L on sim after each trade and payout, with positions at their last traded price."""
    books: dict[str, _Book] = {}
    pnl = 0.0
    points: list[Point] = []
    for one in past:
        if one.venue is not Venue.SIM:
            continue
        if not points:
            points.append((one.at, Micros(0)))
        book = books.setdefault(one.market_id, _Book())
        pnl -= book.worth
        book.take(one)
        pnl += book.worth
        points.append((one.at, Micros(round(pnl))))
    return points


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """The first and the last of every so many points; what lies between moves no dot."""
    most = POINTS_MAX - 1
    if len(points) <= most:
        return points
    return [points[place * (len(points) - 1) // (most - 1)] for place in range(most)]


async def results(request: RequestContext) -> AgentResultsBody:
    """An agent's P&L over time, and the figures of each skill, from its whole history."""
    return await _results_of(request, request.world.agent(request.path["agent_id"]))


async def own_results(request: RequestContext) -> AgentResultsBody:
    """The same of the calling agent, whose plan has it."""
    return await _results_of(request, request.agent)


async def _results_of(request: RequestContext, agent: Agent) -> AgentResultsBody:
    world = request.world
    found = await outcomes.past_of(replace(request, caller=agent))
    ended = {one.market_id: one.outcome for one in world.markets.values()}
    total = exit_pnl(world, agent)
    start = world.exit_equity(agent) - total
    marks = [(one.at, Micros(one.exit_equity - start)) for one in agent.marks.all()]
    # In a thread: a long life is a matter of seconds.
    return await asyncio.to_thread(
        _results_body, agent.agent_id, found, ended, (marks, request.now, total)
    )


def _results_body(
    agent_id: str,
    found: Sequence[Past],
    ended: Mapping[str, Outcome | None],
    worth: tuple[Sequence[Point], Timestamp, Micros],
) -> AgentResultsBody:
    past = in_one_form(found)
    return AgentResultsBody(
        agent_id=agent_id,
        points=tuple(
            PnlPoint(at=moment(at), pnl=decimal(pnl)) for at, pnl in pnl_curve(past, *worth)
        ),
        skills=tuple(_skill_body(one) for one in skill_results(past, ended.get)),
    )


async def returns(request: RequestContext) -> AllReturnsBody:
    """What every agent made of its money, from the marks that are noted by the minute."""
    world, now = request.world, request.now
    query, agents = request.query_as(AllReturnsQuery), tuple(world.agents.values())
    end = len(agents) if query.limit is None else query.offset + query.limit
    histories = [history_of(world, agent, now) for agent in agents[query.offset : end]]
    # In a thread: of a hundred agents it takes a tenth of a second.
    rows = await asyncio.to_thread(lambda: tuple(map(returns_body, histories)))
    return AllReturnsBody(agents=rows, next=end if end < len(agents) else None)


def _skill_body(one: SkillResult) -> SkillResultBody:
    return SkillResultBody(
        skill_slug=one.skill,
        venue=one.venue,
        trades=one.trades,
        pnl=decimal(one.pnl),
        wins=one.wins,
        losses=one.losses,
        confidence=one.confidence,
        hit_rate=one.hit_rate,
        brier=one.brier,
        edge=one.edge,
        slippage=one.slippage,
        edge_kept=one.kept,
        calibration=tuple(
            CalibrationBody(
                low=each.low,
                high=each.high,
                count=each.count,
                confidence=each.confidence,
                hit_rate=each.hit_rate,
            )
            for each in one.buckets
        ),
    )


ROUTES: Final[Routes] = {
    DESK_AGENT_RESULTS: results,
    SKILL_ANALYTICS: own_results,
    DESK_RETURNS: returns,
}

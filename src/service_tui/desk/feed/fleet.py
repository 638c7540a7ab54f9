"""Reads leashes, approvals, and the results of the focused agent."""

from dataclasses import replace
from typing import Final

from service_tui.client.errors import NotFoundError
from service_tui.desk.agents.translate import (
    agent_alert_view,
    leash_view,
    need_view,
    pending_trade_view,
    reasoned_trade_view,
    result_view,
    returns_view,
)
from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.facts import Fact
from service_tui.desk.feed.poller_memory import PollerMemory, Read
from service_tui.desk.ports import Ports
from service_tui.desk.positions.translate import position_views
from service_tui.desk.slices.agents import (
    POSITIONS_SHOWN,
    AgentDetailView,
    AgentNeedView,
    ReturnsView,
)
from service_tui.desk.slices.supervision import AgentAlertView, LeashView, PendingTradesSeen
from service_tui.desk.wire_values import amount
from service_tui.terms import OFFSET_MAX
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_ALERTS,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_RESULTS,
    DESK_AGENT_TRADES,
    DESK_LEASHES,
    DESK_NEEDS,
    DESK_PENDING_TRADES,
    DESK_RETURNS,
)
from service_tui.wire.fleet import RETURNS_PAGE, AllReturnsQuery, HeldQuery
from service_tui.wire.positions import PositionsQuery
from service_tui.wire.trades import TradesQuery

TIMELINE: Final = 200
"""Trades of the agent in focus."""

RESULTS_S: Final = 15.0
"""How old the sums of the agent in focus may be while it does not trade: its whole past is read."""

_HELD: Final = PositionsQuery(venue="all", status="active", limit=POSITIONS_SHOWN)
"""Open positions of the agent in focus."""


async def read_supervision(ports: Ports, watched: PollerMemory) -> Read:
    """Leashes, trades that wait, and what the agent in focus did."""
    leashes = await ports.client.call(DESK_LEASHES)
    approvals = await ports.client.call(DESK_PENDING_TRADES, query=HeldQuery(status="all"))
    views = tuple(pending_trade_view(body) for body in approvals.answer.held)
    facts: list[Fact] = [
        Loaded(LeashView, tuple(leash_view(body) for body in leashes.answer.leashes)),
        PendingTradesSeen(
            tuple(view for view in views if view.is_waiting),
            tuple(view for view in views if not view.is_waiting),
        ),
        Loaded(AgentNeedView, await _needs_of_others(ports)),
        Loaded(AgentAlertView, await _agent_alerts(ports)),
    ]
    now = ports.clock.now()
    if watched.wants_returns and not 0 <= now - watched.returns_at < RESULTS_S:
        facts.append(Loaded(ReturnsView, await _returns(ports)))
        watched.returns_at = now
    if watched.agent_id:
        facts.append(Changed(await _detail_of(ports, watched.agent_id)))
    elif ports.state().supervision.detail is not None:
        facts.append(Removed(AgentDetailView))
    return facts, approvals.latency_s


async def _needs_of_others(ports: Ports) -> tuple[AgentNeedView, ...]:
    """Needs of the other agents; empty from a holder of an older version."""
    account = ports.state().account
    own = "" if account is None else account.agent_id
    try:
        reply = await ports.client.call(DESK_NEEDS)
    except NotFoundError:
        return ()
    return tuple(need_view(body) for body in reply.answer.needs if body.agent_id != own)


async def _agent_alerts(ports: Ports) -> tuple[AgentAlertView, ...]:
    """The alerts on all agents; empty from a holder of an older version."""
    try:
        reply = await ports.client.call(DESK_AGENT_ALERTS)
    except NotFoundError:
        return ()
    return tuple(agent_alert_view(body) for body in reply.answer.alerts)


async def _returns(ports: Ports) -> tuple[ReturnsView, ...]:
    """What every agent made of its money; empty from a holder of an older version."""
    found: list[ReturnsView] = []
    offset: int | None = 0
    while offset is not None:
        query = AllReturnsQuery(offset=offset, limit=RETURNS_PAGE)
        try:
            reply = await ports.client.call(DESK_RETURNS, query=query)
        except NotFoundError:
            return ()
        found += (returns_view(body) for body in reply.answer.agents)
        # Beyond what was asked for, and behind a page that held something: an answer without an end
        # would never come to one.
        after, is_page = reply.answer.next, bool(reply.answer.agents or reply.dropped)
        offset = after if is_page and after is not None and offset < after <= OFFSET_MAX else None
    return tuple(found)


async def _detail_of(ports: Ports, agent_id: str) -> AgentDetailView:
    """Positions, recent trades and results of an agent; results are read again after a trade."""
    path, query = {"agent_id": agent_id}, TradesQuery(venue="all", limit=TIMELINE)
    try:
        reply = await ports.client.call(DESK_AGENT_TRADES, path=path, query=query)
        trades = tuple(reasoned_trade_view(row) for row in reply.answer.trades)
        held = await ports.client.call(DESK_AGENT_POSITIONS, path=path, query=_HELD)
        positions = tuple(
            view for row in held.answer.positions for view in position_views(row, None)
        )
        now, known = ports.clock.now(), ports.state().supervision.detail
        if known is not None and known.agent_id == agent_id:
            is_fresh = 0 <= now - known.at < RESULTS_S
            if is_fresh and known.trades[:1] == trades[:1]:
                return replace(known, trades=trades, positions=positions)
        results = (await ports.client.call(DESK_AGENT_RESULTS, path=path)).answer
    except NotFoundError as error:
        return AgentDetailView(agent_id, (), (), str(error))
    return AgentDetailView(
        agent_id,
        trades,
        tuple(result_view(one) for one in results.skills),
        points=tuple((timestamp(one.at), amount(one.pnl)) for one in results.points),
        at=now,
        positions=positions,
    )

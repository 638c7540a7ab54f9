"""The past of every agent: trades, positions and the day's P&L, for an export or a report."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.client.reply import Reply
from service_tui.desk.agents.translate import reasoned_trade_view
from service_tui.desk.buy_limits import DAY_S, next_midnight
from service_tui.desk.ports import Ports
from service_tui.desk.positions.pages import EndedRows, all_positions
from service_tui.desk.positions.translate import position_views
from service_tui.desk.slices.agents import AgentDetailView, ReasonedTradeView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.wanted import WHOLE, PastPart
from service_tui.desk.wire_values import amount
from service_tui.terms import TRADES_PAGE_MAX, VENUE_NAMES, Venue
from service_tui.units import Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_TRADES,
)
from service_tui.wire.outcomes import OutcomesQuery
from service_tui.wire.positions import PositionsBody, PositionsQuery
from service_tui.wire.trades import TradeRow, TradesQuery

PAGES_MAX: Final = 10_000
"""ours: two million trades of an agent, so that an answer without an end comes to one."""


async def pasts_of(
    ports: Ports, parts: frozenset[PastPart] = WHOLE
) -> Mapping[str, AgentDetailView]:
    """The past of every agent of the embedded service, by agent id.

    Args:
        ports: the service, and the fleet as it was read.
        parts: what is read; the rest is empty.

    Returns:
        All agents; one whose trades cannot be read now has none, and a problem with the reason.
    """
    fleet = ports.state().fleet
    details: dict[str, AgentDetailView] = {}
    for agent in () if fleet is None or not parts else fleet.agents:
        if not (agent.trades_count or agent.positions_count or agent.venues):
            details[agent.agent_id] = AgentDetailView(agent.agent_id, (), ())
            continue
        try:
            details[agent.agent_id] = await _past_of(ports, agent.agent_id, parts)
        except ServiceError as error:
            details[agent.agent_id] = AgentDetailView(agent.agent_id, (), (), str(error))
    return details


async def _past_of(ports: Ports, agent_id: str, parts: frozenset[PastPart]) -> AgentDetailView:
    past = AgentDetailView(agent_id, (), ())
    if PastPart.TRADES in parts:
        past = replace(past, trades=await _trades_of(ports, agent_id))
    if PastPart.POSITIONS in parts:
        past = replace(past, positions=await _positions_of(ports, agent_id))
    if PastPart.REALIZED in parts:
        past = replace(past, realized_today=await _realized_today(ports, agent_id))
    return past


async def _trades_of(ports: Ports, agent_id: str) -> tuple[ReasonedTradeView, ...]:
    """Read all pages of one agent; a row that moved to the next page meanwhile counts once."""
    rows: dict[str, TradeRow] = {}
    for offset in range(0, PAGES_MAX * TRADES_PAGE_MAX, TRADES_PAGE_MAX):
        query = TradesQuery(venue="all", limit=TRADES_PAGE_MAX, offset=offset)
        reply = await ports.client.call(DESK_AGENT_TRADES, path={"agent_id": agent_id}, query=query)
        rows |= {row.id: row for row in reply.answer.trades}
        # A row that could not be read stood on the page all the same.
        if len(reply.answer.trades) + reply.dropped < TRADES_PAGE_MAX:
            break
    return tuple(reasoned_trade_view(row) for row in rows.values())


async def _positions_of(ports: Ports, agent_id: str) -> tuple[PositionView, ...]:
    async def read_page(query: PositionsQuery) -> Reply[PositionsBody]:
        path = {"agent_id": agent_id}
        return await ports.client.call(DESK_AGENT_POSITIONS, path=path, query=query)

    held = await all_positions(read_page, EndedRows(), whole=True)
    return tuple(view for row in held.rows for view in position_views(row, None))


async def _realized_today(ports: Ports, agent_id: str) -> tuple[tuple[Venue, Micros], ...]:
    """P&L that became final since midnight UTC, by venue: a payout counts from the outcome on."""
    midnight = Timestamp(next_midnight(ports.clock.now()) - DAY_S)
    path, query = {"agent_id": agent_id}, OutcomesQuery(since=moment(midnight))
    answer = (await ports.client.call(DESK_AGENT_OUTCOMES, path=path, query=query)).answer
    return tuple(
        (venue, amount(one.pnl))
        for name, one in answer.by_venue.items()
        if (venue := VENUE_NAMES.get(name)) is not None
    )

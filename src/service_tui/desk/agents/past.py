"""The past of every agent: trades, positions and the day's P&L, for an export or a report."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.client.reply import Reply
from service_tui.desk.agents.translate import reasoned_trade_view
from service_tui.desk.buy_limits import DAY_S, next_midnight
from service_tui.desk.ports import Ports
from service_tui.desk.positions.pages import EndedRows, all_positions
from service_tui.desk.positions.translate import position_views
from service_tui.desk.slices.agents import AgentDetailView, AgentView, ReasonedTradeView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.wanted import WHOLE, PastPart
from service_tui.desk.wire_values import amount
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints.fleet import DESK_AGENT_POSITIONS, DESK_OUTCOMES, DESK_TRADES
from service_tui.wire.fleet import AgentTradeRow, AllOutcomesQuery, AllTradesQuery
from service_tui.wire.positions import PositionsBody, PositionsQuery

PAGES_MAX: Final = 2_000
"""ours: two million trades, so that an answer without an end comes to one."""

NOTHING: Final = tuple((venue, Micros(0)) for venue in Venue)
"""P&L of an agent that closed nothing."""


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
    agents = () if fleet is None or not parts else fleet.agents
    details = {one.agent_id: AgentDetailView(one.agent_id, (), ()) for one in agents}
    active = [one.agent_id for one in agents if _has_past(one)]
    if not active:
        return details
    try:
        trades = await _trades(ports, wanted=PastPart.TRADES in parts)
        is_day = PastPart.REALIZED in parts
        realized = await _realized_today(ports, wanted=is_day)
    except ServiceError as error:
        return details | {name: replace(details[name], problem=str(error)) for name in active}
    nothing = NOTHING if is_day else ()
    for name in active:
        past = replace(
            details[name], trades=trades.get(name, ()), realized_today=realized.get(name, nothing)
        )
        details[name] = past
        if PastPart.POSITIONS in parts:
            try:
                details[name] = replace(past, positions=await _positions_of(ports, name))
            except ServiceError as error:
                details[name] = AgentDetailView(name, (), (), str(error))
    return details


def _has_past(agent: AgentView) -> bool:
    return bool(agent.trades_count or agent.positions_count or agent.venues)


async def _trades(ports: Ports, *, wanted: bool) -> Mapping[str, tuple[ReasonedTradeView, ...]]:
    """Read all pages of all agents, newest first; the calls grow with the trades alone."""
    if not wanted:
        return {}
    rows: dict[str, list[ReasonedTradeView]] = {}
    async for page in trades_of_all(ports):
        for row in page:
            rows.setdefault(row.agent_id, []).append(reasoned_trade_view(row))
    return {agent_id: tuple(own) for agent_id, own in rows.items()}


async def trades_of_all(ports: Ports) -> AsyncIterator[tuple[AgentTradeRow, ...]]:
    """Read the trades of all agents, newest first; a page is short where agents wrote much.

    Yields:
        The rows of a page.

    Raises:
        ServiceError: a page cannot be read.
    """
    before: int | None = None
    for _ in range(PAGES_MAX):
        reply = await ports.client.call(DESK_TRADES, query=AllTradesQuery(before=before))
        yield reply.answer.trades
        older = reply.answer.before
        # Only to older rows: the next page of an odd service may be the same one, or none at all.
        if not older or (before is not None and older >= before):
            return
        before = older


async def _positions_of(ports: Ports, agent_id: str) -> tuple[PositionView, ...]:
    async def read_page(query: PositionsQuery) -> Reply[PositionsBody]:
        path = {"agent_id": agent_id}
        return await ports.client.call(DESK_AGENT_POSITIONS, path=path, query=query)

    held = await all_positions(read_page, EndedRows(), whole=True)
    return tuple(view for row in held.rows for view in position_views(row, None))


async def _realized_today(
    ports: Ports, *, wanted: bool
) -> Mapping[str, tuple[tuple[Venue, Micros], ...]]:
    """P&L that became final since midnight UTC, by venue: a payout counts from the outcome on.

    An agent that did nothing since is missing.
    """
    if not wanted:
        return {}
    midnight = Timestamp(next_midnight(ports.clock.now()) - DAY_S)
    reply = await ports.client.call(DESK_OUTCOMES, query=AllOutcomesQuery(since=moment(midnight)))
    return {
        one.agent_id: tuple(
            (venue, amount(one.by_venue[venue.value].pnl) if venue.value in one.by_venue else none)
            for venue, none in NOTHING
        )
        for one in reply.answer.agents
    }

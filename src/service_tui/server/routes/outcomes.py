"""Outcomes: what the trades of an agent, or of one of its skills, came to."""

import asyncio
from collections.abc import Sequence
from typing import Final

from service_tui.server.agent_past import ALL, AgentFill, AgentPayout, in_one_form
from service_tui.server.history import Past
from service_tui.server.outcomes import Closing, closings_of
from service_tui.server.service import Asked, Routes
from service_tui.storage.journal import History
from service_tui.terms import Venue
from service_tui.units import Micros, decimal
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints import OUTCOMES
from service_tui.wire.outcomes import ConfidenceBody, OutcomesBody, OutcomesQuery

PAGE: Final = 1_000
"""Rows read at one time, so that nobody else waits long."""


async def past_of(asked: Asked) -> list[Past]:
    """All that the agent did and was paid, oldest first."""
    wanted = History(asked.agent.agent_id, ALL)
    found: list[Past] = []
    offset = 0
    while True:
        page, total = await asked.service.keeper.history(wanted, limit=PAGE, offset=offset)
        found += page
        offset += len(page)
        if not page or offset >= total:
            return found[::-1]


async def outcomes(asked: Asked) -> OutcomesBody:
    """Sums over everything that was closed since a moment."""
    query = asked.query_as(OutcomesQuery)
    past = await past_of(asked)
    # In a thread: a long life is a matter of seconds.
    return await asyncio.to_thread(_weighed, query, past)


def _weighed(query: OutcomesQuery, past: Sequence[Past]) -> OutcomesBody:
    since = timestamp(query.since) if query.since else 0.0
    found = [one for one in in_one_form(past) if _is_wanted(query, one)]
    traded = [
        one
        for one in found
        if isinstance(one, AgentFill)
        and one.at >= since
        and (query.skill is None or one.skill == query.skill)
    ]
    closings = [
        one
        for one in closings_of(found, apart=query.skill is not None)
        if one.at >= since and (query.skill is None or one.skill == query.skill)
    ]
    # An order that was met in several parts is one trade.
    return _body(query, len({one.trade_id for one in traded}), closings)


def _is_wanted(query: OutcomesQuery, one: AgentFill | AgentPayout) -> bool:
    return query.venue in {"all", one.venue}


def _body(query: OutcomesQuery, trades: int, closings: Sequence[Closing]) -> OutcomesBody:
    settled = [one for one in closings if one.settled]
    return OutcomesBody(
        trades=trades,
        pnl=_sum(closings),
        wins=sum(one.pnl > 0 for one in closings),
        losses=sum(one.pnl < 0 for one in closings),
        settled_pnl=_sum(settled),
        resolved_markets=len({one.market_id for one in settled}),
        settled_wins=sum(one.pnl > 0 for one in settled),
        settled_losses=sum(one.pnl < 0 for one in settled),
        confidence_breakdown=ConfidenceBody(
            settlement=len(settled), native=len(closings) - len(settled)
        ),
        skill=query.skill,
        since=query.since,
        pnl_by_venue={
            venue.value: _sum([one for one in closings if one.venue is venue])
            for venue in Venue
            if any(one.venue is venue for one in closings)
        },
    )


def _sum(closings: Sequence[Closing]) -> float:
    return decimal(Micros(sum(one.pnl for one in closings)))


ROUTES: Final[Routes] = {OUTCOMES: outcomes}

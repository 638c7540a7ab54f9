"""Route of the results of an agent's or a skill's trades."""

import asyncio
from collections.abc import Sequence
from typing import Final

from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.past.agent_past import WITH_WALLETS, AgentFill, in_one_form
from service_tui.server.past.history import Past
from service_tui.server.past.outcomes import Closing, books_of
from service_tui.storage.journal import History
from service_tui.terms import Venue
from service_tui.units import decimal, sum_of
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints.public import OUTCOMES
from service_tui.wire.outcomes import (
    ConfidenceBody,
    OutcomesBody,
    OutcomesQuery,
    VenueOutcomesBody,
)

PAGE: Final = 1_000
"""Rows read at one time, so that nobody else waits long."""


async def past_of(request: RequestContext) -> list[Past]:
    """All that the agent did and was paid, oldest first."""
    criteria = History(request.agent.agent_id, WITH_WALLETS)
    found: list[Past] = []
    offset = 0
    while True:
        page, total = await request.service.world_store.history(criteria, limit=PAGE, offset=offset)
        found += page
        offset += len(page)
        if not page or offset >= total:
            return found[::-1]


async def outcomes(request: RequestContext) -> OutcomesBody:
    """Sums over everything that was closed since a moment."""
    query = request.query_as(OutcomesQuery)
    past = await past_of(request)
    # In a thread: a long life is a matter of seconds.
    return await asyncio.to_thread(weighed, query, past)


def weighed(query: OutcomesQuery, past: Sequence[Past]) -> OutcomesBody:
    """What an agent's past comes to, from a moment on and for a skill where one is named."""
    traded, closings = _since(query, past)
    by_venue = {venue: _of_venue(venue, traded, closings) for venue in Venue}
    closed = {one.venue for one in closings}
    return OutcomesBody(
        **dict(by_venue[query.venue]),
        skill=query.skill,
        since=query.since,
        venue=query.venue,
        pnl_by_venue={venue.value: by_venue[venue].pnl for venue in Venue if venue in closed},
        by_venue={venue.value: one for venue, one in by_venue.items()},
    )


def weighed_by_venue(query: OutcomesQuery, past: Sequence[Past]) -> dict[str, VenueOutcomesBody]:
    """What an agent's past comes to from a moment on, on each venue where it traded or closed."""
    traded, closings = _since(query, past)
    active = {one.venue for one in (*traded, *closings)}
    return {venue.value: _of_venue(venue, traded, closings) for venue in Venue if venue in active}


def _since(
    query: OutcomesQuery, past: Sequence[Past]
) -> tuple[Sequence[AgentFill], Sequence[Closing]]:
    """What was traded and closed of the past that is asked for."""
    since = timestamp(query.since) if query.since else 0.0
    found = in_one_form(past)
    books = books_of(found, apart=query.skill is not None)
    traded = [
        one
        for one in found
        if isinstance(one, AgentFill)
        and one.at >= since
        and (query.skill is None or books.skills[one.trade_id] == query.skill)
    ]
    closings = [
        one
        for one in books.closings
        if one.at >= since and (query.skill is None or one.skill == query.skill)
    ]
    return traded, closings


def _of_venue(
    venue: Venue, all_traded: Sequence[AgentFill], all_closings: Sequence[Closing]
) -> VenueOutcomesBody:
    """The sums of one venue, in its own money."""
    traded = [one for one in all_traded if one.venue is venue]
    closings = [one for one in all_closings if one.venue is venue]
    settled = [one for one in closings if one.settled]
    return VenueOutcomesBody(
        # An order that was met in several parts is one trade.
        trades=len({one.trade_id for one in traded}),
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
    )


def _sum(closings: Sequence[Closing]) -> float:
    return decimal(sum_of(one.pnl for one in closings))


ROUTES: Final[Routes] = {OUTCOMES: outcomes}

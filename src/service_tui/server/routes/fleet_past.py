"""Routes of what all agents did: one answer for the fleet, from rows of the journal."""

import asyncio
from collections.abc import Sequence
from typing import Final

from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.past.agent_past import WITH_WALLETS
from service_tui.server.past.history import KINDS, past_of
from service_tui.server.results.venues import rows_of
from service_tui.server.routes.outcomes import weighed_by_venue
from service_tui.storage.journal import JournalRow
from service_tui.units import Timestamp
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints.fleet import DESK_OUTCOMES, DESK_TRADES
from service_tui.wire.fleet import (
    AgentOutcomesBody,
    AgentTradeRow,
    AllOutcomesBody,
    AllOutcomesQuery,
    AllTradesBody,
    AllTradesQuery,
)
from service_tui.wire.outcomes import OutcomesQuery

# ours: a page ends before the client would refuse it, however much text an agent wrote.
PAGE_COMMAS: Final = 80_000
PAGE_BYTES: Final = 1_500_000
ROW_COMMAS: Final = 30
ROW_BYTES: Final = 800
"""What a row of an answer has beside the agent's own text."""


async def all_trades(request: RequestContext) -> AllTradesBody:
    """Trades and payouts of all agents, newest first, with their reasons."""
    query, world_store = request.query_as(AllTradesQuery), request.service.world_store
    rows = await world_store.history_of_all(KINDS, query.before, limit=query.limit)
    page = rows[: _fitting(rows)]
    pasts = [past_of(row.kind, row.body) for row in page]
    bodies = await rows_of(world_store, page[-1].seq if page else 0, pasts)
    is_last = len(page) == len(rows) < query.limit
    return AllTradesBody(
        trades=tuple(
            # Not validated once more: each value was when its row was made.
            AgentTradeRow.model_construct(**dict(body), agent_id=row.agent_id)
            for row, body in zip(page, bodies, strict=True)
        ),
        before=None if is_last else page[-1].seq,
    )


def _fitting(rows: Sequence[JournalRow]) -> int:
    """Number of rows that an answer has room for; the first one always has."""
    commas = size = 0
    for count, row in enumerate(rows):
        commas += ROW_COMMAS + row.body.count(",")
        size += ROW_BYTES + len(row.body)
        if count and (commas > PAGE_COMMAS or size > PAGE_BYTES):
            return count
    return len(rows)


async def all_outcomes(request: RequestContext) -> AllOutcomesBody:
    """What the trades of each agent came to since a moment; who did nothing since is left out."""
    query = OutcomesQuery(since=request.query_as(AllOutcomesQuery).since)
    since = Timestamp(0.0) if query.since is None else timestamp(query.since)

    def weigh() -> tuple[AgentOutcomesBody, ...]:
        pasts = request.service.world_store.pasts_since(since, WITH_WALLETS)
        return tuple(
            AgentOutcomesBody(agent_id=agent_id, by_venue=weighed_by_venue(query, past))
            for agent_id, past in pasts
        )

    # In a thread: long lives are a matter of seconds.
    return AllOutcomesBody(agents=await asyncio.to_thread(weigh))


ROUTES: Final[Routes] = {DESK_TRADES: all_trades, DESK_OUTCOMES: all_outcomes}

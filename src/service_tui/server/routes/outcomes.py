"""Outcomes: what the trades of an agent, or of one of its skills, came to."""

from collections.abc import Sequence
from typing import Final

from service_tui.engine.events import Fill
from service_tui.server.history import FILL, PAYOUT, Paid
from service_tui.server.outcomes import Closing, closings_of
from service_tui.server.service import Asked, Routes
from service_tui.storage.journal import History
from service_tui.units import Micros, decimal
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints import OUTCOMES
from service_tui.wire.outcomes import ConfidenceBody, OutcomesBody, OutcomesQuery

PAGE: Final = 1_000
"""Rows read at one time, so that nobody else waits long."""


async def _past(asked: Asked) -> list[Fill | Paid]:
    """All that the agent did and was paid on sim, oldest first."""
    wanted = History(asked.agent.agent_id, (FILL, PAYOUT))
    found: list[Fill | Paid] = []
    offset = 0
    while True:
        page, total = await asked.service.keeper.history(wanted, limit=PAGE, offset=offset)
        found += [one for one in page if isinstance(one, Fill | Paid)]
        offset += len(page)
        if not page or offset >= total:
            return found[::-1]


async def outcomes(asked: Asked) -> OutcomesBody:
    """Sums over everything that was closed since a moment."""
    query = asked.query_as(OutcomesQuery)
    since = timestamp(query.since) if query.since else 0.0
    past = await _past(asked)
    trades = sum(
        isinstance(one, Fill)
        and one.at >= since
        and (query.skill is None or one.note.skill_slug == query.skill)
        for one in past
    )
    closings = [
        one
        for one in closings_of(past, apart=query.skill is not None)
        if one.at >= since and (query.skill is None or one.skill == query.skill)
    ]
    return _body(query, trades, closings)


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
    )


def _sum(closings: Sequence[Closing]) -> float:
    return decimal(Micros(sum(one.pnl for one in closings)))


ROUTES: Final[Routes] = {OUTCOMES: outcomes}

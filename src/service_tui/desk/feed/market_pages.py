"""Reads the list of all markets page by page, from services with different page rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from service_tui.client.errors import InvalidError
from service_tui.desk.facts import MarketsSeen
from service_tui.desk.markets.translate import market_view
from service_tui.desk.ports import Ports
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.rows import LastMade
from service_tui.terms import MARKETS_PAGE_MAX
from service_tui.wire.endpoints.public import MARKETS
from service_tui.wire.markets import MarketBody, MarketsBody, MarketsQuery

PAGES_MAX: Final = 20
SHORT_PAGE: Final = 50
"""ours: a page of so many rows, or a multiple, may be all that a service gives at once."""

ALL_AT_ONCE: Final = (
    MarketsQuery(status="all", include="sparkline", sort="created", tradeable_only=False),
)
STATE_BY_STATE: Final = (
    MarketsQuery(status="active", sort="created", tradeable_only=False),
    MarketsQuery(status="closed", sort="created", tradeable_only=False),
    MarketsQuery(status="resolved", sort="created", tradeable_only=False),
)
"""For a strict service: one status at a time, and no word that is ours.

Both ask for an order that stays while pages are turned: by volume a row would move from a page that
is still to come to one that was read.
"""


async def all_markets(
    ports: Ports, queries: Sequence[MarketsQuery], last: LastMade[tuple[MarketView, ...]]
) -> tuple[MarketsSeen, float]:
    """The markets that some questions bring together; only the first must be answered.

    Args:
        ports: dependencies of the reading.
        queries: the questions.
        last: what was made of the answers before; renewed.

    Returns:
        What was read, and how long the last call took, seconds.

    Raises:
        ServiceError: the first question was refused, or a page did not come.
    """
    pages = _Pages()
    for query in queries:
        try:
            await _turn_pages(ports, query, pages)
        except InvalidError:
            if query is queries[0]:
                raise
    views = last.of(
        tuple(pages.answers), lambda: tuple(market_view(body) for body in pages.bodies.values())
    )
    return MarketsSeen(views, complete=pages.has_all, dropped=pages.dropped), pages.latency_s


@dataclass(slots=True)
class _Pages:
    """Progress of the reading. `has_all` is False if the list is longer than we ever read."""

    answers: list[MarketsBody] = field(default_factory=list[MarketsBody])
    bodies: dict[str, MarketBody] = field(default_factory=dict[str, MarketBody])
    dropped: int = 0
    latency_s: float = 0.0
    has_all: bool = True
    count: int = 0


async def _turn_pages(ports: Ports, query: MarketsQuery, pages: _Pages) -> None:
    """Read one list to its end: an empty page, one that brings nothing new, or its total."""
    offset = 0
    while pages.count < PAGES_MAX:
        pages.count += 1
        page = query.model_copy(update={"limit": MARKETS_PAGE_MAX, "offset": offset})
        reply = await ports.client.call(MARKETS, query=page)
        answer, known = reply.answer, len(pages.bodies)
        pages.answers.append(answer)
        # A market that moved on while the pages were turned comes twice: the newer counts.
        pages.bodies |= {body.id: body for body in answer.markets}
        pages.dropped += reply.dropped
        pages.latency_s = reply.latency_s
        count = len(answer.markets) + reply.dropped
        offset += count
        if not count or (answer.markets and len(pages.bodies) == known):
            return
        total = answer.total if answer.total is not None else answer.total_count
        if count < MARKETS_PAGE_MAX and _ends(count, offset, total):
            return
    pages.has_all = False


def _ends(count: int, offset: int, total: int | None) -> bool:
    """True if a short page is the last one; a service may return less than the limit."""
    return count % SHORT_PAGE != 0 if total is None else offset >= total

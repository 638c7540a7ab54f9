"""Reads the trades of all agents from the service, page by page."""

from collections.abc import AsyncIterator
from typing import Final

from service_tui.desk.ports import Ports
from service_tui.wire.endpoints.fleet import DESK_TRADES
from service_tui.wire.fleet import AgentTradeRow, AllTradesQuery

PAGES_MAX: Final = 2_000
"""ours: two million trades, so that an answer without an end comes to one."""


async def trades_of_all(ports: Ports) -> AsyncIterator[tuple[AgentTradeRow, ...]]:
    """Read the pages, newest first; a page is short where agents wrote much.

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

"""Positions page by page: each answer is bounded, and rows that ended for good are read once."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from service_tui.client.reply import Reply
from service_tui.outcome import outcome_in
from service_tui.wire.positions import PositionBody, PositionsBody, PositionsQuery

PAGE: Final = 500
"""Rows of one answer: about half a megabyte, a quarter of what the client takes."""

LIVE_PAGES_MAX: Final = 40
"""Pages of one reading. # ours: 20,000 positions that can still change; no agent has as many."""

FIRST_PAGES: Final = 3
ENDED_KEPT: Final = FIRST_PAGES * PAGE
"""ours: ended positions that are shown at most, newest first, whatever their venue: an account may
have ten thousands, which is a matter for exports."""

WHOLE_PAGES_MAX: Final = 2_000
"""ours: a million positions, so that an answer without an end comes to one."""

Key = tuple[str, str, tuple[str, ...], str]
ReadPage = Callable[[PositionsQuery], Awaitable[Reply[PositionsBody]]]
"""Asks for one page."""


@dataclass(slots=True)
class EndedRows:
    """Rows of an agent that nothing can change any more, newest first, kept between readings."""

    agent_id: str = ""
    rows: dict[Key, PositionBody] = field(default_factory=dict[Key, PositionBody])


@dataclass(slots=True)
class PositionRows:
    """One reading: every row, the last answer's other fields, and what could not be read."""

    rows: list[PositionBody]
    answer: PositionsBody
    dropped: int
    latency_s: float | None


async def all_positions(
    read_page: ReadPage, ended: EndedRows, *, whole: bool = False
) -> PositionRows:
    """Every position that can still change, and the newest of those that ended.

    Args:
        read_page: reads one page from the service; one that knows no pages answers with everything.
        ended: what earlier readings have seen end; changed here.
        whole: read and keep all of those that ended, however many there are.

    Returns:
        The rows, each once.

    Raises:
        ServiceError: a page was not answered.
    """
    found: dict[Key, PositionBody] = {}
    offset = dropped = 0
    while True:
        query = PositionsQuery(venue="all", status="all", limit=PAGE, offset=offset)
        reply = await read_page(query)
        page = reply.answer.positions
        if reply.answer.agent_id != ended.agent_id:
            ended.agent_id, ended.rows = reply.answer.agent_id, {}
        before = len(found)
        found |= {key_of(row): row for row in page}
        dropped += reply.dropped
        offset += PAGE
        is_whole = len(page) + reply.dropped != PAGE or len(found) == before
        pages = FIRST_PAGES if not ended.rows else 1
        if is_whole or offset >= (WHOLE_PAGES_MAX if whole else LIVE_PAGES_MAX) * PAGE:
            break
        if not whole and page and is_final(page[-1]) and offset >= pages * PAGE:
            break
    known = {key: row for key, row in found.items() if is_final(row)}
    if not is_whole:
        # What is older than these pages was read before, and stays as it was.
        known |= {key: row for key, row in ended.rows.items() if key not in found}
    ended.rows = known if whole else dict(islice(known.items(), ENDED_KEPT))
    live = [row for row in found.values() if not is_final(row)]
    return PositionRows([*live, *ended.rows.values()], reply.answer, dropped, reply.latency_s)


def key_of(row: PositionBody) -> Key:
    """Identity of a row; a market has a second row for a side sold whole, and for each wallet."""
    sides = tuple(side.side for side in row.sides)
    held = sides or (f"{row.shares_yes > 0}", f"{row.shares_no > 0}")
    return row.venue, row.market_id, held, row.wallet or ""


def is_final(row: PositionBody) -> bool:
    """True if a row can never change again: it has an outcome and nothing to redeem."""
    return outcome_in(row) is not None and not row.redeemable

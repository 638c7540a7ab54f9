"""The time and outcome of a market's end, as fields of the wire."""

from datetime import datetime
from typing import TypedDict

from service_tui.engine.books.venues import VenuePosition
from service_tui.engine.listing import Listing
from service_tui.engine.world import World
from service_tui.outcome import Outcome
from service_tui.terms import Side
from service_tui.wire.base import moment


class EndedFields(TypedDict):
    """`outcome` is null where neither side won whole: what YES pays, or void, stands beside it."""

    outcome: bool | None
    payout_per_yes: float | None
    voided: bool


def ended_fields(outcome: Outcome | None) -> EndedFields:
    """The fields of an outcome; null while the market has none."""
    if outcome is None:
        return EndedFields(outcome=None, payout_per_yes=None, voided=False)
    winner = outcome.winner
    return EndedFields(
        outcome=None if winner is None else winner is Side.YES,
        payout_per_yes=outcome.part,
        voided=outcome.is_void,
    )


def ended_word(outcome: Outcome, *, won: bool) -> str:
    """The status of a position after the end."""
    if outcome.is_void:
        return "voided"
    if outcome.winner is None:
        # ours: at a part of 1 a position has neither won nor lost: its P&L says which.
        return "settled"
    return "won" if won else "lost"


def announced(listing: Listing) -> datetime | None:
    """The time at which a market may resolve; None if none was announced."""
    end = listing.announced_end()
    return None if end is None else moment(end)


def announced_for(world: World, holding: VenuePosition) -> datetime | None:
    """When the market of a position on a real venue may resolve, also once it is forgotten."""
    market = world.markets.get(holding.position.market_id)
    if market is not None:
        return announced(market.listing)
    # Of a history nobody knows any more whether it was announced; when it ended stands beside it.
    return None if world.history is not None else moment(holding.resolves_at)

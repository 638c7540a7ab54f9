"""An ended market without a record, rebuilt from the tape."""

from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.engine.listing import Listing
from service_tui.engine.tape.belief import belief
from service_tui.engine.tape.crowd import opening_of
from service_tui.units import Timestamp

POINTS: Final = 48
"""Prices of the whole life, for its chart."""


def market_from_tape(listing: Listing, *, outcome: bool) -> Market:
    """A market as it ended.

    Args:
        listing: what the tape holds of it.
        outcome: how it ended; the payout counts, even if the tape would differ today.

    Returns:
        The market, resolved.
    """
    # ours: what was traded is not known any more; prices are what the tape held to be true.
    market = Market(listing)
    for trade in opening_of(listing, listing.resolves_at):
        market.move(trade.side, trade.shares)
    step_s = (listing.resolves_at - listing.opens_at) / POINTS
    for index in range(POINTS + 1):
        then = Timestamp(listing.opens_at + index * step_s)
        market.samples.append((then, round(belief(listing, then), 4)))
    market.last_sample_at = listing.resolves_at
    market.outcome = outcome
    market.resolved_at = listing.resolved_at
    return market

"""An ended market without a record, rebuilt from the tape."""

from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.engine.listing import Listing
from service_tui.engine.tape.belief import first_beliefs
from service_tui.engine.tape.crowd import opening_of
from service_tui.outcome import Outcome

POINTS: Final = 48
"""Prices of the whole life, for its chart."""


def market_from_tape(listing: Listing, *, outcome: Outcome) -> Market:
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
    market.samples += first_beliefs(listing, step_s, POINTS + 1)
    market.last_sample_at = listing.resolves_at
    market.outcome = outcome
    market.resolved_at = listing.resolved_at
    return market

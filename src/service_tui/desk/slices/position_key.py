"""The key of a position: market, side and venue."""

from service_tui.terms import Side, Venue


def position_key(market_id: str, side: Side, venue: Venue) -> str:
    """A market can be held on both sides, and on several venues; play money has no suffix."""
    own = f"{market_id}:{side.value}"
    return own if venue is Venue.SIM else f"{own}:{venue.value}"

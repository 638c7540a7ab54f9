"""What lies on the real venues, from the wire."""

from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.translate import amount
from service_tui.terms import Venue
from service_tui.wire.base import timestamp
from service_tui.wire.positions import PortfolioBody, PortfolioVenue


def venue_sums(body: PortfolioBody) -> tuple[VenueSumView, ...]:
    """A view for each real venue that the service tells of; to who is not claimed it tells none."""
    told = ((Venue.EVM, body.polymarket), (Venue.SOL, body.kalshi))
    return tuple(_venue_sum(venue, row) for venue, row in told if row is not None)


def _venue_sum(venue: Venue, row: PortfolioVenue) -> VenueSumView:
    return VenueSumView(
        venue=venue,
        cash=None if row.balance is None else amount(row.balance),
        reserved=amount(row.reserved),
        value=amount(row.total_exposure),
        positions=row.positions_count,
        pnl=None if row.pnl is None else amount(row.pnl),
        pnl_at=None if row.pnl_as_of is None else timestamp(row.pnl_as_of),
        trades=row.trades_count,
    )

"""Money and positions on the real venues, by venue and so by currency."""

from dataclasses import dataclass
from typing import Final

from service_tui.terms import MONEY_OF, Venue
from service_tui.units import Micros, Timestamp

PNL_FRESH_S: Final = 900.0
"""How long a venue's own P&L is good. Source: spec, "Other behaviour": refreshed in 15 minutes."""


@dataclass(frozen=True, slots=True)
class VenueSumView:
    """One real venue, micros of its money; `reserved` is kept by open buys.

    `value` is what the open positions are marked at. `pnl` is the venue's own figure, taken at
    `pnl_at`, wall time; None where it tells none. `trades` counts the orders that ever traded.
    """

    venue: Venue
    cash: Micros | None
    reserved: Micros
    value: Micros
    positions: int
    pnl: Micros | None
    pnl_at: Timestamp | None
    trades: int = 0

    @property
    def money(self) -> str:
        """Currency of its amounts."""
        return MONEY_OF[self.venue]

    @property
    def is_used(self) -> bool:
        """True if the venue was ever used."""
        return bool(self.positions or self.reserved or self.pnl or self.trades)

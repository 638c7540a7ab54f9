"""Positions as screens show them, also at prices newer than the service reported."""

import math
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.position_key import position_key
from service_tui.outcome import Outcome
from service_tui.terms import (
    MarketStatus,
    Side,
    Venue,
)
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class PositionView:
    """One side of one market. `cost` is of the open shares; P&L is realized plus unrealized.

    `mark_price`, `mark_value` and `unrealized` are None while no price of the side is known.
    `exit_value` is what selling this side alone would bring, `exit_together` its part of what
    selling both sides of the market would, None where that is not reported. `wallet` is the address
    that holds it, empty where only one ever did.
    """

    market_id: str
    question: str
    category: str
    side: Side
    venue: Venue
    status: MarketStatus
    shares: Micros
    cost: Micros
    average: float | None
    mark_price: float | None
    mark_value: Micros | None
    exit_value: Micros | None
    unrealized: Micros | None
    realized: Micros
    resolves_at: Timestamp | None
    opened_at: Timestamp | None
    outcome: Outcome | None = None
    exit_together: Micros | None = None
    wallet: str = ""

    @property
    def is_closed(self) -> bool:
        """True once the outcome is confirmed and paid."""
        return self.status is MarketStatus.RESOLVED

    @property
    def is_sold(self) -> bool:
        """True if all of it was sold before the outcome: none is its own."""
        return self.is_closed and self.outcome is None and not self.shares

    @property
    def end_text(self) -> str:
        """The state of its market; `sold` if it was sold before the outcome."""
        return "sold" if self.is_sold else self.status.value

    @property
    def key(self) -> str:
        """Identity of the row: other wallets may have had the same side before."""
        return f"{self.place}:{self.wallet}" if self.is_closed and self.wallet else self.place

    @property
    def place(self) -> str:
        """The side of a market on a venue, as orders and monitors name it."""
        return position_key(self.market_id, self.side, self.venue)

    @property
    def pnl(self) -> Micros | None:
        """Realized plus unrealized P&L."""
        return None if self.unrealized is None else Micros(self.realized + self.unrealized)

    @property
    def to_redeem(self) -> Micros:
        """What it won and is not paid yet; 0 before the outcome, and on sim, which pays at once."""
        waits = self.is_closed and self.venue is not Venue.SIM
        return (self.mark_value or Micros(0)) if waits else Micros(0)

    @property
    def pnl_pct(self) -> float | None:
        """Unrealized P&L as a fraction of the cost of the open shares."""
        return None if self.unrealized is None or not self.cost else self.unrealized / self.cost


_ROUNDED: Final = 0.6e-6
"""How far a price of six decimals may lie from the one that it was rounded from, and a hair."""


def remark(position: PositionView, market: MarketView | None) -> PositionView:
    """The position at the market's price of now; shares and cost stay the service's."""
    if market is None or position.status is not MarketStatus.ACTIVE:
        return position
    price = market.price_of(position.side)
    value = Micros(math.floor(position.shares * price))
    was = position.mark_price
    if was is not None and position.mark_value is not None and abs(price - was) <= _ROUNDED:
        # The same price, rounded as lists of markets have it: what was valued by all of it stays.
        price, value = was, position.mark_value
    if value == position.mark_value and position.status is market.status:
        return position
    left, together = position.exit_value, position.exit_together
    if position.mark_value:
        # Until the service reports them again: the same part of the mark as last time.
        left, together = (
            None if one is None else Micros(one * value // position.mark_value)
            for one in (left, together)
        )
    return replace(
        position,
        exit_value=left,
        exit_together=together,
        category=market.category,
        status=market.status,
        mark_price=price,
        mark_value=value,
        unrealized=Micros(value - position.cost),
        resolves_at=market.resolves_at,
    )

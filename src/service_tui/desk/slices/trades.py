"""The agent's own trades and payouts, as the service's history has them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.terms import (
    Action,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.units import Micros, Timestamp


class Deal(StrEnum):
    """Type of a row in the history; the values are the labels of its row.

    `order`: an order of which nothing was filled. It bought and sold nothing.
    """

    BUY = "buy"
    SALE = "sell"
    PAYOUT = "payout"
    ORDER = "order"


REDEEM: Final = "redeem"
"""The word of the wire for a payout. Source: wire reference, 3.5."""


@dataclass(frozen=True, slots=True)
class TradeView:
    """One accepted order, or a payout (`action` redeem).

    `signal_data` are the figures of the signal that came with the trade, by name.
    `fee` is what the venue took beside `cost`, None where it is not reported.
    """

    trade_id: str
    market_id: str
    question: str
    side: Side
    action: str
    shares: Micros
    cost: Micros
    average: float | None
    price_before: float | None
    price_after: float | None
    venue: Venue
    status: TradeStatus
    reasoning: str
    source: str
    at: Timestamp
    pnl: Micros | None
    client_ref: str = ""
    skill_slug: str = ""
    signal_data: tuple[tuple[str, str], ...] = ()
    fee: Micros | None = None

    @property
    def deal(self) -> Deal:
        """Type of the row: buys and sales are fills, a redemption is a payout."""
        if self.action == REDEEM:
            return Deal.PAYOUT
        if self.shares <= 0 and self.cost <= 0:
            return Deal.ORDER
        return Deal.BUY if self.action == Action.BUY.value else Deal.SALE

    @property
    def is_fill(self) -> bool:
        """True if shares were bought or sold: not a payout, and no order without a fill."""
        return self.deal in {Deal.BUY, Deal.SALE} and self.shares > 0

    @property
    def did(self) -> str:
        """The same for a line of text; an order names its direction: `buy order`."""
        return f"{self.action} order" if self.deal is Deal.ORDER else self.deal.value

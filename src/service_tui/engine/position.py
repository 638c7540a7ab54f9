"""One agent's position in one market: shares, cost, and P&L of shares sold or paid out.

Both sides may be held at once. Whatever the order of fills, in exact micros:
realized + unrealized P&L = money received - money spent + mark value.
"""

import math
from dataclasses import dataclass, field
from typing import Final

from service_tui.outcome import Outcome
from service_tui.terms import Side
from service_tui.units import Micros, Probability, Timestamp

_NONE: Final = Micros(0)
_YES: Final = Side.YES


class NotHeldError(ValueError):
    """A trade that no position can take: nothing bought, or more sold than is held."""


@dataclass(slots=True)
class SidePosition:
    """Open shares of one side and their cost; P&L of all shares sold or paid out.

    `opened_at` is the first fill since the side was last flat, `bought_at` the last buy; 0 before
    any. `stop_basis` is what stops are measured from, of all open shares: each buy's spend, or its
    shares at the mark right after it if that was less; 0 where no buy has noted one.
    """

    shares: Micros = _NONE
    cost: Micros = _NONE
    realized: Micros = _NONE
    opened_at: Timestamp = Timestamp(0.0)
    bought_at: Timestamp = Timestamp(0.0)
    stop_basis: Micros = _NONE

    def cost_of(self, shares: Micros) -> Micros:
        """Cost that a sale of so many shares takes off.

        Returns:
            Their part of the cost; of all shares, all of it.

        Raises:
            NotHeldError: not between zero and what is held.
        """
        held = self.shares
        if not 0 < shares <= held:
            raise NotHeldError(f"{shares} micros of shares are not among the {held} held")
        # ours: rounded up, so that realized P&L is rounded against the owner.
        return Micros(-(-self.cost * shares // held))

    def average_entry(self) -> float | None:
        """Cost of a share; None when flat. Dust may lie outside (0, 1), by its rounding."""
        return self.cost / self.shares if self.shares else None

    def reference(self) -> float | None:
        """Price that a stop is measured from; None when flat.

        For each buy the lower of its entry and the mark right after it: a spread, or what the buy
        itself paid for its size, is no fall of the price; what fell between two buys is.
        Source: decisions, "A stop after a buy".
        """
        return (self.stop_basis or self.cost) / self.shares if self.shares else None

    def mark_value(self, price: float) -> Micros:
        """Shares times the price of this side, rounded down."""
        return Micros(math.floor(self.shares * price))


@dataclass(slots=True)
class Position:
    """Both sides of one agent in one market, changed by fills and by the outcome."""

    agent_id: str
    market_id: str
    yes: SidePosition = field(default_factory=SidePosition)
    no: SidePosition = field(default_factory=SidePosition)

    def on(self, side: Side) -> SidePosition:
        """One side."""
        return self.yes if side is _YES else self.no

    def shares(self, side: Side) -> Micros:
        """Open shares of a side."""
        return (self.yes if side is _YES else self.no).shares

    def cost(self, side: Side) -> Micros:
        """Cost of the open shares of a side."""
        return (self.yes if side is _YES else self.no).cost

    def realized(self, side: Side) -> Micros:
        """P&L of the shares of a side that were sold or paid out."""
        return (self.yes if side is _YES else self.no).realized

    def opened_at(self, side: Side) -> Timestamp:
        """Time of the first fill since a side was last flat; 0 before any."""
        return (self.yes if side is _YES else self.no).opened_at

    def total_cost(self) -> Micros:
        """Cost of the open shares of both sides."""
        return self.yes.cost + self.no.cost

    def buy(
        self, side: Side, shares: Micros, spend: Micros, at: Timestamp, *, mark: float = 0.0
    ) -> None:
        """Add shares and what they cost; `mark` is that of the side right after, 0 if not known.

        Raises:
            NotHeldError: shares are not above zero, or the spend is below.
        """
        if not (shares > 0 and spend >= 0):
            raise NotHeldError(f"{shares} micros of shares for {spend} are not a buy")
        held = self.yes if side is _YES else self.no
        if held.shares == 0:
            held.opened_at = at
        held.bought_at = at
        if mark or held.stop_basis:
            # Shares of older programs have their cost: they noted no mark.
            least = min(spend, math.floor(shares * mark)) if mark else spend
            held.stop_basis = Micros((held.stop_basis or held.cost) + least)
        held.shares += shares
        held.cost += spend

    def sell(self, side: Side, shares: Micros, proceeds: Micros) -> Micros:
        """Take shares away with their part of the cost; refuses like `SidePosition.cost_of`.

        Returns:
            P&L of this sale.
        """
        cost = self.on(side).cost_of(shares)
        realized = proceeds - cost
        self.take(side, shares, cost, realized)
        return realized

    def take(self, side: Side, shares: Micros, cost: Micros, realized: Micros) -> None:
        """Take shares away whose cost and P&L are known.

        A sale of everything closes the side exactly: no share and no cost is left.
        """
        held = self.yes if side is _YES else self.no
        held.stop_basis -= Micros(-(-held.stop_basis * shares // held.shares))
        held.shares -= shares
        held.cost -= cost
        held.realized += realized

    def settle(self, outcome: Outcome) -> Micros:
        """Close both sides at the outcome.

        Returns:
            What both sides bring.
        """
        payout = _NONE
        for side, held in ((Side.YES, self.yes), (Side.NO, self.no)):
            received = outcome.paid(side, held.shares, held.cost)
            held.realized += received - held.cost
            held.shares = held.cost = held.stop_basis = _NONE
            payout += received
        return payout

    def mark_value(self, yes_price: Probability) -> Micros:
        """Value of both sides at a price of YES, and of NO at one less that, each rounded down."""
        return self.yes.mark_value(yes_price) + self.no.mark_value(1.0 - yes_price)

    def unrealized(self, yes_price: Probability) -> Micros:
        """Mark value of both sides less their cost."""
        return self.mark_value(yes_price) - self.yes.cost - self.no.cost

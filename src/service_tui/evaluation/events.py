"""The cost of all outcomes of one event together, and the payout of holding all of them.

A set is the same shares of every outcome. If exactly one comes true, a set of YES pays its shares
once, and a set of NO pays them for every outcome but one: whichever that is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.units import ONE, Micros, Probability

SET_SHARES: Final = Micros(100 * ONE)
"""ours: sets are priced for 100 shares: a cent a share is a round figure then."""


@dataclass(frozen=True, slots=True)
class OutcomePrice:
    """One outcome: its price of YES, the depth of its market maker, the best of its book.

    `depth` is the parameter b of the market maker; None, as of a book, where nobody says.
    """

    yes: Probability
    depth: Micros | None = None
    bid: float | None = None
    ask: float | None = None


@dataclass(frozen=True, slots=True)
class SetPrice:
    """What a set costs now, None where one of its parts has no price, and what it pays."""

    cost: Micros | None
    pays: Micros

    @property
    def gain(self) -> Micros | None:
        """What is left of the payout; a loss is below 0."""
        return None if self.cost is None else Micros(self.pays - self.cost)


@dataclass(frozen=True, slots=True)
class EventSums:
    """The sums over the outcomes of an event.

    `yes_set` and `no_set` are at the market makers, slippage included; `asks` and `bids` are sums
    of the best prices on the books, for no more shares than stand there.
    """

    sum_yes: float
    yes_set: SetPrice
    no_set: SetPrice
    asks: float | None
    bids: float | None


def event_sums(outcomes: Sequence[OutcomePrice], shares: Micros = SET_SHARES) -> EventSums:
    """The sums over outcomes, of sets of so many shares."""
    yes = [share_cost(one.yes, one.depth, shares) for one in outcomes]
    no = [share_cost(1.0 - one.yes, one.depth, shares) for one in outcomes]
    return EventSums(
        math.fsum(one.yes for one in outcomes),
        SetPrice(_total(yes), shares),
        SetPrice(_total(no), Micros(shares * max(0, len(outcomes) - 1))),
        _sum([one.ask for one in outcomes]),
        _sum([one.bid for one in outcomes]),
    )


def share_cost(price: float, depth: Micros | None, shares: Micros) -> Micros | None:
    """What shares cost at a market maker, rounded up; None without one."""
    if not depth or not 0.0 < price < 1.0:
        return None
    return Micros(math.ceil(cost_of(price, float(depth), float(shares))))


def cost_of(price: float, depth: float, shares: float) -> float:
    """What shares of a side cost at a market maker; what a sale brings is below 0.

    Source: Hanson 2003, C(q + n) - C(q) = b ln(1 + p (exp(n / b) - 1)).

    Args:
        price: of the side before the trade, 0 to 1; above 0 where shares are bought.
        depth: the parameter b, above 0.
        shares: bought, or sold below 0; in the unit of `depth`.

    Returns:
        Money in that unit, not rounded.
    """
    steps = shares / depth
    if steps < _STEPS_MAX:
        return depth * math.log1p(price * math.expm1(steps))
    return shares + depth * math.log(price)


_STEPS_MAX: Final = 500.0
"""Shares in depths from which on the price is 1 for all that a float can tell."""


def _total(costs: Sequence[Micros | None]) -> Micros | None:
    known = [cost for cost in costs if cost is not None]
    return Micros(sum(known)) if known and len(known) == len(costs) else None


def _sum(prices: Sequence[float | None]) -> float | None:
    known = [price for price in prices if price is not None]
    return math.fsum(known) if known and len(known) == len(prices) else None

"""Prices of a market over a span: sampled trades, the belief between them."""

from itertools import chain

from service_tui.engine.amm.market import Market
from service_tui.engine.tape.belief import belief
from service_tui.units import Timestamp


def prices(
    market: Market, since: Timestamp, until: Timestamp, count: int
) -> list[tuple[Timestamp, float]]:
    """Prices of YES at even steps, oldest first, the last one at `until`.

    Args:
        market: the market.
        since: begin of the span; before the listing there is nothing.
        until: end of the span; after the market closed its last price stays.
        count: steps, >= 1.

    Returns:
        At most `count` + 1 points. A step without a recorded price gets the belief of its end:
        the crowd trades at beliefs, so this is where the price was.
    """
    listing = market.listing
    first = max(since, listing.opens_at)
    last = min(until, listing.resolves_at)
    if not last > first:
        return [(last, market.price())]
    step_s = (last - first) / count
    known: dict[int, float] = {}
    for at, price in chain(market.samples, market.recent):
        if first <= at <= last:
            known[min(count, int((at - first) / step_s))] = price
    points: list[tuple[Timestamp, float]] = []
    for index in range(count):
        at = Timestamp(first + (index + 1) * step_s)
        recorded = known.get(index)
        points.append((at, belief(listing, at) if recorded is None else recorded))
    points[-1] = (last, market.price())
    return points

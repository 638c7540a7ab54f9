"""Candles of a market: open, high, low and close of each even step."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from service_tui.engine.amm.market import HOUR_S, VOLUME_HOURS, Market
from service_tui.engine.tape.belief import belief
from service_tui.units import Micros, Timestamp

_PARTS = 4
"""Beliefs that are looked at in a step nobody recorded."""


class PriceCandle(NamedTuple):
    """Prices of YES over one step; `volume` is None where only the hour's sum is known."""

    opens_at: Timestamp
    open: float
    high: float
    low: float
    close: float
    volume: Micros | None


def candles(
    market: Market, since: Timestamp, until: Timestamp, step_s: float
) -> Iterator[PriceCandle]:
    """Candles at even steps, oldest first.

    A step opens at the close of the one before. Where no price was recorded the belief stands in:
    the crowd trades at beliefs, so this is where the price was.

    Args:
        market: the market; before its listing and after its end it has no candles.
        since: begin of the first step, a multiple of `step_s`.
        until: end of the span.
        step_s: length of a step, seconds.

    Yields:
        A candle for each step in which the market was open.
    """
    listing = market.listing
    recorded: dict[int, list[float]] = {}
    for at, price in chain(market.samples, market.recent):
        recorded.setdefault(int((at - since) // step_s), []).append(price)
    last = None
    steps = max(0, int(-(-(until - since) // step_s)))
    for index in range(steps):
        opens_at = Timestamp(since + index * step_s)
        closes_at = min(opens_at + step_s, until, listing.resolves_at)
        begins_at = max(opens_at, listing.opens_at)
        if closes_at <= begins_at:
            continue
        known = recorded.get(index) or [
            belief(listing, Timestamp(begins_at + (closes_at - begins_at) * part / _PARTS))
            for part in range(1, _PARTS + 1)
        ]
        first = known[0] if last is None else last
        last = known[-1]
        yield PriceCandle(
            opens_at,
            first,
            max(first, *known),
            min(first, *known),
            last,
            _volume(market, opens_at, step_s),
        )


def _volume(market: Market, opens_at: Timestamp, step_s: float) -> Micros | None:
    """Money traded in a step of whole hours, None for a shorter step or a forgotten hour."""
    hours = int(step_s // HOUR_S)
    if not hours:
        return None
    first = int(opens_at // HOUR_S)
    if not market.volumes or first <= max(market.volumes) - VOLUME_HOURS:
        return None
    return Micros(sum(market.volumes.get(first + hour, 0) for hour in range(hours)))

"""Simulated quotes of a venue's order book around an outside price.

A pure function of seed, market and refresh: no state, nothing stepped through. Where a bid and an
ask are recorded, they stand, and the price does not wobble.
"""

import math
from typing import Final, NamedTuple

from service_tui import terms
from service_tui.engine.listing import Listing
from service_tui.engine.tape.belief import chance_of, log_odds, path_key
from service_tui.engine.tape.draws import Draws, mix
from service_tui.terms import Category, Venue
from service_tui.units import ONE, Micros, Timestamp

REFRESH_S: Final = 3.0
"""Seconds of the tape after which the simulated traders put up new quotes."""

# ours: the ticks and where they grow finer are those of the venue behind the spec.
TICK: Final = Micros(10_000)
TICK_FINE: Final = Micros(1_000)
EDGE: Final = 0.04
"""Prices move in cents, and in tenths of a cent within four cents of either end."""

PRICE_LOW: Final = Micros(round(terms.PRICE_LOW * ONE))
PRICE_HIGH: Final = Micros(round(terms.PRICE_HIGH * ONE))
"""Range of an order's price. Source: wire reference, 4.1."""


class Tier(NamedTuple):
    """How liquid a market is: half the spread, levels a side, money a level, wobble in log-odds."""

    name: str
    half_spread: float
    levels: int
    depth: float
    wobble: float


# ours: the figures; one dollar order fits into a level, a hundred walk through several.
TIERS: Final = (
    (1_800 * ONE, Tier("tight", 0.004, 10, 260.0, 0.02)),
    (750 * ONE, Tier("moderate", 0.012, 8, 90.0, 0.03)),
    (0, Tier("wide", 0.030, 6, 35.0, 0.05)),
)
"""Tiers by the least liquidity parameter of the question's market maker."""

_EVM_FEES: Final = {
    Category.POLITICS: 400,
    Category.SPORTS: 300,
    Category.WEATHER: 500,
    Category.CRYPTO: 720,
    Category.SCIENCE: 0,
    Category.CULTURE: 500,
    Category.ECONOMICS: 400,
    Category.OTHER: 500,
}
_SOL_FEE: Final = 700
"""Basis points for takers. # ours: figures in the range that such venues charge."""

_COLLATERAL_MIN: Final = 0.05
_SIZES: Final = (0.5, 1.7)
_DEEPER: Final = 0.3
_CURVE: Final = 4.0
_SPREAD_MIN: Final = 0.15
"""Shape: a level's money varies and grows outwards; spreads shrink towards the ends."""


class PriceLevel(NamedTuple):
    """Shares that stand at a price of YES, both micros."""

    price: Micros
    shares: Micros


class RefreshedQuotes(NamedTuple):
    """The quotes of one refresh, best first; never crossed."""

    number: int
    external: float
    tick: Micros
    bids: tuple[PriceLevel, ...]
    asks: tuple[PriceLevel, ...]


def refresh_at(listing: Listing, world_at: Timestamp) -> int:
    """The number of the refresh that stands at a moment; the last one before the market closed."""
    return int(min(world_at, listing.resolves_at - REFRESH_S) // REFRESH_S)


def quoted_at(number: int) -> Timestamp:
    """When a refresh was put up, the tape's time."""
    return Timestamp(number * REFRESH_S)


def tier_of(listing: Listing) -> Tier:
    """How liquid the question's book is."""
    return next(tier for least, tier in TIERS if listing.b >= least)


def fee_rate_bps(listing: Listing) -> int:
    """The taker's fee, basis points; trades with the market maker are free."""
    if listing.home is Venue.EVM:
        return _EVM_FEES[listing.category]
    return _SOL_FEE if listing.home is Venue.SOL else 0


def background(seed: int, listing: Listing, number: int) -> RefreshedQuotes:
    """The simulated quotes of one refresh.

    Args:
        seed: the world.
        listing: the market.
        number: the refresh, from `refresh_at`.

    Returns:
        Levels a tick apart on both sides of the outside price; a side may be empty at the edge.
    """
    draws = Draws(mix(seed, number), path_key(listing))
    tier = tier_of(listing)
    top = _recorded(listing, quoted_at(number)) or _drawn(listing, quoted_at(number), tier, draws)
    external = top.external
    tick = TICK if EDGE <= external <= 1.0 - EDGE else TICK_FINE
    steps = ONE // tick
    # What is a whole tick in decimals may be a hair beside it in binary.
    bid = math.floor(round(top.bid * steps, 6))
    ask = max(bid + 1, math.ceil(round(top.ask * steps, 6)))
    return RefreshedQuotes(
        number,
        external,
        tick,
        _with_best(_side(range(bid, bid - tier.levels, -1), tick, tier, draws), top.bid_shares),
        _with_best(_side(range(ask, ask + tier.levels), tick, tier, draws), top.ask_shares),
    )


class _Top(NamedTuple):
    """Best prices around an outside price, chances; the shares there, 0 where the tier says."""

    external: float
    bid: float
    ask: float
    bid_shares: float = 0.0
    ask_shares: float = 0.0


def _drawn(listing: Listing, at: Timestamp, tier: Tier, draws: Draws) -> _Top:
    """The spread of the tier around a price that wobbles a little."""
    external = chance_of(log_odds(listing, at) + tier.wobble * draws.normal())
    half = tier.half_spread * max(_SPREAD_MIN, _CURVE * external * (1.0 - external))
    return _Top(external, external - half, external + half)


def _recorded(listing: Listing, at: Timestamp) -> _Top | None:
    """The bid and the ask recorded last; None where none are by then."""
    path = None if listing.origin is None else listing.origin.path
    found = None if path is None else path.quote_at(at)
    if path is None or found is None:
        return None
    # ours: where the price has been recorded more often than bid and ask, they move along with it:
    # a bid of an hour ago would be a gift. A side on which nobody stood stays empty.
    moved = path.price_at(at) - path.price_at(found.at)
    return _Top(
        chance_of(log_odds(listing, at)),
        found.bid + moved if found.bid > 0.0 else 0.0,
        found.ask + moved if found.ask < 1.0 else 1.0,
        found.bid_shares,
        found.ask_shares,
    )


def _with_best(levels: tuple[PriceLevel, ...], recorded: float) -> tuple[PriceLevel, ...]:
    """Levels with the recorded shares at the best price, where they are known."""
    # ours: only the shares at the best prices are recorded; what stands behind is drawn.
    if not levels or not recorded:
        return levels
    return levels[0]._replace(shares=_whole(recorded)), *levels[1:]


def _whole(shares: float) -> Micros:
    return Micros(max(1, round(shares)) * ONE)


def _side(ticks: range, tick: Micros, tier: Tier, draws: Draws) -> tuple[PriceLevel, ...]:
    """The levels of one side that lie in the range of prices."""
    levels: list[PriceLevel] = []
    for depth, step in enumerate(ticks):
        money = tier.depth * (1.0 + _DEEPER * depth) * draws.between(*_SIZES)
        price = step * tick
        if PRICE_LOW <= price <= PRICE_HIGH:
            collateral = price if ticks.step < 0 else ONE - price
            shares = money / max(_COLLATERAL_MIN, collateral / ONE)
            levels.append(PriceLevel(Micros(price), _whole(shares)))
    return tuple(levels)

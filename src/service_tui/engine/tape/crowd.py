"""The simulated crowd's buys in one step of the tape.

Everything is a function of seed, tick and prices.

Informed traders look in now and then and push the price part of the way to the belief, if the gap
is worth it; noise traders buy either side with the price as its chance, which moves prices up as
often as down. Only buys: to buy NO is to lower YES.
"""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from operator import itemgetter
from typing import Final, NamedTuple

from service_tui.engine.amm import lmsr
from service_tui.engine.amm.market import Market
from service_tui.engine.errors import Refusal
from service_tui.engine.events import CrowdTrade
from service_tui.engine.listing import Listing
from service_tui.engine.tape.belief import belief, path_key
from service_tui.engine.tape.draws import Draws, mix
from service_tui.terms import MarketStatus, Side
from service_tui.units import ONE, PRICE_MAX, PRICE_MIN, Micros, Timestamp, shares_down

INTENTIONS_MAX: Final = 40
"""Trades of one tick, however much time it covers: at 60x the crowd trades in larger lots."""

_NOISE_MAX: Final = 14
"""Of these at most so many are noise; the rest go to the widest gaps."""

_LOOKS_A_SECOND: Final = 0.22
_LOOKS_SHORT_A_SECOND: Final = 0.6
_SHORT_S: Final = 1_800.0
"""How often somebody informed looks at a market, and at one that lasts less than half an hour."""

_GAP_MIN: Final = 0.008
_GAP_SURE: Final = 0.07
"""Gaps in price below which nobody bothers, and at which a look is as good as a trade."""

_GAP_RECORDED: Final = 0.1
"""The share of a price near 0 or 1 below which nobody bothers about a recorded one."""

_PUSH: Final = (0.35, 0.85)
"""Share of the gap in log-odds that a correction closes."""

AT_ONCE_S: Final = 60.0
"""A step of a recorded world that covers more seconds brings every market to its recorded price."""

_BUDGET_MIN: Final = 250.0
_BUDGET_B: Final = 0.4
"""Most that a correction costs: $SIM, or this share of b where that is more."""

_NOISE_A_SECOND: Final = (0.03, 0.16)
"""Noise trades of one market; some markets are more in fashion than others."""

_NOISE_MEDIAN: Final = 13.0
_NOISE_SPREAD: Final = 1.05
_WHALE_CHANCE: Final = 0.012
_WHALE: Final = (150.0, 700.0)
_NOISE_PRICE_MAX: Final = 0.98
_LOT_B_MAX: Final = 0.3
"""Noise in $SIM: log-normal, now and then a whale, never so much that a small market jumps away."""

_ROUNDING: Final = ((20.0, 1.0), (100.0, 5.0), (math.inf, 25.0))
"""People type round amounts: below the first, in steps of the second."""

_CENT: Final = ONE // 100

INFORMED: Final = (
    "tern_survey", "basis_point", "oldkeel", "quietledger", "ninefathoms", "martingale_mae",
    "slowlight", "northdesk",
)  # fmt: skip
NOISE: Final = (
    "pippin", "gutfeeling", "rooklift", "sunday_trader", "velvetfox", "tuppence", "halfmoon",
    "brightside", "coinflipper", "mossback", "lucky_oona", "threeacorns", "kettledrum",
)  # fmt: skip
WHALES: Final = ("leviathan", "big_bertil", "deepwater")
"""Handles of the crowd, all invented; who watches the tape learns whom to follow."""


class Intention(NamedTuple):
    """A buy of the crowd, `spend` > 0; at the price handed in it stays a legal order."""

    market_id: str
    side: Side
    spend: Micros
    trader: str


def intentions(
    seed: int,
    quotes: Iterable[tuple[Listing, float]],
    *,
    tick: int,
    at: Timestamp,
    span_s: float,
) -> list[Intention]:
    """What the crowd buys in one tick, at most one trade a market.

    Args:
        seed: the world.
        quotes: markets with their price of YES, 0 < p < 1; those that are not open are passed over.
        tick: number of the move of the tape.
        at: the tape's time at its end.
        span_s: seconds of the tape that it covers, > 0.

    Returns:
        At most INTENTIONS_MAX intentions, in the order in which to carry them out.
    """
    informed: list[tuple[float, float, Intention]] = []
    noise: list[tuple[float, Intention]] = []
    moment = mix(seed, tick)
    for listing, price in quotes:
        if not listing.opens_at <= at < listing.resolves_at:
            continue
        draws = Draws(moment, path_key(listing))
        order = draws.unit()
        looks = _looks(listing) * span_s
        if draws.unit() < -math.expm1(-looks):
            gap = belief(listing, at) - price
            intention = _correction(listing, price, gap=gap, looks=looks, draws=draws)
            if intention is not None:
                informed.append((-abs(gap), order, intention))
                continue
        if listing.origin is not None:
            # What others did is in the recorded prices: noise of our own would blur them.
            continue
        if draws.unit() < -math.expm1(-_fashion(listing) * span_s):
            intention = _noise(listing, price, draws)
            if intention is not None:
                noise.append((order, intention))
    # Too many are cut by rank, never by the order of the quotes: widest gaps, then the lot.
    informed.sort(key=itemgetter(0, 1))
    noise.sort(key=itemgetter(0))
    del noise[_NOISE_MAX:]
    chosen = noise + [ranked[1:] for ranked in informed[: INTENTIONS_MAX - len(noise)]]
    chosen.sort(key=itemgetter(0))
    return [intention for _, intention in chosen]


def turnover(listing: Listing) -> float:
    """What the crowd trades in a market, $SIM a second, on average and roughly.

    Of a recorded one 0: there it only follows the price, and those trades are counted themselves.
    """
    if listing.origin is not None:
        return 0.0
    lot = min(_NOISE_MEDIAN * math.exp(_NOISE_SPREAD**2 / 2), _LOT_B_MAX * listing.b / ONE)
    return _fashion(listing) * lot


def crowd_trade(market: Market, target: float, trader: str) -> list[CrowdTrade]:
    """The one buy that brings the price of YES to a target; none when it is there already."""
    target = min(PRICE_MAX, max(PRICE_MIN, target))
    x = (market.no - market.yes) / market.b
    signed_shares = lmsr.shares_to_price(target, b=int(market.b), x=x)
    side = Side.YES if signed_shares > 0 else Side.NO
    shares = shares_down(abs(signed_shares) / ONE)
    if shares <= 0:
        return []
    own = x if side is Side.YES else -x
    cost = Micros(math.ceil(lmsr.cost_of_shares(int(shares), b=int(market.b), x=own)))
    return [CrowdTrade(market.market_id, side, shares, cost, trader)] if cost > 0 else []


def corrections(markets: Iterable[Market], world_at: Timestamp) -> list[CrowdTrade]:
    """The crowd's trades over a long gap, as one a market: to the belief of now."""
    trades: list[CrowdTrade] = []
    for market in markets:
        if market.status(world_at) is MarketStatus.ACTIVE:
            target = belief(market.listing, world_at)
            trades.extend(crowd_trade(market, target, "the crowd"))
    return trades


def crowd_trades(
    seed: int, markets: Mapping[str, Market], step: tuple[int, Timestamp, Timestamp]
) -> list[CrowdTrade]:
    """The crowd's trades of one ordinary step; an order that the market refuses is no trade.

    Args:
        seed: of the world.
        markets: by their id.
        step: its number, and the tape's time before and after it.

    Returns:
        The trades, not yet carried out.
    """
    tick, before, world_at = step
    if world_at - before > AT_ONCE_S and any(
        market.listing.origin is not None for market in markets.values()
    ):
        return corrections(markets.values(), world_at)
    quotes = [
        (market.listing, market.price())
        for market in markets.values()
        if market.resolved_at is None
    ]
    trades: list[CrowdTrade] = []
    for wager in intentions(seed, quotes, tick=tick, at=world_at, span_s=world_at - before):
        with suppress(Refusal):
            quote = markets[wager.market_id].quote_buy(wager.side, wager.spend)
            trades.append(
                CrowdTrade(
                    wager.market_id,
                    wager.side,
                    quote.shares,
                    wager.spend,
                    wager.trader,
                )
            )
    return trades


def opening_of(listing: Listing, world_at: Timestamp) -> tuple[CrowdTrade, ...]:
    """The trade that brings a question that is listed in the middle of its life to its price."""
    return tuple(crowd_trade(Market(listing), belief(listing, world_at), "the crowd"))


def _looks(listing: Listing) -> float:
    short = listing.resolves_at - listing.opens_at < _SHORT_S
    return _LOOKS_SHORT_A_SECOND if short else _LOOKS_A_SECOND


def _fashion(listing: Listing) -> float:
    """Noise trades a second: a trait of the market, taken from its id."""
    low, high = _NOISE_A_SECOND
    return low + (high - low) * int(listing.market_id[:4], 16) / 0xFFFF


def _correction(
    listing: Listing, price: float, *, gap: float, looks: float, draws: Draws
) -> Intention | None:
    """What an informed trader buys, or None when the gap is not worth it."""
    size = abs(gap)
    least = _GAP_MIN if listing.origin is None else _GAP_RECORDED * min(price, 1.0 - price)
    if size < min(_GAP_MIN, least) or draws.unit() > -math.expm1(
        -max(1.0, looks) * size / _GAP_SURE
    ):
        return None
    side = Side.YES if gap > 0 else Side.NO
    odds = math.log(price / (1.0 - price))
    aim = price + gap
    push = draws.between(*_PUSH) if looks <= 1.0 else _PUSH[1]
    target = odds + push * (math.log(aim / (1.0 - aim)) - odds)
    sign = 1.0 if gap > 0 else -1.0
    b = listing.b / ONE
    spend = min(
        lmsr.spend_to_price(1.0 / (1.0 + math.exp(-sign * target)), b=b, x=-sign * odds),
        max(_BUDGET_MIN, _BUDGET_B * b),
    )
    cents = round(spend * 100)
    if cents < 100:  # noqa: PLR2004  (nobody sends an order of less than a dollar)
        return None
    return Intention(listing.market_id, side, Micros(cents * _CENT), draws.pick(INFORMED))


def _noise(listing: Listing, price: float, draws: Draws) -> Intention | None:
    """A purchase without a reason; None where nothing is left to win."""
    side = Side.YES if draws.unit() < price else Side.NO
    if (price if side is Side.YES else 1.0 - price) > _NOISE_PRICE_MAX:
        return None
    if draws.unit() < _WHALE_CHANCE:
        amount = draws.between(*_WHALE)
        trader = draws.pick(WHALES)
    else:
        amount = _NOISE_MEDIAN * math.exp(_NOISE_SPREAD * draws.normal())
        trader = draws.pick(NOISE)
    amount = min(amount, _LOT_B_MAX * listing.b / ONE)
    step = next(step for below, step in _ROUNDING if amount < below)
    return Intention(
        listing.market_id, side, Micros(max(1, round(amount / step)) * round(step) * ONE), trader
    )

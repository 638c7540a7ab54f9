"""How good stated probabilities and edges were. Pure; every figure is None where it is undefined.

A forecast is a stated probability of YES, 0 to 1, the market's own at the same moment, and what
became of it: 1 for YES, 0 for NO, a part where a market paid a part.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from service_tui.evaluation.ledger import TrialLedger
from service_tui.evaluation.returns import mean_of
from service_tui.terms import Side

BINS: Final = 10
SURE: Final = 1e-6
"""# ours: a probability of 0 or 1 counts as this far from it, or one miss would be infinitely bad.
"""

Z_90: Final = 1.6448536269514722
"""Of a 90 % interval of the normal distribution."""


class Forecast(NamedTuple):
    """One stated probability of YES beside the market's, and what came; `block` as in a ledger."""

    block: str
    stated: float
    market: float
    came: float


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


def forecasts_of(ledger: TrialLedger) -> list[Forecast]:
    """The forecasts of the buys whose market has an outcome."""
    markets = ledger.by_id
    found: list[Forecast] = []
    for trade in ledger.trades:
        market = markets[trade.market_id]
        if trade.is_buy and trade.stated is not None and market.paid_yes is not None:
            found.append(Forecast(market.block, trade.stated, trade.yes_before, market.paid_yes))
    return found


def brier(pairs: Iterable[tuple[float, float]]) -> float | None:
    """Mean of (probability - outcome)²: 0 is best, 0.25 is a coin."""
    return mean_of((stated - came) ** 2 for stated, came in pairs)


def log_loss(pairs: Iterable[tuple[float, float]]) -> float | None:
    """Mean of -(o ln p + (1 - o) ln(1 - p)), natural logarithm: 0 is best, 0.693 is a coin."""

    def loss(stated: float, came: float) -> float:
        inside = min(1.0 - SURE, max(SURE, stated))
        return -(came * math.log(inside) + (1.0 - came) * math.log1p(-inside))

    return mean_of(loss(stated, came) for stated, came in pairs)


def skill_score(forecasts: Sequence[Forecast]) -> float | None:
    """1 - own Brier / the market's: above 0 is better than the price, 1 is perfect.

    None without forecasts, and where the market was never wrong.
    """
    own = brier((one.stated, one.came) for one in forecasts)
    market = brier((one.market, one.came) for one in forecasts)
    return None if own is None or not market else 1.0 - own / market


def wilson(hits: float, count: int, z: float = Z_90) -> Interval | None:
    """Wilson's interval of a share; None of nothing."""
    if not count:
        return None
    share, square = hits / count, z * z
    middle = (share + square / (2 * count)) / (1 + square / count)
    spread = math.sqrt(share * (1 - share) / count + square / (4 * count * count))
    half = z * spread / (1 + square / count)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


class CalibrationBin(NamedTuple):
    """Forecasts between two probabilities: how many, their mean, the share that came true."""

    low: float
    high: float
    forecasts: int
    stated: float
    came: float
    interval: Interval


def calibration(
    pairs: Sequence[tuple[float, float]], z: float = Z_90
) -> tuple[CalibrationBin, ...]:
    """Ten bins of stated probability, without the empty ones; `z` is that of the intervals."""
    bins: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for stated, came in pairs:
        bins[min(BINS - 1, int(stated * BINS))].append((stated, came))
    found: list[CalibrationBin] = []
    for number, members in enumerate(bins):
        interval = wilson(math.fsum(came for _, came in members), len(members), z)
        if interval is not None:
            stated = math.fsum(one for one, _ in members) / len(members)
            share = math.fsum(came for _, came in members) / len(members)
            low, high = number / BINS, (number + 1) / BINS
            found.append(CalibrationBin(low, high, len(members), stated, share, interval))
    return tuple(found)


class EdgeRow(NamedTuple):
    """Buys with about the same claimed edge: how many, claimed and realised, in price points."""

    buys: int
    claimed: float
    realised: float


def edges(ledger: TrialLedger) -> tuple[EdgeRow, ...]:
    """Claimed edge beside realised, by tenths of the buys in the order of their claim.

    Realised is what a share of the side paid in the end, less what it cost.
    """
    markets = ledger.by_id
    pairs: list[tuple[float, float]] = []
    for trade in ledger.trades:
        paid_yes = markets[trade.market_id].paid_yes
        if trade.is_buy and trade.edge is not None and paid_yes is not None:
            paid = paid_yes if trade.side is Side.YES else 1.0 - paid_yes
            pairs.append((trade.edge, paid - trade.average))
    pairs.sort()
    found: list[EdgeRow] = []
    for number in range(BINS):
        begin, end = (len(pairs) * one // BINS for one in (number, number + 1))
        part = pairs[begin:end]
        if part:
            claimed, realised = (
                math.fsum(pair[place] for pair in part) / len(part) for place in (0, 1)
            )
            found.append(EdgeRow(len(part), claimed, realised))
    return tuple(found)


def closing_line(ledger: TrialLedger) -> float | None:
    """Mean of how much the side was worth at its market's close above what a share cost.

    In price points; buys of markets that have not ended, or ended before the next round, are left
    out.
    """
    markets = ledger.by_id

    def value(side: Side, close: float) -> float:
        return close if side is Side.YES else 1.0 - close

    return mean_of(
        value(trade.side, close) - trade.average
        for trade in ledger.trades
        if trade.is_buy
        and markets[trade.market_id].ended_at is not None
        and (close := markets[trade.market_id].close_price) is not None
    )

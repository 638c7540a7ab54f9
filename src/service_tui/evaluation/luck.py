"""Tests results for luck: intervals by bootstrap over events, and random traders. Pure.

Trades in one event end together, so events are drawn, never trades.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist
from typing import Final, NamedTuple, TypeVar

from service_tui.evaluation.forecasts import Forecast, Interval
from service_tui.evaluation.ledger import MarketResult
from service_tui.units import Micros, sum_of

DRAWS: Final = 1_000
"""# ours: an end of an interval moves by less than a twentieth of its width between two seeds."""

CONTROLS: Final = 200
BLOCKS_MIN: Final = 5
"""# ours: of fewer events no interval is given: the same few would be drawn again and again."""

_TAIL: Final = 0.05

Member = TypeVar("Member")
OfBlock = TypeVar("OfBlock", MarketResult, Forecast)


def bootstrap(
    blocks: Sequence[Sequence[Member]],
    figure: Callable[[Sequence[Member]], float | None],
    rng: random.Random,
) -> Interval | None:
    """The 90 % interval of a figure: its percentiles over draws of blocks with replacement.

    The percentiles lie further out the fewer blocks there are: those of the draws alone are too
    narrow by the root of n / (n - 1), and by normal quantiles in place of Student's. Source:
    Hesterberg, "What Teachers Should Know about the Bootstrap" (2015), expanded percentiles.

    Args:
        blocks: what is drawn as a whole.
        figure: of the members of the blocks that were drawn; None where it is undefined.
        rng: draws.

    Returns:
        The interval; None of fewer than `BLOCKS_MIN` blocks, and where too few draws have a figure.
    """
    if len(blocks) < BLOCKS_MIN:
        return None
    found: list[float] = []
    for _ in range(DRAWS):
        drawn = [one for block in rng.choices(blocks, k=len(blocks)) for one in block]
        value = figure(drawn)
        if value is not None:
            found.append(value)
    if len(found) < DRAWS // 2:
        return None
    found.sort()
    tail = expanded_tail(len(blocks))
    return Interval(_percentile(found, tail), _percentile(found, 1 - tail))


def expanded_tail(count: int) -> float:
    """The share of draws on each side of a 90 % interval of `count` blocks, 2 at least."""
    normal, free = NormalDist(), count - 1
    z = normal.inv_cdf(1 - _TAIL)
    # Student's quantile by its expansion in 1 / degrees of freedom: to a hundredth from 4 on.
    student = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    return normal.cdf(-math.sqrt(count / free) * student)


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Linear between the two nearest, as numpy's default is."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def by_block(members: Iterable[OfBlock]) -> list[list[OfBlock]]:
    """The results, or forecasts, of one event together; events in the order of first sight."""
    found: dict[str, list[OfBlock]] = {}
    for one in members:
        found.setdefault(one.block, []).append(one)
    return list(found.values())


def roi_of(results: Sequence[MarketResult]) -> float | None:
    """P&L as a fraction of the money spent; None where nothing was."""
    bought = sum_of(one.bought for one in results)
    return sum_of(one.own for one in results) / bought if bought else None


class LuckTest(NamedTuple):
    """A trader beside others who bought the same markets at the same times on random sides.

    `controls` are their P&L in micros, ascending; `beaten` is how many did worse than the trader.
    """

    pnl: Micros
    controls: tuple[Micros, ...]
    beaten: int

    @property
    def share_better(self) -> float:
        """The share of controls that did at least as well."""
        return 1.0 - self.beaten / len(self.controls) if self.controls else 1.0


def controls_of(results: Sequence[MarketResult], rng: random.Random) -> LuckTest:
    """The P&L of 200 traders with the same trades, whose side is drawn for each market.

    # ours: by market, and not by trade, so that what was bought on a side is sold on it.
    """
    own = sum_of(one.own for one in results)
    if not results:
        return LuckTest(own, (), 0)
    controls = sorted(
        int(sum_of(one.own if rng.getrandbits(1) else one.mirror for one in results))
        for _ in range(CONTROLS)
    )
    return LuckTest(own, tuple(map(Micros, controls)), sum(one < own for one in controls))


def paired_difference(
    first: Iterable[MarketResult], second: Iterable[MarketResult], rng: random.Random
) -> tuple[Micros, Interval | None]:
    """By how much the first made more than the second, and the 90 % interval of that; micros.

    Both are drawn by the same events: what an event did to both does not count as luck of one.
    """
    gains: dict[str, int] = {}
    for sign, results in ((1, first), (-1, second)):
        for one in results:
            gains[one.block] = gains.get(one.block, 0) + sign * int(one.own)
    blocks = [[gain] for gain in gains.values()]
    interval = bootstrap(blocks, lambda drawn: float(sum(drawn)), rng)
    return Micros(sum(gains.values())), interval


def verdict_words(luck: LuckTest, roi: Interval | None) -> str:
    """Whether a return was skill or luck, in one sentence; `roi` is its 90 % interval."""
    if not luck.controls:
        return "it did not trade: there is nothing to judge"
    count = len(luck.controls)
    few = "only " if luck.beaten * 2 < count else ""
    better = f"better than {few}{luck.beaten} of {count} random traders on the same markets"
    if roi is None:
        return f"{better}; too few events to tell skill from luck"
    if roi.low > 0 and luck.share_better <= _TAIL:
        return f"{better}, and its return stays above 0 in 90 % of draws: hardly luck alone"
    if roi.high < 0:
        bad = "it is bad, not unlucky" if luck.beaten <= _TAIL * count else "no sign of skill"
        return f"{better}, and its return stays below 0 in 90 % of draws: {bad}"
    return f"{better}: this may well be luck"

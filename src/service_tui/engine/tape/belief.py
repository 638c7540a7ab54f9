"""The informed traders' price of a market: a martingale that ends at the outcome.

The information process of Brody, Hughston and Macrina: everybody watches the outcome X in the
noise of a Brownian bridge that is pinned at both ends of the market's life, so that the noise dies
away just when the truth is due. With u the share of life that has passed, s the strength and B a
standard bridge, the posterior log-odds of YES are

    logit p0 + s^2 u/(1-u) (X - 1/2) + s B(u)/(1-u) + the jumps of the news so far.

A jump is the log-likelihood ratio of a Gaussian signal y = s_i X + N(0, 1) that comes at its own
time, s_i (y - s_i/2). As each term is a ratio of likelihoods, the belief is calibrated and no rule
can profit from its past.

Source: Brody, Hughston, Macrina 2007, "Beyond hazard rates: a new framework for credit-risk
modelling"; bridge by Levy's midpoints.
"""

import math
from typing import Final

from service_tui.engine.listing import Listing
from service_tui.engine.tape.draws import Draws, bits, quantile
from service_tui.units import Probability, Timestamp

CERTAIN: Final = 0.9995
"""Beliefs stay within [1 - CERTAIN, CERTAIN]: prices beyond are no use to anybody."""

LEAF_S: Final = 2.0
LEAVES_LOG2_MAX: Final = 12
"""Between two leaves of the bridge the path is straight: at least 2 s, at most 4,096 leaves."""

NEWS_JUMP_MIN: Final = 0.15
"""Less is no news: 4 points at even odds."""

_HALF_SD: Final = tuple(
    (0.5 * 2.0 ** (-level / 2), 0.5 * 2.0 ** (-(level + 1) / 2))
    for level in range(0, LEAVES_LOG2_MAX, 2)
)
"""Standard deviation of a bridge's middle given its ends, by the level of the halving, in pairs."""

_THIRD_BITS: Final = 21
_THIRDS: Final = 1 << _THIRD_BITS
_THIRD: Final = _THIRDS - 1
"""21 bits reach five standard deviations, which is as far as a path ever needs to go."""

_KEY_AT: Final = 24
"""Where the last group of a market id begins."""

_ODDS_MAX: Final = math.log(CERTAIN / (1.0 - CERTAIN))


def belief(listing: Listing, at: Timestamp) -> Probability:
    """Chance of YES given everything known at a moment.

    Args:
        listing: the market.
        at: any moment of the tape; before the life it is the start price, after it the outcome.

    Returns:
        A price within [1 - CERTAIN, CERTAIN].
    """
    return chance_of(log_odds(listing, at))


def first_beliefs(
    listing: Listing, step_s: float, count: int
) -> tuple[tuple[Timestamp, float], ...]:
    """The first points of a market's chart, from its opening on.

    Args:
        listing: the market.
        step_s: seconds of the tape between two points, above 0.
        count: how many points.

    Returns:
        Times of the tape and beliefs to four digits, oldest first.
    """
    times = [Timestamp(listing.opens_at + index * step_s) for index in range(count)]
    return tuple((then, round(belief(listing, then), 4)) for then in times)


def chance_of(odds: float) -> Probability:
    """The price of log-odds, within [1 - CERTAIN, CERTAIN]."""
    return Probability(1.0 / (1.0 + math.exp(-min(_ODDS_MAX, max(-_ODDS_MAX, odds)))))


def log_odds(listing: Listing, at: Timestamp) -> float:
    """The belief as log-odds; unclipped before the end of the life, at the clip from then on.

    Of a recorded market it is the price that was recorded last, clipped, also after its end.
    """
    if listing.origin is not None:
        known = min(CERTAIN, max(1.0 - CERTAIN, listing.origin.path.price_at(at)))
        return math.log(known / (1.0 - known))
    sign = 1.0 if listing.outcome else -1.0
    life_s = listing.resolves_at - listing.opens_at
    passed = (at - listing.opens_at) / life_s
    if passed >= 1.0:
        return sign * _ODDS_MAX
    start = math.log(listing.start_price / (1.0 - listing.start_price))
    if passed <= 0.0:
        return start
    strength = listing.strength
    noise = _bridge(
        path_key(listing), passed, min(LEAVES_LOG2_MAX, int(life_s / LEAF_S).bit_length())
    )
    known = strength * (0.5 * sign * strength * passed + noise) / (1.0 - passed)
    return start + known + sum(jump for then, jump, _ in listing.news if then <= at)


def path_key(listing: Listing) -> int:
    """The key of a market's draws, from its id: the listing alone is enough to price it."""
    return int(listing.market_id[_KEY_AT:], 16)


def news_jump(draws: Draws, strength: float, *, outcome: bool) -> float:
    """The log-likelihood ratio of a signal of this strength, never a faint one."""
    # Faint ones are drawn again: both outcomes throw away the same share of them, so what is left
    # is still a ratio of likelihoods.
    drift = strength * strength * (0.5 if outcome else -0.5)
    while True:
        jump = drift + strength * draws.normal()
        if abs(jump) >= NEWS_JUMP_MIN:
            return jump


def _bridge(key: int, passed: float, levels: int) -> float:
    """A standard Brownian bridge at a share of its life, 0 < passed < 1."""
    node = 1
    left = right = 0.0
    for pair in _HALF_SD[: (levels + 1) // 2]:
        # One draw serves a node and both its children, 21 bits each: half the price of three.
        drawn = bits(key, node)
        for half_sd in pair:
            middle = 0.5 * (left + right) + half_sd * quantile(((drawn & _THIRD) + 0.5) / _THIRDS)
            passed += passed
            node += node
            if passed < 1.0:
                right = middle
                drawn >>= _THIRD_BITS
            else:
                left = middle
                drawn >>= 2 * _THIRD_BITS
                passed -= 1.0
                node += 1
    return left + (right - left) * passed

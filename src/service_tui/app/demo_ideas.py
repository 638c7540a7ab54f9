"""The buys of a new world's demo agents: three plain strategies. Pure.

They are there to be watched. None of them knows more than anybody who looks at the list.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service_tui.desk.slices.markets import MarketView, NewsView
from service_tui.terms import Side
from service_tui.units import Timestamp

LOW: Final = 0.08
"""Prices nearer to 0 or 1 are left alone: there is nothing to win, or nearly all to lose."""

MOVE: Final = 0.03
LATE_S: Final = 6 * 3_600.0
FAVOURITE: Final = 0.75
"""What is worth a look: points of price moved, seconds to the end, price of a favourite."""


class DemoIdea(NamedTuple):
    """One buy that a strategy would make, and why; `edge` is what it states, in points of price."""

    market_id: str
    side: Side
    reason: str
    seen_in: str
    edge: float
    confidence: float


def momentum(markets: Sequence[MarketView]) -> Iterator[DemoIdea]:
    """Buys that go along with the last day's largest moves, the largest first."""
    moved = [one for one in markets if one.change is not None and abs(one.change) >= MOVE]
    for market in sorted(moved, key=lambda one: -abs(one.change or 0.0)):
        change = market.change or 0.0
        side = Side.YES if change > 0 else Side.NO
        yield DemoIdea(
            market.market_id,
            side,
            f"YES moved {100 * change:+.0f} points in a day; moves go on more often than not",
            "24h momentum",
            abs(change) / 10,
            0.53,
        )


def closing_favourite(markets: Sequence[MarketView], now: Timestamp) -> Iterator[DemoIdea]:
    """Buys of clear favourites shortly before the end, the earliest end first."""
    late = [
        one
        for one in markets
        if one.resolves_at is not None and 0 < one.resolves_at - now <= LATE_S
    ]
    for market in sorted(late, key=lambda one: one.resolves_at or 0.0):
        side = Side.YES if market.price >= FAVOURITE else Side.NO
        price = market.price_of(side)
        if price < FAVOURITE:
            continue
        minutes = max(1, round(((market.resolves_at or now) - now) / 60))
        yield DemoIdea(
            market.market_id,
            side,
            f"{side.value.upper()} at {price:.2f} with {minutes} min left: little can change",
            "end of the market",
            (1.0 - price) / 5,
            0.6,
        )


def news(
    lines: Sequence[NewsView], markets: Mapping[str, MarketView], now: Timestamp
) -> Iterator[DemoIdea]:
    """Buys in the direction of the newest headlines; without any, of the calmest even markets.

    Args:
        lines: of the world, the newest first.
        markets: by id.
        now: world time.

    Yields:
        Ideas, the best first.
    """
    for line in lines:
        market, change = markets.get(line.market_id), line.price_after - line.price_before
        if market is not None and change and now - line.at <= LATE_S:
            side = Side.YES if change > 0 else Side.NO
            yield DemoIdea(
                line.market_id, side, f"News: {line.headline}", "headline", abs(change) / 4, 0.56
            )
    even = sorted(markets.values(), key=lambda one: (abs(one.price - 0.5), one.market_id))
    for market in even:
        side = Side.YES if market.price < 0.5 else Side.NO  # noqa: PLR2004 - even odds
        yield DemoIdea(
            market.market_id,
            side,
            f"No news, and the price of {side.value.upper()} is just below even: worth a small try",
            "price",
            abs(market.price - 0.5) / 2,
            0.5,
        )


def first_new(
    ideas: Iterator[DemoIdea], markets: Mapping[str, MarketView], taken: Collection[str]
) -> DemoIdea | None:
    """The first idea in an open market at a fair price that the agent is not in yet."""
    for idea in ideas:
        market = markets.get(idea.market_id)
        if market is None or not market.is_open or idea.market_id in taken:
            continue
        if LOW < market.price_of(idea.side) < 1.0 - LOW:
            return idea
    return None

"""Ledgers that are drawn: a trader's buys and sales in markets of which the price may be fair."""

import random
from collections.abc import Callable

from service_tui.evaluation.ledger import DAY_S, TradedMarket, TrialLedger, TrialTrade
from service_tui.evaluation.returns import Point
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros, Timestamp

BEGIN = 1_700_006_400.0
Stated = Callable[[float, float], float | None]
"""The probability that a trader states, given the price of YES and what will come."""


def nothing(price: float, came: float) -> float | None:  # noqa: ARG001
    """A trader who states no probability."""
    return None


def drawn_ledger(
    rng: random.Random, markets: int = 40, stated: Stated = nothing, *, fair: bool = True
) -> TrialLedger:
    """A ledger of one buy, and sometimes a sale, in each of some markets.

    Args:
        rng: draws.
        markets: how many; three share an event.
        stated: what the trader states.
        fair: whether YES comes as often as its price says; else its half as often.
    """
    trades: list[TrialTrade] = []
    rows: list[TradedMarket] = []
    for number in range(markets):
        name, price = f"m{number}", rng.uniform(0.1, 0.9)
        came = 1.0 if rng.random() < (price if fair else price / 2) else 0.0
        side = rng.choice(tuple(Side))
        own = price if side is Side.YES else 1.0 - price
        at = Timestamp(BEGIN + number * 3_600.0)
        money = Micros(rng.randrange(1, 50) * ONE)
        shares, mirrored = (Micros(int(money / paid)) for paid in (own, 1.0 - own))
        told = stated(price, came)
        edge = None if told is None else (told - price if side is Side.YES else price - told)
        buy = TrialTrade(
            at, name, side, Action.BUY, shares, money, own, price, told, edge, mirrored, money
        )
        trades.append(buy)
        left, mirror_left = shares, mirrored
        if rng.random() < 0.3:
            sold, mirror_sold = Micros(shares // 2), Micros(mirrored // 2)
            trades.append(
                buy._replace(
                    at=Timestamp(at + 60.0),
                    action=Action.SELL,
                    shares=sold,
                    money=Micros(int(sold * own)),
                    mirror_shares=mirror_sold,
                    mirror_money=Micros(int(mirror_sold * (1.0 - own))),
                )
            )
            left, mirror_left = Micros(shares - sold), Micros(mirrored - mirror_sold)
        pays = came if side is Side.YES else 1.0 - came
        rows.append(
            TradedMarket(
                name,
                f"Does {number} come?",
                rng.choice(("science", "sports")),
                f"e{number // 3}" if number % 4 else "",
                Timestamp(at + rng.choice((600.0, 7_200.0, 3 * DAY_S, 30 * DAY_S))),
                Timestamp(at + DAY_S),
                paid_yes=came,
                is_void=False,
                close_price=min(0.99, max(0.01, price + rng.gauss(0.0, 0.1))),
                left=Micros(int(left * pays)),
                mirror_left=Micros(int(mirror_left * (1.0 - pays))),
            )
        )
    equity, curve = 10_000 * ONE, list[Point]()
    for hour in range(24 * 12):
        curve.append(Point(Timestamp(BEGIN + hour * 3_600.0), Micros(equity)))
        equity += rng.randrange(-20 * ONE, 20 * ONE)
    trades.sort(key=lambda one: one.at)
    return TrialLedger("drawn", tuple(trades), tuple(rows), tuple(curve))

"""The record of a trial: its trades, the ends of their markets, its equity curve. Pure."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from service_tui.evaluation.returns import Point
from service_tui.terms import Action, Side
from service_tui.units import Micros, Timestamp, sum_of

DAY_S: Final = 86_400.0
HOUR_S: Final = 3_600.0


class TrialTrade(NamedTuple):
    """One fill. Money and shares in micros; prices are of the side traded, 0 to 1.

    `yes_before` is the market's price of YES before the trade, `stated` the probability of YES
    that the skill gave with it, `edge` what it claimed to be better than the price; None where it
    gave none. `mirror_shares` and `mirror_money` are the same trade on the other side: the same
    money at a buy, the same part of what is held at a sale.
    """

    at: Timestamp
    market_id: str
    side: Side
    action: Action
    shares: Micros
    money: Micros
    price_before: float
    yes_before: float
    stated: float | None
    edge: float | None
    mirror_shares: Micros
    mirror_money: Micros

    @property
    def is_buy(self) -> bool:
        """Whether money went out."""
        return self.action is Action.BUY

    @property
    def average(self) -> float:
        """Money for one share."""
        return self.money / self.shares if self.shares else self.price_before

    @property
    def slippage(self) -> float:
        """What was paid above the price before the trade, or got below it; micros."""
        fair, money = self.shares * self.price_before, float(self.money)
        return money - fair if self.is_buy else fair - money


class TradedMarket(NamedTuple):
    """What became of a market that was traded.

    `paid_yes` is what a share of YES paid, 0 to 1; None while there is no outcome, and where the
    money was given back (`is_void`). `close_price` is the last price of YES at a round before its
    end. `left` is what the shares brought that were never sold: the payout, or what they would
    bring at the end of the trial; `mirror_left` the same of the other side. Micros.
    """

    market_id: str
    question: str
    category: str
    event: str
    resolves_at: Timestamp
    ended_at: Timestamp | None
    paid_yes: float | None
    is_void: bool
    close_price: float | None
    left: Micros
    mirror_left: Micros

    @property
    def block(self) -> str:
        """What is drawn as one in a bootstrap: its event, or the market where it has none."""
        return self.event or self.market_id


@dataclass(frozen=True, slots=True)
class TrialLedger:
    """One trial: trades in the order of time, their markets, equity by the hour.

    `curve` holds what cash and shares are worth if sold at once, in micros.
    """

    name: str
    trades: tuple[TrialTrade, ...]
    markets: tuple[TradedMarket, ...]
    curve: tuple[Point, ...]

    @property
    def by_id(self) -> dict[str, TradedMarket]:
        """The markets by their ids."""
        return {one.market_id: one for one in self.markets}


class TrialSums(NamedTuple):
    """TrialSums of trades, in micros: `left` is what was not sold, at its payout or its price."""

    trades: int
    bought: Micros
    sold: Micros
    left: Micros
    slippage: Micros

    @property
    def pnl(self) -> Micros:
        """What came back less what was spent."""
        return Micros(self.sold + self.left - self.bought)

    @property
    def roi(self) -> float | None:
        """P&L as a fraction of what was spent; None where nothing was."""
        return self.pnl / self.bought if self.bought else None

    @property
    def turnover(self) -> Micros:
        """Money that changed hands."""
        return Micros(self.bought + self.sold)


class MarketResult(NamedTuple):
    """What one market came to, in micros: own, and the same trades on the other side.

    `block` is what is drawn as one in a bootstrap.
    """

    block: str
    bought: Micros
    own: Micros
    mirror: Micros


def money_of(trades: Iterable[TrialTrade], *, is_buy: bool, mirror: bool = False) -> Micros:
    """Money of the buys, or of the sales; with `mirror` that of the other side."""
    return sum_of(
        trade.mirror_money if mirror else trade.money for trade in trades if trade.is_buy is is_buy
    )


def sums_of(trades: Sequence[TrialTrade], markets: Iterable[TradedMarket]) -> TrialSums:
    """The sums of some trades and of the markets in which they were made, micros."""
    return TrialSums(
        len(trades),
        money_of(trades, is_buy=True),
        money_of(trades, is_buy=False),
        sum_of(one.left for one in markets),
        Micros(round(math.fsum(trade.slippage for trade in trades))),
    )


def results_of(ledger: TrialLedger) -> list[MarketResult]:
    """What each market came to, in the order of the markets."""
    by_market: dict[str, list[TrialTrade]] = {one.market_id: [] for one in ledger.markets}
    for trade in ledger.trades:
        by_market[trade.market_id].append(trade)
    results: list[MarketResult] = []
    for market in ledger.markets:
        trades = by_market[market.market_id]
        own, mirror = (
            Micros(
                money_of(trades, is_buy=False, mirror=is_mirror)
                + (market.mirror_left if is_mirror else market.left)
                - money_of(trades, is_buy=True, mirror=is_mirror)
            )
            for is_mirror in (False, True)
        )
        bought = money_of(trades, is_buy=True)
        results.append(MarketResult(market.block, bought, own, mirror))
    return results


def pooled(ledgers: Sequence[TrialLedger]) -> TrialLedger:
    """Several trials as one, without a curve: a market of two trials is two markets."""
    if len(ledgers) == 1:
        return ledgers[0]
    return TrialLedger(
        ", ".join(one.name for one in ledgers),
        tuple(
            trade._replace(market_id=f"{one.name}/{trade.market_id}")
            for one in ledgers
            for trade in one.trades
        ),
        tuple(
            market._replace(
                market_id=f"{one.name}/{market.market_id}",
                event=market.event and f"{one.name}/{market.event}",
            )
            for one in ledgers
            for market in one.markets
        ),
        (),
    )


# -- by group ------------------------------------------------------------------------------------

PRICE_BANDS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Upper ends of the price bands but the last."""

TIMES: Final = ((HOUR_S, "under 1 h"), (DAY_S, "1 h to 1 d"), (7 * DAY_S, "1 to 7 d"))
_LATER: Final = "over 7 d"


def price_band(trade: TrialTrade) -> str:
    """The band of the price before a trade."""
    low = 0.0
    for high in (*PRICE_BANDS, 1.0):
        if trade.price_before < high or high >= 1.0:
            return f"{low:.1f} to {high:.1f}"
        low = high
    return ""


def time_band(trade: TrialTrade, market: TradedMarket) -> str:
    """How long before the announced end of its market a trade was made."""
    left_s = market.resolves_at - trade.at
    return next((name for below_s, name in TIMES if left_s < below_s), _LATER)


class TradedGroup(NamedTuple):
    """A group of trades: its name, buys, money spent, and what became of it; micros."""

    name: str
    buys: int
    bought: Micros
    pnl: Micros


GROUPS: Final[dict[str, Callable[[TrialTrade, TradedMarket], str]]] = {
    "category": lambda _, market: market.category,
    "side": lambda trade, _: trade.side.value,
    "price": lambda trade, _: price_band(trade),
    "time to the end": time_band,
}


def groups_of(ledger: TrialLedger) -> dict[str, tuple[TradedGroup, ...]]:
    """P&L by category, side, price and time to the end, by the market's first buy.

    What a market came to counts for the group of its first buy, so that the rows add up to the
    whole. # ours: a sale belongs to the buy that it undoes, and no lot is told from another.
    """
    markets = ledger.by_id
    first: dict[str, TrialTrade] = {}
    buys: dict[str, int] = {}
    for trade in ledger.trades:
        if trade.is_buy:
            first.setdefault(trade.market_id, trade)
            buys[trade.market_id] = buys.get(trade.market_id, 0) + 1
    results = dict(zip(markets, results_of(ledger), strict=True))
    found: dict[str, tuple[TradedGroup, ...]] = {}
    for title, group in GROUPS.items():
        rows: dict[str, TradedGroup] = {}
        for market_id, trade in first.items():
            name, result = group(trade, markets[market_id]), results[market_id]
            row = rows.get(name, TradedGroup(name, 0, Micros(0), Micros(0)))
            rows[name] = TradedGroup(
                name,
                row.buys + buys[market_id],
                Micros(row.bought + result.bought),
                Micros(row.pnl + result.own),
            )
        found[title] = tuple(rows[name] for name in sorted(rows))
    return found

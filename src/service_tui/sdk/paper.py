"""Paper trading: fills in memory at the service's prices; no order is ever sent.

Source: wire reference, 4.2.
"""

import itertools
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from service_tui.clock import Clock
from service_tui.outcome import outcome_in
from service_tui.sdk.result import TradeResult
from service_tui.terms import (
    NEW_AGENT_CASH_SIM,
    PRICE_HIGH,
    PRICE_LOW,
    Action,
    MarketStatus,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.units import ONE, Micros, decimal, micros, money_down, shares_down, sum_of
from service_tui.wire.base import moment
from service_tui.wire.markets import MarketBody
from service_tui.wire.positions import (
    PortfolioBody,
    PortfolioTotal,
    PortfolioVenue,
    PositionBody,
)
from service_tui.wire.trades import TradeBalance, TradeRequest, TradeRow

HALF_SPREAD: Final = 0.01
"""Default for a market without the field."""


@dataclass(slots=True)
class _PaperMarket:
    """Shares and cost by side, micros; `market` as it was last read."""

    market: MarketBody
    venue: Venue
    shares: dict[Side, Micros] = field(default_factory=dict[Side, Micros])
    cost: dict[Side, Micros] = field(default_factory=dict[Side, Micros])
    sources: tuple[str, ...] = ()


def mid_of(market: MarketBody, side: Side, venue: Venue = Venue.SIM) -> float:
    """Mid price of a side on a venue, at least 0.001."""
    price = market.external_price_yes
    if venue is Venue.SIM or price is None:
        price = market.current_probability
    return max(PRICE_LOW, price if side is Side.YES else 1 - price)


def half_spread(market: MarketBody, venue: Venue) -> float:
    """Half of an order book's spread."""
    if venue is not Venue.EVM:
        return 0.0
    cents = market.spread_cents
    return HALF_SPREAD if cents is None else cents / 100 / 2


def paper_price(market: MarketBody, request: TradeRequest) -> float:
    """Price of a share half a spread away from the mid of an order book."""
    venue = request.venue
    mid, half = mid_of(market, request.side, venue), half_spread(market, venue)
    if request.action is Action.BUY:
        return min(mid + half, PRICE_HIGH)
    return max(mid - half, PRICE_LOW)


class Paper:
    """One purse of 10,000 for all venues, and what was bought with it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._number = itertools.count(1)
        self._cash = micros(NEW_AGENT_CASH_SIM)
        self._holdings: dict[str, _PaperMarket] = {}
        self._trades: list[TradeRow] = []

    @property
    def held(self) -> tuple[str, ...]:
        """Markets whose prices are needed for `positions`."""
        with self._lock:
            return tuple(self._holdings)

    def see(self, markets: Iterable[MarketBody]) -> None:
        """Update prices, and pay out resolved markets, as their outcomes say."""
        with self._lock:
            for market in markets:
                holding = self._holdings.get(market.id)
                if holding is None:
                    continue
                holding.market = market
                outcome = outcome_in(market)
                if market.status is MarketStatus.RESOLVED and outcome is not None:
                    paid = sum_of(
                        outcome.paid(side, shares, holding.cost.get(side, Micros(0)))
                        for side, shares in holding.shares.items()
                    )
                    self._cash = Micros(self._cash + paid)
                    del self._holdings[market.id]

    def trade(self, market: MarketBody, request: TradeRequest) -> TradeResult:
        """Fill at once and whole, or refuse with a reason; `dry_run` changes nothing."""
        price = paper_price(market, request)
        with self._lock:
            why = self._refusal(market, request, price)
            if why is not None:
                return self._answer(request, price, error=why)
            shares, money = _sizes(request, price)
            if not request.dry_run:
                self._apply(market, request, shares, money)
            return self._answer(request, price, shares=shares, money=money)

    def _refusal(self, market: MarketBody, request: TradeRequest, price: float) -> str | None:
        """Reason why an order is not filled, in the service's format."""
        is_buy = request.action is Action.BUY
        holding = self._holdings.get(market.id)
        held = 0 if holding is None else holding.shares.get(request.side, 0)
        limit = request.price
        checks = (
            (market.status is not MarketStatus.ACTIVE, "the market is not open"),
            (is_buy and micros(request.amount) > self._cash, "insufficient balance on paper"),
            (
                not is_buy and micros(request.shares) > held,
                "position not found on paper" if not held else "insufficient shares to sell",
            ),
            (
                limit is not None and (price > limit if is_buy else price < limit),
                f"the price is {price:.4f}, beyond the limit",
            ),
        )
        return next((why for speaks, why in checks if speaks), None)

    def _apply(
        self, market: MarketBody, request: TradeRequest, shares: Micros, money: Micros
    ) -> None:
        side = request.side
        holding = self._holdings.setdefault(market.id, _PaperMarket(market, request.venue))
        held, cost = holding.shares.get(side, Micros(0)), holding.cost.get(side, Micros(0))
        if request.action is Action.BUY:
            self._cash = Micros(self._cash - money)
            holding.shares[side] = Micros(held + shares)
            holding.cost[side] = Micros(cost + money)
            if request.source and request.source not in holding.sources:
                holding.sources = (*holding.sources, request.source)
        else:
            self._cash = Micros(self._cash + money)
            holding.shares[side] = Micros(held - shares)
            # Rounded up, as everywhere: P&L is rounded against the owner.
            holding.cost[side] = Micros(cost - -(-cost * shares // held))
        if not any(holding.shares.values()):
            del self._holdings[market.id]

    def _answer(
        self,
        request: TradeRequest,
        price: float,
        *,
        shares: Micros | None = None,
        money: Micros = Micros(0),
        error: str | None = None,
    ) -> TradeResult:
        filled = decimal(shares or Micros(0))
        is_buy = request.action is Action.BUY
        is_booked = shares is not None and not request.dry_run
        now = self._clock.now()
        result = TradeResult(
            success=error is None,
            trade_id=f"paper_{int(now)}_{next(self._number)}" if is_booked else None,
            market_id=request.market_id,
            side=request.side,
            shares_bought=filled if is_buy else 0.0,
            shares_sold=0.0 if is_buy else filled,
            shares_requested=filled if is_buy else request.shares,
            shares=filled,
            status=TradeStatus.FILLED if is_booked else None,
            fill_status=TradeStatus.FILLED if is_booked else None,
            cost=decimal(money),
            new_price=price,
            avg_price=price if filled else None,
            position=TradeBalance(sim_balance=decimal(self._cash)),
            balance=decimal(self._cash),
            dry_run=request.dry_run,
            error=error,
            venue=request.venue,
            on_paper=True,
        )
        if is_booked:
            self._trades.insert(0, self._row(request, result))
        return result

    def _row(self, request: TradeRequest, result: TradeResult) -> TradeRow:
        return TradeRow(
            id=result.trade_id or "",
            trade_id=result.trade_id or "",
            market_id=request.market_id,
            side=request.side,
            action=request.action.value,
            shares=result.shares,
            cost=result.cost,
            avg_price=result.avg_price,
            venue=request.venue,
            source=request.source,
            skill_slug=request.skill_slug,
            reasoning=request.reasoning,
            signal_data=request.signal_data,
            created_at=moment(self._clock.now()),
        )

    def trades(self) -> list[TradeRow]:
        """Paper trades, newest first."""
        with self._lock:
            return list(self._trades)

    def positions(self) -> list[PositionBody]:
        """Paper positions at the last known prices."""
        with self._lock:
            return [_position(holding) for holding in self._holdings.values()]

    def portfolio(self) -> PortfolioBody:
        """Cash, exposure and P&L on paper; one purse, shown under `sim`."""
        rows = self.positions()
        with self._lock:
            cash = decimal(self._cash)
        exposure = sum(row.current_value for row in rows)
        pnl = round(cash + exposure - NEW_AGENT_CASH_SIM, 6)
        count = len(rows)
        return PortfolioBody(
            sim=PortfolioVenue(
                balance=cash, pnl=pnl, positions_count=count, total_exposure=exposure
            ),
            total=PortfolioTotal(positions_count=count, total_exposure=exposure),
            sim_balance=cash,
            sim_pnl=pnl,
            total_exposure=exposure,
            pnl_total=pnl,
            warnings=("paper trading: in memory only",),
        )


def _sizes(request: TradeRequest, price: float) -> tuple[Micros, Micros]:
    """Shares and money of a fill, micros, each rounded against the taker."""
    if request.action is Action.BUY:
        money = micros(request.amount)
        return shares_down(money / ONE / price), money
    shares = micros(request.shares)
    return shares, money_down(shares / ONE * price)


def _position(holding: _PaperMarket) -> PositionBody:
    shares = {side: decimal(holding.shares.get(side, Micros(0))) for side in Side}
    cost = decimal(sum_of(holding.cost.values()))
    value = round(
        sum(shares[side] * mid_of(holding.market, side, holding.venue) for side in Side), 6
    )
    return PositionBody(
        market_id=holding.market.id,
        question=holding.market.question,
        shares_yes=shares[Side.YES],
        shares_no=shares[Side.NO],
        current_price=holding.market.current_probability,
        current_value=value,
        cost_basis=cost,
        avg_cost=min(1.0, cost / sum(shares.values())),
        pnl=round(value - cost, 6),
        venue=holding.venue,
        sources=holding.sources,
    )

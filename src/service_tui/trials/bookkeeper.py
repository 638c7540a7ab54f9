"""Records one agent's trades, markets and equity in the world of its trial."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from service_tui.engine.amm import lmsr
from service_tui.engine.amm.market import Market
from service_tui.engine.books.catalogue import event_of
from service_tui.engine.events import Event, Fill, MarketResolved
from service_tui.engine.position import Position
from service_tui.engine.world import World
from service_tui.evaluation.ledger import HOUR_S, TradedMarket, TrialLedger, TrialTrade
from service_tui.evaluation.returns import Point
from service_tui.terms import Action, MarketStatus, Side
from service_tui.units import ONE, Micros, Timestamp, money_down, shares_down, sum_of

PROBABILITY: Final = "probability"
EDGE: Final = "edge"


@dataclass(slots=True)
class _Traded:
    """A market that was traded; `mirror` is the same trades on the other side.

    Both are kept here: the world may be further on than the fill that it tells of.
    """

    market: Market
    event: str
    own: Position
    mirror: Position
    close_price: float
    resolved: MarketResolved | None = field(default=None)


class Bookkeeper:
    """Follows the events of a world for one agent."""

    def __init__(self, world: World, agent_id: str) -> None:
        self._world = world
        self._agent_id = agent_id
        self._trades: list[TrialTrade] = []
        self._traded: dict[str, _Traded] = {}
        self._curve: list[Point] = []
        self._marked_at = -HOUR_S

    @property
    def trades(self) -> int:
        """Fills so far."""
        return len(self._trades)

    def take(self, happened: Sequence[tuple[int, Event]]) -> None:
        """Write down what is on disk now."""
        for _, event in happened:
            if isinstance(event, Fill) and event.agent_id == self._agent_id:
                self._take_fill(event)
            elif isinstance(event, MarketResolved) and event.market_id in self._traded:
                self._traded[event.market_id].resolved = event

    def at_round(self, *, is_last: bool = False) -> None:
        """Look at prices before a round, and at what the agent is worth once an hour."""
        world = self._world
        for traded in self._traded.values():
            if traded.market.status(world.world_at) is MarketStatus.ACTIVE:
                traded.close_price = traded.market.price()
        if world.at - self._marked_at >= HOUR_S or is_last:
            self._marked_at = world.at
            equity = world.exit_equity(world.agents[self._agent_id])
            self._curve.append(Point(world.at, equity))

    def ledger(self, name: str) -> TrialLedger:
        """All of it."""
        return TrialLedger(
            name,
            tuple(self._trades),
            tuple(self._market_row(one) for one in self._traded.values()),
            tuple(self._curve),
        )

    def _take_fill(self, fill: Fill) -> None:
        yes_before = fill.price_before if fill.side is Side.YES else 1.0 - fill.price_before
        traded = self._traded.get(fill.market_id)
        if traded is None:
            market = self._world.markets[fill.market_id]
            event = event_of(market.listing)
            traded = self._traded[fill.market_id] = _Traded(
                market,
                "" if event is None else event.event_id,
                Position(self._agent_id, fill.market_id),
                Position(self._agent_id, fill.market_id),
                yes_before,
            )
        shares, money = self._mirrored(fill, traded)
        data = fill.note.signal_data or {}
        self._trades.append(
            TrialTrade(
                at=fill.at,
                market_id=fill.market_id,
                side=fill.side,
                action=fill.action,
                shares=fill.shares,
                money=fill.money,
                price_before=fill.price_before,
                yes_before=yes_before,
                stated=_probability(data.get(PROBABILITY)),
                edge=_number(data.get(EDGE)),
                mirror_shares=shares,
                mirror_money=money,
            )
        )

    @staticmethod
    def _mirrored(fill: Fill, traded: _Traded) -> tuple[Micros, Micros]:
        """The same trade on the other side of the market as it was before it, carried out there.

        Returns:
            Shares and money: at a buy the same money, at a sale the same part of what is held.
        """
        other, b = fill.side.other, int(traded.market.listing.b) / ONE
        # The log-odds against the other side are those for this one.
        x = lmsr.shares_to_price(fill.price_before, b=1.0, x=0.0)
        if fill.action is Action.BUY:
            shares = shares_down(lmsr.shares_for_spend(fill.money / ONE, b=b, x=x))
            traded.own.buy(fill.side, fill.shares, fill.money, fill.at)
            traded.mirror.buy(other, shares, fill.money, fill.at)
            return shares, fill.money
        there = traded.mirror.shares(other)
        sold = Micros(int(there) * int(fill.shares) // int(traded.own.shares(fill.side)))
        traded.own.sell(fill.side, fill.shares, fill.money)
        if not sold:
            return Micros(0), Micros(0)
        money = money_down(max(0.0, -lmsr.cost_of_shares(-sold / ONE, b=b, x=x)))
        traded.mirror.sell(other, sold, money)
        return sold, money

    def _market_row(self, traded: _Traded) -> TradedMarket:
        listing, resolved = traded.market.listing, traded.resolved
        if resolved is None:
            left = sum_of(traded.market.exit_parts(traded.own))
            mirror_left = sum_of(traded.market.exit_parts(traded.mirror))
        else:
            mine = (one for one in resolved.payouts if one.agent_id == self._agent_id)
            left = sum_of(one.payout for one in mine)
            mirror_left = sum_of(
                resolved.outcome.paid(side, traded.mirror.shares(side), traded.mirror.cost(side))
                for side in Side
            )
        return TradedMarket(
            market_id=listing.market_id,
            question=listing.question,
            category=listing.category.value,
            event=traded.event,
            resolves_at=listing.resolves_at,
            ended_at=None if resolved is None else Timestamp(resolved.world_at),
            paid_yes=None if resolved is None else resolved.outcome.part,
            is_void=resolved is not None and resolved.outcome.is_void,
            close_price=traded.close_price,
            left=left,
            mirror_left=mirror_left,
        )


def _probability(value: object) -> float | None:
    """A stated probability; None of what is none."""
    found = _number(value)
    return found if found is not None and 0 <= found <= 1 else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None

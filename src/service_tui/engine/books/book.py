"""One market's order book on a simulated venue, and the fills that an order would get there.

One book of YES prices serves both sides: an order for NO at q stands at 1 - q on the other side.
All prices and amounts are micros.

At one price the orders of agents come before the simulated quotes, the older before the newer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from service_tui.engine.books.liquidity import PriceLevel, RefreshedQuotes, background, refresh_at
from service_tui.engine.errors import OwnOrderInTheWay
from service_tui.engine.events import NO_NOTE, Note, OrderPlaced
from service_tui.engine.listing import Listing
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp, sum_of

# ours: agents before simulated quotes at one price, so that a resting order is worth placing.

_FEE_GRAIN: Final = 10
"""Fees have five decimals. Source: issue of the venues; spec, "Fees"."""

_FEE_UNIT: Final = 10_000 * ONE * ONE
"""Basis points, and the two factors of a price in micros."""


Times = tuple[Timestamp, Timestamp]
"""Wall time, by which orders expire, and the tape's, by which quotes stand."""


def is_bid(side: Side, action: Action) -> bool:
    """True if an order is a bid for YES: a buy of YES, or a sale of NO."""
    return (side is Side.YES) is (action is Action.BUY)


def own_price(side: Side, price: Micros) -> Micros:
    """The price of a side at a price of YES; and back again."""
    return price if side is Side.YES else Micros(ONE - price)


def own_chance(side: Side, price: float) -> float:
    """The price of a side at a price of YES, as fractions of 1."""
    return price if side is Side.YES else 1.0 - price


def money_of(shares: Micros, price: Micros, *, up: bool) -> Micros:
    """Shares times price, rounded to a micro."""
    exact = shares * price
    return Micros(-(-exact // ONE) if up else exact // ONE)


@dataclass(slots=True)
class Resting:
    """An open order: what is left of it, and what it got so far.

    `price` is of its own side; `asked` are the shares it wanted; `left` those that still rest;
    `reserved` is the money kept for the rest of a buy. `expires_at` is wall time.
    """

    order_id: str
    agent_id: str
    venue: Venue
    market_id: str
    side: Side
    action: Action
    order_type: OrderType
    price: Micros
    requested: Micros
    left: Micros
    reserved: Micros
    at: Timestamp
    world_at: Timestamp
    expires_at: Timestamp | None = None
    shares: Micros = Micros(0)
    money: Micros = Micros(0)
    fee: Micros = Micros(0)
    realized: Micros = Micros(0)
    note: Note = NO_NOTE

    def bids(self) -> bool:
        """True if it is a bid for YES."""
        return is_bid(self.side, self.action)

    def yes_price(self) -> Micros:
        """Its price of YES, by which the book is sorted."""
        return own_price(self.side, self.price)


class Offer(NamedTuple):
    """Shares that an order can meet at a price of YES; `order` is None for a simulated quote."""

    price: Micros
    shares: Micros
    order: Resting | None


class TakeRequest(NamedTuple):
    """What an order takes at once.

    `limit` is of its own side; a buy is bound by money, shares or both, a sale by shares.
    """

    agent_id: str
    side: Side
    action: Action
    limit: Micros | None
    money: Micros | None
    shares: Micros | None


class Match(NamedTuple):
    """Shares met at a price of YES; `money` is what the taker gives or gets, before its fee."""

    price: Micros
    shares: Micros
    money: Micros
    order: Resting | None


class Walk(NamedTuple):
    """What an order would meet now. `is_whole` when nothing of it is left."""

    matches: tuple[Match, ...]
    shares: Micros
    money: Micros
    fee: Micros
    is_whole: bool

    def taken(self) -> tuple[PriceLevel, ...]:
        """What it takes from the simulated quotes."""
        return tuple(PriceLevel(one.price, one.shares) for one in self.matches if one.order is None)


class Book:
    """The book of one market. `taken` is what agents took from the refresh `taken_number`."""

    __slots__ = ("_background", "_seed", "listing", "orders", "taken", "taken_number")

    def __init__(self, seed: int, listing: Listing) -> None:
        self._seed = seed
        self._background: RefreshedQuotes | None = None
        self.listing = listing
        self.orders: dict[str, Resting] = {}
        self.taken: dict[Micros, Micros] = {}
        self.taken_number = 0

    def quotes(self, world_at: Timestamp) -> RefreshedQuotes:
        """The simulated quotes of a moment, whole."""
        number = refresh_at(self.listing, world_at)
        kept = self._background
        if kept is None or kept.number != number:
            kept = background(self._seed, self.listing, number)
            self.stand(kept)
        return kept

    def stand(self, quotes: RefreshedQuotes) -> None:
        """Let these simulated quotes stand until the next refresh."""
        self._background = quotes

    def levels(self, world_at: Timestamp, *, bids: bool) -> Iterator[PriceLevel]:
        """What is left of the simulated quotes on one side, best first."""
        quotes = self.quotes(world_at)
        taken = self.taken if self.taken_number == quotes.number else {}
        for price, shares in quotes.bids if bids else quotes.asks:
            left = shares - taken.get(price, 0)
            if left > 0:
                yield PriceLevel(price, Micros(left))

    def offers(self, times: Times, *, bids: bool) -> list[Offer]:
        """All orders and quotes of one side, in the order in which they fill.

        Args:
            times: wall time, which orders expire by, and the tape's.
            bids: the side that buys YES, or the other one.

        Returns:
            Offers of agents and simulated quotes, best first.
        """
        at, world_at = times
        found = [
            Offer(order.yes_price(), order.left, order)
            for order in self.orders.values()
            if order.bids() is bids and (order.expires_at is None or order.expires_at > at)
        ]
        found += [Offer(price, shares, None) for price, shares in self.levels(world_at, bids=bids)]
        # Stable: the orders stand in the order of their coming, the quotes behind them.
        found.sort(key=lambda offer: -offer.price if bids else offer.price)
        return found

    def best(self, times: Times, *, bids: bool) -> PriceLevel | None:
        """The best price of a side with all shares at it; None if the side is empty."""
        if not self.orders:
            return next(self.levels(times[1], bids=bids), None)
        found = self.offers(times, bids=bids)
        if not found:
            return None
        price = found[0].price
        return PriceLevel(price, sum_of(one.shares for one in found if one.price == price))

    def mid(self, times: Times) -> float:
        """Price of YES between the best bid and the best ask, else the outside price."""
        return self.mid_of(*self.tops(times), times)

    def tops(self, times: Times) -> tuple[PriceLevel | None, PriceLevel | None]:
        """The best bid and the best ask; None for a side that is empty."""
        return self.best(times, bids=True), self.best(times, bids=False)

    def mid_of(self, bid: PriceLevel | None, ask: PriceLevel | None, times: Times) -> float:
        """Price of YES between a bid and an ask of now, else the outside price."""
        if bid is None or ask is None:
            return self.quotes(times[1]).external
        return (bid.price + ask.price) / (2 * ONE)

    def mark_of_buy(self, side: Side, times: Times) -> float:
        """The mark of a side that a stop of a buy is measured from, without the buy's own impact.

        Source: decisions, "A stop after a buy". # ours: what the buys of a refresh took stands
        there again at the next one, so that a mark which they lifted falls though no price moved.
        """
        quotes = self.quotes(times[1])
        bid, ask = next(iter(quotes.bids), None), next(iter(quotes.asks), None)
        whole = self.mid_of(bid, ask, times)
        return min(own_chance(side, whole), own_chance(side, self.mid(times)))

    def take(self, number: int, levels: Iterable[tuple[Micros, Micros]]) -> None:
        """Deduct what was taken from a refresh; a newer refresh forgets the older one."""
        if number != self.taken_number:
            self.taken, self.taken_number = {}, number
        for price, shares in levels:
            self.taken[price] = Micros(self.taken.get(price, 0) + shares)


def walk(offers: list[Offer], request: TakeRequest, fee_rate_bps: int) -> Walk:
    """Let an order meet the offers of the other side, within its limit.

    Args:
        offers: from `Book.offers`, the side that it takes from.
        request: the order.
        fee_rate_bps: what the taker pays.

    Returns:
        Everything that would change hands; money is rounded against the taker, match by match.

    Raises:
        OwnOrderInTheWay: it would meet an order of the same agent.
    """
    buys = request.action is Action.BUY
    money_left, shares_left = request.money, request.shares
    matches: list[Match] = []
    total = spent = fee = 0
    is_whole = False
    for offer in offers:
        own = own_price(request.side, offer.price)
        if request.limit is not None and (own > request.limit if buys else own < request.limit):
            break
        shares = min(offer.shares, _room(own, money_left, shares_left))
        if shares <= 0:
            is_whole = True
            break
        if offer.order is not None and offer.order.agent_id == request.agent_id:
            raise OwnOrderInTheWay(
                f"the order would trade with your own order {offer.order.order_id}"
            )
        money = money_of(shares, own, up=buys)
        matches.append(Match(offer.price, shares, money, offer.order))
        total += shares
        spent += money
        fee += shares * own * (ONE - own)
        money_left = None if money_left is None else Micros(money_left - money)
        shares_left = None if shares_left is None else Micros(shares_left - shares)
        if _room(own, money_left, shares_left) <= 0:
            is_whole = True
            break
    return Walk(tuple(matches), Micros(total), Micros(spent), _fee_of(fee * fee_rate_bps), is_whole)


def _room(price: Micros, money: Micros | None, shares: Micros | None) -> Micros:
    """Shares that are still wanted at a price, whole quanta."""
    bounds = [] if shares is None else [int(shares)]
    if money is not None:
        bounds.append(int(shares_for(money, price)))
    return Micros(min(bounds))


def shares_for(money: Micros, price: Micros) -> Micros:
    """Shares that money buys at a price, rounded down to whole quanta."""
    return Micros(money * ONE // price // SHARE_QUANTUM * SHARE_QUANTUM)


def _fee_of(weighted: int) -> Micros:
    """The fee from the sum of shares x rate x p x (1 - p), five decimals, rounded up."""
    return Micros(-(-weighted // (_FEE_GRAIN * _FEE_UNIT)) * _FEE_GRAIN)


def maker_money(match: Match, taker: Side, order: Resting) -> Micros:
    """What the resting order gives or gets for a match: never worse than at its own price.

    A buyer of YES and a buyer of NO pay one between them, and two sellers get one; so what the
    taker's rounding leaves goes to the maker, and no micro is made or lost.

    Returns:
        Money that the maker pays or gets, micros.
    """
    return match.money if order.side is taker else Micros(match.shares - match.money)


def resting_of(event: OrderPlaced) -> Resting:
    """What of an order rests on its book."""
    return Resting(
        order_id=event.order_id,
        agent_id=event.agent_id,
        venue=event.venue,
        market_id=event.market_id,
        side=event.side,
        action=event.action,
        order_type=event.order_type,
        price=event.price,
        requested=event.requested,
        left=event.rests,
        reserved=event.reserved,
        at=event.at,
        world_at=event.world_at,
        expires_at=event.expires_at or None,
        shares=event.shares,
        money=event.money,
        fee=event.fee,
        realized=event.realized,
        note=event.note,
    )

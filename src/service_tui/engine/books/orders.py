"""Orders on the simulated venues: quoted, checked and placed.

Everything is checked first, then events are made and applied: an order changes all or nothing.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.halt import no_entry
from service_tui.engine.agents.limits import check_pace, check_real_spend, check_skill
from service_tui.engine.agents.pending_trades import check_average, check_leash
from service_tui.engine.books.book import (
    Book,
    TakeRequest,
    Walk,
    is_bid,
    maker_money,
    money_of,
    own_chance,
    own_price,
    shares_for,
    walk,
)
from service_tui.engine.books.liquidity import PRICE_HIGH, PRICE_LOW, fee_rate_bps
from service_tui.engine.books.resting import Part, meet
from service_tui.engine.books.venues import Times, Venues
from service_tui.engine.errors import (
    AgentSuspended,
    BelowMinimum,
    InsufficientBalance,
    InsufficientShares,
    InvalidExpiration,
    InvalidTick,
    MarketNotFound,
    MarketTooLarge,
    NoLiquidity,
    NotClaimed,
    NotFilledWhole,
    OrderTooSmall,
    PriceOutOfRange,
    RealTradingOff,
    TooManyOrders,
    VenueNotServed,
)
from service_tui.engine.events import NO_NOTE, Event, Note, OrderPlaced
from service_tui.terms import GTD_LIFE_MIN_S, ORDER_SHARES_MIN, Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal, sum_of

ORDER_MIN: Final = {Venue.EVM: Micros(ORDER_SHARES_MIN * ONE), Venue.SOL: Micros(20_000)}
"""Least shares of one order. Source: spec, "Limits": 5 on the EVM venue.
As of 2026-11.
ours: 0.02 on the Solana venue: they bring more than a fee of 0.00001 at the lowest price, 0.001."""

SIGNED_GRAIN: Final = Micros(10_000)
"""A hundredth of a share: what a signed order counts in. Source: wire reference, 6.2."""

RESTING: Final = frozenset({OrderType.GTC, OrderType.GTD})
OPEN_MAX: Final = 200
"""Open orders of one agent. # ours: more than a person can watch, and bounded."""

GTD_DEFAULT_S: Final = 86_400.0
"""Life of a GTD order without an expiration. # ours: a day, as the published client sends none."""

GTD_MAX_S: Final = 366 * 86_400.0


class VenueOrder(NamedTuple):
    """An order for a real venue: a buy by `size` of money, a sale by `size` of shares, micros.

    `price` is the limit of its own side in micros; `expires_at` is wall time; `signed` where an
    external wallet has signed the size. A buy gets no more than `shares_max`, at once and resting.
    `average_bound` is the worst average price at which the operator let it pass.
    """

    agent: Agent
    market_id: str
    side: Side
    action: Action
    size: Micros
    venue: Venue
    order_type: OrderType | None = None
    price: Micros | None = None
    expires_at: Timestamp | None = None
    note: Note = NO_NOTE
    unlimited: bool = False
    approved: bool = False
    signed: bool = False
    shares_max: Micros | None = None
    average_bound: float | None = None


@dataclass(frozen=True, slots=True)
class VenueQuote:
    """What an order gets now, and what of it would rest; prices of the side traded."""

    order_type: OrderType
    price: Micros | None
    walked: Walk
    requested: Micros
    rests: Micros
    reserved: Micros
    price_before: float
    price_after: float

    def net(self, action: Action) -> Micros:
        """Cash that the order takes at once, fee and reserve included, or brings."""
        if action is Action.BUY:
            return Micros(self.walked.money + self.walked.fee + self.reserved)
        return Micros(self.walked.money - self.walked.fee)


def default_type(venue: Venue, action: Action) -> OrderType:
    """What an order without a type is. Source: wire reference, 3.3: sales rest on the EVM venue."""
    sells_on_evm = venue is Venue.EVM and action is Action.SELL
    return OrderType.GTC if sells_on_evm else OrderType.FAK


# -- quotes --------------------------------------------------------------------------------


def quote(venues: Venues, order: VenueOrder, times: Times) -> VenueQuote:
    """What an order would get now, without limits and positions of the agent.

    Returns:
        The walk through the book and what would rest; nothing changes.

    Raises:
        Refusal: the market or the book does not take the order.
    """
    book = open_book(venues, order.market_id, order.venue, times)
    kind = order.order_type or default_type(order.venue, order.action)
    price = _limit(book, order, kind, times)
    offers = book.offers(times, bids=not is_bid(order.side, order.action))
    best = own_price(order.side, offers[0].price) if offers else None
    _check_size(order, price or best)
    rests_too = kind in RESTING
    buys = order.action is Action.BUY
    request = TakeRequest(
        agent_id=order.agent.agent_id,
        side=order.side,
        action=order.action,
        limit=price,
        money=order.size if buys else None,
        shares=_requested(order, price) if rests_too or not buys else order.shares_max,
    )
    walked = walk(offers, request, fee_rate_bps(book.listing))
    if kind is OrderType.FOK and not walked.is_whole:
        raise NotFilledWhole("the order cannot be filled in full at this price; nothing filled")
    if not rests_too and not walked.shares:
        raise NoLiquidity("no liquidity: no offers on the other side at this price")
    if not buys and walked.shares and not walked.money > walked.fee:
        raise BelowMinimum("the sale brings less than its fee", "sell more shares")
    rests = _rest(order, price, walked) if rests_too and price is not None else Micros(0)
    before = own_chance(order.side, book.mid(times))
    return VenueQuote(
        order_type=kind,
        price=price,
        walked=walked,
        requested=Micros(walked.shares + rests) if buys else order.size,
        rests=rests,
        reserved=money_of(rests, price, up=True) if buys and price is not None else Micros(0),
        price_before=best / ONE if best is not None and walked.shares else before,
        price_after=own_price(order.side, walked.matches[-1].price) / ONE
        if walked.matches
        else before,
    )


def open_book(venues: Venues, market_id: str, venue: Venue, times: Times) -> Book:
    """The book of a market that takes orders on a venue now.

    Returns:
        The book.

    Raises:
        Refusal: there is no such market, it trades elsewhere, or it is closed.
    """
    market = venues.markets.get(market_id)
    if market is None:
        raise MarketNotFound(f"market not found: {market_id}")
    home = market.listing.home
    if venue is Venue.SIM:
        raise VenueNotServed(
            "sim has no order book",
            "ask what an order would get: POST /api/sdk/trade with dry_run true",
        )
    if home is not venue:
        others = "" if home is Venue.SIM else f" or on {home.value}"
        raise VenueNotServed(
            f"this market does not trade on {venue.value}", f"trade it on sim{others}"
        )
    market.check_open(times[1])
    return venues.book(market_id)


def executable(book: Book, side: Side, action: Action, times: Times) -> Micros | None:
    """The best price at which an order of a side would trade now; None without liquidity."""
    best = book.best(times, bids=not is_bid(side, action))
    return None if best is None else own_price(side, best.price)


def buffered(book: Book, price: Micros, action: Action, times: Times) -> Micros:
    """A price one tick worse for who trades at it, within the range of prices."""
    tick = book.quotes(times[1]).tick
    moved = price + tick if action is Action.BUY else price - tick
    return Micros(min(PRICE_HIGH, max(PRICE_LOW, moved)))


def _limit(book: Book, order: VenueOrder, kind: OrderType, times: Times) -> Micros | None:
    """The limit of an order, None where it takes any price.

    Returns:
        What was requested; for a resting order without one, a tick beyond the best price.

    Raises:
        PriceOutOfRange: not within 0.001 and 0.999.
        InvalidTick: a price that would rest between two ticks.
        NoLiquidity: a resting order without a price, and nothing to take one from.
    """
    price = order.price
    if price is None:
        if kind not in RESTING:
            return None
        best = executable(book, order.side, order.action, times)
        if best is None:
            raise NoLiquidity("no liquidity: name a price, there is none to take over")
        # ours: the executable price with its buffer, which clients take as well.
        return buffered(book, best, order.action, times)
    if not PRICE_LOW <= price <= PRICE_HIGH:
        low, high = decimal(PRICE_LOW), decimal(PRICE_HIGH)
        raise PriceOutOfRange(
            f"a price of {decimal(price)} is not within {low} and {high}",
            f"give a price from {low} to {high}",
        )
    tick = book.quotes(times[1]).tick
    # A bound of an order that never rests may lie anywhere: it is only compared.
    if kind in RESTING and price % tick:
        near = min(PRICE_HIGH, max(PRICE_LOW, (price + tick // 2) // tick * tick))
        raise InvalidTick(
            f"invalid price {decimal(price)}: the market's tick size is {decimal(tick)}",
            f"round the price to the tick size, for example {decimal(Micros(near))}",
        )
    return price


def _check_size(order: VenueOrder, price: Micros | None) -> None:
    """Refuse an order below the venue's floor.

    Raises:
        OrderTooSmall: fewer shares than the venue takes.
    """
    least = ORDER_MIN[order.venue]
    shares = order.size
    if order.action is Action.BUY:
        shares = _bounded(order, least if price is None else shares_for(order.size, price))
    if not shares >= least:
        raise OrderTooSmall(
            f"Order too small: {decimal(shares):,.5f} shares, the minimum is "
            f"{decimal(least):g} shares an order",
            f"order at least {decimal(least):g} shares",
        )


def _requested(order: VenueOrder, price: Micros | None) -> Micros:
    """Shares of an order: those of a sale, or what the money buys at the limit."""
    if order.action is Action.SELL or price is None:
        return order.size
    return _bounded(order, shares_for(order.size, price))


def _bounded(order: VenueOrder, shares: Micros) -> Micros:
    return shares if order.shares_max is None else min(shares, order.shares_max)


def _rest(order: VenueOrder, price: Micros, walked: Walk) -> Micros:
    """Shares that stay on the book; never more than the money left pays for."""
    left = _requested(order, price) - walked.shares
    if order.action is Action.BUY:
        left = min(left, shares_for(Micros(order.size - walked.money), price))
    return Micros(max(0, left))


# -- placing -------------------------------------------------------------------------------


def with_remainder(venues: Venues, order: VenueOrder) -> VenueOrder:
    """The order, and a sale with what it would leave behind where no order could sell that.

    Source: decisions, "Remainders".

    Returns:
        The order itself where it is a buy, or leaves nothing or enough.
    """
    if order.action is not Action.SELL or order.venue is Venue.SIM:
        return order
    free = venues.free_shares(order.agent.agent_id, order.market_id, order.side)
    # ours: of a signed size only what a signature, which has two decimals, cannot name.
    least = SIGNED_GRAIN if order.signed else ORDER_MIN[order.venue]
    is_dust = 0 < free - order.size < least and order.size >= ORDER_MIN[order.venue]
    return order._replace(size=free) if is_dust else order


class Checked(NamedTuple):
    """An order that a venue takes now: with its remainder, what it gets, and when it dies."""

    order: VenueOrder
    quoted: VenueQuote
    expires_at: Timestamp


def check(venues: Venues, order: VenueOrder, times: Times) -> Checked:
    """Check everything that an order must meet before it is carried out.

    Returns:
        What would be carried out; nothing changed.

    Raises:
        Refusal: the venue refuses the order.
    """
    open_book(venues, order.market_id, order.venue, times)
    order = with_remainder(venues, order)
    _check_agent(order.agent)
    if order.action is Action.BUY:
        _check_entry(venues, order, times[0])
    expires_at = _expiration(order, times[0])
    quoted = quote(venues, order, times)
    _check_means(venues, order, quoted)
    price, walked = quoted.price, quoted.walked
    rests_at = price / ONE if quoted.rests and price is not None else None
    check_average(order.average_bound, order.action, walked.money, walked.shares, rests_at=rests_at)
    if order.agent.leashes:
        slug, size = order.note.skill_slug, order.size
        check_leash(order.agent, slug, order.action, size, approved=order.approved, at=times[0])
    return Checked(order, quoted, expires_at)


def place(venues: Venues, order: VenueOrder, times: Times) -> list[Event]:
    """Carry out an order: what it meets at once is traded, the rest of a GTC or GTD order rests.

    Returns:
        The events, already applied, `OrderPlaced` first; the caller writes them down in one go.

    Raises:
        Refusal: nothing changed.
    """
    order, quoted, expires_at = check(venues, order, times)
    placed = _placed(venues, order, quoted, (times, expires_at))
    events: list[Event] = [placed]
    venues.apply(placed)
    for match in quoted.walked.matches:
        if match.order is not None:
            money = maker_money(match, order.side, match.order)
            events += meet(venues, match.order, Part(match.shares, money), times)
    return events


def _check_agent(agent: Agent) -> None:
    """Ask what every order of real money needs.

    Raises:
        Refusal: the agent is not claimed, suspended, or its real trading is off.
    """
    settings = agent.settings
    if not settings.claimed:
        raise NotClaimed("Agent must be claimed before trading on a real venue (not verified)")
    if settings.suspended:
        raise AgentSuspended("this agent is suspended")
    if not settings.real_trading_enabled:
        raise RealTradingOff("real trading is not enabled for this agent")


def _check_entry(venues: Venues, order: VenueOrder, at: Timestamp) -> None:
    """Check every limit that binds buys only.

    Raises:
        Refusal: paused, or above a limit.
    """
    agent = order.agent
    settings = agent.settings
    if settings.is_paused or venues.halt.since is not None:
        raise no_entry(settings, venues.halt)
    check_real_spend(agent, order.size, venues.spent_today(agent.agent_id, at))
    if not order.unlimited:
        check_pace(agent, order.venue, order.market_id, order.side, at=at)
    check_skill(agent, order.note.skill_slug, order.size, at)
    most = settings.max_position
    if most is not None and not order.size + _committed(venues, order) <= most:
        raise MarketTooLarge(f"the position would cost more than {decimal(most):,.2f} USDC")
    venues.check_exposure(agent.agent_id, order.market_id, order.venue, order.size)


def _committed(venues: Venues, order: VenueOrder) -> Micros:
    """What the agent's position in the market has cost, with what its open buys may still spend."""
    agent_id = order.agent.agent_id
    holding = venues.account(agent_id, order.venue).holdings.get(order.market_id)
    held = 0 if holding is None else holding.position.total_cost()
    resting = venues.book(order.market_id).orders.values()
    return held + sum_of(one.reserved for one in resting if one.agent_id == agent_id)


def _expiration(order: VenueOrder, at: Timestamp) -> Timestamp:
    """When the order dies automatically, wall time; 0 for never.

    Returns:
        The time requested, a day where a GTD order names none.

    Raises:
        InvalidExpiration: too soon for the venue, too far off, or on an order of another type.
    """
    kind = order.order_type or default_type(order.venue, order.action)
    if kind is not OrderType.GTD:
        if order.expires_at is not None:
            raise InvalidExpiration(f"an expiration belongs to GTD orders, not to {kind.value}")
        return Timestamp(0.0)
    if order.expires_at is None:
        return Timestamp(at + GTD_DEFAULT_S)
    if not at < order.expires_at <= at + GTD_MAX_S:
        raise InvalidExpiration("the expiration is not in the future, or more than a year off")
    least_s = GTD_LIFE_MIN_S.get(order.venue, 0.0)
    if order.expires_at < at + least_s:
        raise InvalidExpiration(
            f"the expiration is too soon: GTD orders of the venue live {least_s:.0f} s or longer"
        )
    return order.expires_at


def _check_means(venues: Venues, order: VenueOrder, quoted: VenueQuote) -> None:
    """Ask whether the agent has what the order gives, fee and reserve included.

    Raises:
        Refusal: not enough money or shares, or too many open orders.
    """
    agent_id = order.agent.agent_id
    if order.action is Action.BUY:
        needed, cash = quoted.net(Action.BUY), venues.cash(agent_id, order.venue)
        if not needed <= cash:
            raise InsufficientBalance(
                f"insufficient balance: {decimal(needed):,.2f} USDC needed with the fee, "
                f"{decimal(cash):,.2f} left"
            )
    else:
        free = venues.free_shares(agent_id, order.market_id, order.side)
        if not 0 < order.size <= free:
            raise InsufficientShares(
                f"insufficient shares to sell: {decimal(order.size):,.5f} asked, "
                f"{decimal(free):,.5f} held and not in open orders"
            )
    if quoted.rests and not len(venues.orders(agent_id)) < OPEN_MAX:
        raise TooManyOrders(f"{OPEN_MAX} orders are open already")


def _placed(
    venues: Venues, order: VenueOrder, quoted: VenueQuote, when: tuple[Times, Timestamp]
) -> OrderPlaced:
    (at, world_at), expires_at = when
    walked = quoted.walked
    book = venues.book(order.market_id)
    realized, mark = 0, 0.0
    if order.action is Action.BUY:
        mark = book.mark_of_buy(order.side, (at, world_at))
    elif walked.shares:
        holding = venues.account(order.agent.agent_id, order.venue).holdings[order.market_id]
        cost = holding.position.on(order.side).cost_of(walked.shares)
        realized = quoted.net(Action.SELL) - cost
    return OrderPlaced(
        order_id=f"o{venues.order_count + 1}",
        agent_id=order.agent.agent_id,
        venue=order.venue,
        market_id=order.market_id,
        side=order.side,
        action=order.action,
        order_type=quoted.order_type,
        size=order.size,
        price=quoted.price or Micros(0),
        requested=quoted.requested,
        shares=walked.shares,
        money=walked.money,
        fee=walked.fee,
        rests=quoted.rests,
        reserved=quoted.reserved,
        price_before=quoted.price_before,
        price_after=quoted.price_after,
        at=at,
        world_at=world_at,
        realized=Micros(realized),
        expires_at=expires_at,
        number=book.quotes(world_at).number,
        taken=tuple((price, shares) for price, shares in walked.taken()),
        note=order.note,
        mark=mark,
    )

"""Turns one order into a Fill or a Refusal, and applies Fills to the world.

`check` computes and refuses without changing anything; `apply` changes and never refuses: a replay
only applies.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from service_tui.engine.agents.agents import Agent, check_standing
from service_tui.engine.agents.exposure_limits import CheckExposure, no_limit
from service_tui.engine.agents.halt import HaltState, no_entry
from service_tui.engine.agents.limits import check_pace, check_skill
from service_tui.engine.agents.pending_trades import check_average, check_leash
from service_tui.engine.amm.ledger import Ledger
from service_tui.engine.amm.market import Market, Quote
from service_tui.engine.errors import (
    BelowMinimum,
    InsufficientBalance,
    InsufficientShares,
    MarketNotFound,
    MarketTooLarge,
    PriceBeyondLimit,
    TradeTooLarge,
    VenueNotServed,
)
from service_tui.engine.events import NO_NOTE, Fill, Note
from service_tui.engine.limits import MARKET_MAX, TRADE_MAX
from service_tui.engine.position import Position, SidePosition
from service_tui.terms import Action, Side, Venue
from service_tui.units import SHARE_QUANTUM, Micros, Timestamp, decimal, sum_of

_BUY: Final = Action.BUY
_NOTHING: Final = Micros(0)
_SIM: Final = Venue.SIM
_DUST_MAX: Final = 10_000
"""Micros of shares that bring at least a micro at the lowest price there is, 0.0001."""

_SIM_TRADE_MAX: Final = TRADE_MAX[Venue.SIM]
_SIM_MARKET_MAX: Final = MARKET_MAX[Venue.SIM]


class Order(NamedTuple):
    """An order of an agent: a buy by `size` of money, a sale by `size` of shares, micros.

    `unlimited` lifts what binds by time: buys a day and cooldowns. `approved`: the person has let
    it pass, at an average price no worse than `average_bound`. `shares_max`: a buy gets no more,
    and then spends less than `size`.
    """

    agent: Agent
    market_id: str
    side: Side
    action: Action
    size: Micros
    venue: Venue = Venue.SIM
    price_limit: float | None = None
    note: Note = NO_NOTE
    unlimited: bool = False
    approved: bool = False
    shares_max: Micros | None = None
    average_bound: float | None = None


class Exchange:
    """The books of all markets and agents, and the ledger under them."""

    __slots__ = ("agents", "check_exposure", "halt", "ledger", "markets")

    def __init__(
        self,
        markets: dict[str, Market],
        agents: dict[str, Agent],
        ledger: Ledger,
        halt: HaltState | None = None,
        *,
        check_exposure: CheckExposure = no_limit,
    ) -> None:
        self.markets = markets
        self.agents = agents
        self.ledger = ledger
        self.halt = halt or HaltState()
        self.check_exposure = check_exposure

    def quote(self, order: Order, world_at: Timestamp) -> Quote:
        """What the order would get now, without the limits of the agent.

        Returns:
            Shares, money and prices; nothing changes.

        Raises:
            Refusal: the market does not take the order.
        """
        return _quote(self._open_market(order, world_at), order)

    def check(self, order: Order, trade_id: str, times: tuple[Timestamp, Timestamp]) -> Fill:
        """The fill that the order would be, after every limit is checked; nothing changes.

        Args:
            order: what is requested.
            trade_id: identity of the trade to be.
            times: wall time and the tape's time.

        Returns:
            The fill, not yet applied.

        Raises:
            Refusal: the venue refuses the order.
        """
        at, world_at = times
        market = self._open_market(order, world_at)
        check_standing(order.agent, self.ledger.balance(order.agent.cash_account))
        if order.action is _BUY:
            self._check_entry(order, at)
            quote, realized = _quote(market, order), _NOTHING
        else:
            order = _with_remainder(market, order)
            held = _held_for(order)
            quote = _quote(market, order)
            realized = quote.money - held.cost_of(order.size)
        if order.average_bound is not None:
            check_average(
                order.average_bound, order.action, quote.money, quote.shares, rests_at=None
            )
        if order.agent.leashes:
            # The last question: what cannot be traded anyway does not have to wait.
            _check_leash(order, at)
        return Fill(
            trade_id,
            order.agent.agent_id,
            order.market_id,
            order.side,
            order.action,
            quote.shares,
            quote.money,
            quote.price_before,
            quote.price_after,
            at,
            world_at,
            realized,
            order.note,
        )

    def _open_market(self, order: Order, world_at: Timestamp) -> Market:
        """The market of an order: checked first, so that a wrong id is always reported as such.

        Returns:
            A market that takes orders now.

        Raises:
            Refusal: there is none, it is closed, or it belongs to a venue that is not here.
        """
        market = self.markets.get(order.market_id)
        if market is None:
            raise MarketNotFound(f"market not found: {order.market_id}")
        if order.venue is not _SIM:
            raise VenueNotServed(f"this service does not trade on {order.venue.value}")
        if market.resolved_at is not None or world_at >= market.listing.resolves_at:
            market.check_open(world_at)
        return market

    def _check_entry(self, order: Order, at: Timestamp) -> None:
        """Check every limit that binds buys only."""
        agent = order.agent
        settings = agent.settings
        size = order.size
        if settings.trading_paused or settings.operator_paused or self.halt.since is not None:
            raise no_entry(settings, self.halt)
        if not 0 < size <= _SIM_TRADE_MAX:
            raise TradeTooLarge(
                f"{decimal(size):,.2f} is above the limit of "
                f"{decimal(_SIM_TRADE_MAX):,.2f} $SIM a trade"
            )
        cash = self.ledger.balance(agent.cash_account)
        if not size <= cash:
            raise InsufficientBalance(
                f"insufficient balance: {decimal(size):,.2f} asked, {decimal(cash):,.2f} $SIM left"
            )
        if not order.unlimited:
            check_pace(agent, order.venue, order.market_id, order.side, at=at)
        if settings.skill_day_max is not None:
            check_skill(agent, order.note.skill_slug, size, at)
        position = agent.positions.get(order.market_id)
        cost = size if position is None else position.total_cost() + size
        cap = settings.max_position
        if cap is None or cap > _SIM_MARKET_MAX:
            cap = _SIM_MARKET_MAX
        if not cost <= cap:
            raise MarketTooLarge(
                f"the position would cost more than {decimal(cap):,.2f} $SIM in one market"
            )
        self.check_exposure(agent.agent_id, order.market_id, _SIM, size)

    def apply(self, fill: Fill) -> None:
        """Change cash, market and position by a fill that was checked, or read back."""
        agent = self.agents[fill.agent_id]
        market_id = fill.market_id
        market = self.markets[market_id]
        side, shares, money, at = fill.side, fill.shares, fill.money, fill.at
        position = agent.positions.get(market_id)
        if position is None:
            position = agent.positions[market_id] = Position(fill.agent_id, market_id)
        if fill.action is _BUY:
            action = "buy"
            self.ledger.transfer(agent.cash_account, market.account, money)
            market.move(side, shares)
            position.buy(side, shares, money, at, mark=fill.price_after)
            agent.count_buy(at, money)
            note = fill.note
            if note.source:
                _note_source(agent, market_id, note.source)
            if note.skill_slug:
                agent.count_skill(note.skill_slug, money, at)
        else:
            action = "sell"
            realized = fill.realized
            self.ledger.transfer(market.account, agent.cash_account, money)
            market.move(side, -shares)
            position.take(side, shares, money - realized, realized)
            agent.realized += realized
            if realized > 0:
                agent.win_count += 1
            elif realized < 0:
                agent.loss_count += 1
        agent.trades_count += 1
        agent.last_trade_at = at
        market.count_volume(fill.world_at, money)
        name = agent.settings.name
        market.note_fill((fill.world_at, name, side, action, shares, fill.price_after))


def _check_leash(order: Order, at: Timestamp) -> None:
    slug, action, size = order.note.skill_slug, order.action, order.size
    check_leash(order.agent, slug, action, size, approved=order.approved, at=at)


def _note_source(agent: Agent, market_id: str, source: str) -> None:
    """Remember which sources bought in a market: clients guard their rebuys by it."""
    known = agent.sources.get(market_id, ())
    if source not in known:
        agent.sources[market_id] = (*known, source)


def _quote(market: Market, order: Order) -> Quote:
    """What an open market gives for an order, within the price that the order names.

    Returns:
        Shares, money and prices.

    Raises:
        Refusal: too small, too large, or beyond the price limit.
    """
    limit = order.price_limit
    if order.action is _BUY:
        quote = market.quote_buy(order.side, order.size, order.shares_max)
        if limit is not None and not quote.price_after <= limit:
            raise PriceBeyondLimit(f"the price would reach {quote.price_after:.4f}, above {limit}")
        return quote
    quote = market.quote_sell(order.side, order.size)
    if limit is not None and not quote.price_after >= limit:
        raise PriceBeyondLimit(
            f"the price would fall to {quote.price_after:.4f}, below {limit}",
            "lower the price limit or sell fewer shares",
        )
    return quote


def _with_remainder(market: Market, order: Order) -> Order:
    """A sale, and with it what it would leave behind where that brings nothing.

    Source: decisions, "Remainders".

    Returns:
        The order itself where it leaves nothing or enough.
    """
    position = order.agent.positions.get(order.market_id)
    held = _NOTHING if position is None else position.shares(order.side)
    left = Micros(held - order.size)
    if not 0 < left < _DUST_MAX or order.size <= 0 or market.exit_value(order.side, left):
        return order
    return order._replace(size=held)


def _held_for(order: Order) -> SidePosition:
    """The side of a position that a sale takes from.

    Returns:
        The side; it holds what is requested.

    Raises:
        InsufficientShares: less is held.
        BelowMinimum: finer than a quantum, and not all that is held.
    """
    position = order.agent.positions.get(order.market_id)
    held = position.shares(order.side) if position is not None else Micros(0)
    if position is None or not 0 < order.size <= held:
        raise InsufficientShares(
            f"insufficient shares to sell: {decimal(order.size):,.5f} asked, "
            f"{decimal(held):,.5f} held"
        )
    if order.size % SHARE_QUANTUM and order.size != held:
        raise BelowMinimum("shares are sold in steps of 0.00001", "round the shares down")
    return position.on(order.side)


def open_shares(agents: Mapping[str, Agent], market_id: str, side: Side) -> Micros:
    """Shares of one side of a market in the hands of agents."""
    return sum_of(
        agent.positions[market_id].shares(side)
        for agent in agents.values()
        if market_id in agent.positions
    )

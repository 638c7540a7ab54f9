"""The simulated venues as wire bodies: quotes, orders, positions, balances."""

from functools import lru_cache
from typing import Final, NamedTuple

from service_tui.engine.agents.agents import Agent, ClosedPosition
from service_tui.engine.amm.market import Market
from service_tui.engine.books.book import Book, Resting, Times, shares_for
from service_tui.engine.books.catalogue import condition_of, has_event, token_of, url_of
from service_tui.engine.books.liquidity import fee_rate_bps, quoted_at, tier_of
from service_tui.engine.books.orders import RESTING, VenueOrder, VenueQuote
from service_tui.engine.books.venues import VenuePosition
from service_tui.engine.chain.chain import address_of_wallet
from service_tui.engine.events import OrderPlaced
from service_tui.engine.exit_values import exit_value
from service_tui.engine.risk.monitors import MonitoredSide
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.server.ends import announced_for, ended_fields, ended_word
from service_tui.server.projections.present import SOLD, closed_body, sold_side
from service_tui.server.results.venues import question_of
from service_tui.terms import Action, MarketStatus, OrderType, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros, decimal, sum_of
from service_tui.wire.base import moment
from service_tui.wire.markets import MarketBody
from service_tui.wire.orders import OrderBody
from service_tui.wire.positions import PositionBody, PositionSideBody
from service_tui.wire.trades import TradeBalance, TradeBody

CURRENCY: Final = "USDC"
STATUS: Final = {PositionState.ACTIVE: "active", PositionState.AWAITING: "closed"}
"""Published status of the first states; the later ones are `won` and `lost`."""


class ChainIds(NamedTuple):
    """Identities that an EVM venue has for a market; here they are derived from its id."""

    condition_id: str | None
    token_id_yes: str | None
    token_id_no: str | None


class Top(NamedTuple):
    """The best prices of a book with their sizes, and the time of the quotes."""

    best_bid: float | None
    best_ask: float | None
    best_bid_size: float | None
    best_ask_size: float | None
    spread: float | None
    quote_ts: float


NO_IDS: Final = ChainIds(None, None, None)


@lru_cache(maxsize=1_024)
def chain_ids(market_id: str, venue: Venue, *, neg_risk: bool | None) -> ChainIds:
    """Condition and outcome tokens of a market; only the EVM venue has them.

    Returns:
        The ids; no tokens where it is not known any more whether the market is a negative-risk one.
    """
    if venue is not Venue.EVM:
        return NO_IDS
    if neg_risk is None:
        return ChainIds(condition_of(market_id), None, None)
    yes, no = (token_of(market_id, side, neg_risk=neg_risk) for side in Side)
    return ChainIds(condition_of(market_id), yes, no)


def top_of(book: Book, times: Times) -> Top:
    """The best prices of a book, with all shares at them."""
    bid, ask = (book.best(times, bids=bids) for bids in (True, False))
    return Top(
        best_bid=bid.price / ONE if bid else None,
        best_ask=ask.price / ONE if ask else None,
        best_bid_size=decimal(bid.shares) if bid else None,
        best_ask_size=decimal(ask.shares) if ask else None,
        spread=(ask.price - bid.price) / ONE if bid and ask else None,
        quote_ts=quoted_at(book.quotes(times[1]).number),
    )


def with_book(world: World, market: Market, body: MarketBody) -> MarketBody:
    """A market with the prices of its order book, where it has one."""
    listing = market.listing
    if listing.home is Venue.SIM:
        return body
    source = {"import_source": listing.home.value, "simulated": True}
    neg_risk = has_event(listing)
    ids = chain_ids(body.id, listing.home, neg_risk=neg_risk)
    source |= {
        "fee_rate_bps": fee_rate_bps(listing),
        "polymarket_id": ids.condition_id,
        "polymarket_token_id": ids.token_id_yes,
        "polymarket_no_token_id": ids.token_id_no,
        "polymarket_neg_risk": neg_risk,
        "liquidity_tier": tier_of(listing).name,
    }
    if body.status is not MarketStatus.ACTIVE:
        return body.model_copy(update=source)
    book = world.venues.book(body.id)
    quotes = book.quotes(world.world_at)
    top = top_of(book, (world.at, world.world_at))
    external = round(quotes.external, 6)
    return body.model_copy(
        update=source
        | top._asdict()
        | {
            "tick_size": quotes.tick / ONE,
            "external_price_yes": external,
            # Above 0 the outside price says: buy YES here.
            "divergence": round(external - body.current_probability, 6),
            "spread_cents": None if top.spread is None else round(top.spread * 100, 4),
            "quote_age_seconds": round(max(0.0, world.world_at - top.quote_ts), 3),
            "is_orderbook_open": True,
        }
    )


def order_body(world: World, order: Resting) -> OrderBody:
    """An open order."""
    neg_risk = has_event(world.market(order.market_id).listing)
    ids = chain_ids(order.market_id, order.venue, neg_risk=neg_risk)
    proceeds = order.left * order.price // ONE
    return OrderBody(
        order_id=order.order_id,
        trade_id=order.order_id,
        market_id=order.market_id,
        question=question_of(world, order.market_id),
        side=order.side,
        trade_type=order.action,
        shares=decimal(order.left),
        price=order.price / ONE,
        cost_usdc=decimal(order.reserved if order.action is Action.BUY else Micros(proceeds)),
        venue=order.venue,
        source=order.note.source or None,
        created_at=moment(order.at),
        condition_id=ids.condition_id,
        token_id_yes=ids.token_id_yes,
        token_id_no=ids.token_id_no,
        order_type=order.order_type,
        expires_at=moment(order.expires_at) if order.expires_at is not None else None,
        shares_filled=decimal(order.shares),
        stop_loss_pct=order.note.stop_loss_pct,
        take_profit_pct=order.note.take_profit_pct,
        simulated=True,
    )


def _fill_status(shares: Micros, rests: Micros, *, is_whole: bool) -> TradeStatus:
    if is_whole:
        return TradeStatus.FILLED
    if shares:
        return TradeStatus.PARTIALLY_FILLED
    return TradeStatus.SUBMITTED if rests else TradeStatus.FAILED


def _warnings(order: VenueOrder, kind: OrderType, money: Micros, shares: Micros) -> tuple[str, ...]:
    """Warning about a fill-and-kill order that was filled in part only."""
    if kind is not OrderType.FAK:
        return ()
    if order.action is Action.BUY:
        left, unit = order.size - money, "USDC"
    else:
        left, unit = order.size - shares, "shares"
    return (f"only a part was filled: {decimal(Micros(left)):g} {unit} were not",)


def _is_whole(order: VenueOrder, placed: OrderPlaced) -> bool:
    """True if nothing of the order is left, except money for less than the smallest share."""
    if placed.order_type in RESTING:
        return not placed.rests
    if order.action is Action.SELL:
        return placed.shares == placed.requested
    last = Micros(max(1, round(placed.price_after * ONE)))
    return shares_for(Micros(order.size - placed.money), last) <= 0


def placed_body(world: World, order: VenueOrder, placed: OrderPlaced) -> TradeBody:
    """An order that a venue accepted: filled, filled in part, or open."""
    bought = order.action is Action.BUY
    shares = decimal(placed.shares)
    whole = _is_whole(order, placed)
    fill_status = _fill_status(placed.shares, placed.rests, is_whole=whole)
    # The spec's word: submitted while nothing is filled, else filled as far as it goes.
    rests = placed.rests > 0
    return TradeBody(
        success=True,
        trade_id=placed.order_id,
        order_id=placed.order_id,
        market_id=placed.market_id,
        side=placed.side,
        shares_bought=shares if bought else 0.0,
        shares_sold=0.0 if bought else shares,
        shares_requested=decimal(placed.requested),
        shares=shares,
        status=fill_status if rests else TradeStatus.FILLED,
        order_status="live" if rests else "matched",
        fill_status=fill_status,
        cost=decimal(placed.money),
        new_price=placed.price_after,
        price_before=placed.price_before,
        avg_price=min(1.0, placed.money / placed.shares) if placed.shares else None,
        fee_rate_bps=fee_rate_bps(world.venues.book(placed.market_id).listing),
        fee=decimal(placed.fee),
        reserved=decimal(placed.reserved),
        position=TradeBalance(sim_balance=decimal(world.cash(order.agent))),
        balance=decimal(world.venues.cash(placed.agent_id, placed.venue)),
        simulated=True,
        warnings=() if whole else _warnings(order, placed.order_type, placed.money, placed.shares),
    )


def venue_quote_body(world: World, order: VenueOrder, quoted: VenueQuote) -> TradeBody:
    """A quote on a venue, in the form of an order's answer."""
    bought = order.action is Action.BUY
    walked = quoted.walked
    shares = decimal(walked.shares)
    cash = world.venues.cash(order.agent.agent_id, order.venue)
    net = quoted.net(order.action)
    return TradeBody(
        success=True,
        market_id=order.market_id,
        side=order.side,
        shares_bought=shares if bought else 0.0,
        shares_sold=0.0 if bought else shares,
        shares_requested=decimal(quoted.requested),
        shares=shares,
        order_status="live" if quoted.rests else "matched",
        fill_status=_fill_status(walked.shares, quoted.rests, is_whole=walked.is_whole),
        cost=decimal(walked.money),
        new_price=quoted.price_after,
        price_before=quoted.price_before,
        avg_price=min(1.0, walked.money / walked.shares) if walked.shares else None,
        fee_rate_bps=fee_rate_bps(world.venues.book(order.market_id).listing),
        fee=decimal(walked.fee),
        reserved=decimal(quoted.reserved),
        position=TradeBalance(sim_balance=decimal(world.cash(order.agent))),
        balance=decimal(Micros(cash - net if bought else cash + net)),
        dry_run=True,
        simulated=True,
        warnings=()
        if walked.is_whole
        else _warnings(order, quoted.order_type, walked.money, walked.shares),
    )


def venue_exit_value(world: World, agent: Agent, holding: VenuePosition, side: Side) -> Micros:
    """Proceeds of selling a side now, after the fee; after the outcome its payout."""
    position = holding.position
    if holding.state is not PositionState.ACTIVE:
        return holding.payout(side)
    home = world.venues.book(position.market_id).listing.home
    held = MonitoredSide(agent.agent_id, home, position.market_id, side)
    return exit_value(world, held, (world.at, world.world_at))


class Worth(NamedTuple):
    """Value of a side and its P&L; realized and unrealized add up to the exact total."""

    value: Micros
    realized: Micros
    unrealized: Micros


def worth_of(holding: VenuePosition, side: Side, price: float) -> Worth:
    """Value and P&L of a side at a price; after the outcome the value is the open payout.

    From the outcome on nothing can change: all P&L is realized. Source: decisions, "Won, not
    redeemed".
    """
    held = holding.position.on(side)
    if holding.outcome is None:
        value = held.mark_value(price)
        return Worth(value, held.realized, Micros(value - held.cost))
    total = held.realized + holding.worth(side) - held.cost
    return Worth(holding.payout(side), Micros(total), Micros(0))


def venue_side_body(
    world: World, agent: Agent, holding: VenuePosition, side: Side
) -> PositionSideBody:
    """One side of a position on a real venue."""
    held = holding.position.on(side)
    price = world.venues.price(holding, (world.at, world.world_at))
    price = price if side is Side.YES else 1.0 - price
    if holding.outcome is not None:
        price = holding.outcome.price(side, held.shares, held.cost)
    worth = worth_of(holding, side, price)
    return PositionSideBody(
        side=side.value,
        shares=decimal(held.shares),
        cost_basis=decimal(held.cost),
        avg_cost=min(1.0, held.cost / held.shares) if held.shares else None,
        mark_price=price,
        current_value=decimal(worth.value),
        exit_value=decimal(venue_exit_value(world, agent, holding, side)),
        realized_pnl=decimal(worth.realized),
        opened_at=moment(held.opened_at),
        unrealized_pnl=decimal(worth.unrealized),
    )


def _status_of(holding: VenuePosition) -> str:
    """Published status: `won` if the agent has any share of the winning side."""
    outcome = holding.outcome
    if outcome is None:
        return STATUS[holding.state]
    winner = outcome.winner
    return ended_word(outcome, won=winner is not None and holding.position.shares(winner) > 0)


def venue_position_body(
    world: World, agent: Agent, venue: Venue, holding: VenuePosition
) -> PositionBody:
    """Position of an agent in one market of a venue, without sides that were sold completely."""
    position = holding.position
    market_id = position.market_id
    times = (world.at, world.world_at)
    price = world.venues.price(holding, times)
    worths = [
        worth_of(holding, side, price if side is Side.YES else 1.0 - price)
        for side in Side
        if position.shares(side)
    ]
    cost = position.total_cost()
    realized = sum_of(one.realized for one in worths)
    floating = sum_of(one.unrealized for one in worths)
    held = position.yes.shares + position.no.shares
    redeemable = [side for side in Side if holding.is_redeemable(side)]
    active = holding.state is PositionState.ACTIVE
    quotes = top_of(world.venues.book(market_id), times)._asdict() if active else {}
    return PositionBody(
        market_id=market_id,
        question=holding.question,
        shares_yes=decimal(position.yes.shares),
        shares_no=decimal(position.no.shares),
        current_price=price,
        current_value=decimal(sum_of(one.value for one in worths)),
        cost_basis=decimal(cost),
        avg_cost=min(1.0, cost / held) if held else None,
        pnl=decimal(Micros(realized + floating)),
        realized_pnl=decimal(Micros(realized)),
        unrealized_pnl=decimal(Micros(floating)),
        venue=venue,
        currency=CURRENCY,
        status=_status_of(holding),
        lifecycle=holding.state.value,
        **ended_fields(holding.outcome),
        resolves_at=announced_for(world, holding),
        resolved_at=moment(holding.resolved_at) if holding.resolved_at is not None else None,
        sources=holding.sources,
        redeemable=bool(redeemable),
        # ours: of two sides that both pay the first one; the other one when that is redeemed.
        redeemable_side=redeemable[0].value if redeemable else None,
        neg_risk=holding.neg_risk,
        **chain_ids(market_id, venue, neg_risk=holding.neg_risk)._asdict(),
        **quotes,
        url=url_of(market.listing) if (market := world.markets.get(market_id)) else None,
        simulated=True,
        wallet=wallet_with(world, agent, venue, holding),
        sides=tuple(
            venue_side_body(world, agent, holding, side) for side in Side if position.shares(side)
        ),
    )


def venue_positions(
    world: World, agent: Agent, venue: Venue, statuses: frozenset[PositionState]
) -> list[PositionBody]:
    """Positions of an agent on a venue in some states, largest value first."""
    found = [
        venue_position_body(world, agent, venue, holding)
        for holding in world.venues.account(agent.agent_id, venue).holdings.values()
        if holding.state in statuses and holding.is_held()
    ]
    return sorted(found, key=lambda body: -body.current_value)


def sold_on_venue(world: World, agent: Agent, venue: Venue, *, settled: bool) -> list[PositionBody]:
    """Sides that were sold completely on a venue, of markets `settled` by the oracle or not yet.

    Of a side that another wallet of the agent holds it is what was sold, until the market ends.
    """
    sold = [
        _sold_body(world, venue, holding, side).model_copy(
            update={"wallet": wallet_with(world, agent, venue, holding)}
        )
        for holding in world.venues.account(agent.agent_id, venue).holdings.values()
        if (holding.outcome is not None) is settled
        for side in Side
        if not (held := holding.position.on(side)).shares and held.opened_at
    ]
    if settled or venue is not Venue.EVM:
        return sold
    return sold + [
        _sold_body(world, venue, holding, side).model_copy(
            update={"wallet": address_of_wallet(agent.agent_id, address)}
        )
        for address, holding in world.venues.left_behind(agent.agent_id)
        if holding.outcome is None
        for side in Side
        if (held := holding.position.on(side)).opened_at and (held.realized or not held.shares)
    ]


def wallet_with(world: World, agent: Agent, venue: Venue, holding: VenuePosition) -> str | None:
    """The address of the wallet that holds something now; None while no wallet has changed."""
    if holding.outcome is not None:
        return address_of_wallet(agent.agent_id, holding.wallet)
    linked = world.venues.wallets.get(agent.agent_id) if venue is Venue.EVM else None
    return address_of_wallet(agent.agent_id, linked)


def ended_body(closed: ClosedPosition, venue: Venue) -> PositionBody:
    """One side of an ended market that only the journal records: nothing of it is pending."""
    body = closed_body(closed)
    if venue is Venue.SIM:
        return body
    pays = closed.outcome.pays(closed.side)
    state = PositionState.REDEEMED if pays else PositionState.READY
    return body.model_copy(
        update={
            "venue": venue,
            "currency": CURRENCY,
            # What was sold whole has left the lifecycle: nothing of it settles or is redeemed.
            "lifecycle": state.value if closed.shares else None,
            "simulated": True,
            "wallet": closed.wallet,
            **chain_ids(closed.market_id, venue, neg_risk=None)._asdict(),
        }
    )


def _sold_body(world: World, venue: Venue, holding: VenuePosition, side: Side) -> PositionBody:
    held = holding.position.on(side)
    market_id = holding.position.market_id
    price = world.venues.price(holding, (world.at, world.world_at))
    return PositionBody(
        market_id=market_id,
        question=holding.question,
        current_price=price,
        pnl=decimal(held.realized),
        realized_pnl=decimal(held.realized),
        venue=venue,
        currency=CURRENCY,
        status=SOLD,
        **ended_fields(holding.outcome),
        resolves_at=announced_for(world, holding),
        resolved_at=moment(holding.resolved_at) if holding.resolved_at is not None else None,
        sources=holding.sources,
        neg_risk=holding.neg_risk,
        **chain_ids(market_id, venue, neg_risk=holding.neg_risk)._asdict(),
        simulated=True,
        sides=(sold_side(side, held, price if side is Side.YES else 1.0 - price),),
    )

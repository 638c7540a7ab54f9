"""Engine values as wire bodies: the one mapper of the service's tower."""

from bisect import bisect_left
from functools import cache
from operator import itemgetter

from service_tui.engine.agents.agents import Agent, ClosedPosition, status_of
from service_tui.engine.agents.halt import is_stopped
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Market, Quote
from service_tui.engine.books.catalogue import event_of, url_of
from service_tui.engine.chain.chain import approvals_set, managed_address
from service_tui.engine.events import Fill, MarketResolved
from service_tui.engine.listing import Listing
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.tape.feed import NewsItem
from service_tui.engine.world import World
from service_tui.server.chain_node.relay import approval_keys
from service_tui.server.ends import announced, ended_fields, ended_word
from service_tui.server.http.rates import rates_of
from service_tui.server.projections.buy_limits import buy_limits_body
from service_tui.signing.book import ExchangeVersion
from service_tui.terms import (
    Action,
    MarketStatus,
    Plan,
    Side,
    TradeStatus,
    Venue,
    WalletKind,
    win_rate,
)
from service_tui.units import Micros, Timestamp, decimal, sum_of
from service_tui.wire.agents import AgentBody, ContextBody, RateLimit, RateLimits
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import CLAIM_PAGE
from service_tui.wire.markets import MarketBody
from service_tui.wire.positions import PositionBody, PositionSideBody
from service_tui.wire.settings import SettingsBody, UserSettingsBody
from service_tui.wire.trades import GoLiveBody, TradeBalance, TradeBody
from service_tui.wire.world import NewsBody

DAY_S = 86_400.0
SPARK_POINTS = 24
SOLD = "sold"
# ours: no document has a word for what was sold before its market ended.
OWNERSHIP = {WalletKind.MANAGED: "native", WalletKind.EXTERNAL: "external"}
"""Words of the wire for who holds the wallet. Source: wire reference, 3.1."""


def claim_url(address: str, agent: Agent) -> str:
    """Where a person claims the agent."""
    return address + CLAIM_PAGE.format(claim_code=agent.claim_code)


def agent_body(world: World, agent: Agent, address: str) -> AgentBody:
    """The calling agent, as `GET /agents/me` shows it."""
    cash = world.cash(agent)
    total = agent_pnl(world, agent)
    return AgentBody(
        agent_id=agent.agent_id,
        name=agent.settings.name,
        status=status_of(agent, cash),
        balance=decimal(cash),
        sim_pnl=decimal(total),
        total_pnl=decimal(total),
        total_pnl_percent=round(total / FIRST_CASH * 100, 4),
        trades_count=agent.trades_count,
        win_count=agent.win_count,
        loss_count=agent.loss_count,
        win_rate=win_rate(agent.win_count, agent.loss_count),
        claimed=agent.settings.claimed,
        real_trading_enabled=agent.settings.real_trading_enabled,
        created_at=moment(agent.created_at),
        description=agent.description or None,
        last_trade_at=moment(agent.last_trade_at) if agent.last_trade_at else None,
        rate_limits=rate_limits_of(agent.settings.plan),
        auto_redeem_enabled=agent.settings.auto_redeem_enabled,
        wallet_address=wallet_address(world, agent),
        wallet_ownership=OWNERSHIP[agent.settings.wallet],
        claim_url=claim_url(address, agent),
    )


def linked_address(world: World, agent: Agent) -> str | None:
    """The address of the wallet that was linked by its signature; None where none is."""
    wallet = world.chain.wallet_of(agent.agent_id)
    return None if wallet is None else wallet.address


def wallet_address(world: World, agent: Agent) -> str | None:
    """The address of the agent's wallet, whoever holds its key; None while its own is missing."""
    if agent.settings.wallet is WalletKind.MANAGED:
        return managed_address(agent.agent_id)
    return linked_address(world, agent)


def _is_approved(world: World, agent: Agent) -> bool:
    """Whether the venue may move the wallet's tokens."""
    wallet = world.chain.wallet_of(agent.agent_id)
    if wallet is None:
        # The service holds a managed wallet, and approves for it once the agent is claimed; nobody
        # holds an external one that is not linked yet.
        return agent.settings.claimed and agent.settings.wallet is WalletKind.MANAGED
    return any(approvals_set(wallet, approval_keys(exchange)) for exchange in ExchangeVersion)


@cache
def rate_limits_of(plan: Plan) -> RateLimits:
    """What a plan allows, by path."""
    rates = rates_of(plan).items()
    return RateLimits(
        endpoints={path: RateLimit(requests_per_minute=rate) for path, rate in rates}, tier=plan
    )


FIRST_CASH = 10_000_000_000
"""Micros that a new agent begins with; P&L percentages refer to it."""


def agent_pnl(world: World, agent: Agent) -> Micros:
    """Realized plus unrealized P&L on sim."""
    return Micros(agent.realized + unrealized(world, agent))


def exit_pnl(world: World, agent: Agent) -> Micros:
    """P&L on sim if all were sold now: the figure where one stands alone."""
    return Micros(agent_pnl(world, agent) - world.equity(agent) + world.exit_equity(agent))


def unrealized(world: World, agent: Agent) -> Micros:
    """Unrealized P&L of all open positions."""
    return sum_of(
        position.mark_value(world.markets[market_id].price()) - position.total_cost()
        for market_id, position in agent.positions.items()
    )


def context_body(world: World, agent: Agent, address: str, now: Timestamp) -> ContextBody:
    """The body of the context: the agent's identity, balance and claim link."""
    cash = world.cash(agent)
    return ContextBody(
        agent_id=agent.agent_id,
        name=agent.settings.name,
        status=status_of(agent, cash),
        claimed=agent.settings.claimed,
        claim_url=claim_url(address, agent),
        plan=agent.settings.plan,
        balance=decimal(cash),
        positions_count=len(agent.open_positions()),
        trading_paused=is_stopped(agent.settings, world.halt),
        checked_at=moment(now),
    )


def settings_body(
    world: World,
    agent: Agent,
    now: Timestamp,
    sdk_seen_at: Timestamp | None = None,
    *,
    own_client: str | None = None,
) -> SettingsBody:
    """The spec's settings object; the two balances are the play money of the simulated venues.

    `own_client` is our client with its version, told where the published one never called.
    """
    settings, venues = agent.settings, world.venues
    # Newer than what the agent has kept: that changes with the version only.
    seen_at = sdk_seen_at or agent.sdk_seen_at
    return SettingsBody(
        sdk_real_trading_enabled=settings.real_trading_enabled,
        wallet_address=wallet_address(world, agent),
        linked_wallet_address=linked_address(world, agent),
        wallet_ownership=OWNERSHIP[settings.wallet],
        sdk_max_trade_amount=decimal(settings.max_trade),
        sdk_daily_limit=decimal(settings.day_spend_max),
        sdk_daily_spent=decimal(venues.spent_today(agent.agent_id, now)),
        trading_paused=is_stopped(settings, world.halt),
        solana_wallet_address=settings.solana_wallet,
        polymarket_usdc_balance=decimal(venues.cash(agent.agent_id, Venue.EVM)),
        polymarket_allowances_set=_is_approved(world, agent),
        kalshi_usdc_balance=decimal(venues.cash(agent.agent_id, Venue.SOL)),
        last_sdk_version=agent.sdk_version or own_client,
        last_sdk_version_seen_at=None if seen_at is None else moment(seen_at),
    )


def user_settings_body(world: World, agent: Agent, now: Timestamp) -> UserSettingsBody:
    """Risk defaults and safety rails."""
    settings = agent.settings
    return UserSettingsBody(
        max_trades_per_day=agent.trades_per_day(),
        trades_today=agent.buys_today(now),
        max_position_usd=None if settings.max_position is None else decimal(settings.max_position),
        default_stop_loss_pct=settings.stop_loss_pct,
        default_take_profit_pct=settings.take_profit_pct,
        auto_risk_monitor_enabled=settings.auto_risk_monitor_enabled,
        trading_paused=is_stopped(settings, world.halt),
        solana_wallet_address=settings.solana_wallet,
        clawdbot_webhook_url=settings.clawdbot_webhook_url,
        clawdbot_chat_id=settings.clawdbot_chat_id,
        clawdbot_channel=settings.clawdbot_channel,
        skill_daily_budget=None
        if settings.skill_day_max is None
        else decimal(settings.skill_day_max),
        rails=buy_limits_body(world, agent, now),
    )


def market_body(
    market: Market, world_at: Timestamp, *, sparkline: bool, criteria: bool
) -> MarketBody:
    """One market. Prices rounded to six digits: finer ones are noise on the wire."""
    listing = market.listing
    price = round(market.price(), 6)
    event = event_of(listing)
    return MarketBody(
        id=market.market_id,
        question=listing.question,
        status=market.status(world_at),
        current_probability=price,
        current_price=price,
        price_24h_ago=round(market.price_ago(world_at, DAY_S), 6),
        volume_24h=decimal(market.volume_24h(world_at)),
        resolves_at=announced(listing),
        resolved_at=moment(market.resolved_at) if market.resolved_at is not None else None,
        **ended_fields(market.outcome),
        opens_at=moment(listing.opens_at),
        tags=listing.tags,
        resolution_criteria=listing.criteria if criteria else None,
        recorded_at=None if listing.origin is None else listing.origin.source,
        recorded_id=None if listing.origin is None else listing.origin.native_id,
        tick_size=0.0001,
        url=url_of(listing),
        import_source=listing.home.value,
        opportunity_score=opportunity_of(market),
        event_id=event.event_id if event else None,
        event_name=event.name if event else None,
        outcome_name=listing.subject or None,
        is_live_now=market.status(world_at) is MarketStatus.ACTIVE,
        sim_tradeable=market.status(world_at) is MarketStatus.ACTIVE,
        liquidity=decimal(market.b),
        sparkline=spark_of(market, world_at) if sparkline else (),
    )


def opportunity_of(market: Market) -> float:
    """How much there is to find out, 0 to 1: most at even odds."""
    # ours: the documents name the score and not its formula.
    return round(1 - abs(market.price() - 0.5) * 2, 4)


def spark_of(market: Market, world_at: Timestamp) -> tuple[float, ...]:
    """At most 24 prices of the last day, or of the life if that is shorter; the last is now's."""
    samples, price = market.samples, market.price()
    first = bisect_left(samples, world_at - DAY_S, key=itemgetter(0))
    step = max(1, (len(samples) - first) // SPARK_POINTS)
    shown = range(first, len(samples), step)[-(SPARK_POINTS - 1) :]
    past = [samples[index][1] for index in shown]
    return (*(past or [price]), round(price, 4))


def side_body(position: Position, market: Market, side: Side) -> PositionSideBody:
    """One side of a position."""
    price = market.price_of(side)
    shares = position.shares(side)
    return PositionSideBody(
        side=side.value,
        shares=decimal(shares),
        cost_basis=decimal(position.cost(side)),
        avg_cost=_average(position.cost(side), shares),
        mark_price=price,
        current_value=decimal(position.on(side).mark_value(price)),
        exit_value=decimal(market.exit_value(side, shares)),
        realized_pnl=decimal(position.realized(side)),
        opened_at=moment(position.opened_at(side)),
        unrealized_pnl=decimal(Micros(position.on(side).mark_value(price) - position.cost(side))),
        exit_together=decimal(market.exit_parts(position)[side is Side.NO]),
    )


def _average(cost: Micros, shares: Micros) -> float | None:
    """Average entry price; dust may cost a hair more than it can ever pay."""
    return min(1.0, cost / shares) if shares else None


def position_body(world: World, agent: Agent, market_id: str) -> PositionBody:
    """What an agent holds in one market; what came of a side sold whole has a row of its own."""
    position = agent.positions[market_id]
    market = world.markets[market_id]
    price = market.price()
    status = market.status(world.world_at)
    shares_yes, shares_no = position.shares(Side.YES), position.shares(Side.NO)
    cost = position.total_cost()
    held = shares_yes + shares_no
    realized = sum_of(position.realized(side) for side in Side if position.shares(side))
    floating = position.unrealized(price)
    return PositionBody(
        market_id=market_id,
        question=market.listing.question,
        shares_yes=decimal(shares_yes),
        shares_no=decimal(shares_no),
        current_price=price,
        current_value=decimal(position.mark_value(price)),
        cost_basis=decimal(cost),
        avg_cost=_average(cost, Micros(held)),
        pnl=decimal(Micros(floating + realized)),
        realized_pnl=decimal(Micros(realized)),
        unrealized_pnl=decimal(floating),
        status=status.value,
        resolves_at=announced(market.listing),
        sources=agent.sources.get(market_id, ()),
        url=url_of(market.listing),
        sim_balance=decimal(world.cash(agent)),
        sides=tuple(side_body(position, market, side) for side in Side if position.shares(side)),
    )


def closed_body(closed: ClosedPosition) -> PositionBody:
    """One side of a resolved market: the shares it had and what they brought, which is cash now."""
    yes = closed.side is Side.YES
    outcome = closed.outcome
    price = outcome.price(closed.side, closed.shares, closed.cost)
    ended = ended_word(outcome, won=outcome.winner is closed.side)
    return PositionBody(
        market_id=closed.market_id,
        question=closed.question,
        shares_yes=decimal(closed.shares) if yes else 0.0,
        shares_no=0.0 if yes else decimal(closed.shares),
        current_price=price if yes else 1.0 - price,
        cost_basis=decimal(closed.cost),
        avg_cost=_average(closed.cost, closed.shares),
        pnl=decimal(closed.realized),
        realized_pnl=decimal(closed.realized),
        status=ended if closed.shares else SOLD,
        **ended_fields(outcome),
        resolved_at=moment(closed.resolved_at),
        sources=closed.sources or (),
        sides=(
            PositionSideBody(
                side=closed.side.value,
                shares=decimal(closed.shares),
                cost_basis=decimal(closed.cost),
                avg_cost=_average(closed.cost, closed.shares),
                mark_price=price,
                current_value=0.0,
                exit_value=0.0,
                realized_pnl=decimal(closed.realized),
                opened_at=moment(closed.opened_at),
                unrealized_pnl=0.0,
            ),
        ),
    )


def sold_side(side: Side, held: SidePosition, price: float) -> PositionSideBody:
    """A side that was sold whole, on whichever venue: what it brought."""
    return PositionSideBody(
        side=side.value,
        shares=0.0,
        cost_basis=0.0,
        avg_cost=None,
        mark_price=price,
        current_value=0.0,
        exit_value=0.0,
        realized_pnl=decimal(held.realized),
        opened_at=moment(held.opened_at),
        unrealized_pnl=0.0,
    )


def sold_bodies(world: World, agent: Agent) -> list[PositionBody]:
    """Sides that were sold whole while their market goes on: what they brought."""
    return [
        PositionBody(
            market_id=market_id,
            question=world.markets[market_id].listing.question,
            current_price=world.markets[market_id].price(),
            pnl=decimal(held.realized),
            realized_pnl=decimal(held.realized),
            status=SOLD,
            resolves_at=announced(world.markets[market_id].listing),
            sources=agent.sources.get(market_id, ()),
            url=url_of(world.markets[market_id].listing),
            sides=(sold_side(side, held, world.markets[market_id].price_of(side)),),
        )
        for market_id, position in agent.positions.items()
        for side in Side
        if not (held := position.on(side)).shares and held.opened_at
    ]


def trade_body(
    world: World, agent: Agent, fill: Fill, go_live: GoLiveBody | None = None
) -> TradeBody:
    """A fill, with the spec's names beside the published client's."""
    bought = fill.action is Action.BUY
    shares = decimal(fill.shares)
    balance = decimal(world.cash(agent))
    # Not validated again: what the engine says is right by its own checks, and a trade is hot.
    return _FILLED.model_copy(
        update={
            "trade_id": fill.trade_id,
            "market_id": fill.market_id,
            "side": fill.side,
            "shares_bought": shares if bought else 0.0,
            "shares_sold": 0.0 if bought else shares,
            "shares_requested": shares,
            "shares": shares,
            "cost": decimal(fill.money),
            "new_price": fill.price_after,
            "price_before": fill.price_before,
            "avg_price": min(1.0, fill.money / fill.shares),
            "position": _NO_BALANCE.model_copy(update={"sim_balance": balance}),
            "balance": balance,
            "go_live": go_live,
        }
    )


def with_remainder(body: TradeBody, taken: Micros) -> TradeBody:
    """The answer with a warning about the remainder that was sold along; 0 adds none."""
    if taken <= 0:
        return body
    warning = f"{decimal(taken):g} shares are sold with the rest: too few to be sold by themselves"
    return body.model_copy(update={"warnings": (*body.warnings, warning)})


_FILLED = TradeBody(
    success=True,
    status=TradeStatus.FILLED,
    order_status="matched",
    fill_status=TradeStatus.FILLED,
)
_NO_BALANCE = TradeBalance()


def quote_body(world: World, order: Order, quote: Quote) -> TradeBody:
    """A dry run: the same shape, and nothing changed."""
    bought = order.action is Action.BUY
    shares = decimal(quote.shares)
    balance = world.cash(order.agent)
    after = decimal(Micros(balance - quote.money if bought else balance + quote.money))
    return TradeBody(
        success=True,
        market_id=order.market_id,
        side=order.side,
        shares_bought=shares if bought else 0.0,
        shares_sold=0.0 if bought else shares,
        shares_requested=shares,
        shares=shares,
        cost=decimal(quote.money),
        new_price=quote.price_after,
        price_before=quote.price_before,
        avg_price=min(1.0, quote.money / quote.shares),
        position=TradeBalance(sim_balance=after),
        balance=after,
        dry_run=True,
    )


def news_body(item: NewsItem) -> NewsBody:
    """A line of news."""
    return NewsBody(
        at=moment(item.at),
        market_id=item.market_id,
        headline=item.headline,
        price_before=item.price_before,
        price_after=item.price_after,
    )


def payout_to(event: MarketResolved, agent_id: str) -> tuple[Micros, Micros]:
    """Payout and P&L that a resolution brought an agent."""
    own = [paid for paid in event.payouts if paid.agent_id == agent_id]
    payout = sum_of(paid.payout for paid in own)
    return Micros(payout), Micros(payout - sum_of(paid.cost for paid in own))


def left_of(listing: Listing, world_at: Timestamp) -> str:
    """How long a market has until it may resolve, as text."""
    end = listing.announced_end()
    return "not announced" if end is None else time_left(end - world_at)


def time_left(seconds: float) -> str:
    """A duration as text, coarse: two units."""
    minutes = max(0, int(seconds // 60))
    days, rest = divmod(minutes, 1_440)
    hours, minutes = divmod(rest, 60)
    if days:
        return f"{days}d {hours}h"
    return f"{hours}h {minutes}m" if hours else f"{minutes}m"

"""Route of copy trading: buys the positions of given wallets once, within the agent's limits."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.server.http.refusals import Denied, denied
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.routes import trades
from service_tui.server.routes.claim import require_claim
from service_tui.storage.errors import StorageError
from service_tui.terms import Action, MarketStatus, Side, Venue, counted
from service_tui.units import Micros, decimal
from service_tui.wire.copytrading import COPIES_MAX, CopyBody, CopyRequest, CopyTradeBody
from service_tui.wire.endpoints.trading import COPY_WALLETS
from service_tui.wire.errors import ErrorBody
from service_tui.wire.trades import TradeBody, TradeRequest

SOURCE: Final = "copytrading:"
"""Begins the source of every copy; the wallet's address follows. # ours: by it a later call knows
what was copied, and from whom."""


@dataclass(frozen=True, slots=True)
class WalletCopy:
    """One buy that would copy a wallet, of so much money."""

    market: Market
    side: Side
    wallet: str
    money: float


def _largest(request: RequestContext, wallet: str) -> list[tuple[Market, Side, Micros]]:
    """What a wallet holds in open markets, the dearest first."""
    world = request.world
    records = world.reactor.records
    found: list[tuple[Market, Side, Micros]] = []
    for market_id in records.held(wallet):
        market = world.markets.get(market_id)
        if market is None or market.status(world.world_at) is not MarketStatus.ACTIVE:
            continue
        held = records.holding(wallet, market_id)
        found += [(market, side, held.cost(side)) for side in Side if held.shares(side)]
    found.sort(key=lambda row: (-row[2], row[0].market_id))
    return found


def is_held_by(request: RequestContext, market_id: str, venue: Venue) -> bool:
    """True where the agent holds, has ordered, or waits for approval to buy in a market."""
    world, agent = request.world, request.agent
    waiting = world.pending_trades.waiting.values()
    if any(one.agent_id == agent.agent_id and one.market_id == market_id for one in waiting):
        return True
    if venue is Venue.SIM:
        return market_id in agent.positions
    orders = world.venues.orders(agent.agent_id, venue)
    if any(order.market_id == market_id for order in orders):
        return True
    position = world.venues.account(agent.agent_id, venue).holdings.get(market_id)
    return position is not None and position.is_held()


def _buys(request: RequestContext, copy_request: CopyRequest) -> Iterator[WalletCopy]:
    """A buy for each position of the wallets, in a market where the agent has none."""
    venue = copy_request.venue
    seen: set[str] = set()
    for wallet in copy_request.wallets:
        for market, side, cost in _largest(request, wallet)[: copy_request.top_n]:
            market_id = market.market_id
            is_elsewhere = venue not in {Venue.SIM, market.listing.home}
            if is_elsewhere or market_id in seen or is_held_by(request, market_id, venue):
                continue
            seen.add(market_id)
            money = min(copy_request.max_usd_per_position, max(1.0, decimal(cost)))
            yield WalletCopy(market, side, wallet, round(money, 2))


def _left(request: RequestContext, copy_request: CopyRequest) -> Iterator[str]:
    """A sentence for each position that was copied from one of these wallets, which has left it.

    # ours: it is not sold. The agent may have bought more of it by itself, and nothing tells whose
    shares are whose.

    Yields:
        Wallet, market and shares.
    """
    agent = request.agent
    records = request.world.reactor.records
    for wallet in copy_request.wallets:
        if not records.of(wallet).trades_count or copy_request.venue is not Venue.SIM:
            continue
        for market_id in sorted(set(agent.positions) - set(records.held(wallet))):
            position = agent.positions[market_id]
            if SOURCE + wallet in agent.sources.get(market_id, ()):
                sides = [side for side in Side if position.on(side).shares]
                held = " and ".join(
                    f"{decimal(position.on(side).shares):.2f} {side.value.upper()}"
                    for side in sides
                )
                yield f"{market_id}: {wallet} has left; {held} are yours to sell"


async def execute(request: RequestContext) -> CopyBody:
    """Buy what the wallets hold; with `dry_run` only report what would be bought."""
    copy_request, agent_id = request.body_as(CopyRequest), request.agent.agent_id
    if copy_request.dry_run:
        return await _copied(request, copy_request)
    require_claim(request, copy_request.venue)
    copying = request.service.copying
    if agent_id in copying:
        raise denied(409, "this agent is copying already", "wait for the answer to that call")
    copying.add(agent_id)
    try:
        return await _copied(request, copy_request)
    finally:
        copying.discard(agent_id)


async def _copied(request: RequestContext, copy_request: CopyRequest) -> CopyBody:
    records = request.world.reactor.records
    errors = [
        f"{wallet}: this wallet has never traded here"
        for wallet in copy_request.wallets
        if not records.of(wallet).trades_count
    ]
    copies = list(_buys(request, copy_request))
    most = min(COPIES_MAX, copy_request.max_trades or COPIES_MAX)
    rows: list[CopyTradeBody] = []
    for copy in copies[:most]:
        market_id = copy.market.market_id
        if is_held_by(request, market_id, copy_request.venue):
            # Bought by another call since the list was made.
            continue
        try:
            rows.append(await _traded(request, copy_request, copy))
        except StorageError as error:
            if not rows:
                raise
            # Of the trades before some are on disk: their outcome is not that nothing happened.
            raise StorageError(str(error)) from error
    errors += [f"{row.market_id}: {row.error}" for row in rows if row.error]
    if copy_request.detect_whale_exits:
        errors += _left(request, copy_request)
    done = sum(row.success and (copy_request.dry_run or row.shares > 0) for row in rows)
    verb = "would be made" if copy_request.dry_run else "made"
    return CopyBody(
        success=not any(row.error for row in rows),
        wallets_checked=len(copy_request.wallets),
        positions_found=sum(len(records.held(wallet)) for wallet in copy_request.wallets),
        trades_needed=len(copies),
        trades_executed=0 if copy_request.dry_run else done,
        trades=tuple(rows),
        summary=f"{done} of {counted(len(copies), 'trade')} {verb}",
        errors=tuple(errors),
        dry_run=copy_request.dry_run,
    )


async def _traded(
    request: RequestContext, copy_request: CopyRequest, copy: WalletCopy
) -> CopyTradeBody:
    order = TradeRequest(
        market_id=copy.market.market_id,
        side=copy.side,
        action=Action.BUY,
        amount=copy.money,
        venue=copy_request.venue,
        dry_run=copy_request.dry_run,
        source=SOURCE + copy.wallet,
        reasoning=f"copies {copy.wallet}",
    )
    row = CopyTradeBody(
        market_id=copy.market.market_id,
        question=copy.market.listing.question,
        side=copy.side,
        action=Action.BUY,
        wallet=copy.wallet,
    )
    try:
        # Each trade stands for itself: one that is refused takes no other back.
        trade = await trades.place(replace(request, body=order, promise=None))
    except Denied as refused:
        error = refused.body.error if isinstance(refused.body, ErrorBody) else "refused"
        return row.model_copy(update={"error": error})
    return row.model_copy(update=_result(trade))


def _result(trade: TradeBody) -> dict[str, object]:
    shares = trade.shares_bought
    return {
        "success": trade.success,
        "trade_id": trade.trade_id,
        "shares": shares,
        "cost": trade.cost,
        "price": round(min(1.0, trade.cost / shares), 6) if shares else 0.0,
        "error": None if trade.success else trade.error,
    }


ROUTES: Final[Routes] = {COPY_WALLETS: execute}

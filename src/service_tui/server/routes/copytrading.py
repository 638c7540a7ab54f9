"""Copy trading on request: what named wallets hold, bought once, within the agent's limits."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.server.http.refusals import Denied
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.routes import trades
from service_tui.server.routes.claim import require_claim
from service_tui.terms import Action, MarketStatus, Side, Venue, counted
from service_tui.units import Micros, decimal
from service_tui.wire.copytrading import COPIES_MAX, CopyBody, CopyRequest, CopyTradeBody
from service_tui.wire.endpoints.trading import COPY_WALLETS
from service_tui.wire.errors import ErrorBody
from service_tui.wire.trades import TradeBody, TradeRequest

SOURCE: Final = "copytrading"
"""Source of every copy. # ours: by it a later call knows what was copied."""


@dataclass(frozen=True, slots=True)
class WalletCopy:
    """One trade that would copy a wallet; `money` of a buy, `shares` of a sale."""

    market: Market
    side: Side
    action: Action
    wallet: str
    money: float = 0.0
    shares: float = 0.0


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


def _buys(request: RequestContext, copy_request: CopyRequest) -> Iterator[WalletCopy]:
    """A buy for each position of the wallets that the agent does not hold."""
    own = request.agent.positions
    seen: set[tuple[str, Side]] = set()
    for wallet in copy_request.wallets:
        for market, side, cost in _largest(request, wallet)[: copy_request.top_n]:
            if copy_request.venue not in {Venue.SIM, market.listing.home}:
                continue
            if (market.market_id, side) in seen or market.market_id in own:
                continue
            seen.add((market.market_id, side))
            money = min(copy_request.max_usd_per_position, max(1.0, decimal(cost)))
            yield WalletCopy(market, side, Action.BUY, wallet, money=round(money, 2))


def _exits(request: RequestContext, copy_request: CopyRequest) -> Iterator[WalletCopy]:
    """A sale of each copied position that no wallet holds any more; on sim alone."""
    held = {
        (market.market_id, side)
        for wallet in copy_request.wallets
        for market, side, _ in _largest(request, wallet)
    }
    agent, world = request.agent, request.world
    for market_id, position in agent.positions.items():
        if SOURCE not in agent.sources.get(market_id, ()) or copy_request.venue is not Venue.SIM:
            continue
        for side in Side:
            shares = position.on(side).shares
            if shares and (market_id, side) not in held:
                whole = int(shares) // 10 * 10
                yield WalletCopy(
                    world.markets[market_id],
                    side,
                    Action.SELL,
                    "",
                    shares=decimal(Micros(whole)),
                )


async def execute(request: RequestContext) -> CopyBody:
    """Buy what the wallets hold; with `dry_run` only report what would be bought."""
    copy_request = request.body_as(CopyRequest)
    if not copy_request.dry_run:
        require_claim(request, copy_request.venue)
    records = request.world.reactor.records
    errors = [
        f"{wallet}: this wallet has never traded here"
        for wallet in copy_request.wallets
        if not records.of(wallet).trades_count
    ]
    copies = list(_buys(request, copy_request))
    if copy_request.detect_whale_exits and not copy_request.buy_only:
        copies += _exits(request, copy_request)
    most = min(COPIES_MAX, copy_request.max_trades or COPIES_MAX)
    rows = [await _traded(request, copy_request, copy) for copy in copies[:most]]
    errors += [f"{row.market_id}: {row.error}" for row in rows if row.error]
    done = sum(row.success for row in rows)
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
        action=copy.action,
        amount=copy.money,
        shares=copy.shares,
        venue=copy_request.venue,
        dry_run=copy_request.dry_run,
        source=SOURCE,
        reasoning=f"copies {copy.wallet}" if copy.wallet else "the copied wallets have left",
    )
    row = CopyTradeBody(
        market_id=copy.market.market_id,
        question=copy.market.listing.question,
        side=copy.side,
        action=copy.action,
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
    shares = trade.shares_bought or trade.shares_sold
    return {
        "success": trade.success,
        "trade_id": trade.trade_id,
        "shares": shares,
        "cost": trade.cost,
        "price": round(min(1.0, trade.cost / shares), 6) if shares else 0.0,
        "error": None if trade.success else trade.error,
    }


ROUTES: Final[Routes] = {COPY_WALLETS: execute}

"""Trades: place or quote one, and the history."""

import hashlib
from typing import Final

from service_tui.engine.agents.exposure_limits import beyond
from service_tui.engine.amm.exchange import Order
from service_tui.engine.books.catalogue import has_event
from service_tui.engine.books.orders import VenueOrder
from service_tui.engine.books.orders import check as check_order
from service_tui.engine.books.venues import REAL
from service_tui.engine.errors import (
    CannotWait,
    MarketNotFound,
    NeedsApproval,
    NobodyAsked,
    NoLiquidity,
    NotFilledWhole,
    Refusal,
)
from service_tui.engine.events import Event, Note, TradeFailed, TradePending
from service_tui.engine.reactor.reactor import shares_max
from service_tui.loading import imported
from service_tui.server.chain_node.signed_orders import check_ready, verified
from service_tui.server.go_live import go_live_of
from service_tui.server.http.refusals import denied, from_refusal, invalid_items, sent_micros
from service_tui.server.http.service import ETHEREUM, RequestContext, Routes
from service_tui.server.past.history import KINDS, SIM_KINDS, VENUE_KINDS
from service_tui.server.projections.present import quote_body, trade_body, with_remainder
from service_tui.server.projections.venues import chain_ids
from service_tui.server.results.venues import rows_of, venue_past
from service_tui.server.routes.claim import require_claim
from service_tui.server.routes.orders import place_on_venue, venue_order
from service_tui.storage.journal import History
from service_tui.terms import Action, Side, TradeStatus, Venue
from service_tui.units import SHARE_QUANTUM, Micros, decimal
from service_tui.wire.base import moment, timestamp
from service_tui.wire.endpoints.fleet import PROPOSE_TRADE
from service_tui.wire.endpoints.public import PLACE_TRADE, TRADES
from service_tui.wire.fleet import ProposalRequest
from service_tui.wire.trades import (
    OrderParamsBody,
    TradeBody,
    TradeRequest,
    TradesBody,
    TradesQuery,
)

CENT: Final = 10_000
"""A cent in micros. Source: wire reference, 3.3: money 2 decimals, shares 5."""


def _size_of(request: TradeRequest) -> Micros:
    """The size of the order in micros.

    Returns:
        Money of a buy, shares of a sale.

    Raises:
        Denied: 422 when it has more decimals than the wire carries.
    """
    name, value, grain = (
        ("amount", request.amount, CENT)
        if request.action is Action.BUY
        else ("shares", request.shares, SHARE_QUANTUM)
    )
    size = sent_micros(("body", name), value)
    if size % grain:
        decimals = 2 if grain == CENT else 5
        message = f"at most {decimals} decimals"
        raise invalid_items([(("body", name), message, "decimal_max_places")])
    return size


async def _request_of(request: RequestContext) -> TradeRequest:
    """The order as it came; what reads its signature is loaded before anything is looked at."""
    trade = request.body_as(TradeRequest)
    if trade.signed_order is not None:
        await imported(ETHEREUM)
    if trade.execute and "venue" not in trade.model_fields_set:
        # Parameters of a real order are asked for: those of the venue that trades the market.
        home = request.world.market(trade.market_id).listing.home
        return trade.model_copy(update={"venue": home})
    return trade


async def place(request: RequestContext) -> TradeBody:
    """Carry out an order, or with `dry_run` quote it.

    Returns:
        The fill, the quote, or the venue's no.

    A refusal of the venue is an answer (200, `success` false); only an unknown market is a fault
    of the request. Source: decisions, "Refused trade".
    """
    trade = await _request_of(request)
    size = _size_of(trade)
    note = Note(
        reasoning=trade.reasoning or "",
        source=trade.source or "",
        skill_slug=trade.skill_slug or "",
        signal_data=trade.signal_data,
        stop_loss_pct=trade.stop_loss_pct,
        take_profit_pct=trade.take_profit_pct,
    )
    order = _order_of(request, trade, size, note)
    if trade.venue is not Venue.SIM and (trade.execute or not trade.dry_run):
        request.world.market(trade.market_id)
        require_claim(request, trade.venue)
    try:
        if not trade.is_quote:
            request.world.reactor.check_cap(order, request.now)
        if trade.venue is not Venue.SIM:
            real = venue_order(request, trade, size)._replace(
                note=note,
                approved=request.approved,
                shares_max=order.shares_max,
                average_bound=order.average_bound,
            )
            return await _on_venue(request, trade, real)
        if trade.is_quote:
            return _place_on_sim(request, trade, order)
        warned = _warned(request, order)
        before = request.agent.trades_count
        fill = request.service.world_store.fill(order, request.now)
    except MarketNotFound as refusal:
        raise from_refusal(refusal) from refusal
    except Refusal as refusal:
        if isinstance(refusal, NeedsApproval):
            return await _wait(request, trade, order)
        failed = [] if trade.is_quote else failure_of(request, order, refusal)
        return await request.commit(failed, refused_body(request, trade, refusal))
    suggestion = go_live_of(request.world, request.agent, request.service.address, since=before)
    body = _with(warned, trade_body(request.world, request.agent, fill, suggestion))
    # A buy is sized in money: only a sale leaves shares behind, or takes them along.
    taken = Micros(fill.shares - size if fill.action is Action.SELL else 0)
    return await request.commit((fill,), with_remainder(body, taken))


def _order_of(request: RequestContext, trade: TradeRequest, size: Micros, note: Note) -> Order:
    """The order of the market maker, with what the reactor leaves of it."""
    order = Order(
        agent=request.agent,
        market_id=trade.market_id,
        side=trade.side,
        action=trade.action,
        size=size,
        venue=trade.venue,
        price_limit=trade.price,
        note=note,
        unlimited=not request.service.limits,
        approved=request.approved,
        average_bound=request.average_bound,
    )
    return order._replace(shares_max=shares_max(request.world.reactor, order))


async def propose(request: RequestContext) -> TradeBody:
    """Let a buy wait for the operator.

    Returns:
        That it waits, or the venue's no. Nothing is filled here, whatever the agent may do: a buy
        about which nobody would be asked is refused.
    """
    trade = request.body_as(ProposalRequest).as_trade()
    note = Note(trade.reasoning or "", trade.source or "")
    order = _order_of(request, trade, _size_of(trade), note)
    try:
        request.world.exchange.check(order, "", (request.now, request.world.world_at))
    except MarketNotFound as refusal:
        raise from_refusal(refusal) from refusal
    except NeedsApproval:
        return await _wait(request, trade, order)
    except Refusal as refusal:
        return await request.commit((), refused_body(request, trade, refusal))
    nobody = NobodyAsked("this agent's permissions ask nobody about this buy")
    return await request.commit((), refused_body(request, trade, nobody))


def _place_on_sim(request: RequestContext, trade: TradeRequest, order: Order) -> TradeBody:
    """A quote of the market maker; for `execute` of what it would take now."""
    if trade.execute:
        times = (request.now, request.world.world_at)
        request.world.exchange.check(order._replace(approved=True), "", times)
    return _intended(request, trade, quoted(request, order))


async def _on_venue(request: RequestContext, trade: TradeRequest, order: VenueOrder) -> TradeBody:
    """Carry out an order on a book; the signature goes before the request."""
    if trade.is_quote:
        if trade.execute:
            # What is requested is there to be signed: all but the signature has to hold by now.
            check_ready(request.world, request.agent, trade.venue)
            times = (request.now, request.world.world_at)
            check_order(request.world.venues, order._replace(approved=True), times)
        body = await place_on_venue(request, order, dry_run=True)
        return _intended(request, trade, body)
    signed = verified(request.world, request.agent, trade, request.now)
    if signed is None:
        return await place_on_venue(request, order)
    expires_at = signed.expires_at or order.expires_at
    order = order._replace(size=signed.size, price=signed.price, expires_at=expires_at, signed=True)
    return await place_on_venue(request, order, signed=signed)


def _intended(request: RequestContext, trade: TradeRequest, quote: TradeBody) -> TradeBody:
    """A quote, or for the deprecated `execute` what the order would be made of."""
    if not trade.execute:
        return quote
    listing = request.world.market(trade.market_id).listing
    neg_risk = has_event(listing)
    ids = chain_ids(trade.market_id, trade.venue, neg_risk=neg_risk)
    params = OrderParamsBody(
        token_id=ids.token_id_yes if trade.side is Side.YES else ids.token_id_no,
        price=quote.avg_price or quote.new_price,
        size=quote.shares_requested,
        side=trade.action.value.upper(),
        condition_id=ids.condition_id,
        neg_risk=ids.condition_id is not None and neg_risk,
    )
    # ours: nothing is kept of it, so that its name is made of what was requested and when.
    named = f"{request.agent.agent_id} {request.now} {trade.model_dump_json()}"
    intent = hashlib.sha256(named.encode()).hexdigest()[:32]
    return TradeBody(
        success=True,
        market_id=trade.market_id,
        side=trade.side,
        shares_requested=quote.shares_requested,
        new_price=quote.price_before or quote.new_price,
        simulated=quote.simulated,
        warnings=(
            "nothing was traded: execute is deprecated and asks for order_params",
            *quote.warnings,
        ),
        order_params=params,
        intent_id=intent,
        platform=trade.venue.value,
    )


def quoted(request: RequestContext, order: Order) -> TradeBody:
    """What an order would get now; a Refusal where its market does not take it."""
    body = quote_body(request.world, order, request.world.quote(order))
    return _with(_warned(request, order), body)


def _with(warned: tuple[str, ...], body: TradeBody) -> TradeBody:
    return body.model_copy(update={"warnings": (*body.warnings, *warned)}) if warned else body


def _warned(request: RequestContext, order: Order) -> tuple[str, ...]:
    """The operator's limits beyond which a buy would go."""
    limits = request.world.exposure_limits
    if order.action is not Action.BUY or not limits.kept:
        return ()
    buy = request.world.held_part(order.agent.agent_id, order.market_id, order.size)
    return tuple(
        f"{beyond(one)}: {'refused' if one.refuses else 'it warns only'}"
        for one in limits.broken_by(buy, order.venue)
    )


async def _wait(request: RequestContext, trade: TradeRequest, order: Order) -> TradeBody:
    """Let an order wait for the operator.

    Returns:
        An answer by which a client knows that nothing is filled yet.
    """
    # ours: an order with a signature cannot wait: it would lapse, and fits no other size.
    if trade.signed_order is not None:
        unfit = CannotWait("the leash asks for the operator's word first")
        return await request.commit((), refused_body(request, trade, unfit))
    pending = TradePending(
        pending_id="",
        agent_id=request.agent.agent_id,
        at=request.now,
        expires_at=request.now,
        venue=order.venue,
        market_id=order.market_id,
        side=order.side,
        action=order.action,
        size=order.size,
        order_type=trade.order_type,
        price=trade.price,
        expiration=trade.expiration,
        note=order.note,
        asked=_average_of(request, order),
        question=request.world.question_of(order.market_id),
    )
    request.service.world_store.check_whole()
    try:
        waits = request.world.pending_trades.let_wait(pending)
    except Refusal as refusal:
        return await request.commit((), refused_body(request, trade, refusal))
    body = refused_body(request, trade, NeedsApproval("")).model_copy(update=_WAITING)
    until = moment(waits.expires_at).isoformat(timespec="seconds")
    message = f"it waits for the operator until {until}: GET /api/sdk/trades/held says how it ends"
    update = {"trade_id": waits.pending_id, "warnings": (message,)}
    return await request.commit((waits,), body.model_copy(update=update))


def _average_of(request: RequestContext, order: Order) -> float | None:
    """The average price that a requested order would have now; None where it would get nothing."""
    # ours: a book quotes another order than a market maker: there it is the price of the side.
    if order.venue is not Venue.SIM:
        market = request.world.markets.get(order.market_id)
        return None if market is None else market.price_of(order.side)
    try:
        got = request.world.quote(order)
    except Refusal:
        return None
    return got.money / got.shares if got.shares else None


_WAITING: Final = {
    "success": True,
    "status": TradeStatus.SUBMITTED,
    "order_status": TradeStatus.SUBMITTED.value,
    "fill_status": TradeStatus.SUBMITTED,
    "error": None,
    "error_code": None,
    "error_hint": None,
    "fix": None,
}
"""What distinguishes an order that waits from one that was refused."""


def failure_of(request: RequestContext, order: Order, refusal: Refusal) -> list[Event]:
    """What a refusal leaves: its side pauses where it met no liquidity; an alert may count it."""
    agent_id = request.agent.agent_id
    alerts, slug = request.world.agent_alerts, order.note.skill_slug
    erred = request.world.did(alerts.erred(agent_id, slug, refusal.code, request.now))
    if not isinstance(refusal, NoLiquidity | NotFilledWhole):
        return erred
    failed = TradeFailed(agent_id, request.now, order.market_id, order.side, refusal.code)
    return [*erred, *request.world.note(failed)]


def refused_body(request: RequestContext, trade: TradeRequest, refusal: Refusal) -> TradeBody:
    """The venue's no, with the trade's fields at 0."""
    agent, venue = request.agent, trade.venue
    is_sim = venue is Venue.SIM
    world = request.world
    balance = world.cash(agent) if is_sim else world.venues.cash(agent.agent_id, venue)
    return TradeBody(
        success=False,
        market_id=trade.market_id,
        side=trade.side,
        balance=decimal(balance),
        simulated=not is_sim,
        dry_run=trade.dry_run,
        retryable=refusal.retryable,
        error=refusal.error,
        error_code=refusal.code,
        error_hint=refusal.fix,
        fix=refusal.fix,
    )


async def history(request: RequestContext) -> TradesBody:
    """The agent's trades and payouts, newest first, from the journal."""
    query = request.query_as(TradesQuery)
    if query.agent_id is not None and query.agent_id != request.agent.agent_id:
        raise denied(
            404, f"agent not found: {query.agent_id}", "leave agent_id out, or send the key's own"
        )
    world_store = request.service.world_store
    criteria = History(
        request.agent.agent_id,
        {"all": KINDS, Venue.SIM: SIM_KINDS}.get(query.venue, VENUE_KINDS),
        query.market_id,
        timestamp(query.since) if query.since else None,
        timestamp(query.until) if query.until else None,
    )
    if query.venue in REAL:
        found = await venue_past(world_store, criteria, Venue(query.venue))
        page, total = found[query.offset : query.offset + query.limit], len(found)
    else:
        page, total = await world_store.history(criteria, limit=query.limit, offset=query.offset)
    return TradesBody(trades=await rows_of(world_store, request.agent, page), total_count=total)


ROUTES: Final[Routes] = {PLACE_TRADE: place, PROPOSE_TRADE: propose, TRADES: history}

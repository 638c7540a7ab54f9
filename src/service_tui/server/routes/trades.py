"""Trades: place one or ask what it would bring, and the history."""

import hashlib
from typing import Final

from service_tui.engine.amm.exchange import Order
from service_tui.engine.books.catalogue import has_event
from service_tui.engine.books.orders import VenueOrder
from service_tui.engine.books.orders import check as check_order
from service_tui.engine.books.venues import REAL
from service_tui.engine.errors import (
    CannotWait,
    MarketNotFound,
    NeedsApproval,
    NoLiquidity,
    NotFilledWhole,
    Refusal,
)
from service_tui.engine.events import Event, Note, TradeFailed, TradeHeld
from service_tui.loading import imported
from service_tui.server.chain_node.signed_orders import check_ready, verified
from service_tui.server.go_live import go_live_of
from service_tui.server.http.refusals import denied, from_refusal, invalid_items
from service_tui.server.http.service import ETHEREUM, RequestContext, Routes
from service_tui.server.past.history import KINDS, SIM_KINDS, VENUE_KINDS
from service_tui.server.projections.present import quote_body, trade_body, with_remainder_told
from service_tui.server.projections.venues import chain_ids
from service_tui.server.results.venues import rows_of, venue_past
from service_tui.server.routes.claim import require_claim
from service_tui.server.routes.orders import place_on_venue, venue_order
from service_tui.storage.journal import History
from service_tui.terms import Action, Side, TradeStatus, Venue
from service_tui.units import SHARE_QUANTUM, Micros, NotMicrosError, decimal, micros
from service_tui.wire.base import moment, timestamp
from service_tui.wire.endpoints.public import PLACE_TRADE, TRADES
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
    try:
        size = micros(value)
    except NotMicrosError as error:
        raise invalid_items([(("body", name), str(error), "decimal")]) from error
    if size % grain:
        decimals = 2 if grain == CENT else 5
        said = f"at most {decimals} decimals"
        raise invalid_items([(("body", name), said, "decimal_max_places")])
    return size


async def _request_of(asked: RequestContext) -> TradeRequest:
    """The order as it came; what reads its signature is loaded before anything is looked at."""
    request = asked.body_as(TradeRequest)
    if request.signed_order is not None:
        await imported(ETHEREUM)
    return request


async def place(asked: RequestContext) -> TradeBody:
    """Carry out an order, or with `dry_run` say what it would get.

    Returns:
        The fill, the quote, or the venue's no.

    A refusal of the venue is an answer (200, `success` false); only an unknown market is a fault
    of the request. Source: decisions, "Refused trade".
    """
    request = await _request_of(asked)
    size = _size_of(request)
    note = Note(
        reasoning=request.reasoning or "",
        source=request.source or "",
        skill_slug=request.skill_slug or "",
        signal_data=request.signal_data,
    )
    order = Order(
        agent=asked.agent,
        market_id=request.market_id,
        side=request.side,
        action=request.action,
        size=size,
        venue=request.venue,
        price_limit=request.price,
        note=note,
        unlimited=not asked.service.limits,
        approved=asked.approved,
    )
    if request.venue is not Venue.SIM and (request.execute or not request.dry_run):
        asked.world.market(request.market_id)
        require_claim(asked, request.venue)
    try:
        if not request.is_quote:
            asked.world.reactor.check_cap(order, asked.now)
        if request.venue is not Venue.SIM:
            real = venue_order(asked, request, size)._replace(note=note, approved=asked.approved)
            return await _on_venue(asked, request, real)
        if request.is_quote:
            return _asked_on_sim(asked, request, order)
        before = asked.agent.trades_count
        fill = asked.service.keeper.fill(order, asked.now)
    except MarketNotFound as refusal:
        raise from_refusal(refusal) from refusal
    except Refusal as refusal:
        if isinstance(refusal, NeedsApproval):
            return await _wait(asked, request, order)
        failed = [] if request.is_quote else failure_of(asked, order, refusal)
        return await asked.commit(failed, refused_body(asked, request, refusal))
    nudge = go_live_of(asked.world, asked.agent, asked.service.address, since=before)
    body = trade_body(asked.world, asked.agent, fill, nudge)
    # A buy is sized in money: only a sale leaves shares behind, or takes them along.
    taken = Micros(fill.shares - size if fill.action is Action.SELL else 0)
    return await asked.commit((fill,), with_remainder_told(body, taken))


def _asked_on_sim(asked: RequestContext, request: TradeRequest, order: Order) -> TradeBody:
    """A quote of the market maker; for `execute` of what it would take now."""
    if request.execute:
        times = (asked.now, asked.world.world_at)
        asked.world.exchange.check(order._replace(approved=True), "", times)
    return _intended(asked, request, quoted(asked, order))


async def _on_venue(asked: RequestContext, request: TradeRequest, order: VenueOrder) -> TradeBody:
    """Carry out an order on a book; what a signature says goes before what the request says."""
    if request.is_quote:
        if request.execute:
            # What is asked for is there to be signed: all but the signature has to hold by now.
            check_ready(asked.world, asked.agent, request.venue)
            times = (asked.now, asked.world.world_at)
            check_order(asked.world.venues, order._replace(approved=True), times)
        body = await place_on_venue(asked, order, dry_run=True)
        return _intended(asked, request, body)
    signed = verified(asked.world, asked.agent, request, asked.now)
    if signed is None:
        return await place_on_venue(asked, order)
    expires_at = signed.expires_at or order.expires_at
    order = order._replace(size=signed.size, price=signed.price, expires_at=expires_at, signed=True)
    return await place_on_venue(asked, order, signed=signed)


def _intended(asked: RequestContext, request: TradeRequest, quote: TradeBody) -> TradeBody:
    """A quote, or for the deprecated `execute` what the order would be made of."""
    if not request.execute:
        return quote
    listing = asked.world.market(request.market_id).listing
    neg_risk = has_event(listing)
    ids = chain_ids(request.market_id, request.venue, neg_risk=neg_risk)
    params = OrderParamsBody(
        token_id=ids.token_id_yes if request.side is Side.YES else ids.token_id_no,
        price=quote.avg_price or quote.new_price,
        size=quote.shares_requested,
        side=request.action.value.upper(),
        condition_id=ids.condition_id,
        neg_risk=ids.condition_id is not None and neg_risk,
    )
    # ours: nothing is kept of it, so that its name is made of what was asked and when.
    named = f"{asked.agent.agent_id} {asked.now} {request.model_dump_json()}"
    intent = hashlib.sha256(named.encode()).hexdigest()[:32]
    return TradeBody(
        success=True,
        market_id=request.market_id,
        side=request.side,
        shares_requested=quote.shares_requested,
        new_price=quote.price_before or quote.new_price,
        simulated=quote.simulated,
        warnings=(
            "nothing was traded: execute is deprecated and asks for order_params",
            *quote.warnings,
        ),
        order_params=params,
        intent_id=intent,
        platform=request.venue.value,
    )


def quoted(asked: RequestContext, order: Order) -> TradeBody:
    """What an order would get now; a Refusal where its market does not take it."""
    return quote_body(asked.world, order, asked.world.quote(order))


async def _wait(asked: RequestContext, request: TradeRequest, order: Order) -> TradeBody:
    """Let an order wait for the operator.

    Returns:
        An answer by which a client knows that nothing is filled yet.
    """
    # ours: an order with a signature cannot wait: it would lapse, and fits no other size.
    if request.signed_order is not None:
        unfit = CannotWait("the leash asks for the operator's word first")
        return await asked.commit((), refused_body(asked, request, unfit))
    wanted = TradeHeld(
        held_id="",
        agent_id=asked.agent.agent_id,
        at=asked.now,
        expires_at=asked.now,
        venue=order.venue,
        market_id=order.market_id,
        side=order.side,
        action=order.action,
        size=order.size,
        order_type=request.order_type,
        price=request.price,
        expiration=request.expiration,
        note=order.note,
    )
    asked.service.keeper.check_whole()
    try:
        held = asked.world.holding.hold(wanted)
    except Refusal as refusal:
        return await asked.commit((), refused_body(asked, request, refusal))
    body = refused_body(asked, request, NeedsApproval("")).model_copy(update=_WAITING)
    until = moment(held.expires_at).isoformat(timespec="seconds")
    said = f"it waits for the operator until {until}: GET /api/sdk/trades/held says how it ends"
    told = {"trade_id": held.held_id, "warnings": (said,)}
    return await asked.commit((held,), body.model_copy(update=told))


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
"""What tells an order that waits from one that was refused."""


def failure_of(asked: RequestContext, order: Order, refusal: Refusal) -> list[Event]:
    """An order that passed every check and met no liquidity: its side pauses for a while."""
    if not isinstance(refusal, NoLiquidity | NotFilledWhole):
        return []
    agent_id = asked.agent.agent_id
    failed = TradeFailed(agent_id, asked.now, order.market_id, order.side, refusal.code)
    return asked.world.note(failed)


def refused_body(asked: RequestContext, request: TradeRequest, refusal: Refusal) -> TradeBody:
    """The venue's no, with the trade's fields at 0."""
    agent, venue = asked.agent, request.venue
    is_sim = venue is Venue.SIM
    world = asked.world
    balance = world.cash(agent) if is_sim else world.venues.cash(agent.agent_id, venue)
    return TradeBody(
        success=False,
        market_id=request.market_id,
        side=request.side,
        balance=decimal(balance),
        simulated=not is_sim,
        dry_run=request.dry_run,
        retryable=refusal.retryable,
        error=refusal.error,
        error_code=refusal.code,
        error_hint=refusal.fix,
        fix=refusal.fix,
    )


async def history(asked: RequestContext) -> TradesBody:
    """The agent's trades and payouts, newest first, from the journal."""
    query = asked.query_as(TradesQuery)
    if query.agent_id is not None and query.agent_id != asked.agent.agent_id:
        raise denied(
            404, f"agent not found: {query.agent_id}", "leave agent_id out, or send the key's own"
        )
    keeper = asked.service.keeper
    wanted = History(
        asked.agent.agent_id,
        {"all": KINDS, Venue.SIM: SIM_KINDS}.get(query.venue, VENUE_KINDS),
        query.market_id,
        timestamp(query.since) if query.since else None,
        timestamp(query.until) if query.until else None,
    )
    if query.venue in REAL:
        found = await venue_past(keeper, wanted, Venue(query.venue))
        page, total = found[query.offset : query.offset + query.limit], len(found)
    else:
        page, total = await keeper.history(wanted, limit=query.limit, offset=query.offset)
    return TradesBody(trades=await rows_of(keeper, asked.agent, page), total_count=total)


ROUTES: Final[Routes] = {PLACE_TRADE: place, TRADES: history}

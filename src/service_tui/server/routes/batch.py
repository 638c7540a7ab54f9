"""Batches: several buys, each on its own, or with `atomic` all of them or none."""

import asyncio
from typing import Final

from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Quote
from service_tui.engine.batch import LegRefused, check_slippage, place_all
from service_tui.engine.books import orders
from service_tui.engine.errors import Refusal
from service_tui.engine.events import Event, Fill, Note, OrderPlaced
from service_tui.engine.exits import on_venue
from service_tui.server.go_live import go_live_of
from service_tui.server.http.refusals import denied, invalid_items, sent_micros
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.routes.claim import require_claim
from service_tui.server.routes.trades import CENT, failure_of
from service_tui.terms import MONEY_DECIMALS, Action, Plan, Venue
from service_tui.units import Micros, decimal, micros, sum_of
from service_tui.wire.batch import BatchBody, BatchRequest, LegBody
from service_tui.wire.endpoints.public import BATCH

Done = tuple[list[LegBody], list[Event]]
"""The result of each buy, and the events to store in one transaction."""

ABORTED: Final = "aborted: another trade of the atomic batch was refused"


def _orders(request: RequestContext, batch: BatchRequest) -> list[Order]:
    """The buys as orders.

    Returns:
        One order a leg.

    Raises:
        Denied: 422 for an amount with more than two decimals.
    """
    note = Note(source=batch.source or "")
    orders: list[Order] = []
    for position, leg in enumerate(batch.trades):
        place = ("body", "trades", position, "amount")
        spend = sent_micros(place, leg.amount)
        if spend % CENT:
            raise invalid_items([
                (place, f"at most {MONEY_DECIMALS} decimals", "decimal_max_places")
            ])
        orders.append(
            Order(
                agent=request.agent,
                market_id=leg.market_id,
                side=leg.side,
                action=Action.BUY,
                size=spend,
                venue=batch.venue,
                note=note,
                unlimited=not request.service.limits,
            )
        )
    return orders


def _check_atomic(request: RequestContext, batch: BatchRequest) -> None:
    """Refuse an atomic batch where plan or venue do not allow it.

    Raises:
        Denied: 403 below Elite, 422 on a venue with an order book.
    """
    if request.agent.settings.plan is not Plan.ELITE:
        raise denied(
            403,
            "atomic batches need the elite plan",
            "send atomic false, or start the service with --plan elite",
        )
    if batch.venue is not Venue.SIM:
        # ours: an order book cannot take back a fill; the documents do not say where it holds.
        message = "atomic batches trade on sim only"
        raise invalid_items([(("body", "atomic"), message, "venue")])


async def place_batch(request: RequestContext) -> BatchBody:
    """Carry out several buys, or with `dry_run` quote each on its own."""
    batch = request.body_as(BatchRequest)
    started = asyncio.get_running_loop().time()
    if batch.atomic:
        _check_atomic(request, batch)
    if not batch.dry_run:
        require_claim(request, batch.venue)
    orders = _orders(request, batch)
    quoted = [_quoted(request, order) for order in orders]
    before = request.agent.trades_count
    if batch.dry_run:
        results, events = quoted, []
    elif batch.atomic:
        results, events = _all_or_none(request, batch, orders)
    else:
        results, events = _each(request, batch, orders)
    rows = tuple(
        result.model_copy(update={"dry_run_price": quote.dry_run_price})
        for result, quote in zip(results, quoted, strict=True)
    )
    failed = sum(not row.success for row in rows)
    body = BatchBody(
        success=failed == 0,
        results=rows,
        total_cost=decimal(sum_of(micros(row.cost) for row in rows)),
        failed_count=failed,
        warnings=(*batch.warnings(), *warnings_of(batch, rows)),
        execution_time_ms=round((asyncio.get_running_loop().time() - started) * 1_000),
        dry_run=batch.dry_run,
        balance=decimal(_cash(request, batch.venue)),
        go_live=go_live_of(request.world, request.agent, request.service.address, since=before),
    )
    return await request.commit(events, body)


def _cash(request: RequestContext, venue: Venue) -> Micros:
    """Cash of the agent on the batch's venue."""
    world, agent = request.world, request.agent
    return world.cash(agent) if venue is Venue.SIM else world.venues.cash(agent.agent_id, venue)


def warnings_of(request: BatchRequest, rows: tuple[LegBody, ...]) -> tuple[str, ...]:
    """Warnings about buys with more slippage than `max_slippage`."""
    most = request.max_slippage
    return tuple(
        f"{row.market_id} slips {row.slippage:.4f}, above max_slippage {request.max_slippage}"
        for row in rows
        if most is not None and row.success and row.slippage > most
    )


def _quoted(request: RequestContext, order: Order) -> LegBody:
    """Quote of a buy on its own, as if it were filled now."""
    try:
        got = _quote(request, order)
    except Refusal as refusal:
        return _refused(order, refusal)
    price = min(1.0, got.money / got.shares)
    return LegBody(
        market_id=order.market_id,
        success=True,
        cost=decimal(got.money),
        shares=decimal(got.shares),
        price=price,
        dry_run_price=price,
        slippage=round(price - got.price_before, 6),
    )


def _quote(request: RequestContext, order: Order) -> Quote:
    """The quote of either kind of venue in one form."""
    world = request.world
    if order.venue is Venue.SIM:
        return world.quote(order)
    quoted = orders.quote(world.venues, on_venue(order.venue, order), (request.now, world.world_at))
    walked = quoted.walked
    return Quote(walked.shares, walked.money, quoted.price_before, quoted.price_after)


def _each(request: RequestContext, batch: BatchRequest, orders: list[Order]) -> Done:
    """Every buy on its own: what is refused does not hold back the others."""
    request.service.world_store.check_whole()
    first = {(one.market_id, one.side): _price(request, one) for one in orders}
    events: list[Event] = []
    results: list[LegBody] = []
    for order in orders:
        price = first[order.market_id, order.side]
        try:
            if batch.max_slippage is not None:
                _check_slippage(_quote(request, order), price, batch.max_slippage)
            made = _placed(request, order)
        except Refusal as refusal:
            made = failure_of(request, order, refusal)
            results.append(_refused(order, refusal))
        else:
            results.append(filled_leg(made[0], price))
        events += made
    return results, events


def _check_slippage(quote: Quote, price_first: float, slippage_max: float) -> None:
    """Refuse a buy whose average price lies too far above the price before the batch."""
    slipped = quote.money / quote.shares - (price_first or quote.price_before)
    check_slippage(slipped, slippage_max)


def _placed(request: RequestContext, order: Order) -> list[Event]:
    """Place one buy and return its events, the fill or order first."""
    world = request.world
    if order.venue is Venue.SIM:
        return [world.place(order, request.now)]
    return orders.place(world.venues, on_venue(order.venue, order), (request.now, world.world_at))


def _all_or_none(request: RequestContext, batch: BatchRequest, orders: list[Order]) -> Done:
    """All buys, or none: one that is refused aborts the rest before anything changed."""
    request.service.world_store.check_whole()
    first = [_price(request, one) for one in orders]
    try:
        fills = place_all(request.world, orders, request.now, slippage_max=batch.max_slippage)
    except LegRefused as refused:
        rows = [
            _refused(order, refused.refusal) if leg == refused.leg else _aborted(order)
            for leg, order in enumerate(orders)
        ]
        return rows, []
    rows = [filled_leg(fill, price) for fill, price in zip(fills, first, strict=True)]
    return rows, [*fills]


def _price(request: RequestContext, order: Order) -> float:
    """Price of the side before the batch; 0 on a venue whose fill reports it."""
    market = request.world.markets.get(order.market_id)
    if market is None or order.venue is not Venue.SIM:
        return 0.0
    return market.price_of(order.side)


def filled_leg(made: Event, price_first: float) -> LegBody:
    """What a buy got; its slippage counts from the price before the batch, where one is known."""
    if not isinstance(made, Fill | OrderPlaced):
        raise TypeError("a buy begins with its fill or its order")
    price = made.money / made.shares
    return LegBody(
        market_id=made.market_id,
        success=True,
        trade_id=made.trade_id if isinstance(made, Fill) else made.order_id,
        cost=decimal(made.money),
        shares=decimal(made.shares),
        price=min(1.0, price),
        slippage=round(price - (price_first or made.price_before), 6),
    )


def _refused(order: Order, refusal: Refusal) -> LegBody:
    return LegBody(
        market_id=order.market_id,
        success=False,
        error=refusal.error,
        error_code=refusal.code,
        fix=refusal.fix,
    )


def _aborted(order: Order) -> LegBody:
    return LegBody(market_id=order.market_id, success=False, error=ABORTED, aborted=True)


ROUTES: Final[Routes] = {BATCH: place_batch}

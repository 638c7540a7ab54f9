"""Batches: several buys, each on its own, or with `atomic` all of them or none."""

import asyncio
from typing import Final

from service_tui.engine.batch import LegRefused, place_all, slippage_of
from service_tui.engine.errors import Refusal
from service_tui.engine.events import Fill, Note
from service_tui.engine.exchange import Order
from service_tui.server.refusals import denied, invalid_items
from service_tui.server.routes.trades import CENT
from service_tui.server.service import Asked, Routes
from service_tui.terms import Action, Plan, Venue
from service_tui.units import Micros, NotMicrosError, decimal, micros
from service_tui.wire.batch import BatchBody, BatchRequest, LegBody
from service_tui.wire.endpoints import BATCH

ABORTED: Final = "aborted: another trade of the atomic batch was refused"


def _orders(asked: Asked, request: BatchRequest) -> list[Order]:
    """The buys as orders.

    Returns:
        One order a leg.

    Raises:
        Denied: 422 for an amount with more than two decimals.
    """
    note = Note(source=request.source or "")
    orders: list[Order] = []
    for position, leg in enumerate(request.trades):
        place = ("body", "trades", position, "amount")
        try:
            spend = micros(leg.amount)
        except NotMicrosError as error:
            raise invalid_items([(place, str(error), "decimal")]) from error
        if spend % CENT:
            raise invalid_items([(place, "at most 2 decimals", "decimal_max_places")])
        orders.append(
            Order(
                agent=asked.agent,
                market_id=leg.market_id,
                side=leg.side,
                action=Action.BUY,
                size=spend,
                venue=request.venue,
                note=note,
            )
        )
    return orders


def _check_atomic(asked: Asked, request: BatchRequest) -> None:
    """Who may ask for all or none, and where.

    Raises:
        Denied: 403 below Elite, 422 on a venue with an order book.
    """
    if asked.agent.settings.plan is not Plan.ELITE:
        raise denied(
            403,
            "atomic batches need the elite plan",
            "send atomic false, or start the service with --plan elite",
        )
    if request.venue is not Venue.SIM:
        # ours: an order book cannot take back a fill; the documents do not say where it holds.
        said = "atomic batches trade on sim only"
        raise invalid_items([(("body", "atomic"), said, "venue")])


async def place_batch(asked: Asked) -> BatchBody:
    """Carry out several buys, or with `dry_run` say what each would get on its own."""
    request = asked.body_as(BatchRequest)
    started = asyncio.get_running_loop().time()
    if request.atomic:
        _check_atomic(asked, request)
    orders = _orders(asked, request)
    quoted = [_quoted(asked, order) for order in orders]
    if request.dry_run:
        results = quoted
    elif request.atomic:
        results = await _all_or_none(asked, request, orders)
    else:
        results = await _each(asked, orders)
    rows = tuple(
        result.model_copy(update={"dry_run_price": quote.dry_run_price})
        for result, quote in zip(results, quoted, strict=True)
    )
    failed = sum(not row.success for row in rows)
    return BatchBody(
        success=failed == 0,
        results=rows,
        total_cost=decimal(Micros(sum(micros(row.cost) for row in rows))),
        failed_count=failed,
        warnings=_warnings(request, rows),
        execution_time_ms=round((asyncio.get_running_loop().time() - started) * 1_000),
        dry_run=request.dry_run,
        balance=decimal(asked.world.cash(asked.agent)),
    )


def _warnings(request: BatchRequest, rows: tuple[LegBody, ...]) -> tuple[str, ...]:
    """Legs that slipped further than `max_slippage`: only an atomic batch is held back by it."""
    return tuple(
        f"{row.market_id} slips {row.slippage:.4f}, above max_slippage {request.max_slippage}"
        for row in rows
        if row.success and row.slippage > request.max_slippage
    )


def _quoted(asked: Asked, order: Order) -> LegBody:
    """What a buy would get now on its own."""
    try:
        quote = asked.world.quote(order)
    except Refusal as refusal:
        return _refused(order, refusal)
    price = min(1.0, quote.money / quote.shares)
    return LegBody(
        market_id=order.market_id,
        success=True,
        cost=decimal(quote.money),
        shares=decimal(quote.shares),
        price=price,
        dry_run_price=price,
        slippage=round(price - quote.price_before, 6),
    )


async def _each(asked: Asked, orders: list[Order]) -> list[LegBody]:
    """Every buy on its own: what is refused does not hold back the others; written down at once."""
    service = asked.service
    service.keeper.check_whole()
    first = {(one.market_id, one.side): _price(asked, one) for one in orders}
    fills: list[Fill] = []
    results: list[LegBody] = []
    for order in orders:
        try:
            fill = asked.world.place(order, asked.now)
        except Refusal as refusal:
            results.append(_refused(order, refusal))
        else:
            fills.append(fill)
            results.append(_filled(fill, first[order.market_id, order.side]))
    await service.keeper.commit(fills)
    return results


async def _all_or_none(asked: Asked, request: BatchRequest, orders: list[Order]) -> list[LegBody]:
    """All buys in one commit; one that is refused aborts the rest before anything changed."""
    service = asked.service
    service.keeper.check_whole()
    first = [_price(asked, one) for one in orders]
    try:
        fills = place_all(asked.world, orders, asked.now, slippage_max=request.max_slippage)
    except LegRefused as refusal:
        return [
            _refused(order, refusal.refusal) if leg == refusal.leg else _aborted(order)
            for leg, order in enumerate(orders)
        ]
    await service.keeper.commit(fills)
    return [_filled(fill, price) for fill, price in zip(fills, first, strict=True)]


def _price(asked: Asked, order: Order) -> float:
    """Price of the side before the batch; 0 where there is no market."""
    market = asked.world.markets.get(order.market_id)
    return market.price_of(order.side) if market is not None else 0.0


def _filled(fill: Fill, price_first: float) -> LegBody:
    return LegBody(
        market_id=fill.market_id,
        success=True,
        trade_id=fill.trade_id,
        cost=decimal(fill.money),
        shares=decimal(fill.shares),
        price=min(1.0, fill.money / fill.shares),
        slippage=round(slippage_of(fill, price_first), 6),
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

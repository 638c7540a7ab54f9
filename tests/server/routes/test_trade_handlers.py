"""Single trades and batches: sizes, what waits, what pauses a side, and what is left of a sale."""

from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Quote
from service_tui.engine.errors import (
    CannotWait,
    MarketNotOpen,
    NoLiquidity,
    NotFilledWhole,
    SlippageBeyond,
)
from service_tui.engine.events import Fill, Note, TradeFailed
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import batch, trades
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.batch import BatchRequest, LegBody, LegRequest
from service_tui.wire.trades import TradeBody, TradeRequest


def dollars(amount: float) -> Micros:
    return Micros(round(amount * ONE))


def trade(**fields: Any) -> TradeRequest:
    return TradeRequest(**{"market_id": "m1", "side": Side.NO, "amount": 5.0, **fields})


def service(**changes: Any) -> Any:
    world = bare_world("ada", **changes)
    listed(world)
    return bare_service(world)


def order(one: Any, **fields: Any) -> Order:
    given = {"market_id": "m1", "side": Side.NO, "action": Action.BUY, "size": dollars(5)}
    return Order(agent=one.world.agents["ada"], **{**given, **fields})


@pytest.mark.parametrize(
    ("refusal", "pauses"),
    [(NoLiquidity("x"), True), (NotFilledWhole("x"), True), (MarketNotOpen("x"), False)],
)
def test_a_side_pauses_after_an_order_that_met_too_little(refusal: Any, *, pauses: bool) -> None:
    one = service()
    found = trades.failure_of(request_to(one, "ada"), order(one), refusal)
    told = [TradeFailed("ada", AT, "m1", Side.NO, refusal.code)] if pauses else []
    assert found == told


@pytest.mark.parametrize("action", Action)
async def test_a_fill_tells_what_it_left_of_a_sale_and_nothing_of_a_buy(
    monkeypatch: pytest.MonkeyPatch, action: Action
) -> None:
    one, seen = service(), list[Any]()
    size = dollars(5)
    fill = Fill(
        "t1", "ada", "m1", Side.NO, action, dollars(4), dollars(3), 0.6, 0.6, AT, AT, Micros(0),
        Note(),
    )  # fmt: skip
    monkeypatch.setattr(
        one.world_store, "fill", lambda sent, at: seen.append((sent.size, at)) or fill
    )
    monkeypatch.setattr(
        trades, "trade_body", lambda *_: TradeBody(market_id="m1", success=True, side=Side.NO)
    )
    monkeypatch.setattr(trades, "with_remainder", lambda body, taken: seen.append(taken) or body)
    amount = {"amount": 5.0} if action is Action.BUY else {"amount": 0.0, "shares": 5.0}
    await trades.place(request_to(one, "ada", body=trade(action=action, **amount)))
    assert seen == [(size, AT), Micros(0) if action is Action.BUY else dollars(-1)]
    assert one.world_store.written == [fill]


@pytest.mark.parametrize(
    ("fields", "is_refused"),
    [({"dry_run": True}, False), ({"dry_run": True, "execute": True}, True), ({}, True)],
)
async def test_only_a_plain_quote_of_a_real_venue_needs_no_claim(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], *, is_refused: bool
) -> None:
    one = service()

    async def on_venue(*_: object) -> str:
        return "quoted"

    monkeypatch.setattr(trades, "_on_venue", on_venue)
    placed = trades.place(request_to(one, "ada", body=trade(venue=Venue.EVM, **fields)))
    if is_refused:
        with pytest.raises(Denied, match="403"):
            await placed
    else:
        assert await placed == "quoted"


@pytest.mark.parametrize(("signed_until", "until"), [(AT + 9, AT + 9), (None, AT + 70)])
async def test_a_signed_order_dies_when_it_says_or_as_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, signed_until: float | None, until: float
) -> None:
    one, seen = service(), list[Any]()
    signed = SimpleNamespace(size=dollars(3), price=0.25, expires_at=signed_until)
    monkeypatch.setattr(trades, "verified", lambda *_: signed)

    async def placed(_: object, sent: Any, **more: Any) -> str:
        seen.append((sent.size, sent.price, sent.expires_at, sent.signed, more))
        return "placed"

    monkeypatch.setattr(trades, "place_on_venue", placed)
    request = request_to(one, "ada")
    asked = trade(venue=Venue.EVM)
    plain = trades.venue_order(request, asked, dollars(5))._replace(expires_at=AT + 70)
    assert await trades._on_venue(request, asked, plain) == "placed"
    assert seen == [(dollars(3), 0.25, until, True, {"signed": signed})]


@pytest.mark.parametrize(
    ("venue", "prices", "price"),
    [(Venue.SIM, (0.0, 0.7), 0.7), (Venue.EVM, (0.6, 0.7), 0.6), (Venue.SOL, (0.6, 0.7), 0.6)],
)
def test_what_an_order_would_be_made_of_has_the_price_that_is_known(
    monkeypatch: pytest.MonkeyPatch, venue: Venue, prices: tuple[float, float], price: float
) -> None:
    one = service()
    on_chain = venue is Venue.EVM
    ids = SimpleNamespace(
        token_id_yes="y" if on_chain else None, token_id_no="n" if on_chain else None,
        condition_id="c" if on_chain else None,
    )  # fmt: skip
    monkeypatch.setattr(trades, "has_event", lambda _: True)
    monkeypatch.setattr(trades, "chain_ids", lambda *_, **__: ids)
    quote = TradeBody(
        success=True, market_id="m1", side=Side.NO, avg_price=prices[0], new_price=prices[1],
        shares_requested=8.0,
    )  # fmt: skip
    asked = trade(venue=venue, execute=True)
    params = trades._intended(request_to(one, "ada"), asked, quote).order_params
    assert params is not None
    assert (params.price, params.size, params.side) == (price, 8.0, "BUY")
    assert (params.token_id, params.condition_id) == (("n", "c") if on_chain else (None, None))
    assert params.neg_risk is on_chain
    assert trades._intended(request_to(one, "ada"), trade(), quote) is quote


async def test_a_signed_order_does_not_wait_for_the_operator() -> None:
    one = service()
    signed: Any = trade().model_copy(update={"signed_order": object()})
    body = await trades._wait(request_to(one, "ada"), signed, order(one))
    assert (body.success, body.error_code) == (False, CannotWait("x").code)
    assert (one.world_store.written, len(one.world.pending_trades.waiting)) == ([], 0)


# -- batches --------------------------------------------------------------------------------


def legs(**fields: Any) -> BatchRequest:
    leg = LegRequest(market_id="m1", side=Side.YES, amount=5.0)
    return BatchRequest(**{"trades": (leg,), **fields})


@pytest.mark.parametrize("first", [0.0, 0.4])
def test_slippage_counts_from_before_the_batch_or_from_the_books_own_price(first: float) -> None:
    quote = Quote(dollars(10), dollars(5), 0.45 if not first else 0.49, 0.55)
    least = 0.05 if not first else 0.1
    batch._check_slippage(quote, first, least + 1e-9)
    with pytest.raises(SlippageBeyond):
        batch._check_slippage(quote, first, least - 1e-3)
    fill = Fill(
        "t1", "ada", "m1", Side.YES, Action.BUY, quote.shares, quote.money, quote.price_before,
        0.6, AT, AT, Micros(0), Note(),
    )  # fmt: skip
    leg = batch._filled(fill, first)
    assert leg.slippage == pytest.approx(least)
    assert (leg.trade_id, leg.cost, leg.shares, leg.price) == ("t1", 5.0, 10.0, 0.5)


@pytest.mark.parametrize(
    ("most", "warned"), [(None, []), (0.0, ["slips"]), (0.02, []), (0.0199, ["slips"])]
)
def test_a_buy_above_the_bound_is_warned_of_and_a_bound_of_zero_binds(
    most: float | None, warned: list[str]
) -> None:
    rows = (
        LegBody(market_id="slips", success=True, slippage=0.02),
        LegBody(market_id="refused", success=False, slippage=0.9),
    )
    found = batch._warnings(legs(max_slippage=most), rows)
    assert [text.split()[0] for text in found] == warned


def test_a_price_of_dust_is_never_above_what_a_share_can_pay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = service()
    got = Quote(Micros(9), Micros(10), 0.95, 0.99)
    monkeypatch.setattr(batch, "_quote", lambda *_: got)
    row = batch._quoted(request_to(one, "ada"), order(one))
    assert (row.price, row.dry_run_price, row.slippage) == (1.0, 1.0, pytest.approx(0.05))


@pytest.mark.parametrize(("dry_run", "is_refused"), [(False, True), (True, False)])
async def test_a_batch_on_a_real_venue_needs_a_claim_unless_it_is_a_quote(
    monkeypatch: pytest.MonkeyPatch, *, dry_run: bool, is_refused: bool
) -> None:
    one = service()
    monkeypatch.setattr(batch, "_quote", lambda *_: Quote(dollars(10), dollars(5), 0.45, 0.55))
    request = request_to(one, "ada", body=legs(venue=Venue.EVM, dry_run=dry_run))
    if is_refused:
        with pytest.raises(Denied, match="403"):
            await batch.place_batch(request)
    else:
        body = await batch.place_batch(request)
        assert (body.success, body.dry_run, body.total_cost, body.balance) == (
            True, True, 5.0, body.balance
        )  # fmt: skip
    assert one.world_store.written == []

"""Single trades and batches: sizes, what waits, what pauses a side, and what is left of a sale."""

from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Quote
from service_tui.engine.books.venues import cash_account
from service_tui.engine.errors import (
    CannotWait,
    MarketNotOpen,
    NoLiquidity,
    NotFilledWhole,
    SlippageBeyond,
)
from service_tui.engine.events import Fill, Note, OrderPlaced, TradeFailed, TradeHeld
from service_tui.server.http.refusals import Denied
from service_tui.server.past.history import KINDS, SIM_KINDS, VENUE_KINDS
from service_tui.server.routes import batch, trades
from service_tui.storage.errors import StorageFullError
from service_tui.storage.journal import History
from service_tui.terms import Action, OrderType, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.batch import BatchRequest, LegBody, LegRequest
from service_tui.wire.trades import TradeBody, TradeRequest, TradesQuery


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
    # The pause counts from when the order came, whatever the clock of the world says.
    one.world.at = Timestamp(AT - 50)
    found = trades.failure_of(request_to(one, "ada"), order(one), refusal)
    told = [TradeFailed("ada", AT, "m1", Side.NO, refusal.code)] if pauses else []
    assert found == told


@pytest.mark.parametrize(
    ("venue", "refusal", "fields"),
    [
        (Venue.SIM, NoLiquidity("x"), {"balance": 10_000.0, "retryable": True}),
        (Venue.EVM, MarketNotOpen("x"), {"balance": 1_070.0, "simulated": True}),
    ],
)
def test_a_refused_order_tells_the_money_of_its_venue_and_whether_it_may_be_tried_again(
    venue: Venue, refusal: Any, fields: dict[str, Any]
) -> None:
    one = service()
    one.world.ledger.transfer("issuer", cash_account("ada", Venue.EVM), dollars(70))
    for dry in (True, False):
        sent = trade(venue=venue, dry_run=dry)
        body = trades.refused_body(request_to(one, "ada"), sent, refusal)
        assert body == TradeBody(
            success=False, market_id="m1", side=Side.NO, dry_run=dry, error=refusal.error,
            error_code=refusal.code, error_hint=refusal.fix, fix=refusal.fix, **fields,
        )  # fmt: skip


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


@pytest.mark.parametrize("execute", [True, False])
async def test_what_is_to_be_signed_holds_by_all_rules_before_it_is_quoted(
    monkeypatch: pytest.MonkeyPatch, *, execute: bool
) -> None:
    one, seen = service(), list[Any]()

    async def placed(_: object, sent: Any, **more: Any) -> str:
        seen.append(("placed", sent.approved, more))
        return "quote"

    monkeypatch.setattr(trades, "check_ready", lambda *given: seen.append(given[1:]))
    monkeypatch.setattr(
        trades, "check_order", lambda _, sent, times: seen.append((sent.approved, times))
    )
    monkeypatch.setattr(trades, "place_on_venue", placed)
    monkeypatch.setattr(trades, "_intended", lambda *given: given[2])
    request = request_to(one, "ada")
    asked = trade(venue=Venue.EVM, dry_run=True, execute=execute)
    plain = trades.venue_order(request, asked, dollars(5))
    assert await trades._on_venue(request, asked, plain) == "quote"
    checks = [(request.agent, Venue.EVM), (True, (request.now, one.world.world_at))]
    assert seen == [*(checks if execute else ()), ("placed", False, {"dry_run": True})]


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


async def test_an_order_that_waits_is_kept_with_all_that_bounds_it() -> None:
    one = service()
    bound = trade(price=0.45, order_type=OrderType.GTD, expiration=AT + 900, venue=Venue.EVM)
    asked = order(one, venue=Venue.EVM, note=Note(source="sdk:rain"))
    body = await trades._wait(request_to(one, "ada"), bound, asked)
    (held,) = one.world_store.written
    assert held == TradeHeld(
        "h1", "ada", AT, AT, Venue.EVM, "m1", Side.NO, Action.BUY, dollars(5), OrderType.GTD, 0.45,
        AT + 900, Note(source="sdk:rain"),
    )  # fmt: skip
    assert list(one.world.pending_trades.waiting.values()) == [held]
    assert (body.success, body.trade_id, body.status) == (True, "h1", "submitted")
    assert (body.error, body.error_code, body.fix, body.shares) == (None, None, None, 0.0)
    # While the disk refuses nothing waits that would be forgotten.
    one.world_store.refuses = StorageFullError("full")
    with pytest.raises(StorageFullError):
        await trades._wait(request_to(one, "ada"), bound, asked)
    assert len(one.world.pending_trades.waiting) == 1


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


def several(*amounts: float, **fields: Any) -> BatchRequest:
    rows = tuple(
        LegRequest(market_id=f"m{number}", side=Side.YES, amount=amount)
        for number, amount in enumerate(amounts, start=1)
    )
    return BatchRequest(trades=rows, **fields)


def with_markets(count: int) -> Any:
    one = service()
    for number in range(2, count + 1):
        listed(one.world, f"m{number}")
    return one


async def placed(one: Any, sent: BatchRequest) -> Any:
    return await batch.place_batch(request_to(one, "ada", body=sent))


async def test_each_buy_of_a_batch_is_carried_out_and_what_is_refused_holds_none_back() -> None:
    one = with_markets(3)
    body = await placed(one, several(5.0, 20_000.0, 7.5))
    assert [row.success for row in body.results] == [True, False, True]
    assert (body.success, body.failed_count, body.total_cost) == (False, 1, 12.5)
    assert body.balance == 10_000 - 12.5
    assert [fill.market_id for fill in one.world_store.written] == ["m1", "m3"]
    first, refused, last = body.results
    assert (first.market_id, first.trade_id, first.cost) == ("m1", "t1", 5.0)
    assert (last.trade_id, last.cost, last.aborted) == ("t2", 7.5, False)
    assert first.shares > first.cost / 0.5
    # Each is quoted as if it were alone, before any of them.
    assert first.price == first.dry_run_price
    assert first.slippage == pytest.approx(first.price - 0.4, abs=1e-6)
    assert (refused.cost, refused.dry_run_price, refused.aborted) == (0.0, 0.0, False)
    assert refused.error
    assert refused.error_code
    assert refused.fix


async def test_a_dry_run_says_what_each_would_get_and_changes_nothing() -> None:
    one = with_markets(2)
    body = await placed(one, several(5.0, 7.5, dry_run=True))
    assert (body.success, body.dry_run, body.failed_count) == (True, True, 0)
    assert (body.total_cost, body.balance) == (12.5, 10_000.0)
    assert [row.trade_id for row in body.results] == [None, None]
    assert (one.world_store.written, one.world.trade_count) == ([], 0)


async def test_an_atomic_batch_is_carried_out_whole_or_not_at_all() -> None:
    one = with_markets(3)
    body = await placed(one, several(5.0, 20_000.0, 7.5, atomic=True))
    assert (body.success, body.failed_count, body.total_cost) == (False, 3, 0.0)
    assert [(row.success, row.aborted) for row in body.results] == [
        (False, True), (False, False), (False, True),
    ]  # fmt: skip
    assert [row.error == batch.ABORTED for row in body.results] == [True, False, True]
    assert body.results[1].error_code
    assert (one.world_store.written, body.balance, one.world.trade_count) == ([], 10_000.0, 0)
    body = await placed(one, several(5.0, 7.5, atomic=True))
    assert (body.success, body.total_cost, body.balance) == (True, 12.5, 10_000 - 12.5)
    assert [row.trade_id for row in body.results] == ["t1", "t2"]
    assert [row.slippage for row in body.results] == [
        pytest.approx(row.price - 0.4, abs=1e-6) for row in body.results
    ]
    assert len(one.world_store.written) == 2


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_bound_of_slippage_refuses_what_is_beyond_it(*, atomic: bool) -> None:
    one = with_markets(2)
    body = await placed(one, several(1.0, 400.0, atomic=atomic, max_slippage=0.01))
    assert [row.success for row in body.results] == [not atomic, False]
    assert body.results[1].error_code == SlippageBeyond("x").code
    assert body.warnings == ()
    warned = await placed(one, several(1.0, 400.0, dry_run=True, max_slippage=0.01))
    (warning,) = warned.warnings
    assert warning.startswith("m2 slips 0.")
    assert warning.endswith("above max_slippage 0.01")


@pytest.mark.parametrize(
    ("fields", "named", "decimals"),
    [
        ({"amount": 1.005}, "amount", 2),
        ({"action": Action.SELL, "amount": 0.0, "shares": 1.000_001}, "shares", 5),
    ],
)
async def test_a_size_with_too_many_decimals_is_named_with_how_many_there_may_be(
    fields: dict[str, Any], named: str, decimals: int
) -> None:
    with pytest.raises(Denied) as refused:
        await trades.place(request_to(service(), "ada", body=trade(**fields)))
    said = str(vars(refused.value))
    assert f"'body', '{named}'" in said
    assert f"at most {decimals} decimals" in said


@pytest.mark.parametrize(
    ("amount", "kind"), [(1.005, "decimal_max_places"), (0.0000001, "decimal")]
)
async def test_an_amount_below_a_cent_is_named_by_its_place(amount: float, kind: str) -> None:
    one = with_markets(2)
    with pytest.raises(Denied) as refused:
        await placed(one, several(1.0, amount))
    said = str(vars(refused.value))
    assert "'trades', 1, 'amount'" in said
    assert kind in said
    assert one.world_store.written == []


@pytest.mark.parametrize(
    ("plan", "venue", "status"),
    [(Plan.PRO, Venue.SIM, 403), (Plan.ELITE, Venue.EVM, 422), (Plan.ELITE, Venue.SOL, 422)],
)
async def test_all_or_none_is_for_the_elite_plan_and_for_play_money(
    plan: Plan, venue: Venue, status: int
) -> None:
    one = service(plan=plan, claimed=True, real_trading_enabled=True)
    with pytest.raises(Denied, match=str(status)):
        await placed(one, several(1.0, venue=venue, atomic=True))
    assert one.world_store.written == []


@pytest.mark.parametrize("atomic", [True, False])
async def test_no_buy_of_a_batch_is_made_on_a_disk_that_takes_none(*, atomic: bool) -> None:
    one = with_markets(2)
    one.world_store.refuses = StorageFullError("full")
    with pytest.raises(StorageFullError):
        await placed(one, several(1.0, 2.0, atomic=atomic))
    assert (one.world.trade_count, one.world.cash(one.world.agents["ada"])) == (0, 10_000 * ONE)


async def test_an_order_of_a_batch_is_a_buy_of_its_agent_with_its_source() -> None:
    one = service()
    (made,) = batch._orders(request_to(one, "ada"), several(5.0, source="sdk:x", venue=Venue.SOL))
    assert (made.agent, made.market_id, made.side) == (one.world.agents["ada"], "m1", Side.YES)
    assert (made.action, made.size, made.venue) == (Action.BUY, dollars(5), Venue.SOL)
    assert (made.note, made.unlimited) == (Note(source="sdk:x"), not one.limits)


def test_no_price_is_known_before_of_a_market_that_is_not_there_or_of_a_book() -> None:
    one = service()
    request = request_to(one, "ada")
    assert batch._price(request, order(one, side=Side.YES)) == pytest.approx(0.4)
    assert batch._price(request, order(one)) == pytest.approx(0.6)
    assert batch._price(request, order(one, market_id="m9")) == 0.0
    assert batch._price(request, order(one, venue=Venue.EVM)) == 0.0


def test_what_does_not_begin_with_a_fill_or_an_order_is_a_fault_of_ours() -> None:
    with pytest.raises(TypeError):
        batch._filled(TradeFailed("ada", AT, "m1", Side.NO, "x"), 0.0)
    given = {
        "market_id": "m1", "order_id": "o-1", "money": dollars(5), "shares": dollars(10),
        "price_before": 0.45,
    }  # fmt: skip
    placed_order = OrderPlaced(**(dict.fromkeys(OrderPlaced._fields) | given))
    row = batch._filled(placed_order, 0.0)
    assert (row.trade_id, row.price, row.slippage) == ("o-1", 0.5, pytest.approx(0.05))


# -- the history ------------------------------------------------------------------------------


class Past:
    """A store that answers with its rows, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def history(self, criteria: Any, *, limit: int, offset: int) -> Any:
        self.asked.append((criteria, limit, offset))
        return ["a", "b"], 41


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ({}, KINDS),
        ({"agent_id": "ada"}, KINDS),
        ({"venue": Venue.SIM, "market_id": "m1", "limit": 3, "offset": 7}, SIM_KINDS),
        ({"venue": Venue.EVM, "limit": 2, "offset": 1}, VENUE_KINDS),
        ({"since": moment(Timestamp(AT - 9)), "until": moment(AT)}, KINDS),
    ],
)
async def test_a_history_is_of_its_own_agent_and_of_what_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, query: dict[str, Any], kinds: tuple[str, ...]
) -> None:
    past, venues = Past(), list[Any]()

    async def on_venue(_: object, criteria: Any, venue: Venue) -> list[str]:
        venues.append((criteria, venue))
        return list("abcdef")

    async def rows(_: object, agent: Any, page: Any) -> Any:
        assert agent.agent_id == "ada"
        return tuple(page)

    monkeypatch.setattr(trades, "venue_past", on_venue)
    monkeypatch.setattr(trades, "rows_of", rows)
    monkeypatch.setattr(trades, "TradesBody", SimpleNamespace)
    one = service()
    one.world_store.history = past.history
    answer: Any = await trades.history(request_to(one, "ada", query=TradesQuery(**query)))
    timed = "since" in query
    criteria = History(
        "ada", kinds, query.get("market_id"), AT - 9 if timed else None, AT if timed else None
    )
    if query.get("venue") is Venue.EVM:
        # All of a venue's orders are read, and then the page is cut.
        assert (answer.trades, answer.total_count) == (("b", "c"), 6)
        assert (venues, past.asked) == ([(criteria, Venue.EVM)], [])
    else:
        assert (answer.trades, answer.total_count) == (("a", "b"), 41)
        assert (venues, past.asked) == (
            [],
            [(criteria, query.get("limit", 50), query.get("offset", 0))],
        )


async def test_the_history_of_another_agent_is_not_known() -> None:
    request = request_to(service(), "ada", query=TradesQuery(agent_id="bea"))
    with pytest.raises(Denied) as refused:
        await trades.history(request)
    assert refused.value.status == 404

"""A quote and its submission: what each asks, keeps, compares and answers, without a signature."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.engine.bare import AT, bare_world
from kit.service.bare import bare_service, request_to
from service_tui.server.http.refusals import Denied
from service_tui.server.http.sol_quotes import SolQuote
from service_tui.server.routes import sol_trades
from service_tui.server.routes.sol_trades import QUOTE_S, SLIP_MAX, quote, submit
from service_tui.signing.errors import MalformedError
from service_tui.terms import Action, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.sol_trades import SolQuoteRequest, SolSubmitRequest
from service_tui.wire.trades import TradeBody, TradeRequest

WALLET = "So11111111111111111111111111111111111111112"
OTHER = "So11111111111111111111111111111111111111113"


def body(**other: Any) -> TradeBody:
    """A fill of 30 shares for 12 of money."""
    given: dict[str, Any] = {
        "success": True, "market_id": "m1", "side": Side.YES, "trade_id": "t9",
        "shares_bought": 30.0, "cost": 12.0, "fee": 0.25, **other,
    }  # fmt: skip
    return TradeBody(**given)


SOLD = {"shares_bought": 0.0, "shares_sold": 30.0}


@dataclass
class Desk:
    """An agent with a wallet of the venue, and a book that answers as a test says."""

    service: Any
    answers: list[TradeBody] = field(default_factory=list)
    orders: list[TradeRequest] = field(default_factory=list)
    promises: list[object] = field(default_factory=list)
    checked: list[tuple[object, ...]] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None
    forged: str = ""

    async def place(self, request: Any) -> TradeBody:
        self.orders.append(request.body)
        self.promises.append(request.promise)
        self.meanwhile()
        return self.answers.pop(0)

    def check_signed(self, *given: object) -> None:
        self.checked.append(given)
        if self.forged:
            raise MalformedError(self.forged)

    async def quoted(self, **other: Any) -> Any:
        given = {"market_id": "m1", "side": Side.YES, "wallet_address": WALLET, "amount": 12.0}
        sent = SolQuoteRequest(**(given | other))
        return await quote(request_to(self.service, "ada", body=sent, promise=cast("Any", "p")))

    async def submitted(self, quote_id: str, **other: Any) -> Any:
        given = {
            "signed_transaction": "signed", "quote_id": quote_id, "market_id": "m1",
            "side": Side.YES, **other,
        }  # fmt: skip
        sent = SolSubmitRequest(**given)
        return await submit(request_to(self.service, "ada", body=sent, promise=cast("Any", "p")))


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    settings = {"claimed": True, "real_trading_enabled": True, "solana_wallet": WALLET}
    it = Desk(bare_service(bare_world("ada", **settings)))
    solana = SimpleNamespace(
        memo_message=lambda wallet, memo: f"{wallet}|{memo}".encode(),
        unsigned_transaction=lambda message: f"unsigned {message.decode()}",
        check_signed=it.check_signed,
        signature_of=lambda signed: f"signature of {signed}",
    )
    monkeypatch.setitem(sys.modules, sol_trades.SOLANA, cast("Any", solana))
    monkeypatch.setattr(sys.modules["service_tui.signing"], "solana", solana, raising=False)

    async def imported(_: str) -> None:
        pass

    monkeypatch.setattr(sol_trades, "imported", imported)
    monkeypatch.setattr(sol_trades.trades, "place", it.place)
    return it


# -- the quote ----------------------------------------------------------------------------------


async def test_a_quote_says_what_is_given_and_got_and_keeps_what_is_to_be_signed(
    desk: Desk,
) -> None:
    desk.answers = [body()]
    got = await desk.quoted()
    (asked,) = desk.orders
    assert (asked.venue, asked.dry_run, asked.market_id) == (Venue.SOL, True, "m1")
    assert (asked.amount, asked.shares, asked.action, asked.side) == (
        12.0, 0.0, Action.BUY, Side.YES,
    )  # fmt: skip
    assert (got.success, got.in_amount, got.out_amount, got.price) == (True, 12.0, 30.0, 0.4)
    assert (got.fee, got.expires_at) == (0.25, moment(Timestamp(AT + QUOTE_S)))
    memo = f"{got.quote_id} buy yes m1 30.0 shares 12.0 USDC, fee 0.25"
    assert got.transaction == f"unsigned {WALLET}|{memo}"
    kept = desk.service.sol_quotes.find(got.quote_id, "ada", AT)
    assert kept == SolQuote(
        "ada", kept.request, 30.0, 12.0, f"{WALLET}|{memo}".encode(), Timestamp(AT + QUOTE_S)
    )
    assert kept.request.wallet_address == WALLET


async def test_a_sale_is_quoted_by_its_shares(desk: Desk) -> None:
    desk.answers = [body(**SOLD)]
    got = await desk.quoted(action=Action.SELL, amount=0.0, shares=30.0)
    assert (got.in_amount, got.out_amount, got.price) == (30.0, 12.0, 0.4)
    assert (desk.orders[0].shares, desk.orders[0].amount) == (30.0, 0.0)


async def test_an_order_that_would_be_refused_has_no_quote(desk: Desk) -> None:
    desk.answers = [body(success=False, error="too large", fix="less"), body(success=False)]
    got = await desk.quoted()
    assert (got.success, got.error, got.fix, got.quote_id) == (False, "too large", "less", "")
    bare = await desk.quoted()
    assert (bare.success, bare.error, bare.fix) == (False, "", "")


async def test_a_quote_of_nothing_has_no_price(desk: Desk) -> None:
    desk.answers = [body(shares_bought=0.0)]
    assert (await desk.quoted()).price == 0.0


@pytest.mark.parametrize(
    "sizes",
    [
        {"amount": 0.0}, {"amount": 1.0, "shares": 1.0}, {"amount": 0.0, "shares": 1.0},
        {"action": Action.SELL}, {"action": Action.SELL, "amount": 0.0},
        {"action": Action.SELL, "shares": 1.0},
    ],
)  # fmt: skip
async def test_a_quote_is_sized_by_one_figure_that_suits_it(
    desk: Desk, sizes: dict[str, Any]
) -> None:
    with pytest.raises(Denied, match="422"):
        await desk.quoted(**sizes)
    assert desk.orders == []


async def test_a_wallet_that_is_not_the_agents_gets_no_quote(desk: Desk) -> None:
    with pytest.raises(Denied, match="403"):
        await desk.quoted(wallet_address=OTHER)
    assert desk.orders == []


async def test_an_agent_that_nobody_has_claimed_gets_no_quote(desk: Desk) -> None:
    desk.service.world.agents["ada"].change({"claimed": False})
    with pytest.raises(Denied, match="403"):
        await desk.quoted()


# -- the submission -----------------------------------------------------------------------------


async def quote_id(desk: Desk, **other: Any) -> str:
    desk.answers = [body(**(SOLD if other.get("action") is Action.SELL else {}))]
    made = await desk.quoted(**other)
    desk.orders.clear()
    desk.promises.clear()
    return str(made.quote_id)


async def test_a_signed_quote_is_carried_out_once_with_what_its_sender_says(desk: Desk) -> None:
    name = await quote_id(desk)
    kept = desk.service.sol_quotes.find(name, "ada", AT)
    desk.answers = [body(), body(fill_status="filled")]
    said = {"reasoning": "why", "source": "sdk:x", "skill_slug": "dip"}
    done = await desk.submitted(name, **said)
    assert desk.checked == [("signed", kept.message, WALLET)]
    assert [order.dry_run for order in desk.orders] == [True, False]
    real = desk.orders[1]
    assert {one: getattr(real, one) for one in said} == said
    # What is promised under an idempotency key is the answer of the submission, not of the trade.
    assert desk.promises[1] is None
    assert (done.success, done.tx_signature, done.trade_id) == (True, "signature of signed", "t9")
    assert (done.market_id, done.side, done.shares, done.shares_bought, done.shares_sold) == (
        "m1", Side.YES, 30.0, 30.0, 0.0,
    )  # fmt: skip
    assert (done.cost, done.cost_usdc, done.fee, done.price, done.fill_status) == (
        12.0, 12.0, 0.25, 0.4, "filled",
    )  # fmt: skip
    with pytest.raises(Denied, match="404"):
        await desk.submitted(name, **said)


async def test_of_two_submissions_at_once_one_is_carried_out(desk: Desk) -> None:
    name = await quote_id(desk)
    desk.answers = [body()]
    desk.meanwhile = lambda: desk.service.sol_quotes.take(name)
    with pytest.raises(Denied, match="404"):
        await desk.submitted(name)
    assert [order.dry_run for order in desk.orders] == [True]


@pytest.mark.parametrize("other", [{"market_id": "m2"}, {"side": Side.NO}, {"action": Action.SELL}])
async def test_only_the_terms_of_the_quote_are_carried_out(
    desk: Desk, other: dict[str, Any]
) -> None:
    name = await quote_id(desk)
    with pytest.raises(Denied, match="422"):
        await desk.submitted(name, **other)
    assert desk.orders == []


async def test_a_wrong_signature_is_refused_with_what_is_wrong_with_it(desk: Desk) -> None:
    name, desk.forged = await quote_id(desk), "another signer"
    with pytest.raises(Denied, match="422") as refused:
        await desk.submitted(name)
    assert "another signer" in str(vars(refused.value))
    assert desk.orders == []


async def test_an_agent_without_a_wallet_gets_no_quote(desk: Desk) -> None:
    desk.service.world.agents["ada"].change({"solana_wallet": None})
    with pytest.raises(Denied, match="403"):
        await desk.quoted()


async def test_a_wallet_that_was_changed_since_the_quote_does_not_trade(desk: Desk) -> None:
    name = await quote_id(desk)
    desk.service.world.agents["ada"].change({"solana_wallet": OTHER})
    with pytest.raises(Denied, match="403"):
        await desk.submitted(name)
    assert desk.orders == []


async def test_a_quote_that_is_not_there_or_too_old_is_unknown(desk: Desk) -> None:
    name = await quote_id(desk)
    with pytest.raises(Denied, match="404"):
        await desk.submitted("q-none")
    sent = SolSubmitRequest(
        signed_transaction="signed", quote_id=name, market_id="m1", side=Side.YES
    )
    late = replace(request_to(desk.service, "ada", body=sent), now=Timestamp(AT + QUOTE_S))
    with pytest.raises(Denied, match="404"):
        await submit(late)
    assert desk.orders == []


@pytest.mark.parametrize(
    ("action", "share", "money", "moved"),
    [
        (Action.BUY, 1 - SLIP_MAX, 1.0, False),
        (Action.BUY, 1 - SLIP_MAX - 0.0001, 1.0, True),
        (Action.BUY, 1.2, 0.5, False),
        (Action.SELL, 1.0, 1 - SLIP_MAX, False),
        (Action.SELL, 1.0, 1 - SLIP_MAX - 0.0001, True),
        (Action.SELL, 0.5, 1.2, False),
    ],
)
async def test_an_order_that_would_bring_less_by_now_wants_a_new_signature(
    desk: Desk, action: Action, share: float, money: float, *, moved: bool
) -> None:
    buys = action is Action.BUY
    sizes = {} if buys else {"amount": 0.0, "shares": 30.0}
    name = await quote_id(desk, action=action, **sizes)
    which = "shares_bought" if buys else "shares_sold"
    now = {"shares_bought": 0.0} | {which: 30.0 * share, "cost": 12.0 * money}
    desk.answers = [body(**now), body(**now)]
    done = await desk.submitted(name, action=action)
    assert done.success is not moved
    assert len(desk.orders) == 2 - moved
    if moved:
        assert (done.error_code, done.retryable) == ("PRICE_MOVED", True)
        assert done.fix
        # The quote can be submitted once the price is back.
        assert desk.service.sol_quotes.find(name, "ada", AT) is not None


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_trade_that_is_refused_says_why(desk: Desk, *, at_once: bool) -> None:
    name = await quote_id(desk)
    no = body(success=False, error="closed", error_code="MARKET", fix="wait", retryable=True)
    desk.answers = [no] if at_once else [body(), no]
    done = await desk.submitted(name)
    assert (done.success, done.market_id, done.side) == (False, "m1", Side.YES)
    assert (done.error, done.error_code, done.fix, done.retryable) == (
        "closed", "MARKET", "wait", True,
    )  # fmt: skip
    assert (done.fill_status, done.tx_signature) == ("failed", "")


@pytest.mark.parametrize(
    ("given", "status", "price"),
    [
        ({"shares_bought": 0.0}, "submitted", 0.0),
        ({"fill_status": "partially_filled"}, "partially_filled", 0.4),
        ({"fill_status": "submitted"}, "filled", 0.4),
        ({}, "filled", 0.4),
    ],
)
async def test_what_became_of_a_trade_is_told_by_its_shares(
    desk: Desk, given: dict[str, Any], status: str, price: float
) -> None:
    name = await quote_id(desk)
    desk.answers = [body(), body(**given)]
    done = await desk.submitted(name)
    assert (done.fill_status, done.price) == (status, price)

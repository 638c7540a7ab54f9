"""Which signed orders of an own wallet hold, compared with the request figure by figure."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.chain.counting import CountingSigner
from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.books.catalogue import token_of
from service_tui.engine.books.liquidity import RefreshedQuotes, refresh_at
from service_tui.engine.chain.chain import Wallet
from service_tui.engine.chain_events import OrderSigned, WalletLinked
from service_tui.engine.errors import (
    ApprovalMissing,
    CredentialsMissing,
    OrderNotAsSigned,
    OrderReplayed,
    Refusal,
    SignatureMissing,
    WalletRestricted,
)
from service_tui.engine.world import World
from service_tui.server.chain_node import signed_orders as room
from service_tui.server.chain_node.relay import order_keys
from service_tui.server.chain_node.signed_orders import VerifiedOrder, check_ready, verified
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.orders import OrderAction, SignableOrder, sign_order, typed_order
from service_tui.terms import Side, Venue, WalletKind
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.signed_order import SignedOrderBody
from service_tui.wire.trades import TradeRequest

OWN = CountingSigner()
MARKET = "10000000-0000-4000-8000-000000000001"
V1, V2 = ExchangeVersion.V1, ExchangeVersion.V2
TOKEN = int(token_of(MARKET, Side.YES, neg_risk=False))
FAIR = SignableOrder(
    exchange=V2, salt=42, maker=OWN.address, token_id=TOKEN, maker_amount=10 * ONE,
    taker_amount=25 * ONE, action=OrderAction.BUY, at_ms=int(AT * 1_000),
)  # fmt: skip
"""25 shares of YES for 10, which is 40 cents each."""

FIRST = replace(FAIR, exchange=V1, at_ms=0, builder=bytes(32), fee_rate_bps=400)
SALE = replace(FAIR, action=OrderAction.SELL, maker_amount=25 * ONE, taker_amount=10 * ONE)


def ready() -> tuple[World, Wallet]:
    world = bare_world("ada", "bea", wallet=WalletKind.EXTERNAL)
    market = listed(world, MARKET, home=Venue.EVM, resolves_at=AT + 9 * HOUR)
    world.apply(WalletLinked("ada", AT, OWN.address))
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    wallet.credentials_at = AT
    wallet.approvals.update(order_keys(V2), order_keys(V1))
    number = refresh_at(market.listing, AT)
    quotes = RefreshedQuotes(number, 0.4, Micros(10_000), (), ())
    world.venues.book(MARKET).stand(quotes)
    return world, wallet


def request(
    order: SignableOrder | None = FAIR,
    *,
    neg_risk: bool = False,
    signature: str | None = None,
    **fields: Any,
) -> TradeRequest:
    """A request with an order that its maker has signed."""
    body = None
    if order is not None:
        signed = sign_order(order, OWN, is_neg_risk=neg_risk)
        if signature is not None:
            signed = replace(signed, signature=signature)
        body = SignedOrderBody.model_validate(signed.body())
    sells = order is not None and order.action is OrderAction.SELL
    sizes = {"action": "sell", "shares": 25.0} if sells else {"action": "buy", "amount": 10.0}
    known = {"market_id": MARKET, "side": "yes", "venue": "evm_venue", **sizes, **fields}
    return TradeRequest.model_validate(known, strict=False).model_copy(
        update={"signed_order": body}
    )


def digest_of(order: SignableOrder) -> str:
    return typed_order(order, is_neg_risk=False).digest().hex()


@pytest.mark.parametrize(("order", "size"), [(FAIR, 10 * ONE), (FIRST, 10 * ONE), (SALE, 25 * ONE)])
def test_an_order_as_it_was_requested_holds(order: SignableOrder, size: int) -> None:
    world, _ = ready()
    found = verified(world, world.agents["ada"], request(order), AT)
    assert found == VerifiedOrder(digest_of(order), Micros(400_000), Micros(size), None)


def test_an_order_that_dies_holds_with_its_hour() -> None:
    world, _ = ready()
    expires_s = int(AT) + 900
    wish = request(
        replace(FAIR, expires_s=expires_s), order_type="GTD", expiration=float(expires_s), price=0.4
    )
    found = verified(world, world.agents["ada"], wish, AT)
    assert found is not None
    assert found.expires_at == expires_s


@pytest.mark.parametrize(
    ("order", "kind", "is_taken"),
    [
        (replace(FAIR, taker_amount=25_000_100), "FAK", True),
        (replace(FAIR, taker_amount=25_000_010), "FAK", False),
        (replace(FAIR, taker_amount=25_000_010), None, False),
        (replace(FAIR, maker_amount=9_999_000, taker_amount=24_997_500), "FOK", False),
        (replace(SALE, taker_amount=10_000_100), "FAK", True),
        (replace(SALE, taker_amount=10_000_010), "FOK", False),
        (replace(SALE, maker_amount=24_999_000, taker_amount=9_999_600), "FAK", False),
        (replace(SALE, maker_amount=24_999_000, taker_amount=9_999_600), None, False),
        (replace(FAIR, maker_amount=9_996_000, taker_amount=24_990_000), "GTC", True),
        (replace(FAIR, taker_amount=25_000_100), "GTC", False),
    ],
)
def test_amounts_with_more_decimals_than_the_venue_takes_are_refused(
    order: SignableOrder, kind: str | None, *, is_taken: bool
) -> None:
    world, _ = ready()
    wish = request(order, order_type=kind)
    if is_taken:
        assert verified(world, world.agents["ada"], wish, AT) is not None
    else:
        with pytest.raises(OrderNotAsSigned, match="invalid amounts"):
            verified(world, world.agents["ada"], wish, AT)


@pytest.mark.parametrize(
    ("agent_id", "fields"),
    [("bea", {}), ("ada", {"venue": "sol_venue"}), ("ada", {"venue": "sim"})],
)
def test_a_signature_that_nobody_asked_for_binds_nobody(
    agent_id: str, fields: dict[str, Any]
) -> None:
    world, _ = ready()
    assert verified(world, world.agents[agent_id], request(**fields), AT) is None


def restricted(wallet: Wallet) -> None:
    wallet.restricted = True


def without_credentials(wallet: Wallet) -> None:
    wallet.credentials_at = None


def without_approval(wallet: Wallet) -> None:
    wallet.approvals.remove(order_keys(V2)[0])


SPOILED: list[tuple[Callable[[Wallet], None], type[Refusal], bool]] = [
    (restricted, WalletRestricted, True),
    (without_credentials, CredentialsMissing, True),
    # The first generation is still approved: some order of this wallet is taken.
    (without_approval, ApprovalMissing, False),
]


@pytest.mark.parametrize(("spoil", "kind", "any_order"), SPOILED)
def test_a_wallet_that_the_venue_would_not_serve_is_refused(
    *, spoil: Callable[[Wallet], None], kind: type[Refusal], any_order: bool
) -> None:
    world, wallet = ready()
    agent = world.agents["ada"]
    check_ready(world, agent, Venue.EVM)
    spoil(wallet)
    with pytest.raises(kind):
        verified(world, agent, request(), AT)
    if any_order:
        with pytest.raises(kind):
            check_ready(world, agent, Venue.EVM)
    else:
        check_ready(world, agent, Venue.EVM)
        assert verified(world, agent, request(FIRST), AT)
    check_ready(world, agent, Venue.SOL)
    check_ready(world, world.agents["bea"], Venue.EVM)


def test_an_approval_that_lacks_names_the_generation_it_lacks_on() -> None:
    world, wallet = ready()
    wallet.approvals.clear()
    with pytest.raises(ApprovalMissing, match=r"is not activated on exchange v1$"):
        verified(world, world.agents["ada"], request(FIRST), AT)
    with pytest.raises(ApprovalMissing, match=r"is not activated$"):
        check_ready(world, world.agents["ada"], Venue.EVM)


def test_an_own_wallet_signs() -> None:
    world, _ = ready()
    with pytest.raises(SignatureMissing):
        verified(world, world.agents["ada"], request(None), AT)


def test_an_order_is_taken_once() -> None:
    world, _ = ready()
    world.apply(OrderSigned("bea", AT, digest_of(FAIR)))
    assert verified(world, world.agents["ada"], request(), AT)
    world.apply(OrderSigned("ada", AT, digest_of(FAIR)))
    with pytest.raises(OrderReplayed):
        verified(world, world.agents["ada"], request(), AT)
    assert verified(world, world.agents["ada"], request(replace(FAIR, salt=43)), AT)


def aged(seconds: float) -> SignableOrder:
    return replace(FAIR, at_ms=round((AT - seconds) * 1_000))


NOT_AS_SIGNED: dict[str, tuple[dict[str, Any], str]] = {
    "another kind of market": ({"neg_risk": True}, "trades on the standard exchange"),
    "a foreign signature": (
        {"signature": "0x" + CountingSigner("5d" * 32).sign(bytes(32)).hex()},
        "not the maker's",
    ),
    "too old": ({"order": aged(600.001)}, "has expired, or its time"),
    "too new": ({"order": aged(-60.001)}, "has expired, or its time"),
    "an expiration of no GTD": (
        {"order": replace(FAIR, expires_s=int(AT) + 9)},
        "belongs to GTD orders",
    ),
    "another expiration": (
        {
            "order": replace(FAIR, expires_s=int(AT) + 9),
            "order_type": "GTD",
            "price": 0.4,
            "expiration": AT + 10,
        },
        "is not that of the request",
    ),
    "the other side": ({"side": "no"}, "another market's or side's"),
    "the other way": (
        {"order": SALE, "action": "buy", "amount": 25.0, "shares": 0.0},
        "trades the other way",
    ),
    "more than was asked": ({"amount": 9.999_999}, "its amount is not that"),
    "much less than was asked": ({"amount": 10.020_001}, "its amount is not that"),
    "another price": ({"price": 0.41}, "its price is not that"),
    "between two ticks": (
        {"order": replace(FAIR, taker_amount=25_100_000), "price": None},
        "lies between two ticks",
    ),
    "for no shares": ({"order": replace(FAIR, taker_amount=0)}, "for no shares"),
}


@pytest.mark.parametrize("name", NOT_AS_SIGNED)
def test_an_order_that_differs_in_one_thing_is_refused_for_it(name: str) -> None:
    fields, why = NOT_AS_SIGNED[name]
    world, _ = ready()
    with pytest.raises(OrderNotAsSigned, match=why):
        verified(world, world.agents["ada"], request(**{"order": FAIR, **fields}), AT)


def test_another_wallets_order_is_refused() -> None:
    world, wallet = ready()
    wish = request()
    wallet.address = "0x" + "12" * 20
    with pytest.raises(OrderNotAsSigned, match="maker is not the linked wallet"):
        verified(world, world.agents["ada"], wish, AT)


@pytest.mark.parametrize(
    "fields",
    [
        {"order": aged(600)},
        {"order": aged(-60)},
        {"amount": 10.02},
        {"price": 0.4},
        {"price": 0.404},
        {"order": replace(FAIR, taker_amount=25_020_000)},
    ],
)
def test_an_order_at_a_bound_holds(fields: dict[str, Any]) -> None:
    world, _ = ready()
    found = verified(world, world.agents["ada"], request(**{"order": FAIR, **fields}), AT)
    assert found is not None
    assert found.price == 400_000


def test_an_order_of_the_first_generation_has_no_age() -> None:
    world, _ = ready()
    later = Timestamp(AT + 5 * HOUR)
    assert verified(world, world.agents["ada"], request(FIRST), later) is not None


@pytest.mark.parametrize(
    ("exchange", "age_s", "is_taken"),
    [
        (V2, 0, True), (V2, room.AGE_MAX_S, True),
        (V2, room.AGE_MAX_S + 1, False),
        (V2, -room.AHEAD_MAX_S, True),
        (V2, -room.AHEAD_MAX_S - 1, False), (V2, None, False),
        (V1, None, True),
    ],
)  # fmt: skip
def test_only_an_order_of_version_1_has_no_time(
    exchange: ExchangeVersion, age_s: float | None, *, is_taken: bool
) -> None:
    at_ms = 0 if age_s is None else int((AT - age_s) * 1_000)
    order: Any = SimpleNamespace(exchange=exchange, at_ms=at_ms)
    if is_taken:
        room.check_time(order, AT)
    else:
        with pytest.raises(OrderNotAsSigned, match="its time is wrong"):
            room.check_time(order, AT)

"""Signed orders: amounts, expiry and both exchange generations."""

import random
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_DOWN, Decimal
from typing import Any

import pytest

from kit.chain.counting import CountingSigner
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import ZERO_32
from service_tui.signing.errors import MalformedError, PolicyRefusedError, Rule
from service_tui.signing.orders import (
    BUILDER,
    OrderAction,
    OrderTerms,
    SignableOrder,
    amounts,
    build_order,
    order_signer,
    read_order,
    sign_order,
    token_number,
    typed_order,
)

BUY = OrderTerms(token_id=1234, action=OrderAction.BUY, price=500_000, spend=10_000_000)
SELL = OrderTerms(token_id=1234, action=OrderAction.SELL, price=500_000, shares=20_000_000)
NOW_MS = 1_790_000_000_000


def built(wish: OrderTerms, signer: CountingSigner, exchange: ExchangeVersion) -> SignableOrder:
    return build_order(wish, signer.address, exchange=exchange, salt=42, now_ms=NOW_MS)


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        (BUY, (10_000_000, 20_000_000)),  # seen on the wire
        (SELL, (20_000_000, 10_000_000)),
        (replace(BUY, price=330_000), (9_999_000, 30_300_000)),
        # Never across the price: a buy at 0.335 is one at 0.33, a sale one at 0.34.
        (replace(BUY, price=335_000), (9_999_000, 30_300_000)),
        (replace(BUY, price=339_999), (9_999_000, 30_300_000)),
        (replace(SELL, price=335_000), (20_000_000, 6_800_000)),
        (replace(SELL, price=330_001), (20_000_000, 6_800_000)),
        # At once: money at two decimals, shares at four, the price down.
        (
            replace(BUY, price=335_000, spend=10_009_000, is_immediate=True),
            (10_000_000, 30_303_000),
        ),
        # At once on fine ticks: never more than two decimals given, four received.
        (
            replace(BUY, price=985_000, spend=9_980_000, tick=1_000, is_immediate=True),
            (9_980_000, 10_131_900),
        ),
        (
            replace(SELL, price=985_000, shares=16_910_000, tick=1_000, is_immediate=True),
            (16_910_000, 16_656_400),
        ),
        (replace(SELL, price=985_000, shares=16_910_000, tick=1_000), (16_910_000, 16_656_350)),
        # Shares are cut to two decimals, never rounded up.
        (replace(SELL, shares=20_019_999), (20_010_000, 10_005_000)),
        (replace(BUY, spend=None, shares=7_000_000), (3_500_000, 7_000_000)),
    ],
)
def test_amounts_are_exact(wish: OrderTerms, expected: tuple[int, int]) -> None:
    assert amounts(wish) == expected


TABLE = {
    "0.1": (1, 2, 3),
    "0.01": (2, 2, 4),
    "0.005": (3, 2, 5),
    "0.0025": (4, 2, 6),
    "0.001": (3, 2, 5),
    "0.0001": (4, 2, 6),
}
"""Decimals of price, size and amount of a resting order. Source: wire reference, 6.2."""


def at_places(number: Decimal, places: int, rounding: str = ROUND_DOWN) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places), rounding=rounding)


def reference(wish: OrderTerms, tick: str) -> tuple[int, int]:
    """The same in decimals: the table, and at once two decimals given and four received."""
    _, size_places, amount_places = TABLE[tick]
    million = Decimal(1_000_000)
    is_buy = wish.action is OrderAction.BUY
    steps = Decimal(wish.price) / million / Decimal(tick)
    price = steps.quantize(Decimal(1), ROUND_DOWN if is_buy else ROUND_CEILING) * Decimal(tick)
    spend, size = Decimal(wish.spend or 0) / million, Decimal(wish.shares or 0) / million
    if wish.is_immediate and is_buy:
        money = at_places(spend, 2)
        shares = at_places(money / price, 4)
    elif wish.is_immediate:
        shares = at_places(size, 2)
        money = at_places(shares * price, 4, ROUND_CEILING)
    else:
        shares = at_places(spend / price if is_buy else size, size_places)
        money = shares * price
        assert money == at_places(money, amount_places)
    pair = (int(money * million), int(shares * million))
    return pair if is_buy else (pair[1], pair[0])


def test_two_thousand_random_amounts_follow_the_rules_of_the_venue() -> None:
    rng = random.Random(4)
    for _ in range(2_000):
        tick = rng.choice(list(TABLE))
        micros = int(Decimal(tick) * 1_000_000)
        is_buy = rng.random() < 0.5
        wish = OrderTerms(
            token_id=1,
            action=OrderAction.BUY if is_buy else OrderAction.SELL,
            price=rng.randrange(100_000, 850_000),
            spend=rng.randrange(5_100_000, 10**12) if is_buy else None,
            shares=None if is_buy else rng.randrange(5_100_000, 10**12),
            tick=micros,
            is_immediate=rng.random() < 0.5,
        )
        maker, taker = amounts(wish)
        assert (maker, taker) == reference(wish, tick)
        assert maker <= (wish.spend or wish.shares or 0)
        if not is_buy:
            assert taker * 1_000_000 >= maker * wish.price


@pytest.mark.parametrize(
    ("wish", "rule"),
    [
        (replace(BUY, tick=7), Rule.TICK),
        (replace(BUY, tick=5), Rule.TICK),
        (replace(SELL, tick=0), Rule.TICK),
        (replace(BUY, price=0), Rule.PRICE),
        (replace(BUY, price=4_999), Rule.PRICE),
        (replace(SELL, price=995_000), Rule.PRICE),
        (replace(BUY, price=1_000_000), Rule.PRICE),
        (replace(BUY, price=-500_000), Rule.PRICE),
        (replace(BUY, spend=2_490_000), Rule.TOTAL),
        (replace(BUY, spend=0), Rule.TOTAL),
        (replace(BUY, spend=-10_000_000), Rule.TOTAL),
        (replace(BUY, spend=None), Rule.TOTAL),
        (replace(SELL, shares=4_999_999), Rule.TOTAL),
        (replace(SELL, shares=-20_000_000), Rule.TOTAL),
        (replace(SELL, shares=None), Rule.TOTAL),
        (replace(BUY, token_id=0), Rule.FORM),
        (replace(BUY, token_id=2**256), Rule.FORM),
    ],
)
def test_what_the_venue_would_not_take_is_not_signed(wish: OrderTerms, rule: Rule) -> None:
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError) as refused:
        sign_order(built(wish, signer, ExchangeVersion.V1), signer, is_neg_risk=False)
    assert refused.value.rule is rule
    assert signer.signatures == 0


def test_five_shares_are_enough() -> None:
    assert amounts(replace(BUY, spend=2_500_000)) == (2_500_000, 5_000_000)


def test_an_order_of_another_wallet_is_not_signed() -> None:
    signer, other = CountingSigner(), CountingSigner("5d" * 32)
    with pytest.raises(PolicyRefusedError):
        sign_order(built(BUY, other, ExchangeVersion.V1), signer, is_neg_risk=False)
    assert signer.signatures == 0


@pytest.mark.parametrize("is_neg_risk", [False, True])
@pytest.mark.parametrize("exchange", list(ExchangeVersion))
@pytest.mark.parametrize("wish", [BUY, SELL])
def test_what_is_sent_is_read_back_and_has_the_same_signer(
    wish: OrderTerms, exchange: ExchangeVersion, *, is_neg_risk: bool
) -> None:
    signer = CountingSigner()
    signed = sign_order(built(wish, signer, exchange), signer, is_neg_risk=is_neg_risk)
    body = dict[str, object](signed.body())
    assert read_order(body, exchange) == signed
    assert order_signer(signed, is_neg_risk=is_neg_risk) == signer.address
    assert body["side"] == wish.action.value
    assert body["makerAmount"] == str(amounts(wish)[0])
    assert len(str(body["signature"])) == 132


def test_the_fields_of_each_generation_are_those_of_the_reference() -> None:
    signer = CountingSigner()
    common = {
        *("salt", "maker", "signer", "tokenId", "makerAmount", "takerAmount", "side"),
        *("signatureType", "signature", "expiration"),
    }
    first = sign_order(built(BUY, signer, ExchangeVersion.V1), signer, is_neg_risk=False).body()
    second = sign_order(built(BUY, signer, ExchangeVersion.V2), signer, is_neg_risk=False).body()
    assert set(first) == common | {"taker", "nonce", "feeRateBps"}
    assert set(second) == common | {"timestamp", "metadata", "builder"}
    assert second["builder"] == "0x" + BUILDER.hex()
    assert second["timestamp"] == str(NOW_MS)


@pytest.mark.parametrize("exchange", list(ExchangeVersion))
def test_when_an_order_dies_is_told_and_in_the_first_generation_signed(
    exchange: ExchangeVersion,
) -> None:
    signer = CountingSigner()
    dies_s = NOW_MS // 1_000 + 600
    made = build_order(
        SELL, signer.address, exchange=exchange, salt=1, now_ms=NOW_MS, expires_s=dies_s
    )
    signed = sign_order(made, signer, is_neg_risk=False)
    body = dict[str, object](signed.body())
    assert body["expiration"] == str(dies_s)
    assert read_order(body, exchange) == signed
    assert order_signer(signed, is_neg_risk=False) == signer.address
    later = read_order({**body, "expiration": str(dies_s + 1)}, exchange)
    same = order_signer(later, is_neg_risk=False) == signer.address
    assert same is (exchange is ExchangeVersion.V2)


@pytest.mark.parametrize("expires_s", [-1, 1, NOW_MS // 1_000, 10**11])
def test_an_order_that_dies_before_it_is_made_is_not_built(expires_s: int) -> None:
    with pytest.raises(PolicyRefusedError):
        build_order(
            SELL,
            "0x" + "11" * 20,
            exchange=ExchangeVersion.V1,
            salt=1,
            now_ms=NOW_MS,
            expires_s=expires_s,
        )


def test_a_builder_is_named_and_nothing_else_is_told_of_it() -> None:
    signer, builder = CountingSigner(), bytes(range(32))
    order = build_order(
        BUY, signer.address, exchange=ExchangeVersion.V2, salt=1, now_ms=NOW_MS, builder=builder
    )
    sent = sign_order(order, signer, is_neg_risk=False).body()
    assert (sent["builder"], sent["metadata"]) == ("0x" + builder.hex(), "0x" + "00" * 32)


def test_a_builder_of_zeros_opts_out() -> None:
    signer = CountingSigner()
    order = build_order(
        BUY, signer.address, exchange=ExchangeVersion.V2, salt=1, now_ms=NOW_MS, builder=ZERO_32
    )
    signed = sign_order(order, signer, is_neg_risk=False)
    assert signed.body()["builder"] == "0x" + "00" * 32


@pytest.mark.parametrize(
    "changes",
    [
        {"salt": None},
        {"salt": "1.5"},
        {"salt": "9" * 100},
        {"side": "HOLD"},
        {"makerAmount": "-1"},
        {"takerAmount": "1e6"},
        {"tokenId": "٣"},
        {"signatureType": 2},
        {"taker": "0x" + "11" * 20},
        {"nonce": "1"},
        {"expiration": "-1"},
        {"expiration": "1.5"},
        {"signer": "0x" + "11" * 20},
        {"feeRateBps": ["1"]},
        {"signature": {}},
    ],
)
def test_an_order_of_another_form_is_not_read(changes: dict[str, object]) -> None:
    signer = CountingSigner()
    body = sign_order(built(BUY, signer, ExchangeVersion.V1), signer, is_neg_risk=False).body()
    with pytest.raises(MalformedError):
        read_order({**body, **changes}, ExchangeVersion.V1)


def test_shares_that_are_bought_at_once_cost_what_they_come_to() -> None:
    wish = replace(BUY, spend=None, shares=7_000_000, is_immediate=True)
    assert amounts(wish) == (3_500_000, 7_000_000)


def test_an_immediate_buy_of_nothing_is_too_small() -> None:
    with pytest.raises(PolicyRefusedError) as refused:
        amounts(replace(BUY, spend=None, shares=None, is_immediate=True))
    assert refused.value.rule is Rule.TOTAL


FAIR: dict[str, Any] = {"exchange": ExchangeVersion.V2, "salt": 42, "now_ms": NOW_MS}


@pytest.mark.parametrize(
    "changes",
    [
        {"terms": replace(BUY, token_id=1)},
        {"terms": replace(BUY, token_id=2**256 - 1)},
        {"salt": 0},
        {"salt": 2**53 - 1},
        {"now_ms": 10**12},
        {"now_ms": 10**13 - 1},
        {"fee_rate_bps": 0},
        {"fee_rate_bps": 1_000},
        {"expires_s": NOW_MS // 1_000 + 1},
        {"expires_s": 10**10 - 1},
        {"builder": bytes(32)},
    ],
)
def test_an_order_at_a_bound_is_built_as_it_was_wished(changes: dict[str, Any]) -> None:
    wished = {"terms": BUY, **FAIR, **changes}
    order = build_order(wished.pop("terms"), "0xmaker", **wished)
    terms = changes.get("terms", BUY)
    assert order == SignableOrder(
        exchange=ExchangeVersion.V2,
        salt=wished["salt"],
        maker="0xmaker",
        token_id=terms.token_id,
        maker_amount=10_000_000,
        taker_amount=20_000_000,
        action=OrderAction.BUY,
        fee_rate_bps=0,
        at_ms=wished["now_ms"],
        builder=wished.get("builder", BUILDER),
        expires_s=wished.get("expires_s", 0),
    )


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"salt": -1}, Rule.FORM),
        ({"salt": 2**53}, Rule.FORM),
        ({"now_ms": 10**12 - 1}, Rule.FORM),
        ({"now_ms": 10**13}, Rule.FORM),
        ({"fee_rate_bps": -1}, Rule.FEE),
        ({"fee_rate_bps": 1_001}, Rule.FEE),
        ({"expires_s": NOW_MS // 1_000}, Rule.FORM),
        ({"expires_s": 10**10}, Rule.FORM),
        ({"builder": bytes(31)}, Rule.FORM),
    ],
)
def test_one_beyond_a_bound_is_not_built(changes: dict[str, Any], rule: Rule) -> None:
    with pytest.raises(PolicyRefusedError) as refused:
        build_order(BUY, "0xmaker", **{**FAIR, **changes})
    assert refused.value.rule is rule


def test_an_order_at_once_does_not_die_later() -> None:
    with pytest.raises(PolicyRefusedError) as refused:
        build_order(
            replace(BUY, is_immediate=True), "0xmaker", expires_s=NOW_MS // 1_000 + 9, **FAIR
        )
    assert refused.value.rule is Rule.FORM


def test_the_first_generation_carries_the_fee_and_neither_time_nor_builder() -> None:
    order = build_order(
        BUY, "0xmaker", exchange=ExchangeVersion.V1, salt=1, now_ms=NOW_MS, fee_rate_bps=70
    )
    assert (order.fee_rate_bps, order.at_ms, order.builder) == (70, 0, bytes(32))


@pytest.mark.parametrize(
    ("exchange", "is_neg_risk", "contract", "version"),
    [
        (ExchangeVersion.V1, False, POLYGON.v1_exchange, "1"),
        (ExchangeVersion.V1, True, POLYGON.v1_neg_risk_exchange, "1"),
        (ExchangeVersion.V2, False, POLYGON.v2_exchange, "2"),
        (ExchangeVersion.V2, True, POLYGON.v2_neg_risk_a, "2"),
    ],
)
@pytest.mark.parametrize(("wish", "side"), [(BUY, 0), (SELL, 1)])
def test_an_order_is_signed_for_the_exchange_of_its_market(
    *,
    exchange: ExchangeVersion,
    is_neg_risk: bool,
    contract: str,
    version: str,
    wish: OrderTerms,
    side: int,
) -> None:
    order = built(wish, CountingSigner(), exchange)
    typed = typed_order(order, is_neg_risk=is_neg_risk)
    domain = typed.domain
    assert (domain.verifying_contract, domain.version, domain.chain_id) == (contract, version, 137)
    told = {one.name: one.value for one in typed.message.fields}
    assert (told["side"], told["signatureType"], told["salt"]) == (side, 0, 42)
    assert (told["maker"], told["signer"]) == (order.maker, order.maker)
    assert (told["makerAmount"], told["takerAmount"]) == amounts(wish)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        ("007", 7),
        (str(2**256 - 1), 2**256 - 1),
        ("0", None),
        (str(2**256), None),
        ("0" * 78 + "1", None),
        ("-1", None),
        ("1e9", None),
        ("", None),
        ("\u0663", None),
    ],
)
def test_a_token_is_a_number_of_decimal_digits(text: str, number: int | None) -> None:
    assert token_number(text) == number


@pytest.mark.parametrize("exchange", list(ExchangeVersion))
def test_an_order_that_lacks_any_field_is_not_read(exchange: ExchangeVersion) -> None:
    signer = CountingSigner()
    body = sign_order(built(BUY, signer, exchange), signer, is_neg_risk=False).body()
    for name in body:
        with pytest.raises(MalformedError):
            read_order({key: one for key, one in body.items() if key != name}, exchange)

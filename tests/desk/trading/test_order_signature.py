"""What the wallet's own key signs of an order, field by field."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.desk.redeeming import CountingSigner
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.trading.order_signature import as_signed, may_sign
from service_tui.desk.trading.sending import request_of
from service_tui.desk.vault import Vault
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.errors import LockedError, PolicyRefusedError, Rule, SigningError
from service_tui.signing.policy import SigningPolicy
from service_tui.signing.tokens import outcome_token
from service_tui.storage.errors import StorageFullError
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp
from service_tui.wire.endpoints.public import MARKET
from service_tui.wire.trades import TradeRequest

CONDITION = bytes(range(1, 33))
YES = str(outcome_token(CONDITION, is_yes=True, is_neg_risk=False))
SIGNER = CountingSigner()


def listed(**other: Any) -> SimpleNamespace:
    given = {
        "polymarket_id": "0x" + CONDITION.hex(),
        "polymarket_neg_risk": False,
        "polymarket_token_id": None,
        "polymarket_no_token_id": None,
        "tick_size": 0.01,
        "fee_rate_bps": 40,
        "best_bid": 0.38,
        "best_ask": 0.42,
        **other,
    }
    return SimpleNamespace(market=SimpleNamespace(**given))


def desk(
    first: ExchangeVersion = ExchangeVersion.V2, *, ahead_s: float = 2.0, **market: Any
) -> Offline:
    state = sample_state(8)
    known = {
        name: replace(
            one,
            price=Probability(0.4),
            condition_id="0x" + CONDITION.hex(),
            neg_risk=market.get("polymarket_neg_risk", False),
            fee_rate_bps=40,
            tick=Micros(10_000),
        )
        for name, one in state.markets.items()
    }
    wallet = replace(state.wallet, ownership=Ownership.EXTERNAL, address=SIGNER.address)
    on = Offline(
        replace(state, markets=known, wallet=wallet, positions=()),
        {MARKET: listed(**market)},
        skew_s=ahead_s,
    )
    on.ports = replace(on.ports, vault=Vault(signer=SIGNER), policy=SigningPolicy(exchange=first))
    return on


def order(**other: Any) -> PlaceTrade:
    given = {
        "market_id": "m-00001",
        "side": Side.YES,
        "action": Action.BUY,
        "venue": Venue.EVM,
        "amount": Micros(21 * ONE),
        "price": 0.42,
        "confirmed": True,
        **other,
    }
    return PlaceTrade(**given)


def request(wish: PlaceTrade) -> TradeRequest:
    return request_of(wish, dry_run=False, client_ref="r", source="desk")


async def signed(on: Offline, wish: PlaceTrade) -> dict[str, Any]:
    made = await as_signed(on.ports, wish, request(wish))
    assert made.signed_order is not None
    return made.signed_order.model_dump(mode="json", by_alias=True, exclude_none=True)


SALE = {"action": Action.SELL, "amount": Micros(0), "shares": Micros(30 * ONE), "price": 0.38}


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("neg_risk", [True, False])
async def test_the_token_of_the_side_is_signed_with_the_money_and_the_shares(
    side: Side, *, neg_risk: bool
) -> None:
    on = desk(polymarket_neg_risk=neg_risk)
    buy = await signed(on, order(side=side))
    token = outcome_token(CONDITION, is_yes=side is Side.YES, is_neg_risk=neg_risk)
    assert buy["tokenId"] == str(token)
    assert (buy["side"], buy["makerAmount"], buy["takerAmount"]) == ("BUY", "21000000", "50000000")
    assert buy["maker"] == buy["signer"] == SIGNER.address
    sale = await signed(on, order(side=side, **SALE))
    assert (sale["side"], sale["makerAmount"], sale["takerAmount"]) == (
        "SELL",
        "30000000",
        "11400000",
    )
    assert on.asked == [Asked(MARKET, {"market_id": "m-00001"})] * 2


async def test_the_signature_rides_on_the_request_that_was_confirmed() -> None:
    on, wish = desk(), order(price=0.423)
    before, made = request(wish), await as_signed(on.ports, wish, request(wish))
    # The price is the tick's: never above what was confirmed.
    assert made.price == 0.42
    assert made.wallet_address == SIGNER.address
    for name in set(TradeRequest.model_fields) - {"price", "signed_order", "wallet_address"}:
        assert getattr(made, name) == getattr(before, name), name


async def test_the_moment_is_that_of_the_services_clock_and_only_resting_orders_end() -> None:
    on = desk()
    now = await signed(on, order())
    assert (now["timestamp"], now["expiration"]) == (str(round((NOW - 2.0) * 1_000)), "0")
    until = Timestamp(NOW + 600)
    rests = await signed(on, order(rests=True, expires_at=until))
    assert rests["expiration"] == str(int(until))
    assert (await signed(on, order(rests=True)))["expiration"] == "0"
    assert (await signed(on, order(expires_at=until)))["expiration"] == "0"


async def test_each_order_has_a_salt_of_its_own() -> None:
    on = desk()
    fresh = iter(["one", "two"])
    on.ports = replace(on.ports, new_id=lambda: next(fresh))
    salts = [(await signed(on, order()))["salt"] for _ in range(2)]
    assert salts[0] != salts[1]
    assert all(0 < salt < 1 << 52 for salt in salts)


async def test_the_first_exchange_is_signed_the_fee_and_the_second_is_not() -> None:
    first = await signed(desk(ExchangeVersion.V1), order(fee_rate_bps=40))
    assert first["feeRateBps"] == "40"
    second = await signed(desk(), order())
    assert "feeRateBps" not in second


@pytest.mark.parametrize(
    ("shown", "known", "is_ok"),
    [
        (40, None, True),
        (39, None, False),
        (None, 40, True),
        (None, 39, False),
        # What was confirmed counts, whatever has been listed since.
        (39, 40, False),
        (40, 39, True),
    ],
)
async def test_a_fee_above_the_one_that_was_shown_is_not_signed(
    shown: int | None, known: int | None, *, is_ok: bool
) -> None:
    on = desk(ExchangeVersion.V1)
    on.state = replace(on.state, markets=listing(on, known))
    wish = order(fee_rate_bps=shown, token=YES)
    if is_ok:
        assert (await signed(on, wish))["feeRateBps"] == "40"
        return
    with pytest.raises(PolicyRefusedError, match="fee now 40 bps, 39 bps shown") as refused:
        await signed(on, wish)
    assert refused.value.rule is Rule.FEE


def listing(on: Offline, fee_rate_bps: int | None) -> dict[str, MarketView]:
    """The market with this fee; None leaves it out of the list."""
    market = on.state.markets["m-00001"]
    return {} if fee_rate_bps is None else {"m-00001": replace(market, fee_rate_bps=fee_rate_bps)}


async def test_nothing_is_signed_for_a_fee_that_was_never_shown() -> None:
    on = desk(ExchangeVersion.V1)
    on.state = replace(on.state, markets={})
    with pytest.raises(PolicyRefusedError, match="fee of this market never shown") as refused:
        await signed(on, order(token=YES))
    assert refused.value.rule is Rule.UNSEEN
    # The second exchange is signed none.
    second = desk()
    second.state = replace(second.state, markets={})
    assert (await signed(second, order(token=YES)))["tokenId"] == YES


@pytest.mark.parametrize(
    ("side", "action", "price"),
    [
        (Side.YES, Action.BUY, 0.42),
        (Side.YES, Action.SELL, 0.38),
        (Side.NO, Action.BUY, 0.62),
        (Side.NO, Action.SELL, 0.58),
    ],
)
async def test_without_a_price_the_other_side_of_the_book_is_taken(
    side: Side, action: Action, price: float
) -> None:
    on = desk()
    sized = SALE if action is Action.SELL else {"amount": Micros(31 * ONE)}
    wish = order(**{**sized, "side": side, "price": None})
    made = await as_signed(on.ports, wish, request(wish))
    assert made.price == pytest.approx(price)
    empty = desk(best_bid=None, best_ask=None)
    with pytest.raises(PolicyRefusedError, match="no price on the book") as refused:
        await as_signed(empty.ports, wish, request(wish))
    assert refused.value.rule is Rule.PRICE


@pytest.mark.parametrize(
    ("action", "market", "words"),
    [
        (Action.BUY, {"best_ask": 0.71}, "book price 0.710 is above the bound of 0.700"),
        (Action.SELL, {"best_bid": 0.19}, "book price 0.190 is below the bound of 0.200"),
    ],
)
async def test_a_book_that_is_far_from_what_was_shown_is_not_believed(
    action: Action, market: dict[str, float], words: str
) -> None:
    wish = order(**{**(SALE if action is Action.SELL else {}), "price": None})
    with pytest.raises(PolicyRefusedError, match=words):
        await as_signed(desk(**market).ports, wish, request(wish))
    near = {name: 0.7 if name == "best_ask" else 0.2 for name in market}
    assert (await as_signed(desk(**near).ports, wish, request(wish))).price in {0.7, 0.2}


async def test_a_limit_is_signed_as_it_was_confirmed_or_not_at_all() -> None:
    on = desk()
    with pytest.raises(PolicyRefusedError, match="limit order without a price"):
        await signed(on, order(rests=True, price=None))
    with pytest.raises(PolicyRefusedError, match=r"price off the tick, now 0\.01") as refused:
        await signed(on, order(rests=True, price=0.423))
    assert refused.value.rule is Rule.TICK
    # A sale at the market takes no less than it was confirmed for.
    sale = await as_signed(on.ports, wish := order(**{**SALE, "price": 0.371}), request(wish))
    assert sale.price == 0.38


async def test_a_token_that_was_shown_is_the_only_one_that_is_signed() -> None:
    yes = str(outcome_token(CONDITION, is_yes=True, is_neg_risk=False))
    no = str(outcome_token(CONDITION, is_yes=False, is_neg_risk=False))
    named = desk(polymarket_token_id=yes, polymarket_no_token_id=no)
    assert (await signed(named, order(token=yes)))["tokenId"] == yes
    assert (await signed(named, order(side=Side.NO, token=no, price=0.6)))["tokenId"] == no
    with pytest.raises(PolicyRefusedError, match="token changed since it was shown"):
        await signed(named, order(token=no))
    swapped = desk(polymarket_token_id=no, polymarket_no_token_id=yes)
    for side in Side:
        with pytest.raises(PolicyRefusedError, match="token does not match the condition"):
            await signed(swapped, order(side=side))
    # What was confirmed counts, also where the list has followed the service since.
    market = replace(named.state.markets["m-00001"], condition_id="0x" + CONDITION.hex())
    named.state = replace(named.state, markets={"m-00001": market})
    with pytest.raises(PolicyRefusedError, match="token changed since it was shown"):
        await signed(named, order(token=str(int(yes) + 1)))
    market = replace(named.state.markets["m-00001"], condition_id="0x" + "ab" * 32)
    fresh = desk(polymarket_token_id=yes, polymarket_no_token_id=no)
    fresh.state = replace(fresh.state, markets={"m-00001": market})
    with pytest.raises(PolicyRefusedError, match="token changed since it was shown"):
        await signed(fresh, order())
    # And what was kept at a buy counts before what is listed later.
    named.state = fresh.state
    assert (await signed(named, order(**SALE)))["tokenId"] == yes


@pytest.mark.parametrize("action", Action)
async def test_nothing_is_signed_for_what_was_never_shown(action: Action) -> None:
    wish = order(**{**(SALE if action is Action.SELL else {}), "price": None})
    unlisted = desk()
    unlisted.state = replace(unlisted.state, markets={})
    with pytest.raises(PolicyRefusedError, match="token of this market never shown") as refused:
        await signed(unlisted, wish)
    assert refused.value.rule is Rule.UNSEEN
    # The token was confirmed, and no price.
    with pytest.raises(PolicyRefusedError, match="price of this market never shown") as refused:
        await signed(unlisted, replace(wish, token=YES))
    assert refused.value.rule is Rule.UNSEEN
    # A price of nothing, as a service writes what it does not know, is none.
    for nothing in (0.0, 1.0):
        odd = desk()
        market = replace(odd.state.markets["m-00001"], price=Probability(nothing))
        odd.state = replace(odd.state, markets={"m-00001": market})
        words = "price of this market never shown"
        if (action, nothing) == (Action.SELL, 1.0):
            words = r"book price 0\.380 is below the bound of 0\.500"
        with pytest.raises(PolicyRefusedError, match=words):
            await signed(odd, wish)


async def test_a_buy_keeps_its_token_before_anything_is_signed() -> None:
    on, before = desk(ExchangeVersion.V1), SIGNER.count
    await signed(on, order())
    (kept,) = on.tokens.kept.values()
    assert (kept.token, kept.fee_rate_bps, kept.wallet) == (YES, 40, SIGNER.address.lower())
    full = desk()
    full.tokens.trouble = StorageFullError("no space left")
    with pytest.raises(StorageFullError):
        await signed(full, order())
    assert SIGNER.count == before + 1
    # A sale needs no byte.
    assert (await signed(full, order(**SALE)))["tokenId"] == YES


async def test_a_clock_that_is_off_stops_a_buy_and_no_sale() -> None:
    on = desk(ahead_s=3_600.0)
    with pytest.raises(SigningError):
        await signed(on, order())
    assert on.asked == []
    assert (await signed(on, order(**SALE)))["side"] == "SELL"


async def test_nothing_is_signed_for_a_wallet_whose_key_is_not_open() -> None:
    on = desk()
    on.ports = replace(on.ports, vault=Vault())
    with pytest.raises(LockedError):
        await signed(on, order())
    on = desk()
    on.state = replace(on.state, wallet=replace(on.state.wallet, address="0x" + "11" * 20))
    with pytest.raises(LockedError):
        await signed(on, order())
    assert on.asked == []


async def test_a_market_that_cannot_be_read_stops_the_order() -> None:
    on = desk()
    on.answers[MARKET] = UnreachableError("no connection", Called("GET", "/x"))
    with pytest.raises(UnreachableError):
        await signed(on, order())


@pytest.mark.parametrize(
    ("venue", "ownership"),
    [(Venue.SOL, Ownership.EXTERNAL), (Venue.EVM, Ownership.MANAGED), (Venue.EVM, None)],
)
async def test_an_order_that_others_sign_carries_its_bound(
    venue: Venue, ownership: Ownership | None
) -> None:
    on = desk()
    on.state = replace(on.state, wallet=replace(on.state.wallet, ownership=ownership))
    coarse = replace(on.state.markets["m-00001"], price=Probability(0.435), tick=Micros(25_000))
    on.state = replace(on.state, markets={"m-00001": coarse})
    buy = order(venue=venue, price=None)
    # Halfway to 1 is 0.7175, and halfway to nothing 0.2175.
    assert (await as_signed(on.ports, buy, request(buy))).price == 0.7
    sale = order(**{**SALE, "venue": venue, "price": None})
    assert (await as_signed(on.ports, sale, request(sale))).price == 0.225
    named = order(venue=venue, price=0.31)
    assert (await as_signed(on.ports, named, request(named))) == request(named)
    assert on.asked == []


async def test_play_money_has_no_bound_and_a_market_that_was_never_seen_has_none() -> None:
    on = desk()
    play = order(venue=Venue.SIM, price=None)
    assert await as_signed(on.ports, play, request(play)) == request(play)
    unseen = order(venue=Venue.SOL, price=None, market_id="m-99999")
    assert await as_signed(on.ports, unseen, request(unseen)) == request(unseen)


@pytest.mark.parametrize("venue", Venue)
@pytest.mark.parametrize("ownership", [*Ownership, None])
@pytest.mark.parametrize("key", ["own", "other", "none"])
def test_an_exit_is_tried_where_it_needs_no_signature_or_gets_one(
    venue: Venue, ownership: Ownership | None, key: str
) -> None:
    on = desk()
    address = "0x" + "11" * 20 if key == "other" else SIGNER.address.lower()
    wallet = replace(on.state.wallet, ownership=ownership, address=address)
    on.state = replace(on.state, wallet=wallet)
    ports = replace(on.ports, vault=Vault() if key == "none" else Vault(signer=SIGNER))
    if venue is not Venue.EVM:
        may = True
    elif ownership is Ownership.EXTERNAL:
        may = key == "own"
    else:
        may = ownership is not None
    assert may_sign(ports, venue) is may

"""A typed limit price: exact, on a tick, and an order that the venue is large enough for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.limit_draft import open_order
from kit.console.real_ticket import BOTH, MARKET, REAL, state_on
from kit.samples.desk import NOW
from service_tui.console.fields import FieldError
from service_tui.console.forms.limit_draft import (
    limit_price_text,
    read_limit,
    ticks_around,
)
from service_tui.console.forms.order_draft import Draft, read_expiry, read_order
from service_tui.desk.trading.preflight import why_too_small
from service_tui.signing.errors import PolicyRefusedError
from service_tui.signing.orders import TICKS, OrderAction, OrderTerms, amounts
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros

ticks = st.sampled_from(sorted(TICKS)).map(Micros)
BUY = Draft(replace(MARKET, venues=BOTH), Side.YES, Action.BUY, "10", venue=Venue.EVM, rests=True)
SALE = replace(BUY, action=Action.SELL, amount="40", limit="0.5")


@given(ticks, st.integers(1, ONE - 1))
def test_a_price_is_taken_exactly_where_it_lies_on_a_tick(tick: Micros, price: int) -> None:
    text = limit_price_text(Micros(price))
    below, above = ticks_around(Micros(price), tick)
    assert below <= price <= above < below + 2 * tick
    assert below % tick == above % tick == 0
    if price % tick == 0 and tick <= price <= ONE - tick:
        assert read_limit(text, tick) == price
        assert round(price / ONE * ONE) == price
        return
    with pytest.raises(FieldError) as no:
        read_limit(text, tick)
    # What is offered in its place is taken.
    for word in str(no.value).partition("take ")[2].split(" or "):
        if word:
            assert abs(read_limit(word, tick) - price) < tick


@pytest.mark.slow
@given(st.text(max_size=9))
def test_whatever_is_typed_is_a_price_between_0_and_1_or_refused_in_words(text: str) -> None:
    try:
        price = read_limit(text, Micros(100))
    except FieldError as no:
        words = str(no)
        assert words
    else:
        assert 0 < price < ONE
        assert price == round(float(text) * ONE)


@pytest.mark.parametrize(
    "text", ["0", "1", "1.0", "0.0", "-0.5", "1.5", "nan", "0,5", ".", "5e-1", "", "0.5.5"]
)
def test_no_other_number_is_a_limit(text: str) -> None:
    with pytest.raises(FieldError):
        read_limit(text, Micros(10_000))


@given(ticks, st.integers(1, 9_999), st.integers(1, 100_000))
def test_what_the_draft_lets_rest_the_signer_signs(tick: Micros, part: int, cents: int) -> None:
    price = Micros(max(tick, part * ONE // 10_000 // tick * tick))
    spend = Micros(cents * 10_000)
    wish = OrderTerms(token_id=1, action=OrderAction.BUY, price=price, spend=spend, tick=tick)
    if price > ONE - tick:
        return
    refused = why_too_small(Venue.EVM, Action.BUY, spend, price)
    try:
        money, shares = amounts(wish)
    except PolicyRefusedError:
        assert refused
        named = float(refused.partition("spend ")[2].split()[0].replace(",", ""))
        least = Micros(round(named * ONE))
        assert least > spend
        assert amounts(replace(wish, spend=least))[1] >= 5 * ONE
        assert why_too_small(Venue.EVM, Action.BUY, least, price) == ""
    else:
        assert not refused
        assert money <= spend
        assert shares * price // ONE == money


def test_an_order_that_rests_carries_its_limit() -> None:
    order = read_order(REAL, replace(BUY, limit="0.45"), NOW)
    assert (order.rests, order.price, order.amount) == (True, 0.45, 10 * ONE)
    assert order.describe() == "LIVE buy YES at 0.45 for 10.00 USDC.e on evm_venue"
    sale = read_order(REAL, SALE, NOW)
    assert sale.describe() == "LIVE sell all YES at 0.50 on evm_venue"
    now = read_order(REAL, replace(BUY, rests=False), NOW)
    assert (now.rests, now.price) == (False, None)


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (BUY, "Enter a limit price, tick 0.01"),
        (replace(BUY, limit="0.455"), "Use 0.45 or 0.46"),
        # The limit stands first, and is read first.
        (replace(BUY, limit="10", amount=""), "Enter a limit price between"),
        (replace(BUY, limit="0.999"), "Limit price outside 0.01 to 0.99"),
        (
            replace(BUY, limit="0.45", amount="2"),
            "Minimum order: 5 shares; at 0.45 spend 2.25 USDC.e",
        ),
        (replace(SALE, amount="4"), "Minimum order: 5 shares"),
        (replace(BUY, limit="0.45", venue=Venue.SIM), "No limit orders on sim"),
    ],
)
def test_what_cannot_rest_is_refused_in_words(draft: Draft, words: str) -> None:
    with pytest.raises(FieldError, match=words):
        read_order(REAL, draft, NOW)


def test_where_a_venue_trades_at_the_market_alone_nothing_rests() -> None:
    draft = replace(BUY, market=replace(MARKET, venues=(Venue.SOL,)), venue=Venue.SOL, limit="0.45")
    assert read_order(state_on(Venue.SOL), draft, NOW).rests
    with pytest.raises(FieldError, match="Only market orders"):
        read_order(state_on(Venue.SOL, embedded=False), draft, NOW)


@pytest.mark.slow
def test_what_stands_in_open_orders_is_neither_sold_nor_spent_again() -> None:
    selling = replace(REAL, orders=(open_order(),))
    with pytest.raises(FieldError, match="30 of your shares are in open orders"):
        read_order(selling, replace(SALE, amount="11"), NOW)
    assert read_order(selling, replace(SALE, amount="10"), NOW).shares == 10 * ONE
    buying = replace(
        REAL,
        orders=(open_order(action=Action.BUY, money=Micros(990 * ONE)),),
    )
    with pytest.raises(FieldError, match=r"Above the 10\.00 USDC\.e in the wallet, less open buys"):
        read_order(buying, replace(BUY, limit="0.45", amount="11"), NOW)


def test_the_lowest_and_the_highest_price_are_one_tick_from_the_ends() -> None:
    for tick in sorted(TICKS):
        least, most = Micros(tick), Micros(ONE - tick)
        for price in (least, most):
            assert read_limit(limit_price_text(price), least) == price
        for text in (limit_price_text(Micros(most + 1)), limit_price_text(Micros(least - 1)), "1"):
            with pytest.raises(FieldError, match="outside"):
                read_limit(text, least)


@pytest.mark.parametrize(
    ("venue", "typed", "taken"),
    [
        (Venue.EVM, "4m", True), (Venue.EVM, "3m", False), (Venue.EVM, "1m", False),
        (Venue.EVM, "1d", True), (Venue.SOL, "1m", True),
    ],
)  # fmt: skip
def test_an_expiry_is_typed_so_that_the_venue_takes_it_once_it_is_confirmed(
    venue: Venue, typed: str, *, taken: bool
) -> None:
    draft = replace(BUY, venue=venue, until=typed)
    if taken:
        expires_at = read_expiry(draft, NOW)
        assert expires_at is not None
        assert expires_at > NOW
        return
    with pytest.raises(FieldError, match="Expiry must be 4 minutes to 365 days ahead"):
        read_expiry(draft, NOW)

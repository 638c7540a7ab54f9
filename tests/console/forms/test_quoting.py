"""The worst price that an order may fill at, from its quote."""

from dataclasses import replace
from typing import Any

import pytest

from service_tui.console.forms.quoting import LATE_S, OLD_S, RENEW_S, Quoting, bounded
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.quote import QuoteView
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp


@pytest.mark.parametrize(
    ("action", "average", "price"),
    [
        (Action.BUY, 0.5, 0.51),
        (Action.BUY, 0.4883, 0.4981),
        (Action.BUY, 0.99, 0.999),
        (Action.BUY, 0.999, 0.999),
        (Action.BUY, 0.9995, None),
        (Action.SELL, 0.5, 0.49),
        (Action.SELL, 0.001, 0.001),
        (Action.SELL, 0.0004, None),
        (Action.BUY, None, None),
    ],
)
def test_the_bound_lies_beyond_the_quote_or_there_is_none(
    action: Action, average: float | None, price: float | None
) -> None:
    order = PlaceTrade("m-1", Side.YES, action, Venue.SIM)
    assert bounded(order, QuoteView(1, ok=True, average=average)).price == price


ORDER = PlaceTrade("m-1", Side.YES, Action.BUY, Venue.SIM, Micros(25 * ONE))
T0 = Timestamp(1_000.0)


def at(seconds: float) -> Timestamp:
    return Timestamp(T0 + seconds)


def asked(order: PlaceTrade = ORDER) -> tuple[Quoting, int]:
    """A ticket that asked at 0 s, and the number of its request."""
    quoting = Quoting()
    request = quoting.request(order, 0.5, T0)
    assert request.order == replace(order, reasoning="")
    return quoting, request.request_id


def answered(order: PlaceTrade = ORDER, **changes: Any) -> Quoting:
    """The same with its answer at 0.5 s."""
    quoting, number = asked(order)
    quote = replace(QuoteView(number, ok=True, average=0.5), **changes)
    quoting.receive(quote, at(0.5))
    assert quoting.newest == quote
    return quoting


SAME = [{"reasoning": "a"}, {"stop_loss_pct": 0.1}, {"take_profit_pct": 0.1}]
"""What changes no quote."""
OTHER: list[dict[str, Any]] = [
    {"amount": Micros(26 * ONE)}, {"side": Side.NO}, {"venue": Venue.EVM}, {"price": 0.5},
    {"expires_at": T0}, {"whole": True},
]  # fmt: skip


def test_a_quote_is_that_of_exactly_its_order() -> None:
    quoting = answered()
    assert quoting.quote_of(None) is None
    for changes in SAME:
        assert quoting.quote_of(replace(ORDER, **changes)) is quoting.newest
    for changes in OTHER:
        assert quoting.quote_of(replace(ORDER, **changes)) is None
    # An expiry from now moves on, and asks for no other quote.
    resting = answered(replace(ORDER, expires_at=T0))
    assert resting.quote_of(replace(ORDER, expires_at=at(9))) is resting.newest
    assert Quoting().quote_of(ORDER) is None
    assert Quoting().newest is None


def test_a_quote_is_due_for_another_order_a_moved_price_or_after_a_while() -> None:
    assert Quoting().is_due(ORDER, 0.5, T0)
    for quoting in (asked()[0], answered()):
        for changes in OTHER:
            assert quoting.is_due(replace(ORDER, **changes), 0.5, at(0.1))
        for changes in SAME:
            assert not quoting.is_due(replace(ORDER, **changes), 0.5, at(0.1))
        assert not quoting.is_due(ORDER, 0.5, at(RENEW_S - 0.1))
        assert quoting.is_due(ORDER, 0.5, at(RENEW_S))
    # An unanswered request is not overtaken by each step of the price.
    assert not asked()[0].is_due(ORDER, 0.51, at(0.1))
    assert answered().is_due(ORDER, 0.51, at(0.6))


def test_only_the_answer_to_the_newest_request_counts() -> None:
    quoting, first = asked()
    second = quoting.request(replace(ORDER, amount=Micros(ONE)), 0.5, at(1)).request_id
    assert second > first
    for quote in (None, QuoteView(first, ok=True), QuoteView(second + 1, ok=True)):
        quoting.receive(quote, at(1))
        assert quoting.newest is None
    Quoting().receive(QuoteView(first, ok=True), at(1))


def test_an_answer_that_is_brought_again_is_no_newer() -> None:
    quoting = answered()
    quoting.receive(quoting.newest, at(5.4))
    assert quoting.quote_age_text(ORDER, at(5.6))[0] == "quote 5 s old: refreshing"


def test_a_refusal_is_that_of_exactly_its_order_with_its_fix() -> None:
    quoting = answered(ok=False, problem="2,000 a market", fix="spend less")
    assert quoting.refusal(ORDER) == "2,000 a market. Spend less"
    assert quoting.refusal(replace(ORDER, amount=Micros(ONE))) == ""
    assert "the service would refuse" in answered(ok=False).refusal(ORDER)
    assert answered().refusal(ORDER) == ""
    assert Quoting().refusal(ORDER) == ""


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [(0.5, 0.62, 0.12), (0.62, 0.5, 0.12), (None, 0.5, 0.0), (0.5, None, 0.0), (0.5, 0.5, 0.0)],
)
def test_an_order_moves_the_price_as_its_quote_says(
    before: float | None, after: float | None, moved: float
) -> None:
    quoting = answered(price_before=before, price_after=after)
    assert quoting.price_move() == pytest.approx(moved)
    assert Quoting().price_move() == 0.0


def test_a_quote_is_present_until_it_is_old_late_or_of_another_order() -> None:
    assert Quoting().quote_age_text(ORDER, T0) == ("no quote yet", False)
    assert asked()[0].quote_age_text(ORDER, at(1)) == ("requesting quote", False)
    refused = answered(ok=False)
    assert refused.quote_age_text(ORDER, at(1)) == ("no quote yet", False)
    quoting = answered()
    assert quoting.quote_age_text(None, at(1)) == ("no quote: incomplete order", False)
    other = replace(ORDER, amount=Micros(ONE))
    assert quoting.quote_age_text(other, at(1)) == ("requesting quote", False)
    assert quoting.quote_age_text(ORDER, at(0.5 + OLD_S - 0.1)) == ("indicative quote", True)
    assert quoting.quote_age_text(ORDER, at(0.5 + OLD_S)) == ("quote 5 s old: refreshing", False)
    # A clock that was set back makes no quote of the future.
    assert quoting.quote_age_text(ORDER, at(-9)) == ("indicative quote", True)
    quoting.request(ORDER, 0.5, at(2))
    assert quoting.quote_age_text(ORDER, at(2 + LATE_S - 0.1)) == ("indicative quote", True)
    late = quoting.quote_age_text(ORDER, at(2 + LATE_S))
    assert late == ("quote 2 s old: refreshing", False)


def test_a_limit_order_and_a_refused_quote_get_no_bound() -> None:
    quote = QuoteView(1, ok=True, average=0.5)
    resting = replace(ORDER, rests=True, price=0.4)
    assert bounded(resting, quote) is resting
    assert bounded(ORDER, None) is ORDER
    assert bounded(ORDER, replace(quote, ok=False)) is ORDER

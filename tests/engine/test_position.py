"""Positions: cost, P&L and rounding."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from service_tui.engine.position import NotHeldError, Position, SidePosition
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.terms import Side
from service_tui.units import ONE, Micros, Probability, Timestamp

OPENED: Final = Timestamp(1_800_000_000.0)
LATER: Final = Timestamp(1_800_000_060.0)

sides = st.sampled_from(Side)
prices = st.floats(0.0001, 0.9999)
quantities = st.integers(1, 10**13)
# A fill: side, share of the holding to sell in parts per thousand (0: a buy), shares, money.
fills = st.tuples(sides, st.integers(0, 1_000), quantities, st.integers(0, 10**13))
unhurried = examples()

Fills = list[tuple[Side, int, int, int]]


def bought(shares: int, spend: int, side: Side = Side.YES) -> Position:
    position = Position("a-1", "m-1")
    position.buy(side, Micros(shares), Micros(spend), OPENED)
    return position


def traded(sequence: Fills) -> tuple[Position, int]:
    """The position after these fills, and the money that came back less the money that went."""
    position, cash = Position("a-1", "m-1"), 0
    for side, part, shares, money in sequence:
        sold = position.shares(side) * part // 1_000
        if sold:
            position.sell(side, Micros(sold), Micros(money))
            cash += money
        else:
            position.buy(side, Micros(shares), Micros(money), OPENED)
            cash -= money
    return position, cash


def is_flat(side: SidePosition) -> bool:
    return side.shares == 0 and side.cost == 0


def test_a_new_position_holds_nothing() -> None:
    position = Position("a-1", "m-1")
    assert is_flat(position.yes)
    assert is_flat(position.no)
    assert position.on(Side.YES).average_entry() is None
    assert position.mark_value(Probability(0.5)) == 0
    assert position.total_cost() == 0


def test_both_sides_are_held_at_once() -> None:
    position = bought(3 * ONE, ONE)
    position.buy(Side.NO, Micros(5 * ONE), Micros(4 * ONE), LATER)
    assert (position.shares(Side.YES), position.shares(Side.NO)) == (3 * ONE, 5 * ONE)
    assert (position.cost(Side.YES), position.cost(Side.NO)) == (ONE, 4 * ONE)
    assert (position.opened_at(Side.YES), position.opened_at(Side.NO)) == (OPENED, LATER)
    assert position.total_cost() == 5 * ONE
    assert position.mark_value(Probability(0.25)) == 4_500_000
    assert position.unrealized(Probability(0.25)) == -500_000


def test_the_average_entry_is_the_cost_of_a_share() -> None:
    position = bought(2 * ONE, ONE)
    position.buy(Side.YES, Micros(2 * ONE), Micros(2 * ONE), LATER)
    assert position.on(Side.YES).average_entry() == pytest.approx(0.75)
    position.sell(Side.YES, Micros(ONE), Micros(ONE))
    assert position.on(Side.YES).average_entry() == pytest.approx(0.75)
    assert position.on(Side.NO).average_entry() is None


@pytest.mark.parametrize(("mark", "reference"), [(0.4, 0.4), (0.6, 0.5), (0.5, 0.5), (0.0, 0.5)])
def test_a_stop_is_measured_from_the_lower_of_entry_and_mark_after_the_buy(
    mark: float, reference: float
) -> None:
    position = Position("ada", "m")
    position.buy(Side.YES, Micros(4 * ONE), Micros(2 * ONE), OPENED, mark=mark)
    assert position.yes.reference() == pytest.approx(reference)
    position.sell(Side.YES, Micros(ONE), Micros(ONE))
    assert position.yes.reference() == pytest.approx(reference, abs=1e-6)
    assert position.no.reference() is None


def test_a_small_buy_at_a_fallen_price_does_not_move_the_stop_of_the_rest() -> None:
    position = Position("ada", "m")
    position.buy(Side.YES, Micros(1_000 * ONE), Micros(800 * ONE), OPENED, mark=0.8)
    for price in (0.7, 0.6, 0.5, 0.42):
        spend = Micros(round(price * ONE))
        position.buy(Side.YES, Micros(ONE), spend, LATER, mark=price)
    # What fell between the buys is a fall: only the new shares count from where they were bought.
    assert position.yes.reference() == pytest.approx(802.22 / 1_004)
    assert position.yes.reference() == pytest.approx(position.yes.average_entry())


def test_shares_of_an_older_program_are_measured_from_their_cost() -> None:
    position = bought(2 * ONE, ONE)
    assert position.yes.reference() == 0.5
    position.buy(Side.YES, Micros(2 * ONE), Micros(ONE), LATER, mark=0.3)
    assert position.yes.reference() == pytest.approx(0.4)
    position.sell(Side.YES, Micros(4 * ONE), Micros(ONE))
    assert (position.yes.reference(), position.yes.stop_basis) == (None, 0)


def test_a_sale_takes_its_part_of_the_cost_rounded_against_the_owner() -> None:
    position = bought(3, 10)
    assert position.yes.cost_of(Micros(1)) == 4
    assert position.sell(Side.YES, Micros(1), Micros(5)) == 1
    assert (position.shares(Side.YES), position.cost(Side.YES)) == (2, 6)
    assert position.realized(Side.YES) == 1


def test_a_sale_of_everything_closes_the_position_exactly() -> None:
    position = bought(333_330, 100_001)
    assert position.sell(Side.YES, Micros(333_330), Micros(90_000)) == -10_001
    assert is_flat(position.yes)
    assert position.realized(Side.YES) == -10_001


def test_a_side_bought_again_after_a_close_opens_anew_and_keeps_its_past() -> None:
    position = bought(10, 5)
    position.sell(Side.YES, Micros(10), Micros(7))
    assert position.opened_at(Side.YES) == OPENED
    position.buy(Side.YES, Micros(1), Micros(1), LATER)
    position.buy(Side.YES, Micros(1), Micros(1), Timestamp(LATER + 60.0))
    assert position.opened_at(Side.YES) == LATER
    assert position.realized(Side.YES) == 2


@pytest.mark.parametrize("shares", [0, -1, 11])
def test_a_sale_of_what_is_not_held_is_refused_and_changes_nothing(shares: int) -> None:
    position = bought(10, 5)
    for side in Side:
        with pytest.raises(NotHeldError):
            position.sell(side, Micros(shares), Micros(1))
        with pytest.raises(NotHeldError):
            position.on(side).cost_of(Micros(shares))
    assert position == bought(10, 5)


@pytest.mark.parametrize(("shares", "spend"), [(0, 1), (-1, 1), (1, -1)])
def test_a_buy_of_nothing_is_refused(shares: int, spend: int) -> None:
    position = Position("a-1", "m-1")
    with pytest.raises(NotHeldError):
        position.buy(Side.YES, Micros(shares), Micros(spend), OPENED)
    assert position == Position("a-1", "m-1")


@pytest.mark.parametrize(
    ("outcome", "payout", "realized"),
    [
        (YES, 30, (18, -40)),
        (NO, 50, (-12, 10)),
        # 10.5 and 32.5, each rounded down.
        (Outcome.at(0.35), 42, (-2, -8)),
        (VOID, 52, (0, 0)),
    ],
)
def test_the_outcome_pays_each_side_its_part(
    outcome: Outcome, payout: int, realized: tuple[int, int]
) -> None:
    position = bought(30, 12)
    position.buy(Side.NO, Micros(50), Micros(40), OPENED)
    assert position.settle(outcome) == payout
    assert is_flat(position.yes)
    assert is_flat(position.no)
    assert (position.realized(Side.YES), position.realized(Side.NO)) == realized
    assert position.settle(outcome) == 0


def test_the_mark_is_rounded_against_the_owner() -> None:
    position = bought(3, 1)
    position.buy(Side.NO, Micros(3), Micros(1), OPENED)
    assert position.mark_value(Probability(0.5)) == 2


@pytest.mark.slow
@unhurried
@given(st.lists(fills), prices)
def test_pnl_is_money_out_less_money_in_plus_the_mark(sequence: Fills, price: float) -> None:
    position, cash = traded(sequence)
    realized = position.realized(Side.YES) + position.realized(Side.NO)
    mark = position.mark_value(Probability(price))
    assert realized + position.unrealized(Probability(price)) == cash + mark
    assert realized - position.total_cost() == cash


outcomes = st.one_of(st.just(VOID), st.floats(0.0, 1.0).map(Outcome.at))


@pytest.mark.slow
@unhurried
@given(sequence=st.lists(fills), outcome=outcomes)
def test_after_the_outcome_pnl_is_money_out_less_money_in(
    sequence: Fills, outcome: Outcome
) -> None:
    position, cash = traded(sequence)
    payout = position.settle(outcome)
    assert position.realized(Side.YES) + position.realized(Side.NO) == cash + payout


@pytest.mark.slow
@unhurried
@given(st.lists(fills))
def test_costs_stay_at_or_above_zero_and_vanish_with_the_shares(sequence: Fills) -> None:
    position, cash = traded(sequence)
    for side in Side:
        assert position.cost(side) >= 0
        if position.shares(side):
            position.sell(side, position.shares(side), Micros(0))
        assert is_flat(position.on(side))
    assert position.realized(Side.YES) + position.realized(Side.NO) == cash


@unhurried
@given(quantities, quantities, st.integers(1, 1_000))
def test_the_rest_of_a_sale_never_costs_more_a_share(shares: int, spend: int, part: int) -> None:
    position = bought(shares, spend)
    sold = Micros(max(1, shares * part // 1_000))
    position.sell(Side.YES, sold, Micros(0))
    assert position.cost(Side.YES) * shares <= spend * position.shares(Side.YES)
    assert (position.cost(Side.YES) + 1) * shares > spend * position.shares(Side.YES)


@unhurried
@given(quantities, prices)
def test_a_mark_is_the_exact_value_but_for_the_grain_of_a_double(shares: int, price: float) -> None:
    numerator, denominator = price.as_integer_ratio()
    value = bought(shares, 1).mark_value(Probability(price))
    assert abs(value - shares * numerator // denominator) <= 1

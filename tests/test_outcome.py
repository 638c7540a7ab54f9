"""What an end pays: exact, rounded down, and never taken for true or false."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.terms import Side
from service_tui.units import ONE, Micros

PART = Outcome.at(0.35)


@pytest.mark.parametrize(
    ("outcome", "yes", "no", "word", "stored"),
    [
        (YES, 7, 0, "YES", True),
        (NO, 0, 7, "NO", False),
        # 2.45 and 4.55.
        (PART, 2, 4, "0.35", 350_000),
        (VOID, 3, 3, "void", "void"),
    ],
)
def test_an_end_pays_each_side_its_part_of_seven_that_cost_three(
    *, outcome: Outcome, yes: int, no: int, word: str, stored: object
) -> None:
    paid = [outcome.paid(side, Micros(7), Micros(3)) for side in Side]
    assert paid == [yes, no]
    assert [outcome.pays(side) for side in Side] == [bool(yes), bool(no)]
    assert outcome.word == word
    assert (outcome.stored, type(outcome.stored)) == (stored, type(stored))
    assert Outcome.of(stored) == outcome


@given(st.floats(0.0, 1.0), st.integers(0, 10**15))
def test_both_sides_together_never_pay_more_than_one(part: float, shares: int) -> None:
    outcome = Outcome.at(part)
    assert Outcome.of(outcome.stored) == outcome
    both = sum(outcome.paid(side, Micros(shares), Micros(0)) for side in Side)
    assert shares - 1 <= both <= shares


def test_the_ends_of_the_scale_are_yes_and_no() -> None:
    assert (Outcome.at(1.0), Outcome.at(0.0), Outcome.at(1e-9)) == (YES, NO, NO)
    assert [one.winner for one in (YES, NO, PART, VOID)] == [Side.YES, Side.NO, None, None]
    assert [one.part for one in (YES, NO, PART, VOID)] == [1.0, 0.0, 0.35, None]
    assert PART.price(Side.NO) == 0.65
    assert VOID.price(Side.NO, Micros(8), Micros(2)) == 0.25
    assert VOID.price(Side.NO) == 0.0


@pytest.mark.parametrize("part", [-0.1, 1.1, float("nan"), float("inf")])
def test_no_other_part_is_one(part: float) -> None:
    with pytest.raises(ValueError, match="no part of 1"):
        Outcome.at(part)


@pytest.mark.parametrize("stored", [0, -1, int(ONE), 0.5, "yes", None, []])
def test_what_is_no_end_on_disk_is_refused(stored: object) -> None:
    with pytest.raises(ValueError, match="is no outcome"):
        Outcome.of(stored)


@pytest.mark.parametrize("outcome", [YES, NO, PART, VOID])
def test_an_end_is_neither_true_nor_false(outcome: Outcome) -> None:
    with pytest.raises(TypeError, match="ask what it pays"):
        bool(outcome)

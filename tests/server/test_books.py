"""Whether the books of a data directory add up, from snapshots and rows made here."""

from service_tui.server.books import _difference
from service_tui.units import Micros


def test_books_that_agree_have_no_difference() -> None:
    assert _difference({"a": Micros(5)}, {"a": Micros(5)}) == ""
    assert _difference({}, {}) == ""


def test_the_first_account_that_differs_is_named_with_both_figures() -> None:
    made = {"a": Micros(1), "b": Micros(2), "c": Micros(3)}
    kept = {"a": Micros(1), "b": Micros(7), "c": Micros(9)}
    assert _difference(made, kept) == "b has 7 micros, its rows come to 2"


def test_an_account_that_is_missing_on_either_side_has_nothing() -> None:
    assert _difference({"a": Micros(4)}, {}) == "a has 0 micros, its rows come to 4"
    assert _difference({}, {"a": Micros(4)}) == "a has 4 micros, its rows come to 0"

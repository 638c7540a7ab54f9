"""The prices by which monitors go: the middle of a book, and what each side is sold at."""

from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.exit_values import book_prices, mark_of, prices_of
from service_tui.engine.risk.monitors import prices_at
from service_tui.terms import Venue
from service_tui.units import ONE

TIMES = (AT, AT)


def world_with(bid: float | None, ask: float | None) -> Any:
    """A world whose one book has these best prices of YES, and 0.5 in its middle."""

    def level(price: float | None) -> Any:
        return None if price is None else SimpleNamespace(price=round(price * ONE))

    tops = (level(bid), level(ask))

    def mid_of(*given: Any) -> float:
        assert given == (*tops, TIMES)
        return 0.5

    book = SimpleNamespace(tops=lambda _: tops, mid_of=mid_of, mid=lambda _: 0.45)
    return SimpleNamespace(venues=SimpleNamespace(book=lambda _: book))


@pytest.mark.parametrize(
    ("bid", "ask", "yes", "no"),
    [(0.4, 0.7, 0.4, 0.3), (None, 0.7, 0.0, 0.3), (0.4, None, 0.4, 0.0), (None, None, 0.0, 0.0)],
)
def test_yes_is_sold_at_the_bid_and_no_at_what_the_ask_leaves(
    bid: float | None, ask: float | None, yes: float, no: float
) -> None:
    prices = book_prices(world_with(bid, ask), "m1", TIMES)
    assert prices[0] == 0.5
    assert tuple(prices)[1:] == (yes, pytest.approx(no))


def test_where_nothing_can_be_sold_any_more_there_is_no_price() -> None:
    world = bare_world()
    market = listed(world)
    assert prices_of(world, Venue.SIM, "m1", TIMES) == prices_at(market.price())
    assert prices_of(world, Venue.SIM, "m1", (AT, AT + HOUR)) is None
    assert prices_of(world, Venue.SIM, "gone", TIMES) is None


def test_the_mark_is_the_price_on_sim_and_the_middle_of_a_book() -> None:
    world = bare_world()
    market = listed(world)
    assert mark_of(world, Venue.SIM, "m1", TIMES) == market.price()
    for venue in (Venue.EVM, Venue.SOL):
        assert mark_of(world_with(0.4, 0.5), venue, "m1", TIMES) == 0.45

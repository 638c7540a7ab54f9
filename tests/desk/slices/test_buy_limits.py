"""A limit of buys: which figure binds, whose it is, and what is left of it."""

from typing import Any

import pytest

from service_tui.desk.slices.buy_limits import BuyLimit, BuyLimitView


@pytest.mark.parametrize(
    ("figures", "found"),
    [
        ((None, None, 5), (None, "", None, None)),
        ((8, None, None), (8, "service", None, None)),
        ((8, None, 2), (8, "service", 6, 0.25)),
        ((8, 4, 2), (4, "desk", 2, 0.5)),
        ((4, 4, 2), (4, "desk", 2, 0.5)),
        ((4, 8, 6), (4, "service", 0, 1.5)),
        ((None, 4, 0), (4, "desk", 4, 0.0)),
        ((8, 0, 0), (0, "desk", 0, 1.0)),
        ((0, 8, 3), (0, "service", 0, 1.0)),
    ],
)
def test_the_smaller_figure_binds_and_one_of_nothing_is_the_smallest(
    figures: tuple[Any, Any, Any], found: tuple[object, ...]
) -> None:
    view = BuyLimitView(BuyLimit.DAY_SPEND, *figures)
    assert (view.limit, view.source, view.left, view.part) == found

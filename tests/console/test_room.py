"""More room shows no less: of a question in the list, and of the price in the pane."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.console.screens.market_columns import market_columns
from service_tui.console.screens.market_filter import Around
from service_tui.console.screens.market_text import headline
from service_tui.console.widgets.columns import placed
from service_tui.units import Probability

COLUMNS = market_columns(lambda: Around(NOW, frozenset(), frozenset()))
PANE, PANE_MOST = 47, 100
"""Cells of the pane beside the list: from 120 on, and at most. Source: markets.tcss."""


def letters(width: int) -> int:
    """Letters of a question in the list of a terminal so wide."""
    list_width = width
    if width >= 160:
        list_width = width - min(width // 2, PANE_MOST)
    elif width >= 120:
        list_width = width - PANE
    return next(one.width for one in placed(COLUMNS, list_width) if one.column.id == "question")


def test_a_wider_terminal_shows_no_less_of_a_question() -> None:
    found = [letters(width) for width in (120, 160, 200, 250, 320)]
    assert found == sorted(found)
    assert found[0] >= 28
    # At 250 the longest of the sample's questions stands whole.
    longest = max(len(one.question) for one in sample_state().markets.values())
    assert letters(250) >= longest


@pytest.mark.parametrize("price", [0.0301, 0.9965, 0.5, 0.4321])
@pytest.mark.parametrize("width", [28, 38, 43, 60])
def test_the_large_price_is_never_broken(price: float, width: int) -> None:
    market = replace(
        next(iter(sample_state().markets.values())), price=Probability(price), price_24h_ago=0.5
    )
    _, *lines = headline(market, NOW, width).plain.split("\n")
    assert max(len(line) for line in lines) <= width
    assert sum("━" in line or "┃" in line or "╹" in line for line in lines) in {2, 3}

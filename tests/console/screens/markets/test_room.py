"""More room shows no less: of a question in the list, and of the price in the pane."""

from dataclasses import replace

import pytest

from kit.console.doors import running
from kit.samples.desk import NOW, sample_state
from service_tui.console.screens.markets.detail import headline
from service_tui.console.screens.markets.table import MARKETS as TABLE
from service_tui.console.screens.markets.table import room_of
from service_tui.console.widgets.columns import placed
from service_tui.units import Probability

COLUMNS = TABLE.columns
SCROLLBAR = 1


def shown(width: int) -> dict[str, int]:
    """Cells of each column of the list in a terminal so wide."""
    room = room_of(width)
    table = width - room.pane
    places = placed(
        COLUMNS,
        table - SCROLLBAR,
        outer=table,
        text=room.question,
        text_max=room.question,
    )
    return {one.column.id: one.width for one in places}


def test_a_wider_terminal_shows_no_less_of_a_question() -> None:
    found = [shown(width)["question"] for width in range(80, 321)]
    assert found == sorted(found)
    assert (found[0], found[120 - 80], found[160 - 80]) == (46, 46, 70)
    # At 250 the longest of the sample's questions stands whole.
    longest = max(len(one.question) for one in sample_state().markets.values())
    assert shown(250)["question"] >= longest


@pytest.mark.parametrize("width", range(80, 321))
def test_price_change_volume_and_end_stand_beside_a_question_at_any_width(width: int) -> None:
    places = shown(width)
    assert {"price", "change", "volume", "left"} <= places.keys()
    assert places["question"] == room_of(width).question


def test_columns_leave_before_the_question_shrinks_the_sparkline_first() -> None:
    found = [tuple(shown(width)) for width in (80, 97, 99, 119, 160)]
    least = ("sign", "question", "price", "change", "volume", "left")
    assert found[0] == found[4] == least
    assert found[1] == (*least, "category")
    assert found[2] == (*least, "venue", "category")
    assert set(found[3]) == {*least, "venue", "category", "spark"}


def test_the_pane_is_as_wide_as_was_planned() -> None:
    assert [room_of(width).pane for width in (80, 119)] == [0, 0]
    assert all(40 <= room_of(width).pane < 57 for width in range(120, 140))
    assert all(56 <= room_of(width).pane <= 60 for width in range(140, 200))
    assert all(2 * 43 < room_of(width).pane <= 100 for width in range(200, 321))


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 119, 120, 140, 160, 200, 250])
async def test_the_screen_divides_its_width_like_this(width: int) -> None:
    async with running(first="markets", size=(width, 30)) as seen:
        pane, table = seen.app.front.pane, seen.app.front.table
        room = room_of(width)
        assert (pane.outer_size.width if pane.display else 0) == room.pane
        places = {one.column.id: one.width for one in table._lines.placed}
        assert places == shown(width)


@pytest.mark.parametrize("price", [0.0301, 0.9965, 0.5, 0.4321])
@pytest.mark.parametrize("width", [28, 38, 43, 57, 60])
def test_the_large_price_is_never_broken(price: float, width: int) -> None:
    market = replace(
        next(iter(sample_state().markets.values())), price=Probability(price), price_24h_ago=0.5
    )
    _, *lines = headline(market, NOW, width).plain.split("\n")
    assert max(len(line) for line in lines) <= width
    assert sum("━" in line or "┃" in line or "╹" in line for line in lines) in {2, 3}

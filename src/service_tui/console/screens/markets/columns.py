"""The columns of the markets' table."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple

from rich.text import Text

from service_tui.console import formats
from service_tui.console.parts.market_filter import Around
from service_tui.console.parts.market_text import ends_in
from service_tui.console.parts.standard_columns import (
    figure_column,
    market_column,
    price_column,
    venue_mark,
)
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.spark import sparkline
from service_tui.desk.slices.records import MarketView
from service_tui.terms import Venue

STAR: Final = "★"
HELD: Final = "●"

_SPARK_CELLS: Final = 8
_SPARK_SPAN: Final = 0.04
"""A sparkline's height is at least four points: smaller moves are noise."""


class Room(NamedTuple):
    """How a terminal's width is shared out: cells of the pane beside the list, of a question."""

    pane: int
    question: int


_ROOMS: Final = {
    0: Room(0, 34),
    119: Room(0, 34),
    120: Room(40, 34),
    140: Room(56, 38),
    160: Room(60, 54),
    199: Room(60, 65),
    200: Room(89, 65),
    220: Room(100, 74),
    250: Room(100, 83),
}
"""By the width of the terminal, whole between two of them: a question never gets fewer letters in a
wider one, though a pane takes room from 120 on and a second column of it from 200 on. So it takes
no more in a narrow one than beside the pane, and other columns have the rest. Source: ux, "Looks".
"""


def room_of(width: int) -> Room:
    """What pane and question get in a terminal so wide."""
    widths = tuple(_ROOMS)
    place = bisect_right(widths, max(0, width)) - 1
    below = _ROOMS[widths[place]]
    if place + 1 == len(widths):
        return Room(below.pane, below.question + width - widths[place])
    above = _ROOMS[widths[place + 1]]
    part = (width - widths[place]) / (widths[place + 1] - widths[place])
    pane = round(below.pane + part * (above.pane - below.pane))
    return Room(pane, int(below.question + part * (above.question - below.question)))


def market_columns(around: Callable[[], Around]) -> tuple[Column[MarketView], ...]:
    """The columns, from left to right; `around` says what is starred, held, and the time."""

    def marks(market: MarketView) -> Text:
        there = around()
        return Text.assemble(
            (STAR if market.market_id in there.stars else " ", "accent"),
            (HELD if market.market_id in there.held else " ", "foreground"),
        )

    return (
        Column("marks", "", 2, marks),
        market_column("question", "question", 24),
        price_column("price", "YES", 6, lambda market: market.price),
        figure_column("change", "24h pt", 6, lambda market: market.change, formats.points, tier=66),
        Column("spark", "24 h", _SPARK_CELLS, _spark, tier=74, glows=False),
        Column(
            "volume",
            "vol $",
            6,
            lambda market: formats.money_short(market.volume),
            sort_key=lambda market: market.volume,
            numeric=True,
            glows=False,
        ),
        Column(
            "left",
            "ends in",
            7,
            lambda market: ends_in(market, around().now),
            sort_key=lambda market: market.resolves_at,
            align="right",
            glows=False,
        ),
        Column("venue", "on", 3, _on, sort_key=_venues, tier=70, glows=False),
        Column(
            "category",
            "category",
            9,
            lambda market: formats.plain(market.category, 9),
            sort_key=lambda market: market.category,
            tier=96,
        ),
    )


def _on(market: MarketView) -> Text:
    """The real venue on which it trades beside sim, in three letters."""
    real = [venue_mark(venue) for venue in market.venues if venue is not Venue.SIM]
    if real:
        return Text("+".join(real), "accent")
    return Text(Venue.SIM.value if market.venues else formats.NOT_KNOWN, "muted")


def _venues(market: MarketView) -> str | None:
    return ", ".join(market.venues) or None


def _spark(market: MarketView) -> Text:
    change = market.change
    ink = "flat" if not change else "profit" if change > 0 else "loss"
    return Text(sparkline(market.sparkline, _SPARK_CELLS, span_min=_SPARK_SPAN), ink)

"""The columns of the markets' table.

Knows the desk's records and the formats. Must not know a widget but the table's columns.
Used by the markets screen.
"""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.screens.market_filter import Around
from service_tui.console.screens.market_text import ends_in
from service_tui.console.screens.standard_columns import (
    figure_column,
    market_column,
    price_column,
    venue_mark,
)
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.spark import sparkline
from service_tui.desk.records import MarketView
from service_tui.terms import Venue

STAR: Final = "★"
HELD: Final = "●"

_SPARK_CELLS: Final = 8
_SPARK_SPAN: Final = 0.04
"""A sparkline's height is at least four points: smaller moves are noise."""


_QUESTION: Final = 0.35
"""Part of the table that the question takes before there is a line of the day, or a category."""


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
        market_column("question", "question", 24, share=_QUESTION),
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

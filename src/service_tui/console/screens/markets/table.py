"""The table of the markets, and the division of its width."""

from bisect import bisect_right
from typing import Final, NamedTuple

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_answered
from service_tui.console.screens.markets.detail import ends_in
from service_tui.console.screens.markets.filter import (
    COMPARED,
    MarketFilter,
    search_text,
    why_empty,
)
from service_tui.console.table_spec import (
    TableSpec,
    ending_market_column,
    figure_column,
    price_column,
    venue_mark,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.spark import sparkline
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Venue

STAR: Final = "★"
POSITION_MARK: Final = "●"
BOTH: Final = "◆"

_SPARK_CELLS: Final = 8


class Room(NamedTuple):
    """The division of a terminal's width: cells of the pane beside the list, of a question."""

    pane: int
    question: int


_ROOMS: Final = {
    0: Room(0, 46),
    119: Room(0, 46),
    120: Room(40, 46),
    140: Room(56, 50),
    160: Room(56, 70),
    199: Room(60, 77),
    200: Room(88, 77),
    220: Room(100, 84),
    250: Room(100, 90),
}
"""By the width of the terminal, in full between two of them: a question never gets fewer letters
in a wider one, though a pane takes room from 120 on and a second column of it from 200 on. So it
takes no more in a narrow one than beside the pane; others have the rest. Source: ux, "Looks".
"""


def room_of(width: int) -> Room:
    """Widths of pane and question in a terminal of a width."""
    widths = tuple(_ROOMS)
    place = bisect_right(widths, max(0, width)) - 1
    below = _ROOMS[widths[place]]
    if place + 1 == len(widths):
        return Room(below.pane, below.question + width - widths[place])
    above = _ROOMS[widths[place + 1]]
    part = (width - widths[place]) / (widths[place + 1] - widths[place])
    pane = round(below.pane + part * (above.pane - below.pane))
    return Room(pane, int(below.question + part * (above.question - below.question)))


def _sign(market: MarketView, view: ViewContext) -> Text:
    """One sign for a star, a position, or both."""
    has_star = market.market_id in view.state.stars
    has_position = any(position.market_id == market.market_id for position in view.state.positions)
    if has_position:
        return Text(BOTH if has_star else POSITION_MARK, "accent" if has_star else "foreground")
    return Text(STAR if has_star else " ", "accent")


def on_venue(market: MarketView) -> str:
    """The real venue on which it trades beside sim, in three letters."""
    real = [venue_mark(venue) for venue in market.venues if venue is not Venue.SIM]
    return "+".join(real) or (Venue.SIM.value if market.venues else formats.NOT_KNOWN)


def _on(market: MarketView) -> Text:
    is_real = any(venue is not Venue.SIM for venue in market.venues)
    return Text(on_venue(market), "accent" if is_real else "muted")


def _venues(market: MarketView) -> str | None:
    return ", ".join(market.venues) or None


def _spark(market: MarketView) -> Text:
    change = market.change
    ink = "flat" if not change else "profit" if change > 0 else "loss"
    return Text(sparkline(market.sparkline, _SPARK_CELLS), ink)


MARKETS: Final = TableSpec[MarketView](
    "markets",
    rows=lambda state: tuple(state.markets.values()),
    key=lambda market: market.market_id,
    columns=(
        Column("sign", "", 1, _sign, in_gutter=True),
        ending_market_column("question", "market", 24),
        price_column("price", "YES", 6, lambda market: market.price),
        figure_column("change", "24h pt", 6, lambda market: market.change, formats.points, tier=66),
        Column(
            "spark",
            "24 h",
            _SPARK_CELLS,
            lambda row, _: _spark(row),
            tier=98,
            glows=False,
            of_row=True,
        ),
        Column(
            "volume",
            "24h $",
            5,
            lambda market, _: formats.money_short(market.volume),
            sort_key=lambda market, _: market.volume,
            numeric=True,
            glows=False,
            of_row=True,
        ),
        Column(
            "left",
            "ends",
            6,
            lambda market, view: ends_in(market, view.world_now),
            sort_key=lambda market, _: market.resolves_at,
            align="right",
            glows=False,
        ),
        Column(
            "venue",
            "venue",
            5,
            lambda row, _: _on(row),
            sort_key=lambda row, _: _venues(row),
            tier=97,
            glows=False,
            of_row=True,
        ),
        Column(
            "category",
            "category",
            9,
            lambda market, _: formats.plain(market.category, 9),
            sort_key=lambda market, _: market.category,
            tier=96,
            of_row=True,
        ),
    ),
    search_text=lambda market, _: search_text(market),
    empty_text=lambda state: why_empty(state, MarketFilter()),
    is_loaded=lambda state: is_answered(state, Topic.MARKETS),
    sort="volume",
    falling=True,
    compared={
        name: lambda market, view, number=number: number(market, view.world_now)
        for name, number in COMPARED.items()
    },
)

"""The order book of a market as text: a ladder of prices with their depth, and one line of it."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from rich.text import Text

from service_tui.console import formats
from service_tui.desk.slices.markets import BookLevelView, DetailView, MarketView
from service_tui.desk.slices.orders import limit_text
from service_tui.terms import Side, Venue
from service_tui.units import Micros

LEVELS: Final = 5
"""Prices of each side in the ladder."""

_PRICE: Final = 6
_SHARES: Final = 9
_BAR_MAX: Final = 16
"""Cells of a price and of shares, and of the longest bar of depth."""


class BookPlace(NamedTuple):
    """A price of YES in the ladder, and the side of the book on which it stands."""

    name: str
    price: float


def places(detail: DetailView | None) -> tuple[BookPlace, ...]:
    """The prices of the ladder from top to bottom; none without a book."""
    if detail is None:
        return ()
    asks = [BookPlace("ask", level.price) for level in reversed(detail.asks[:LEVELS])]
    return (*asks, *(BookPlace("bid", level.price) for level in detail.bids[:LEVELS]))


def next_place(detail: DetailView | None, place: BookPlace | None, by: int) -> BookPlace | None:
    """The price so many lines below another one, of those shown.

    Args:
        detail: the market in focus.
        place: the price from which to go; None, or one that is gone: from between ask and bid.
        by: lines, below 0 upwards.

    Returns:
        The first or last one at the ends; None without a book.
    """
    shown = places(detail)
    if not shown:
        return None
    if place in shown:
        index = shown.index(place) + by
    else:
        middle = sum(one.name == "ask" for one in shown)
        index = middle + by - (by > 0)
    return shown[min(max(index, 0), len(shown) - 1)]


def quote_line(market: MarketView, side: Side) -> Text:
    """Best bid, best ask and spread of a side on its venue; empty without a book."""
    bid, ask = market.quotes_of(side)
    if bid is None and ask is None:
        return Text()
    parts = [
        Text.assemble(("bid ", "muted"), _price(bid)),
        Text.assemble(("ask ", "muted"), _price(ask)),
    ]
    if bid is not None and ask is not None:
        parts.append(Text.assemble(("spread ", "muted"), limit_text(max(0.0, ask - bid))))
    return Text("  ").join(parts)


def ladder(
    market: MarketView, detail: DetailView | None, width: int, place: BookPlace | None = None
) -> Text:
    """Asks above bids, each with its shares, the sum up to it, and a bar of its depth.

    Args:
        market: the market, whose best prices stand in while the depth is not read.
        detail: the market in focus; None before it is read.
        width: cells of a line.
        place: the price that is highlighted.

    Returns:
        Lines of YES prices; empty for a market without a book.
    """
    if not any(venue is not Venue.SIM for venue in market.venues):
        return Text()
    head = quote_line(market, Side.YES)
    bids, asks = ((), ()) if detail is None else (detail.bids, detail.asks)
    if not bids and not asks:
        return head if head.plain else Text("no orders on the book", "muted")
    most = max(level.shares for level in (*bids[:LEVELS], *asks[:LEVELS]))
    lines = [head] if head.plain else list[Text]()
    titles = f"{'':4}{'price':>{_PRICE}}{'shares':>{_SHARES}}{'total':>{_SHARES + 1}}"
    lines.append(Text(titles, "muted"))
    # As many decimals in each line as the finest price has: points stand below each other.
    decimals = max(
        len(limit_text(level.price).partition(".")[2]) for level in (*bids[:LEVELS], *asks[:LEVELS])
    )
    lines += reversed(list(_lines("ask", asks, most, (width, decimals), place)))
    lines += _lines("bid", bids, most, (width, decimals), place)
    return Text("\n").join(lines)


def _lines(  # noqa: PLR0917 - what a line is made of
    name: str,
    levels: Iterable[BookLevelView],
    most: Micros,
    room_and_digits: tuple[int, int],
    place: BookPlace | None,
) -> list[Text]:
    """One side, the best price first."""
    width, decimals = room_and_digits
    ink = "loss" if name == "ask" else "profit"
    room = min(_BAR_MAX, width - 4 - _PRICE - 2 * _SHARES - 3)
    total, lines = Micros(0), list[Text]()
    for level in tuple(levels)[:LEVELS]:
        total = Micros(total + level.shares)
        cells = round(room * level.shares / most) if room > 0 and most else 0
        lines.append(
            Text.assemble(
                (f"{name}▸", "bold accent")
                if place == BookPlace(name, level.price)
                else (f"{name:<4}", "muted"),
                (f"{level.price:>{_PRICE}.{decimals}f}", ink),
                f"{formats.money_short(level.shares).plain:>{_SHARES}}",
                (f"{formats.money_short(total).plain:>{_SHARES + 1}}", "muted"),
                ("  " + "▪" * max(1, cells) if room > 0 else "", ink),
            )
        )
    return lines


def _price(price: float | None) -> Text:
    return Text(formats.NOT_KNOWN if price is None else limit_text(price))

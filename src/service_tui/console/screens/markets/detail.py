"""Texts on one market: its figures, news, trades, rules and the own position."""

from datetime import UTC
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.book import BookPlace, ladder
from service_tui.console.figures import Figure, figures, large, section
from service_tui.console.freshness import if_none, is_private
from service_tui.console.keys import cap
from service_tui.console.screens.markets.filter import seconds_left
from service_tui.desk.slices.markets import DetailView, MarketView, NewsView, TapeTradeView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import Timestamp

QUESTION_MAX: Final = 300
NEWS_MAX: Final = 8
TRADES_MAX: Final = 12
"""Lines of each part in a pane; the newest come first."""

TWO_ACROSS: Final = 52
"""Cells from which figures of a position stand two a line."""

_DAY_S: Final = 86_400

LOADING: Final = "loading …"
_NOT_LOADED: Final = Text("unknown", "muted")


def headline(market: MarketView, now: Timestamp, width: int = 0) -> Text:
    """The question in full, the price large, and beside it the change and the time left.

    Returns:
        Lines of at most `width` cells except the question; 0: there is room for all.
    """
    price = formats.price(market.price).plain
    change = Text.assemble(
        ("YES", "bold yes"),
        "  ",
        formats.points(market.change),
        (f" pt {_span(market, now)}", "muted"),
    )
    other = Text.assemble(("NO", "no"), "   ", formats.price(1.0 - market.price))
    left = ends_in(market, now, worded=True)
    return Text.assemble(
        (formats.plain(market.question, QUESTION_MAX).plain, "bold"),
        "\n",
        large(price, "yes", (change, other, left), width),
    )


def _span(market: MarketView, now: Timestamp) -> str:
    """The time over which the change is: a young market has no day behind it."""
    opened = market.opens_at
    is_young = opened is not None and now - opened < _DAY_S
    return "since opening" if is_young else "in 24 h"


def ends_in(market: MarketView, now: Timestamp, *, worded: bool = False) -> Text:
    """A market's time left, or its outcome. `now` is the world's time."""
    if market.status is MarketStatus.RESOLVED:
        outcome = market.outcome
        word = "unknown" if outcome is None else outcome.word
        ink = "muted" if outcome is None else formats.outcome_ink(outcome)
        return Text.assemble(("resolved " if worded else "", "muted"), (word, ink))
    left = seconds_left(market, now)
    if market.status is MarketStatus.CLOSED or (left is not None and left <= 0):
        return Text("ended, awaiting resolution" if worded else "ended", "muted")
    if left is None:
        return Text(formats.NOT_KNOWN, "muted")
    return Text(f"ends in {formats.duration(left)}" if worded else formats.duration_short(left))


def holdings(state: DeskState, market_id: str, width: int) -> Text:
    """The own position in a market: cost, mark and sale value."""
    held, masked = state.held(market_id), is_private(state)
    if not held:
        text = if_none(state, f"No position. {cap('markets.buy')} to buy", Topic.POSITIONS)
        return section("position", Text(text, "muted"))
    across = 2 if width >= TWO_ACROSS else 1
    blocks = [
        figures(_position_figures(trade, masked=masked), across=across, width=width)
        for trade in held
    ]
    return section("position", Text("\n").join(blocks))


def news(detail: DetailView | None, now: Timestamp, clock: str = "") -> Text:
    """News and their effect on the price of YES, newest first; `clock` names their time."""
    title = f"news{clock}"
    if detail is None:
        return section(title, Text(LOADING, "muted"))
    if detail.problem:
        return section(title, Text(f"not available: {detail.problem}", "warn"))
    lines = [_news_line(item, now) for item in detail.news[:NEWS_MAX]]
    return section(title, Text("\n").join(lines) if lines else Text("none yet", "muted"))


def book(
    market: MarketView, detail: DetailView | None, width: int, place: BookPlace | None = None
) -> Text:
    """The order book of its real venue, one price highlighted; empty for a market of sim alone."""
    text = ladder(market, detail, width, place)
    if not text.plain:
        return text
    real = next(venue for venue in market.venues if venue is not Venue.SIM)
    return section(f"book, YES on {real.value}", text)


def trades(
    detail: DetailView | None, now: Timestamp, width: int, clock: str = "", *, hidden: str = ""
) -> Text:
    """The last trades of anybody, newest first.

    Args:
        detail: of the market; None while it is not loaded.
        now: the time that ages count from.
        width: cells.
        clock: names their time.
        hidden: whose shares are masked; empty for nobody.
    """
    title = f"trades{clock}"
    if detail is None:
        return section(title, Text(LOADING, "muted"))
    if detail.problem:
        return section(title, Text("not available", "muted"))
    lines = [
        _trade_line(trade, now, width, masked=bool(hidden) and trade.trader == hidden)
        for trade in detail.trades[:TRADES_MAX]
    ]
    return section(title, Text("\n").join(lines) if lines else Text("none yet", "muted"))


def rules(market: MarketView, detail: DetailView | None, width: int, clock: str = "") -> Text:
    """When and how the market resolves, and its inputs."""
    text = market.criteria or (detail.criteria if detail is not None else "")
    unknown = "not available" if detail is not None and detail.problem else "no criteria"
    shown = Text(text) if text else Text(LOADING if detail is None else unknown, "muted")
    facts: tuple[Figure, ...] = (
        ("resolves, UTC", formats.date_time(market.resolves_at, UTC)),
        ("resolves, local", formats.date_time(market.resolves_at)),
        ("volume 24 h, $SIM", formats.money(market.volume)),
        ("liquidity b, $SIM", formats.money(market.liquidity)),
        ("category", formats.plain(market.category)),
        ("trades on", Text(", ".join(market.venues)) if market.venues else _NOT_LOADED),
        *_venue_price(market),
        ("status", Text(market.status.value)),
    )
    return Text("\n\n").join((
        section("resolution", shown),
        section(f"market{clock}", figures(facts, across=1, width=width)),
        Text(f"id {market.market_id}", "muted"),
    ))


def _venue_price(market: MarketView) -> tuple[Figure, ...]:
    """The price of YES on the venue's book, and how far it is from here; empty without a book."""
    if market.venue_price is None or market.gap is None:
        return ()
    price = formats.price(market.venue_price)
    gap = Text.assemble(price, "  ", formats.points(market.gap), (" pt vs sim", "muted"))
    return (("YES on venue", gap),)


def _position_figures(position: PositionView, *, masked: bool) -> tuple[Figure, ...]:
    side = Text(position.side.value.upper(), "yes" if position.side is Side.YES else "no")
    percent = Text() if masked else Text.assemble(" ", formats.percent_change(position.pnl_pct))
    return (
        ("side", side),
        ("shares", formats.shares(position.shares, masked=masked)),
        ("average", formats.price(position.average)),
        ("mark", formats.price(position.mark_price)),
        ("mark value", formats.money(position.mark_value, masked=masked)),
        ("sale value", formats.money(position.exit_value, masked=masked)),
        (
            "unrealized at mark",
            Text.assemble(formats.pnl(position.unrealized, masked=masked), percent),
        ),
        ("realized", formats.pnl(position.realized, masked=masked)),
    )


def _news_line(item: NewsView, now: Timestamp) -> Text:
    rises = item.price_after >= item.price_before
    return Text.assemble(
        (f"{formats.age(item.at, now).plain:>4}  ", "muted"),
        formats.price(item.price_before),
        " → ",
        formats.price(item.price_after),
        (" ▲ " if rises else " ▼ ", "profit" if rises else "loss"),
        formats.plain(item.headline),
    )


def _trade_line(trade: TapeTradeView, now: Timestamp, width: int, *, masked: bool) -> Text:
    line = Text.assemble(
        (f"{formats.age(trade.at, now).plain:>4}  ", "muted"),
        f"{trade.action.value:<4} ",
        (f"{trade.side.value.upper():<3}", "yes" if trade.side is Side.YES else "no"),
        f"{formats.shares(trade.shares, masked=masked).plain:>9}  ",
        formats.price(trade.price, aligned=True),
        ("  " + formats.plain(trade.trader, 24).plain, "muted"),
    )
    line.truncate(width, overflow="ellipsis")
    return line

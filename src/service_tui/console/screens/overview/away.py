"""What happened while the desk was closed, told in a few lines."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.desk.slices.records import MeanwhileView, NewsView, ResolvedView
from service_tui.units import Micros

RESOLVED_MAX: Final = 5
NEWS_MAX: Final = 3
"""Lines of each; the rest is counted."""

_AMOUNT: Final = 10
"""Cells of an amount, right-aligned."""

PAID_FROM: Final = 72
"""Width from which there is room for the payout beside the P&L."""


def away_text(told: MeanwhileView, *, width: int, lines: int, masked: bool) -> Text:
    """How long, what it did to the equity, what resolved, what was in the news.

    Args:
        told: what the world says.
        width: cells of a line.
        lines: how many lines there is room for, >= 2.
        masked: hide amounts.

    Returns:
        At most `lines` lines.
    """
    head = Text.assemble(
        ("While you were away", "bold heading"),
        f"  {formats.duration(told.world_elapsed_s)}",
        (" of world time, since ", "muted"),
        formats.date_time(told.closed_at),
    )
    rows = [head, _sums(told, masked=masked)]
    resolved = [_resolved(each, width, masked=masked) for each in told.resolved[:RESOLVED_MAX]]
    rows += resolved[: max(0, lines - len(rows))]
    news = [_news(each) for each in told.news[:NEWS_MAX]]
    rows += news[: max(0, lines - len(rows))]
    for row in rows:
        row.truncate(width, overflow="ellipsis")
    return Text("\n").join(rows)


def _sums(told: MeanwhileView, *, masked: bool) -> Text:
    line = Text()
    if told.equity_before is not None and told.equity_after is not None:
        change = Micros(told.equity_after - told.equity_before)
        line.append_text(
            Text.assemble(
                ("equity ", "muted"),
                formats.money(told.equity_before, masked=masked),
                " → ",
                formats.money(told.equity_after, masked=masked),
                " ",
                formats.pnl(change, masked=masked, arrow=True),
                "   ",
            )
        )
    line.append_text(
        Text.assemble(
            f"{told.resolved_count:,}",
            (" resolved, yours ", "muted"),
            f"{len(told.resolved)}",
            ("   ", "muted"),
            f"{told.listed_count:,}",
            (" new   ", "muted"),
            f"{len(told.news)}",
            (" news", "muted"),
        )
    )
    return line


def _resolved(each: ResolvedView, width: int, *, masked: bool) -> Text:
    won = each.payout > 0
    line = Text.assemble(
        (" ✓ " if won else " ✗ ", "profit" if won else "loss"),
        ("YES  " if each.outcome else "NO   ", "yes" if each.outcome else "no"),
        formats.plain(each.question),
    )
    sums = [("  P&L ", formats.pnl(each.pnl, masked=masked))]
    if width >= PAID_FROM:
        sums.insert(0, ("  paid ", formats.money(each.payout, masked=masked)))
    tail = Text()
    for label, amount in sums:
        tail.append(label, "muted")
        tail.append(" " * max(0, _AMOUNT - amount.cell_len))
        tail.append_text(amount)
    line.truncate(max(1, width - tail.cell_len), overflow="ellipsis", pad=True)
    line.append_text(tail)
    return line


def _news(each: NewsView) -> Text:
    rose = each.price_after >= each.price_before
    return Text.assemble(
        (" ▲ " if rose else " ▼ ", "profit" if rose else "loss"),
        formats.price(each.price_before),
        " → ",
        formats.price(each.price_after),
        "  ",
        formats.plain(each.headline),
    )

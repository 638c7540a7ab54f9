"""The columns of open and of closed positions, and what a search can ask of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.parts.standard_columns import (
    amount_column,
    date_column,
    figure_column,
    price_column,
    side_column,
    venue_mark,
)
from service_tui.console.search import Search
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.records import PositionView
from service_tui.terms import MONEY_OF, MarketStatus, Side, Venue
from service_tui.units import Timestamp, decimal

COMPARED: Final = ("shares", "average", "mark", "value", "exit", "pnl", "percent", "left")
"""Columns that a comparison may name; amounts in $SIM, `percent` as a fraction or with %."""


@dataclass(frozen=True, slots=True)
class Look:
    """What cells need beside the position: the world's time, and whether amounts are masked."""

    now: Timestamp
    masked: bool


def open_columns(look: Callable[[], Look]) -> tuple[Column[PositionView], ...]:
    """Columns of what is held; `look` says the time and whether amounts are masked."""

    def masked() -> bool:
        return look().masked

    return (
        _question(),
        side_column(),
        amount_column(
            "shares", "shares", 9, lambda held: held.shares, formats.shares, masked, tier=64
        ),
        price_column("average", "average", 7, lambda held: held.average, tier=88),
        price_column("mark", "mark", 6, lambda held: held.mark_price),
        _money(),
        amount_column("value", "value $", 9, lambda held: held.mark_value, formats.money, masked),
        amount_column(
            "exit", "exit $", 9, lambda held: held.exit_value, formats.money, masked, tier=108
        ),
        amount_column("pnl", "P&L $", 9, lambda held: held.unrealized, formats.pnl, masked),
        figure_column(
            "percent", "P&L %", 7, lambda held: held.pnl_pct, formats.percent_change, tier=97
        ),
        Column(
            "left",
            "ends in",
            7,
            lambda held: _left(held, look().now),
            sort_key=lambda held: held.resolves_at,
            align="right",
            tier=72,
            glows=False,
        ),
    )


def closed_columns(look: Callable[[], Look]) -> tuple[Column[PositionView], ...]:
    """Columns of what was held: how its market ended and what it brought."""

    def masked() -> bool:
        return look().masked

    return (
        _question(),
        side_column(),
        Column("outcome", "ended", 9, outcome, sort_key=lambda held: outcome(held).plain),
        _money(),
        amount_column("realized", "realized $", 10, lambda held: held.made, formats.pnl, masked),
        date_column("resolved", "world end", lambda held: held.resolves_at, tier=72),
    )


def outcome(held: PositionView) -> Text:
    """How the market of a position ended, and whether that won; or that it was sold."""
    if held.outcome is None:
        return Text("awaited" if held.status is MarketStatus.CLOSED else "sold", "muted")
    won = held.outcome is (held.side is Side.YES)
    word = "YES" if held.outcome else "NO"
    return Text.assemble(f"{word:<4}", ("won", "profit") if won else ("lost", "loss"))


def wanted(
    held: PositionView, search: Search, now: Timestamp, cell: Callable[[str], str] = lambda _: ""
) -> bool:
    """True if a search asks for this position; words look at all that is written in its row."""
    where = f"{held.venue.value} {MONEY_OF[held.venue]}"
    words = f"{held.question} {held.category} {held.side.value} {where}".casefold()
    return search.matches(words, lambda column: _number(held, column, now), cell)


def _question() -> Column[PositionView]:
    return Column(
        "question",
        "market",
        20,
        _marked_question,
        sort_key=lambda held: held.question,
        flex=True,
    )


def _marked_question(held: PositionView) -> Text:
    """The question; real money says so before it, in whatever width."""
    question = formats.plain(held.question)
    if held.venue is Venue.SIM:
        return question
    return Text.assemble((f"{venue_mark(held.venue)} ", "live"), question)


def _money() -> Column[PositionView]:
    return Column(
        "money",
        "money",
        6,
        lambda held: Text(MONEY_OF[held.venue], "muted" if held.venue is Venue.SIM else "live"),
        sort_key=lambda held: MONEY_OF[held.venue],
        tier=116,
    )


def _left(held: PositionView, now: Timestamp) -> Text:
    if held.status is not MarketStatus.ACTIVE or held.resolves_at is None:
        return Text("awaited" if held.status is MarketStatus.CLOSED else formats.NOT_KNOWN, "muted")
    left = held.resolves_at - now
    return Text(formats.duration(left)) if left > 0 else Text("awaited", "muted")


def _number(held: PositionView, column: str, now: Timestamp) -> float | None:
    amounts = {
        "shares": held.shares,
        "value": held.mark_value,
        "exit": held.exit_value,
        "pnl": held.unrealized,
    }
    if column in amounts:
        amount = amounts[column]
        return None if amount is None else decimal(amount)
    if column == "left":
        return None if held.resolves_at is None else held.resolves_at - now
    return {"average": held.average, "mark": held.mark_price, "percent": held.pnl_pct}[column]

"""The tables of the portfolio: open positions, open orders, and closed positions."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_answered, not_loaded_text
from service_tui.console.keys import cap, with_keys
from service_tui.console.screens.portfolio.orders import ORDERS
from service_tui.console.table_spec import (
    TableSpec,
    amount_column,
    figure_column,
    marked_question,
    market_name,
    price_column,
    side_column,
    without_ending,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.line_fit import Bit
from service_tui.console.widgets.sums_bar import sums_bit
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import Deal
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.terms import MONEY_OF, MarketStatus, Venue
from service_tui.units import Micros, Timestamp, decimal, sum_of

_EMPTY: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nPositions appear with its first answer.",
    Phase.ONLINE: "No open positions.\n\nPress {app.markets}, choose a market, press "
    "{markets.buy}.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\n{app.refresh} retries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nSettings ({app.settings}) "
    "show which.",
}


# -- cells --------------------------------------------------------------------------------------


def outcome(position: PositionView) -> Text:
    """The outcome of a position's market, and whether it won; or that it was sold."""
    if position.outcome is None:
        unknown = "resolved" if position.is_closed else "resolving"
        return Text("sold" if position.is_sold else unknown, "muted")
    word, winner = position.outcome.word, position.outcome.winner
    if winner is None:
        return Text(word)
    won = winner is position.side
    return Text.assemble(f"{word:<4}", ("won", "profit") if won else ("lost", "loss"))


def sold_at(position: PositionView, state: DeskState) -> Timestamp | None:
    """Wall time of the last sale of a position; None where the trades read do not reach it."""
    place = (position.market_id, position.venue, position.side)
    sales = (
        trade.at
        for trade in state.trades
        if trade.deal is Deal.SALE and (trade.market_id, trade.venue, trade.side) == place
    )
    return max(sales, default=None)


def _ended_text(position: PositionView, view: ViewContext) -> Text:
    """The outcome; of a position that was sold, when, by the wall's clock."""
    text = outcome(position)
    if position.is_sold and (at := sold_at(position, view.state)) is not None:
        text.append_text(Text.assemble(" ", formats.date_time(at)))
    return text


def _ended_at(position: PositionView) -> Timestamp | None:
    """When the market ended; None for a position that was sold before."""
    return None if position.is_sold else position.resolves_at


def _left_text(position: PositionView, now: Timestamp) -> Text:
    if position.status is not MarketStatus.ACTIVE or position.resolves_at is None:
        is_closed = position.status is MarketStatus.CLOSED
        return Text("ended" if is_closed else formats.NOT_KNOWN, "muted")
    left = position.resolves_at - now
    return Text(formats.duration_short(left)) if left > 0 else Text("ended", "muted")


_QUESTION: Final = Column[PositionView](
    "question",
    "market",
    20,
    lambda row, view: marked_question(market_name(row, view.state), row.venue),
    shorter=lambda row, view: marked_question(
        without_ending(market_name(row, view.state), view.state), row.venue
    ),
    sort_key=lambda row, _: row.question,
    flex=True,
    keeps_end=True,
)

_MONEY: Final = Column[PositionView](
    "money",
    "ccy",
    6,
    lambda row, _: Text(MONEY_OF[row.venue], "muted" if row.venue is Venue.SIM else "live"),
    sort_key=lambda row, _: MONEY_OF[row.venue],
    tier=116,
)

_WORLD_END: Final = Column[PositionView](
    "resolved",
    "world end",
    12,
    lambda row, _: formats.date_time(_ended_at(row)),
    # One that was sold is listed by its sale, where that is known.
    sort_key=lambda row, view: sold_at(row, view.state) if row.is_sold else row.resolves_at,
    align="right",
    tier=72,
)


# -- rows, and what a search finds --------------------------------------------------------------


def _on_venues(state: DeskState, *, is_closed: bool) -> tuple[PositionView, ...]:
    return tuple(position for position in state.on_venues if position.is_closed is is_closed)


def _search_text(position: PositionView, _: ViewContext) -> str:
    where = f"{position.venue.value} {MONEY_OF[position.venue]}"
    return folded(f"{position.question} {position.category} {position.side.value} {where}")


def _units(amount: Micros | None) -> float | None:
    return None if amount is None else decimal(amount)


def _time_left(position: PositionView, view: ViewContext) -> float | None:
    return None if position.resolves_at is None else position.resolves_at - view.world_now


_COMPARED: Final[Mapping[str, Callable[[PositionView, ViewContext], float | None]]] = {
    "shares": lambda row, _: _units(row.shares),
    "average": lambda row, _: row.average,
    "mark": lambda row, _: row.mark_price,
    "value": lambda row, _: _units(row.mark_value),
    "exit": lambda row, _: _units(row.exit_value),
    "pnl": lambda row, _: _units(row.unrealized),
    "percent": lambda row, _: row.pnl_pct,
    "left": _time_left,
}
"""Amounts in $SIM, `percent` as a fraction or with %."""


# -- why there are no rows ----------------------------------------------------------------------


def _no_open(state: DeskState) -> str:
    service = state.service
    if service.phase is Phase.ONLINE and not is_answered(state, Topic.POSITIONS):
        return not_loaded_text("positions")
    return with_keys(_EMPTY[service.phase]).replace("{problem}", service.problem or "no answer")


def _no_closed(state: DeskState) -> str:
    if not _closed_known(state):
        return "Closed positions come with the service's first answer."
    return f"No position was closed yet.\n\n{cap('portfolio.list')} shows the open ones."


def _open_known(state: DeskState) -> bool:
    return is_answered(state, Topic.POSITIONS) or state.from_cache


def _closed_known(state: DeskState) -> bool:
    # The cache has open positions only: closed ones are unknown before the first answer.
    return is_answered(state, Topic.POSITIONS) and not state.from_cache


# -- sums ---------------------------------------------------------------------------------------


def totals(rows: Iterable[object], view: ViewContext) -> tuple[Bit, ...]:
    """Sums of the positions listed, for each currency by itself; unknown while one part is."""
    listed = [row for row in rows if isinstance(row, PositionView)]
    bits: list[Bit] = []
    for currency in dict.fromkeys(MONEY_OF[held.venue] for held in listed):
        own = [held for held in listed if MONEY_OF[held.venue] == currency]
        if all(held.is_closed for held in own):
            sums = [("realized", view.pnl(_sum(held.realized for held in own)))]
        else:
            sums = [
                ("value", view.money(_sum(held.mark_value for held in own))),
                ("sale value", view.money(_sum(held.exit_value for held in own))),
                ("P&L", view.pnl(_sum(held.unrealized for held in own))),
            ]
        bits.append(sums_bit(f"{len(own):,} in {currency}", sums, ahead=len(bits)))
    return tuple(bits)


def _sum(amounts: Iterable[Micros | None]) -> Micros | None:
    listed = list(amounts)
    known = [amount for amount in listed if amount is not None]
    return sum_of(known) if len(known) == len(listed) else None


# -- the tables ---------------------------------------------------------------------------------

OPEN: Final = TableSpec[PositionView](
    "open",
    # In play money, then in real money.
    rows=lambda state: (*state.positions, *_on_venues(state, is_closed=False)),
    key=lambda row: row.key,
    columns=(
        _QUESTION,
        side_column(),
        amount_column("shares", "shares", 9, lambda row: row.shares, formats.shares, tier=64),
        price_column("average", "avg", 6, lambda row: row.average, tier=88),
        price_column("mark", "mark", 6, lambda row: row.mark_price),
        _MONEY,
        amount_column("value", "value $", 9, lambda row: row.mark_value, formats.money),
        amount_column("exit", "sale $", 9, lambda row: row.exit_value, formats.money, tier=108),
        amount_column("pnl", "P&L $", 9, lambda row: row.unrealized, formats.pnl),
        figure_column(
            "percent", "P&L %", 7, lambda row: row.pnl_pct, formats.percent_change, tier=97
        ),
        Column(
            "left",
            "ends",
            6,
            lambda row, view: _left_text(row, view.world_now),
            sort_key=lambda row, _: row.resolves_at,
            align="right",
            tier=72,
            glows=False,
        ),
    ),
    search_text=_search_text,
    empty_text=_no_open,
    sort="value",
    falling=True,
    compared=_COMPARED,
    is_loaded=_open_known,
)

CLOSED: Final = TableSpec[PositionView](
    "closed",
    rows=lambda state: (*state.closed, *_on_venues(state, is_closed=True)),
    key=lambda row: row.key,
    columns=(
        _QUESTION,
        side_column(),
        Column(
            "outcome",
            "ended",
            17,
            _ended_text,
            sort_key=lambda row, _: outcome(row).plain,
        ),
        _MONEY,
        amount_column("realized", "realized $", 10, lambda row: row.realized, formats.pnl),
        _WORLD_END,
    ),
    search_text=_search_text,
    empty_text=_no_closed,
    sort="resolved",
    falling=True,
    compared=_COMPARED,
    is_loaded=_closed_known,
)

TABLES: Final = (OPEN, ORDERS, CLOSED)

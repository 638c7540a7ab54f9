"""Actions on commands of the blotter: open the market, the history, the open orders."""

from typing import Final, TypeAlias

from service_tui.console.actions import NO_ROW, ScreenAction, UnmetReason
from service_tui.console.keys import cap
from service_tui.console.parts.shared_actions import (
    can_note,
    export,
    next_table,
    open_market,
    open_note,
    open_orders,
    open_why,
)
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.own_notes import Noted, NoteOn
from service_tui.desk.slices.tickets import TicketView

Blotter: TypeAlias = TableScreen[TicketView | FillView]


def is_about_market(screen: Blotter) -> UnmetReason:
    """The highlighted command is about a market."""
    ticket = screen.selected()
    if ticket is None:
        return NO_ROW
    return "" if ticket.market_id else "no market in this command"


def is_list_of_orders(screen: Blotter) -> UnmetReason:
    """The list of orders is in front."""
    return "fills are final" if screen.place else ""


def show_other(screen: Blotter) -> None:
    """Show the other list, orders or fills, without a filter."""
    screen.only = None
    next_table(screen)


def toggle_open(screen: Blotter) -> None:
    """Show only commands without a result, or all."""
    screen.only = None if screen.only else PENDING
    screen.filter_rows()


def _is_pending(row: TicketView | FillView) -> bool:
    return isinstance(row, TicketView) and row.in_flight


PENDING: Final = Only[TicketView | FillView](_is_pending, "pending")
"""The filter for commands without a result."""


def is_fill(screen: Blotter) -> UnmetReason:
    """The highlighted row is a fill."""
    row = screen.selected()
    if row is None:
        return NO_ROW
    return "" if isinstance(row, FillView) else f"a note is on a fill: {cap('blotter.list')}"


def write_note(screen: Blotter) -> None:
    """Write a note on the trade of the highlighted fill."""
    fill = screen.row_in_focus()
    if isinstance(fill, FillView):
        open_note(screen, Noted(NoteOn.TRADE, fill.trade_id, fill.question, fill.market_id))


ACTIONS: Final[tuple[ScreenAction[Blotter], ...]] = (
    ScreenAction("blotter.market", open_market, requires=(is_about_market,)),
    ScreenAction("blotter.list", show_other),
    ScreenAction("blotter.trades", toggle_open, requires=(is_list_of_orders,)),
    ScreenAction("blotter.why", open_why, requires=(is_about_market,)),
    ScreenAction("blotter.orders", open_orders),
    ScreenAction("blotter.note", write_note, requires=(is_fill, can_note)),
    ScreenAction("blotter.export", export),
)

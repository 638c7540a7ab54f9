"""Actions on commands of the blotter: open the market, the history, the open orders."""

from typing import Final, TypeAlias

from service_tui.console.actions import NO_ROW, ScreenAction
from service_tui.console.parts.shared_actions import open_market, open_orders, open_why
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.desk.slices.records import TicketView

Blotter: TypeAlias = TableScreen[TicketView]


def is_about_market(screen: Blotter) -> str:
    """The highlighted command is about a market."""
    ticket = screen.selected()
    if ticket is None:
        return NO_ROW
    return "" if ticket.market_id else "this command is about no market"


def toggle_open(screen: Blotter) -> None:
    """Show only commands without a result, or all."""
    screen.only = None if screen.only else Only[TicketView](lambda ticket: ticket.in_flight)
    screen.filter_rows()


ACTIONS: Final[tuple[ScreenAction[Blotter], ...]] = (
    ScreenAction("blotter.market", open_market, requires=(is_about_market,)),
    ScreenAction("blotter.trades", toggle_open),
    ScreenAction("blotter.why", open_why, requires=(is_about_market,)),
    ScreenAction("blotter.orders", open_orders),
)

"""Actions on a position: sell, buy more, protect it, open its market and its history."""

from typing import Final, TypeAlias

from service_tui.console.actions import ScreenAction
from service_tui.console.exit_estimate import guarded, unguarded
from service_tui.console.keys import with_keys
from service_tui.console.parts.shared_actions import (
    can_buy,
    can_change,
    can_sell,
    has_row,
    next_table,
    no_market_reason,
    open_market,
    open_monitor,
    open_orders,
    open_price_alert,
    open_ticket,
    open_why,
)
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.portfolio.table import CLOSED
from service_tui.desk.slices.records import PositionView
from service_tui.terms import Action

Portfolio: TypeAlias = TableScreen[PositionView]


def is_open(screen: Portfolio) -> str:
    """The open positions are in front."""
    if screen.spec is CLOSED:
        return with_keys("position closed: {portfolio.closed} shows open positions")
    return ""


def sell(screen: Portfolio) -> None:
    """Open the ticket to sell from the highlighted position."""
    _trade(screen, Action.SELL)


def buy(screen: Portfolio) -> None:
    """Open the ticket to buy more of the highlighted side."""
    _trade(screen, Action.BUY)


def _trade(screen: Portfolio, action: Action) -> None:
    held = screen.row_in_focus()
    if held is None:
        return
    market = screen.state.markets.get(held.market_id)
    if market is None:
        screen.show_toast(no_market_reason(), "warn")
    else:
        # On the venue of the position, and on no other.
        open_ticket(screen, market, held.side, action, held.venue)


def guard(screen: Portfolio) -> None:
    """Open the form for the stop and target of the highlighted position."""
    held = screen.row_in_focus()
    if held is not None:
        open_monitor(screen, guarded(screen.state, held.key) or unguarded(held))


def add_price_alert(screen: Portfolio) -> None:
    """Add a price alert on the market of this position."""
    held = screen.row_in_focus()
    if held is not None:
        open_price_alert(screen, held.market_id, held.side)


ACTIONS: Final[tuple[ScreenAction[Portfolio], ...]] = (
    ScreenAction("portfolio.sell", sell, requires=(has_row, is_open, can_sell)),
    ScreenAction("portfolio.buy", buy, requires=(has_row, is_open, can_buy)),
    ScreenAction("portfolio.market", open_market, requires=(has_row,)),
    ScreenAction("portfolio.closed", next_table),
    ScreenAction("portfolio.monitor", guard, requires=(has_row, is_open, can_change)),
    ScreenAction("portfolio.alert", add_price_alert, requires=(has_row, is_open, can_change)),
    ScreenAction("portfolio.why", open_why, requires=(has_row,)),
    ScreenAction("portfolio.orders", open_orders),
)

"""Actions on a position (sell, buy, protect, open its market) and on an open order."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.text import Text

from service_tui.console.actions import ScreenAction, UnmetReason
from service_tui.console.exit_estimate import guarded, unguarded
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.keys import with_keys
from service_tui.console.parts.shared_actions import (
    can_buy,
    can_change,
    can_sell,
    has_row,
    has_rows,
    mark,
    mark_all,
    next_table,
    no_market_reason,
    open_market,
    open_monitor,
    open_price_alert,
    open_ticket,
    open_why,
)
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.portfolio.orders import ORDERS
from service_tui.console.screens.portfolio.table import CLOSED, TABLES
from service_tui.desk.commands.trading import CancelOrders
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.positions import PositionView
from service_tui.terms import Action, counted

Portfolio: TypeAlias = TableScreen[PositionView | OpenOrderView]


def is_position(screen: Portfolio) -> UnmetReason:
    """A list of positions is in front."""
    return "not for an open order" if screen.spec is ORDERS else ""


def is_open(screen: Portfolio) -> UnmetReason:
    """The open positions are in front."""
    if screen.spec is CLOSED:
        return with_keys("position closed: {portfolio.list} shows open positions")
    return is_position(screen)


def is_order(screen: Portfolio) -> UnmetReason:
    """The open orders are in front."""
    if screen.spec is not ORDERS:
        return with_keys("not for a position; {portfolio.orders} shows the open orders")
    return ""


def position_in_focus(screen: Portfolio) -> PositionView | None:
    """The highlighted position; without one, a toast gives the reason."""
    row = screen.row_in_focus()
    return row if isinstance(row, PositionView) else None


def order_in_focus(screen: Portfolio) -> OpenOrderView | None:
    """The highlighted open order; without one, a toast gives the reason."""
    row = screen.row_in_focus()
    return row if isinstance(row, OpenOrderView) else None


def sell(screen: Portfolio) -> None:
    """Sell the marked positions after one question; open the ticket to sell a single one."""
    rows = [one for one in screen.table.selected_or_marked() if isinstance(one, PositionView)]
    if len(rows) > 1:
        _sell_many(screen, rows)
    elif rows:
        _trade(screen, Action.SELL, rows[0])
    else:
        screen.row_in_focus()


def _sell_many(screen: Portfolio, rows: Sequence[PositionView]) -> None:
    from service_tui.console.forms.confirm_many import (  # noqa: PLC0415 - not in the first frame
        ConfirmMany,
    )
    from service_tui.console.screens.portfolio.selling import (  # noqa: PLC0415 - nor this
        confirmed,
        sales_of,
        sales_question,
    )

    sales = sales_of(rows, screen.view)
    if not sales.able:
        screen.show_toast(f"none sold: {sales.left_out}", "warn")
        return

    def answered(is_confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if is_confirmed:
            for _, order in sales.able:
                screen.give(confirmed(order))
            screen.table.clear_marks()

    question, lines = sales_question(sales, screen.view)
    screen.open_dialog(ConfirmMany(question, lines), answered)


def buy(screen: Portfolio) -> None:
    """Open the ticket to buy more of the highlighted side."""
    position = position_in_focus(screen)
    if position is not None:
        _trade(screen, Action.BUY, position)


def _trade(screen: Portfolio, action: Action, position: PositionView) -> None:
    market = screen.state.markets.get(position.market_id)
    if market is None:
        screen.show_toast(no_market_reason(), "warn")
    else:
        # On the venue of the position, and on no other.
        open_ticket(screen, market, position.side, action, position.venue)


def guard(screen: Portfolio) -> None:
    """Open the form for the stop and target of the highlighted position."""
    position = position_in_focus(screen)
    if position is not None:
        open_monitor(screen, guarded(screen.state, position.key) or unguarded(position))


def add_price_alert(screen: Portfolio) -> None:
    """Add a price alert on the market of this row."""
    row = screen.row_in_focus()
    if row is not None:
        open_price_alert(screen, row.market_id, row.side)


# -- open orders --------------------------------------------------------------------------------


def show_orders(screen: Portfolio) -> None:
    """Show the open orders, or the positions again."""
    screen.bring_forward(0 if screen.spec is ORDERS else TABLES.index(ORDERS))
    screen.table.focus()


def amend(screen: Portfolio) -> None:
    """Open the ticket that replaces the highlighted order."""
    order = order_in_focus(screen)
    if order is None:
        return
    market = screen.state.markets.get(order.market_id)
    if market is None:
        screen.show_toast(no_market_reason(), "warn")
    else:
        open_ticket(screen, market, order.side, order.action, order.venue, order)


def cancel(screen: Portfolio) -> None:
    """Cancel the highlighted order, without a confirmation: it takes risk away.

    Of several marked ones, after one question that lists them.
    """
    rows = [one for one in screen.table.selected_or_marked() if isinstance(one, OpenOrderView)]
    if len(rows) == 1:
        screen.give(CancelOrders((rows[0].order_id,), rows[0].describe()))
    elif rows:
        from service_tui.console.forms.confirm_many import (  # noqa: PLC0415 - not at first
            ConfirmMany,
        )

        lines = tuple(Text(screen.view.sentence(one.describe())) for one in rows)
        body = Text(f"{counted(len(rows), 'open order')}. Fills stay.\n")
        question = Question("Cancel the marked orders?", body, "cancel all")
        _cancel_after(screen, ConfirmMany(question, lines), rows)
    else:
        screen.row_in_focus()


def cancel_all(screen: Portfolio) -> None:
    """Cancel all listed orders, after a confirmation."""
    order = screen.table.order
    listed = (order[place] for place in range(len(order)))
    rows = [one for one in listed if isinstance(one, OpenOrderView)]
    body = Text(f"{counted(len(rows), 'open order')}. Fills stay.")
    dialog = Confirm(Question("Cancel all listed orders?", body, "cancel all"))
    _cancel_after(screen, dialog, rows)


def _cancel_after(screen: Portfolio, dialog: Confirm, rows: Sequence[OpenOrderView]) -> None:
    def answered(is_confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if is_confirmed:
            screen.give(CancelOrders(tuple(one.order_id for one in rows)))
            screen.table.clear_marks()

    screen.open_dialog(dialog, answered)


ACTIONS: Final[tuple[ScreenAction[Portfolio], ...]] = (
    ScreenAction("portfolio.mark", mark, requires=(has_row,)),
    ScreenAction("portfolio.mark_all", mark_all),
    ScreenAction("portfolio.sell", sell, requires=(has_rows, is_open, can_sell)),
    ScreenAction("portfolio.buy", buy, requires=(has_row, is_open, can_buy)),
    ScreenAction("portfolio.market", open_market, requires=(has_row,)),
    ScreenAction("portfolio.list", next_table),
    ScreenAction("portfolio.monitor", guard, requires=(has_row, is_open, can_change)),
    ScreenAction("portfolio.alert", add_price_alert, requires=(has_row, can_change)),
    ScreenAction("portfolio.why", open_why, requires=(has_row, is_position)),
    ScreenAction("portfolio.orders", show_orders),
    ScreenAction("portfolio.amend", amend, requires=(has_row, is_order, can_change)),
    ScreenAction("portfolio.cancel", cancel, requires=(has_rows, is_order, can_change)),
    ScreenAction("portfolio.cancel_all", cancel_all, requires=(has_row, is_order, can_change)),
)

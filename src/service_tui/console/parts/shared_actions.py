"""Requirements and actions that several screens share."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from service_tui.console.actions import NO_ROW, UnmetReason, read_only_reason
from service_tui.console.forms.monitor_draft import Change, monitor_block_reason
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.freshness import of_wall, trade_block_reason
from service_tui.console.keys import cap
from service_tui.console.messages import GoTo
from service_tui.console.parts.table_screen import TableScreen
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.own_notes import keep_note, person_of
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.own_notes import Noted
from service_tui.desk.slices.risk import MonitorView
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.preflight import why_closed
from service_tui.terms import Action, Side, Venue

AnyScreen: TypeAlias = TableScreen[Any]

# -- requirements -------------------------------------------------------------------------------


def can_change(screen: AnyScreen) -> UnmetReason:
    """This desk may change things."""
    return read_only_reason(screen.state)


def has_row(screen: AnyScreen) -> UnmetReason:
    """A row is highlighted."""
    return NO_ROW if screen.selected() is None else ""


def has_rows(screen: AnyScreen) -> UnmetReason:
    """A row is highlighted, or rows are marked."""
    return "" if screen.table.order.marked else has_row(screen)


def can_buy(screen: AnyScreen) -> UnmetReason:
    """Prices and the account are known and fresh enough to buy on."""
    return trade_block_reason(screen.state, (Topic.MARKETS, Topic.ACCOUNT), screen.now)


def can_sell(screen: AnyScreen) -> UnmetReason:
    """Prices and positions are known and fresh enough to sell on."""
    return trade_block_reason(screen.state, (Topic.MARKETS, Topic.POSITIONS), screen.now)


def can_undo(screen: AnyScreen) -> UnmetReason:
    """A change made here can be undone."""
    return "" if screen.take_back else "nothing to undo here"


def can_note(screen: AnyScreen) -> UnmetReason:
    """A note can be written: it is known whose it is."""
    return "" if person_of(screen.state) is not None else "the team is not loaded yet"


# -- actions ------------------------------------------------------------------------------------


def undo(screen: AnyScreen) -> None:
    """Undo the last change."""
    for command in screen.take_back:
        screen.give(command)
    screen.take_back = ()


def mark(screen: AnyScreen) -> None:
    """Mark the highlighted row, or unmark it; the cursor moves on."""
    screen.table.action_mark()
    screen.table.action_move(1)


def mark_all(screen: AnyScreen) -> None:
    """Mark every row listed, or none if all are."""
    screen.table.toggle_all_marks()


def next_table(screen: AnyScreen) -> None:
    """Show the next table."""
    screen.bring_forward((screen.place + 1) % len(screen.lists))
    screen.table.focus()


def open_market(screen: AnyScreen) -> None:
    """Show the market of the highlighted row."""
    row = screen.row_in_focus()
    if row is not None:
        screen.post_message(GoTo("markets", row.market_id))


def export(screen: AnyScreen) -> None:
    """Write trades, positions, alerts and experiments as files."""
    screen.give(ExportData())


def open_note(screen: AnyScreen, noted: Noted) -> None:
    """Write, change or remove the note on one thing."""
    from service_tui.console.forms.own_note import OwnNoteForm  # noqa: PLC0415 - not at first

    form = OwnNoteForm(screen.state, screen.now, noted, person_of(screen.state) or "")
    screen.open_dialog(form, lambda note: screen.give(keep_note(note)))


def open_orders(screen: AnyScreen) -> None:
    """Show the open orders, where they can be amended and cancelled."""
    orders = screen.state.orders
    if orders:
        screen.post_message(GoTo("portfolio", orders[0].key))
    else:
        screen.show_toast("No open orders")


def open_why(screen: AnyScreen) -> None:
    """Show the known trade history of this command or position."""
    from service_tui.console.forms.why import Why  # noqa: PLC0415 - not in the first frame
    from service_tui.desk.audit.why import (  # noqa: PLC0415 - nor its chain
        why_fill,
        why_position,
        why_ticket,
    )

    row, state = screen.row_in_focus(), screen.view.state
    if row is None:
        return
    if isinstance(row, FillView):
        chain = why_fill(state, row)
    else:
        chain = why_ticket(state, row) if isinstance(row, TicketView) else why_position(state, row)
    view, clock = screen.view, of_wall(screen.state)
    screen.open_dialog(Why(chain, view.now, masked=view.masked, clock=clock))


# -- forms --------------------------------------------------------------------------------------


class LimitAt(NamedTuple):
    """What a limit order begins with: a price of its side."""

    side: Side
    action: Action
    venue: Venue
    price: float


def no_market_reason() -> str:
    """Message for a row whose market the service does not list now."""
    return f"market not listed: {cap('app.refresh')} refreshes"


def ticket_block_reason(screen: AnyScreen, market: MarketView, action: Action) -> str:
    """Why no ticket opens on a market: it is closed, or its price too old; empty if one does."""
    topics = (Topic.MARKETS, Topic.POSITIONS if action is Action.SELL else Topic.ACCOUNT)
    return trade_block_reason(screen.state, topics, screen.now) or why_closed(market)


def open_ticket(  # noqa: PLR0917 - what a ticket is about
    screen: AnyScreen,
    market: MarketView,
    side: Side | None,
    action: Action,
    venue: Venue = Venue.SIM,
    amends: OpenOrderView | None = None,
) -> None:
    """Open the order ticket, unless the market is closed or its price too old to trade on."""
    why = ticket_block_reason(screen, market, action)
    if why:
        screen.show_toast(why, "bad")
    else:
        state, now = screen.state, screen.now
        if amends is None:
            form = TradeForm(state, now, market, side=side, action=action, venue=venue)
        else:
            form = TradeForm.amending(state, now, market, amends)
        screen.open_dialog(form, screen.give)


def open_ticket_at(screen: AnyScreen, market: MarketView, order: LimitAt) -> None:
    """Open the ticket as a limit order at a price, with the same exceptions."""
    why = ticket_block_reason(screen, market, order.action)
    if why:
        screen.show_toast(why, "bad")
        return
    side, action, venue, price = order
    form = TradeForm(screen.state, screen.now, market, side=side, action=action, venue=venue)
    form.begin_at(price)
    screen.open_dialog(form, screen.give)


def open_monitor(
    screen: AnyScreen, monitor: MonitorView, then: Callable[[Change], None] | None = None
) -> None:
    """Open the form for the stop and target of a position.

    Args:
        screen: sends the form's command.
        monitor: the one to change.
        then: called instead of sending.
    """
    from service_tui.console.forms.monitor_form import (  # noqa: PLC0415 - not in the first frame
        MonitorForm,
    )

    why = can_change(screen) or monitor_block_reason(monitor)
    if why:
        screen.show_toast(why, "warn")
        return

    def filled(change: Change) -> None:
        before = screen.state.risk.monitor(monitor.key)
        if before is not None and change.is_same_as(before):
            screen.show_toast("no change: same stop and target")
        elif then is None:
            screen.give(change.command)
        else:
            then(change)

    screen.open_dialog(MonitorForm(screen.state, screen.now, monitor), filled)


def open_price_alert(screen: AnyScreen, market_id: str, side: Side) -> None:
    """Open the form that adds a price alert on a market."""
    from service_tui.console.forms.price_alert import (  # noqa: PLC0415 - not in the first frame
        PriceAlertForm,
    )

    market = screen.state.markets.get(market_id)
    why = can_change(screen) or (no_market_reason() if market is None else why_closed(market))
    if market is None or why:
        screen.show_toast(why, "warn")
    else:
        screen.open_dialog(PriceAlertForm(screen.state, screen.now, market, side), screen.give)

"""Actions on monitors and alerts: set, change, remove, exit, undo.

Protection needs no confirmation; sales and actions on many do. `ACTIONS`, at the end, is the list.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.text import Text

from service_tui.console import formats
from service_tui.console.actions import NO_ROW, ScreenAction, UnmetReason
from service_tui.console.exit_estimate import guarded
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.monitor_draft import Change, monitor_block_reason, monitor_command
from service_tui.console.keys import cap, with_keys
from service_tui.console.money_kind import mode_on, money_kind
from service_tui.console.parts.shared_actions import (
    can_change,
    can_sell,
    can_undo,
    has_row,
    mark,
    next_table,
    no_market_reason,
    open_market,
    open_monitor,
    open_price_alert,
    open_ticket,
    undo,
)
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.questions import short_question
from service_tui.console.screens.monitors.detail import removed_text
from service_tui.console.screens.monitors.forms import MonitorMany
from service_tui.console.screens.monitors.table import RiskRow
from service_tui.console.view_context import ViewContext
from service_tui.desk.command import Command
from service_tui.desk.commands.risk import (
    ExitAlert,
    RemoveMonitor,
    RemovePriceAlert,
    SetMonitor,
    SetMonitors,
    SetPriceAlert,
)
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, PriceAlertView
from service_tui.terms import Action, counted

RiskScreen: TypeAlias = TableScreen[RiskRow]


# -- requirements -------------------------------------------------------------------------------


def is_on_monitors(screen: RiskScreen) -> UnmetReason:
    """The highlighted row is a monitor, or rows are marked."""
    row = screen.selected()
    if row is None:
        return "" if screen.table.order.marked else NO_ROW
    if isinstance(row, MonitorView):
        return ""
    return with_keys("only monitors have a stop and target: {monitors.list} shows them")


def is_removable(screen: RiskScreen) -> UnmetReason:
    """The highlighted row is no history, or rows are marked."""
    row = screen.selected()
    if row is None:
        return "" if screen.table.order.marked else NO_ROW
    return "history cannot be removed" if isinstance(row, AlertView | ExitView) else ""


def is_exitable(screen: RiskScreen) -> UnmetReason:
    """The highlighted row is a position, or an alert whose exit has no end yet."""
    match screen.selected():
        case None:
            return NO_ROW
        case ExitView() | PriceAlertView():
            return "nothing to sell here"
        case AlertView(state=state) if not state.is_open:
            return f"sale already {state.value}"
        case _:
            return ""


# -- set and change -----------------------------------------------------------------------------


def edit(screen: RiskScreen) -> None:
    """Change the stop and target of the highlighted monitor, or of the marked ones."""
    rows = _monitors(screen.table.selected_or_marked())
    if len(rows) > 1:
        _edit_many(screen, rows)
    elif rows:
        open_monitor(screen, rows[0], lambda change: _set(screen, change))
    else:
        screen.row_in_focus()


def edit_all(screen: RiskScreen) -> None:
    """Change the stop and target of all monitors in the list."""
    order = screen.table.order
    _edit_many(screen, _monitors([order[place] for place in range(len(order))]))


def add_price_alert(screen: RiskScreen) -> None:
    """Add a price alert on the market of the highlighted row."""
    row = screen.row_in_focus()
    if row is not None:
        open_price_alert(screen, row.market_id, row.side)


def _set(screen: RiskScreen, change: Change) -> None:
    screen.take_back = (_before(change.monitor),)
    screen.give(change.command)


def _edit_many(screen: RiskScreen, rows: tuple[MonitorView, ...]) -> None:
    if all(monitor_block_reason(row) for row in rows):
        screen.show_toast("no monitor can be set: closed, being sold or no position", "warn")
        return

    def filled(changes: tuple[Change, ...]) -> None:
        screen.take_back = _all_before([change.monitor for change in changes])
        screen.give(SetMonitors(tuple(change.command for change in changes)))
        screen.table.clear_marks()

    screen.open_dialog(MonitorMany(screen.state, screen.now, rows), filled)


# -- remove -------------------------------------------------------------------------------------


def remove(screen: RiskScreen) -> None:
    """Remove the highlighted or marked monitors, or a price alert."""
    rows = screen.table.selected_or_marked()
    monitors = _monitors(rows)
    if len(monitors) > 1:
        _confirm_removal(screen, monitors)
    elif monitors:
        _remove(screen, monitors)
    else:
        for row in rows:
            if isinstance(row, PriceAlertView):
                _remove_price_alert(screen, row)
    if not rows:
        screen.row_in_focus()


def _confirm_removal(screen: RiskScreen, rows: tuple[MonitorView, ...]) -> None:
    body = Text(
        f"{counted(len(rows), 'position')} without stop or target afterwards. "
        f"{cap('monitors.undo')} restores.\n"
    )
    lines = tuple(
        Text.assemble(
            formats.side(row.side),
            f" {formats.plain(short_question(row.question), 66).plain}",
            (f"\n    {removed_text(row)}", "muted"),
        )
        for row in rows
    )

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            _remove(screen, rows)
            screen.table.clear_marks()

    question = Question("Remove these monitors?", body, "remove")
    screen.open_dialog(ConfirmMany(question, lines), answered)


def _remove(screen: RiskScreen, rows: tuple[MonitorView, ...]) -> None:
    screen.take_back = _all_before(rows)
    for row in rows:
        screen.give(RemoveMonitor(row.market_id, row.side, row.venue, row.question))


def _remove_price_alert(screen: RiskScreen, row: PriceAlertView) -> None:
    again = SetPriceAlert(row.market_id, row.side, row.condition, row.threshold, row.question)
    screen.take_back = (again,) if row.is_open else ()
    screen.give(RemovePriceAlert(row.alert_id))


def _monitors(rows: Sequence[RiskRow]) -> tuple[MonitorView, ...]:
    return tuple(row for row in rows if isinstance(row, MonitorView))


def _before(row: MonitorView) -> Command:
    """The command that restores a position's present monitor."""
    if row.thresholds.is_empty:
        return RemoveMonitor(row.market_id, row.side, row.venue, row.question)
    return monitor_command(row, row.thresholds)


def _all_before(rows: Sequence[MonitorView]) -> tuple[Command, ...]:
    orders = tuple(order for row in rows if isinstance(order := _before(row), SetMonitor))
    return (SetMonitors(orders),) if len(orders) > 1 else orders


# -- exit ---------------------------------------------------------------------------------------


def exit_row(screen: RiskScreen) -> None:
    """Sell the highlighted position, or exit for its alert now."""
    row = screen.row_in_focus()
    if isinstance(row, AlertView):
        _confirm_exit(screen, row)
    elif isinstance(row, MonitorView):
        market = screen.state.markets.get(row.market_id)
        if market is None:
            screen.show_toast(no_market_reason(), "warn")
        else:
            open_ticket(screen, market, row.side, Action.SELL, row.venue)


def _confirm_exit(screen: RiskScreen, alert: AlertView) -> None:
    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            screen.give(ExitAlert(alert.alert_id))

    question = Question("Sell now?", exit_question(alert, screen.view), "sell")
    screen.open_dialog(Confirm(question), answered)


def exit_question(alert: AlertView, view: ViewContext) -> Text:
    """Object, side, shares, price, proceeds, wallet, venue, mode, and the next step."""
    held = guarded(view.state, alert.holding)
    brings = view.money(None if held is None else held.exit_value)
    mode = mode_on(view.state, alert.venue)
    wallet = "signed by the service" if alert.managed else "signed by this desk"
    return Text.assemble(
        (formats.plain(alert.question, 200).plain, "bold"),
        "\n\nSell all ",
        view.shares(alert.shares),
        " ",
        formats.side(alert.side),
        " at market, no price limit: about ",
        brings,
        f" {formats.unit(alert.venue)} at the mark of ",
        formats.price(None if held is None else held.mark),
        ".\n",
        (mode.value, f"bold {mode.value.lower()}"),
        f" {money_kind(view.state, alert.venue)}, {wallet}.\n\n",
        (f"Sent once. Orders ({cap('app.blotter')}) shows the result. ", "muted"),
        ("The monitor is removed.", "muted"),
    )


ACTIONS: Final[tuple[ScreenAction[RiskScreen], ...]] = (
    ScreenAction("monitors.edit", edit, requires=(can_change, is_on_monitors)),
    ScreenAction("monitors.all", edit_all, requires=(can_change, is_on_monitors)),
    ScreenAction("monitors.mark", mark, requires=(is_on_monitors,)),
    ScreenAction("monitors.exit", exit_row, requires=(is_exitable, can_sell)),
    ScreenAction("monitors.remove", remove, requires=(can_change, is_removable)),
    ScreenAction("monitors.undo", undo, requires=(can_change, can_undo)),
    ScreenAction("monitors.alert", add_price_alert, requires=(can_change, has_row)),
    ScreenAction("monitors.list", next_table),
    ScreenAction("monitors.market", open_market, requires=(has_row,)),
)

"""What a person does with monitors and alerts: set, change, remove, exit, undo."""

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.exit_estimate import guarded
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.monitor_draft import Change, why_not_set
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap, with_keys
from service_tui.console.messages import GoTo, Said
from service_tui.console.parts.monitor_text import removed_words
from service_tui.console.parts.panes import ListsScreen
from service_tui.console.parts.risk_rows import RiskRow
from service_tui.console.parts.rows import NO_ROW, why_not_changed
from service_tui.console.screens.monitors.many_form import MonitorMany
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
from service_tui.terms import Action, Mode, Venue, counted

Part = TypeVar("Part")

_CHANGES: Final = frozenset({"edit", "edit_all", "remove", "price_alert", "undo"})
_ON_A_ROW: Final = frozenset({"exit", "price_alert", "open_market"})
_ON_MARKED: Final = frozenset({"edit", "edit_all", "remove", "mark"})
_NO_MONITOR: Final = "only monitors have a stop and a target: {monitors.list} shows them"
_STAYS: Final = "this is history: it stays"
_MODES: Final = {Mode.SIM: "play money", Mode.DRY: "dry run", Mode.LIVE: "real money"}


class MonitorActs(ListsScreen[Part, RiskRow], Generic[Part]):
    """Guarding asks nothing, what sells or touches many is asked first; `u` takes back."""

    def why_not(self, action: str) -> str:
        """Why a key does nothing here."""
        if action in _CHANGES and (why := why_not_changed(self.state)):
            return why
        if action == "undo":
            return "" if self.undone else "nothing was set or removed here"
        row = self.table.selected()
        if row is None and self.table.order.marked and action in _ON_MARKED:
            return ""
        if action in _ON_A_ROW | _ON_MARKED and (why := _why_not_on(action, row)):
            return why
        return super().why_not(action)

    def action_edit(self) -> None:
        """Change the stop and target of the monitor that is highlighted, or of those marked."""
        if self.is_refused("edit"):
            return
        rows = _monitors(self.table.selected_or_marked())
        if len(rows) > 1:
            self._edit_many(rows)
        elif rows:
            self.open_monitor(rows[0])
        else:
            self.row_in_focus()

    def action_edit_all(self) -> None:
        """Change the stop and target of all monitors that are shown."""
        if not self.is_refused("edit_all"):
            order = self.table.order
            self._edit_many(_monitors([order[place] for place in range(len(order))]))

    def action_remove(self) -> None:
        """Guard what is highlighted or marked no longer, or forget a price alert."""
        if self.is_refused("remove"):
            return
        rows = self.table.selected_or_marked()
        monitors = _monitors(rows)
        if len(monitors) > 1:
            self._remove_many(monitors)
        elif monitors:
            self._remove(monitors)
        else:
            for row in rows:
                if isinstance(row, PriceAlertView):
                    self._forget(row)
        if not rows:
            self.row_in_focus()

    def action_exit(self) -> None:
        """Sell the position that is highlighted, or exit for its alert now."""
        if self.is_refused("exit"):
            return
        row = self.row_in_focus()
        if isinstance(row, AlertView):
            self._ask_exit(row)
        elif isinstance(row, MonitorView):
            market = self.state.markets.get(row.market_id)
            if market is None:
                self.post_message(
                    Said(
                        f"its market is not in the list now: {cap('app.refresh')} asks again",
                        "warn",
                    )
                )
            else:
                self.open_ticket(market, row.side, Action.SELL, row.venue)

    def action_price_alert(self) -> None:
        """Tell when a price of the market that is highlighted is there."""
        row = None if self.is_refused("price_alert") else self.row_in_focus()
        if row is not None:
            self.open_price_alert(row.market_id, row.side)

    def action_open_market(self) -> None:
        """Show the market of the row that is highlighted."""
        row = self.row_in_focus()
        if row is not None:
            self.post_message(GoTo("markets", row.market_id))

    def give_change(self, change: Change) -> None:
        """Set one monitor; what it was before can be brought back."""
        self.undone = (_before(change.monitor),)
        super().give_change(change)

    def _edit_many(self, rows: tuple[MonitorView, ...]) -> None:
        able = [row for row in rows if not why_not_set(row)]
        if not able:
            self.post_message(Said("none of them can be set: closed, exiting or not held", "warn"))
            return

        def filled(changes: tuple[Change, ...] | None) -> None:
            if changes is not None:
                self.undone = _all_before([change.monitor for change in changes])
                self.give(SetMonitors(tuple(change.command for change in changes)))
                self.table.clear_marks()

        self._app().push_screen(MonitorMany(self.state, self.now, rows), filled)

    def _remove_many(self, rows: tuple[MonitorView, ...]) -> None:
        body = Text(
            f"Nothing guards or sells {counted(len(rows), 'position')} then. "
            f"{cap('monitors.undo')} undoes it.\n"
        )
        lines = tuple(
            Text.assemble(
                formats.side(row.side),
                f" {formats.plain(row.question, 60).plain}",
                (f"\n    {removed_words(row)}", "muted"),
            )
            for row in rows
        )

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self._remove(rows)
                self.table.clear_marks()

        question = Question("Remove these monitors?", body, "remove")
        self._app().push_screen(ConfirmMany(question, lines), answered)

    def _remove(self, rows: tuple[MonitorView, ...]) -> None:
        self.undone = _all_before(rows)
        for row in rows:
            self.give(RemoveMonitor(row.market_id, row.side, row.venue, row.question))

    def _forget(self, row: PriceAlertView) -> None:
        again = SetPriceAlert(row.market_id, row.side, row.condition, row.threshold, row.question)
        self.undone = (again,) if row.is_open else ()
        self.give(RemovePriceAlert(row.alert_id))

    def _ask_exit(self, alert: AlertView) -> None:
        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self.give(ExitAlert(alert.alert_id))

        question = Question("Exit now?", self._exit_words(alert), "exit")
        self._app().push_screen(Confirm(question), answered)

    def _exit_words(self, alert: AlertView) -> Text:
        """Object, side, shares, price, proceeds, wallet, venue, mode, and what happens next."""
        masked, held = is_private(self.state), guarded(self.state, alert.holding)
        brings = formats.money(None if held is None else held.exit_value, masked=masked)
        mode = self.state.service.mode if alert.venue is Venue.SIM else Mode.LIVE
        wallet = "the service signs" if alert.managed else "this desk signs"
        return Text.assemble(
            (formats.plain(alert.question, 200).plain, "bold"),
            "\n\nSell all ",
            formats.shares(alert.shares, masked=masked),
            " ",
            formats.side(alert.side),
            " at the market, without a price bound: about ",
            brings,
            " $ as the price stands, ",
            formats.price(None if held is None else held.mark),
            ".\n",
            (mode.value, f"bold {mode.value.lower()}"),
            f" {_MODES[mode]} on {alert.venue.value}, {wallet}.\n\n",
            (f"It is sent once. Its end stands in the blotter ({cap('app.blotter')}); ", "muted"),
            ("the monitor goes with it.", "muted"),
        )


def _why_not_on(action: str, row: RiskRow | None) -> str:  # noqa: PLR0911 - a table
    """Why an action does not apply to a row; empty when it does."""
    match action, row:
        case _, None:
            return NO_ROW
        case "edit" | "edit_all" | "mark", AlertView() | ExitView() | PriceAlertView():
            return with_keys(_NO_MONITOR)
        case "remove", AlertView() | ExitView():
            return _STAYS
        case "exit", ExitView() | PriceAlertView():
            return "there is nothing to sell here"
        case "exit", AlertView() if not row.state.is_open:
            return f"its exit is {row.state.value}: nothing is left to do"
        case _:
            return ""


def _monitors(rows: Sequence[RiskRow]) -> tuple[MonitorView, ...]:
    return tuple(row for row in rows if isinstance(row, MonitorView))


def _before(row: MonitorView) -> Command:
    """The order that brings back what guards a position now."""
    if row.stop_pct is None and row.target_pct is None:
        return RemoveMonitor(row.market_id, row.side, row.venue, row.question)
    return SetMonitor(
        row.market_id, row.side, row.venue, row.stop_pct, row.target_pct, row.question
    )


def _all_before(rows: Sequence[MonitorView]) -> tuple[Command, ...]:
    orders = tuple(order for row in rows if isinstance(order := _before(row), SetMonitor))
    return (SetMonitors(orders),) if len(orders) > 1 else orders

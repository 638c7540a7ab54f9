"""What every screen with one table does alike: search, focus, copy, explain, open the ticket.

`panes` builds on it.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final, Generic, TypeVar

from textual import events, on
from textual.actions import SkipAction
from textual.app import App
from textual.binding import BindingType

from service_tui.console.forms.explain import Explain, Explanation
from service_tui.console.forms.monitor_draft import Change, why_not_set
from service_tui.console.forms.order_draft import why_closed
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.freshness import of_wall
from service_tui.console.key_queue import say_gone
from service_tui.console.keys import bindings_of, cap
from service_tui.console.messages import Said
from service_tui.console.parts.base import CopiedRecord, DeskScreen
from service_tui.console.search import Search, names_of, read_search
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.record_table import RecordTable, TableState
from service_tui.desk.commands.risk import SetPriceAlert
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.freshness import why_not_traded
from service_tui.desk.slices.records import MarketView, Topic
from service_tui.desk.slices.risk import MonitorView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import Timestamp

Part = TypeVar("Part")
Row = TypeVar("Row", bound=CopiedRecord)

_MOVE_MONEY: Final = frozenset({"buy", "exit"})
_WANT_A_ROW: Final = _MOVE_MONEY | {
    "star",
    "open_market",
    "copy_cell",
    "copy_row",
    "monitor",
    "price_alert",
}
"""Actions of keys.py that apply to the row in focus."""

NO_ROW: Final = "no row is highlighted"


class RowsScreen(DeskScreen[Part], Generic[Part, Row]):  # noqa: PLR0904 - one action a key
    """A screen around one table, its `/` line and the row in focus.

    A subclass makes `table` before anything else, and says what a row is called, what its numbers
    mean, by what a search finds it, and what is told of the one in focus.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("rows")]

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {}
    """Classes of the screen, each with the width and the height from which it stands."""

    table: RecordTable[Row]

    def __init__(self, state: DeskState, now: Timestamp, typed: str = "") -> None:
        super().__init__(state, now)
        self.line = FilterLine(typed)
        self.search = Search()
        self._sort_kept = ""

    @abstractmethod
    def name_of(self, row: Row) -> str:
        """What a row is called."""

    @abstractmethod
    def explained(self, row: Row | None) -> tuple[Explanation, ...]:
        """The numbers of a row and of the screen, each with formula, inputs, source and age."""

    def words_of(self, row: Row) -> str:
        """Everything that a search finds a row by, casefolded."""
        return self.name_of(row).casefold()

    @property
    def compared(self) -> tuple[str, ...]:
        """Columns that a comparison of the search may name."""
        return ()

    @property
    def names(self) -> dict[str, str]:
        """The column of each name by which the search knows one."""
        return names_of((column.id, column.title) for column in self.table.columns)

    def cell_of(self, row: Row, column: str) -> str:
        """What a row shows in a column of the table."""
        return next((str(one.cell(row)) for one in self.table.columns if one.id == column), "")

    def number_of(self, row: Row, column: str) -> float | None:
        """A row's value in a column that can be compared; None where it has none."""
        del row, column

    @property
    def is_narrowed(self) -> bool:
        """Whether something else than the search leaves rows out."""
        return False

    def wants(self, row: Row) -> bool:
        """Whether a row is shown, as far as the search does not matter."""
        del row
        return True

    def show_focus(self) -> None:
        """Show what there is to know of the row in focus, where there is room."""

    def action_open(self) -> None:
        """Enter, or a double click, on the row in focus."""

    def narrow(self, typed: str) -> None:
        """Show the rows that match; what cannot be read is said, the rest is in force."""
        self.search = read_search(typed, self.compared, names=self.names)
        self.line.say(self.search.problem)
        self.filter_rows()

    def filter_rows(self) -> None:
        """Show what is wanted and found, and leave out the rest."""
        search = self.search

        def keep(row: Row) -> bool:
            return self.wants(row) and search.matches(
                self.words_of(row),
                lambda column: self.number_of(row, column),
                lambda column: self.cell_of(row, column),
            )

        self.table.filter(keep if search or self.is_narrowed else None)
        self.highlight_first_if_lost()
        self.show_focus()

    def show_all(self) -> None:
        """Leave no row out."""
        self.line.clear()
        self.narrow("")

    def is_hidden(self, row: str) -> bool:
        """Whether everything must be shown for the row with this key to be seen."""
        return self.table.order.index_of(row) is None

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on the row with this key, past what would hide it."""
        if row is not None:
            if self.is_hidden(row):
                self.show_all()
            self.table.put_cursor(row)
        self.table.focus()
        self.show_focus()

    def step_out(self) -> bool:
        """From the detail to the list, from the search to all, from marks and filters."""
        if self.has_class("-opened") or not self.table.has_focus:
            self.remove_class("-opened")
            self.table.focus()
        elif self.line.typed:
            self.line.clear()
        elif self.table.order.marked:
            self.table.clear_marks()
        elif self.is_narrowed:
            self.show_all()
        else:
            return False
        return True

    def tick(self) -> None:
        """Redraw what depends on the time."""
        self.table.redraw()
        self.show_focus()

    def show_in_room(self) -> None:
        """Show again what depends on the room there is, which is known now."""
        self.tick()

    def fit(self) -> None:
        """Arrange what there is for the size that the screen has now."""
        width, height = self.size
        for name, (least_width, least_height) in self.sizes.items():
            self.set_class(width >= least_width and height >= least_height, name)

    def keep(self) -> None:
        """Keep the order of the rows, if it was changed, for the next start."""
        sort = sort_text(self.table.state())
        if sort != self._sort_kept:
            self._sort_kept = sort
            self.give(SetPreference(f"sort.{self.name_in_keys}", sort))

    def restore_sort(self, default: str) -> None:
        """Sort as it was kept, else by the default."""
        self._sort_kept = self.state.preferences.get(f"sort.{self.name_in_keys}", default)
        column, _, way = self._sort_kept.partition(" ")
        self.table.sort_by(column, falling=way == "falling")

    def why_not(self, action: str) -> str:
        """Why a key that wants a row, or moves money, does nothing here."""
        if action in _WANT_A_ROW and self.table.selected() is None:
            return NO_ROW
        if action in _MOVE_MONEY:
            topic = Topic.POSITIONS if action == "exit" else Topic.ACCOUNT
            return why_not_traded(self.state, (Topic.MARKETS, topic), self.now)
        if action in {"monitor", "price_alert"} and (why := why_not_changed(self.state)):
            return why
        return super().why_not(action)

    def highlight_first_if_lost(self) -> None:
        """After the operator's own filtering: a row hidden by it hands the cursor on.

        Never after a newer state: there it falls to the neighbour, and keys refuse for a moment.
        """
        order = self.table.order
        if (order.cursor_lost or self.table.has_just_fallen) and len(order):
            self.table.put_cursor(order.key_at(0))

    def row_in_focus(self) -> Row | None:
        """The highlighted row; None, and said, when it vanished: an action must then refuse."""
        row = self.table.selected()
        if row is None and self.table.order.cursor:
            say_gone(self)
        elif row is None:
            self.post_message(Said(self.table.empty, "warn"))
        return row

    def open_ticket(
        self, market: MarketView, side: Side | None, action: Action, venue: Venue = Venue.SIM
    ) -> None:
        """Open the order ticket, unless the market is closed or its price too old to trade on."""
        topics = (Topic.MARKETS, Topic.POSITIONS if action is Action.SELL else Topic.ACCOUNT)
        why = why_not_traded(self.state, topics, self.now) or why_closed(market)
        if why:
            self.post_message(Said(why, "bad"))
            return
        form = TradeForm(self.state, self.now, market, side=side, action=action, venue=venue)
        self._app().push_screen(form, self._order_written)

    def open_monitor(self, monitor: MonitorView) -> None:
        """Open the form for the stop and target of a position."""
        from service_tui.console.forms.monitor_form import (  # noqa: PLC0415 - not in the first frame
            MonitorForm,
        )

        why = why_not_changed(self.state) or why_not_set(monitor)
        if why:
            self.post_message(Said(why, "warn"))
            return

        def filled(change: Change | None) -> None:
            if change is None:
                return
            before = self.state.risk.monitor(monitor.key)
            if before is not None and change.is_same_as(before):
                self.post_message(Said("nothing changed: it has this stop and target already"))
            else:
                self.give_change(change)

        self._app().push_screen(MonitorForm(self.state, self.now, monitor), filled)

    def give_change(self, change: Change) -> None:
        """Order what a form returned."""
        self.give(change.command)

    def open_price_alert(self, market_id: str, side: Side) -> None:
        """Open the form that adds a price alert on a market."""
        from service_tui.console.forms.price_alert import (  # noqa: PLC0415 - not in the first frame
            PriceAlertForm,
        )

        market = self.state.markets.get(market_id)
        why = why_not_changed(self.state) or (
            f"its market is not in the list now: {cap('app.refresh')} asks again"
            if market is None
            else why_closed(market)
        )
        if market is None or why:
            self.post_message(Said(why, "warn"))
            return

        def filled(alert: SetPriceAlert | None) -> None:
            if alert is not None:
                self.give(alert)

        self._app().push_screen(PriceAlertForm(self.state, self.now, market, side), filled)

    def is_refused(self, action: str) -> bool:
        """Whether a key does nothing now, which is then said."""
        why = self.why_not(action)
        if why:
            if why == NO_ROW and self.table.order.cursor is not None:
                say_gone(self)
            else:
                self.post_message(Said(why, "warn"))
        return bool(why)

    def action_filter(self) -> None:
        """Type into the `/` line."""
        self.line.begin()

    def action_one_out(self) -> None:
        """Clear the search, or leave the detail; else whoever is further out may."""
        if not self.step_out():
            raise SkipAction

    def action_sort_next(self) -> None:
        """Sort by the next column, from wherever the focus is."""
        self.table.action_sort_next()

    def action_sort_reverse(self) -> None:
        """Turn the order round, from wherever the focus is."""
        self.table.action_sort_reverse()

    def action_copy_cell(self) -> None:
        """Copy what the row is called."""
        row = self.row_in_focus()
        if row is not None:
            self.copy(self.name_of(row), "the name")

    def action_copy_row(self) -> None:
        """Copy the row as JSON."""
        row = self.row_in_focus()
        if row is not None:
            self.copy_record(row, "the row as JSON")

    def action_explain(self) -> None:
        """Say what the numbers are made of."""
        row = self.table.selected()
        parts = self.explained(row)
        if parts:
            title = self.title if row is None else self.name_of(row)
            self._app().push_screen(Explain(title, parts, self.now, of_wall(self.state)))
        else:
            self.row_in_focus()

    @on(FilterLine.Typed)
    def _line_typed(self, event: FilterLine.Typed) -> None:
        event.stop()
        self.narrow(event.text)

    @on(FilterLine.Left)
    def _line_left(self, event: FilterLine.Left) -> None:
        event.stop()
        self.table.focus()

    @on(RecordTable.Moved)
    def _row_moved(self, event: RecordTable.Moved) -> None:
        event.stop()
        self.show_focus()

    @on(RecordTable.Opened)
    def _row_opened(self, event: RecordTable.Opened) -> None:
        event.stop()
        self.action_open()

    @on(events.Resize)
    def _resized(self) -> None:
        self.fit()
        # Within the layout that this event is part of, a new size would be lost.
        self.call_after_refresh(self.show_in_room)

    @on(RecordTable.Lost)
    def _row_lost(self, event: RecordTable.Lost) -> None:
        event.stop()
        self.row_in_focus()

    def _order_written(self, order: PlaceTrade | None) -> None:
        if order is not None:
            self.give(order)

    def _app(self) -> App[object]:
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return app


def why_not_changed(state: DeskState) -> str:
    """Why nothing is changed from here, in one sentence; empty when it may be."""
    return "this desk is read-only: it changes nothing" if state.service.read_only else ""


def sort_text(state: TableState) -> str:
    """How a table is sorted, as a preference keeps it."""
    return f"{state.sort or ''} {'falling' if state.falling else 'rising'}"

"""A screen of tables, made from data: tables, actions, and the detail of the row in focus.

A screen's folder holds `table.py` (its `TableSpec`s), `actions.py` (its `ScreenAction`s),
`detail.py` (the texts of a row: functions of the row and a `ViewContext`), `forms.py` (forms
that no other screen opens) and `screen.py`, which puts them together:

    class MonitorsScreen(TableScreen[RiskRow]):
        BINDINGS = [*bindings_of("monitors")]
        name_in_keys, title = "monitors", "Monitors"
        tables, actions = TABLES, ACTIONS
        watches = ("risk", "positions", "service.phase")

        def compose(self): ...             # places self.tabs, self.line, self.lists, self.pane
        def detail(self, row, view): ...   # head, body and rest of the pane
        def explain(self, row, view): ...  # sources of the numbers
        def show_header(self): ...         # the lines above the tables, if there are any

Nothing else has to be inherited or registered: bindings, footer, help and palette come from the
rows of `keys.py`, reasons for a disabled key from `requires`, search and sorting from the tables.
A chart or a strip of filters is a widget of its own that the screen makes, and shows in
`show_parts`, `show_header` or `show_detail`. It also keeps the person's choices for this screen:
actions reach it with `screen.query_one(MarketChips)`. A screen whose rows depend on such a choice
overrides `rows` and `empty_text`; a choice by key that only hides rows is `only`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from rich.text import Text
from textual import events, on
from textual.actions import SkipAction
from textual.app import App
from textual.binding import BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget

from service_tui.console.actions import NO_ROW, ScreenAction, barred_reason
from service_tui.console.forms.explain import Explain, Explanation
from service_tui.console.forms.sort_menu import USUAL, SortMenu, sort_choices
from service_tui.console.freshness import of_wall, without_desk
from service_tui.console.key_queue import show_row_gone
from service_tui.console.keys import KeyBinding, bindings_of
from service_tui.console.parts.view_memory import VIEW, ViewMemory
from service_tui.console.search import Search, names_of, read_search
from service_tui.console.table_spec import TableSpec
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import whole_order
from service_tui.console.widgets.detail_pane import Detail, DetailPane
from service_tui.console.widgets.dialog import open_above
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.numbered_view import CopiedRecord, NumberedView
from service_tui.console.widgets.record_table import RecordTable, TableState
from service_tui.console.widgets.segmented_control import SegmentedControl
from service_tui.console.widgets.text_block import MeasuredBlock
from service_tui.desk.command import Command
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.own_notes import noted_since
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

if TYPE_CHECKING:
    from service_tui.console.saved import NamedFilter

Row = TypeVar("Row", bound=CopiedRecord)
Result = TypeVar("Result")

BARS: Final = 3
"""Rows that the bars above and below a screen take, until the first layout has counted them."""

REST_S: Final = 2.0
"""A cursor that moves on within this time is not written down."""

LIST_CELLS, LIST_LINES = 40, 6
"""Room that a list keeps beside or above its pane, whatever a person wants."""

PANE_CELLS, PANE_LINES = 24, 4
"""The least of a pane."""

STEP_CELLS, STEP_LINES = 4, 1
"""What a key moves the line between them by."""

NO_SORT: Final = "no sortable column"

_OF_ROWS: Final = frozenset({
    *("filter", "saved", "columns", "copy_cell", "copy_row", "explain", "one_out"),
})
"""Actions of `rows` that are the screen's; sorting is its table's."""


@dataclass(frozen=True)
class Only(Generic[Row]):
    """A choice by key that hides rows: which stay, and its name in the header."""

    wants: Callable[[Row], bool]
    name: str = ""


class TableScreen(NumberedView, Generic[Row]):  # noqa: PLR0904 - one action a key
    """Tabs, tables, a search line and a detail pane. One table is in front.

    The search and `only` apply to the table in front. The table in front, the search, the width of
    the list, and of each table order, cursor and scroll position are kept for the next start.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("rows")]

    tables: tuple[TableSpec[Any], ...]
    """At least one; the first is in front at first."""

    actions: ClassVar[tuple[ScreenAction[Any], ...]] = ()
    """One for each key of the screen in `keys.py`."""

    opens: ClassVar[str] = ""
    """Id of the action that enter and a double click on a row perform; empty: the pane opens."""

    watches: ClassVar[tuple[str, ...]]
    """Fields of the state, dotted, whose change is shown; otherwise only time has passed. Masking
    and `is_loaded` of each table are watched automatically. A screen whose rows depend on all of
    the state, or on the time, overrides `watched` instead."""

    is_searched: ClassVar[bool] = True
    """Whether the keys of `rows` search, copy and explain here. A screen without them, whose class
    has `inherit_bindings=False` as well, places no `line`."""

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-with-detail": (0, 18),
        "-tall": (0, 30),
        "-two": (110, 0),
    }
    """CSS classes of the screen, each with the width and the height from which it is set."""

    pane_type: ClassVar[type[DetailPane] | None] = DetailPane
    """The pane of the row in focus; None for a screen that overrides `show_detail`."""

    beside: ClassVar[str] = "-with-detail"
    """The class of `sizes` with which the detail is beside the list, or below it."""

    across: ClassVar[str] = ""
    """The class of `sizes` with which the pane stands right of the list; below it without."""

    has_split: ClassVar[bool] = True
    """Whether a person may move the line between the list and the pane."""

    question_cells: ClassVar[Mapping[int, int]] = {160: 46}
    """Cells of a question before further columns are shown, by the least width of the terminal,
    the largest first."""

    name_cells: ClassVar[Mapping[int, int]] = {160: 46}
    """The same of the flexible column of a table without questions."""

    leaves_rows_out: ClassVar[bool] = False
    """Whether `rows` itself applies the search, so that `empty_text` can name the reason for an
    empty table; otherwise the table hides those rows."""

    no_row_text: ClassVar[str] = NO_ROW
    """Text of the pane without a highlighted row."""

    def __init__(self, state: DeskState, now: Timestamp, typed: str | None = None) -> None:
        """A screen; `typed` is its search, if the screen itself keeps that."""
        super().__init__(state, now)
        name = self.name_in_keys
        self._view_kept = kept = ViewMemory.from_text(state.preferences.get(f"{VIEW}{name}", ""))
        self._view_rested = kept, now
        self.place = kept.tab if kept.tab < len(self.tables) else 0
        typed = (kept.search if self.is_searched else "") if typed is None else typed
        self.lists = tuple(
            RecordTable[Row](
                spec.columns,
                key=spec.key,
                empty=spec.empty_text(state),
                view=lambda: self.view,
                id=f"{name}-list-{place}",
            )
            for place, spec in enumerate(self.tables)
        )
        for table, spec in zip(self.lists, self.tables, strict=True):
            table.newest_on_top, table.keeps_row = spec.newest_on_top, spec.keeps_row
            table.newest_by = spec.sort if spec.falling else ""
        self.tabs = SegmentedControl(id=f"{name}-which")
        self.line = FilterLine(typed)
        self.pane = None if self.pane_type is None else self.pane_type(id=f"{name}-detail")
        self.search = self.parsed(typed)
        self.only: Only[Row] | None = None
        self._whole_search = "", ""
        """The search as typed, and the terms of it that the table in front uses."""
        self.is_wide = kept.wide
        self._pane_size = kept.pane
        self._drags = False
        self.take_back: tuple[Command, ...] = ()
        """The commands that undo the last change made here; empty without one."""
        self._shown: object = None
        self._sort_kept = ""
        self.add_class(f"-list-{self.place}", update=False)

    # -- content of a screen --------------------------------------------------------------------

    def detail(self, row: Row, view: ViewContext) -> Detail:
        """Describe a row for the pane; `view.width` is the cells of one of its lines."""
        raise NotImplementedError

    def explain(self, row: Row | None, view: ViewContext) -> tuple[Explanation, ...]:
        """The numbers of a row and of the screen, each with formula, inputs, source and age."""
        raise NotImplementedError

    def name_of(self, row: Row) -> str:
        """The name of a row, in a title and on the clipboard."""
        return str(getattr(row, "question", ""))

    def title_line(self, row: Row) -> str:
        """The whole title of a row, for a line below a table without a pane beside it."""
        return self.name_of(row)

    def show_header(self) -> None:
        """Show the lines above the tables: the tabs, if there are several."""
        if len(self.tables) > 1:
            self.show_tabs()

    def show_parts(self) -> None:
        """Show charts and other widgets after a watched field has changed."""

    def show_tabs(self, strong: Iterable[int] = ()) -> None:
        """Show the name and the number of rows of each table; those in `strong` stand out."""
        labels = tuple(spec.label(self.state) for spec in self.tables)
        self.tabs.show(labels, self.place, strong=frozenset(strong))

    @on(events.Compose)
    def _set_expected_classes(self) -> None:
        """Set the classes of the expected size before the widgets are mounted and styled."""
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        deck = self.parent.size if isinstance(self.parent, Widget) else Size()  # pyright: ignore[reportUnknownMemberType] - untyped
        self._set_classes(deck or app.size - (0, BARS))

    def _set_classes(self, size: Size) -> None:
        """Set the classes that the styles know this size by."""
        width, height = size
        wanted = {
            name: not (self.is_wide and name == self.beside)
            and width >= least_width
            and height >= least_height
            for name, (least_width, least_height) in self.sizes.items()
        }
        if self.pane is not None and wanted.get("-with-detail"):
            wanted["-opened"] = False
        # At once: every change of a class has all widgets of the screen styled anew.
        self.update_classes(wanted)
        if self.pane is not None:
            self.pane.set_class(self.has_class("-two"), "-two", update=self.pane.is_attached)

    def fit(self) -> None:
        """Arrange the widgets for the screen's present size."""
        self._set_classes(self.size)
        self._divide()
        width = self.size.width
        for table in self.lists:
            table.title_of = self.title_line
            table.shows_title = self.pane is not None and not self.has_class("-with-detail")
            has_questions = any(one.flex and one.keeps_end for one in table.columns)
            wanted = self.question_cells if has_questions else self.name_cells
            least = (cells for from_, cells in wanted.items() if width >= from_)
            table.text_min = next(least, None)

    # -- the state ------------------------------------------------------------------------------

    @property
    def spec(self) -> TableSpec[Any]:
        """The declaration of the table in front."""
        return self.tables[self.place]

    @property
    def table(self) -> RecordTable[Row]:
        """The table in front."""
        return self.lists[self.place]

    def on_mount(self) -> None:
        """Restore order, cursor and search as they were kept, else as they are declared.

        Textual calls it beside an `on_mount` of a subclass, which must not call it again.
        """
        for place, (table, spec) in enumerate(zip(self.lists, self.tables, strict=True)):
            usual = TableState(spec.sort, spec.falling)
            table.restore(self._view_kept.list_at(place) or usual)
        default = _sort_text(TableState(self.tables[0].sort, self.tables[0].falling))
        self._sort_kept = self.state.preferences.get(f"sort.{self.name_in_keys}", default)
        column, _, way = self._sort_kept.partition(" ")
        self.lists[0].sort_by(column, falling=way == "falling")
        self.restore_choices(self._view_kept.choices)
        if not self._view_kept.lists:
            self._view_kept = self.memory()
            self._view_rested = self._view_kept, self.now
        if not self.leaves_rows_out:
            self._filter_table()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive the newest state. `now` is wall time."""
        self.state, self.now = state, now
        watched = self.watched()
        if watched == self._shown:
            self.tick()
        else:
            self._shown = watched
            self.show_state()
        self.keep()

    def watched(self) -> object:
        """The part of the newest state that is shown; the screen updates once it differs."""
        loaded = tuple(spec.is_loaded(self.state) for spec in self.tables)
        fields, notes = attrgetter(*self.watches)(self.state), noted_since(self.state)
        return fields, loaded, self.view.masked, notes

    def show_state(self) -> None:
        """Update parts, rows, header and the row in focus from the state."""
        self.show_parts()
        self.show_rows()
        self.show_header()
        self.show_detail()

    def tick(self) -> None:
        """Redraw everything that depends on the time."""
        self.table.redraw()
        self.show_detail()
        self.show_header()

    def keep(self) -> None:
        """Keep the order of the first table at once, the rest once it has rested."""
        if self.is_guest:
            return
        sort = _sort_text(self.lists[0].state())
        if self.place == 0 and sort != self._sort_kept:
            self._sort_kept = sort
            self.give(SetPreference(f"sort.{self.name_in_keys}", sort))
        memory, (rested, since) = self.memory(), self._view_rested
        if memory.chosen != rested.chosen:
            self._view_rested = memory, self.now
        elif memory.chosen != self._view_kept.chosen and abs(self.now - since) >= REST_S:
            kept = self.view_to_keep()
            if kept is not None:
                self.give(kept)

    def memory(self) -> ViewMemory:
        """What the person set on this screen."""
        return ViewMemory(
            self.place,
            self.is_wide,
            self.line.typed if self.is_searched else "",
            tuple(table.state() for table in self.lists),
            self.choices(),
            self._pane_size,
        )

    def choices(self) -> Mapping[str, str]:
        """Choices of this screen alone that are kept for the next start."""
        return {}

    def restore_choices(self, choices: Mapping[str, str]) -> None:
        """Apply what `choices` returned before the restart; unknown values are ignored."""

    def view_to_keep(self) -> SetPreference | None:
        """The command that keeps cursor, search and layout for the next start, if they changed."""
        memory = self.memory()
        if memory == self._view_kept:
            return None
        self._view_kept = memory
        return SetPreference(f"{VIEW}{self.name_in_keys}", memory.to_text())

    def show_rows(self) -> None:
        """Show the rows of the table in front."""
        rows = self.rows()
        self.table.empty = without_desk(self.state) or self.empty_text()
        self.table.show(rows)
        if self.is_settled():
            self.table.settle_cursor()

    def is_settled(self) -> bool:
        """True once the table in front has all of its rows from the service."""
        return self.spec.is_loaded(self.state) and not self.state.from_cache

    def rows(self) -> tuple[Row, ...]:
        """The rows of the table in front; a screen with a filter of its own leaves some out."""
        return self.spec.rows(self.state)

    def empty_text(self) -> str:
        """Why the table in front has no rows, and what to do."""
        return self.spec.empty_text(self.state)

    def first_step(self) -> str:
        """Id of the key that brings the first row of the table in front, while it has none."""
        step = self.spec.first_step
        return "" if not step or self.spec.rows(self.state) else step

    def bring_forward(self, place: int) -> None:
        """Bring a table to the front, with the terms of the typed search whose columns it has.

        The others wait until a table that can use them is in front again.
        """
        self.table.look_away()
        self.update_classes({f"-list-{self.place}": False, f"-list-{place}": True})
        self.place = place
        self.show_rows()
        whole, used = self._whole_search
        typed = whole if self.line.typed == used else self.line.typed
        used = " ".join(term for term in typed.split() if not self.parsed(term).problem)
        self._whole_search = typed, used
        self.line.put(used)
        self.narrow(used)

    # -- the row in focus -----------------------------------------------------------------------

    def selected(self) -> Row | None:
        """The highlighted row; None also in the moment after it vanished: actions then refuse."""
        return self.table.selected()

    def row_in_focus(self) -> Row | None:
        """The highlighted row; without one, a toast gives the reason."""
        row = self.selected()
        if row is None:
            self._notify_no_row()
        return row

    def current_row(self) -> str | None:
        """Key of the row under the cursor of the table in front."""
        return self.table.order.cursor

    def rows_chosen(self) -> tuple[str, ...]:
        """Keys of the marked rows, else of those that a filter leaves; empty without both."""
        order = self.table.order
        if order.marked:
            return tuple(order.marked)
        is_filtered = bool(self.search or self.only)
        return tuple(map(order.key_at, range(len(order)))) if is_filtered else ()

    def row_to_return_to(self) -> str | None:
        """Key of the row under the cursor; None if it follows the newest row."""
        is_at_newest = self.spec.newest_on_top and not self.table.is_moved
        return None if is_at_newest else self.current_row()

    def leave(self) -> None:
        """Let journals go to their newest row before the screen is in front again."""
        for table in self.lists:
            table.look_away()

    def current_market(self) -> str:
        """Id of the market of the row under the cursor; empty without one."""
        market_id: object = getattr(self.selected(), "market_id", "")
        return market_id if isinstance(market_id, str) else ""

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on the row with this key, in any table, past filters that hide it."""
        if row is not None:
            place = self._place_of(row)
            if place != self.place:
                self.bring_forward(place)
            if self.is_hidden(row):
                self.show_all()
            self.table.put_cursor(row)
        self.table.focus()
        self.show_detail()

    def is_hidden(self, row: str) -> bool:
        """True if the row with this key is only visible without filters."""
        return self.is_searched and self.table.order.index_of(row) is None

    def _place_of(self, row: str) -> int:
        """The index of a row's table; the one in front for a row that does not exist yet."""
        if len(self.tables) == 1:
            return 0
        holds = (row in map(spec.key, spec.rows(self.state)) for spec in self.tables)
        return next((place for place, is_here in enumerate(holds) if is_here), self.place)

    def _notify_no_row(self) -> None:
        is_empty = not len(self.table.order) and not self.table.has_lost_row
        if self.table.order.cursor and not is_empty:
            show_row_gone(self)
        else:
            self.show_toast(self.table.no_row_text, "warn")

    @property
    def is_beside(self) -> bool:
        """True if the detail takes room that `wide` can give to the list."""
        return self.has_class(self.beside)

    @property
    def shows_detail(self) -> bool:
        """True if the pane is displayed."""
        return self.has_class("-with-detail") or self.has_class("-opened")

    def show_detail(self) -> None:
        """Describe the row in focus, if there is room."""
        if self.pane is not None and self.shows_detail:
            # An empty table has a text of its own: no empty pane below it.
            self.set_class(not len(self.table.order), "-bare")
            row = self.table.highlighted()
            view = ViewContext.of(self.state, self.now, self.pane.text_width)
            # Of an empty table nothing can be selected: its own first words say why.
            text = self.no_row_text if len(self.table.order) else self.table.no_row_text
            nothing = Detail(Text(text.partition("\n")[0], "muted"), Text(), Text())
            self.pane.show(*(nothing if row is None else self.detail(row, view)))

    # -- the search -----------------------------------------------------------------------------

    @property
    def names(self) -> dict[str, str]:
        """The column ids by their names in a search."""
        return names_of((column.id, column.title) for column in self.table.columns)

    def cell_of(self, row: Row, column: str) -> str:
        """The text of a row in a column of the table in front."""
        cells = (one.cell(row, self.view) for one in self.table.columns if one.id == column)
        return str(next(cells, ""))

    def narrow(self, typed: str) -> None:
        """Show the rows that match; problems are shown, the parsed part applies."""
        self.search = self.parsed(typed)
        self.line.show_problem(self.search.problem)
        self.filter_rows()

    def parsed(self, typed: str) -> Search:
        """A typed search, for the table in front."""
        return read_search(typed, tuple(self.spec.compared), names=self.names)

    def filter_rows(self) -> None:
        """Show the rows that pass `only` and the search, and hide the rest."""
        if self.leaves_rows_out:
            self.show_rows()
            self.table.see_all()
        else:
            self._filter_table()
        self.highlight_first_if_lost()
        self.show_detail()
        self.show_header()

    def _filter_table(self) -> None:
        # A table that comes back shows new rows by this search before it is read anew: another
        # table may compare other columns.
        only, search = self.only, self.search

        def keep(row: Row) -> bool:
            return (only is None or only.wants(row)) and self.is_found(row, search)

        self.table.filter(keep if search or only else None)

    def is_found(self, row: Row, search: Search) -> bool:
        """True if a row of the table in front matches a search."""
        spec, view = self.spec, self.view
        return search.matches(
            spec.search_text(row, view),
            lambda column: spec.compared[column](row, view),
            lambda column: self.cell_of(row, column),
        )

    def show_all(self) -> None:
        """Remove every filter."""
        self.only, self._whole_search = None, ("", "")
        self.line.clear()
        self.narrow("")

    def highlight_first_if_lost(self) -> None:
        """After the operator's own filtering: a cursor on a hidden row moves to the first.

        Never after a newer state: there it falls to the neighbour, and keys refuse for a moment.
        """
        order = self.table.order
        if self.table.awaits_cursor:
            return
        if (order.cursor_lost or self.table.has_lost_row) and len(order):
            self.table.put_cursor(order.key_at(0))

    # -- the actions ----------------------------------------------------------------------------

    def disabled_reason(self, key: KeyBinding) -> str:
        """Why a key of this screen or of its tables is disabled now; empty if it works."""
        own = next((action for action in self.actions if action.id == key.ident), None)
        if own is None:
            return super().disabled_reason(key)
        return barred_reason(self.state, own.id) or own.disabled_reason(self)

    def list_reason(self, action: str) -> str:
        """Why an action that every table offers is disabled now."""
        if action in _OF_ROWS and not self.is_searched:
            return "not here"
        if action in {"copy_cell", "copy_row"} and self.selected() is None:
            return NO_ROW
        if action.startswith("sort_") and all(one.sort_key is None for one in self.table.columns):
            return NO_SORT
        if action == "wide" and not (self.is_wide or self.is_beside):
            return "no detail beside the list"
        return super().list_reason(action)

    def action_perform(self, ident: str) -> None:
        """Run a declared action, or show why it is disabled."""
        action = next(action for action in self.actions if action.id == ident)
        rewound, why = barred_reason(self.state, ident), action.disabled_reason(self)
        if rewound:
            self.show_toast(rewound, "warn")
        elif not why:
            action.run(self)
        elif why == NO_ROW:
            self._notify_no_row()
        else:
            self.show_toast(self.refusal(action, why), "warn")

    def refusal(self, action: ScreenAction[Any], why: str) -> str:
        """Message for an action that is disabled for this reason."""
        del action
        return why

    def open_dialog(
        self,
        dialog: ModalScreen[Result] | ModalScreen[Result | None],
        then: Callable[[Result], None] | None = None,
    ) -> None:
        """Open a dialog, and pass its result on unless it was left."""
        open_above(self, dialog, then)

    def step_out(self) -> bool:
        """From the detail to the table, from the search to all, from marks and choices, to tab 1.

        Returns:
            False if nothing is left to leave.
        """
        if self.has_class("-opened") or not self.table.has_focus:
            self.remove_class("-opened")
            self.table.focus()
        elif self.line.typed:
            self.line.clear()
        elif self.table.order.marked:
            self.table.clear_marks()
        elif self.only:
            self.show_all()
        elif self.place:
            self.bring_forward(0)
            self.table.focus()
        else:
            return False
        return True

    def open_row(self) -> None:
        """Handle enter: perform the action that `opens` names, else bring the pane to the front."""
        if self.opens:
            self.action_perform(self.opens)
        elif self.pane is not None:
            # Without room for both, the pane replaces the table.
            self.set_class(not self.has_class("-with-detail"), "-opened")
            self.pane.focus()
            self.call_after_refresh(self.show_detail)

    def action_filter(self) -> None:
        """Type into the `/` line."""
        self.line.begin()

    def action_one_out(self) -> None:
        """Clear the search, or leave the detail; else pass on to the next level."""
        if not self.step_out():
            raise SkipAction

    def action_sort_next(self) -> None:
        """Sort by the next column, whatever has the focus."""
        self.table.action_sort_next()

    def action_sort_reverse(self) -> None:
        """Reverse the order, whatever has the focus."""
        self.table.action_sort_reverse()

    def action_sort_menu(self) -> None:
        """List the columns to sort by; one key each."""
        table = self.table
        choices = sort_choices(table.columns, table.state(), table.shown_columns)
        if choices:
            self.open_dialog(SortMenu(self.state, self.now, choices), self._sort_chosen)
        else:
            self.show_toast(NO_SORT, "warn")

    def _sort_chosen(self, column: str) -> None:
        if column == USUAL:
            self.table.sort_by(self.spec.sort, falling=self.spec.falling)
        else:
            self.table.pick_sort(column)

    def action_saved(self) -> None:
        """List the saved filters of this screen: apply one, save the one in force, remove one."""
        from service_tui.console.forms.saved_filters import (  # noqa: PLC0415 - not in the first frame
            SavedFilters,
        )

        in_force = self.filter_to_save()
        dialog = SavedFilters(self.state, self.now, self.name_in_keys, in_force)
        self.open_dialog(dialog, self.apply_filter)

    def filter_to_save(self) -> "NamedFilter":
        """The filter in force, without a name."""
        from service_tui.console.saved import NamedFilter  # noqa: PLC0415 - not in the first frame

        return NamedFilter("", self.place, self.line.typed, self.choices())

    def apply_filter(self, saved: "NamedFilter") -> None:
        """Filter as it was saved, instead of what is in force."""
        if saved.tab != self.place and saved.tab < len(self.lists):
            self.bring_forward(saved.tab)
        self.show_all()
        self.restore_choices(saved.choices)
        self.line.put(saved.search)
        self.narrow(saved.search)
        self.table.focus()

    def action_columns(self) -> None:
        """List the columns of the table in front, to show, hide and move them."""
        from service_tui.console.forms.column_menu import (  # noqa: PLC0415 - not in the first frame
            ColumnMenu,
        )

        table = self.table
        choices, shown = table.column_choices, table.shown_columns
        columns = whole_order(table.columns, choices)
        dialog = ColumnMenu(self.state, self.now, columns, choices, shown)
        self.open_dialog(dialog, table.choose_columns)

    def action_wide(self) -> None:
        """Give the pane's room to the list, or take it back."""
        why = self.list_reason("wide")
        if why:
            self.show_toast(why, "warn")
            return
        self.is_wide = not self.is_wide
        self.fit()
        self.call_after_refresh(self.show_in_room)
        self.show_toast("list over the whole width" if self.is_wide else "list and detail")

    # -- the line between the list and the pane --------------------------------------------------

    @property
    def split_part(self) -> Widget | None:
        """What lies behind the line that a person can move; None without one."""
        is_shown = self.has_split and self.shows_detail and not self.has_class("-opened")
        return self.pane if is_shown else None

    @property
    def _is_across(self) -> bool:
        return bool(self.across) and self.has_class(self.across)

    @property
    def has_pane_size(self) -> bool:
        """True if the person has moved the line that stands there now."""
        return bool(self._pane_size[0 if self._is_across else 1])

    def _divide(self) -> None:
        """Give the pane as much room as the person wants, and leave the list enough to be read."""
        part = self.split_part
        if part is None:
            return
        width, height = self._pane_size
        cells = max(0, min(width, self.size.width - LIST_CELLS)) if self._is_across else 0
        lines = 0 if self._is_across else max(0, min(height, self.size.height - LIST_LINES))
        styles = part.styles
        styles.width = styles.max_width = cells or None
        styles.height = lines or None

    def move_split(self, size: int) -> None:
        """Give the pane so many cells or lines."""
        width, height = self._pane_size
        if self._is_across:
            size = max(PANE_CELLS, min(size, self.size.width - LIST_CELLS))
            self._pane_size = size, height
        else:
            size = max(PANE_LINES, min(size, self.size.height - LIST_LINES))
            self._pane_size = width, size
        self.fit()
        self.call_after_refresh(self.show_in_room)

    def action_split(self, by: int) -> None:
        """Make the pane larger (1) or smaller (-1)."""
        part = self.split_part
        if part is None:
            self.show_toast("no detail beside the list", "warn")
        elif self._is_across:
            self.move_split(part.outer_size.width + STEP_CELLS * by)
        else:
            self.move_split(part.outer_size.height + STEP_LINES * by)

    @on(events.MouseDown)
    def _begin_to_drag(self, event: events.MouseDown) -> None:
        part = self.split_part
        if part is None or not part.region.contains(event.screen_x, event.screen_y):
            return
        x, y = part.region.offset
        if (event.screen_x == x) if self._is_across else (event.screen_y == y):
            event.stop()
            self._drags = True
            self.capture_mouse()

    @on(events.MouseMove)
    def _drag(self, event: events.MouseMove) -> None:
        part = self.split_part
        if self._drags and part is not None:
            event.stop()
            right, bottom = part.region.right, part.region.bottom
            self.move_split(right - event.screen_x if self._is_across else bottom - event.screen_y)

    @on(events.MouseUp)
    def _drop(self, event: events.MouseUp) -> None:
        if self._drags:
            event.stop()
            self._drags = False
            self.release_mouse()

    def action_copy_cell(self) -> None:
        """Copy the row's name."""
        row = self.row_in_focus()
        if row is not None:
            self.copy(self.name_of(row), "the name")

    def action_copy_row(self) -> None:
        """Copy the row as JSON."""
        row = self.row_in_focus()
        if row is not None:
            self.copy_record(row, "the row as JSON")

    def action_explain(self) -> None:
        """Explain the numbers of the row."""
        row = self.selected()
        parts = self.explain(row, self.view)
        if parts:
            title = self.title if row is None else self.name_of(row)
            self.open_dialog(Explain(title, parts, self.now, of_wall(self.state)))
        else:
            self.row_in_focus()

    # -- events ---------------------------------------------------------------------------------

    @on(SegmentedControl.Picked)
    def _tab_chosen(self, event: SegmentedControl.Picked) -> None:
        if event.choice is self.tabs:
            event.stop()
            self.bring_forward(event.index)
            self.table.focus()

    @on(FilterLine.Typed)
    def _search_typed(self, event: FilterLine.Typed) -> None:
        event.stop()
        self.narrow(event.text)

    @on(FilterLine.Left)
    def _search_left(self, event: FilterLine.Left) -> None:
        event.stop()
        self.table.focus()

    @on(RecordTable.SortMenuRequested)
    def _sort_menu_requested(self, event: RecordTable.SortMenuRequested) -> None:
        event.stop()
        self.action_sort_menu()

    @on(RecordTable.Moved)
    def _row_moved(self, event: RecordTable.Moved) -> None:
        event.stop()
        self.show_detail()

    @on(RecordTable.Opened)
    def _row_opened(self, event: RecordTable.Opened) -> None:
        event.stop()
        self.open_row()

    @on(RecordTable.Lost)
    def _row_lost(self, event: RecordTable.Lost) -> None:
        event.stop()
        self.row_in_focus()

    @on(MeasuredBlock.Widened)
    def _detail_widened(self, event: MeasuredBlock.Widened) -> None:
        event.stop()
        self.show_detail()

    @on(events.Resize)
    def _resized(self) -> None:
        self.fit()
        # Within the layout that this event is part of, a new size would be lost.
        self.call_after_refresh(self.show_in_room)

    def show_in_room(self) -> None:
        """Show again the parts that depend on the room, which is known now."""
        self.tick()


def _sort_text(state: TableState) -> str:
    """The sort order of a table as a preference stores it."""
    return f"{state.sort or ''} {'falling' if state.falling else 'rising'}"

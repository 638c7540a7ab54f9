"""What guards the positions: monitors, alerts, exits and price alerts, and one of them in detail.

Knows the desk's state. Must not know any other screen but by its name.
Used by the app as screen 3.
"""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from service_tui.console.dialogs.explain import Explanation
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of
from service_tui.console.screens.alert_columns import (
    Look,
    alert_columns,
    exit_columns,
    price_alert_columns,
)
from service_tui.console.screens.monitor_acts import MonitorActs
from service_tui.console.screens.monitor_columns import COMPARED, monitor_columns
from service_tui.console.screens.monitor_numbers import monitor_numbers
from service_tui.console.screens.monitor_text import (
    guard_line,
    told_of,
    urgent_line,
    why_empty,
)
from service_tui.console.screens.risk_rows import (
    LISTS,
    RiskRow,
    key_of,
    number_of,
    rows_of,
    words_of,
)
from service_tui.console.search import Search, read_search
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.columns import lifted
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.words import Words
from service_tui.desk.records import PositionView, Topic
from service_tui.desk.records_risk import AlertView, ExitView, MonitorView, PriceAlertView, RiskView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DETAIL_FROM: Final = 18
TALL_FROM: Final = 30
"""Heights from which the detail stands below the list, and from which it has more lines."""

TWO_FROM: Final = 110
"""Width from which the detail has two columns."""

_SORTS: Final = (
    ("way", False),
    ("time", True),
    ("time", True),
    ("created", True),
)
"""How each list is sorted at first: what is nearest to its end, else the newest on top."""


class MonitorsPart(NamedTuple):
    """What this screen shows."""

    risk: RiskView
    positions: tuple[PositionView, ...]
    service: tuple[str, str]
    is_seen: bool
    masked: bool


class MonitorsScreen(MonitorActs[MonitorsPart]):  # noqa: PLR0904 - one action a key
    """Four lists, one of them in front, and the row in focus below."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("monitors")]

    name_in_keys: ClassVar[str] = "monitors"
    title: ClassVar[str] = "Monitors"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        columns = (
            lifted(MonitorView, monitor_columns(lambda: is_private(self.state))),
            lifted(AlertView, alert_columns(self._look)),
            lifted(ExitView, exit_columns(self._look)),
            lifted(PriceAlertView, price_alert_columns(self._look)),
        )
        self._lists = tuple(
            RecordTable[RiskRow](each, key=key_of, empty="", id=f"monitors-list-{place}")
            for place, each in enumerate(columns)
        )
        self._place = 0
        self.table = self._lists[0]
        self.line = FilterLine()
        self._search = Search()
        self._which = Choice(id="monitors-which")
        self._pane = DetailPane(id="monitors-detail")

    def compose(self) -> ComposeResult:
        """Which list, what is urgent, the list with its search line, the detail."""
        with Horizontal(id="monitors-top"):
            yield self._which
            yield Words(id="monitors-guarded")
        yield Words(id="monitors-urgent")
        yield from self._lists
        yield self.line
        yield self._pane

    def on_mount(self) -> None:
        """Sort the monitors as last time; the newest is on top of the other lists."""
        column, falling = _SORTS[0]
        self.restore_sort(f"{column} {'falling' if falling else 'rising'}")
        for table, (column, falling) in zip(self._lists[1:], _SORTS[1:], strict=True):
            table.sort_by(column, falling=falling)
        self.add_class("-list-0")

    def part_of(self, state: DeskState) -> MonitorsPart:
        """All that guards, and what there is to guard."""
        service = (state.service.phase.value, state.service.problem)
        seen = Topic.MONITORS in state.seen
        return MonitorsPart(state.risk, state.positions, service, seen, is_private(state))

    def show(self, part: MonitorsPart) -> None:
        """Show the list in front, the counts of all, and the row in focus."""
        risk = part.risk
        self.table.empty = why_empty(self.state, self._place)
        self.table.show(rows_of(risk, self._place))
        self._show_top()
        self._show_focus()

    def tick(self) -> None:
        """Let time pass for what is left of an hour, and for ages."""
        super().tick()
        self._show_top()
        self._show_focus()

    def keep(self) -> None:
        """Keep the order of the monitors; other lists begin with the newest."""
        if self._place == 0:
            super().keep()

    def current_row(self) -> str | None:
        """The row under the cursor of the list in front."""
        return self.table.order.cursor

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a row, in whichever list it stands."""
        if row is not None:
            for place in range(len(LISTS)):
                if any(key_of(each) == row for each in rows_of(self.state.risk, place)):
                    self._take_list(place)
                    break
            if self.table.order.index_of(row) is None:
                self.line.clear()
                self.narrow("")
        super().focus_row(row)
        self._show_focus()

    def narrow(self, typed: str) -> None:
        """Show the rows that match; what cannot be read is said, the rest is in force."""
        self._search = search = read_search(typed, COMPARED if self._place == 0 else ())
        self.line.say(search.problem)

        def keep(row: RiskRow) -> bool:
            return search.matches(words_of(row), lambda column: number_of(row, column))

        self.table.filter(keep if search else None)
        self.highlight_first_if_lost()
        self._show_focus()

    def name_of(self, row: RiskRow) -> str:
        """Its question."""
        return row.question

    def explained(self, row: RiskRow | None) -> tuple[Explanation, ...]:
        """Where stop, target and what an exit brings come from."""
        return () if row is None else monitor_numbers(row, self.state, self.now)

    def step_out(self) -> bool:
        """From the detail to the list, from the search to all, from marks, to the monitors."""
        if self.has_class("-opened") or not self.table.has_focus:
            self.remove_class("-opened")
            self.table.focus()
        elif self._search:
            self.line.clear()
        elif self.table.order.marked:
            self.table.clear_marks()
        elif self._place:
            self._take_list(0)
            self.table.focus()
        else:
            return False
        return True

    def action_next_list(self) -> None:
        """Show the next list."""
        self._take_list((self._place + 1) % len(LISTS))
        self.table.focus()

    @on(Choice.Asked, "#monitors-which")
    def _which_asked(self, event: Choice.Asked) -> None:
        event.stop()
        self._take_list(event.index)
        self.table.focus()

    @on(RecordTable.Moved)
    def _moved(self) -> None:
        self._show_focus()

    @on(RecordTable.Opened)
    def _opened(self) -> None:
        self.set_class(self.size.height < DETAIL_FROM, "-opened")
        self._pane.focus()
        self.call_after_refresh(self._show_focus)

    @on(events.Resize)
    def _resized(self) -> None:
        width, height = self.size
        self.set_class(height >= DETAIL_FROM, "-with-detail")
        self.set_class(height >= TALL_FROM, "-tall")
        self.set_class(self.has_class("-opened") and height < DETAIL_FROM, "-opened")
        self._pane.set_class(width >= TWO_FROM, "-two")
        self.call_after_refresh(self._show_top)
        self.call_after_refresh(self._show_focus)

    def _look(self) -> Look:
        return Look(self.state, self.now, is_private(self.state))

    def _take_list(self, place: int) -> None:
        """Bring a list to the front, with the search that is typed."""
        self.remove_class(f"-list-{self._place}")
        self._place, self.table = place, self._lists[place]
        self.add_class(f"-list-{place}")
        self.table.empty = why_empty(self.state, place)
        self.table.show(rows_of(self.state.risk, place))
        self.narrow(self.line.typed)
        self._show_top()

    def _show_top(self) -> None:
        risk = self.state.risk
        waiting = len(risk.open_alerts)
        counts = (len(risk.monitors), len(risk.alerts), len(risk.exits), len(risk.price_alerts))
        labels = tuple(f"{name} {count}" for name, count in zip(LISTS, counts, strict=True))
        self._which.show(labels, self._place, strong=frozenset({1} if waiting else ()))
        self.query_one("#monitors-guarded", Words).tell(guard_line(self.state))
        urgent = urgent_line(self.state, self.now)
        block = self.query_one("#monitors-urgent", Words)
        block.display = bool(urgent.plain)
        block.tell(urgent)

    def _show_focus(self) -> None:
        """Show the row under the cursor, where there is room."""
        if not (self.has_class("-with-detail") or self.has_class("-opened")):
            return
        row = self.table.selected()
        # An empty list has a text of its own: no empty pane below it.
        self.set_class(not len(self.table.order), "-bare")
        if row is None:
            self._pane.show(Text("no row is highlighted", "muted"), Text(), Text())
            return
        self._pane.show(*told_of(row, self.state, self.now, self._pane.text_width))

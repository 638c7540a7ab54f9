"""What guards the positions: monitors, alerts, exits, price alerts, and one of them in detail."""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import counted, is_heard, is_private
from service_tui.console.keys import bindings_of
from service_tui.console.parts.alert_columns import (
    Look,
    alert_columns,
    exit_columns,
    price_alert_columns,
)
from service_tui.console.parts.monitor_columns import COMPARED, monitor_columns
from service_tui.console.parts.monitor_text import guard_line, told_of, urgent_line, why_empty
from service_tui.console.parts.risk_rows import (
    LISTS,
    PRICE_ALERTS,
    RiskRow,
    key_of,
    number_of,
    rows_of,
    words_of,
)
from service_tui.console.screens.monitors.actions import MonitorActs
from service_tui.console.screens.monitors.numbers import monitor_numbers
from service_tui.console.widgets.columns import lifted
from service_tui.console.widgets.words import Words
from service_tui.desk.slices.records import PositionView, Topic
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, PriceAlertView, RiskView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

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


class MonitorsScreen(MonitorActs[MonitorsPart]):  # noqa: PLR0904 - one hook a list
    """Four lists, one of them in front, and the row in focus below."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("monitors")]

    name_in_keys: ClassVar[str] = "monitors"
    title: ClassVar[str] = "Monitors"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.make_lists(
            key_of,
            lifted(MonitorView, monitor_columns(lambda: is_private(self.state))),
            lifted(AlertView, alert_columns(self._look)),
            lifted(ExitView, exit_columns(self._look)),
            lifted(PriceAlertView, price_alert_columns(self._look)),
        )

    def compose(self) -> ComposeResult:
        """Which list, what is urgent, the list with its search line, the detail."""
        with Horizontal(id="monitors-top"):
            yield self.which
            yield Words(id="monitors-guarded")
        yield Words(id="monitors-urgent")
        yield self.line
        yield from self.lists
        yield self.pane

    def on_mount(self) -> None:
        """Sort the monitors as last time; the newest is on top of the other lists."""
        column, falling = _SORTS[0]
        self.restore_sort(f"{column} {'falling' if falling else 'rising'}")
        for table, (column, falling) in zip(self.lists[1:], _SORTS[1:], strict=True):
            table.sort_by(column, falling=falling)

    def part_of(self, state: DeskState) -> MonitorsPart:
        """All that guards, and what there is to guard."""
        service = (state.service.phase.value, state.service.problem)
        seen = Topic.MONITORS in state.seen
        return MonitorsPart(state.risk, state.positions, service, seen, is_private(state))

    def rows_of(self, place: int) -> tuple[RiskRow, ...]:
        """The rows of a list."""
        return rows_of(self.state.risk, place)

    def place_of(self, row: str) -> int:
        """The list in which a row stands; the one in front for a row that is nowhere yet."""
        lists = range(len(LISTS))
        return next(
            (p for p in lists if any(key_of(each) == row for each in self.rows_of(p))), self.place
        )

    def why_empty(self) -> str:
        """Why the list in front is empty."""
        return why_empty(self.state, self.place)

    @property
    def compared(self) -> tuple[str, ...]:
        """Columns of the monitors; the other lists have none."""
        return COMPARED if self.place == 0 else ()

    def words_of(self, row: RiskRow) -> str:
        """Everything that a search finds a row by."""
        return words_of(row)

    def number_of(self, row: RiskRow, column: str) -> float | None:
        """A monitor's value in a column."""
        return number_of(row, column)

    def name_of(self, row: RiskRow) -> str:
        """Its question."""
        return row.question

    def explained(self, row: RiskRow | None) -> tuple[Explanation, ...]:
        """Where stop, target and what an exit brings come from."""
        return () if row is None else monitor_numbers(row, self.state, self.now)

    def told(self, row: RiskRow) -> tuple[Text, Text, Text]:
        """Everything about a row."""
        return told_of(row, self.state, self.now, self.pane.text_width)

    def _look(self) -> Look:
        return Look(self.state, self.now, is_private(self.state))

    def show_top(self) -> None:
        """Show the counts of all lists, what is guarded, and what is urgent."""
        risk = self.state.risk
        waiting = len(risk.open_alerts)
        counts = (len(risk.monitors), len(risk.alerts), len(risk.exits), len(risk.price_alerts))
        heard = is_heard(self.state, Topic.MONITORS)
        labels = tuple(
            # Price alerts are kept here: nobody has to tell of them.
            f"{name} {counted(count, heard=heard or name == PRICE_ALERTS)}"
            for name, count in zip(LISTS, counts, strict=True)
        )
        self.which.show(labels, self.place, strong=frozenset({1} if waiting else ()))
        self.query_one("#monitors-guarded", Words).tell(guard_line(self.state))
        self.query_one("#monitors-urgent", Words).tell_if_any(urgent_line(self.state, self.now))

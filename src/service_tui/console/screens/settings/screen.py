"""What can be set, how much of it is used, what it means: limits, risk, pause, notices, desk."""

from typing import ClassVar, Final, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from service_tui.console.screens.settings.actions import SettingActs
from service_tui.console.screens.settings.rows import THEME, SettingRow, columns, rows
from service_tui.console.screens.settings.text import about_text, detail_text, hint_text
from service_tui.console.theme import content
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DETAIL_FROM: Final = 112
TWO_FROM: Final = 150
"""Width from which a row is told in full beside the list, and whose desk this is beside that."""


class SettingsPart(NamedTuple):
    """What this screen shows."""

    rows: tuple[SettingRow, ...]


class SettingsScreen(SettingActs[SettingsPart]):
    """Enter or e changes what is highlighted, u brings the last change back."""

    name_in_keys: ClassVar[str] = "settings"
    title: ClassVar[str] = "Settings"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[SettingRow](
            columns(),
            key=lambda row: row.key,
            empty="Nothing is known yet: the service has not answered.",
            id="settings-table",
        )
        self._detail = Static(markup=False, id="settings-detail-text")
        self._about = Static(markup=False, id="settings-about-text")
        self._hint = Static(markup=False, id="settings-hint")

    def compose(self) -> ComposeResult:
        """The rows, one of them in full, whose desk this is; a line where there is no room."""
        with Horizontal(id="settings-body"):
            yield self.table
            with VerticalScroll(id="settings-detail"):
                yield self._detail
            with VerticalScroll(id="settings-about"):
                yield self._about
        yield self._hint

    def part_of(self, state: DeskState) -> SettingsPart:
        """Every row as it stands."""
        theme = state.preferences.get(THEME, "") or self._app().theme
        return SettingsPart(rows(state, self.now, theme))

    def show(self, part: SettingsPart) -> None:
        """Show the rows, and the one under the cursor in full."""
        self.table.show(part.rows)
        self._tell()

    def tick(self) -> None:
        """Let time pass in what is told."""
        self._tell()

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a row, and the focus on the list."""
        if row is not None:
            self.table.put_cursor(row)
        self.table.focus()
        self._tell()

    def row_in_focus(self) -> SettingRow | None:
        """The row that the cursor is on."""
        return self.table.selected()

    def step_out(self) -> bool:
        """From the text beside it back to the list."""
        if self.table.has_focus:
            return False
        self.table.focus()
        return True

    @on(RecordTable.Opened)
    def _opened(self, event: RecordTable.Opened) -> None:
        event.stop()
        self.action_edit()

    @on(RecordTable.Moved)
    def _moved(self, event: RecordTable.Moved) -> None:
        event.stop()
        self._tell()

    @on(events.Resize)
    def _resized(self) -> None:
        self.set_class(self.size.width >= DETAIL_FROM, "-beside")
        self.set_class(self.size.width >= TWO_FROM, "-two")
        self._tell()

    def _tell(self) -> None:
        row = self.table.selected()
        if row is None:
            return
        if self.has_class("-beside"):
            self._detail.update(content(detail_text(row, self.state, self.now)))
        else:
            self._hint.update(content(hint_text(row, self.now)))
        if self.has_class("-two"):
            self._about.update(content(about_text(self.state, self.now, self.surroundings)))

"""The settings: value, use and meaning of limits, risk, pause, notices, desk."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from service_tui.console.keys import KeyBinding, bindings_of
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.settings.actions import ACTIONS
from service_tui.console.screens.settings.detail import about_text, describe, describe_shortly
from service_tui.console.screens.settings.table import ABOUT, SETTINGS, THEME, SettingRow, settings
from service_tui.console.theme import content
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_ENTER: Final = "enter"


class SettingsScreen(TableScreen[SettingRow], inherit_bindings=False):
    """The settings, one of them in full, and this desk's agent, service and files."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("settings")]

    name_in_keys: ClassVar[str] = "settings"
    title: ClassVar[str] = "Settings"
    tables = (SETTINGS,)
    actions = ACTIONS
    opens = "settings.edit"
    is_searched = False
    pane_type = None

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-beside": (112, 0), "-two": (150, 0)}
    """Least widths for a row in full beside the list, and the desk beside that."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._detail = Static(markup=False, id="settings-detail-text")
        self._about = Static(markup=False, id="settings-about-text")
        self._hint = Static(markup=False, id="settings-hint")

    def compose(self) -> ComposeResult:
        """The rows, one of them in full, the desk; a line if there is no room."""
        with Horizontal(id="settings-body"):
            yield self.table
            with VerticalScroll(id="settings-detail"):
                yield self._detail
            with VerticalScroll(id="settings-about"):
                yield self._about
        yield self._hint

    def watched(self) -> object:
        """The rows: they change with the time as well."""
        return self.rows()

    def rows(self) -> tuple[SettingRow, ...]:
        """Every setting with its present value."""
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return settings(self.view, self.state.preferences.get(THEME, "") or app.theme)

    def as_offered(self, key: KeyBinding) -> KeyBinding:
        """The row of the desk itself is shown, not changed."""
        row = self.selected()
        if row is None or row.key != ABOUT or key.ident != self.opens:
            return key
        is_entered = _ENTER in key.keys
        return replace(key, label="show", shown=_ENTER if is_entered else key.shown)

    def show_detail(self) -> None:
        """Show the setting under the cursor, and the desk if there is room."""
        row, view = self.selected(), self.view
        if row is None:
            return
        if self.has_class("-beside"):
            self._detail.update(content(describe(row, view)))
        else:
            self._hint.update(content(describe_shortly(row, view)))
        if self.has_class("-two"):
            self._about.update(content(about_text(view.state, view.now, self.program)))

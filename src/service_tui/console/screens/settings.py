"""Themes, the world's speed, limits and what is used of them, and where things lie.

Knows the desk's state. Must not know any other screen.
Used by the app as screen 8.
"""

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from service_tui.console.keys import bindings_of
from service_tui.console.messages import ThemeTried
from service_tui.console.screens.base import DeskScreen
from service_tui.console.screens.settings_text import settings_text
from service_tui.console.theme import content
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.commands import SetPreference, SetSpeed
from service_tui.desk.records import AccountView, LimitsView, ServiceView, TradeView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

SPEEDS: Final = (0, 1, 10, 60)
"""Paces of the offline world. Source: desk.commands, SetSpeed."""

BESIDE_FROM: Final = 100
"""Width from which the themes stand beside the rest."""

THEME: Final = "theme"
"""The preference that names the theme."""


@dataclass(frozen=True, slots=True)
class ThemeRow:
    """A theme to choose; `is_kept` is the one that the next start uses too."""

    name: str
    is_kept: bool


class SettingsPart(NamedTuple):
    """What this screen shows."""

    service: ServiceView
    account: AccountView | None
    limits: LimitsView | None
    trades: tuple[TradeView, ...]
    speed: int | None
    theme: str
    privacy: str


class SettingsScreen(DeskScreen[SettingsPart]):
    """Moving over a theme shows it, Enter keeps it; the rest is there to be read."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("settings")]

    name_in_keys: ClassVar[str] = "settings"
    title: ClassVar[str] = "Settings"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[ThemeRow](
            (
                Column[ThemeRow](
                    "name",
                    "theme",
                    12,
                    lambda row: Text(row.name, "bold" if row.is_kept else ""),
                    flex=True,
                ),
                Column[ThemeRow](
                    "kept", "", 8, lambda row: Text("● in use" if row.is_kept else "", "accent")
                ),
            ),
            key=lambda row: row.name,
            empty="No themes were found beside the program.",
            id="settings-themes",
        )
        self._speed = Choice(id="settings-speed")
        self._facts = Static(markup=False, id="settings-facts-text")

    def compose(self) -> ComposeResult:
        """Themes and speed on one side, what is told on the other."""
        with Horizontal(id="settings-body"):
            with Vertical(id="settings-choices"):
                yield self.table
                yield Static("speed of the world", markup=False, id="settings-speed-label")
                yield self._speed
            with VerticalScroll(id="settings-facts"):
                yield self._facts

    def part_of(self, state: DeskState) -> SettingsPart:
        """What is told and chosen here."""
        return SettingsPart(
            state.service,
            state.account,
            state.limits,
            state.trades,
            None if state.world is None else state.world.speed,
            state.preferences.get(THEME, ""),
            state.preferences.get("privacy", ""),
        )

    def show(self, part: SettingsPart) -> None:
        """Show the themes, and which speed is taken."""
        names = self.surroundings.theme_names
        self.table.show(tuple(ThemeRow(name, name == part.theme) for name in names))
        has_world = part.service.embedded and part.speed is not None
        self._speed.display = has_world
        self.query_one("#settings-speed-label").display = has_world
        labels = tuple(f"{speed}x" if speed else "paused" for speed in SPEEDS)
        taken = SPEEDS.index(part.speed) if part.speed in SPEEDS else None
        self._speed.show(labels, taken)
        self.tick()

    @on(events.Resize)
    def tick(self) -> None:
        """Let time pass in what is told."""
        self.set_class(self.size.width >= BESIDE_FROM, "-beside")
        self._facts.update(content(settings_text(self.state, self.now, self.surroundings)))

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a theme, the one in use at first, and the focus on the list."""
        self.table.put_cursor(row or self.state.preferences.get(THEME, ""))
        self.table.focus()

    def leave(self) -> None:
        """Show again the theme that is kept."""
        self.post_message(ThemeTried(None))

    def action_take_theme(self) -> None:
        """Keep the theme that is highlighted, for this and the next start."""
        row = self.table.selected()
        if row is not None:
            self.give(SetPreference(THEME, row.name))

    @on(RecordTable.Opened)
    def _opened(self, event: RecordTable.Opened) -> None:
        event.stop()
        self.action_take_theme()

    @on(RecordTable.Moved)
    def _moved(self, event: RecordTable.Moved) -> None:
        event.stop()
        self.post_message(ThemeTried(event.row_key))

    @on(Choice.Asked)
    def _speed_asked(self, event: Choice.Asked) -> None:
        event.stop()
        self.give(SetSpeed(SPEEDS[event.index]))

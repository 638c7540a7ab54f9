"""The screen in front, its history, and the actions available there."""

import asyncio
import importlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import on
from textual.app import ComposeResult
from textual.command import CommandList, CommandPalette, Provider
from textual.dom import DOMNode
from textual.errors import NoWidget
from textual.geometry import Region
from textual.screen import Screen
from textual.timer import Timer, TimerCallback
from textual.widget import Widget

from service_tui.console.keys import KEYS, KeyBinding, action_name, cap, key_named
from service_tui.console.messages import GoTo, HelpRequested, KeyChosen
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.parts.view_memory import BESIDE, LAST_SCREEN
from service_tui.console.shell import fatal
from service_tui.console.shell.frame import Base, FramedApp, TooSmall
from service_tui.console.theme import Themes
from service_tui.console.widgets.banner import Banner
from service_tui.console.widgets.deck import Deck
from service_tui.console.widgets.dialog import AnswersOnce
from service_tui.console.widgets.key_bar import KeyBar
from service_tui.console.widgets.numbered_view import NumberedView, ProgramInfo
from service_tui.console.widgets.top_bar import TopBar
from service_tui.desk.command import Command
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

if TYPE_CHECKING:
    from service_tui.console.parts.beside import Beside

VIEWS_MAX: Final = 50
"""Longest history: as far back as a person remembers."""

HOME: Final = "attention"
"""The screen that comes instead of one that failed. Where it fails itself, the console ends."""

SETTLED_S: Final = 3.0
"""A screen that was in front for so long opens at the next start, also after a hard end."""

FAULTS_MAX: Final = 5
FAULTS_WITHIN_S: Final = 10.0
"""More closed screens and dialogs than these in that time are no fault of one screen."""

BESIDE_FROM: Final = 160
"""Least width of the terminal for two at once. Source: ux, "Looks"."""

CHART: Final = "chart:"
"""Begins the name of a chart beside a screen; a screen is named as in `keys.py`."""

FAILED: Final = "{title} failed and was closed: open it again with {key}; details in the log"
DIALOG_FAILED: Final = (
    "a dialog failed and was closed: the orders show what was sent; details in the log"
)


@dataclass(frozen=True, slots=True)
class View:
    """A screen and the row its cursor was on."""

    screen: str
    row: str | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """The views so far, at least one. `place` is the one in front, `last` the one before it."""

    views: tuple[View, ...]
    place: int = 0
    last: View | None = None

    @property
    def front(self) -> View:
        """The view in front."""
        return self.views[self.place]

    def left_at(self, row: str | None) -> "Trail":
        """The same trail, with the cursor's present row."""
        views = list(self.views)
        views[self.place] = replace(self.front, row=row)
        return replace(self, views=tuple(views))

    def go(self, view: View) -> "Trail":
        """Open a view; views ahead are forgotten."""
        views = (*self.views[: self.place + 1], view)[-VIEWS_MAX:]
        return Trail(views, len(views) - 1, self.front)

    def step(self, by: int) -> "Trail":
        """Back (-1) or forward (1); at an end it stays."""
        place = max(0, min(self.place + by, len(self.views) - 1))
        return self if place == self.place else replace(self, place=place, last=self.front)


SCREENS: Final = {
    "attention": ("service_tui.console.screens.overview.screen", "AttentionScreen"),
    "portfolio": ("service_tui.console.screens.portfolio.screen", "PortfolioScreen"),
    "markets": ("service_tui.console.screens.markets.screen", "MarketsScreen"),
    "monitors": ("service_tui.console.screens.monitors.screen", "MonitorsScreen"),
    "reactor": ("service_tui.console.screens.reactor.screen", "ReactorScreen"),
    "redemption": ("service_tui.console.screens.redemption.screen", "RedemptionScreen"),
    "research": ("service_tui.console.screens.research.screen", "ResearchScreen"),
    "agents": ("service_tui.console.screens.agents.screen", "AgentsScreen"),
    "settings": ("service_tui.console.screens.settings.screen", "SettingsScreen"),
    "blotter": ("service_tui.console.screens.orders.screen", "BlotterScreen"),
    "log": ("service_tui.console.screens.log.screen", "LogScreen"),
    "timeline": ("service_tui.console.screens.timeline.screen", "TimelineScreen"),
    "exposure": ("service_tui.console.screens.exposure.screen", "ExposureScreen"),
    "approvals": ("service_tui.console.screens.approvals.screen", "ApprovalsScreen"),
}
"""Module and class of each screen; imported at its first visit."""


@cache
def _besides(front: str) -> Mapping[str, str]:
    """What can stand beside a screen, each with its title."""
    from service_tui.console.charts.sources import ChartName  # noqa: PLC0415 - not at first

    opened = {key.action: key for key in KEYS if key.group == "app"}
    screens = {
        name: f"{cap(key.ident)} {key.label}"
        for name in SCREENS
        if name != front and (key := opened.get(f"go('{name}')")) is not None
    }
    charts = {f"{CHART}{name.value}": f"chart: {name.value}" for name in ChartName}
    return {"": "nothing", **screens, **charts}


def _part_of(node: DOMNode) -> NumberedView | Screen[object] | None:
    """What can be closed alone of what holds a widget: its screen of ours, or a dialog."""
    for one in node.ancestors_with_self:
        if isinstance(one, NumberedView):
            return one
        if isinstance(one, Screen) and not isinstance(one, Base):
            return cast("Screen[object]", one)
    return None


def provider_named(name: str) -> type[Provider]:
    """A provider of the palette, imported when it is first opened."""
    result: object = getattr(importlib.import_module("service_tui.console.shell.palette"), name)
    if not (isinstance(result, type) and issubclass(result, Provider)):
        raise TypeError(f"{name} is no provider")
    return result


class Palette(CommandPalette, AnswersOnce[None]):  # pyright: ignore[reportIncompatibleMethodOverride] - of Textual's own
    """Textual's palette, safe against late clicks and its own late timers."""

    def get_widget_at(self, x: int, y: int) -> tuple[Widget, Region]:
        """The widget at a place; its own ground if the terminal has shrunk since the click."""
        try:
            return super().get_widget_at(x, y)
        except NoWidget:
            return self, self.region

    def _action_command_list(self, action: str) -> None:
        """Move in the list, if the window has room for one of its rows."""
        result = self.query(CommandList)
        if result and result.first().scrollable_content_region:
            super()._action_command_list(action)

    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        """Set a timer whose callback does nothing once the palette is being removed."""

        def unless_gone() -> object:
            return callback() if callback is not None and self.query(CommandList) else None

        return super().set_timer(delay, unless_gone, name=name, pause=pause)


class Views(FramedApp):  # noqa: PLR0904 - one action a key
    """The bars, the deck of screens between them, and the navigation."""

    COMMANDS: ClassVar = {
        partial(provider_named, name)
        for name in (
            "ActionsProvider",
            "MarketsProvider",
            "PositionsProvider",
            "NotesProvider",
            "AgentsProvider",
            "SettingsProvider",
            "SessionsProvider",
            "DrillsProvider",
        )
    }

    def __init__(
        self, state: DeskState, now: Timestamp, *, themes: Themes, program: ProgramInfo, first: str
    ) -> None:
        super().__init__(themes, program.log_path)
        self.desk_state = state
        self.now = now
        self._program = program
        self._trail = Trail((View(first),))
        self._switching = asyncio.Lock()
        self._failed: list[NumberedView | Screen[object]] = []
        self._faults: list[float] = []
        self._in_front_since = 0.0
        self._beside: Beside | None = None

    def compose(self) -> ComposeResult:
        """Top bar, banner, screens, key bar."""
        yield TopBar()
        yield Banner()
        yield Deck(self._first_made(self._trail.front.screen))
        yield KeyBar()
        yield TooSmall()

    @property
    def deck(self) -> Deck:
        """The screens, also while a dialog is open over them."""
        return self.screen_stack[0].query_one(Deck)

    @property
    def front(self) -> NumberedView:
        """The screen in front."""
        return self.deck.front

    def give(self, command: Command) -> str:
        """Hand a command to the desk; implemented by the app.

        Returns:
            Why the command was refused; empty if it was accepted.
        """
        raise NotImplementedError

    def keep_view(self) -> None:
        """Keep the layout of the screen in front for the next start."""
        kept = None if self.has_failed(self.front) else self.front.view_to_keep()
        if kept is not None:
            self.give(kept)

    def keep_place(self, *, is_orderly: bool = False) -> None:
        """Keep which screen is in front for the next start.

        Before it has been in front for a while, the next start opens another: it may end the
        console.

        Args:
            is_orderly: the console ends as the person wants, which no screen has prevented.
        """
        name, kept = self.front.name_in_keys, self.desk_state.preferences.get(LAST_SCREEN, "")
        if self.has_failed(self.front):
            wanted = HOME
        elif is_orderly or asyncio.get_running_loop().time() - self._in_front_since >= SETTLED_S:
            wanted = name
        else:
            wanted = HOME if kept == name else kept
        if wanted != kept:
            self.give(SetPreference(LAST_SCREEN, wanted))

    # -- faults -----------------------------------------------------------------------------

    def has_failed(self, part: NumberedView | Screen[object]) -> bool:
        """True for a screen or a dialog that failed and is about to be closed."""
        return part in self._failed

    def contain(self, error: Exception) -> bool:
        """Close the screen or the dialog that failed.

        Returns:
            False where the fault is of neither, where HOME itself failed, or where faults come
            faster than a person opens screens: then the console cannot go on.
        """
        if not self.is_running or not self.screen_stack:
            return False
        part = next((one for node in fatal.nodes_passed(error) if (one := _part_of(node))), None)
        if part is None or (isinstance(part, NumberedView) and part.name_in_keys == HOME):
            return False
        if not self._is_shown(part):
            # An echo: what was closed handles its last messages.
            fatal.log_fault(error)
            return True
        now = asyncio.get_running_loop().time()
        recent = [at for at in self._faults if now - at < FAULTS_WITHIN_S]
        if len(recent) >= FAULTS_MAX:
            return False
        self._faults = [*recent, now]
        fatal.log_fault(error)
        self._failed.append(part)
        self.call_later(self._close, part)
        return True

    @contextmanager
    def contained(self) -> Generator[None]:
        """Ask something of a screen or a dialog; one that fails is closed, and the rest goes on."""
        try:
            yield
        except Exception as error:
            if not self.contain(error):
                raise

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a row of the screen in front, unless that has failed."""
        if not self.has_failed(self.front):
            with self.contained():
                self.front.focus_row(row)

    def _is_shown(self, part: NumberedView | Screen[object]) -> bool:
        if part in self._failed:
            return False
        if isinstance(part, NumberedView):
            known = self.front, self.deck.visited(part.name_in_keys), self._guest
            return any(part is one for one in known)
        return part in self.screen_stack

    @property
    def _guest(self) -> NumberedView | None:
        """The screen beside the one in front."""
        part = None if self._beside is None else self._beside.part
        return part if isinstance(part, NumberedView) else None

    async def _close(self, part: NumberedView | Screen[object]) -> None:
        """Close what failed; the console goes on with what lies below."""
        if self._beside is not None and isinstance(part, NumberedView) and part is self._guest:
            beside, self._beside = self._beside, None
            await beside.remove()
            self._failed.remove(part)
            self.give(SetPreference(f"{BESIDE}{self.front.name_in_keys}", ""))
            self._tell_failed(part.name_in_keys, part.title)
            return
        if isinstance(part, NumberedView):
            async with self._switching:
                if part is self.front:
                    home = self.deck.visited(HOME) or self._made(HOME)
                    self._trail = self._trail.go(View(HOME))
                else:
                    home = self.front
                await self.deck.drop(part, home)
            self._failed.remove(part)
            self._tell_failed(part.name_in_keys, part.title)
            self._came_in_front()
            self.show_state()
            self.focus_row(None)
            return
        while part in self.screen_stack:
            # What it had opened goes with it: nothing would take an answer.
            await self.pop_screen()
        self._failed.remove(part)
        self.show_toast(DIALOG_FAILED, "bad", "fault")

    def _tell_failed(self, name: str, title: str) -> None:
        key = next((one for one in KEYS if one.action == f"go('{name}')"), None)
        text = FAILED.format(title=title, key="its key" if key is None else cap(key.ident))
        self.show_toast(text, "bad", "fault")

    def _came_in_front(self) -> None:
        self._in_front_since = asyncio.get_running_loop().time()

    def show_state(self) -> None:
        """Show the newest state; implemented by the app."""

    def disabled_reason(self, key: KeyBinding) -> str:
        """Why a key is disabled here; empty if it works."""
        if key.group in {"ticket", "form", "price_alert", "halt", "wallet"}:
            return ""
        if key.group != "app":
            return self.front.disabled_reason(key)
        if key.ident == "app.beside" and self.size.width < BESIDE_FROM:
            return f"from {BESIDE_FROM} columns on"
        if action_name(key.action) in {"history", "last_screen"} and self._trail.last is None:
            return "no previous view"
        return ""

    def action_beside(self) -> None:
        """Choose a second list or chart beside the screen in front; it is kept of this screen."""
        from service_tui.console.forms.beside_menu import BesideMenu  # noqa: PLC0415 - not at first

        why = self.disabled_reason(key_named("app.beside"))
        if why:
            self.show_toast(f"beside: {why}", "warn")
            return
        front = self.front.name_in_keys
        menu = BesideMenu(self.desk_state, self.now, _besides(front), self._beside_of(front))

        def chosen(name: str | None) -> None:
            if name is not None:
                self.give(SetPreference(f"{BESIDE}{front}", name))
                self.show_state()

        self.push_screen(menu, chosen)

    def _beside_of(self, front: str) -> str:
        """The view beside a screen; empty if there is none or no room for it."""
        kept = self.desk_state.preferences.get(f"{BESIDE}{front}", "")
        # Nothing for what a file of another program names.
        has_room = self.size.width >= BESIDE_FROM
        return kept if kept and has_room and kept in _besides(front) else ""

    def show_beside(self) -> None:
        """Show the newest state beside the screen in front, or have its second one changed."""
        wanted, beside = self._beside_of(self.front.name_in_keys), self._beside
        if wanted != ("" if beside is None else beside.chosen):
            self.call_later(self._change_beside)
        elif beside is not None and beside.is_attached and not self._is_failed(beside):
            with self.contained():
                beside.show(self.desk_state, self.now, self.front)

    def _is_failed(self, beside: "Beside") -> bool:
        return isinstance(beside.part, NumberedView) and self.has_failed(beside.part)

    async def _change_beside(self) -> None:
        async with self._switching:
            front = self.front.name_in_keys
            wanted = self._beside_of(front)
            if self._beside is not None and self._beside.chosen != wanted:
                beside, self._beside = self._beside, None
                beside.leave()
                await beside.remove()
            if self._beside is None and wanted:
                beside = self._made_beside(wanted, _besides(front)[wanted])
                # Awaited: its parts can only be filled afterwards.
                await self.deck.mount(beside)
                self._beside = beside
        self.show_beside()

    def _made_beside(self, name: str, title: str) -> "Beside":
        from service_tui.console.charts.sources import ChartName  # noqa: PLC0415 - not at first
        from service_tui.console.parts.beside import Beside, BesideChart  # noqa: PLC0415 - nor this

        chart = name.removeprefix(CHART)
        if chart != name:
            part = BesideChart(ChartName(chart), self.desk_state, self.now)
        else:
            part = self._made(name)
        return Beside(name, title, part)

    async def action_go(self, name: str, row: str | None = None) -> None:
        """Show a screen as it was left, and there the row with this key if one is given."""
        front = self.front
        if name == front.name_in_keys and row is None:
            front.come_again()
        elif name == front.name_in_keys:
            front.focus_row(row)
        else:
            await self._bring(self._trail.left_at(front.row_to_return_to()).go(View(name, row)))

    def rows_seen(self) -> tuple[str, ...]:
        """The rows of the views so far, each once, the newest first."""
        rows = [view.row for view in reversed(self._trail.views) if view.row]
        return tuple(dict.fromkeys(rows))

    async def action_history(self, by: int) -> None:
        """Go back (-1) or forward (1) in the history."""
        trail = self._trail.left_at(self.front.row_to_return_to())
        if trail.step(by) == trail:
            self.show_toast("no earlier view" if by < 0 else "no later view")
        else:
            await self._bring(trail.step(by))

    async def action_last_screen(self) -> None:
        """Switch to the screen that was in front before, and the next time back."""
        if self._trail.last is not None:
            await self.action_go(self._trail.last.screen, self._trail.last.row)

    def action_command_palette(self) -> None:
        """Find an action, a market or a position by name."""
        self.push_screen(Palette(placeholder="action, market or position"))

    def action_themes(self) -> None:
        """Choose a theme by name; the highlighted one is previewed."""
        self.push_screen(
            Palette([partial(provider_named, "ThemesProvider")], placeholder="theme", id="themes")
        )

    def action_command_line(self) -> None:
        """Type a command by its name."""
        self.open_command_line()

    def open_command_line(self, typed: str = "") -> None:
        """Open the line of commands with the beginning of one."""
        from service_tui.console.command_line.line import CommandLine  # noqa: PLC0415 - not at first

        front = cast("TableScreen[Any]", self.front)
        self.push_screen(CommandLine(front, self.disabled_reason, typed), self._run_command)

    def _run_command(self, effect: Callable[[], object] | None) -> None:
        if effect is not None:
            effect()

    def action_help(self) -> None:
        """Show every key and every command."""
        self._show_help("")

    def _show_help(self, word: str) -> None:
        from service_tui.console.command_line.verbs import VERBS  # noqa: PLC0415 - not at first
        from service_tui.console.forms.help import Help  # noqa: PLC0415 - nor this

        front = self.front
        own = tuple((name, f"{does} ({cap})") for name, cap, does in self._program.own_commands())
        usages = (*own, *((verb.usage, verb.help) for verb in VERBS))
        self.push_screen(
            Help(front.name_in_keys, front.title, self.disabled_reason, usages, typed=word)
        )

    @on(HelpRequested)
    def _help_requested(self, message: HelpRequested) -> None:
        self._show_help(message.word)

    @on(GoTo)
    async def _sent_to(self, message: GoTo) -> None:
        await self.action_go(message.screen_name, message.row)
        if message.unmarks:
            self.front.unmark_rows()
        if message.act is not None:
            await self._do(message.act)

    @on(KeyChosen)
    async def _key_chosen(self, message: KeyChosen) -> None:
        await self._do(message.key)

    async def _do(self, key: KeyBinding) -> None:
        """Perform a key's action, for the mouse and the palette; or show why it is disabled."""
        front = self.front
        why = self.disabled_reason(key)
        if why:
            self.show_toast(f"{key.label}: {why}", "warn")
        elif key.group == "app":
            await self.run_action(key.action)
        else:
            own = hasattr(front, f"action_{action_name(key.action)}")
            target = front if own else front.query("RecordTable").first()
            await self.run_action(key.action, target)

    @on(CommandPalette.OptionHighlighted)
    def _highlighted(self, message: CommandPalette.OptionHighlighted) -> None:
        if self.screen.id == "themes":
            self.preview_theme(str(message.highlighted_event.option.prompt).strip())

    @on(CommandPalette.Closed)
    def _palette_closed(self, message: CommandPalette.Closed) -> None:
        if not message.option_selected:
            self.apply_theme(self.desk_state.preferences.get("theme", ""))

    async def _bring(self, trail: Trail) -> None:
        async with self._switching:
            self.keep_view()
            view, deck = trail.front, self.deck
            screen = deck.visited(view.screen)
            if screen is None:
                try:
                    screen = self._made(view.screen)
                except Exception as error:  # noqa: BLE001  (whatever it is: the others go on)
                    fatal.log_fault(error)
                    self._tell_failed(view.screen, view.screen)
                    return
            self._trail = trail
            self._came_in_front()
            if await deck.bring(screen):
                self.arrange()
            self.show_state()
            self.focus_row(view.row)

    def _first_made(self, name: str) -> NumberedView:
        """The first screen, or HOME where it cannot be made."""
        self._came_in_front()
        try:
            return self._made(name)
        except Exception as error:
            if name == HOME:
                raise
            fatal.log_fault(error)
            self._trail = Trail((View(HOME),))
            self._tell_failed(name, name)
            return self._made(HOME)

    def _made(self, name: str) -> NumberedView:
        module, kind = SCREENS[name]
        self.read_style(name)
        result: object = getattr(importlib.import_module(module), kind)
        if not (isinstance(result, type) and issubclass(result, NumberedView)):
            raise TypeError(f"{module}.{kind} is no screen")
        screen = result(self.desk_state, self.now)
        screen.program = self._program
        return screen

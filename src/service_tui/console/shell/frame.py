"""The base of a full-screen program: themes, toasts, signals, an orderly end."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, ClassVar, Final

from rich.console import RenderableType
from rich.text import Text
from textual import events, on
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.geometry import Size
from textual.message import Message
from textual.notifications import Notification, Notify, SeverityLevel
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets._toast import ToastHolder, ToastRack

from service_tui.console import formats
from service_tui.console.key_queue import KeyQueue
from service_tui.console.keys import cap
from service_tui.console.messages import Copied, ThemeTried, ToastMessage
from service_tui.console.shell import fatal
from service_tui.console.shell.ending import KILLED, Ending, Signals
from service_tui.console.shell.terminal import Losable, Terminal, of_a_window
from service_tui.console.theme import Themes, variable_defaults
from service_tui.console.widgets.dialog import Covered

log = logging.getLogger(__name__)

DEFAULT_THEME: Final = "night"

STYLES: Final = Path(__file__).parents[1] / "styles"

WIDTH_MIN: Final = 50
HEIGHT_MIN: Final = 14
"""Below this size a notice replaces the desk."""

_WIDTHS: Final = [(0, "-narrow"), (WIDTH_MIN, "-w50"), (80, "-w80"), (120, "-w120"), (160, "-w160")]
_HEIGHTS: Final = [(0, "-flat"), (HEIGHT_MIN, "-h14"), (24, "-h24"), (40, "-h40")]
"""CSS classes of the screen, with the size from which each is set."""

ARRANGED_S: Final = 0.25
"""After a resize the screen is painted within this time, arranged or not."""

_QUIET: Final = 3
"""So many checks in a row without a paint mean that all is arranged."""

WEB_DRIVER: Final = "textual.drivers.web_driver"
"""Where Textual keeps the driver that a page in a browser asks for."""

TOAST_S: Final = 5.0
ERROR_S: Final = 10.0
TOAST_MAX: Final = 240
"""Duration and longest text of a toast. Only the newest is seen: an error that another toast
covers is seen after it, for what is left of its own time."""

TOASTS_KEPT: Final = 4
"""Toasts that may wait below the newest: a repeated one replaces itself, and the oldest goes."""

_TONES: Final[dict[str, tuple[str, SeverityLevel]]] = {
    "info": ("", "information"),
    "good": ("✓ ", "information"),
    "warn": ("! ", "warning"),
    "bad": ("✗ ", "error"),
}
"""Sign and severity of each tone of a notice."""

HUNG_UP: Final = KILLED + 1
"""The terminal is gone: the same as SIGHUP."""


toast_id: Final = ToastRack._toast_id  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
"""Textual's id of the widget that shows a notification."""


def known_theme(name: str, names: Sequence[str]) -> str:
    """The theme of this name, else the usual one, else any; empty without themes."""
    if name in names:
        return name
    return DEFAULT_THEME if DEFAULT_THEME in names else next(iter(names), "")


def own_driver(usual: type[Driver]) -> type[Driver]:
    """Our driver with a terminal or a browser; Textual's choice elsewhere."""
    if usual.__module__ == WEB_DRIVER:
        from service_tui.console.shell.web_terminal import WebTerminal  # noqa: PLC0415

        return WebTerminal
    return Terminal if issubclass(Terminal, usual) else usual


class TooSmall(Static):
    """Names the least size of the window; shown only while it is smaller."""

    def __init__(self) -> None:
        super().__init__(id="too-small", markup=False)

    def measure(self, width: int, height: int) -> None:
        """Show the text for a window of this size."""
        self.update(
            f"This window is {width} x {height}.\n"
            f"The minimum is {WIDTH_MIN} x {HEIGHT_MIN}.\n\n"
            f"Enlarge it; {cap('app.quit')} quits."
        )


class Base(Covered[object]):
    """The screen under all others. A moved focus paints two widgets, not the whole screen."""

    BLANK = True
    # Textual would take the first line that accepts keys, hidden or not.
    AUTO_FOCUS = ""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    @on(events.ScreenResume)
    def _take_focus(self) -> None:
        app: object = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        if isinstance(app, FramedApp):
            app.focus_front()

    async def _dispatch_message(self, message: Message) -> None:
        """Handle a message; a fault of a part of the screen closes that part, not this screen."""
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            app: object = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
            if not (isinstance(app, FramedApp) and app.contain(error)):
                raise


class FramedApp(KeyQueue):  # noqa: PLR0904 - one method a duty of the terminal
    """An app with our themes and toasts that always restores the terminal."""

    TITLE = "service-tui"
    ENABLE_COMMAND_PALETTE = False
    # This app has keys of its own.
    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = [STYLES / "base.tcss"]
    # The rest is read at first use: it must not delay the first frame.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "help_quit", show=False, system=True)
    ]
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    def __init__(self, themes: Themes, log_path: str) -> None:
        super().__init__()
        self.log_path = log_path
        self.ending: Ending | None = None
        self._signals = Signals()
        self.theme_names = tuple(theme.name for theme in themes.themes)
        self._theme_problems = tuple(str(problem) for problem in themes.problems)
        self._kept_theme = ""
        self._measured: Size | None = None
        self._is_arranging = False
        self._withheld = 0
        self.picture: tuple[str, ...] = ()
        self._toast_of: dict[str, Notification] = {}
        """The last toast of each kind."""
        for theme in themes.themes:
            self.register_theme(theme)
        self.apply_theme("")

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """End, and keep the screen as plain text for the next start."""
        self._bound_the_end(return_code)
        # A call by the loop itself, after a signal, has no active app.
        with self._context():
            if self.screen_stack:
                self._keep_picture(self.screen_stack[0])
            super().exit(result, return_code, message)

    def _keep_picture(self, screen: Screen[object]) -> None:
        """Textual exports a picture as SVG only; the next start needs text, and at once."""
        try:
            compositor = screen._compositor  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            strips = compositor.render_strips()
        except Exception as error:  # noqa: BLE001  (what a widget cannot show does not keep the end)
            log.warning("no picture of the last screen: %s", type(error).__name__)
            return
        self.picture = tuple(strip.text.rstrip() for strip in strips)

    @property
    def size(self) -> Size:
        """The painted part of the window, also before the driver has reported its size."""
        return of_a_window(super().size) or super().size

    def get_driver_class(self) -> type[Driver]:
        """Our driver with a terminal or a browser; Textual's choice elsewhere."""
        return own_driver(super().get_driver_class())

    def get_default_screen(self) -> Screen[object]:
        """The screen, with the classes of its size: so the first frame is laid out once."""
        tiers = ((self.size.width, _WIDTHS), (self.size.height, _HEIGHTS))
        names = (max(tier for tier in table if tier[0] <= cells)[1] for cells, table in tiers)
        return Base(id="_default", classes=" ".join(names))

    def focus_front(self) -> None:
        """Focus what is in front, where nothing has the focus; there is nothing here."""

    def _watch_app_focus(self, focus: bool) -> None:  # noqa: FBT001 - Textual's own signature
        """After another window had the focus."""
        super()._watch_app_focus(focus)
        if focus:
            self.focus_front()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our names under a foreign theme."""
        return variable_defaults(self.current_theme)

    def read_style(self, *names: str) -> None:
        """Read more styles; their rules are nested under widgets that are not mounted yet."""
        for name in names:
            self.stylesheet.read(STYLES / f"{name}.tcss")

    def apply_theme(self, name: str) -> None:
        """Apply a theme, if there is one of this name; else the usual one."""
        if known := known_theme(name, self.theme_names):
            self._kept_theme = known
            self.preview_theme(known)

    def show_toast(self, text: str, tone: str = "info", kind: str = "") -> Notification:
        """A toast: one plain sentence, never read as markup, shown once however often it comes.

        Args:
            text: the sentence.
            tone: info, good, warn or bad.
            kind: it replaces the toast of this kind; the empty one is the answer to a key.

        Returns:
            The toast, which the next one of its kind replaces.
        """
        former = self._toast_of.pop(kind, None)
        if former is not None:
            # One that is still on its way to the screen is over when it arrives.
            former.raised_at = 0.0
            self._unnotify(former, refresh=False)
        sign, severity = _TONES.get(tone, _TONES["info"])
        line = formats.plain(text, TOAST_MAX).plain
        lasting = ERROR_S if severity == "error" else TOAST_S
        toast = Notification(f"{sign}{line}", severity=severity, timeout=lasting, markup=False)
        same = [one for one in self._notifications if one.message == toast.message]
        others = [one for one in self._notifications if one.message != toast.message]
        for one in (*same, *others[: 1 - TOASTS_KEPT]):
            self._unnotify(one, refresh=False)
        self.post_message(Notify(toast))
        self._toast_of[kind] = toast
        return toast

    def _refresh_notifications(self) -> None:
        # The screens below keep theirs: beside a shorter one of a dialog the ends would stand out.
        for screen in self.screen_stack[:-1]:
            for rack in screen.query(ToastRack):
                rack.display = False
        super()._refresh_notifications()
        self.call_later(self._show_newest_toast)

    def _unnotify(self, notification: Notification, refresh: bool = True) -> None:  # noqa: FBT001, FBT002 - Textual's own
        super()._unnotify(notification, refresh)
        self.call_later(self._show_newest_toast)

    def _show_newest_toast(self) -> None:
        """Hide every toast but the newest: one sentence is read, two are not."""
        newest = {toast_id(one) for one in list(self._notifications)[-1:]}
        for screen in self.screen_stack[-1:]:
            for holder in screen.query(ToastHolder):
                holder.display = holder.id in newest

    def action_clear_toasts(self) -> None:
        """Remove every toast from the screen."""
        self.clear_notifications()

    def signal(self, data: str) -> None:
        """Write a control sequence to the terminal: a bell, a desktop notification."""
        if self._driver is not None:
            self._driver.write(data)

    @on(events.Load)
    def _answer_signals(self) -> None:
        """Handle signals that would leave the terminal broken, before it is changed."""
        self._signals.answer(self._answer)

    def _answer(self, number: int) -> None:
        """Begin the end, even if the loop reacts late or never."""
        self._bound_the_end(KILLED + number)
        loop = self._loop
        # A closed loop has ended already.
        with suppress(RuntimeError):
            if loop is not None:
                loop.call_soon_threadsafe(self.exit, 0)

    @on(events.Mount)
    def _watch_terminal(self) -> None:
        if isinstance(self._driver, Losable):
            self._driver.on_lost = lambda: self.exit(None, HUNG_UP)
        for problem in self._theme_problems:
            self.show_toast(problem, "warn")

    @on(Driver.SignalResume)
    def _paint_again(self) -> None:
        """Paint after a return from the shell: Textual enters the screen and leaves it empty."""
        for screen in self.screen_stack:
            screen.refresh(layout=True)

    @on(events.Unmount)
    def _leave_signals(self) -> None:
        """Restore the former signal handlers."""
        self._signals.leave()

    def action_help_quit(self) -> None:
        """Ctrl+c means leave or copy; name the keys of both."""
        self.show_toast(f"{cap('app.quit')} quits, y copies")

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Paint, except during an arrangement: only its result is shown."""
        if self._is_arranging:
            self._withheld += 1
        else:
            super()._display(screen, renderable)  # pyright: ignore[reportUnknownMemberType] - untyped

    def arrange(self, *, is_sized: bool = True) -> None:
        """Paint nothing until all widgets of the screen have their place in its new size.

        Each widget fits its content once it knows its own size, and may move others by that.

        Args:
            is_sized: whether the screen knows its size; else nothing is checked until it does.
        """
        self._withheld = 0
        if not self._is_arranging:
            self._is_arranging = True
            self.set_timer(ARRANGED_S, self._show_arranged)
        if is_sized and self.screen_stack:
            self.screen.call_after_refresh(self._check_arranged, -1, 0)

    def _check_resize(self) -> None:
        """Pass the new size to the screens, which Textual does a moment after the app has it."""
        super()._check_resize()
        if self._is_arranging:
            self.arrange()

    def _check_arranged(self, before: int, quiet: int) -> None:
        """Paint after two checks in a row without another paint request."""
        if not self._is_arranging or not self.screen_stack:
            return
        quiet = quiet + 1 if self._withheld == before else 0
        if quiet == _QUIET:
            self._show_arranged()
        else:
            check = self._check_arranged
            self.screen.call_after_refresh(check, self._withheld, quiet)

    def _show_arranged(self) -> None:
        if self._is_arranging:
            self._is_arranging = False
            for screen in self.screen_stack[-1:]:
                screen.refresh()

    @on(events.Resize)
    def _measure(self, event: events.Resize) -> None:
        # The first size comes before the first frame, which nothing must delay.
        if self._measured not in {None, event.size}:
            self.arrange(is_sized=False)
        self._measured = event.size
        for notice in self.screen_stack[0].query(TooSmall) if self.screen_stack else ():
            notice.measure(event.size.width, event.size.height)

    @on(ToastMessage)
    def _toast_requested(self, message: ToastMessage) -> None:
        self.show_toast(message.text, message.tone)

    @on(Copied)
    def _copied(self, message: Copied) -> None:
        self.copy_to_clipboard(message.text)
        self.show_toast(f"copied {message.what}", "good")

    @on(ThemeTried)
    def _theme_tried(self, message: ThemeTried) -> None:
        self.preview_theme(message.name or self._kept_theme)

    def preview_theme(self, name: str) -> None:
        """Preview a theme without storing it."""
        if name in self.theme_names and name != self.theme:
            self.theme = name

    # -- the end --------------------------------------------------------------------------------

    def panic(self, *renderables: RenderableType) -> None:
        """End with our own page: Textual's could print values."""
        del renderables
        self._end_by_fault()

    def contain(self, error: Exception) -> bool:
        """Close what failed and go on; False where the console cannot go on. Here it never can."""
        del error
        return False

    async def _dispatch_message(self, message: Message) -> None:
        """Handle a message; after an exception that is not contained the app's loop ends."""
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not self.contain(error):
                raise

    def _handle_exception(self, error: Exception) -> None:
        """Any uncaught exception: close what failed, or log its places, end, and print one page."""
        if self.contain(error):
            return
        fatal.log_fault(error)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._end_by_fault()

    def _end_by_fault(self) -> None:
        # Without an exception the keyboard's thread failed: Textual gives no more.
        error = self._exception or RuntimeError()
        self._bound_the_end(fatal.EXIT_FAULT)
        self._return_code = fatal.EXIT_FAULT
        self._exit_renderables.append(Text(fatal.report(error, self.log_path)))
        self._close_messages_no_wait()

    def _bound_the_end(self, code: int) -> None:
        driver = self._driver
        if self.ending is not None:
            self.ending.begin(code, driver.give_back if isinstance(driver, Terminal) else int)

    def _print_error_renderables(self) -> None:
        """Print the first page only: errors after a fault are its echo."""
        pages: Sequence[RenderableType] = self._exit_renderables
        for page in pages[:1]:
            self.error_console.print(page, markup=False, highlight=False, soft_wrap=True)
        self._exit_renderables.clear()

"""A bare app that shows one screen or dialog, keeps what is ordered, and hands states down."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import ModalScreen

from kit.console.idle import wait_for_idle
from kit.samples.desk import NOW
from service_tui.console import theme
from service_tui.console.messages import CommandGiven, ConfirmGiven, Copied, GoTo, ToastMessage
from service_tui.console.widgets.dialog import Covered
from service_tui.console.widgets.numbered_view import NumberedView, TakesState
from service_tui.desk.command import Command
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

# The pictures show local times: they are those of one place.
os.environ["TZ"] = "UTC"
time.tzset()

STYLES = Path(theme.__file__).parent / "styles"
THEMES = theme.load_themes(theme.shipped_folder()).themes

Build = Callable[[DeskState, Timestamp], NumberedView]


class Host(App[None]):  # noqa: PLR0904 - one handler a message
    """Shows what `build` makes of the state."""

    CSS_PATH: ClassVar = [
        STYLES / f"{name}.tcss"
        for name in (
            "base",
            "dialogs",
            "markets",
            "monitor_form",
            "monitors",
            "portfolio",
            "reactor",
            "trade_form",
        )
    ]
    ENABLE_COMMAND_PALETTE = False

    pressed_at: float | None = None
    """When the newest key was pressed."""

    def __init__(
        self,
        state: DeskState,
        build: Build | None = None,
        look: str = "night",
        *,
        opens_dialogs: bool = True,
    ) -> None:
        super().__init__()
        self.opens_dialogs = opens_dialogs
        self.dialogs: list[ModalScreen[Any]] = []
        self.state = state
        self.now = NOW
        self.front = None if build is None else build(state, NOW)
        self.given: list[Command] = []
        self.said: list[str] = []
        self.went: list[tuple[str, str | None]] = []
        self.copied: list[str] = []
        self.confirmed: list[str] = []
        for found in THEMES:
            self.register_theme(found)
        self.theme = look
        self.animation_level = "none"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.variable_defaults(self.current_theme)

    async def on_event(self, event: events.Event) -> None:
        """Note when a key was pressed, as the console does."""
        if isinstance(event, events.Key):
            self.pressed_at = event.time
        await super().on_event(event)

    def get_default_screen(self) -> Covered[object]:
        """A screen that styles its widgets once, as the console's."""
        return Covered(id="_default")

    def compose(self) -> ComposeResult:
        if self.front is not None:
            yield self.front

    def on_mount(self) -> None:
        if self.front is not None:
            self.front.take(self.state, self.now)
            self.front.focus_row(None)

    def push_screen(self, screen: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(screen, ModalScreen):
            return super().push_screen(screen, *args, **kwargs)
        self.dialogs.append(screen)
        return super().push_screen(screen, *args, **kwargs) if self.opens_dialogs else None

    def bring(self, state: DeskState | None = None, later_s: float = 0.0) -> None:
        """A newer state, so much later, to whatever is in front."""
        self.state = self.state if state is None else state
        self.now = Timestamp(self.now + later_s)
        if isinstance(self.screen, TakesState):
            self.screen.take(self.state, self.now)
        if self.front is not None:
            self.front.take(self.state, self.now)

    def on_command_given(self, message: CommandGiven) -> None:
        self.given.append(message.command)

    def on_toast_message(self, message: ToastMessage) -> None:
        self.said.append(message.text)

    def on_go_to(self, message: GoTo) -> None:
        self.went.append((message.screen_name, message.row))

    def on_confirm_given(self, message: ConfirmGiven) -> None:
        self.confirmed.append(message.what)

    def on_copied(self, message: Copied) -> None:
        self.copied.append(message.text)


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Let the app run until something holds, and paint it then; fails when it never does."""
    for _ in range(1_000):
        await wait_for_idle()
        if holds():
            await pilot.pause()
            return
        await pilot.pause(0.01)
    raise AssertionError("it never came to hold")

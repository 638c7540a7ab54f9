"""Private names of Textual that tests need: what it may change without a word stands here alone."""

from collections.abc import Awaitable
from threading import Thread
from typing import Any

from textual._compositor import Compositor, LayoutUpdate
from textual._context import active_app
from textual.app import App
from textual.binding import BindingsMap
from textual.command import CommandPalette
from textual.driver import Driver
from textual.message import Message
from textual.notifications import Notification
from textual.pilot import Pilot
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

__all__ = ["Compositor", "LayoutUpdate", "active_app"]


def hit_count(palette: CommandPalette) -> int:
    """How many commands the palette has found."""
    return palette._hit_count


def no_matches_timer(palette: CommandPalette) -> Timer | None:
    """What waits before the palette says that it has found nothing."""
    return palette._no_matches_timer


def end(timer: Timer) -> Any:
    """Do now what a timer would do at its end."""
    return timer._callback()  # type: ignore[misc]


def toasts(app: App[Any]) -> list[Notification]:
    """The toasts that are on the screen."""
    return list(app._notifications)


async def failed(app: App[Any]) -> None:
    """Wait until the app has met an error."""
    await app._exception_event.wait()


def driver_of(app: App[Any]) -> Driver:
    """The app's driver."""
    assert app._driver is not None
    return app._driver


def post(app: App[Any], message: Message) -> Awaitable[bool]:
    """Hand a message to the app as its driver does."""
    return app._post_message(message)


def merged_bindings_of(kind: type[Widget]) -> BindingsMap:
    """The keys of a widget with those of its parents."""
    assert kind._merged_bindings is not None
    return kind._merged_bindings


async def mouse_events(pilot: Pilot[Any], kinds: list[Any], **given: Any) -> None:
    """Post events of the mouse that the pilot has no method for."""
    await pilot._post_mouse_events(kinds, **given)


def children_to_come(widget: Widget) -> list[Widget]:
    """What a widget was given to hold, before it is mounted."""
    return widget._pending_children


def calls_back(dialog: Screen[Any], answered: Any) -> None:
    """Have a dialog that stands on no stack give its result to this function."""
    dialog._result_callbacks.append(answered)


def prepare(provider: Any) -> None:
    """Start a provider of the palette, as the palette does."""
    provider._post_init()


def write_by(driver: Driver, thread: object) -> None:
    """Have a driver write through this thread."""
    vars(driver)["_writer_thread"] = thread


def read_by(driver: Driver, thread: Thread) -> None:
    """Have a driver take this thread for the one that reads its keys."""
    vars(driver)["_key_thread"] = thread

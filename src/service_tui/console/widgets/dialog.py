"""The base of every dialog: a screen above the others that answers once.

Textual removes whichever screen is on top when a dialog dismisses itself: the second of two
quick clicks would remove the screen below, and a dialog that closes itself the one above it.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from textual import events, on
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.dom import DOMNode
from textual.messages import Update
from textual.screen import ModalScreen, Screen
from textual.timer import Timer

from service_tui.console.key_queue import pressed_at
from service_tui.console.messages import ToastMessage

Result = TypeVar("Result")
Answer = TypeVar("Answer")

ARMED_AFTER_S: Final = 0.15
"""Keys typed ahead confirm nothing. Source: ux, "Danger"."""

TOGETHER_S: Final = 0.05
"""A key this close behind an escape was typed with it, not for the text that the escape kept."""

EARLY: Final = "key ignored, the dialog was new: press again"


class Covered(Screen[Result]):
    """A screen that styles its widgets once, and repaints only what changed below dialogs.

    Textual styles each widget as it is mounted, again as the screen comes to the front, and again
    with the classes of its size: three times before anybody sees it.

    It also marks a covered screen anew with all that it has ever repainted since: after the whole
    screen once, each change of a figure would repaint the whole screen, and the dialogs with it.
    """

    @on(events.Compose)
    def _set_size_classes(self) -> None:
        """Set the classes of the window's size before the widgets are mounted and styled."""
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        own = self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS
        usual = app.HORIZONTAL_BREAKPOINTS, app.VERTICAL_BREAKPOINTS
        for cells, mine, others in zip(app.size, own, usual, strict=True):
            reached = self._get_breakpoint_classes(cells, (others if mine is None else mine) or [])
            self.update_classes(dict.fromkeys(reached, True))

    @on(events.ScreenResume)
    def _keep_styles(self, event: events.ScreenResume) -> None:
        """Keep Textual from styling the widgets again: mounting has styled them."""
        event.refresh_styles = False

    def _compositor_refresh(self) -> None:
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        if self is app.screen:
            super()._compositor_refresh()
            return
        regions = tuple(self._compositor._dirty_regions)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        self._compositor._dirty_regions.clear()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        self._dirty_widgets.clear()
        if regions and self in app.screen_stack:
            for above in app.screen_stack[app.screen_stack.index(self) + 1 :]:
                # Each shows the one below it, tinted; the kept picture of that is of before.
                above._layout_cache.clear()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                above._set_dirty(*regions)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            # Not `refresh`: that would drop what the dialog itself has to repaint.
            app.screen.post_message(Update(app.screen))


class AnswersOnce(Covered[Result]):
    """A screen that removes only itself, once, and not before it is on top."""

    _has_ended = False
    _is_left = False

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Answer at once; a screen below another one goes as soon as that one has gone.

        Returns:
            An awaitable until the screen has gone; done at once if it goes later.
        """
        if self._has_ended:
            return AwaitComplete()
        self._has_ended = True
        if self.is_active:
            return super().dismiss(result)
        self._is_left = True
        # The caller gets the answer now: a confirmed order waits for no other dialog.
        if self._result_callbacks:
            self._result_callbacks[-1](result)
        return AwaitComplete()

    @on(events.ScreenResume)
    def _go_at_last(self) -> None:
        if self._is_left and self.is_active:
            self._is_left = False
            self.app.pop_screen()  # pyright: ignore[reportUnknownMemberType] - untyped


def open_above(
    node: DOMNode,
    dialog: ModalScreen[Answer] | ModalScreen[Answer | None],
    then: Callable[[Answer], None] | None = None,
) -> None:
    """Open a dialog above a widget or a screen, and pass its result on unless it was left."""

    def answered(answer: Answer | None) -> None:
        if answer is not None and then is not None:
            then(answer)

    app: App[object] = node.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    app.push_screen(dialog, answered)


class Dialog(ModalScreen[Result], AnswersOnce[Result]):
    """A dialog above the other screens, which it dims.

    A dialog that a key may confirm calls `arm_soon` when it shows what is confirmed, and checks
    `is_seen` when the key comes.
    """

    is_armed = False
    _arming: Timer | None = None
    _escaped_at = -TOGETHER_S

    def note_escape(self) -> None:
        """Remember when an escape that left the dialog open was pressed."""
        self._escaped_at = pressed_at(self)

    def is_with_escape(self, event: events.Key) -> bool:
        """True if a key arrived together with such an escape: a line of text ignores it."""
        return event.time - self._escaped_at < TOGETHER_S

    def arm_soon(self) -> None:
        """Accept an answer after a moment, not yet; what was shown before counts no more."""
        self.is_armed = False
        if self._arming is not None:
            self._arming.stop()
        self._arming = self.set_timer(ARMED_AFTER_S, self._arm)

    def is_seen(self) -> bool:
        """True if it was open long enough to be answered; an early answer gets a toast."""
        if not self.is_armed:
            self.post_message(ToastMessage(EARLY, "warn"))
        return self.is_armed

    def _arm(self) -> None:
        self.is_armed = True

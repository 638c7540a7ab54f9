"""What every dialog is: a screen above the others that answers once.

Textual takes away whichever screen is on top when a dialog dismisses itself: the second of two
quick clicks would take away the screen below, and a dialog that ends by itself the one above it.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from textual import events, on
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen

from service_tui.console.messages import ToastMessage

Result = TypeVar("Result")
Answer = TypeVar("Answer")

ARMED_AFTER_S: Final = 0.15
"""Keys typed ahead confirm nothing. Source: ux, "Danger"."""

EARLY: Final = "a key came before this was seen and did nothing: press it again"


class AnswersOnce(Screen[Result]):
    """A screen that takes away itself alone, once, and not before it is on top."""

    _has_ended = False
    _is_left = False

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Answer at once; a screen below another one goes as soon as that one has gone.

        Returns:
            What can be awaited until the screen has gone; at once where it goes later.
        """
        if self._has_ended:
            return AwaitComplete()
        self._has_ended = True
        if self.is_active:
            return super().dismiss(result)
        self._is_left = True
        # Whoever asked hears it now: an order that is confirmed waits for no other dialog.
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
    """Open a dialog above a widget or a screen, and hand on what it returns unless it was left."""

    def answered(answer: Answer | None) -> None:
        if answer is not None and then is not None:
            then(answer)

    app: App[object] = node.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    app.push_screen(dialog, answered)


class Dialog(ModalScreen[Result], AnswersOnce[Result]):
    """A dialog above the other screens, which it dims.

    One that a key may confirm calls `arm_soon` when it shows what is confirmed, and asks
    `is_seen` when the key comes.
    """

    is_armed = False

    def arm_soon(self) -> None:
        """Take an answer in a moment, not yet."""
        self.is_armed = False
        self.set_timer(ARMED_AFTER_S, self._arm)

    def is_seen(self) -> bool:
        """Whether it stands long enough to be answered; who was too early is told so."""
        if not self.is_armed:
            self.post_message(ToastMessage(EARLY, "warn"))
        return self.is_armed

    def _arm(self) -> None:
        self.is_armed = True

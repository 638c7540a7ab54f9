"""What every dialog is: a screen above the others that answers once.

Textual takes away whichever screen is on top when a dialog dismisses itself: the second of two
quick clicks would take away the screen below, and a dialog that ends by itself the one above it.
"""

from typing import TypeVar

from textual import events, on
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen

Result = TypeVar("Result")


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


class Dialog(ModalScreen[Result], AnswersOnce[Result]):
    """A dialog above the other screens, which it dims."""

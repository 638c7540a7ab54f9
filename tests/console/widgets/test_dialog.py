"""When a dialog accepts an answer: a moment after it shows what is confirmed, not before."""

from collections.abc import Callable
from typing import Any

from service_tui.console.messages import ToastMessage
from service_tui.console.widgets.dialog import ARMED_AFTER_S, EARLY, Dialog


class Wait:
    """A timer that can be stopped."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True


class Asks(Dialog[bool]):
    """A dialog without an app: its timers run when a test lets them."""

    def __init__(self) -> None:
        super().__init__()
        self.timers: list[tuple[float, Wait]] = []
        self.posted: list[Any] = []

    def set_timer(self, delay: float, callback: Any = None, **_: object) -> Any:
        wait = Wait(callback)
        self.timers.append((delay, wait))
        return wait

    def post_message(self, message: Any) -> bool:
        self.posted.append(message)
        return True

    def let_run(self) -> None:
        _, wait = self.timers.pop(0)
        if not wait.is_stopped:
            wait.callback()


def test_a_dialog_accepts_an_answer_after_a_moment_and_says_so_before() -> None:
    dialog = Asks()
    dialog.arm_soon()
    assert not dialog.is_seen()
    (toast,) = dialog.posted
    assert isinstance(toast, ToastMessage)
    assert toast.text == EARLY
    assert [delay for delay, _ in dialog.timers] == [ARMED_AFTER_S]
    dialog.let_run()
    assert dialog.is_seen()
    assert len(dialog.posted) == 1


def test_a_dialog_that_shows_something_else_wants_another_moment() -> None:
    dialog = Asks()
    dialog.arm_soon()
    dialog.let_run()
    dialog.arm_soon()
    assert not dialog.is_seen()
    dialog.let_run()
    assert dialog.is_seen()


def test_the_moment_begins_anew_with_what_is_shown_last() -> None:
    dialog = Asks()
    dialog.arm_soon()
    dialog.arm_soon()
    dialog.let_run()
    assert not dialog.is_seen()
    dialog.let_run()
    assert dialog.is_seen()

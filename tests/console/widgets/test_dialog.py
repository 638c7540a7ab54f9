"""When a dialog accepts an answer: a moment after it shows what is confirmed, not before."""

from collections.abc import Callable
from typing import Any

from service_tui.console.messages import ToastMessage
from service_tui.console.widgets.dialog import ARMED_AFTER_S, EARLY, Dialog


class Asks(Dialog[bool]):
    """A dialog without an app: its timers run when a test lets them."""

    def __init__(self) -> None:
        super().__init__()
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.posted: list[Any] = []

    def set_timer(self, delay: float, callback: Any = None, **_: object) -> Any:
        self.timers.append((delay, callback))

    def post_message(self, message: Any) -> bool:
        self.posted.append(message)
        return True

    def let_run(self) -> None:
        _, callback = self.timers.pop(0)
        callback()


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

"""When a dialog accepts an answer: a moment after it shows what is confirmed, not before."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from textual.screen import Screen

from kit.console.textual_private import calls_back
from service_tui.console.messages import ToastMessage
from service_tui.console.widgets import dialog as module
from service_tui.console.widgets.dialog import ARMED_AFTER_S, EARLY, Dialog, open_above


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


class Stack:
    """Screens of an app, by what happens to them."""

    def __init__(self) -> None:
        self.opened: list[tuple[Any, Any]] = []
        self.popped = 0

    def push_screen(self, screen: Any, then: Any) -> None:
        self.opened.append((screen, then))

    def pop_screen(self) -> None:
        self.popped += 1


def covered(dialog: Asks, *, is_active: bool) -> Stack:
    """Put a dialog on top of an app's screens, or below another one."""
    app, kind = Stack(), dialog.__class__
    given: Any = dialog
    given.__class__ = type("Asks", (kind,), {"app": app, "is_active": is_active})
    return app


async def test_a_dialog_below_another_one_answers_at_once_and_goes_later() -> None:
    dialog, answers = Asks(), list[Any]()
    app = covered(dialog, is_active=False)
    calls_back(dialog, answers.append)
    for result in (True, False):
        dialog.dismiss(result)
    assert answers == [True]
    dialog._go_at_last()
    assert app.popped == 0
    app = covered(dialog, is_active=True)
    dialog._go_at_last()
    dialog._go_at_last()
    assert app.popped == 1


async def test_a_dialog_on_top_is_dismissed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dialog, answers = Asks(), list[Any]()
    covered(dialog, is_active=True)

    def keep(_: Any, result: Any) -> None:
        answers.append(result)

    monkeypatch.setattr(Screen, "dismiss", keep)
    for result in (True, False):
        dialog.dismiss(result)
    assert answers == [True]


def test_the_result_of_a_dialog_is_passed_on_unless_it_was_left() -> None:
    below, above, got = Asks(), Asks(), list[Any]()
    app = covered(below, is_active=True)
    open_above(below, above, got.append)
    ((screen, then),) = app.opened
    assert screen is above
    for answer in (None, False, True):
        then(answer)
    assert got == [False, True]
    open_above(below, above)
    app.opened[-1][1](True)  # noqa: FBT003 - a dialog's answer


@pytest.mark.parametrize(
    ("after_s", "is_together"), [(0.0, True), (0.049, True), (0.05, False), (1.0, False)]
)
def test_a_key_right_after_an_escape_was_typed_with_it(
    monkeypatch: pytest.MonkeyPatch, after_s: float, *, is_together: bool
) -> None:
    dialog = Asks()
    never: Any = SimpleNamespace(time=0.001)
    assert dialog.is_with_escape(never) is False
    monkeypatch.setattr(module, "pressed_at", lambda _: 0.0)
    dialog.note_escape()
    key: Any = SimpleNamespace(time=after_s)
    assert dialog.is_with_escape(key) is is_together

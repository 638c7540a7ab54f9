"""A dialog with all of its parts and no app: a test calls what a key would, and reads the parts.

It costs a millisecond or two, where an app costs a hundred. Nothing is laid out or painted: what
depends on that needs a pilot.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from textual._context import active_app
from textual.compose import compose
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.segmented_control import SegmentedControl
from service_tui.desk.command import Command

Shown = TypeVar("Shown", bound=Screen[Any])


@dataclass
class Wait:
    """A timer that a dialog has set: it ends when the test says so."""

    seconds: float
    act: Callable[[], Any]
    is_stopped: bool = False

    def stop(self) -> None:
        self.is_stopped = True


@dataclass
class Unopened(Generic[Shown]):
    """A dialog, seen from outside."""

    form: Shown
    posted: list[Message] = field(default_factory=list)
    returned: list[Any] = field(default_factory=list)
    opened: list[tuple[Any, Callable[[Any], None] | None]] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    focused: list[str | None] = field(default_factory=list)
    """The widgets that were given the focus, by their ids."""
    to_app: list[Message] = field(default_factory=list)
    scrolled: list[tuple[str | None, float | None]] = field(default_factory=list)
    """The widgets that were scrolled, by their ids, and to where."""

    @property
    def given(self) -> list[Command]:
        return [one.command for one in self.posted if isinstance(one, CommandGiven)]

    @property
    def said(self) -> list[str]:
        return [one.text for one in self.posted if isinstance(one, ToastMessage)]

    def text(self, name: str) -> str:
        return str(self.form.query_one(f"#{name}", Static).content)

    def line(self, name: str) -> Input:
        return self.form.query_one(f"#{name}", Input)

    def is_shown(self, name: str) -> bool:
        return self.form.query_one(f"#{name}").display

    def is_disabled(self, name: str) -> bool:
        return self.form.query_one(f"#{name}").disabled

    def type(self, name: str, text: str) -> Input.Changed:
        """Type into a line, which tells the dialog; what it told."""
        line = self.line(name)
        line.value = text
        return self._tell(Input.Changed(line, text))

    def submit(self, name: str, text: str | None = None) -> Input.Submitted:
        """Press enter in a line, whose text was `text` at that moment."""
        line = self.line(name)
        return self._tell(Input.Submitted(line, line.value if text is None else text))

    def press(self, name: str) -> LightButton.Pressed:
        return self._tell(LightButton.Pressed(self.form.query_one(f"#{name}", LightButton)))

    def pick(self, name: str, index: int) -> SegmentedControl.Picked:
        control = self.form.query_one(f"#{name}", SegmentedControl)
        return self._tell(SegmentedControl.Picked(control, index))

    def tell(self, message: Message) -> Message:
        """Give the dialog a message from one of its parts."""
        return self._tell(message)

    def end_waits(self) -> None:
        """All that the dialog waits for is over."""
        waits, self.waits[:] = list(self.waits), []
        for wait in waits:
            if not wait.is_stopped:
                wait.act()

    def _tell(self, message: Any) -> Any:
        for cls in type(self.form).__mro__:
            for answer, _ in cls.__dict__.get("_decorated_handlers", {}).get(type(message), ()):
                answer(self.form, message)
        return message


@contextmanager
def unopened(form: Shown) -> Iterator[Unopened[Shown]]:
    """A dialog as it is once it has opened."""
    seen = Unopened(form)

    def wait(seconds: float, act: Callable[[], Any], **_: Any) -> Wait:
        seen.waits.append(Wait(seconds, act))
        return seen.waits[-1]

    def push(dialog: Any, then: Callable[[Any], None] | None = None) -> None:
        seen.opened.append((dialog, then))

    app: Any = SimpleNamespace(
        _compose_stacks=[],
        _composed=[],
        update_styles=lambda *_, **__: None,
        call_later=lambda _, widget: seen.focused.append(widget.id),
        clear_selection=lambda: None,
        screen=form,
        post_message=seen.to_app.append,
        push_screen=push,
        pressed_at=0.0,
        _exit=True,
    )
    stubs: dict[str, Any] = {
        "post_message": seen.posted.append,
        "dismiss": lambda result=None: seen.returned.append(result),
        "set_timer": wait,
        "call_after_refresh": lambda act, *given: act(*given),
    }
    for name, stub in stubs.items():
        setattr(form, name, stub)
    before = active_app.set(app)
    try:
        _grow(form, seen)
        form._is_mounted = True
        mounted = getattr(form, "on_mount", None)
        if mounted is not None:
            mounted()
        yield seen
    finally:
        active_app.reset(before)


def _grow(parent: Widget, seen: Unopened[Any]) -> None:
    for child in (*parent._pending_children, *compose(parent)):
        parent._nodes._append(child)
        child._attach(parent)
        child.scroll_to = partial(_note_scroll, seen, child)  # type: ignore[method-assign]
        _grow(child, seen)


def _note_scroll(
    seen: Unopened[Any], widget: Widget, x: float | None = None, y: float | None = None, **_: Any
) -> None:
    del x
    seen.scrolled.append((widget.id, y))

"""A form or another dialog without an app: it is typed into, and what it shows and returns is kept.

    form = Alone(ReactorForm(STATE, NOW, config))
    form.type("reactor-cap", "50")
    form.dialog.action_set()
    assert form.left == [SetReactorConfig(daily_cap=Micros(50 * ONE))]

Nothing is laid out or painted: what needs focus or a key of Textual's belongs to `doors` or `host`.
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from rich.text import Text

from service_tui.console.messages import ToastMessage

WIDTH = 60
"""Cells of a line."""


class Part:
    """A widget of the dialog: what it was told last."""

    def __init__(self, value: str = "") -> None:
        self.value = value
        self.text = ""
        self.options: tuple[Any, ...] = ()
        """Labels and place of a row of options, or whatever else it was to show."""
        self.disabled = False
        self.can_focus = True
        self.display = True
        self.done: list[Any] = []
        self.classes: set[str] = set()
        self.size = self.outer_size = self.content_size = SimpleNamespace(width=WIDTH)
        self.scrollable_content_region = self.size

    def show_text(self, text: Text | str) -> None:
        self.text = text if isinstance(text, str) else text.plain

    def show(self, *shown: Any) -> None:
        self.options = shown

    def show_if_any(self, text: Text) -> None:
        self.display = bool(text.plain)
        self.show_text(text)

    def scroll_to(self, **given: Any) -> None:
        self.done.append(given)

    scroll_relative = scroll_to

    def add_class(self, name: str) -> None:
        self.classes.add(name)

    def remove_class(self, name: str) -> None:
        self.classes.discard(name)

    def set_class(self, on: bool, name: str) -> None:  # noqa: FBT001 - as Textual has it
        (self.classes.add if on else self.classes.discard)(name)


class Timers(list[Callable[[], object]]):
    """What runs once a timer is over; a test lets all of them run out."""

    def begin(self, _: float, run: Callable[[], object]) -> Any:
        self.append(run)
        return SimpleNamespace(stop=partial(self._stop, run))

    def run_out(self) -> None:
        due = [*self]
        self.clear()
        for run in due:
            run()

    def _stop(self, run: Callable[[], object]) -> None:
        self[:] = [one for one in self if one is not run]


class Opened(list[Any]):
    """Dialogs that were opened above; a test answers the last one."""

    def __init__(self) -> None:
        super().__init__()
        self._then: list[Callable[[Any], None]] = []

    def push(self, dialog: Any, then: Callable[..., None]) -> None:
        self.append(dialog)
        self._then.append(then)

    def answer(self, result: Any) -> None:
        self._then.pop()(result)


class Found(list[Part]):
    """What a query found."""

    def results(self, _: object) -> "Found":
        return self


class Alone:
    """A dialog whose widgets are `Part`s, by their id."""

    def __init__(self, dialog: Any) -> None:
        self.dialog = dialog
        self.parts: dict[str, Part] = {}
        self.left: list[Any] = []
        """Its results; None when it was left without one."""
        self.posted: list[Any] = []
        self.opened = Opened()
        self.timers = Timers()
        for name, text in getattr(dialog, "first", {}).items():
            self.parts[name] = Part(text)
        kind: Any = dialog.__class__
        app = SimpleNamespace(
            push_screen=self.opened.push, post_message=self.posted.append,
            current_theme=SimpleNamespace(dark=True), pressed_at=None,
        )  # fmt: skip
        dialog.__class__ = type(kind.__name__, (kind,), {"app": app, "is_active": True})
        dialog.query = self._found
        dialog.query_one = self._one
        dialog.dismiss = self.left.append
        dialog.post_message = self.posted.append
        dialog.call_after_refresh = ignore
        dialog.set_timer = self.timers.begin
        dialog.note_escape = ignore
        if hasattr(dialog, "refresh_form"):
            dialog._is_ready = True
            dialog.refresh_form()

    def part(self, name: str) -> Part:
        return self.parts.setdefault(name, Part())

    def text(self, name: str) -> str:
        return self.part(name).text

    @property
    def problem(self) -> str:
        return self.text("form-problem")

    @property
    def given(self) -> list[Any]:
        """The commands of the messages it sent."""
        return [one.command for one in self.posted if hasattr(one, "command")]

    @property
    def toasts(self) -> list[str]:
        return [one.text for one in self.posted if isinstance(one, ToastMessage)]

    def type(self, name: str, text: str) -> None:
        """Replace the text of a line."""
        self.part(name).value = text
        self.dialog._typed(event(input=SimpleNamespace(id=name)))

    def pick(self, name: str, index: int) -> None:
        """Select an option of a row."""
        self.dialog._option_picked(event(choice=SimpleNamespace(id=name), index=index))

    def press(self, name: str) -> None:
        """Click on a button."""
        self.dialog._button_pressed(event(button=SimpleNamespace(id=name)))

    def wait(self) -> None:
        """Let every timer that was set run out."""
        self.timers.run_out()

    def answer(self, result: Any) -> None:
        """Close the dialog that was opened last."""
        self.opened.answer(result)

    def _one(self, selector: str, *_: object) -> Part:
        return self.part(selector.lstrip("#."))

    def _found(self, selector: Any) -> Any:
        """The part of an id or a class; of a type, every part that a test has named."""
        names = (selector.lstrip("#."),) if isinstance(selector, str) else tuple(self.parts)
        return Found(self.part(name) for name in names)


def ignore(*_: object, **__: object) -> None:
    """Do nothing."""


def event(**given: Any) -> Any:
    """A message of Textual's with these attributes, which notes that it was stopped."""
    it = SimpleNamespace(**given, stopped=[])
    it.stop = lambda: it.stopped.append("stop")
    it.prevent_default = lambda: it.stopped.append("prevent_default")
    return it

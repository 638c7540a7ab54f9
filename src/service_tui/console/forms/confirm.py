"""A confirmation whose key no list uses, so that it is not given by accident."""

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import Button, Static

from service_tui.console.keys import bindings_of, cap
from service_tui.console.messages import ConfirmGiven, ToastMessage
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.room import make_room

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Question:
    """The content of a confirmation.

    Args:
        title: in a few words.
        body: its subject and the next step, in sentences.
        confirm: label of the confirming button.
        key: confirms; never the key that opened the dialog, never Enter.
    """

    title: str
    body: Text
    confirm: str
    key: str = "y"
    cancel: str = "cancel"


def record_confirmation(dialog: Screen[Result], what: str) -> None:
    """Record a confirmation in the action log; by the app, as the dialog is about to go."""
    app: App[object] = dialog.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    app.post_message(ConfirmGiven(what))


class Confirm(Dialog[bool]):
    """Cancel has the focus; only the question's own key, or a click, confirms."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        Binding("left,right", "app.focus_next", show=False),
    ]
    AUTO_FOCUS = "#confirm-cancel"

    def __init__(self, question: Question) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question and two buttons."""
        question = self._question
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" {question.title} "))
            with VerticalScroll(id="confirm-reading", can_focus=False):
                yield Static(content(question.body), markup=False, id="confirm-body")
            with Horizontal(id="confirm-doors"):
                yield Button(
                    content(Text(f"{question.cancel}  {cap('dialog.close')}")),
                    compact=True,
                    id="confirm-cancel",
                )
                confirm = Text(f"{question.confirm}  {question.key}")
                yield Button(content(confirm), compact=True, id="confirm-yes")

    def on_mount(self) -> None:
        """Accept the key in a moment; Enter never reaches the confirming button."""
        self._bindings.bind(self._question.key, "confirm", show=False)
        self.query_one("#confirm-yes").can_focus = False
        self.arm_soon()

    def on_resize(self) -> None:
        """Keep the buttons on the screen, however long the text."""
        self.call_after_refresh(self._make_room)

    def action_confirm(self) -> None:
        """Confirm, once the dialog has been seen."""
        if self.is_seen():
            record_confirmation(self, self._question.title)
            self.dismiss(True)  # noqa: FBT003 - the dialog's result

    def action_close(self) -> None:
        """Cancel."""
        self.dismiss(False)  # noqa: FBT003 - the dialog's result

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "confirm-yes":
            self.action_confirm()
        else:
            # Enter is pressed for a yes as often as for a no.
            self.post_message(ToastMessage(f"{self._question.title} No: nothing changed", "info"))
            self.action_close()

    def _make_room(self) -> None:
        for reading in self.query("#confirm-reading"):
            make_room(self.query_one("#frame"), reading)

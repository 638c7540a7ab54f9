"""A confirmation of several items with one line for each; the lines scroll.

Used before many monitors are set or removed at once.
"""

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Static

from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.keys import cap
from service_tui.console.theme import content


class ConfirmMany(Confirm):
    """A confirmation whose lines scroll; cancel has the focus, as always."""

    def __init__(self, question: Question, lines: tuple[Text, ...]) -> None:
        super().__init__(question)
        self._question = question
        self.lines = lines

    def compose(self) -> ComposeResult:
        """The question, the lines, and two buttons."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" {self._question.title} "))
            yield Static(content(self._question.body), markup=False, id="confirm-body")
            with VerticalScroll(id="confirm-lines"):
                yield Static(content(Text("\n").join(self.lines)), markup=False)
            with Horizontal(id="confirm-doors"):
                yield Button(
                    content(Text(f"{self._question.cancel}  {cap('dialog.close')}")),
                    compact=True,
                    id="confirm-cancel",
                )
                door = Text(f"{self._question.confirm}  {self._question.key}")
                yield Button(content(door), compact=True, id="confirm-yes")

"""A confirmation by a typed word.

Used before a halt is ended, and before everything is sold.
"""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input

from service_tui.console.forms.confirm import record_confirmation
from service_tui.console.keys import bindings_of, cap
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class TypedWord(Dialog[str | None]):
    """Returns the word once it was typed whole and entered; None if it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("dialog")]
    AUTO_FOCUS = "#word-line"

    def __init__(
        self,
        title: str,
        body: Text,
        word: str,
        does: str = "",
        *,
        newer: Callable[[DeskState], Text] | None = None,
    ) -> None:
        """Open the confirmation.

        Args:
            title: the question in a few words.
            body: its subject.
            word: the word to type, letter by letter.
            does: label of the button; empty: the word itself.
            newer: the subject in a newer state; None: it stays as it is.
        """
        super().__init__()
        self._does = does or word.lower()
        self._title = title
        self._body = body
        self._newer = newer
        self._word = word

    def compose(self) -> ComposeResult:
        """The subject, the line for the word, and two buttons."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" {self._title} "))
            frame.border_subtitle = content(Text(f" {cap('dialog.close')} changes nothing "))
            with VerticalScroll(id="word-body", can_focus=False):
                body = TextBlock(id="word-text")
                body.show_text(self._body)
                yield body
            yield TextBlock(f"Type {self._word} and press enter:", id="word-asks")
            yield PlainInput(compact=True, max_length=40, id="word-line")
            with Horizontal(id="word-doors"):
                yield LightButton(f"{self._does}  enter", id="word-yes")
                yield LightButton(f"cancel  {cap('dialog.close')}", id="word-no")

    def on_mount(self) -> None:
        """Accept the word in a moment: text typed ahead confirms nothing."""
        for line in self.query(PlainInput):
            line.cursor_blink = False
        self.arm_soon()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; a subject that depends on it is updated."""
        del now
        if self._newer is not None and self.is_mounted:
            self.query_one("#word-text", TextBlock).show_text(self._newer(state))

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(None)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._answer()

    @on(LightButton.Pressed)
    def _opened(self, event: LightButton.Pressed) -> None:
        event.stop()
        if event.button.id == "word-yes":
            self._answer()
        else:
            self.action_close()

    def _answer(self) -> None:
        typed = self.query_one("#word-line", PlainInput).value
        if typed != self._word:
            prompt = self.query_one("#word-asks", TextBlock)
            is_small = typed.casefold() == self._word.casefold()
            why = "Capital letters needed" if is_small else "Wrong word"
            prompt.show_text(Text(f"{why}. Type {self._word}", "bold warn"))
        elif self.is_seen():
            record_confirmation(self, f"{self._title}: {self._word}")
            self.dismiss(typed)

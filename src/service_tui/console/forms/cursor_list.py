"""A dialog with a list; the cursor stays on its row, or moves to the next if the row goes.

As in every table of the desk, a key does nothing on a row that has just come under the cursor
without it.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from service_tui.console.key_queue import show_row_gone
from service_tui.console.keys import bindings_of, cap, keys_of, shown_key
from service_tui.console.theme import content
from service_tui.console.widgets.cursor_loss import CursorLoss
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

Result = TypeVar("Result")
Row = TypeVar("Row")


class CursorList(Dialog[Result], Generic[Result, Row]):
    """Rows of the state; a subclass gives the rows, their keys and their text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        Binding("j,down", "step(1)", show=False),
        Binding("k,up", "step(-1)", show=False),
    ]

    name_in_keys: ClassVar[str]
    """The group of keys.py whose keys are named below the list."""

    title_text: ClassVar[str]

    lines_of_a_row: ClassVar[int] = 1

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(classes="-cursor-list")
        self.state = state
        self.now = now
        self._place = 0
        self._cursor_loss = CursorLoss(self)
        self.at = next(iter(self._keys()), "")

    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """The rows of the present state."""

    @abstractmethod
    def key_of(self, row: Row) -> str:
        """The identity of a row, for as long as it lives."""

    @abstractmethod
    def text(self) -> Text:
        """The rows as text, or the text in their place."""

    def compose(self) -> ComposeResult:
        """The rows, and the keys that work."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" {self.title_text} "))
            with VerticalScroll(classes="list-body", can_focus=False):
                yield TextBlock(classes="list-rows")

    def on_mount(self) -> None:
        """Show the rows."""
        self._show()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; the cursor of a row that is gone moves to the next."""
        self.state, self.now = state, now
        keys = self._keys()
        if self.at in keys:
            self._place = keys.index(self.at)
        elif keys:
            # The row now at its place; a key that was pressed for the former row does nothing.
            if self.at:
                self._cursor_loss.begin()
            self._place = min(self._place, len(keys) - 1)
            self.at = keys[self._place]
        self._show()

    def current_row(self) -> Row | None:
        """The row under the cursor; None without one."""
        return next((row for row in self.rows() if self.key_of(row) == self.at), None)

    def row_or_toast(self) -> Row | None:
        """The row under the cursor for an action; None, with a toast, if it is gone."""
        row = None if self._cursor_loss.is_recent else self.current_row()
        if row is None and self.at:
            show_row_gone(self)
        return row

    def action_step(self, by: int) -> None:
        """Move to the next row, or the former one; from a lost one to its place's present row."""
        keys = self._keys()
        if not keys:
            return
        self._cursor_loss.end()
        requested = self._place + (by if self.at in keys else 0)
        self._place = max(0, min(requested, len(keys) - 1))
        self.at = keys[self._place]
        self._show()
        # The row before stays visible with it.
        top = max(0, (self._place - 1) * self.lines_of_a_row)
        self.query_one(".list-body").scroll_to(y=top, animate=False)

    def action_close(self) -> None:
        """Leave."""
        self.dismiss(None)

    def _keys(self) -> list[str]:
        return [self.key_of(row) for row in self.rows()]

    def _show(self) -> None:
        named = keys_of(self.name_in_keys) if self._keys() else ()
        keys = [
            *(f"{shown_key(key)} {key.label}" for key in named),
            f"{cap('dialog.close')} closes",
        ]
        # A state may come before the parts are mounted, or while they are removed.
        for frame in self.query("#frame"):
            frame.border_subtitle = content(Text(f" {'   '.join(keys)} "))
        for text in self.query(".list-rows").results(TextBlock):
            text.show_text(self.text())

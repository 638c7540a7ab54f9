"""The columns of a table: which are shown, and in which order."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.keys import bindings_of
from service_tui.console.messages import ToastMessage
from service_tui.console.widgets.columns import Column, ColumnChoice
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_NAME_CELLS: Final = 22
_SHOWN: Final = "✓"
_HIDDEN: Final = "·"


class ColumnMenu(CursorList[tuple[ColumnChoice, ...], ColumnChoice]):
    """Returns what was chosen of each column, in the order of the list; nothing of the usual ones.

    Args:
        state: the newest.
        now: wall time.
        columns: of the table, in the order in which it has them now.
        choices: what is chosen now.
        shown: ids of the columns that are on the screen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("column_menu")]

    name_in_keys: ClassVar[str] = "column_menu"
    title_text: ClassVar[str] = "Columns"

    def __init__(  # noqa: PLR0917 - what a table has and shows
        self,
        state: DeskState,
        now: Timestamp,
        columns: Sequence[Column[Any]],
        choices: Sequence[ColumnChoice],
        shown: Collection[str],
    ) -> None:
        self._columns = {column.id: column for column in columns if not column.in_gutter}
        known = {choice.id: choice for choice in choices}
        self._choices = [known.get(name, ColumnChoice(name)) for name in self._columns]
        self._on_screen = frozenset(shown)
        super().__init__(state, now)

    def rows(self) -> Sequence[ColumnChoice]:
        """The columns, in the order of the list."""
        return self._choices

    def key_of(self, row: ColumnChoice) -> str:
        """The id of the column."""
        return row.id

    def text(self) -> Text:
        """One line a column: whether it is shown, its title, and why it is not."""
        return Text("\n").join(map(self._line, self._choices))

    def action_flip(self) -> None:
        """Show the column under the cursor at any width, or never."""
        place = self._at_place()
        if self._columns[self.at].flex:
            self.post_message(ToastMessage("rows are known by this column: it stays", "warn"))
            return
        choice = self._choices[place]
        self._choices[place] = replace(choice, shown=not self._is_on(choice))
        self.action_step(0)

    def action_shift(self, by: int) -> None:
        """Move the column under the cursor to the left (-1) or to the right (1)."""
        place = self._at_place()
        other = place + by
        if 0 <= other < len(self._choices):
            one, two = self._choices[place], self._choices[other]
            self._choices[place], self._choices[other] = two, one
            self.take(self.state, self.now)
            self.action_step(0)

    def action_usual(self) -> None:
        """Return to the usual columns, in the usual order."""
        self.dismiss(())

    def action_choose(self) -> None:
        """Use the columns as they are listed."""
        self.dismiss(tuple(self._choices))

    def _at_place(self) -> int:
        return next(place for place, one in enumerate(self._choices) if one.id == self.at)

    def _is_on(self, choice: ColumnChoice) -> bool:
        return choice.id in self._on_screen if choice.shown is None else choice.shown

    def _line(self, choice: ColumnChoice) -> Text:
        column, is_here, is_on = self._columns[choice.id], choice.id == self.at, self._is_on(choice)
        note = "no room at this width" if choice.shown is None and not is_on else ""
        return Text.assemble(
            ("▌ " if is_here else "  ", "accent"),
            (f"{_SHOWN if is_on else _HIDDEN} ", "accent" if is_on else "muted"),
            (f"{column.title.strip() or column.id:<{_NAME_CELLS}}", "bold" if is_here else ""),
            ("always" if choice.shown else note, "muted"),
        )

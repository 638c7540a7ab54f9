"""The columns by which a table can be sorted: one key each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, digits
from typing import Any, ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.binding import BindingType

from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.keys import bindings_of
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.record_table import TableState
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

USUAL: Final = ""
"""The choice of the table's own order."""

_USUAL_KEY: Final = "0"
_USUAL_NAME: Final = "usual order"
_TAKEN: Final = frozenset("jkq")
"""Letters that move in the menu, or close it."""

_NAME_CELLS: Final = 22
_RISING: Final = "↑"
_FALLING: Final = "↓"


@dataclass(frozen=True, slots=True)
class SortChoice:
    """One column of the menu.

    Args:
        column: its id.
        name: its title, or its id.
        key: the letter that sorts by it.
        falling: its direction, if the table is sorted by it; else None.
        is_shown: whether the table has room for it now.
    """

    column: str
    name: str
    key: str
    falling: bool | None = None
    is_shown: bool = True


def sort_choices(
    columns: Sequence[Column[Any]], state: TableState, shown: frozenset[str]
) -> tuple[SortChoice, ...]:
    """Every sortable column of a table, then its usual order; empty if none is sortable."""
    sortable = [column for column in columns if column.sort_key is not None]
    names = [column.title.strip() or column.id for column in sortable]
    choices = [
        SortChoice(
            column.id,
            name,
            key,
            state.falling if column.id == state.sort else None,
            column.id in shown,
        )
        for column, name, key in zip(sortable, names, letters_of(names), strict=True)
    ]
    return (*choices, SortChoice(USUAL, _USUAL_NAME, _USUAL_KEY)) if choices else ()


def letters_of(names: Iterable[str]) -> tuple[str, ...]:
    """A letter for each name, the first of its own that is still free, else any other."""
    free = [letter for letter in ascii_lowercase if letter not in _TAKEN]
    free += [digit for digit in digits if digit != _USUAL_KEY]
    letters: list[str] = []
    for name in names:
        own = [letter for letter in name.casefold() if letter in free]
        letter = next(iter([*own, *free]), "")
        if letter:
            free.remove(letter)
        letters.append(letter)
    return tuple(letters)


class SortMenu(CursorList[str, SortChoice]):
    """Returns the id of the chosen column, or `USUAL`."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("sort_menu")]

    name_in_keys: ClassVar[str] = "sort_menu"
    title_text: ClassVar[str] = "Sort by"

    def __init__(self, state: DeskState, now: Timestamp, choices: Sequence[SortChoice]) -> None:
        self._choices = tuple(choices)
        super().__init__(state, now)
        current = (one.column for one in self._choices if one.falling is not None)
        self.at = next(current, self.at)
        self._place = self._keys().index(self.at)

    def rows(self) -> Sequence[SortChoice]:
        """The columns, in the order of the table."""
        return self._choices

    def key_of(self, row: SortChoice) -> str:
        """The id of the column."""
        return row.column

    def text(self) -> Text:
        """One line a column: its key, its name, and its direction."""
        return Text("\n").join([self._line(choice) for choice in self._choices])

    def action_choose(self) -> None:
        """Sort by the column under the cursor."""
        self.dismiss(self.at)

    def on_key(self, event: events.Key) -> None:
        """Sort by the column whose key this is."""
        chosen = (one.column for one in self._choices if one.key == event.character)
        column = next(chosen, None)
        if column is not None:
            event.stop()
            event.prevent_default()
            self.dismiss(column)

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        for block in self.query(".list-rows").results(TextBlock):
            offset = event.get_content_offset(block)
            if offset is not None and offset.y < len(self._choices):
                event.stop()
                self.dismiss(self._choices[offset.y].column)

    def _line(self, choice: SortChoice) -> Text:
        is_here = choice.column == self.at
        direction, note = "", "" if choice.is_shown else "hidden at this width"
        if choice.falling is not None:
            direction = _FALLING if choice.falling else _RISING
            note = f"reverse to {_RISING if choice.falling else _FALLING}"
        return Text.assemble(
            ("▌ " if is_here else "  ", "accent"),
            (f"{choice.key:<2}", "accent"),
            (f"{choice.name:<{_NAME_CELLS}}", "bold" if is_here else ""),
            (f"{direction:<2}", "accent"),
            (note, "muted"),
        )

"""The saved filters of a screen, by name."""

from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.forms.name_form import ChosenName, NameForm
from service_tui.console.keys import bindings_of, with_keys
from service_tui.console.messages import CommandGiven
from service_tui.console.saved import (
    LABEL_MAX,
    NamedFilter,
    filters_of,
    keep_filters,
    read_name,
    with_named,
)
from service_tui.console.widgets.dialog import open_above
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_NONE: Final = "No saved filters on this screen.\n\n{saved.new} saves the filter in force."
_SHOWN_CELLS: Final = 36
_ON: Final = frozenset({"True", "on"})


class SavedFilters(CursorList[NamedFilter, NamedFilter]):
    """Returns the filter to apply.

    Args:
        state: the newest.
        now: wall time.
        screen: the name of the screen, as in `keys.py`.
        in_force: the filter that the screen has now.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("saved_filters")]

    name_in_keys: ClassVar[str] = "saved_filters"
    title_text: ClassVar[str] = "Saved filters"

    def __init__(
        self, state: DeskState, now: Timestamp, screen: str, in_force: NamedFilter
    ) -> None:
        self._screen = screen
        self._in_force = in_force
        super().__init__(state, now)

    def rows(self) -> tuple[NamedFilter, ...]:
        """The filters, in the order in which they were saved."""
        return filters_of(self.state.preferences, self._screen)

    def key_of(self, row: NamedFilter) -> str:
        """The name."""
        return row.name

    def text(self) -> Text:
        """One line a filter: its name, and what it leaves."""
        rows = self.rows()
        if not rows:
            return Text(with_keys(_NONE), "muted")
        return Text("\n").join(map(self._line, rows))

    def action_choose(self) -> None:
        """Apply the filter under the cursor."""
        row = self.row_or_toast()
        if row is not None:
            self.dismiss(row)

    def action_new(self) -> None:
        """Save the filter in force under a name; one of the same name is replaced."""
        rows = self.rows()
        about = Text.assemble("The filter in force: ", (describe(self._in_force), "bold"))
        form = NameForm(self.state, self.now, lambda typed: read_name(typed, rows), about)
        open_above(self, form, self._save)

    def action_remove(self) -> None:
        """Forget the filter under the cursor."""
        row = self.row_or_toast()
        if row is not None:
            left = [one for one in self.rows() if one.name != row.name]
            self.post_message(CommandGiven(keep_filters(self._screen, left)))

    def _save(self, chosen: ChosenName) -> None:
        name = chosen.text
        new = NamedFilter(name, self._in_force.tab, self._in_force.search, self._in_force.choices)
        kept = with_named(self.rows(), new)
        self.at = name
        self.post_message(CommandGiven(keep_filters(self._screen, kept)))

    def _line(self, row: NamedFilter) -> Text:
        is_here = row.name == self.at
        return Text.assemble(
            ("▌ " if is_here else "  ", "accent"),
            (
                f"{formats.plain(row.name, LABEL_MAX).plain:<{LABEL_MAX + 2}}",
                "bold" if is_here else "",
            ),
            (formats.plain(describe(row), _SHOWN_CELLS).plain, "muted"),
        )


def describe(named: NamedFilter) -> str:
    """The search of a filter, and the choices beside it; `all rows` without any."""
    parts = [f"/{named.search}"] if named.search else []
    parts += [
        name if value in _ON else f"{name} {value}"
        for name, value in named.choices.items()
        if value
    ]
    return "   ".join(parts) or "all rows"

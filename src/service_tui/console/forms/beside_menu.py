"""The second list or chart beside a screen: a menu of all of them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType

from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.keys import bindings_of
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class BesideMenu(CursorList[str, str]):
    """Returns the name of the chosen one, empty for none.

    Args:
        state: the newest.
        now: wall time.
        choices: what can be chosen, each with its title.
        chosen: the present one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("beside_menu")]

    name_in_keys: ClassVar[str] = "beside_menu"
    title_text: ClassVar[str] = "Beside this screen"

    def __init__(
        self, state: DeskState, now: Timestamp, choices: Mapping[str, str], chosen: str
    ) -> None:
        self._choices = choices
        super().__init__(state, now)
        if chosen in choices:
            self.at = chosen
            self.take(state, now)

    def rows(self) -> Sequence[str]:
        """The names, in their order."""
        return tuple(self._choices)

    def key_of(self, row: str) -> str:
        """The name."""
        return row

    def text(self) -> Text:
        """One line each."""
        return Text("\n").join([
            Text.assemble(
                ("▌ " if name == self.at else "  ", "accent"),
                (title, "bold" if name == self.at else ""),
            )
            for name, title in self._choices.items()
        ])

    def on_key(self, event: events.Key) -> None:
        """Show the one whose key is pressed."""
        for name, title in self._choices.items():
            if event.character and title.partition(" ")[0] == event.character:
                event.stop()
                self.dismiss(name)
                return

    def action_choose(self) -> None:
        """Show the one under the cursor."""
        self.dismiss(self.at)

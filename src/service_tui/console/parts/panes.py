"""Screens that tell the row in focus in a pane, and those with several lists above it."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, Generic, TypeVar

from rich.text import Text
from textual import on

from service_tui.console.parts.base import CopiedRecord
from service_tui.console.parts.rows import NO_ROW, RowsScreen
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.command import Command
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

Part = TypeVar("Part")
Row = TypeVar("Row", bound=CopiedRecord)

_NOTHING: Final = Text(NO_ROW, "muted"), Text(), Text()


class PaneScreen(RowsScreen[Part, Row], Generic[Part, Row]):
    """The pane stands there from a size on (`-with-detail`), or for a row opened (`-opened`)."""

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-with-detail": (0, 18),
        "-tall": (0, 30),
        "-two": (110, 0),
    }

    pane: DetailPane

    @abstractmethod
    def told(self, row: Row) -> tuple[Text, Text, Text]:
        """Head, body and the rest of what there is to know of the row in focus."""

    @property
    def is_told(self) -> bool:
        """Whether the pane stands there."""
        return self.has_class("-with-detail") or self.has_class("-opened")

    def show_focus(self) -> None:
        """Show the row under the cursor, where there is room."""
        if self.is_told:
            # An empty list has a text of its own: no empty pane below it.
            self.set_class(not len(self.table.order), "-bare")
            row = self.table.highlighted()
            self.pane.show(*(_NOTHING if row is None else self.told(row)))

    def action_open(self) -> None:
        """Go to the pane, which takes the place of the list where there is no room for both."""
        self.set_class(not self.has_class("-with-detail"), "-opened")
        self.pane.focus()
        self.call_after_refresh(self.show_focus)

    def fit(self) -> None:
        """Arrange pane and list for the size that there is."""
        super().fit()
        self.pane.set_class(self.has_class("-two"), "-two")
        if self.has_class("-with-detail"):
            self.remove_class("-opened")


class ListsScreen(PaneScreen[Part, Row], Generic[Part, Row]):  # noqa: PLR0904 - one action a key
    """Several lists, one of them in front.

    Their rows can be marked, and what was changed last can be taken back.
    """

    lists: tuple[RecordTable[Row], ...]

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.place = 0
        self.pane = DetailPane(id=f"{self.name_in_keys}-detail")
        self.which = Choice(id=f"{self.name_in_keys}-which")
        self.undone: tuple[Command, ...] = ()
        self.add_class("-list-0", update=False)

    def make_lists(self, key: Callable[[Row], str], *columns: Sequence[Column[Row]]) -> None:
        """Make a table of each set of columns; the first is in front."""
        self.lists = tuple(
            RecordTable[Row](each, key=key, empty="", id=f"{self.name_in_keys}-list-{place}")
            for place, each in enumerate(columns)
        )
        self.table = self.lists[0]

    @abstractmethod
    def rows_of(self, place: int) -> tuple[Row, ...]:
        """The rows of a list."""

    @abstractmethod
    def place_of(self, row: str) -> int:
        """The list in which a row stands, by the row's key."""

    @abstractmethod
    def why_empty(self) -> str:
        """What stands in the place of the rows in front while there are none."""

    @abstractmethod
    def show_top(self) -> None:
        """Show the names of the lists, and what stands beside and below them."""

    def show(self, part: Part) -> None:
        """Show the list in front, what stands above it, and the row in focus."""
        del part  # the state is at hand, whole
        self.show_list()
        self.show_top()
        self.show_focus()

    def show_list(self) -> None:
        """Show the list in front."""
        self.table.empty = self.why_empty()
        self.table.show(self.rows_of(self.place))

    def take_list(self, place: int) -> None:
        """Bring a list to the front, with the search that is typed."""
        self.remove_class(f"-list-{self.place}")
        self.place, self.table = place, self.lists[place]
        self.add_class(f"-list-{place}")
        self.show_list()
        self.narrow(self.line.typed)

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a row, in whichever list it stands."""
        if row is not None:
            self.take_list(self.place_of(row))
        super().focus_row(row)

    def filter_rows(self) -> None:
        """Show what is wanted and found, and say above it what that is."""
        super().filter_rows()
        self.show_top()

    def tick(self) -> None:
        """Let time pass in the list, in the pane and above them."""
        super().tick()
        self.show_top()

    def keep(self) -> None:
        """Keep the order of the first list; the others begin as ever."""
        if self.place == 0:
            super().keep()

    def current_row(self) -> str | None:
        """The row under the cursor of the list in front."""
        return self.table.order.cursor

    def step_out(self) -> bool:
        """As everywhere, and at last from another list to the first."""
        if super().step_out():
            return True
        if self.place == 0:
            return False
        self.take_list(0)
        self.table.focus()
        return True

    def action_next_list(self) -> None:
        """Show the next list."""
        self.take_list((self.place + 1) % len(self.lists))
        self.table.focus()

    def action_mark(self) -> None:
        """Mark the row that is highlighted, or unmark it; the cursor goes on."""
        if not self.is_refused("mark"):
            self.table.action_mark()
            self.table.action_move(1)

    def action_undo(self) -> None:
        """Take back what was changed last."""
        if not self.is_refused("undo"):
            for command in self.undone:
                self.give(command)
            self.undone = ()

    @on(Choice.Asked)
    def _list_asked(self, event: Choice.Asked) -> None:
        event.stop()
        self.take_list(event.index)
        self.table.focus()

"""The action log: what the person and the agents did, newest first, and whether its chain holds."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from service_tui.console import formats
from service_tui.console.forms.about import About
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of
from service_tui.console.messages import Said
from service_tui.console.parts.rows import RowsScreen
from service_tui.console.screens.log.text import (
    chain_line,
    entry_text,
    log_columns,
    one_line_each,
    words_of,
)
from service_tui.console.theme import content
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.commands.agents import ReadLog
from service_tui.desk.slices.log import ActionView, LogView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_SORT: Final = "time falling"
_UNREAD: Final = "Not known yet: the log is being read."
_NONE: Final = (
    "Nothing was done yet.\n\n"
    "Each order, each yes to a question, each refusal and result, and every trade of an agent\n"
    "is written here, and can neither be changed nor taken out without being seen."
)


class LogPart(NamedTuple):
    """What this screen shows."""

    log: LogView
    masked: bool


class LogScreen(RowsScreen[LogPart, ActionView]):  # noqa: PLR0904 - one action a key
    """The entries, the newest first, and one of them whole."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("log")]

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-beside": (120, 0)}
    """From where an entry stands beside the list; below it, under the list."""

    name_in_keys: ClassVar[str] = "log"
    title: ClassVar[str] = "Action log"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[ActionView](
            log_columns(lambda: self.state, lambda: self.now),
            key=lambda one: one.key,
            empty=_UNREAD,
            id="log-table",
        )
        self._chain = Static(markup=False, id="log-chain")
        self._detail = Static(markup=False, id="log-detail-text")
        self._who = ""

    def compose(self) -> ComposeResult:
        """The chain, the list with its search line, the entry."""
        yield self._chain
        yield self.line
        with Horizontal(id="log-body"):
            with Vertical(id="log-list"):
                yield self.table
            with VerticalScroll(id="log-detail"):
                yield self._detail

    def on_mount(self) -> None:
        """Sort as last time; have the chain followed, as somebody looks."""
        self.restore_sort(_SORT)
        self.give(ReadLog())

    def part_of(self, state: DeskState) -> LogPart:
        """The log, and whether amounts are masked."""
        return LogPart(state.log, is_private(state))

    def show(self, part: LogPart) -> None:
        """Show the entries."""
        self.table.empty = _UNREAD if part.log.checked_at is None else _NONE
        self.table.show(one_line_each(part.log.entries))
        self.show_focus()

    def words_of(self, row: ActionView) -> str:
        """Everything that a search finds an entry by."""
        return words_of(row)

    @property
    def is_narrowed(self) -> bool:
        """Whether only what one of them did is shown."""
        return bool(self._who)

    def wants(self, row: ActionView) -> bool:
        """Whether an entry is shown, were there no search."""
        return self._who in {"", row.who}

    def show_all(self) -> None:
        """Leave no entry out."""
        self._who = ""
        super().show_all()

    def name_of(self, row: ActionView) -> str:
        """Its hash, by which the command line finds it."""
        return row.hash

    def explained(self, row: ActionView | None) -> tuple[Explanation, ...]:
        """What the hash of an entry is made of."""
        if row is None:
            return ()
        inputs = (("entry", Text(f"{row.number:,}")), ("who", formats.plain(row.who, 60)))
        formula = "sha256 of the hash of the line before it, and of the entry as written"
        age = formats.age(row.at or None, self.now)
        value = Text(row.hash[:16])
        return (Explanation("hash", value, formula, inputs, "written by this desk", age),)

    def action_open(self) -> None:
        """The entry that is highlighted, as a page."""
        entry = self.row_in_focus()
        if entry is not None:
            tell = partial(entry_text, entry)
            page = About(f"Entry {entry.number:,}", tell, self.state, self.now)
            self._app().push_screen(page)

    def action_verify(self) -> None:
        """Follow the chain from its first line again."""
        self.give(ReadLog())
        self.post_message(Said("following the chain from its first line"))

    def action_only_who(self) -> None:
        """Show only what the same one did, or all."""
        entry = None if self._who else self.row_in_focus()
        self._who = "" if entry is None else entry.who
        self.filter_rows()

    def show_focus(self) -> None:
        """Show how the chain stands, and the entry under the cursor."""
        line = chain_line(self.state.log, self.now)
        if self._who:
            line.append_text(Text.assemble(("  only ", "muted"), (self._who, "accent")))
        self._chain.update(content(line))
        entry = self.table.selected()
        text = Text("no entry highlighted", "muted")
        if entry is not None:
            text = entry_text(entry, self.state, self.now)
        self._detail.update(content(text))

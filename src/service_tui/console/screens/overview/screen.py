"""Everything that needs the person now, and the summary of an absence."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from service_tui.console.actions import ScreenAction
from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import bindings_of
from service_tui.console.needs import Inbox, absence_of, inbox, unloaded_topics
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.ranking import Need, folded
from service_tui.console.screens.overview.actions import ACTIONS, Toggled, can_dismiss
from service_tui.console.screens.overview.calm import calm_text
from service_tui.console.screens.overview.detail import (
    absence_text,
    advice_text,
    briefing_text,
    explain_need,
    idle_text,
    is_alarming,
    marked_text,
    record_of,
)
from service_tui.console.screens.overview.table import ADVICE_FROM, NEEDS, order_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_TABLE_LINES: Final = 7
"""Lines of the absence, which leave room for the rows."""

_ORDER_FROM: Final = 17
"""Height from which a line describes the order of the rows; below, only if some are hidden."""

_BRIEFING_LINES: Final = 9
"""Most lines of the heartbeat; a third of the room that the rows leave."""

_TALL: Final = 30
_CALM_BRIEFING: Final = 2
"""Height below which the heartbeat leaves its room to the day, and its lines then."""

_CALM_TABLE: Final = 3
_TABLE_HEAD: Final = 2
"""Lines of the table without rows, and those beside its rows."""

_DAY_LINES: Final = 5
"""ours: the day is shown below the rows if they leave it so many lines."""

_EDGE: Final = 3
"""Cells of the block's edge and padding."""


class DayBlock(TextBlock):
    """The day, in the room that is left: it reports each new size."""

    class Resized(Message):
        """There is more or less room than before."""

    @on(events.Resize)
    def _report(self) -> None:
        self.post_message(self.Resized())


class AttentionScreen(TableScreen[Need]):  # noqa: PLR0904 - what one list of its own needs
    """A short list; enter leads to each subject."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("attention")]

    name_in_keys: ClassVar[str] = "attention"
    title: ClassVar[str] = "What needs me"
    tables = (NEEDS,)
    actions = ACTIONS
    opens = "attention.open"
    leaves_rows_out: ClassVar[bool] = True
    pane_type = None

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {}

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._found: tuple[DeskState, Timestamp, Inbox] | None = None
        self._opened: frozenset[str] = frozenset()
        """Keys of rows of several whose members are listed."""
        self._absence = TextBlock(id="attention-away")
        self._calm = DayBlock(id="attention-calm")
        self._order = TextBlock(id="attention-order")
        self._advice = TextBlock(id="attention-advice")
        self._briefing = TextBlock(id="attention-briefing")

    def compose(self) -> ComposeResult:
        """The absence, the search, the rows, their order, the note, the day, the heartbeat."""
        yield self._absence
        yield self.line
        yield self.table
        yield self._order
        yield self._advice
        yield self._calm
        yield self._briefing

    def watched(self) -> object:
        """The rows, which change with the time as well; absence, heartbeat and idle time."""
        state = self.state
        idle_time = self.program.idle_time.since
        absence, masked = absence_of(state), self.view.masked
        unloaded = unloaded_topics(state)
        return self.inbox, absence, idle_time, unloaded, masked, state.briefing, self._opened

    @property
    def inbox(self) -> Inbox:
        """Everything that needs the person now, and what is hidden; found once a state."""
        known = self._found
        if known is None or known[0] is not self.state or known[1] != self.now:
            known = self._found = self.state, self.now, inbox(self.state, self.now)
        return known[2]

    def rows(self) -> tuple[Need, ...]:
        """Everything that needs the person and matches the search; alike rows in one."""
        found = self.inbox.rows
        if self.search:
            found = tuple(need for need in found if self.is_found(need, self.search))
        return folded(found, self._opened)

    def name_of(self, row: Need) -> str:
        """The subject of a row."""
        return row.what

    def explain(self, row: Need | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Why a row is where it is."""
        return () if row is None else explain_need(row, view)

    def action_copy_row(self) -> None:
        """Copy the row as JSON."""
        row = self.row_in_focus()
        if row is not None:
            self.copy(json.dumps(record_of(row), ensure_ascii=False), "the row as JSON")

    @on(Toggled)
    def _toggle(self, event: Toggled) -> None:
        event.stop()
        self._opened ^= {event.key}
        self.take(self.state, self.now)

    def empty_text(self) -> str:
        """The topics still to load, or since when there has been no need."""
        if unloaded_topics(self.state):
            return super().empty_text()
        if self.search and self.inbox.rows:
            return f"None of {len(self.inbox.rows):,} rows match the search."
        return idle_text(self.program.idle_time, self.view)

    def row_in_focus(self) -> Need | None:
        """The highlighted row; an empty list itself shows that there is no need."""
        return super().row_in_focus() if len(self.table.order) else None

    def refusal(self, action: ScreenAction[Any], why: str) -> str:
        """The reason, or that the row under the cursor stays."""
        if can_dismiss in action.requires:
            return "cannot be dismissed: clears once resolved"
        return why

    def step_out(self) -> bool:
        """One level out; marks that are gone have no keys of their own."""
        is_out = super().step_out()
        self.show_detail()
        return is_out

    def tick(self) -> None:
        """Update the age of the briefing, and the idle time."""
        self.table.empty = self.empty_text()
        super().tick()

    def show_in_room(self) -> None:
        """Show again the parts that depend on the room."""
        self._show_absence()
        super().show_in_room()

    def show_parts(self) -> None:
        """Show the absence."""
        self._show_absence()
        # At a first visit the layout may come after this; then there is room for more lines.
        self.call_after_refresh(self._show_absence)

    def show_header(self) -> None:
        """Show the day or the order of the rows, what is hidden, and the heartbeat."""
        self._show_calm()
        hidden = self.inbox
        self._order.show_text(order_text(len(hidden.snoozed), len(hidden.muted)))
        has_hidden = bool(hidden.snoozed or hidden.muted)
        has_room = self.size.height >= _ORDER_FROM
        self._order.display = has_hidden or (has_room and bool(hidden.rows))
        if self.size:
            most = _BRIEFING_LINES if hidden.rows or self.size.height >= _TALL else _CALM_BRIEFING
            lines = max(1, min(most, (self.size.height - _TABLE_LINES) // 3))
            view = ViewContext.of(self.state, self.now, self.size.width - _EDGE)
            self._briefing.show_text(briefing_text(view, lines))
            self._briefing.set_class(is_alarming(self.state, self.now), "-alarm")

    def show_detail(self) -> None:
        """Show the note on the row under the cursor, unless a column does."""
        need = self.selected()
        marked = len(self.table.order.marked)
        self._advice.display = bool(marked) or (need is not None and self.size.width < ADVICE_FROM)
        if marked:
            self._advice.show_text(marked_text(marked))
        elif need is not None:
            self._advice.show_text(advice_text(need))

    @property
    def is_calm(self) -> bool:
        """True if everything is loaded and nothing needs the person."""
        hidden = self.inbox.snoozed or self.inbox.muted
        return self._is_known and not (self.inbox.rows or hidden)

    @property
    def _is_known(self) -> bool:
        """True if everything is loaded that the list and the day are made of."""
        return not (unloaded_topics(self.state) or self.state.from_cache)

    def _show_calm(self) -> None:
        """Show the day in the room that the rows leave."""
        # The layout of the class comes after this: the block has what the others leave.
        others = (self._absence, self.line, self._briefing, self._order, self._advice)
        taken = sum(one.outer_size.height for one in others if one.display)
        table = _TABLE_HEAD + len(self.rows()) if self.inbox.rows else _CALM_TABLE
        lines = self.size.height - taken - table
        is_calm = self.is_calm
        has_room = is_calm or (self._is_known and not self.search and lines >= _DAY_LINES)
        self.set_class(has_room, "-calm")
        self.table.styles.height = table if has_room else "1fr"
        if has_room and self.size:
            self._fill_calm(self._calm.size.height or max(3, lines))

    @on(DayBlock.Resized)
    def _calm_resized(self, event: DayBlock.Resized) -> None:
        event.stop()
        if self._calm.size.height:
            self._fill_calm(self._calm.size.height)

    def _fill_calm(self, lines: int) -> None:
        view = ViewContext.of(self.state, self.now, self.size.width - _EDGE)
        self._calm.show_text(calm_text(view, lines))

    def _show_absence(self) -> None:
        text = absence_of(self.state)
        self._absence.display = text is not None
        if text is not None and self.size:
            lines = max(2, self.size.height - _TABLE_LINES - bool(self._order.display))
            width, masked = self.size.width - _EDGE, self.view.masked
            self._absence.show_text(absence_text(text, width=width, lines=lines, masked=masked))

"""The reactor: signals of watched wallets as they come, the wallets, and one row in detail."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer

from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import KeyBinding, bindings_of
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.console.screens.reactor.actions import ACTIONS, mirror_block_reason
from service_tui.console.screens.reactor.detail import (
    describe,
    explain_row,
    state_text,
    urgent_text,
)
from service_tui.console.screens.reactor.feed import FeedFilter, FeedLine
from service_tui.console.screens.reactor.mirror import SignalPane
from service_tui.console.screens.reactor.table import FEED, TABLES, ReactorRow, tab_labels
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.slices.reactor import SignalView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

QUIET_S: Final = 0.15
"""A moving cursor requests no quote. Source: decisions, "Limits in benches"."""

_STATE_MIN: Final = 20
"""Least cells of the line about the reactor."""


class ReactorScreen(TableScreen[ReactorRow]):  # noqa: PLR0904 - it has filters of its own
    """Two tables, one of them in front, and the row in focus below."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("reactor")]

    name_in_keys: ClassVar[str] = "reactor"
    title: ClassVar[str] = "Reactor"
    tables = TABLES
    actions = ACTIONS
    watches = ("reactor", "quote", "service.phase", "service.problem")
    pane_type = None
    question_cells: ClassVar[Mapping[int, int]] = {160: 46, 120: 34}

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.feed = FeedLine()
        self.pane = self.signal_pane = SignalPane(id="reactor-detail")
        self._quiet: Timer | None = None

    def as_offered(self, key: KeyBinding) -> KeyBinding:
        """The key that pauses the reactor turns it on while it is off."""
        is_off = key.ident == "reactor.run" and not self.state.reactor.is_enabled
        return replace(key, label="turn on") if is_off else key

    def compose(self) -> ComposeResult:
        """The tabs and filters, the reactor's state, urgent conditions, table and detail."""
        with Horizontal(id="reactor-top"):
            yield self.tabs
            yield self.feed
        yield TextBlock(id="reactor-state")
        yield TextBlock(id="reactor-urgent")
        yield self.line
        yield from self.lists
        yield self.signal_pane

    # -- what is listed -------------------------------------------------------------------------

    def rows(self) -> tuple[ReactorRow, ...]:
        """The wallets, or the signals of the feed, live or paused."""
        return self.feed.rows(self.state.reactor) if self.spec is FEED else super().rows()

    def choices(self) -> Mapping[str, str]:
        """The feed's filters."""
        filter_in_force = self.feed.filter_in_force
        return filter_in_force.to_choices() if filter_in_force else {}

    def restore_choices(self, choices: Mapping[str, str]) -> None:
        """Filter the feed again."""
        self.feed.filter_in_force = FeedFilter.from_choices(choices)
        self._filter_feed(self.place)

    def bring_forward(self, place: int) -> None:
        """Bring a table to the front; the feed's filters apply to it alone."""
        self._filter_feed(place)
        super().bring_forward(place)

    def _filter_feed(self, place: int) -> None:
        filter_in_force = self.feed.filter_in_force
        self.only = (
            Only(filter_in_force.wants) if filter_in_force and self.tables[place] is FEED else None
        )

    def show_all(self) -> None:
        """Show every signal."""
        self.feed.filter_in_force = FeedFilter()
        super().show_all()

    def name_of(self, row: ReactorRow) -> str:
        """Its question, or the wallet's address: the useful text to copy."""
        return row.question if isinstance(row, SignalView) else row.address

    # -- what is shown --------------------------------------------------------------------------

    def show_parts(self) -> None:
        """Pass the answer to a quote request on."""
        self.signal_pane.preview.receive(self.state.quote, self.now)

    def show_state(self) -> None:
        """Update the screen from the state, and request the quote that it needs."""
        super().show_state()
        self._request()

    def tick(self) -> None:
        """Update ages, the time left of a signal, and the breaker."""
        super().tick()
        self._request()

    def show_header(self) -> None:
        """Show the counts of both tables, filters, the reactor's state, urgent conditions."""
        labels, waits = tab_labels(self.state), bool(self.state.reactor.waiting)
        self.tabs.show(labels, self.place, strong=frozenset({TABLES.index(FEED)} if waits else ()))
        self.feed.show_filter(self.view)
        width = max(_STATE_MIN, self.size.width - 4)
        line = state_text(ViewContext.of(self.state, self.now, width))
        self.query_one("#reactor-state", TextBlock).show_text(line)
        self.query_one("#reactor-urgent", TextBlock).show_if_any(urgent_text(self.view))

    def detail(self, row: ReactorRow, view: ViewContext) -> Detail:
        """A row in full."""
        return describe(row, view, self.signal_pane.preview)

    def explain(self, row: ReactorRow | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Sources of the mirror's amount, its bound and the statistics."""
        return () if row is None else explain_row(row, view)

    # -- the quote of a mirror ------------------------------------------------------------------

    @on(RecordTable.Moved)
    def _cursor_moved(self) -> None:
        if self._quiet is not None:
            self._quiet.stop()
        self._quiet = self.set_timer(QUIET_S, self._rested)

    def _rested(self) -> None:
        self._quiet = None
        self._request()

    def _request(self) -> None:
        """Request the quote of the signal in focus, if its figures are shown."""
        row = self.selected()
        if self._quiet is not None or not self.shows_detail or not self.screen.is_current:
            return
        if not isinstance(row, SignalView) or mirror_block_reason(self.state, row, self.now):
            return
        question = self.signal_pane.preview.request(row, self.now)
        if question is not None:
            self.give(question)

"""The reactor: signals of watched wallets as they come, the wallets, and one row in detail."""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer

from service_tui.console.forms.explain import Explanation
from service_tui.console.forms.mirror_quote import Preview
from service_tui.console.freshness import counted, is_heard, is_private
from service_tui.console.keys import bindings_of, cap
from service_tui.console.parts.reactor_words import why_not_mirrored
from service_tui.console.screens.reactor.actions import ReactorActs
from service_tui.console.screens.reactor.columns import signal_columns, wallet_columns
from service_tui.console.screens.reactor.numbers import reactor_numbers
from service_tui.console.screens.reactor.rows import (
    COMPARED,
    FEED,
    STATES,
    WALLETS,
    Narrowed,
    ReactorRow,
    by_follow,
    held_still,
    key_of,
    number_of,
    words_of,
)
from service_tui.console.screens.reactor.text import (
    Sight,
    filter_line,
    state_line,
    told_of,
    urgent_line,
    why_empty,
)
from service_tui.console.signal_text import Look
from service_tui.console.widgets.columns import lifted
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.words import Words
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import ReactorView, SignalView, WalletView
from service_tui.desk.slices.records import Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

QUIET_S: Final = 0.15
"""A cursor that moves on asks for no quote. Source: decisions, "Limits in benches"."""


class ReactorPart(NamedTuple):
    """What this screen shows."""

    reactor: ReactorView
    quote: QuoteView | None
    service: tuple[str, str]
    is_seen: bool
    masked: bool


class ReactorScreen(ReactorActs[ReactorPart]):  # noqa: PLR0904 - one action a key
    """Two lists, one of them in front, and the row in focus below."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("reactor")]

    name_in_keys: ClassVar[str] = "reactor"
    title: ClassVar[str] = "Reactor"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.make_lists(
            key_of,
            lifted(SignalView, signal_columns(self._look)),
            lifted(WalletView, wallet_columns(self._look)),
        )
        self.preview = Preview()
        self._narrowed = Narrowed()
        self._frozen: tuple[SignalView, ...] | None = None
        self._quiet: Timer | None = None

    def compose(self) -> ComposeResult:
        """Which list and what of it, how the reactor stands, what is urgent, list and detail."""
        with Horizontal(id="reactor-top"):
            yield self.which
            yield Words(id="reactor-filter")
        yield Words(id="reactor-state")
        yield Words(id="reactor-urgent")
        yield self.line
        yield from self.lists
        yield self.pane

    def on_mount(self) -> None:
        """The feed comes as it is told, the newest on top; sorted only if that was chosen."""
        self.restore_sort(" rising")

    def part_of(self, state: DeskState) -> ReactorPart:
        """The reactor, and what was quoted."""
        service = (state.service.phase.value, state.service.problem)
        seen = Topic.REACTOR in state.seen
        return ReactorPart(state.reactor, state.quote, service, seen, is_private(state))

    def show(self, part: ReactorPart) -> None:
        """Show the list in front, how the reactor stands, and the row in focus."""
        self.preview.hear(part.quote, self.now)
        super().show(part)
        self._ask()

    def tick(self) -> None:
        """Let time pass for ages, for what is left of a signal, and for the breaker."""
        super().tick()
        self._ask()

    def rows_of(self, place: int) -> tuple[ReactorRow, ...]:
        """The rows of a list."""
        reactor = self.state.reactor
        if place == WALLETS:
            return by_follow(reactor)
        return reactor.signals if self._frozen is None else held_still(self._frozen, reactor)

    def place_of(self, row: str) -> int:
        """The list in which a row stands."""
        is_wallet = any(one.address == row for one in self.state.reactor.wallets())
        return WALLETS if is_wallet else FEED

    def why_empty(self) -> str:
        """Why the list in front is empty."""
        return why_empty(self.state, self.place)

    @property
    def compared(self) -> tuple[str, ...]:
        """Columns of the list in front."""
        return COMPARED[self.place]

    def words_of(self, row: ReactorRow) -> str:
        """Everything that a search finds a row by."""
        return words_of(row)

    def number_of(self, row: ReactorRow, column: str) -> float | None:
        """A row's value in a column."""
        return number_of(row, column, self.now)

    @property
    def is_narrowed(self) -> bool:
        """Whether a part of the feed is left out."""
        return self.place == FEED and bool(self._narrowed)

    def wants(self, row: ReactorRow) -> bool:
        """Whether a signal is of what the feed is narrowed to."""
        return isinstance(row, WalletView) or self._narrowed.wants(row)

    def show_all(self) -> None:
        """Leave no signal out."""
        self._narrowed = Narrowed()
        super().show_all()

    def name_of(self, row: ReactorRow) -> str:
        """Its question, or the wallet's address: that is what one copies."""
        return row.question if isinstance(row, SignalView) else row.address

    def explained(self, row: ReactorRow | None) -> tuple[Explanation, ...]:
        """Where the mirror's amount, its bound and the statistics come from."""
        return () if row is None else reactor_numbers(row, self.state, self.now)

    def why_not(self, action: str) -> str:
        """Why a key does nothing here."""
        if action in {"freeze", "next_state"} and self.place != FEED:
            return f"only the feed is: {cap('reactor.list')} shows it"
        return super().why_not(action)

    def action_next_state(self) -> None:
        """Show only what waits, what was mirrored, skipped or failed; then all again."""
        if not self.is_refused("next_state"):
            place = (self._narrowed.state + 1) % len(STATES)
            self._narrow_to(Narrowed(place, self._narrowed.wallet))

    def action_only_wallet(self) -> None:
        """Show only the signals of the wallet that is highlighted; then all again."""
        row = None if self.is_refused("only_wallet") else self.row_in_focus()
        if isinstance(row, WalletView):
            self.take_list(FEED)
            self._narrow_to(Narrowed(self._narrowed.state, row.address))
            self.table.focus()
        elif isinstance(row, SignalView):
            wallet = "" if self._narrowed.wallet else row.wallet
            self._narrow_to(Narrowed(self._narrowed.state, wallet))

    def action_freeze(self) -> None:
        """Hold the feed as it stands, or let it run on."""
        if not self.is_refused("freeze"):
            self._frozen = self.state.reactor.signals if self._frozen is None else None
            self.show_list()
            self.show_top()

    def told(self, row: ReactorRow) -> tuple[Text, Text, Text]:
        """Everything about a row."""
        sight = Sight(self.state, self.now, self.pane.text_width)
        return told_of(row, sight, self.preview)

    @on(RecordTable.Moved)
    def _moved(self) -> None:
        if self._quiet is not None:
            self._quiet.stop()
        self._quiet = self.set_timer(QUIET_S, self._rested)

    def _look(self) -> Look:
        return Look(self.now, is_private(self.state))

    def _narrow_to(self, narrowed: Narrowed) -> None:
        self._narrowed = narrowed
        self.filter_rows()

    def show_top(self) -> None:
        """Show the counts of both lists, what narrows the feed, how it stands, what is urgent."""
        reactor, masked = self.state.reactor, is_private(self.state)
        followed = 0 if reactor.config is None else len(reactor.config.wallets)
        heard = is_heard(self.state, Topic.REACTOR) or bool(reactor.barred)
        feed, wallets = counted(len(reactor.signals), heard=heard), counted(followed, heard=heard)
        labels = (f"feed {feed}", f"wallets {wallets}")
        strong = frozenset({FEED} if reactor.waiting else ())
        self.which.show(labels, self.place, strong=strong)
        come = None
        if self._frozen is not None:
            held = {one.signal_id for one in self._frozen}
            come = sum(one.signal_id not in held for one in reactor.signals)
        self.query_one("#reactor-filter", Words).tell(
            filter_line(self._narrowed, reactor, come, masked=masked)
        )
        block = self.query_one("#reactor-state", Words)
        block.tell(state_line(self.state, self.now, max(20, self.size.width - 4)))
        self.query_one("#reactor-urgent", Words).tell_if_any(urgent_line(self.state, self.now))

    def _rested(self) -> None:
        self._quiet = None
        self._ask()

    def _ask(self) -> None:
        """Ask what mirroring the signal in focus would bring, where that can be read."""
        row = self.table.selected()
        if self._quiet is not None or not self.is_told or not self.screen.is_current:
            return
        if not isinstance(row, SignalView) or why_not_mirrored(self.state, row, self.now):
            return
        question = self.preview.ask(row, self.now)
        if question is not None:
            self.give(question)

"""The reactor: signals of watched wallets as they come, the wallets, and one row in detail.

Knows the desk's state. Must not know any other screen but by its name.
Used by the app as screen 4.
"""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer

from service_tui.console.dialogs.explain import Explanation
from service_tui.console.dialogs.mirror_quote import Preview
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of
from service_tui.console.screens.reactor_acts import ReactorActs
from service_tui.console.screens.reactor_columns import signal_columns, wallet_columns
from service_tui.console.screens.reactor_numbers import reactor_numbers
from service_tui.console.screens.reactor_rows import (
    COMPARED,
    FEED,
    LISTS,
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
from service_tui.console.screens.reactor_text import (
    Sight,
    filter_line,
    state_line,
    told_of,
    urgent_line,
    why_empty,
)
from service_tui.console.screens.reactor_words import why_not_mirrored
from service_tui.console.search import Search, read_search
from service_tui.console.signal_text import Look
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.columns import lifted
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.words import Words
from service_tui.desk.records import QuoteView, Topic
from service_tui.desk.records_reactor import ReactorView, SignalView, WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DETAIL_FROM: Final = 18
TALL_FROM: Final = 30
"""Heights from which the detail stands below the list, and from which it has more lines."""

TWO_FROM: Final = 110
"""Width from which the detail has two columns."""

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
        columns = (
            lifted(SignalView, signal_columns(self._look)),
            lifted(WalletView, wallet_columns(self._look)),
        )
        self._lists = tuple(
            RecordTable[ReactorRow](each, key=key_of, empty="", id=f"reactor-list-{place}")
            for place, each in enumerate(columns)
        )
        self._place = FEED
        self.table = self._lists[FEED]
        self.line = FilterLine()
        self.preview = Preview()
        self._search = Search()
        self._narrowed = Narrowed()
        self._frozen: tuple[SignalView, ...] | None = None
        self._quiet: Timer | None = None
        self._which = Choice(id="reactor-which")
        self._pane = DetailPane(id="reactor-detail")

    def compose(self) -> ComposeResult:
        """Which list and what of it, how the reactor stands, what is urgent, list and detail."""
        with Horizontal(id="reactor-top"):
            yield self._which
            yield Words(id="reactor-filter")
        yield Words(id="reactor-state")
        yield Words(id="reactor-urgent")
        yield from self._lists
        yield self.line
        yield self._pane

    def on_mount(self) -> None:
        """The feed comes as it is told, the newest on top; sorted only if that was chosen."""
        self.restore_sort(" rising")
        self.add_class("-list-0")

    def part_of(self, state: DeskState) -> ReactorPart:
        """The reactor, and what was quoted."""
        service = (state.service.phase.value, state.service.problem)
        seen = Topic.REACTOR in state.seen
        return ReactorPart(state.reactor, state.quote, service, seen, is_private(state))

    def show(self, part: ReactorPart) -> None:
        """Show the list in front, how the reactor stands, and the row in focus."""
        self.preview.hear(part.quote, self.now)
        self.table.empty = why_empty(self.state, self._place)
        self.table.show(self._rows())
        self._show_top()
        self._show_focus()
        self._ask()

    def tick(self) -> None:
        """Let time pass for ages, for what is left of a signal, and for the breaker."""
        super().tick()
        self._show_top()
        self._show_focus()
        self._ask()

    def keep(self) -> None:
        """Keep the order of the feed; the wallets begin with those that are followed."""
        if self._place == FEED:
            super().keep()

    def current_row(self) -> str | None:
        """The row under the cursor of the list in front."""
        return self.table.order.cursor

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a row, in whichever list it stands."""
        if row is not None:
            self._take_list(WALLETS if self._is_wallet(row) else FEED)
            if self.table.order.index_of(row) is None:
                self._narrowed = Narrowed()
                self.line.clear()
                self.narrow("")
        super().focus_row(row)
        self._show_focus()

    def narrow(self, typed: str) -> None:
        """Show the rows that match; what cannot be read is said, the rest is in force."""
        self._search = search = read_search(typed, COMPARED[self._place])
        self.line.say(search.problem)
        narrowed = self._narrowed if self._place == FEED else Narrowed()

        def keep(row: ReactorRow) -> bool:
            if isinstance(row, SignalView) and not narrowed.wants(row):
                return False
            return search.matches(words_of(row), lambda column: number_of(row, column, self.now))

        self.table.filter(keep if search or narrowed else None)
        self.highlight_first_if_lost()
        self._show_focus()

    def name_of(self, row: ReactorRow) -> str:
        """Its question, or the wallet's address: that is what one copies."""
        return row.question if isinstance(row, SignalView) else row.address

    def explained(self, row: ReactorRow | None) -> tuple[Explanation, ...]:
        """Where the mirror's amount, its bound and the statistics come from."""
        return () if row is None else reactor_numbers(row, self.state, self.now)

    def step_out(self) -> bool:
        """From the detail to the list, from the search, marks and filters to all, to the feed."""
        if self.has_class("-opened") or not self.table.has_focus:
            self.remove_class("-opened")
            self.table.focus()
        elif self._search:
            self.line.clear()
        elif self.table.order.marked:
            self.table.clear_marks()
        elif self._place == FEED and self._narrowed:
            self._narrow_to(Narrowed())
        elif self._place != FEED:
            self._take_list(FEED)
            self.table.focus()
        else:
            return False
        return True

    def why_not(self, action: str) -> str:
        """Why a key does nothing here."""
        if action in {"freeze", "next_state"} and self._place != FEED:
            return "only the feed is: o shows it"
        return super().why_not(action)

    def action_next_list(self) -> None:
        """Show the next list."""
        self._take_list((self._place + 1) % len(LISTS))
        self.table.focus()

    def action_next_state(self) -> None:
        """Show only what waits, what was mirrored, skipped or failed; then all again."""
        if not self._is_refused("next_state"):
            place = (self._narrowed.state + 1) % len(STATES)
            self._narrow_to(Narrowed(place, self._narrowed.wallet))

    def action_only_wallet(self) -> None:
        """Show only the signals of the wallet that is highlighted; then all again."""
        row = None if self._is_refused("only_wallet") else self.row_in_focus()
        if isinstance(row, WalletView):
            self._take_list(FEED)
            self._narrow_to(Narrowed(self._narrowed.state, row.address))
            self.table.focus()
        elif isinstance(row, SignalView):
            wallet = "" if self._narrowed.wallet else row.wallet
            self._narrow_to(Narrowed(self._narrowed.state, wallet))

    def action_freeze(self) -> None:
        """Hold the feed as it stands, or let it run on."""
        if not self._is_refused("freeze"):
            self._frozen = self.state.reactor.signals if self._frozen is None else None
            self.table.show(self._rows())
            self._show_top()

    @property
    def is_previewed(self) -> bool:
        """Whether the detail stands there."""
        return self.has_class("-with-detail") or self.has_class("-opened")

    @on(Choice.Asked, "#reactor-which")
    def _which_asked(self, event: Choice.Asked) -> None:
        event.stop()
        self._take_list(event.index)
        self.table.focus()

    @on(RecordTable.Moved)
    def _moved(self) -> None:
        self._show_focus()
        if self._quiet is not None:
            self._quiet.stop()
        self._quiet = self.set_timer(QUIET_S, self._rested)

    @on(RecordTable.Opened)
    def _opened(self) -> None:
        self.set_class(self.size.height < DETAIL_FROM, "-opened")
        self._pane.focus()
        self.call_after_refresh(self._show_focus)

    @on(events.Resize)
    def _resized(self) -> None:
        width, height = self.size
        self.set_class(height >= DETAIL_FROM, "-with-detail")
        self.set_class(height >= TALL_FROM, "-tall")
        self.set_class(self.has_class("-opened") and height < DETAIL_FROM, "-opened")
        self._pane.set_class(width >= TWO_FROM, "-two")
        self.call_after_refresh(self._show_top)
        self.call_after_refresh(self._show_focus)
        self.call_after_refresh(self._ask)

    def _look(self) -> Look:
        return Look(self.now, is_private(self.state))

    def _rows(self) -> tuple[ReactorRow, ...]:
        """The rows of the list in front."""
        reactor = self.state.reactor
        if self._place == WALLETS:
            return by_follow(reactor)
        return reactor.signals if self._frozen is None else held_still(self._frozen, reactor)

    def _is_wallet(self, row: str) -> bool:
        return any(one.address == row for one in self.state.reactor.wallets())

    def _take_list(self, place: int) -> None:
        """Bring a list to the front, with the search that is typed."""
        self.remove_class(f"-list-{self._place}")
        self._place, self.table = place, self._lists[place]
        self.add_class(f"-list-{place}")
        self.table.empty = why_empty(self.state, place)
        self.table.show(self._rows())
        self.narrow(self.line.typed)
        self._show_top()

    def _narrow_to(self, narrowed: Narrowed) -> None:
        self._narrowed = narrowed
        self.narrow(self.line.typed)
        self._show_top()

    def _show_top(self) -> None:
        reactor, masked = self.state.reactor, is_private(self.state)
        followed = 0 if reactor.config is None else len(reactor.config.wallets)
        labels = (f"feed {len(reactor.signals)}", f"wallets {followed}")
        strong = frozenset({FEED} if reactor.waiting else ())
        self._which.show(labels, self._place, strong=strong)
        come = None
        if self._frozen is not None:
            held = {one.signal_id for one in self._frozen}
            come = sum(one.signal_id not in held for one in reactor.signals)
        self.query_one("#reactor-filter", Words).tell(
            filter_line(self._narrowed, reactor, come, masked=masked)
        )
        block = self.query_one("#reactor-state", Words)
        block.tell(state_line(self.state, self.now, max(20, self.size.width - 4)))
        urgent = urgent_line(self.state, self.now)
        block = self.query_one("#reactor-urgent", Words)
        block.display = bool(urgent.plain)
        block.tell(urgent)

    def _show_focus(self) -> None:
        """Show the row under the cursor, where there is room."""
        if not self.is_previewed:
            return
        row = self.table.selected()
        # An empty list has a text of its own: no empty pane below it.
        self.set_class(not len(self.table.order), "-bare")
        if row is None:
            self._pane.show(Text("no row is highlighted", "muted"), Text(), Text())
            return
        sight = Sight(self.state, self.now, self._pane.text_width)
        self._pane.show(*told_of(row, sight, self.preview))

    def _rested(self) -> None:
        self._quiet = None
        self._ask()

    def _ask(self) -> None:
        """Ask what mirroring the signal in focus would bring, where that can be read."""
        row = self.table.selected()
        if self._quiet is not None or not self.is_previewed or not self.screen.is_current:
            return
        if not isinstance(row, SignalView) or why_not_mirrored(self.state, row, self.now):
            return
        question = self.preview.ask(row, self.now)
        if question is not None:
            self.give(question)

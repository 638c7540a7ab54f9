"""Positions on the real venues on their way to money: the queue, and one of them step by step.

Knows the desk's state. Must not know any other screen but by its name.
Used by the app as screen 5.
"""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.dialogs.explain import Explanation
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of
from service_tui.console.redemption_text import detail_of, sums_bits, why_empty
from service_tui.console.redemption_words import stage_text
from service_tui.console.screens.redemption_acts import RedemptionActs
from service_tui.console.screens.redemption_columns import redemption_columns
from service_tui.console.search import Search, read_search
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.desk.freshness import age_s
from service_tui.desk.records import Topic
from service_tui.desk.records_redemption import RedemptionRow, RedemptionView
from service_tui.desk.records_wallet import WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp, decimal

DETAIL_FROM: Final = 18
TALL_FROM: Final = 30
"""Heights from which the detail stands below the queue, and from which it has more lines."""

TWO_FROM: Final = 110
"""Width from which the detail has two columns."""

_SORT: Final = "state rising"
_COMPARED: Final = ("amount",)


class RedemptionPart(NamedTuple):
    """What this screen shows."""

    view: RedemptionView
    wallet: WalletView
    is_seen: bool
    problem: str
    masked: bool


class RedemptionScreen(RedemptionActs[RedemptionPart]):
    """The queue by state, and below it the row in focus step by step."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("redemption")]

    name_in_keys: ClassVar[str] = "redemption"
    title: ClassVar[str] = "Redemption"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[RedemptionRow](
            redemption_columns(lambda: self.state, lambda: self.now),
            key=lambda row: row.key,
            empty=why_empty(state),
            id="redemption-table",
        )
        self.line = FilterLine()
        self._sums = SumsBar(id="redemption-sums")
        self._pane = DetailPane(id="redemption-detail")
        self._search = Search()

    def compose(self) -> ComposeResult:
        """The sums, the queue with its search line, the detail."""
        yield self._sums
        yield self.table
        yield self.line
        yield self._pane

    def on_mount(self) -> None:
        """Sort as last time: at first by what can be done."""
        self.restore_sort(_SORT)

    def part_of(self, state: DeskState) -> RedemptionPart:
        """The queue, the runs and the wallet."""
        seen = Topic.REDEMPTIONS in state.seen
        problem = state.service.problem
        return RedemptionPart(state.redemption, state.wallet, seen, problem, is_private(state))

    def show(self, part: RedemptionPart) -> None:
        """Show the queue and the row in focus."""
        self.table.empty = why_empty(self.state)
        self.table.show(part.view.rows)
        # How a run stands is no part of its row.
        self.table.redraw()
        self._sums.show(sums_bits(self.state))
        self._show_focus()

    def tick(self) -> None:
        """Let time pass for the ages."""
        super().tick()
        self._show_focus()

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a row, past a search that would hide it."""
        if row is not None and self.table.order.index_of(row) is None:
            self.line.clear()
            self.narrow("")
        super().focus_row(row)
        self._show_focus()

    def narrow(self, typed: str) -> None:
        """Show the rows that match; what cannot be read is said, the rest is in force."""
        self._search = search = read_search(typed, _COMPARED)
        self.line.say(search.problem)

        def keep(row: RedemptionRow) -> bool:
            words = f"{row.question}\n{stage_text(row).plain}\n{row.venue.value}".casefold()
            return search.matches(words, lambda _: decimal(row.amount))

        self.table.filter(keep if search else None)
        self.highlight_first_if_lost()
        self._show_focus()

    def name_of(self, row: RedemptionRow) -> str:
        """Its question."""
        return row.question

    def explained(self, row: RedemptionRow | None) -> tuple[Explanation, ...]:
        """What a redemption pays is made of."""
        if row is None:
            return ()
        masked = is_private(self.state)
        inputs = (
            ("shares", formats.shares(row.shares, masked=masked)),
            ("cost", formats.money(row.cost, masked=masked)),
        )
        age = age_s(self.state, Topic.REDEMPTIONS, self.now)
        told = Text(formats.duration(age)) if age is not None else Text("not seen yet")
        pays = formats.money(row.amount, masked=masked)
        formula = "a winning share pays 1, a losing one 0; the chain is asked again before signing"
        return (Explanation("pays", pays, formula, inputs, "the redemption queue", told),)

    def step_out(self) -> bool:
        """From the detail to the queue, then from the search to all."""
        if self.has_class("-opened") or not self.table.has_focus:
            self.remove_class("-opened")
            self.table.focus()
        elif self._search:
            self.line.clear()
        else:
            return False
        return True

    @on(RecordTable.Moved)
    def _moved(self, event: RecordTable.Moved) -> None:
        event.stop()
        self._show_focus()

    @on(RecordTable.Opened)
    def _opened(self, event: RecordTable.Opened) -> None:
        event.stop()
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
        self.call_after_refresh(self._show_focus)

    def _show_focus(self) -> None:
        """Show the row under the cursor, where there is room."""
        if not (self.has_class("-with-detail") or self.has_class("-opened")):
            return
        row = self.table.selected()
        self.set_class(not len(self.table.order), "-bare")
        if row is None:
            self._pane.show(Text("no row is highlighted", "muted"), Text(), Text())
            return
        self._pane.show(*detail_of(row, self.state, self.now))

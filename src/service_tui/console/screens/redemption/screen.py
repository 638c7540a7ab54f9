"""Positions on the real venues on their way to money: the queue, and one of them step by step."""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of
from service_tui.console.redemption_text import detail_of, paid, sums_bits, why_empty
from service_tui.console.redemption_words import stage_text
from service_tui.console.screens.redemption.actions import RedemptionActs
from service_tui.console.screens.redemption.columns import redemption_columns
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.records import Topic
from service_tui.desk.slices.redemption import RedemptionRow, RedemptionView
from service_tui.desk.slices.wallet import WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp, decimal

_SORT: Final = "state rising"


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
        self.pane = DetailPane(id="redemption-detail")
        self._sums = SumsBar(id="redemption-sums")

    def compose(self) -> ComposeResult:
        """The sums, the queue with its search line, the detail."""
        yield self._sums
        yield self.line
        yield self.table
        yield self.pane

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
        self.show_focus()

    @property
    def compared(self) -> tuple[str, ...]:
        """What it pays."""
        return ("amount",)

    def words_of(self, row: RedemptionRow) -> str:
        """Everything that a search finds a row by."""
        return f"{row.question}\n{stage_text(row).plain}\n{row.venue.value}".casefold()

    def number_of(self, row: RedemptionRow, column: str) -> float | None:
        """What it pays."""
        del column
        return decimal(row.amount)

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
            ("cost", paid(row.cost, row.money, masked=masked)),
        )
        age = age_s(self.state, Topic.REDEMPTIONS, self.now)
        told = Text(formats.duration(age)) if age is not None else Text("not seen yet")
        pays = paid(row.amount, row.money, masked=masked)
        formula = "a winning share pays 1, a losing one 0; the chain is asked again before signing"
        return (Explanation("pays", pays, formula, inputs, "the redemption queue", told),)

    def told(self, row: RedemptionRow) -> tuple[Text, Text, Text]:
        """Where a row stands, step by step."""
        return detail_of(row, self.state, self.now)

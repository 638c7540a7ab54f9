"""The exposure screen: groups, calendar and all positions, over all agents."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from service_tui import terms
from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import counted
from service_tui.console.keys import bindings_of, cap
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.exposure.actions import ACTIONS, by
from service_tui.console.screens.exposure.detail import (
    describe,
    explain_exposure,
    opposed,
    sums,
    title_of,
)
from service_tui.console.screens.exposure.table import EXPOSURE, TABLES
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.agents import WatchHoldings
from service_tui.desk.freshness import UNTRADED_PERIODS
from service_tui.desk.holdings.rows import ExposureRow, Summary, summary_of
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.rows import LastMade
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.evaluation.exposure import Grouping
from service_tui.units import Timestamp

_GROUPING: Final = "grouping"


def _is_old(state: DeskState, held: HoldingsView, now: Timestamp) -> bool:
    """True if what is shown was to be read again some time ago."""
    return abs(now - held.at) > UNTRADED_PERIODS * state.polls.get(Topic.HOLDINGS, 0.0)


class ExposureScreen(TableScreen[ExposureRow]):
    """What all agents hold can come to, when it resolves, and each part of it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("exposure")]

    name_in_keys: ClassVar[str] = "exposure"
    title: ClassVar[str] = "Exposure"
    tables = TABLES
    actions = ACTIONS
    opens = "exposure.market"
    watches = ("holdings", "service.phase", "service.problem")
    no_row_text: ClassVar[str] = "Select a row"
    question_cells: ClassVar[Mapping[int, int]] = {200: 46, 160: 34, 120: 24}

    across: ClassVar[str] = "-beside"

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-with-detail": (0, 28),
        "-beside": (190, 0),
    }

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.only = by(Grouping.CATEGORY)
        self._asks = False
        self._last_summary = LastMade[Summary]()

    def compose(self) -> ComposeResult:
        """The tabs, what is grouped, the lists, a row in full, the sums."""
        yield self.tabs
        yield TextBlock(id="exposure-notes")
        yield self.line
        with Horizontal(id="exposure-body"):
            yield from self.lists
            if self.pane is not None:
                yield self.pane
        yield SumsBar(id="exposure-sums")

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive the newest state; while the page is in front, request all agents' positions."""
        if not self._asks:
            self._asks = True
            self.give(WatchHoldings(is_wanted=True))
        super().take(state, now)

    def leave(self) -> None:
        """Nothing more is read for the page."""
        self._asks = False
        self.give(WatchHoldings(is_wanted=False))

    def _summary(self, held: HoldingsView) -> Summary:
        return self._last_summary.of((held,), lambda: summary_of(held))

    def choices(self) -> Mapping[str, str]:
        """By what the exposure is grouped."""
        return {_GROUPING: self.only.name} if self.only else {}

    def restore_choices(self, choices: Mapping[str, str]) -> None:
        """Group by that again."""
        kept = choices.get(_GROUPING, "")
        if kept in set(Grouping):
            self.only = by(Grouping(kept))

    def come_again(self) -> None:
        """Go to the groups; from these to the groups by category."""
        if self.place:
            self.bring_forward(0)
        else:
            self.only = by(Grouping.CATEGORY)
            self.filter_rows()
        self.table.focus()

    def focus_row(self, row: str | None) -> None:
        """As everywhere; the grouping becomes the one of the row."""
        groups = {} if row is None else {one.key: one for one in EXPOSURE.rows(self.state)}
        if row in groups:
            self.only = by(groups[row].grouping)
            self.filter_rows()
        super().focus_row(row)

    def show_all(self) -> None:
        """Clear the search; a grouping is no filter to remove."""
        chosen = self.only
        super().show_all()
        self.only = chosen
        self.filter_rows()

    def step_out(self) -> bool:
        """As everywhere; a grouping is no filter to leave."""
        chosen, self.only = self.only, None
        has_left = super().step_out()
        self.only = chosen
        self.filter_rows()
        return has_left

    def show_tabs(self, strong: Iterable[int] = ()) -> None:
        """The names of the lists; of groups those of the grouping in force are counted."""
        only, rows = self.only, EXPOSURE.rows(self.state)
        shown = sum(only is None or only.wants(row) for row in rows)
        labels = [spec.label(self.state) for spec in TABLES]
        labels[0] = f"{EXPOSURE.name} {counted(shown, is_loaded=EXPOSURE.is_loaded(self.state))}"
        self.tabs.show(tuple(labels), self.place, strong=frozenset(strong))

    def name_of(self, row: ExposureRow) -> str:
        """The market, the group, or the side held."""
        return title_of(row)

    def detail(self, row: ExposureRow, view: ViewContext) -> Detail:
        """A row in full."""
        held = view.state.holdings
        if held is None:
            return Detail(Text(), Text(), Text())
        return describe(row, held, self._summary(held), view)

    def explain(self, row: ExposureRow | None, view: ViewContext) -> tuple[Explanation, ...]:
        """What its figures are made of."""
        return explain_exposure(row, view)

    def show_header(self) -> None:
        """Show the tabs, the grouping, who holds both sides of a market, and the sums."""
        self.show_tabs()
        held, view = self.state.holdings, self.view
        note = Text()
        if held is not None and _is_old(self.state, held, self.now):
            note.append(f"as of {formats.age(held.at, self.now).plain} ago   ", "warn")
        found = Summary() if held is None else self._summary(held)
        both = found.both
        if self.spec is EXPOSURE and self.only:
            note.append("by ", "muted").append(self.only.name, "accent")
            note.append(f"   {cap('exposure.group')} groups by something else", "muted")
            if both:
                in_markets = terms.counted(len(both), "market")
                note.append(f"   both sides held in {in_markets}", "warn")
        elif both:
            note.append_text(opposed(both[0], view))
            if len(both) > 1:
                note.append(f"   and {len(both) - 1:,} more", "muted")
        self.query_one("#exposure-notes", TextBlock).show_if_any(note)
        bar = self.query_one(SumsBar)
        bar.display = bool(found.all)
        bar.show(sums(found, view))

"""The exposure screen: groups, calendar and all positions, over all agents."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from service_tui import terms
from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import counted
from service_tui.console.keys import bindings_of, cap
from service_tui.console.screens.exposure.actions import ACTIONS
from service_tui.console.screens.exposure.detail import describe, explain_exposure, sums, title_of
from service_tui.console.screens.exposure.grouped import BOTH_SIDES, GroupedScreen
from service_tui.console.screens.exposure.table import EXPOSURE, TABLES
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.agents import WatchHoldings
from service_tui.desk.freshness import UNTRADED_PERIODS
from service_tui.desk.holdings.rows import (
    ExposureRow,
    Summary,
    holdings_behind,
    summary_of,
)
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.rows import LastMade
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


def _is_old(state: DeskState, held: HoldingsView, now: Timestamp) -> bool:
    """True if what is shown was to be read again some time ago."""
    return abs(now - held.at) > UNTRADED_PERIODS * state.polls.get(Topic.HOLDINGS, 0.0)


class ExposureScreen(GroupedScreen):
    """What all agents hold can come to, when it resolves, and each part of it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("exposure")]

    name_in_keys: ClassVar[str] = "exposure"
    title: ClassVar[str] = "Exposure"
    actions = ACTIONS
    opens = "exposure.open"
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
        self._asks = False
        self._last_shown = LastMade[Summary]()
        self._last_counts = LastMade[tuple[int, ...]]()

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

    def show_tabs(self, strong: Iterable[int] = ()) -> None:
        """The names of the lists, each with the number of its rows as it is grouped."""
        loaded = EXPOSURE.is_loaded(self.state)
        held, groupings = self.state.holdings, tuple(self.choices().values())
        counts = self._last_counts.of((held, *groupings), self.counts)
        labels = (
            f"{spec.name} {counted(count, is_loaded=loaded)}"
            for spec, count in zip(TABLES, counts, strict=True)
        )
        self.tabs.show(tuple(labels), self.place, strong=frozenset(strong))

    @property
    def names(self) -> dict[str, str]:
        """The column ids by their names; the time left has a short one in every list."""
        return {**super().names, "in": "left"}

    def name_of(self, row: ExposureRow) -> str:
        """The market, the group, or the side held."""
        return title_of(row)

    def detail(self, row: ExposureRow, view: ViewContext) -> Detail:
        """A row in full."""
        held = view.state.holdings
        if held is None:
            return Detail(Text(), Text(), Text())
        return describe(row, held, self.summary(held), view)

    def explain(self, row: ExposureRow | None, view: ViewContext) -> tuple[Explanation, ...]:
        """What its figures are made of."""
        return explain_exposure(row, view)

    def _summary_shown(self, held: HoldingsView) -> Summary:
        """The sums of the marked rows, else of those that a search or a group leaves."""
        order = self.table.order
        if order.marked:
            rows = self.table.selected_or_marked()
        elif self.is_narrowed:
            rows = tuple(order[place] for place in range(len(order)))
        else:
            return self.summary(held)
        return self._last_shown.of(
            (held, *rows),
            lambda: summary_of(replace(held, holdings=holdings_behind(rows, held))),
        )

    def show_header(self) -> None:
        """Show the tabs, the grouping, whether both sides are held of a market, and the sums."""
        self.show_tabs()
        held, view = self.state.holdings, self.view
        found = Summary() if held is None else self.summary(held)
        shown = found if held is None else self._summary_shown(held)
        self.query_one("#exposure-notes", TextBlock).show_if_any(self._note(found))
        bar = self.query_one(SumsBar)
        bar.display = bool(found.all)
        bar.show(sums(shown, found, view))

    def _note(self, found: Summary) -> Text:
        """How the list is grouped, and what is worth a warning, in one line."""
        held, note = self.state.holdings, Text()
        if held is not None and _is_old(self.state, held, self.now):
            note.append(f"as of {formats.age(held.at, self.now).plain} ago   ", "warn")
        if self.opened:
            note.append("within ", "muted").append(self.opened, "accent")
            note.append(f"   {cap('rows.out')} leads back", "muted")
        else:
            note.append("by ", "muted").append(self.grouping, "accent")
            note.append(f"   {cap('exposure.group')} groups by something else", "muted")
        if found.both and self.opened != BOTH_SIDES:
            in_markets = terms.counted(len(found.both), "market")
            note.append(f"   {cap('exposure.both')} both sides held in {in_markets}", "warn")
        return note

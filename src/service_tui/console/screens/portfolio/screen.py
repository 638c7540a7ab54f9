"""What the account has: its worth over time, its positions, and one of them in detail."""

from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from service_tui.console import formats
from service_tui.console.exit_estimate import guarded, unguarded
from service_tui.console.figures import figures
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import (
    counted,
    is_heard,
    is_private,
    not_told,
    of_wall,
    world_now,
)
from service_tui.console.keys import bindings_of, cap, with_keys
from service_tui.console.messages import GoTo, Said
from service_tui.console.parts.explained import account_numbers, position_numbers
from service_tui.console.parts.panes import PaneScreen
from service_tui.console.parts.position_columns import (
    COMPARED,
    Look,
    closed_columns,
    open_columns,
    wanted,
)
from service_tui.console.screens.portfolio import text as position_text
from service_tui.console.search import Search, read_search
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.price_chart import PriceChart
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.records import (
    AccountView,
    EquityPoint,
    Phase,
    PositionView,
    Topic,
    TradeView,
)
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.state import DeskState
from service_tui.terms import Action
from service_tui.units import ONE, Micros, Timestamp, decimal

SHORT_BELOW: Final = 17
"""Height below which the curve gives its lines to the positions."""

_FIGURE_CELLS: Final = 23
"""Least width of a figure of the account: its label, a sign and up to a million."""

_FILTER: Final = "filter.portfolio"
"""The preference that keeps the search."""

_SPAN_MIN: Final = 1.0
"""The curve's axis spans at least one $SIM: cents are noise."""

_IS_CLOSED: Final = "this position is closed: {portfolio.closed} shows the open ones"

_EMPTY: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nPositions appear with its first answer.",
    Phase.ONLINE: "No open positions.\n\nMarkets ({app.markets}): put the cursor on one, "
    "{markets.buy} buys.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\n{app.refresh} tries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nSettings ({app.settings}) "
    "show which.",
}


class PortfolioPart(NamedTuple):
    """What this screen shows."""

    account: AccountView | None
    positions: tuple[PositionView, ...]
    closed: tuple[PositionView, ...]
    trades: tuple[TradeView, ...]
    equity: tuple[EquityPoint, ...]
    on_venues: tuple[PositionView, ...]
    venue_sums: tuple[VenueSumView, ...]
    service: tuple[Phase, str]
    is_heard: bool
    masked: bool


class PortfolioScreen(PaneScreen[PortfolioPart, PositionView]):  # noqa: PLR0904 - one action a key
    """The account and its positions, open or closed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("portfolio")]

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-with-detail": (120, 0), "-two": (160, 0)}
    """From where the detail stands beside the curve, and in two columns. Source: ux, "Looks"."""

    name_in_keys: ClassVar[str] = "portfolio"
    title: ClassVar[str] = "Portfolio"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        kept = state.preferences.get(_FILTER, "")
        super().__init__(state, now, kept)
        self._search = self._search_kept = kept
        self._look = self._look_around()
        self._open_rows = RecordTable[PositionView](
            open_columns(lambda: self._look), key=_key, empty="", id="positions"
        )
        self._closed_rows = RecordTable[PositionView](
            closed_columns(lambda: self._look), key=_key, empty="", id="closed"
        )
        self.table = self._open_rows
        self._which = Choice(id="portfolio-which")
        self._curve = PriceChart(
            value=self._worth,
            bounds=None,
            span_min=_SPAN_MIN,
            empty="equity appears with the first answers",
            id="portfolio-equity",
        )
        self.pane = DetailPane(id="portfolio-detail")

    def compose(self) -> ComposeResult:
        """Figures, curve and detail, then the positions with their search line."""
        yield Words(id="portfolio-figures")
        yield Words(id="portfolio-venues")
        with Horizontal(id="portfolio-top"):
            yield self._curve
            yield self.pane
        yield self._which
        yield self.line
        yield self._open_rows
        yield self._closed_rows

    def on_mount(self) -> None:
        """Sort as last time."""
        self.restore_sort("value falling")
        self._closed_rows.sort_by("resolved", falling=True)

    def part_of(self, state: DeskState) -> PortfolioPart:
        """The account, its positions, trades and curve."""
        return PortfolioPart(
            state.account,
            state.positions,
            state.closed,
            state.trades,
            state.equity,
            state.on_venues,
            state.venue_sums,
            (state.service.phase, state.service.problem),
            is_heard(state, Topic.POSITIONS),
            is_private(state),
        )

    def show(self, part: PortfolioPart) -> None:
        """Show figures, curve and positions."""
        self._look = self._look_around()
        self._show_figures()
        points = [(each.at, decimal(each.equity)) for each in part.equity]
        equity = None if part.account is None else part.account.equity
        if equity is not None and not self.state.from_cache:
            # The curve ends in what the figures say.
            points.append((self.now, decimal(equity)))
        self._curve.show(points, title=f"equity, $SIM{of_wall(self.state)}")
        self._refill()
        self.show_focus()

    def tick(self) -> None:
        """Let time pass in the table and the pane."""
        self._look = self._look_around()
        super().tick()
        self._show_venues()

    def keep(self) -> None:
        """Keep the order of the open rows, and the search; closed rows begin with the newest."""
        if self.table is self._open_rows:
            super().keep()
        if self._search != self._search_kept:
            self._search_kept = self._search
            self.give(SetPreference(_FILTER, self._search))

    def narrow(self, typed: str) -> None:
        """Search; what of it cannot be read is said, and the rest is in force."""
        self._search = typed
        self.line.say(read_search(typed, COMPARED, names=self.names).problem)
        self._refill()
        self.highlight_first_if_lost()
        self.show_focus()

    def name_of(self, row: PositionView) -> str:
        """Its question."""
        return row.question

    def why_not(self, action: str) -> str:
        """What was closed is neither sold nor bought here."""
        if self.table is self._closed_rows and action in {"buy", "exit", "monitor", "price_alert"}:
            return with_keys(_IS_CLOSED)
        return super().why_not(action)

    def explained(self, row: PositionView | None) -> tuple[Explanation, ...]:
        """The position's numbers, then the account's."""
        account = account_numbers(self.state, self.now)
        return account if row is None else position_numbers(row, self.state, self.now) + account

    def is_hidden(self, row: str) -> bool:
        """Never: a search that is kept stays."""
        del row
        return False

    def step_out(self) -> bool:
        """As everywhere, and at last from closed to open."""
        if super().step_out():
            return True
        if self.table is self._open_rows:
            return False
        self.action_toggle_closed()
        return True

    def action_exit(self) -> None:
        """Open the ticket to sell from the position that is highlighted."""
        self._trade(Action.SELL)

    def action_buy(self) -> None:
        """Open the ticket to buy more of the side that is highlighted."""
        self._trade(Action.BUY)

    def action_open_market(self) -> None:
        """Show the market of the position that is highlighted."""
        held = self.row_in_focus()
        if held is not None:
            self.post_message(GoTo("markets", held.market_id))

    def action_monitor(self) -> None:
        """Open the form for the stop and target of the position that is highlighted."""
        held = self.row_in_focus()
        if held is not None:
            self.open_monitor(guarded(self.state, held.key) or unguarded(held))

    def action_open_orders(self) -> None:
        """List what rests on a book; there it is cancelled."""
        from service_tui.console.forms.open_orders import OpenOrders  # noqa: PLC0415 - not at first

        self._app().push_screen(OpenOrders(self.state, self.now))

    def action_why(self) -> None:
        """Why it traded: the chain of this position, as far as it is known."""
        from service_tui.console.forms.why import Why  # noqa: PLC0415 - not in the first frame
        from service_tui.desk.audit.why import why_position  # noqa: PLC0415 - nor what it shows

        held = self.row_in_focus()
        if held is not None:
            chain = why_position(self.state, held)
            self._app().push_screen(
                Why(chain, self.now, masked=is_private(self.state), clock=of_wall(self.state))
            )

    def action_price_alert(self) -> None:
        """Tell when a price of the market of this position is there."""
        held = self.row_in_focus()
        if held is not None:
            self.open_price_alert(held.market_id, held.side)

    def action_toggle_closed(self) -> None:
        """Show closed positions instead of open ones, or back."""
        self.table = self._open_rows if self.table is self._closed_rows else self._closed_rows
        self.set_class(self.table is self._closed_rows, "-closed")
        self._refill()
        self.table.focus()
        self.show_focus()

    @on(Choice.Asked, "#portfolio-which")
    def _which_asked(self, event: Choice.Asked) -> None:
        event.stop()
        if (event.index == 1) != (self.table is self._closed_rows):
            self.action_toggle_closed()

    def fit(self) -> None:
        """Arrange figures, curve and detail for the size that there is."""
        super().fit()
        self.set_class(self.size.height < SHORT_BELOW, "-short")
        # Within the layout that this is part of, a new height would be lost.
        self.call_after_refresh(self._show_figures)

    def _trade(self, action: Action) -> None:
        held = self.row_in_focus()
        if held is None:
            return
        market = self.state.markets.get(held.market_id)
        if self.table is self._closed_rows:
            self.post_message(Said(with_keys(_IS_CLOSED), "warn"))
        elif market is None:
            self.post_message(
                Said(f"its market is not in the list now: {cap('app.refresh')} asks again", "warn")
            )
        else:
            # On the venue where it is held, and nowhere else.
            self.open_ticket(market, held.side, action, held.venue)

    def _worth(self, value: float) -> str:
        amount = Micros(round(value * ONE))
        return formats.money(amount, masked=self._look.masked).plain

    def _look_around(self) -> Look:
        return Look(world_now(self.state, self.now), is_private(self.state))

    def _show_figures(self) -> None:
        width = max(_FIGURE_CELLS, self.size.width - 4)
        shown = position_text.account_figures(self.state.account, masked=self._look.masked)
        across = min(4, max(1, (width + 3) // (_FIGURE_CELLS + 3)))
        block = self.query_one("#portfolio-figures", Words)
        block.tell(figures(shown, across=across, width=width))
        self._show_venues()

    def _show_venues(self) -> None:
        """Show what lies on real venues, where anything does; its age goes on."""
        width = max(_FIGURE_CELLS, self.size.width - 4)
        sums, block = self.state.venue_sums, self.query_one("#portfolio-venues", Words)
        lines = position_text.venue_lines(sums, self.now, width, masked=self._look.masked)
        block.display = bool(lines)
        block.tell(lines)

    def _rows(self, *, is_closed: bool) -> tuple[PositionView, ...]:
        """What is held, or was: in play money, then in real money."""
        real = (held for held in self.state.on_venues if held.is_closed is is_closed)
        return (*(self.state.closed if is_closed else self.state.positions), *real)

    def _refill(self) -> None:
        """Hand the wanted positions to the table in front."""
        self._look = self._look_around()
        search = read_search(self._search, COMPARED, names=self.names)
        is_closed = self.table is self._closed_rows
        rows = self._rows(is_closed=is_closed)
        shown = tuple(held for held in rows if not search or self._is_wanted(held, search))
        self.table.empty = self._why_empty(len(rows), is_closed=is_closed)
        self.table.show(shown)
        # The cache keeps what is open only: what was closed is not known before the first answer.
        heard = is_heard(self.state, Topic.POSITIONS)
        is_old = self.state.from_cache
        closed = counted(len(self._rows(is_closed=True)), heard=heard and not is_old)
        opened = counted(len(self._rows(is_closed=False)), heard=heard or is_old)
        counts = (f"open {opened}", f"closed {closed}")
        self._which.show(counts, int(is_closed))

    def _is_wanted(self, held: PositionView, search: Search) -> bool:
        return wanted(held, search, self._look.now, lambda column: self.cell_of(held, column))

    def _why_empty(self, total: int, *, is_closed: bool) -> str:
        if total:
            return (
                f"No position of {total:,} matches /{self._search}\n\n{cap('rows.out')} "
                "clears the search."
            )
        heard = is_heard(self.state, Topic.POSITIONS)
        if is_closed and (self.state.from_cache or not heard):
            return "Closed positions come with the service's first answer."
        if is_closed:
            return f"No position was closed yet.\n\n{cap('portfolio.closed')} shows the open ones."
        service = self.state.service
        if service.phase is Phase.ONLINE and not heard:
            return not_told("positions")
        return with_keys(_EMPTY[service.phase]).replace("{problem}", service.problem or "no answer")

    def show_focus(self) -> None:
        """Show the position under the cursor, where there is room."""
        if not self.is_told:
            return
        held, masked = self.table.highlighted(), self._look.masked
        if held is None:
            self.pane.show(Text("no position is highlighted", "muted"), Text(), Text())
            return
        width = self.pane.text_width
        body = (
            position_text.closed_body(held, width, masked=masked)
            if self.table is self._closed_rows
            else position_text.position_body(held, self.now, width, masked=masked)
        )
        trades = position_text.trades_of(self.state, held, self.now)
        self.pane.show(position_text.position_head(held), body, trades)


def _key(held: PositionView) -> str:
    return held.key

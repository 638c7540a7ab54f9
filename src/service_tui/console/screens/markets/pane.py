"""The market under the cursor in full: chart, position, news, trades, rules."""

from typing import Final

from rich.text import Text
from textual.timer import Timer

from service_tui.console.book import BookPlace, next_place, places
from service_tui.console.charts.sources import RANGES, news_marks
from service_tui.console.freshness import (
    NOT_RECORDED,
    is_answered,
    is_private,
    of_world,
    world_now,
)
from service_tui.console.messages import CommandGiven
from service_tui.console.own_notes import note_section
from service_tui.console.screens.markets import detail as market_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import DetailPane
from service_tui.console.widgets.price_chart import PriceChart
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.figures import price_points
from service_tui.desk.slices.markets import DetailView, MarketView
from service_tui.desk.slices.own_notes import NoteOn
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Side
from service_tui.units import Timestamp

REST_S: Final = 0.12
"""How long the cursor rests before the market's detail is requested."""


class MarketPane(DetailPane):
    """Shows one market, and requests its detail. Never shows the detail of another."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own word
        self._prices = PriceChart(empty=market_text.LOADING)
        super().__init__(self._prices, id=id)
        self._span_s = 86_400
        self._market_id: str | None = None
        self._watched: tuple[str, int] | None = None
        self._resting: Timer | None = None
        self._charted: object = None
        self._told: object = None
        self._clock = ""
        self._detail: DetailView | None = None
        self._place: BookPlace | None = None

    @property
    def place(self) -> BookPlace | None:
        """The price of the book that is highlighted: an order begins with it as its limit."""
        return self._place if self.size else None

    def move_place(self, by: int) -> None:
        """Highlight the price so many lines further down the book."""
        self._place = next_place(self._detail, self._place, by)
        self._told = None

    def leave_book(self) -> bool:
        """Highlight no price any more; False if none was."""
        was_there, self._place, self._told = self.place is not None, None, None
        return was_there

    @property
    def has_book(self) -> bool:
        """True while the book of the market in focus is shown."""
        return bool(self.size and places(self._detail))

    @property
    def is_place_gone(self) -> bool:
        """True if the highlighted price has left the book."""
        return self._place is not None and self._place not in places(self._detail)

    def next_range(self) -> None:
        """Select the next span, and request it at once."""
        spans = list(RANGES)
        self._span_s = spans[(spans.index(self._span_s) + 1) % len(spans)]
        self._request()

    def release(self) -> None:
        """Stop requesting details."""
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        if self._watched is not None:
            self._watched = None
            self.post_message(CommandGiven(WatchMarket(None)))

    def shows(self, market_id: str) -> bool:
        """True if the pane shows this market."""
        return market_id == self._market_id and self._charted is not None

    def show_market(self, market: MarketView | None, state: DeskState, now: Timestamp) -> None:
        """Show this market in a state, at wall time `now`; None: none is in focus."""
        if market is None or market.market_id != self._market_id:
            self._place = self._detail = None
        self._aim(None if market is None else market.market_id)
        if market is None:
            self._charted = self._told = None
            self._prices.show((), empty="")
            self.show(Text("Select a market", "muted"), Text(), Text())
            return
        newest = state.detail
        detail = newest if newest is not None and newest.market_id == market.market_id else None
        if detail is None and state.rewound_to is not None:
            detail = DetailView(
                market.market_id, self._span_s, "", (), (), (), problem=NOT_RECORDED
            )
        self._detail = detail
        held = state.held(market.market_id)
        width, world = self.text_width, world_now(state, now)
        self._clock = of_world(state)
        self._show_prices(market, detail, held, world)
        answered, hidden = is_answered(state, Topic.POSITIONS), hidden_name(state)
        whose = (held, answered, is_private(state), hidden)
        note = note_section(ViewContext.of(state, now), NoteOn.MARKET, market.market_id)
        told = (market, detail, whose, world, width, self._clock, self.place, note.plain)
        if told == self._told:
            # In a paused world no second changes anything that is said here.
            return
        self._told = told
        depth = market_text.book(market, detail, width, self.place)
        self.show(
            market_text.headline(market, world, width),
            market_text.holdings(state, market.market_id, width),
            Text("\n\n").join((
                *((note,) if note.plain else ()),
                *((depth,) if depth.plain else ()),
                market_text.news(detail, world, self._clock),
                market_text.trades(detail, world, width, self._clock, hidden=hidden),
                market_text.rules(market, detail, width, self._clock),
            )),
        )

    def _aim(self, market_id: str | None) -> None:
        """Request a market's detail once the cursor has rested on it."""
        if market_id == self._market_id and (self._watched is not None or self._resting):
            return
        self._market_id = market_id
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST_S, self._request)

    def _request(self) -> None:
        self._resting = None
        if self._market_id is None or (self._market_id, self._span_s) == self._watched:
            return
        self._watched = (self._market_id, self._span_s)
        self.post_message(CommandGiven(WatchMarket(self._market_id, self._span_s)))

    def _show_prices(
        self,
        market: MarketView,
        detail: DetailView | None,
        held: tuple[PositionView, ...],
        world: Timestamp,
    ) -> None:
        entry, request = entry_of(held), RANGES[self._span_s]
        charted = (market.market_id, market.price, detail, entry, request)
        if charted == self._charted:
            return
        self._charted = charted
        if detail is None:
            self._prices.show((), title=f"YES, {request}", empty=market_text.LOADING)
            return
        late = "" if detail.span_s == self._span_s else f"; {request} {market_text.LOADING}"
        self._prices.show(
            # The line ends at the headline's price.
            price_points(market, detail, world),
            entry=entry,
            news=news_marks(detail),
            title=f"YES, {RANGES.get(detail.span_s, 'all')}{self._clock}{late}",
            empty="not available" if detail.problem else "no prices yet",
        )


def entry_of(held: tuple[PositionView, ...]) -> float | None:
    """The position's average price as a price of YES, for the chart; None without exactly one."""
    if len(held) != 1 or held[0].average is None:
        return None
    return held[0].average if held[0].side is Side.YES else 1.0 - held[0].average


def hidden_name(state: DeskState) -> str:
    """The trader whose shares are masked, as it is named on the tape; empty for nobody."""
    return state.account.name if is_private(state) and state.account is not None else ""

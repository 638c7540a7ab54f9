"""The page of an event: its outcomes together, what a set costs and pays, related markets."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.actions import barred_reason
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.keys import bindings_of
from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.questions import short_question
from service_tui.console.screens.markets.detail import ends_in
from service_tui.console.screens.markets.set_form import SetDraft, SetForm
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.dialog import open_above
from service_tui.desk.markets.events import EventView, event_of, related_to
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.state import DeskState
from service_tui.evaluation.events import SET_SHARES, EventSums, SetPrice
from service_tui.terms import counted
from service_tui.units import ONE, Timestamp

_NAME_CELLS: Final = 54
_ALONE: Final = "This question stands alone: it is no outcome of an event."
_CERTAIN: Final = (
    "Certain only if exactly one of these outcomes comes true. If none does, or one that is not "
    "listed here, a set of YES pays nothing."
)
_DRAWN: Final = (
    " The simulated world draws each outcome by itself: several, or none, can come true."
)
_ABOUT: Final = "Costs include slippage, at prices of six decimals; each ticket quotes exactly."


class EventPage(CursorList[str, MarketView]):
    """Returns the id of the market to show.

    Args:
        state: the newest.
        now: wall time.
        market: the one whose event it is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("event_page")]

    name_in_keys: ClassVar[str] = "event_page"
    title_text: ClassVar[str] = "Event"

    def __init__(self, state: DeskState, now: Timestamp, market: MarketView) -> None:
        self._market = market
        super().__init__(state, now)
        self.at = market.market_id
        self.take(state, now)

    def rows(self) -> Sequence[MarketView]:
        """The outcomes, then the related markets."""
        event = self._event()
        market = self._present()
        outcomes = (market,) if event is None else event.outcomes
        return (*outcomes, *related_to(market, self.state.markets.values()))

    def key_of(self, row: MarketView) -> str:
        """The market."""
        return row.market_id

    def action_choose(self) -> None:
        """Show the market under the cursor."""
        row = self.row_or_toast()
        if row is not None:
            self.dismiss(row.market_id)

    def action_buy(self) -> None:
        """Ask once about a set, YES of each outcome, and buy it."""
        why = barred_reason(self.state, "event.buy")
        if why:
            self.post_message(ToastMessage(why, "warn"))
            return
        open_above(self, SetForm(self.state, self.now, self._present()), self._buy)

    def _buy(self, draft: SetDraft) -> None:
        self.post_message(CommandGiven(draft.order))

    def text(self) -> Text:
        """The outcomes, the sums, what is certain of them, and the related markets."""
        view, event = ViewContext.of(self.state, self.now), self._event()
        market = self._present()
        if event is None:
            lines = [self._line(market, view), Text(), Text(_ALONE, "muted")]
        else:
            lines = [
                formats.plain(event.name, 2 * _NAME_CELLS),
                *(self._line(one, view) for one in event.outcomes),
                Text(),
                *_sums(event),
                Text(_ABOUT, "muted"),
                Text(_CERTAIN + (_DRAWN if self._is_invented() else ""), "warn"),
            ]
        related = related_to(market, self.state.markets.values())
        if related:
            lines += [Text(), Text("related markets", "heading")]
            lines += [self._line(one, view) for one in related]
        return Text("\n").join(lines)

    def _is_invented(self) -> bool:
        """Whether the outcomes are drawn here; those of a history came as they were recorded."""
        world = self.state.world
        return self.state.service.embedded and (world is None or not world.history)

    def _present(self) -> MarketView:
        return self.state.markets.get(self._market.market_id, self._market)

    def _event(self) -> EventView | None:
        return event_of(self._present(), self.state.markets.values())

    def _line(self, market: MarketView, view: ViewContext) -> Text:
        is_here = market.market_id == self.at
        name = formats.plain(short_question(market.question), _NAME_CELLS).plain
        return Text.assemble(
            ("▌ " if is_here else "  ", "accent"),
            (f"{name:<{_NAME_CELLS}}  ", "bold" if is_here else ""),
            formats.price(market.price, aligned=True),
            "  ",
            ends_in(market, view.world_now),
        )


def _sums(event: EventView) -> list[Text]:
    sums = event.sums()
    count = counted(len(event.outcomes), "outcome")
    lines = [
        Text.assemble(
            ("sum of YES  ", "muted"), f"{sums.sum_yes:.4f}", (f"  {count} listed", "muted")
        )
    ]
    if len(event.outcomes) > 1:
        shares = f"{SET_SHARES / ONE:.0f}"
        lines += [
            _set(f"{shares} YES of each", sums.yes_set),
            _set(f"{shares} NO of each", sums.no_set),
        ]
        lines += _book(sums)
    return lines


def _set(what: str, price: SetPrice) -> Text:
    return Text.assemble(
        (f"{what:<17}", "muted"),
        " costs ",
        formats.money(price.cost, masked=False),
        " $, pays ",
        formats.money(price.pays, masked=False),
        ": ",
        formats.pnl(price.gain, masked=False),
    )


def _book(sums: EventSums) -> list[Text]:
    """The best prices of the books, where every outcome has one."""
    if sums.asks is None or sums.bids is None:
        return []
    return [
        Text.assemble(
            ("on their books, at the best prices alone: ", "muted"),
            f"YES of each {sums.asks:.4f} to buy, {sums.bids:.4f} to sell",
        )
    ]

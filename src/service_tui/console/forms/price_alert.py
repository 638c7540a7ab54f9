"""A price alert: tell once when the price of a side is there. Nothing is traded."""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.forms.form import Form
from service_tui.console.forms.monitor_draft import read_number
from service_tui.console.forms.order_draft import DraftError, why_closed
from service_tui.console.keys import bindings_of
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.risk import SetPriceAlert
from service_tui.desk.slices.records import MarketView
from service_tui.desk.slices.risk import Condition
from service_tui.desk.state import DeskState
from service_tui.terms import Side
from service_tui.units import Timestamp

_SIDES: Final = (Side.YES, Side.NO)
_CONDITIONS: Final = tuple(Condition)


class PriceAlertForm(Form[SetPriceAlert]):
    """Adds a price alert on one market."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("price_alert")]

    heading: ClassVar[str] = "Price alert"
    hint: ClassVar[str] = "{alert.side} side  {alert.condition} condition  {form.cancel} leaves"

    def __init__(
        self, state: DeskState, now: Timestamp, market: MarketView, side: Side = Side.YES
    ) -> None:
        super().__init__(state, now)
        self._market = market
        self._side = side
        self._chosen: Condition | None = None

    def parts(self) -> Iterator[Widget]:
        """The market, side and condition, the price."""
        yield Words(id="form-question")
        yield Choice(id="alert-side")
        yield Choice(id="alert-condition")
        yield Horizontal(
            Words("price", classes="label"),
            PlainInput(
                placeholder="between 0 and 1, as 0.65",
                compact=True,
                max_length=12,
                id="alert-price",
                classes="number",
            ),
            classes="line",
        )
        yield Words(id="form-preview")

    def renew(self) -> None:
        """The market as it is now."""
        self._market = self.state.markets.get(self._market.market_id, self._market)

    def judged(self) -> SetPriceAlert | str:
        """The alert that stands there, or what is against it."""
        closed = why_closed(self._market)
        if closed:
            return closed
        if not self.typed("alert-price").strip():
            return "type the price that you want to hear of"
        try:
            threshold = read_number(self.typed("alert-price"), "price")
        except DraftError as refused:
            return str(refused)
        if not 0 < threshold < 1:
            return "price: between 0 and 1"
        about = self._market
        return SetPriceAlert(
            about.market_id, self._side, self._condition(threshold), threshold, about.question
        )

    def preview(self, result: SetPriceAlert | None) -> None:
        """Where the price is now, and what will be told."""
        market, price = self._market, self._market.price_of(self._side)
        self.query_one("#form-question", Words).tell(formats.plain(market.question))
        sides = tuple(f"{s.value.upper()} {formats.price(market.price_of(s))}" for s in _SIDES)
        self.query_one("#alert-side", Choice).show(sides, _SIDES.index(self._side))
        taken = self._condition(price) if result is None else result.condition
        words = tuple(condition.in_words for condition in _CONDITIONS)
        self.query_one("#alert-condition", Choice).show(words, _CONDITIONS.index(taken))
        self.query_one("#form-preview", Words).tell(self._meaning(result, price))

    def action_side(self) -> None:
        """Take the other side."""
        self._side = self._side.other
        self.refresh_form()

    def action_condition(self) -> None:
        """Take the next condition."""
        judged = self.judged()
        now = self._chosen or (Condition.ABOVE if isinstance(judged, str) else judged.condition)
        self._chosen = _CONDITIONS[(_CONDITIONS.index(now) + 1) % len(_CONDITIONS)]
        self.refresh_form()

    def _condition(self, threshold: float) -> Condition:
        """What was chosen; else where the price has to go from here."""
        if self._chosen is not None:
            return self._chosen
        price = self._market.price_of(self._side)
        return Condition.ABOVE if threshold >= price else Condition.BELOW

    def _meaning(self, result: SetPriceAlert | None, price: float) -> Text:
        if result is None:
            return Text("It is told once, here on this desk; nothing is traded.", "muted")
        is_upward = result.condition in {Condition.ABOVE, Condition.CROSSES_ABOVE}
        if price >= result.threshold if is_upward else price <= result.threshold:
            word = "above" if is_upward else "below"
            where = f"{result.side.value.upper()} is {word} it already"
            if result.condition in {Condition.ABOVE, Condition.BELOW}:
                return Text(f"{where}: it is told at once.", "warn")
            return Text(f"{where}: it is told once the price went back and crosses.", "muted")
        way = f"{100 * abs(result.threshold - price):.1f} points from here"
        return Text(f"{result.in_words()}: {way}, told once.", "muted")

    @on(Choice.Asked)
    def _choice_asked(self, event: Choice.Asked) -> None:
        event.stop()
        if event.choice.id == "alert-side":
            self._side = _SIDES[event.index]
        else:
            self._chosen = _CONDITIONS[event.index]
        self.refresh_form()

"""A price alert: a one-shot notice when the price of a side is reached. It trades nothing."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError, figure_rule, parse_number
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.console.keys import bindings_of
from service_tui.console.reasons import sentence
from service_tui.desk.commands.risk import SetPriceAlert
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import why_closed
from service_tui.terms import AlertCondition, Side
from service_tui.units import ONE, Micros, Timestamp

_SIDES: Final = (Side.YES, Side.NO)
_CONDITIONS: Final = tuple(AlertCondition)
_NO_ALERT: Final = Text("One-shot notification; no trade.", "muted")
_PRICE: Final = figure_rule("price", Micros(1), Micros(ONE - 1), beyond="price: between 0 and 1")


def _parse_price(text: str) -> float:
    if not text.strip():
        raise FieldError("Enter the alert price")
    return parse_number(text, _PRICE) / ONE


PRICE: Final = Field(
    "alert-price", "price", _parse_price, placeholder="between 0 and 1, such as 0.65"
)


class PriceAlertForm(Form[SetPriceAlert]):
    """Adds a price alert on one market."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("price_alert")]

    heading: ClassVar[str] = "Price alert"
    hint: ClassVar[str] = "{alert.side} side  {alert.condition} condition  {form.cancel} cancel"
    body = (
        "form-question",
        OptionsRow("alert-side"),
        OptionsRow("alert-condition"),
        PRICE,
        "form-preview",
    )

    def __init__(
        self, state: DeskState, now: Timestamp, market: MarketView, side: Side = Side.YES
    ) -> None:
        super().__init__(state, now)
        self.market = market
        self.side = side
        self._selected: AlertCondition | None = None

    def renew(self) -> None:
        """The market as it is now."""
        self.market = self.state.markets.get(self.market.market_id, self.market)

    def validate(self) -> SetPriceAlert:
        """The typed alert."""
        about = self.market
        closed = why_closed(about)
        if closed:
            raise FieldError(sentence(closed))
        threshold = self.read(PRICE)
        return SetPriceAlert(
            about.market_id, self.side, self._condition(threshold), threshold, about.question
        )

    def describe(self, result: SetPriceAlert | None) -> Mapping[str, Shown]:
        """The present price, and the meaning of the alert."""
        market, price = self.market, self.market.price_of(self.side)
        taken = self._condition(price) if result is None else result.condition
        sides = tuple(f"{s.value.upper()} {formats.price(market.price_of(s))}" for s in _SIDES)
        labels = tuple(condition.describe for condition in _CONDITIONS)
        return {
            "form-question": formats.plain(market.question),
            "alert-side": OptionsState(sides, _SIDES.index(self.side)),
            "alert-condition": OptionsState(labels, _CONDITIONS.index(taken)),
            "form-preview": _NO_ALERT if result is None else meaning_of(result, price),
        }

    def choose(self, name: str, index: int) -> None:
        """Select a side or a condition."""
        if name == "alert-side":
            self.side = _SIDES[index]
        else:
            self._selected = _CONDITIONS[index]

    def action_side(self) -> None:
        """Select the other side."""
        self.side = self.side.other
        self.refresh_form()

    def action_condition(self) -> None:
        """Select the next condition."""
        result = self.result_or_problem()
        now = self._selected or (
            AlertCondition.ABOVE if isinstance(result, str) else result.condition
        )
        self._selected = _CONDITIONS[(_CONDITIONS.index(now) + 1) % len(_CONDITIONS)]
        self.refresh_form()

    def _condition(self, threshold: float) -> AlertCondition:
        """The selected condition; else the direction from the present price."""
        if self._selected is not None:
            return self._selected
        price = self.market.price_of(self.side)
        return AlertCondition.ABOVE if threshold >= price else AlertCondition.BELOW


def meaning_of(alert: SetPriceAlert, price: float) -> Text:
    """When an alert comes, at the present price of its side."""
    if alert.condition.is_beyond(alert.threshold, price):
        word = "above" if alert.condition.is_upward else "below"
        where = f"{alert.side.value.upper()} is already {word}"
        if not alert.condition.is_crossing:
            return Text(f"{where}: alerts at once (one-shot).", "warn")
        return Text(f"{where}: alerts once the price returns and crosses (one-shot).", "muted")
    way = f"{100 * (alert.threshold - price):+.1f} pt"
    text = alert.describe()
    return Text(f"{text[0].upper()}{text[1:]} ({way}). One-shot.", "muted")

"""Figures of a quote, labelled."""

from collections.abc import Sequence

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.trading.preflight import HeldSide
from service_tui.terms import MONEY_OF, Action, Venue
from service_tui.units import Micros


def quote_figures(
    quote: QuoteView | None,
    target: tuple[Action, Venue],
    position: HeldSide | None,
    *,
    masked: bool,
    slips: bool = False,
) -> Sequence[Figure]:
    """The figures of a quote, the same ones in the same places whatever the answer.

    Args:
        quote: the answer; None or a refusal shows every figure as unknown.
        target: action and venue: they decide which figures matter, and the currency.
        position: the position that a sale takes from, for its realized P&L.
        masked: hide amounts.
        slips: the slippage is beyond what is allowed without a word: it is coloured.

    Returns:
        Labels with their values; a real venue has two more, which separate the fee.
    """
    result = quote if quote is not None and quote.ok else None
    action, venue = target
    money = _Money(MONEY_OF[venue], masked=masked)
    head = (
        ("shares", formats.shares(result and result.shares, masked=masked)),
        ("price", _moved(result)),
        ("average", formats.price(result and result.average)),
        ("slippage", _points(result and result.slippage, slips=slips)),
    )
    cash = ("cash after", money.plain(result and result.cash_after))
    fee = ("fee", money.plain(result and result.fee))
    parts = (("notional", money.plain(result and result.money)), fee)
    if action is Action.SELL:
        net = ("net proceeds", money.plain(result and result.net))
        tail = (net, ("realized P&L", money.signed(_realized(result, position), 1)), cash)
    else:
        lose = ("max loss", money.signed(result and result.max_loss, -1))
        tail = (lose, ("max profit", money.signed(result and result.max_win, 1)), cash)
    return (*head, *(parts if venue is not Venue.SIM else ()), *tail)


class _Money:
    """Formats amounts with their unit."""

    def __init__(self, unit: str, *, masked: bool) -> None:
        self._unit, self._masked = unit, masked

    def plain(self, amount: Micros | None) -> Text:
        """An amount."""
        return self._with_unit(formats.money(amount, masked=self._masked), amount)

    def signed(self, amount: Micros | None, sign: int) -> Text:
        """A gain or a loss: an unsigned amount with `sign`, -1 for a loss."""
        signed = None if amount is None else Micros(sign * amount)
        return self._with_unit(formats.pnl(signed, masked=self._masked), amount)

    def _with_unit(self, value: Text, amount: Micros | None) -> Text:
        return value if amount is None else Text.assemble(value, (f" {self._unit}", "muted"))


def _moved(quote: QuoteView | None) -> Text:
    if quote is None or quote.price_before is None or quote.price_after is None:
        return formats.price(None)
    change = quote.price_after - quote.price_before
    before, after = formats.price(quote.price_before), formats.price(quote.price_after)
    # A move that the decimals do not show is none.
    arrow = "=" if before.plain == after.plain else "▲" if change > 0 else "▼"
    return Text.assemble(before, " → ", after, " ", arrow)


def _points(change: float | None, *, slips: bool) -> Text:
    text = formats.points(None if change is None else abs(change))
    # A word beside the colour.
    shown = f"{text.plain.lstrip('+')} points" + (" !" if slips else "")
    return Text(shown, "loss" if slips else "") if change is not None else text


def _realized(quote: QuoteView | None, position: HeldSide | None) -> Micros | None:
    if quote is None or position is None or position.shares <= 0:
        return None
    return Micros(quote.net - position.cost * quote.shares // position.shares)

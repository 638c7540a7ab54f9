"""What an order would bring, in labelled figures.

Knows the desk's records and the formats. Must not know a widget.
Used by the trade form, at every new quote.
"""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.dialogs.order_draft import MONEY_OF
from service_tui.console.figures import Figure
from service_tui.desk.records import PositionView, QuoteView
from service_tui.terms import Action, Venue
from service_tui.units import Micros

_FLAT: Final = 5e-5
"""Below this a price has not moved as far as four decimals show."""


def quote_figures(
    quote: QuoteView | None,
    action: Action,
    held: PositionView | None,
    *,
    venue: Venue,
    masked: bool,
) -> Sequence[Figure]:
    """The figures of a quote, the same ones in the same places whatever the answer.

    Args:
        quote: the answer; None or a refusal shows every figure as not known.
        action: says which figures matter.
        held: the position that a sale takes from, for its realized P&L.
        venue: in whose money the amounts are.
        masked: hide amounts.

    Returns:
        Seven labels with their values.
    """
    found = quote if quote is not None and quote.ok else None
    unit = "" if found is None else f" {MONEY_OF[venue]}"
    shares = formats.shares(found and found.shares, masked=masked)
    price = ("price", _moved(found))
    average = ("average", formats.price(found and found.average))
    slippage = ("slippage", _points(found and found.slippage))
    cash = ("cash after", _in(unit, formats.money(found and found.cash_after, masked=masked)))
    if action is Action.SELL:
        proceeds = ("you get", _in(unit, formats.money(found and found.money, masked=masked)))
        realized = ("realized P&L", _in(unit, _realized(found, held, masked=masked)))
        return (("shares", shares), price, average, slippage, proceeds, realized, cash)
    lose = ("most you lose", _in(unit, _signed(found and found.max_loss, -1, masked=masked)))
    win = ("most you win", _in(unit, _signed(found and found.max_win, 1, masked=masked)))
    return (("shares", shares), price, average, slippage, lose, win, cash)


def _moved(quote: QuoteView | None) -> Text:
    if quote is None or quote.price_before is None or quote.price_after is None:
        return formats.price(None)
    change = quote.price_after - quote.price_before
    arrow = "=" if abs(change) < _FLAT else "▲" if change > 0 else "▼"
    before, after = formats.price(quote.price_before), formats.price(quote.price_after)
    return Text.assemble(before, " → ", after, " ", arrow)


def _points(change: float | None) -> Text:
    text = formats.points(None if change is None else abs(change))
    return Text(f"{text.plain.lstrip('+')} points") if change is not None else text


def _signed(amount: Micros | None, sign: int, *, masked: bool) -> Text:
    signed = None if amount is None else Micros(sign * abs(amount))
    return formats.pnl(signed, masked=masked)


def _realized(quote: QuoteView | None, held: PositionView | None, *, masked: bool) -> Text:
    if quote is None or held is None or held.shares <= 0:
        return _signed(None, 1, masked=masked)
    cost = held.cost * quote.shares // held.shares
    gain = Micros(quote.money - cost)
    return formats.pnl(gain, masked=masked)


def _in(unit: str, value: Text) -> Text:
    """An amount in its money; what is not known has none."""
    known = value.plain != formats.NOT_KNOWN
    return Text.assemble(value, (unit, "muted")) if known else value

"""Figures of a limit order: immediate fill, remainder, and cost."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.quote import QuoteView
from service_tui.terms import MONEY_OF, Action, Venue
from service_tui.units import Micros

RESTS_ON: Final = (
    "What does not fill at once rests on the book until it is filled, you cancel it "
    "({portfolio.orders} on {app.portfolio} or {app.blotter}), "
    "or the market closes; a halt ({app.halt}) cancels it too if it is a buy"
)


def resting_figures(
    quote: QuoteView | None,
    wanted: tuple[Action, Venue],
    *,
    masked: bool,
) -> Sequence[Figure]:
    """The figures of a quote at a limit, the same ones whatever the answer.

    Args:
        quote: the answer; None or a refusal shows every figure as unknown.
        target: action and venue.
        masked: hide amounts.

    Returns:
        Labels with their values.
    """
    found = quote if quote is not None and quote.ok else None
    action, venue = wanted
    buys, unit = action is Action.BUY, MONEY_OF[venue]

    def money(amount: Micros | None) -> Text:
        text = formats.money(amount, masked=masked)
        return text if amount is None else Text.assemble(text, (f" {unit}", "muted"))

    parts = (
        ("fills now", formats.shares(found and found.shares, masked=masked)),
        ("rests", formats.shares(found and found.rests, masked=masked)),
    )
    tail = (
        ("fee", money(found and found.fee)),
        ("price now", formats.price(found and found.price_before)),
    )
    if not buys:
        return (*parts, ("you get now", money(found and found.net)), *tail)
    kept = ("kept for the rest", money(found and found.reserved))
    return (*parts, ("costs at most", money(None if found is None else most(found))), kept, *tail)


def most(quote: QuoteView) -> Micros:
    """The highest cost of a buy at a limit: immediate fill, its fee, and the reserved rest."""
    return Micros(quote.money + quote.fee + quote.reserved)


def resting_lines(
    order: PlaceTrade, quote: QuoteView | None, *, masked: bool
) -> list[tuple[str, Text]]:
    """The dialog's rows on the limit, the remainder and the money."""
    unit, buys = MONEY_OF[order.venue], order.action is Action.BUY
    lines = [("rests", Text("until it is cancelled (GTC)"))]
    found = quote if quote is not None and quote.ok else None
    if found is not None:
        now = formats.shares(found.shares, masked=masked)
        rest = formats.shares(found.rests, masked=masked)
        lines.append(("fills", Text.assemble("now about ", now, ", rests about ", rest)))
        lines.append((
            "fee",
            Text.assemble("about ", formats.money(found.fee, masked=masked), f" {unit} now"),
        ))
    if buys:
        amount = order.amount if found is None else max(order.amount + found.fee, most(found))
        words = formats.money(Micros(amount), masked=masked)
        lines.append(("total", Text.assemble("at most ", words, f" {unit}", style="bold")))
    else:
        whole = Micros(round(order.shares * (order.price or 0.0)))
        words = formats.money(whole, masked=masked)
        lines.append((
            "brings",
            Text.assemble("at least ", words, f" {unit} if all is sold, less fees"),
        ))
    return lines

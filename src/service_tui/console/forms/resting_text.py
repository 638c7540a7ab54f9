"""Figures of a limit order: immediate fill, remainder, and cost."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.orders import moment_text
from service_tui.desk.slices.quote import QuoteView
from service_tui.terms import MONEY_OF, Action, Venue
from service_tui.units import Micros

RESTS_ON: Final = (
    "The unfilled part stays on the book until filled, {expired}cancelled "
    "({portfolio.orders} on {app.portfolio} or {app.blotter}), "
    "or the market closes; a halt ({app.halt}) cancels buys"
)


def resting_figures(
    quote: QuoteView | None,
    target: tuple[Action, Venue],
    *,
    masked: bool,
) -> Sequence[Figure]:
    """The figures of a quote for a limit order: the same labels with and without an answer.

    Args:
        quote: the answer; for None or a refusal every figure is shown as unknown.
        target: action and venue.
        masked: hide amounts.

    Returns:
        Labels with their values.
    """
    result = quote if quote is not None and quote.ok else None
    action, venue = target
    buys, unit = action is Action.BUY, MONEY_OF[venue]

    def money(amount: Micros | None) -> Text:
        text = formats.money(amount, masked=masked)
        return text if amount is None else Text.assemble(text, (f" {unit}", "muted"))

    parts = (
        ("fills now", formats.shares(result and result.shares, masked=masked)),
        ("rest on book", formats.shares(result and result.rests, masked=masked)),
    )
    tail = (
        ("fee", money(result and result.fee)),
        ("price", formats.price(result and result.price_before)),
    )
    if not buys:
        return (*parts, ("proceeds now", money(result and result.net)), *tail)
    kept = ("reserved", money(result and result.reserved))
    return (*parts, ("max cost", money(None if result is None else most(result))), kept, *tail)


def most(quote: QuoteView) -> Micros:
    """The most a limit buy can cost: the immediate fill, its fee, and the money reserved."""
    return Micros(quote.money + quote.fee + quote.reserved)


def resting_lines(
    order: PlaceTrade, quote: QuoteView | None, *, masked: bool
) -> list[tuple[str, Text]]:
    """The confirm dialog's rows on a limit order: validity, fills, fee and money."""
    unit, buys = MONEY_OF[order.venue], order.action is Action.BUY
    valid = "until cancelled (GTC)"
    if order.expires_at is not None:
        valid = f"until {moment_text(order.expires_at)} (GTD)"
    lines = [("valid", Text(valid))]
    result = quote if quote is not None and quote.ok else None
    if result is not None:
        now = formats.shares(result.shares, masked=masked)
        rest = formats.shares(result.rests, masked=masked)
        lines.append((
            "fills",
            Text.assemble("about ", now, " now, about ", rest, " rest on the book"),
        ))
        lines.append((
            "fee",
            Text.assemble("about ", formats.money(result.fee, masked=masked), f" {unit} now"),
        ))
    if buys:
        amount = order.amount if result is None else max(order.amount + result.fee, most(result))
        text = formats.money(Micros(amount), masked=masked)
        lines.append(("total", Text.assemble("at most ", text, f" {unit}", style="bold")))
    else:
        whole = Micros(round(order.shares * (order.price or 0.0)))
        text = formats.money(whole, masked=masked)
        lines.append((
            "receive",
            Text.assemble("at least ", text, f" {unit} if fully sold, less fees"),
        ))
    return lines

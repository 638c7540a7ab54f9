"""A limit price that was typed on the ticket, judged: micros on a tick, or one sentence why not."""

import re
from typing import Final

from service_tui.desk.slices.orders import SHARES_MIN, price_in_words
from service_tui.terms import MONEY_OF, Action, Venue
from service_tui.units import ONE, Micros, decimal

_PRICE: Final = re.compile(r"0*\.([0-9]{1,6})0*|0+|[01]\.?0*")
CENT: Final = 10_000


class LimitError(ValueError):
    """What was typed is no limit price; the text says what to do instead."""


def in_words(price: Micros) -> str:
    """A price as a person types it."""
    return price_in_words(price / ONE)


def read_limit(text: str, tick: Micros) -> Micros:
    """Micros of a limit price typed by a person.

    Args:
        text: digits with one point, as on the ticket.
        tick: the step of prices of the market, micros.

    Returns:
        The price, exact: a multiple of the tick, above 0 and below 1.

    Raises:
        LimitError: it is empty, no plain number, not between 0 and 1, or between two ticks.
    """
    given = text.strip()
    if not given:
        raise LimitError(f"type a limit price in steps of {in_words(tick)}")
    found = _PRICE.fullmatch(given)
    if found is None:
        raise LimitError("a limit price is a number between 0 and 1, such as 0.45")
    price = Micros(int((found.group(1) or "0").ljust(6, "0")))
    if not tick <= price <= ONE - tick:
        low, high = in_words(tick), in_words(Micros(ONE - tick))
        raise LimitError(f"a limit price lies from {low} to {high} here")
    if price % tick:
        below, above = around(price, tick)
        said = " or ".join(in_words(one) for one in (below, above) if tick <= one <= ONE - tick)
        raise LimitError(f"prices go in steps of {in_words(tick)} here: take {said}")
    return price


def around(price: Micros, tick: Micros) -> tuple[Micros, Micros]:
    """The ticks next to a price: at or below it, and at or above it."""
    return Micros(price // tick * tick), Micros(-(-price // tick) * tick)


def why_too_small(venue: Venue, action: Action, size: Micros, price: Micros) -> str:
    """Why a venue would not let so little rest; empty where it would.

    Args:
        venue: where it would rest.
        action: a buy is sized by money, a sale by shares.
        size: micros of either.
        price: the limit, micros.

    Returns:
        A sentence that names the least it takes.
    """
    least = SHARES_MIN.get(venue)
    if least is None:
        return ""
    if action is Action.SELL:
        return "" if size >= least else f"an order is for {decimal(least):g} shares or more here"
    # Shares rest in hundredths. Source: wire reference, 6.2.
    if size * ONE // price // CENT * CENT >= least:
        return ""
    spend = -(-least * price // ONE // CENT) * CENT
    while spend * ONE // price // CENT * CENT < least:
        spend += CENT
    return (
        f"an order is for {decimal(least):g} shares or more here: at {in_words(price)} spend "
        f"{decimal(Micros(spend)):,.2f} {MONEY_OF[venue]} or more"
    )

"""Parsing of a limit price typed on the ticket."""

from typing import Final

from service_tui.console.fields import Fault, FieldError, Number, parse_number
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.orders import limit_text
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros, micros

_DECIMALS: Final = 6


def limit_price_text(price: Micros) -> str:
    """A price as a person types it."""
    return limit_text(price / ONE)


def read_limit(text: str, tick: Micros) -> Micros:
    """Parse a typed limit price into micros.

    Args:
        text: digits with one point, as on the ticket.
        tick: the step of prices of the market, micros.

    Returns:
        The price, exact: a multiple of the tick, above 0 and below 1.

    Raises:
        FieldError: it is empty, no plain number, not between 0 and 1, or between two ticks.
    """
    messages = {
        Fault.EMPTY: f"Enter a limit price, tick {limit_price_text(tick)}",
        Fault.NOT_PLAIN: "Enter a limit price between 0 and 1, such as 0.45",
    }
    price = parse_number(text, Number(messages, _DECIMALS, most=ONE))
    if not tick <= price <= ONE - tick:
        low, high = limit_price_text(tick), limit_price_text(Micros(ONE - tick))
        raise FieldError(f"Limit price outside {low} to {high}")
    if price % tick:
        below, above = ticks_around(price, tick)
        line = " or ".join(
            limit_price_text(one) for one in (below, above) if tick <= one <= ONE - tick
        )
        raise FieldError(f"Limit price off the {limit_price_text(tick)} tick. Use {line}")
    return price


def first_limit(market: MarketView, side: Side, action: Action) -> str:
    """The best price of the own side on the book, as typed: the bid for a buy; empty without it."""
    bid, ask = market.quotes_of(side)
    best = bid if action is Action.BUY else ask
    return "" if best is None else limit_price_text(ticks_around(micros(best), market.tick)[0])


def stepped(text: str, tick: Micros, ticks: int) -> str:
    """A typed limit price moved by ticks, between 0 and 1; from the middle if it is no price."""
    try:
        price = parse_number(text, Number({Fault.NOT_PLAIN: ""}, _DECIMALS, most=ONE))
    except FieldError:
        price = Micros(ONE // 2)
    below, above = ticks_around(price, tick)
    moved = (above if ticks < 0 else below) + ticks * tick
    return limit_price_text(Micros(min(max(moved, tick), ONE - tick)))


def ticks_around(price: Micros, tick: Micros) -> tuple[Micros, Micros]:
    """The ticks next to a price: at or below it, and at or above it."""
    return Micros(price // tick * tick), Micros(-(-price // tick) * tick)

"""Guards of the order ticket: slippage, the loss at a stop, a size by risk, a worst price. Pure."""

import math
from typing import Final

from service_tui.console.fields import (
    PERCENT,
    FieldError,
    figure_rule,
    is_off,
    parse_number,
    percent_text,
)
from service_tui.console.forms.approval_bound import price_rule
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.state import DeskState
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, decimal

SLIPPAGE: Final = "ticket.slippage"
"""The preference: points of slippage without a second enter; `off` for any."""

SLIPPAGE_DEFAULT: Final = Micros(5 * ONE)
SLIPPAGE_FIX: Final = "slippage: points above 0, at most 99"

LOW_PRICE: Final = 0.3
"""Below this price the ticket warns of a stop. Source: decisions, "A stop after a buy"."""

RISK_UNIT: Final = "r"
"""Behind the size of a buy that is given by what it may lose at its stop."""

RISK_FIX: Final = "Size by risk needs a stop: type one, or set it in Settings"

WIDEST: Final = 0.8
"""# ours: a stop wider than this protects next to nothing, however low the price."""

_STEP: Final = 0.05
_POINTS: Final = figure_rule("slippage", Micros(ONE // 100), Micros(99 * ONE), beyond=SLIPPAGE_FIX)
_WORST: Final = price_rule(
    "Not above: a price between 0 and 1, such as 0.47, or nothing for any",
    "Not above: at most 4 decimals of a price",
)


# -- slippage -------------------------------------------------------------------------------------


def read_slippage(text: str) -> Micros | None:
    """Parse points of slippage; None for `off`, 0 or an empty line: any slippage.

    Raises:
        FieldError: it is no figure; the sentence gives the fix.
    """
    return None if is_off(text) else parse_number(text, _POINTS)


def slippage_max(state: DeskState) -> Micros | None:
    """Points of slippage that need no second enter, micros; None for any.

    # ours: a preference that cannot be read counts as none: the default binds.
    """
    text = state.preferences.get(SLIPPAGE, "")
    if not text:
        return SLIPPAGE_DEFAULT
    try:
        return read_slippage(text)
    except FieldError:
        return SLIPPAGE_DEFAULT


def slippage_text(points: Micros | None) -> str:
    """Points of slippage as a person types them."""
    return "off" if points is None else f"{decimal(points):g}"


def slips_beyond(quote: QuoteView | None, most: Micros | None) -> bool:
    """True if a quote's average is further from the price now than is allowed without a word."""
    slipped = None if quote is None or not quote.ok else quote.slippage
    # A hundredth of a point is less than what is shown.
    return slipped is not None and most is not None and not 100 * slipped <= decimal(most) + 0.01


def slippage_objection(quote: QuoteView | None, most: Micros | None) -> str:
    """The warning of the first enter on too much slippage; empty if it is within the limit."""
    if quote is None or quote.slippage is None or most is None or not slips_beyond(quote, most):
        return ""
    return f"Slippage {100 * quote.slippage:.1f} pt is beyond {slippage_text(most)} pt"


# -- the stop -------------------------------------------------------------------------------------


def stop_of(state: DeskState, order: PlaceTrade, typed: float | None) -> float | None:
    """The stop that a buy will have: the typed one, the position's, or the default; else None."""
    if typed is not None:
        return typed
    known = state.risk.monitor(position_key(order.market_id, order.side, order.venue))
    if known is not None and not known.is_spent:
        return known.stop_loss_pct
    defaults = None if state.buy_limits is None else state.buy_limits.defaults
    if defaults is None or not defaults.auto_monitor:
        return None
    return defaults.stop_loss_pct


def share_cost(market: MarketView, order: PlaceTrade) -> float:
    """Estimated price of a share: the limit of a limit order, else the best ask or the mark."""
    if order.rests and order.price:
        return order.price
    ask = market.quotes_of(order.side)[1] if order.venue is not Venue.SIM else None
    return market.price_of(order.side) if ask is None else ask


def lost_part(market: MarketView, order: PlaceTrade, stop_loss_pct: float) -> float:
    """The part of a buy's money that a sale at the stop's price loses.

    The stop is measured from the mark where that is below the price paid (`SidePosition.reference`
    of the engine).
    """
    cost = share_cost(market, order)
    start = cost if order.rests else min(cost, market.price_of(order.side))
    return 1.0 - start * (1.0 - stop_loss_pct) / cost


def is_risk(size: str) -> bool:
    """True if a typed size is given by what it may lose at its stop: `20r`."""
    return size.strip().lower().endswith(RISK_UNIT)


def risked_money(
    risk: Micros, market: MarketView, order: PlaceTrade, stop_loss_pct: float | None
) -> Micros:
    """The most money, in whole cents, of which a sale at the stop loses no more than `risk`.

    Slippage and fees are not counted: they are not known before the quote.

    Raises:
        FieldError: the buy has no stop, or it would lose nothing at it.
    """
    part = 0.0 if stop_loss_pct is None else lost_part(market, order, stop_loss_pct)
    if not part > 0:
        raise FieldError(RISK_FIX)
    cent = ONE // 100
    money = Micros(math.floor(risk / part) // cent * cent)
    if not money:
        raise FieldError("Too little at risk: it buys less than a cent")
    return money


def wider_stop(price: float, stop_loss_pct: float) -> float | None:
    """A stop as far from a low price, in points, as the same stop at 0.30; None at no low price."""
    if not 0 < price < LOW_PRICE:
        return None
    steps = math.ceil(round(stop_loss_pct * LOW_PRICE / price / _STEP, 6))
    wider = min(WIDEST, steps * _STEP)
    return round(wider, 2) if wider > stop_loss_pct else None


def low_price_text(price: float, stop_loss_pct: float, key: str) -> str:
    """How near a stop is at a low price, and the key that widens it; empty at no low price."""
    if not price < LOW_PRICE:
        return ""
    wider = wider_stop(price, stop_loss_pct)
    offer = "" if wider is None else f"; {key} sets {percent_text(wider)} %"
    return f"only {PERCENT * price * stop_loss_pct:.1f} points away{offer}"


# -- the worst price ------------------------------------------------------------------------------


def takes_worst(state: DeskState, venue: Venue, *, rests: bool, buys: bool) -> bool:
    """True for a market buy whose service keeps a worst price.

    # ours: of the paper venues the embedded one; another may ignore the field.
    """
    return buys and not rests and (venue is not Venue.SIM or state.service.embedded)


def read_worst(text: str) -> float | None:
    """Parse the worst price of a market buy; None for an empty line, which takes any.

    Raises:
        FieldError: it is no price; the sentence gives the fix.
    """
    return parse_number(text, _WORST) / ONE if text.strip() else None


def side_label(side: Side, price: float) -> str:
    """A side with its price of now."""
    return f"{side.value.upper()} {price:.3f} now"

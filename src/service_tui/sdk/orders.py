"""Checks and rounds the arguments of `trade()` into a trade request.

Source: wire reference, 4.1, step 1.
"""

import math
from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from service_tui.sdk.arguments import NUMBER_MAX, first_fault
from service_tui.terms import MONEY_DECIMALS, PRICE_HIGH, PRICE_LOW, SHARE_DECIMALS, Action, Venue
from service_tui.wire.base import SignalValue
from service_tui.wire.trades import TradeRequest

NO_PRICE: Final = frozenset({Venue.SOL})
"""ours: `sim` takes a price bound too, since decisions ("Reactor sizing") let it honour one."""


def order_of(fields: Mapping[str, object], *, amount: float, shares: float) -> TradeRequest:
    """Trade request of an order.

    Args:
        fields: of a `TradeRequest`, without the sizes; None is left out.
        amount: money of a buy, rounded here to 2 decimals.
        shares: of a sale, rounded here to 5 decimals.

    Returns:
        The request.

    Raises:
        ValueError: a field that no service would take; nothing was sent.
    """
    is_buy = fields.get("action") == Action.BUY
    sizes = (
        {"amount": _size("amount", amount, MONEY_DECIMALS, shares)}
        if is_buy
        else {"shares": _size("shares", shares, SHARE_DECIMALS, amount)}
    )
    given = {name: value for name, value in fields.items() if value is not None}
    try:
        request = TradeRequest.model_validate(given | sizes, strict=False)
    except ValidationError as error:
        # What was passed is not repeated: a key may have slipped into a text.
        raise ValueError(first_fault(error)) from None
    price = request.price
    if price is not None:
        if request.venue in NO_PRICE:
            raise ValueError(f"{request.venue.value} takes no price")
        if not PRICE_LOW <= price <= PRICE_HIGH:
            raise ValueError(f"price is from {PRICE_LOW} to {PRICE_HIGH}")
    return request


def _size(name: str, value: float, decimals: int, other: float) -> float:
    """A size, rounded.

    Returns:
        The size, above 0.

    Raises:
        ValueError: it is not above 0, also after rounding, or the other size was given too.
    """
    wanted, unwanted = ("buy", "shares") if name == "amount" else ("sell", "amount")
    if other != 0:
        raise ValueError(f"a {wanted} takes no {unwanted}")
    if not value > 0:
        raise ValueError(f"a {wanted} needs {name} above 0")
    rounded = round(float(value), decimals)
    if not rounded > 0:
        raise ValueError(f"{name} is 0 after rounding to {decimals} decimals")
    return rounded


def signal_with(
    signal_data: Mapping[str, object] | None, name: str, value: str
) -> dict[str, SignalValue]:
    """The private notes of a trade with our reference; one that the caller chose stays.

    Returns:
        The notes.

    Raises:
        ValueError: the notes are no flat dict of strings and numbers.
    """
    notes: dict[str, SignalValue] = {name: value}
    for key, entry in (signal_data or {}).items():
        if isinstance(entry, bool) or not isinstance(entry, str | int | float):
            raise ValueError(f"signal_data.{key} is neither a string nor a number")  # noqa: TRY004
        if isinstance(entry, float) and not math.isfinite(entry):
            raise ValueError(f"signal_data.{key} is not a finite number")
        if not isinstance(entry, str) and abs(entry) > NUMBER_MAX:
            raise ValueError(f"signal_data.{key} is too large a number")
        notes[key] = entry
    return notes

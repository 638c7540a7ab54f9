"""An agent's signal data as short text: names, values and edges."""

from collections.abc import Iterable, Mapping
from typing import Final

from service_tui.console import formats
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.terms import SIGNAL_RANGES, Side
from service_tui.units import figure_within

FOR_MACHINES: Final = frozenset({"client_ref"})
"""Signal data without meaning for a person."""

_NAMES: Final = {"probability": "probability of YES", "signal_source": "source"}
"""Shown names of keys; the side is that of the bundled skills, which all mean YES."""

_LONG: Final = 24
"""Letters beyond which one word is a hash, an address or a reference."""

_WHOLE_MAX: Final = 10**15


def signs_text(data: Mapping[str, str | float | int], names: Iterable[str] = ()) -> str:
    """Names and values on one line.

    Args:
        data: the signal data of a trade.
        names: which of them, in this order; without any, all that mean something.

    Returns:
        Pairs with a comma between them; a long word by its ends.
    """
    requested = [name for name in names or data if name in data and name not in FOR_MACHINES]
    return ", ".join(f"{_NAMES.get(name, name)}: {_value(name, data[name])}" for name in requested)


def _value(name: str, value: str | float) -> str:
    if name in SIGNAL_RANGES and not isinstance(value, str):
        figure = figure_within(value, SIGNAL_RANGES[name])
        if figure is None:
            return formats.NOT_KNOWN
        return edge_text(figure) if name == "edge" else str(value)
    text = _short(value)
    is_reference = len(text) > _LONG and " " not in text
    return formats.address(text).plain if is_reference else text


def _short(value: str | float) -> str:
    """A value as it came; a number too long to be meant by its size."""
    # A whole number of thousands of digits cannot even be written.
    if isinstance(value, int) and abs(value) >= _WHOLE_MAX:
        return f"{'-' if value < 0 else ''}10^15 or more"
    return str(value)


def edge_text(edge: float) -> str:
    """An edge of probability, -1 to 1, in points: `+6.0 pt`."""
    return f"{100 * edge:+z.1f} pt"


def signal_number(trade: PendingTradeView, name: str) -> float | None:
    """A figure of the agent's signal data, one of `SIGNAL_RANGES`; None if it sent none."""
    return figure_within(trade.signal_data.get(name), SIGNAL_RANGES[name])


def edge_now(trade: PendingTradeView) -> float | None:
    """The agent's estimate of the side less its price now; None without an estimate or a price.

    # ours: an estimate is of YES, as that of every bundled skill.
    """
    estimate = signal_number(trade, "probability")
    if estimate is None or trade.price is None:
        return None
    return (estimate if trade.side is Side.YES else 1 - estimate) - trade.price

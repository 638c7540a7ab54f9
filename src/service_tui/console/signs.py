"""Signal data of an agent as text: with the side they mean, no longer than needed."""

from collections.abc import Iterable, Mapping
from typing import Final

from service_tui.console import formats

FOR_MACHINES: Final = frozenset({"client_ref"})
"""Signal data without meaning for a person."""

_NAMES: Final = {"probability": "probability of YES", "signal_source": "source"}
"""Shown names of keys; the side is that of the bundled skills, which all mean YES."""

_LONG: Final = 24
"""Letters beyond which one word is a hash, an address or a reference."""


def signs_text(data: Mapping[str, str | float | int], names: Iterable[str] = ()) -> str:
    """Names and values on one line.

    Args:
        data: the signal data of a trade.
        names: which of them, in this order; without any, all that mean something.

    Returns:
        Pairs with a comma between them; a long word by its ends.
    """
    requested = [name for name in names or data if name in data and name not in FOR_MACHINES]
    return ", ".join(f"{_NAMES.get(name, name)}: {_value(data[name])}" for name in requested)


def _value(value: str | float) -> str:
    text = str(value)
    is_reference = len(text) > _LONG and " " not in text
    return formats.address(text).plain if is_reference else text

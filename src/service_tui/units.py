"""Numbers that mean something: micros, probabilities, timestamps, and how they round.

Every float that becomes money passes here and nowhere else. `console/formats.py` is the one place
that makes text of these.
"""

import math
from typing import TYPE_CHECKING, Final, NewType, Self

if TYPE_CHECKING:

    class Micros(int):
        """Money or shares in millionths: sums and differences of micros are micros."""

        def __new__(cls, value: int) -> Self: ...  # noqa: D102
        def __add__(self, value: int, /) -> "Micros": ...
        def __sub__(self, value: int, /) -> "Micros": ...
        def __neg__(self) -> "Micros": ...

else:
    # An int and nothing else when it runs: a trade makes a dozen of them.
    Micros = NewType("Micros", int)
"""Money or shares in millionths. The ledger knows nothing else, and refuses a float."""

Probability = NewType("Probability", float)
"""A price: 0 < p < 1."""

Timestamp = NewType("Timestamp", float)
"""Seconds since 1970-01-01 UTC. Only the wire speaks in datetimes."""

ONE: Final = Micros(1_000_000)
SHARE_QUANTUM: Final = Micros(10)
"""Fills are quantised to 1e-5 shares. Source: decisions, "Dust"."""

PRICE_MIN: Final = Probability(0.0001)
PRICE_MAX: Final = Probability(0.9999)
"""An order that would leave the price outside is refused. Source: decisions, "Golden cases"."""

AMOUNT_MAX: Final = 1_000_000_000.0
"""Largest number of money or shares that any field takes; micros stay exact in a double."""

_DECIMALS_SLACK: Final = 1e-3
"""How far a double may lie from a whole micro, in micros, and still mean it."""


class NotMicrosError(ValueError):
    """A number that is no amount: not finite, too large, or finer than a micro."""


def micros(amount: float) -> Micros:
    """Exact micros of a decimal amount.

    Returns:
        The amount in micros, signed.

    Raises:
        NotMicrosError: `amount` is not finite, above `AMOUNT_MAX`, or has more than six decimals.
    """
    if not -AMOUNT_MAX <= amount <= AMOUNT_MAX:
        raise NotMicrosError(f"{amount} is not a finite number within one billion")
    scaled = amount * ONE
    whole = round(scaled)
    # A double near one billion is itself a tenth of a micro off: allow for its own grain.
    if abs(scaled - whole) > max(_DECIMALS_SLACK, abs(scaled) * 1e-15):
        raise NotMicrosError(f"{amount} has more than six decimals")
    return Micros(whole)


def decimal(amount: Micros) -> float:
    """The double nearest to an amount, for the wire and for the screen."""
    return amount / ONE


def money_up(amount: float) -> Micros:
    """Micros of what the taker gives: rounded up. `amount` in units, not micros."""
    return Micros(math.ceil(amount * ONE))


def money_down(amount: float) -> Micros:
    """Micros of what the taker gets: rounded down."""
    return Micros(math.floor(amount * ONE))


def shares_down(shares: float) -> Micros:
    """Micros of shares that the taker gets, whole quanta of 1e-5 shares, rounded down."""
    return Micros(math.floor(shares * ONE / SHARE_QUANTUM) * SHARE_QUANTUM)

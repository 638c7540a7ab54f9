"""Number types with a meaning: micros, probabilities, timestamps, and their rounding.

Every float that becomes money passes here and nowhere else. `console/formats.py` is the one place
that makes text of these.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NewType, Self, overload

if TYPE_CHECKING:

    class Micros:  # noqa: PLR0904 - arithmetic
        """Money or shares in millionths: for the checker neither an int nor a float.

        It is made of an int in one place, and goes back by `int()`: an amount in units, which is a
        float, never passes for one in micros. Whole numbers may be added and compared; a fraction
        of an amount is a plain float until it is rounded.
        """

        def __new__(cls, value: "int | Micros", /) -> Self: ...  # noqa: D102
        def __add__(self, other: "Micros | int", /) -> "Micros": ...
        def __radd__(self, other: int, /) -> "Micros": ...
        def __sub__(self, other: "Micros | int", /) -> "Micros": ...
        def __rsub__(self, other: int, /) -> "Micros": ...
        def __neg__(self) -> "Micros": ...
        def __abs__(self) -> "Micros": ...
        @overload
        def __mul__(self, other: "Micros | int", /) -> int: ...  # pyright: ignore[reportNoOverloadImplementation] - a stub
        @overload
        def __mul__(self, other: float, /) -> float: ...
        @overload
        def __rmul__(self, other: int, /) -> int: ...  # pyright: ignore[reportNoOverloadImplementation] - a stub
        @overload
        def __rmul__(self, other: float, /) -> float: ...
        def __truediv__(self, other: "Micros | float", /) -> float: ...
        def __rtruediv__(self, other: float, /) -> float: ...
        def __floordiv__(self, other: "Micros | int", /) -> int: ...
        def __rfloordiv__(self, other: int, /) -> int: ...
        def __mod__(self, other: "Micros | int", /) -> int: ...
        def __rmod__(self, other: int, /) -> int: ...
        def __lt__(self, other: "Micros | int", /) -> bool: ...
        def __le__(self, other: "Micros | int", /) -> bool: ...
        def __gt__(self, other: "Micros | int", /) -> bool: ...
        def __ge__(self, other: "Micros | int", /) -> bool: ...
        def __eq__(self, other: object, /) -> bool: ...
        def __bool__(self) -> bool: ...
        def __hash__(self) -> int: ...
        def __int__(self) -> int: ...
        def __index__(self) -> int: ...
        def __float__(self) -> float: ...

else:
    # An int and nothing else when it runs: a trade makes a dozen of them.
    Micros = NewType("Micros", int)
"""Money or shares in millionths. The ledger knows nothing else, and refuses a float."""

Probability = NewType("Probability", float)
"""A price: 0 < p < 1."""

Timestamp = NewType("Timestamp", float)
"""Seconds since 1970-01-01 UTC. Only the wire speaks in datetimes."""

LATEST: Final = Timestamp(250_000_000_000.0)
"""ours: times later than the year 9892, or so long before 1970, belong to no calendar."""

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


def sum_of(amounts: Iterable[Micros]) -> Micros:
    """The sum of some amounts."""
    return Micros(sum(map(int, amounts)))


def money_down(amount: float) -> Micros:
    """Micros of what the taker gets: rounded down."""
    return Micros(math.floor(amount * ONE))


def shares_down(shares: float) -> Micros:
    """Micros of shares that the taker gets, whole quanta of 1e-5 shares, rounded down."""
    return Micros(math.floor(shares * ONE / SHARE_QUANTUM) * SHARE_QUANTUM)


def figure_within(value: object, bounds: tuple[float, float]) -> float | None:
    """A number from outside, within its bounds; None for what is no number, or beyond them.

    True and False are no numbers. A whole number of any length is compared, never converted first.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if bounds[0] <= value <= bounds[1] else None

"""Values of the wire in the desk's units; amounts become micros here, once."""

from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import Moment, timestamp

UNTRANSLATABLE = (ValueError, ArithmeticError, LookupError)
"""What a body may raise here that the wire takes and the desk has no word or number for."""


def amount(value: float) -> Micros:
    """Micros of a wire amount; a service may send more decimals than a micro, so nearest."""
    return Micros(round(value * ONE))


def amount_or_none(value: float | None) -> Micros | None:
    """Whole micros, or None where the service left the amount out."""
    return None if value is None else amount(value)


def moment_or_none(moment: Moment | None) -> Timestamp | None:
    """Seconds since 1970, or None where the service left the moment out."""
    return None if moment is None else timestamp(moment)

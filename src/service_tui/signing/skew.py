"""Maximum skew of two clocks for signatures that depend on a time or a day."""

from typing import Final

from service_tui.signing.errors import PolicyRefusedError, Rule

SKEW_MAX_S: Final = 30
"""Seconds that our clock may be off before we sign a time. Source: failures, F-09."""


def check_skew(skew_s: float) -> None:
    """Refuse clocks that are too far apart.

    Args:
        skew_s: how far our clock is ahead of the service's, seconds.

    Raises:
        PolicyRefusedError: more than that, in either direction.
    """
    if not abs(skew_s) <= SKEW_MAX_S:
        sentence = f"the clock is more than {SKEW_MAX_S} s off: set it right first"
        raise PolicyRefusedError(Rule.TIME, sentence)

"""Permissions of an agent and of each of its skills; the stricter of the two applies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from service_tui.terms import LeashMode
from service_tui.units import Micros

OWN: Final = ""
"""Slug of the leash of the agent itself, which binds all its skills."""

_STRICTNESS: Final = {LeashMode.AUTO: 0, LeashMode.ASK: 1, LeashMode.OBSERVE: 2}


@dataclass(frozen=True, slots=True)
class Leash:
    """One leash. A buy above `threshold` waits in `ask`; `budget` is money of a day's buys.

    `wait_s` is how long a trade waits for the person before it is refused.
    """

    mode: LeashMode
    threshold: Micros
    budget: Micros | None
    wait_s: int


Leashes = Mapping[str, Leash]
"""By slug of the skill; `OWN` is the agent's."""


def binding(leashes: Leashes, slug: str) -> list[Leash]:
    """The leashes that bind a trade of a skill, the strictest first."""
    found = [leashes[one] for one in {OWN, slug} if one in leashes]
    return sorted(found, key=lambda one: (-_STRICTNESS[one.mode], one.threshold, one.wait_s))


def approval_leash(leashes: Leashes, slug: str, size: Micros) -> Leash | None:
    """The leash by which a buy of this size has to wait; None where it may go out."""
    return next(
        (
            one
            for one in binding(leashes, slug)
            if one.mode is LeashMode.ASK and size > one.threshold
        ),
        None,
    )

"""One thing that needs the person, and which of several comes first. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.units import Micros

LAST_S: Final = 600.0
"""An alert in its last ten minutes turns red, and rings. Source: spec, "Risk alert lifecycle"."""

TIERS_S: Final = (60.0, LAST_S, 3_600.0, 86_400.0)
"""Time left, in steps: within one money decides, so that a second does not outweigh a fortune."""

_GRAVITY: Final = {"breach": 0, "loss": 1, "warn": 2, "profit": 3}


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that needs the person.

    Args:
        key: names the row while the need lasts.
        tone: a name of a meaning, for the glyph and the word.
        glyph: one cell that says the same as the colour.
        word: the kind, in one or two words.
        what: which thing, and whose where it is not the person's own.
        figure: the one number that matters.
        advice: what is to be known before something is done.
        screen: where Enter leads.
        row: the row there.
        is_dismissable: True if it stays until somebody has seen it.
        left_s: seconds until it decides itself; 0: it is past waiting; None: it has no end.
        money: what is at stake, None where that is not known.
        verb: what Enter does, or opens.
        act: the action of the key table that Enter chooses there; empty: it only leads there.
        is_last: it turns red, and rings once.
    """

    key: str
    tone: str
    glyph: str
    word: str
    what: str
    figure: Text
    advice: str
    screen: str
    row: str | None = None
    is_dismissable: bool = False
    left_s: float | None = None
    money: Micros | None = None
    verb: str = "shows it"
    act: str = ""
    is_last: bool = False


Rank = tuple[int, int, int, float]


def rank(need: Need) -> Rank:
    """Where a need stands: by the step of its time left, then by money, then by the time itself.

    What has no end comes after everything that has one, the gravest first, then by money.

    Returns:
        Smaller is earlier.
    """
    money = -abs(int(need.money or 0))
    if need.left_s is None:
        return (len(TIERS_S) + 1, _GRAVITY.get(need.tone, len(_GRAVITY)), money, 0.0)
    left = max(0.0, need.left_s)
    return (sum(left > tier for tier in TIERS_S), 0, money, left)


def ranked(found: Iterable[Need]) -> tuple[Need, ...]:
    """All of them, the one that cannot wait first; equals by their names, so that rows rest."""
    return tuple(sorted(found, key=lambda need: (rank(need), need.key)))

"""One row that needs the person, and the order of several. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.units import Micros

LAST_S: Final = 600.0
"""An alert in its last ten minutes turns red and rings. Source: spec, "Risk alert lifecycle"."""

TIERS_S: Final = (60.0, LAST_S, 3_600.0, 86_400.0)
"""Steps of time left: within one, money decides, so that a second does not outweigh a fortune."""

_GRAVITY: Final = {"breach": 0, "loss": 1, "warn": 2, "profit": 3}


@dataclass(frozen=True, slots=True)
class Need:
    """One row that needs the person.

    Args:
        key: identifies the row while the need lasts.
        tone: a name of a meaning, for the glyph and the word.
        glyph: one cell with the same meaning as the colour.
        word: the kind, in one or two words.
        what: the subject, with its owner if that is not the person.
        figure: the one number that matters.
        advice: a note to read before acting.
        screen: the target of Enter.
        row: the row there.
        is_dismissable: True if it stays until the person dismisses it.
        left_s: seconds until it decides itself; 0: it is overdue; None: it has no deadline.
        money: the amount at stake, None if unknown.
        verb: the label of Enter.
        act: the action of the key table that Enter performs there; empty: it only goes there.
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
    verb: str = "Show"
    act: str = ""
    is_last: bool = False


Rank = tuple[int, int, int, float]


def rank(need: Need) -> Rank:
    """Sort key of a need: the step of its time left, then money, then the time itself.

    Needs without a deadline come last, the gravest first, then by money.

    Returns:
        Smaller is earlier.
    """
    money = -abs(int(need.money or 0))
    if need.left_s is None:
        return (len(TIERS_S) + 1, _GRAVITY.get(need.tone, len(_GRAVITY)), money, 0.0)
    left = max(0.0, need.left_s)
    return (sum(left > tier for tier in TIERS_S), 0, money, left)


def ranked(unranked: Iterable[Need]) -> tuple[Need, ...]:
    """The needs, the most urgent first; equal ones by key, so that rows do not move."""
    return tuple(sorted(unranked, key=lambda need: (rank(need), need.key)))

"""What a topic is: the texts and figures of one kind of question.

Gaps in braces: `subject` (whom it is about), `rival` (another one), `level` (the threshold),
`reading` (where the figure stands; near the level when YES is likely), `by` and `at` (the
deadline, "by 18:05 UTC"), `close` (the same moment with its date), and the keys of `words`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from service_tui.terms import Category


class Scope(StrEnum):
    """The clock on which a question makes sense."""

    MINUTES = "minutes"
    HOURS = "hours"
    DAYS = "days"
    WEEKS = "weeks"


FAST: Final = frozenset({Scope.MINUTES})
QUICK: Final = frozenset({Scope.MINUTES, Scope.HOURS})
HOURLY: Final = frozenset({Scope.HOURS})
DAILY: Final = frozenset({Scope.HOURS, Scope.DAYS})
DAYS: Final = frozenset({Scope.DAYS})
SLOW: Final = frozenset({Scope.DAYS, Scope.WEEKS})
WEEKS: Final = frozenset({Scope.WEEKS})


@dataclass(frozen=True, slots=True)
class Level:
    """The figure that a question turns on.

    Each subject has a usual level between `low` and `high`; a market asks for one within `spread`
    of it, in whole steps. A step of 0 means three figures. A reading lies between `unlikely` and
    `likely` times the level, as the chance of YES runs from 0 to 1.
    """

    low: float
    high: float
    step: float
    unlikely: float
    likely: float
    spread: float = 0.1


@dataclass(frozen=True, slots=True)
class Topic:
    """One kind of question. `raises` and `lowers` are headlines by what they do to YES."""

    tag: str
    scopes: frozenset[Scope]
    subjects: tuple[str, ...]
    questions: tuple[str, ...]
    criteria: str
    raises: tuple[str, ...]
    lowers: tuple[str, ...]
    level: Level | None = None
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


Table = Mapping[Category, tuple[Topic, ...]]

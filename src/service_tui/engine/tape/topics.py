"""What a topic is: the texts and figures of one kind of question.

The topics themselves are data (data/topics, one file a category), read by whoever begins a world.

Gaps in braces: `subject` (whom it is about), `rival` (another one), `level` (the threshold),
`reading` (where the figure stands; near the level when YES is likely), `by` and `at` (the
deadline, "by 18:05 UTC"), `close` (the same moment with its date), and the keys of `words`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from service_tui.terms import Category


class Scope(StrEnum):
    """The clock on which a question makes sense."""

    MINUTES = "minutes"
    HOURS = "hours"
    DAYS = "days"
    WEEKS = "weeks"


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
class QuestionTopic:
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


class Topics:
    """Everything that the markets of a world may be about.

    Args:
        table: the topics of each category, in the order in which a slot takes its turns: another
            order is another world.
    """

    def __init__(self, table: Mapping[Category, tuple[QuestionTopic, ...]]) -> None:
        self.table = table
        self._by_scope = {
            (category, scope): tuple(topic for topic in topics if scope in topic.scopes)
            for category, topics in table.items()
            for scope in Scope
        }

    def of(self, category: Category, scope: Scope) -> tuple[QuestionTopic, ...]:
        """The topics of a category that make sense on a clock."""
        return self._by_scope[category, scope]

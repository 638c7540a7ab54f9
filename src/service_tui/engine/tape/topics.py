"""Topics: the texts and figures of one kind of question.

The topics themselves are data (data/topics, one file a category), read by whoever begins a world.

Gaps in braces: `subject` (whom it is about), `rival` (another one), `level` (the threshold),
`reading` (where the figure stands; near the level when YES is likely), `by` and `at` (the
deadline, "by 18:05 UTC"), `close` (the same moment with its date), and the keys of `words`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

from service_tui.engine.tape.history import HistoryStart, RecordedMarkets
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


def _none(start: HistoryStart) -> NoReturn:
    raise RuntimeError(f"nobody opens the history {start.name} here")


class Topics:
    """Everything that the markets of a world may be about: invented ones, or what was recorded.

    Args:
        table: the topics of each category, in the order in which a slot takes its turns: another
            order is another world.
        history_of: opens the history of a world, or says why it cannot.
    """

    def __init__(
        self,
        table: Mapping[Category, tuple[QuestionTopic, ...]],
        history_of: Callable[[HistoryStart], RecordedMarkets] = _none,
    ) -> None:
        self.table = table
        self.history_of = history_of
        self._by_scope = {
            (category, scope): tuple(topic for topic in topics if scope in topic.scopes)
            for category, topics in table.items()
            for scope in Scope
        }

    def of(self, category: Category, scope: Scope) -> tuple[QuestionTopic, ...]:
        """The topics of a category that make sense on a clock."""
        return self._by_scope[category, scope]

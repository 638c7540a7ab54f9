"""The topics and parts of agents' pasts that a list, a report or an export needs."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from service_tui.desk.slices.topics import Topic


class PastPart(Enum):
    """A part of an agent's past; each is a call or more for each agent."""

    TRADES = auto()
    POSITIONS = auto()
    REALIZED = auto()


WHOLE: Final = frozenset(PastPart)
DAY: Final = frozenset({PastPart.TRADES, PastPart.REALIZED})
"""What the day's summary is made of."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Topics in the order in which they are read, then parts of each agent's past.

    `returns` is what every agent made of its money, which is part of the fleet; `commands` are
    those of the directory's owner: the newest, and all without an answer.
    """

    topics: tuple[Topic, ...]
    parts: frozenset[PastPart] = frozenset()
    returns: bool = False
    commands: bool = False

    @property
    def is_nothing(self) -> bool:
        """True for what needs no service."""
        return not self.topics and not self.parts

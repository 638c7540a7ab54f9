"""An agent's equity over time: one mark a minute, thinned with age. Pure."""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service_tui.units import Micros, Timestamp

MINUTE_S: Final = 60.0
TIERS: Final = ((MINUTE_S, 120), (900.0, 108), (21_600.0, 120))
"""Seconds between marks, and how many are kept: by the minute for two hours, by the quarter of an
hour for 27 more, then four a day for thirty days."""


class Mark(NamedTuple):
    """Worth just before the first event of a minute: by the mark, and if all were sold then."""

    at: Timestamp
    equity: Micros
    exit_equity: Micros


@dataclass(slots=True)
class Marks:
    """Marks of one agent, oldest first in each tier, the newest tier first."""

    tiers: tuple[list[Mark], ...] = field(default_factory=lambda: tuple([] for _ in TIERS))

    def add(self, mark: Mark) -> None:
        """Take in a mark, later than all before.

        While the worth stays as it is, its first mark and its latest are kept.
        """
        newest = self.tiers[0]
        if len(newest) > 1 and newest[-2][1:] == newest[-1][1:] == mark[1:]:
            newest[-1] = mark
            return
        newest.append(mark)
        for place, (_, most) in enumerate(TIERS):
            tier = self.tiers[place]
            if len(tier) <= most:
                return
            oldest = tier.pop(0)
            if place + 1 < len(TIERS):
                self._hand_down(oldest, place + 1)

    def _hand_down(self, mark: Mark, place: int) -> None:
        """Keep the first mark of each slot of a coarser tier."""
        every_s, tier = TIERS[place][0], self.tiers[place]
        if not tier or mark.at // every_s != tier[-1].at // every_s:
            tier.append(mark)

    def first(self) -> Mark | None:
        """The oldest mark; None without any."""
        return next((tier[0] for tier in reversed(self.tiers) if tier), None)

    def all(self) -> list[Mark]:
        """Every mark, oldest first."""
        return [mark for tier in reversed(self.tiers) for mark in tier]

    def worth_at(self, at: Timestamp) -> Mark | None:
        """The mark that holds at a moment: the first one from then on; None if none is so late.

        Without one nothing has happened since: what is held now was held then.
        """
        marks = self.all()
        place = bisect_left(marks, at, key=lambda mark: mark.at)
        return marks[place] if place < len(marks) else None

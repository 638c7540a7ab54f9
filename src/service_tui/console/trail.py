"""Which views were looked at, in order: back, forward and the last one.

Knows names and row keys. Must not know a widget.
Used by the app.
"""

from dataclasses import dataclass, replace
from typing import Final

VIEWS_MAX: Final = 50
"""As far back as a person still remembers."""


@dataclass(frozen=True, slots=True)
class View:
    """A screen and the row its cursor was on."""

    screen: str
    row: str | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """The views so far, at least one. `place` is the one in front, `last` what was before it."""

    views: tuple[View, ...]
    place: int = 0
    last: View | None = None

    @property
    def front(self) -> View:
        """What is looked at now."""
        return self.views[self.place]

    def left_at(self, row: str | None) -> "Trail":
        """The same trail, with the row that the cursor is on now."""
        views = list(self.views)
        views[self.place] = replace(self.front, row=row)
        return replace(self, views=tuple(views))

    def go(self, view: View) -> "Trail":
        """Look at something; what lay ahead is forgotten."""
        views = (*self.views[: self.place + 1], view)[-VIEWS_MAX:]
        return Trail(views, len(views) - 1, self.front)

    def step(self, by: int) -> "Trail":
        """Back (-1) or forward (1); at an end it stays."""
        place = max(0, min(self.place + by, len(self.views) - 1))
        return self if place == self.place else replace(self, place=place, last=self.front)

"""What every screen is: a pane that shows one slice of the state."""

from abc import abstractmethod
from typing import Generic, TypeVar

from service_tui.console.widgets.numbered_view import (
    CopiedRecord,
    NumberedView,
    Surroundings,
    TakesState,
)
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

__all__ = ["CopiedRecord", "DeskScreen", "NumberedView", "Surroundings", "TakesState"]

Part = TypeVar("Part")


class DeskScreen(NumberedView, Generic[Part]):
    """One of the numbered views. Mounted at its first visit, hidden when another is in front.

    A subclass says which part of the state it shows (`part_of`) and makes itself equal to that
    part (`show`), which is called only while it is in front and only when the part changed.
    `self.state` is the newest whole state, for actions.
    """

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._shown: Part | None = None

    @abstractmethod
    def part_of(self, state: DeskState) -> Part:
        """The part of the state that this screen shows; compared by equality."""

    @abstractmethod
    def show(self, part: Part) -> None:
        """Make the screen equal to the part."""

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive the newest state. `now` is wall time."""
        self.state = state
        self.now = now
        part = self.part_of(state)
        if part != self._shown:
            self._shown = part
            self.show(part)
        else:
            self.tick()
        self.keep()

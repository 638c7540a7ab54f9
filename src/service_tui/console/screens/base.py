"""What every screen is: a pane that shows one slice of the state.

Knows the desk's state. Must not know any other screen, nor where the state comes from.
Used by every screen; the app calls `take` on the one in front.
"""

from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar

from textual.containers import Vertical

from service_tui.console.messages import CommandGiven
from service_tui.desk.commands import Command
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

Part = TypeVar("Part")


class DeskScreen(Vertical, Generic[Part]):
    """One of the numbered views. Mounted at its first visit, hidden when another is in front.

    A subclass says which part of the state it shows (`part_of`) and makes itself equal to that
    part (`show`), which is called only while it is in front and only when the part changed.
    `self.state` is the newest whole state, for actions.
    """

    name_in_keys: ClassVar[str]
    """The group of keys.py and the name that GoTo uses."""

    title: ClassVar[str]

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(id=self.name_in_keys)
        self.state = state
        self.now = now
        self._shown: Part | None = None

    @abstractmethod
    def part_of(self, state: DeskState) -> Part:
        """The part of the state that this screen shows; compared by equality."""

    @abstractmethod
    def show(self, part: Part) -> None:
        """Make the screen equal to the part."""

    def tick(self) -> None:
        """Redraw what depends on the time alone. Called about once a second while in front."""

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on the row with this key, and the focus on the main pane."""

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive the newest state. `now` is wall time."""
        self.state = state
        self.now = now
        part = self.part_of(state)
        if part != self._shown:
            self._shown = part
            self.show(part)
        self.tick()

    def give(self, command: Command) -> None:
        """Order something; the app's one handler hands it to the desk."""
        self.post_message(CommandGiven(command))

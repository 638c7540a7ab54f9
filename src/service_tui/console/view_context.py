"""The context of a cell, a pane or a preview besides its record."""

from dataclasses import dataclass

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private, world_now
from service_tui.console.reasons import without_amounts
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class ViewContext:
    """The newest state and wall time, the cells of a line, and whether amounts are masked."""

    state: DeskState
    now: Timestamp
    masked: bool = False
    width: int = 0

    @classmethod
    def of(cls, state: DeskState, now: Timestamp, width: int = 0) -> "ViewContext":
        """The context in which a screen shows a state at a time."""
        return cls(state, now, is_private(state), width)

    @property
    def world_now(self) -> Timestamp:
        """The time by which markets resolve."""
        return world_now(self.state, self.now)

    def money(self, amount: Micros | None) -> Text:
        """An amount of money."""
        return formats.money(amount, masked=self.masked)

    def shares(self, amount: Micros | None) -> Text:
        """A number of shares."""
        return formats.shares(amount, masked=self.masked)

    def pnl(self, amount: Micros | None) -> Text:
        """A profit or a loss."""
        return formats.pnl(amount, masked=self.masked)

    def sentence(self, text: str) -> str:
        """A sentence of the desk or the service, whose amounts may be masked."""
        return without_amounts(formats.plain(text).plain, masked=self.masked)

"""Commands for this desk itself: speed, refresh, stars, preferences."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from service_tui.desk.command import Command


@dataclass(frozen=True, slots=True)
class SetSpeed(Command):
    """Set the pace of the offline world: 0, 1, 10 or 60."""

    kind: ClassVar[str] = "speed"

    speed: int

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "World paused" if self.speed == 0 else f"World speed {self.speed}x"


@dataclass(frozen=True, slots=True)
class StepWorld(Command):
    """Move a world on a history on by so many of its seconds, at once."""

    kind: ClassVar[str] = "step"

    seconds: int

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"World moved on by {timedelta(seconds=self.seconds)}"


@dataclass(frozen=True, slots=True)
class WatchMarket(Command):
    """Keep the chart, news and trades of one market fresh; None stops. A reading.

    `beside_id` is a second market whose prices are read for the same span, empty for none.
    """

    kind: ClassVar[str] = "watch"

    market_id: str | None
    span_s: int = 0
    beside_id: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"watch {self.market_id}"


@dataclass(frozen=True, slots=True)
class Refresh(Command):
    """Read everything from the service now."""

    kind: ClassVar[str] = "refresh"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "refresh"


@dataclass(frozen=True, slots=True)
class SetStar(Command):
    """Add a market to the operator's watchlist, or remove it. Stays on this machine."""

    kind: ClassVar[str] = "star"

    market_id: str
    on: bool

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"{'star' if self.on else 'unstar'} {self.market_id}"


@dataclass(frozen=True, slots=True)
class SetPreference(Command):
    """Remember something of the console: theme, sort orders, that the welcome was seen."""

    kind: ClassVar[str] = "preference"

    name: str
    value: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"remember {self.name}"


@dataclass(frozen=True, slots=True)
class Forget(Command):
    """The secret that was shown has been seen."""

    kind: ClassVar[str] = "forget"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "clear the cached state"

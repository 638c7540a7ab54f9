"""What an operator may order of this desk itself: pace, refreshing, stars, preferences."""

from dataclasses import dataclass
from typing import ClassVar

from service_tui.desk.command import Command


@dataclass(frozen=True, slots=True)
class SetSpeed(Command):
    """Set the pace of the offline world: 0, 1, 10 or 60."""

    kind: ClassVar[str] = "speed"

    speed: int

    def describe(self) -> str:
        """The order as a person would say it."""
        return "pause the world" if self.speed == 0 else f"run the world at {self.speed}x"


@dataclass(frozen=True, slots=True)
class WatchMarket(Command):
    """Keep the chart, news and trades of one market fresh; None stops. A reading."""

    kind: ClassVar[str] = "watch"

    market_id: str | None
    span_s: int = 0

    def describe(self) -> str:
        """The order as a person would say it."""
        return f"watch {self.market_id}"


@dataclass(frozen=True, slots=True)
class Refresh(Command):
    """Ask the service for everything now. A reading."""

    kind: ClassVar[str] = "refresh"

    def describe(self) -> str:
        """The order as a person would say it."""
        return "refresh"


@dataclass(frozen=True, slots=True)
class SetStar(Command):
    """Put a market on the operator's own watchlist, or take it off. Stays on this machine."""

    kind: ClassVar[str] = "star"

    market_id: str
    on: bool

    def describe(self) -> str:
        """The order as a person would say it."""
        return f"{'star' if self.on else 'unstar'} {self.market_id}"


@dataclass(frozen=True, slots=True)
class SetPreference(Command):
    """Remember something of the console: theme, sort orders, that the welcome was seen."""

    kind: ClassVar[str] = "preference"

    name: str
    value: str

    def describe(self) -> str:
        """The order as a person would say it."""
        return f"remember {self.name}"


@dataclass(frozen=True, slots=True)
class Forget(Command):
    """The secret that was shown has been seen."""

    kind: ClassVar[str] = "forget"

    def describe(self) -> str:
        """The order as a person would say it."""
        return "forget what was shown"

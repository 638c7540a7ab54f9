"""Commands for monitors, alerts and price alerts."""

from dataclasses import dataclass
from typing import ClassVar

from service_tui.desk.command import Command
from service_tui.desk.slices.orders import limit_text
from service_tui.desk.slices.risk import Thresholds
from service_tui.terms import AlertCondition, Side, Venue, counted


@dataclass(frozen=True, slots=True)
class SetMonitor(Command):
    """Have a position monitored, with these thresholds alone: at least one."""

    kind: ClassVar[str] = "monitor"

    market_id: str
    side: Side
    venue: Venue
    thresholds: Thresholds
    question: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"monitor {self.side.value.upper()}: {self.thresholds.describe()}"


@dataclass(frozen=True, slots=True)
class SetMonitors(Command):
    """Have several positions monitored; one that is refused stops no other."""

    kind: ClassVar[str] = "monitors"

    monitors: tuple[SetMonitor, ...]

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"monitor {counted(len(self.monitors), 'position')}"


@dataclass(frozen=True, slots=True)
class RemoveMonitor(Command):
    """Have a position monitored no longer."""

    kind: ClassVar[str] = "monitor"

    market_id: str
    side: Side
    venue: Venue
    question: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"remove the monitor of {self.side.value.upper()}"


@dataclass(frozen=True, slots=True)
class ExitAlert(Command):
    """Exit for an alert now, or try again one whose exit failed or left no trace."""

    kind: ClassVar[str] = "exit"

    alert_id: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "sell for an alert now"


@dataclass(frozen=True, slots=True)
class SetPriceAlert(Command):
    """Notify once when the price of a side reaches `threshold`, in (0, 1).

    The service keeps it, this desk only where the service keeps none.
    """

    kind: ClassVar[str] = "price alert"

    market_id: str
    side: Side
    condition: AlertCondition
    threshold: float
    question: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        where = f"{self.condition.sign} {limit_text(self.threshold)}"
        return f"alert when {self.side.value.upper()} {where}"


@dataclass(frozen=True, slots=True)
class RemovePriceAlert(Command):
    """Remove a price alert, fired or not, at the service as well."""

    kind: ClassVar[str] = "price alert"

    alert_id: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "remove a price alert"

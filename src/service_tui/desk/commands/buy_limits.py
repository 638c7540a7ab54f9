"""Commands for limits, risk defaults and the pause. Frozen values."""

from dataclasses import dataclass
from typing import ClassVar

from service_tui.desk.command import Command
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, RiskDefaults
from service_tui.units import Micros, decimal


@dataclass(frozen=True, slots=True)
class SetBuyLimit(Command):
    """Change the figure of a limit: micros of money, or a number of buys; None removes it.

    `own`: the desk's own figure, which stays on this machine; else the service's.
    """

    kind: ClassVar[str] = "limit"

    limit_kind: BuyLimit
    figure: int | None
    own: bool = False

    def describe(self) -> str:
        """Describe the command in plain English."""
        whose = "this desk's own" if self.own else "the service's"
        figure = limit_figure_text(self.limit_kind, self.figure)
        return f"{RULES[self.limit_kind].name}: {figure} ({whose})"


def limit_figure_text(limit_kind: BuyLimit, figure: int | None) -> str:
    """Text of a limit's figure; None is "no limit"."""
    if figure is None:
        return "no limit"
    return f"{figure:,}" if RULES[limit_kind].is_count else f"{decimal(Micros(figure)):,.2f}"


@dataclass(frozen=True, slots=True)
class SetDefaults(Command):
    """Change the default thresholds of new buys, or turn automatic monitors off."""

    kind: ClassVar[str] = "defaults"

    defaults: RiskDefaults

    def describe(self) -> str:
        """Describe the command in plain English."""
        stop, target = self.defaults.stop_loss_pct, self.defaults.take_profit_pct
        below = "no stop" if stop is None else f"stop {stop:.1%} down"
        above = "no target" if target is None else f"target {target:.1%} up"
        by_itself = "" if self.defaults.auto_monitor else ", off"
        return f"guard buys: {below}, {above}{by_itself}"


@dataclass(frozen=True, slots=True)
class SetPaused(Command):
    """Hold back every buy of the desk's own agent on the service, or let it buy again."""

    kind: ClassVar[str] = "pause"

    paused: bool

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "pause trading" if self.paused else "resume trading"

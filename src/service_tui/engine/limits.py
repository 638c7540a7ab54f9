"""The limits of the plans and of the safety settings, as data.

Source: spec, "Limits"; wire reference, section 7; decisions, "Spend limits".
"""

from dataclasses import dataclass
from typing import Final

from service_tui.terms import SIM_MARKET_MAX, SIM_TRADE_MAX, Plan, Venue
from service_tui.units import ONE, Micros


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """Limits of one plan. None is "no limit".

    `rate_factor` is by how much the calls a minute exceed those of Free. `sim_cooldown_s` lies
    between two buys of one side of one market on `sim`.
    """

    trades_per_day: int | None
    trades_per_day_max: int | None
    agents: int
    imports_per_day: int
    rate_factor: int
    sim_cooldown_s: float = 0.0


PLANS: Final = {
    Plan.FREE: PlanLimits(50, 1_000, 1, 10, 1, 120.0),
    Plan.PRO: PlanLimits(500, 5_000, 10, 100, 3),
    Plan.ELITE: PlanLimits(None, None, 20, 250, 10),
}

TRADE_MAX: Final = {Venue.SIM: Micros(SIM_TRADE_MAX * ONE)}
"""Money of one buy. The real venues have the agent's own `max_trade`."""

MARKET_MAX: Final = {Venue.SIM: Micros(SIM_MARKET_MAX * ONE)}
"""Cost of what one agent holds in one market."""

MAX_TRADE_DEFAULT: Final = Micros(100_000_000)
DAY_SPEND_DEFAULT: Final = Micros(500_000_000)
"""`sdk_max_trade_amount` and `sdk_daily_limit`; they bind the real venues."""

FAILED_COOLDOWN_S: Final = 1_800.0
"""After an order that a real venue could not carry out: no buy of that side of that market."""

DAY_S: Final = 86_400
"""Daily counts reset at midnight UTC, wall time."""


def day_of(at: float) -> int:
    """The number of the UTC day of a wall time."""
    return int(at // DAY_S)


def counts_as(day: int, at: float) -> bool:
    """Whether a wall time belongs to the UTC day that something is counted in.

    So does the day before: a clock that was set back over midnight, by a second even, begins no
    new day, or each way over it would empty every limit of the day.
    """
    # ours: a clock that is set back by two days was wrong before, and must not lock anybody out.
    return day - 1 <= day_of(at) <= day


def counted_in(day: int, at: float) -> int:
    """The UTC day in which a wall time is counted, where `day` was the last one counted."""
    return day if counts_as(day, at) else day_of(at)

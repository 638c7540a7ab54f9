"""Limits that bind buys, of the service and of this desk, and risk defaults."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.terms import AFTER_FAILURE, AFTER_SIM_BUY, Side, Venue
from service_tui.units import Micros, Timestamp


class BuyLimit(StrEnum):
    """A limit that binds buys; the value is the preference that stores the desk's own figure."""

    SIM_TRADE = "sim_trade"
    MARKET = "market"
    TRADE = "trade"
    DAY_SPEND = "day_spend"
    DAY_BUYS = "day_buys"
    DESK_DAY = "desk_day"
    SKILL_DAY = "skill_day"


@dataclass(frozen=True, slots=True)
class BuyLimitRule:
    """Static properties of a limit.

    Args:
        name: in a few words.
        description: what it limits, in a sentence.
        is_count: buys, else money.
        by_day: what is used of it starts anew at midnight UTC.
        on_service: the service's figure can be changed.
        may_be_off: the service's figure can be taken away.
        on_desk: the desk can have a figure of its own.
    """

    name: str
    description: str
    is_count: bool = False
    by_day: bool = False
    on_service: bool = True
    may_be_off: bool = False
    on_desk: bool = True


RULES: Final[Mapping[BuyLimit, BuyLimitRule]] = {
    BuyLimit.SIM_TRADE: BuyLimitRule(
        "per trade, sim",
        "Max of one buy with simulated money. Set by the service.",
        on_service=False,
    ),
    BuyLimit.TRADE: BuyLimitRule(
        "per trade, real venues",
        "Max of one buy on a real venue (sdk_max_trade_amount).",
    ),
    BuyLimit.MARKET: BuyLimitRule(
        "per market",
        "Max cost of the position in one market (max_position_usd); on sim never above 2,000.",
        may_be_off=True,
    ),
    BuyLimit.DAY_BUYS: BuyLimitRule(
        "daily buys",
        "Max buys a day, all venues (max_trades_per_day). Sales and redemptions do not count.",
        is_count=True,
        by_day=True,
        may_be_off=True,
    ),
    BuyLimit.DAY_SPEND: BuyLimitRule(
        "daily spend, real venues",
        "Max spent on buys a day on real venues (sdk_daily_limit).",
        by_day=True,
    ),
    BuyLimit.DESK_DAY: BuyLimitRule(
        "daily spend, this desk",
        "Max spent a day on buys of this desk, all venues. Buys that agents place directly do "
        "not count.",
        by_day=True,
        on_service=False,
    ),
    BuyLimit.SKILL_DAY: BuyLimitRule(
        "daily spend, each skill",
        "Max spent a day by each skill, where the service enforces it. Each skill also has its "
        "own budget, 20 a day by default.",
        by_day=True,
        may_be_off=True,
        on_desk=False,
    ),
}


@dataclass(frozen=True, slots=True)
class SkillDaySpend:
    """Money of one skill's buys since midnight UTC."""

    slug: str
    spent: Micros


@dataclass(frozen=True, slots=True)
class CooldownView:
    """A side of a market that takes no buy until a time of the service's clock."""

    market_id: str
    side: Side
    until: Timestamp
    after: str

    def binds(self, venue: Venue) -> bool:
        """True if it holds buys on this venue back; one that follows something unknown does not."""
        return self.after == (AFTER_SIM_BUY if venue is Venue.SIM else AFTER_FAILURE)


@dataclass(frozen=True, slots=True)
class RiskDefaults:
    """Thresholds of the monitor that a buy gets automatically. None is off."""

    stop_loss_pct: float | None
    take_profit_pct: float | None
    auto_monitor: bool


@dataclass(frozen=True, slots=True)
class BuyLimitsView:
    """Limits reported by the service, and this desk's own spend.

    `at` is our time just before the request, `resets_at` the next midnight UTC by the service's
    clock, or by ours if the service gives none. `day_buys` and `own_spent` are None where
    they are not known. `day_resting` are open buys of today without shares. `day_buys_ceiling` is
    the most that the plan lets the agent choose.
    """

    at: Timestamp
    resets_at: Timestamp
    paused: bool
    max_trade: Micros
    day_spend_max: Micros
    day_spent: Micros
    sim_trade_max: Micros
    sim_market_max: Micros
    position_max: Micros | None
    day_buys_max: int | None
    day_buys: int | None
    defaults: RiskDefaults
    day_resting: int = 0
    day_buys_ceiling: int | None = None
    skill_day_max: Micros | None = None
    skills: tuple[SkillDaySpend, ...] = ()
    cooldowns: tuple[CooldownView, ...] = ()
    imports_today: int = 0
    sim_cooldown_s: float = 0.0
    failed_cooldown_s: float = 0.0
    real_trading: bool = False
    own_spent: Micros | None = None


@dataclass(frozen=True, slots=True)
class BuyLimitView:
    """One limit now: both figures, the binding one, and its use.

    Money in micros, or a number of buys. `limit` is the smaller of `service` and `own`, None where
    neither is set; `source` says whose it is. `reserved` is what orders without an end may still
    take, and is part of `used`. `used` None: nothing is counted up. `is_broken`: the desk's own
    figure cannot be read, and no buy passes until it is set anew.
    """

    limit_kind: BuyLimit
    service: int | None
    own: int | None
    used: int | None = None
    reserved: int = 0
    resets_at: Timestamp | None = None
    is_broken: bool = False
    about: str = ""

    @property
    def limit(self) -> int | None:
        """The figure that binds."""
        return min((one for one in (self.service, self.own) if one is not None), default=None)

    @property
    def source(self) -> str:
        """Source of the binding figure: `service`, `desk`, or empty."""
        if self.limit is None:
            return ""
        return "desk" if self.own is not None and self.own == self.limit else "service"

    @property
    def left(self) -> int | None:
        """Remainder, >= 0; None if nothing is counted or nothing binds."""
        if self.used is None or self.limit is None:
            return None
        return max(0, self.limit - self.used)

    @property
    def part(self) -> float | None:
        """Used part, 0 to 1 and above; None if nothing is counted or nothing binds."""
        if self.used is None or self.limit is None:
            return None
        return self.used / self.limit if self.limit > 0 else 1.0

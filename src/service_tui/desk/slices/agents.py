"""Views of the embedded service's agents, their trades, and keys that are shown once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Final

from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.risk import exit_cause
from service_tui.desk.slices.trades import TradeView
from service_tui.evaluation.returns import Period
from service_tui.outcome import Outcome
from service_tui.terms import (
    Action,
    AgentStatus,
    Plan,
    Side,
    Venue,
    win_rate,
)
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class VenueMoneyView:
    """An agent's money on a real venue: USDC in micros; `reserved` is for open buys.

    `to_redeem` is won and not paid out yet.
    """

    venue: Venue
    cash: Micros
    reserved: Micros
    equity: Micros
    total_pnl: Micros
    positions_count: int
    orders_count: int
    to_redeem: Micros = Micros(0)


@dataclass(frozen=True, slots=True)
class AgentLimitsView:
    """Limits of an agent and today's use. Money in micros, None for no limit.

    The first two are of simulated money, the next three of real venues. `skills` is what each
    skill spent today, those that spent most first; `skill_budget` the most that each may.
    `buys_resting` are open buys of today without shares, which `buys_max` binds beside those done.
    """

    sim_trade_max: Micros
    sim_market_max: Micros
    trade_max: Micros
    day_spend_max: Micros
    day_spent: Micros
    position_max: Micros | None
    buys_today: int
    buys_max: int | None
    skill_budget: Micros | None
    skills: tuple[tuple[str, Micros], ...]
    cooldowns_count: int
    buys_resting: int = 0


DEMO_AGENTS: Final = "demo.agents"
"""Preference: ids of the demo agents of a new offline world, by commas."""


@dataclass(frozen=True, slots=True)
class AgentView:
    """One agent as its operator sees it. Money in micros; today begins at midnight UTC.

    `paused` blocks its buys, `suspended` everything it does, `retired` for good. `is_own` is the
    agent by which the person at the console trades. `equity` and both P&Ls are of what selling all
    would bring now; `mark_equity` is by the mark, None where it is not known. `wins` and `losses`
    are of what is closed on sim; `spent_today` is the money of all its buys.
    """

    agent_id: str
    name: str
    description: str
    status: AgentStatus
    plan: Plan
    claimed: bool
    claim_url: str
    paused: bool
    suspended: bool
    cash: Micros
    equity: Micros
    total_pnl: Micros
    day_pnl: Micros
    positions_count: int
    trades_count: int
    last_trade_at: Timestamp | None
    created_at: Timestamp
    is_own: bool = False
    venues: tuple[VenueMoneyView, ...] = ()
    wins: int = 0
    losses: int = 0
    spent_today: Micros = Micros(0)
    limits: AgentLimitsView | None = None
    retired: bool = False
    mark_equity: Micros | None = None

    @property
    def win_rate(self) -> float | None:
        """Wins among what is decided; None while nothing is."""
        return win_rate(self.wins, self.losses)

    @property
    def spent_real(self) -> Micros:
        """Part of `spent_today` that went to real venues."""
        return Micros(0) if self.limits is None else self.limits.day_spent

    @property
    def spent_play(self) -> Micros:
        """Part of `spent_today` that was $SIM."""
        return Micros(max(0, self.spent_today - self.spent_real))


@dataclass(frozen=True, slots=True)
class FleetView:
    """All agents in the order of registration. `plan` is that of new agents."""

    agents: tuple[AgentView, ...]
    plan: Plan
    agents_max: int


@dataclass(frozen=True, slots=True)
class FillView:
    """A trade of any agent. `price` is the average, `money` spend or proceeds, without the fee.

    `seq` is 0 if it was read from the history, and not streamed. `skill` is the strategy that
    traded, `source` what the trader named instead. `fee` is None where no service states it.
    """

    seq: int
    at: Timestamp
    agent_id: str
    agent_name: str
    market_id: str
    question: str
    venue: Venue
    side: Side
    action: Action
    shares: Micros
    price: float
    price_after: float
    money: Micros
    realized: Micros
    source: str = ""
    skill: str = ""
    trade_id: str = ""
    fee: Micros | None = None

    @property
    def key(self) -> str:
        """Identity of the row: an order that is met in parts has a row for each."""
        return f"{self.trade_id} {self.seq}"

    @property
    def by(self) -> str:
        """What traded: the skill, the cause of an exit, or the name that the trader gave."""
        return self.skill or exit_cause(self.source) or self.source


@dataclass(frozen=True, slots=True)
class RevealedView:
    """A secret that is shown once: a new key, the code for a claim page, or a webhook's secret.

    It is forgotten as soon as its dialog is left, and stands in no repr. `name` is that of the
    agent, or the address of a webhook, which has no agent.
    """

    agent_id: str
    name: str
    is_key: bool
    secret: str = field(repr=False)
    claim_url: str = ""
    expires_at: Timestamp | None = None

    @property
    def is_webhook(self) -> bool:
        """True for the secret of a webhook."""
        return not self.agent_id


SignalValue = str | float | int


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """Buys of one span of confidence whose market has an outcome: how sure, how often right."""

    low: float
    high: float
    count: int
    confidence: float
    hit_rate: float


@dataclass(frozen=True, slots=True)
class SkillResultView:
    """Result of a skill's trades on one venue, in the venue's money.

    Calibration compares its confidence with the outcomes.
    `edge`, `slippage` and what is left, `edge_kept`, are averages in probability points; `brier`
    is the mean square of confidence less outcome, 0 for who always knows.
    """

    skill_slug: str
    trades_count: int
    pnl: Micros
    wins: int
    losses: int
    confidence: float | None = None
    hit_rate: float | None = None
    edge: float | None = None
    slippage: float | None = None
    edge_kept: float | None = None
    brier: float | None = None
    calibration: tuple[CalibrationView, ...] = ()
    venue: Venue = Venue.SIM

    @property
    def win_rate(self) -> float | None:
        """Wins among what is decided."""
        return win_rate(self.wins, self.losses)


@dataclass(frozen=True, slots=True)
class ReasonedTradeView:
    """A trade of an agent with its reasoning."""

    trade: TradeView
    skill_slug: str = ""
    signal_data: Mapping[str, SignalValue] = field(default_factory=dict[str, SignalValue])
    outcome: Outcome | None = None


POSITIONS_SHOWN: Final = 100
"""Most open positions of the agent in focus that are read. # ours: they fill the pane."""


@dataclass(frozen=True, slots=True)
class AgentDetailView:
    """The agent in focus: what it traded and why, newest first, and each skill's results.

    `points` are its P&L on sim over time, oldest first; they and the results are as of `at`.
    `realized_today` is the P&L that became final since midnight UTC, by venue; empty if not read.
    """

    agent_id: str
    trades: tuple[ReasonedTradeView, ...]
    results: tuple[SkillResultView, ...]
    problem: str = ""
    points: tuple[tuple[Timestamp, Micros], ...] = ()
    at: Timestamp = Timestamp(0.0)
    positions: tuple[PositionView, ...] = ()
    realized_today: tuple[tuple[Venue, Micros], ...] = ()


EPOCH: Final = date(1970, 1, 1)
"""Day 0 of the days of `ReturnsView`."""


@dataclass(frozen=True, slots=True)
class ReturnsView:
    """What an agent made of its $SIM, if all were sold; None where a figure is undefined.

    `curve` is the equity over time, oldest first; `days` what each day UTC brought, by its number
    since 1970. Return and drawdowns are fractions, `sharpe` is for a year.
    """

    agent_id: str
    curve: tuple[tuple[Timestamp, Micros], ...] = ()
    total_return: float | None = None
    drawdown: float | None = None
    max_drawdown: float | None = None
    sharpe: float | None = None
    days: tuple[tuple[int, Micros], ...] = ()
    weeks: tuple[tuple[int, Micros], ...] = ()
    months: tuple[tuple[int, Micros], ...] = ()

    def brought_to(self, equity: Micros, now: Timestamp) -> "ReturnsView":
        """The same with the equity of now, which is read more often than these figures.

        Return, drawdowns and Sharpe stay as they were read.
        """
        if not self.curve or self.curve[-1][0] >= now:
            return self
        since = Micros(equity - self.curve[-1][1])
        return replace(
            self,
            curve=(*self.curve, (now, equity)),
            days=_with_gain(self.days, Period.DAY, now, since),
            weeks=_with_gain(self.weeks, Period.WEEK, now, since),
            months=_with_gain(self.months, Period.MONTH, now, since),
        )

    def gained(self, period: Period, now: Timestamp) -> Micros:
        """What the period of now brought so far; 0 where nothing has changed in it."""
        first_day = (period.first_day(now) - EPOCH).days
        found = {Period.DAY: self.days, Period.WEEK: self.weeks, Period.MONTH: self.months}
        return dict(found[period]).get(first_day, Micros(0))


def _with_gain(
    known: tuple[tuple[int, Micros], ...], period: Period, now: Timestamp, since: Micros
) -> tuple[tuple[int, Micros], ...]:
    """Gains by period, with what came since they were read."""
    first_day = (period.first_day(now) - EPOCH).days
    gained = dict(known)
    gained[first_day] = Micros(gained.get(first_day, 0) + since)
    return tuple(gained.items())


class AgentNeedKind(StrEnum):
    """Topic of an agent's need; the values are the labels of its row."""

    ALERT = "alert"
    SIGNAL = "signal"
    REDEEMABLE = "redeemable"
    BREAKER = "breaker"


@dataclass(frozen=True, slots=True)
class AgentNeedView:
    """Something that an agent other than the person's own waits for.

    `amount` is what is at stake; `expires_at` None where it has no end. A breaker has no market.
    """

    kind: AgentNeedKind
    agent_id: str
    agent_name: str
    need_id: str
    question: str = ""
    side: Side | None = None
    amount: Micros = Micros(0)
    expires_at: Timestamp | None = None

    @property
    def key(self) -> str:
        """Identity of the row."""
        return f"{self.kind.value} {self.agent_id} {self.need_id}"

    def left_s(self, now: Timestamp) -> float | None:
        """Seconds until it is over, >= 0; None where it has no end."""
        return None if self.expires_at is None else max(0.0, self.expires_at - now)

"""Agents of the venue: identity, settings, positions and counts."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from service_tui.engine.agents.leash import Leash, Leashes
from service_tui.engine.agents.marks import MINUTE_S, Marks
from service_tui.engine.errors import AgentBroke, AgentSuspended, NotClaimed
from service_tui.engine.events import AgentChanged, ClientSeen, TradeFailed
from service_tui.engine.limits import (
    DAY_SPEND_DEFAULT,
    FAILED_COOLDOWN_S,
    MAX_TRADE_DEFAULT,
    PLANS,
    counted_in,
    counts_as,
    day_of,
)
from service_tui.engine.position import Position
from service_tui.outcome import Outcome
from service_tui.terms import AGENT_ALERT_MINUTES_MAX, AgentStatus, Plan, Side, Venue, WalletKind
from service_tui.units import Micros, Timestamp, sum_of


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What an agent or its operator may change. Source: spec, "Settings"; wire reference, 3.9."""

    name: str
    plan: Plan
    claimed: bool = False
    suspended: bool = False
    trading_paused: bool = False
    real_trading_enabled: bool = False
    max_trade: Micros = MAX_TRADE_DEFAULT
    day_spend_max: Micros = DAY_SPEND_DEFAULT
    trades_per_day: int | None = None
    max_position: Micros | None = None
    stop_loss_pct: float | None = 0.20
    take_profit_pct: float | None = None
    auto_risk_monitor_enabled: bool = True
    auto_redeem_enabled: bool = True
    solana_wallet: str | None = None
    # Kept as they were given, and never used: nothing is sent to anybody.
    clawdbot_webhook_url: str | None = None
    clawdbot_chat_id: str | None = None
    clawdbot_channel: str | None = None
    skill_day_max: Micros | None = None
    operator_paused: bool = False
    wallet: WalletKind = WalletKind.MANAGED
    # Suspended for good: it keeps its history, and does not count against the plan's agents.
    retired: bool = False
    # The person who owns the agent, empty for none; and the invitation it registered by.
    owner: str = ""
    invitation: str = ""
    # Whose console trades with it, empty for an agent that is a program.
    console_of: str = ""

    @property
    def is_paused(self) -> bool:
        """Whether buys are blocked, by the agent itself or by its operator, who alone lifts his."""
        return self.trading_paused or self.operator_paused


@dataclass(frozen=True, slots=True)
class ClosedPosition:
    """One side of a market that paid out or was sold whole: what stays of it.

    `sources` are None where an older program wrote it: they stand with the buys alone. `wallet` is
    the address that held it on the EVM venue, None where only one ever did.
    """

    market_id: str
    question: str
    category: str
    side: Side
    shares: Micros
    cost: Micros
    payout: Micros
    realized: Micros
    outcome: Outcome
    opened_at: Timestamp
    resolved_at: Timestamp
    sources: tuple[str, ...] | None = None
    wallet: str | None = None


@dataclass(slots=True)  # noqa: PLR0904  (the aggregate: one count a duty)
class Agent:
    """One trading program, or the desk's own person. Changed by events only.

    `day_buys` are the buys of the UTC day `buys_day` that have got shares, `day_resting` the open
    ones of that day that have got none and keep their place in the limit; `day_imports` to
    `imports_day`; `day_equity` is what selling all would have brought, with
    the cash, at the first event of the UTC day `equity_day`; `marks` are its worth over time.
    `sources` are the trade sources by market: clients guard their rebuys by them. `failed` is
    when an order last failed on a real venue, by market and side. `skills_spent` is the money of
    the day's buys by skill, in `skills_day`; `day_spent` that of all of them, in `buys_day`.
    `leashes` are by skill, the own under "". `peak` is the highest mark of the equity.
    `spent_by_minute` is the money of the last hour's buys, by the minute since 1970.
    """

    agent_id: str
    created_at: Timestamp
    description: str
    key_hash: str
    claim_code: str
    settings: AgentSettings
    cash_account: str
    equity_day: int
    day_equity: Micros
    buys_day: int = 0
    day_buys: int = 0
    day_resting: int = 0
    trades_count: int = 0
    win_count: int = 0
    loss_count: int = 0
    realized: Micros = Micros(0)
    last_trade_at: Timestamp | None = None
    positions: dict[str, Position] = field(default_factory=dict[str, Position])
    closed: list[ClosedPosition] = field(default_factory=list[ClosedPosition])
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    imports_day: int = 0
    day_imports: int = 0
    failed: dict[str, Timestamp] = field(default_factory=dict[str, Timestamp])
    sdk_version: str | None = None
    sdk_seen_at: Timestamp | None = None
    skills_day: int = 0
    skills_spent: dict[str, Micros] = field(default_factory=dict[str, Micros])
    day_spent: Micros = Micros(0)
    leashes: Leashes = field(default_factory=dict[str, Leash])
    marks: Marks = field(default_factory=Marks)
    peak: Micros = Micros(0)
    spent_by_minute: list[tuple[int, Micros]] = field(default_factory=list[tuple[int, Micros]])

    def trades_per_day(self) -> int | None:
        """Buys allowed a day; None is no limit."""
        own = self.settings.trades_per_day
        plan = PLANS[self.settings.plan]
        if own is None or plan.trades_per_day_max is None:
            return plan.trades_per_day if own is None else own
        return min(own, plan.trades_per_day_max)

    def buys_today(self, at: Timestamp) -> int:
        """Buys since midnight UTC that have got shares."""
        return self.day_buys if counts_as(self.buys_day, at) else 0

    def resting_today(self, at: Timestamp) -> int:
        """Open buys placed since midnight UTC that have got no shares yet."""
        return self.day_resting if counts_as(self.buys_day, at) else 0

    def imports_today(self, at: Timestamp) -> int:
        """Markets imported since midnight UTC."""
        return self.day_imports if counts_as(self.imports_day, at) else 0

    def count_import(self, at: Timestamp) -> None:
        """Count one import."""
        self.day_imports = self.imports_today(at) + 1
        self.imports_day = counted_in(self.imports_day, at)

    def count_buy(
        self, at: Timestamp, money: Micros = Micros(0), *, has_filled: bool = True
    ) -> None:
        """Count a buy and its money against the day, on whatever venue."""
        self._begin_day(at)
        if has_filled:
            self.day_buys += 1
        else:
            self.day_resting += 1
        self.day_spent += money
        self._count_minute(at, money)

    def _count_minute(self, at: Timestamp, money: Micros) -> None:
        minute = int(at // MINUTE_S)
        recent = [one for one in self.spent_by_minute if one[0] > minute - AGENT_ALERT_MINUTES_MAX]
        if recent and recent[-1][0] == minute:
            money = Micros(recent.pop()[1] + money)
        self.spent_by_minute = [*recent, (minute, money)]

    def spent_within(self, minutes: int, at: Timestamp) -> Micros:
        """Money of the buys within so many minutes, on all venues; counted by whole minutes."""
        since = int(at // MINUTE_S) - minutes
        return sum_of(money for minute, money in self.spent_by_minute if minute > since)

    def count_first_fill(self, placed_at: Timestamp, at: Timestamp) -> None:
        """Count an open buy that has got its first shares as bought on the day of these."""
        self.forget_resting(placed_at)
        self._begin_day(at)
        self.day_buys += 1

    def forget_resting(self, placed_at: Timestamp) -> None:
        """Count an open buy without shares no more."""
        if day_of(placed_at) == self.buys_day:
            self.day_resting = max(0, self.day_resting - 1)

    def _begin_day(self, at: Timestamp) -> None:
        if not counts_as(self.buys_day, at):
            self.buys_day, self.day_buys, self.day_resting = day_of(at), 0, 0
            self.day_spent = Micros(0)

    def spent_today(self, at: Timestamp) -> Micros:
        """Money of the buys since midnight UTC, on all venues."""
        return self.day_spent if counts_as(self.buys_day, at) else Micros(0)

    def give_back(self, money: Micros, at: Timestamp) -> None:
        """Take off the day, and the minute, what a buy has not spent after all."""
        minute = int(at // MINUTE_S)
        self.spent_by_minute = [
            (then, Micros(max(0, spent - money)) if then == minute else spent)
            for then, spent in self.spent_by_minute
        ]
        if day_of(at) == self.buys_day:
            self.day_spent = Micros(max(0, self.day_spent - money))

    def skills_today(self, at: Timestamp) -> dict[str, Micros]:
        """Money of the buys since midnight UTC, by the skill that they name."""
        return self.skills_spent if counts_as(self.skills_day, at) else {}

    def count_skill(self, slug: str, money: Micros, at: Timestamp) -> None:
        """Count a skill's buy against its day, on whatever venue; less than 0 gives back."""
        if money < 0 and day_of(at) != self.skills_day:
            # What was promised on another day never counted against this one.
            return
        if not counts_as(self.skills_day, at):
            self.skills_day, self.skills_spent = day_of(at), {}
        spent = self.skills_spent.get(slug, 0) + money
        self.skills_spent[slug] = Micros(max(0, spent))

    def open_positions(self) -> list[Position]:
        """Positions with shares; one that was sold whole stays for its P&L until the outcome."""
        return [one for one in self.positions.values() if one.yes.shares or one.no.shares]

    def change(self, changes: dict[str, object]) -> None:
        """Take new settings; names are fields of AgentSettings."""
        self.settings = replace(self.settings, **changes)  # pyright: ignore[reportArgumentType]

    def apply(self, event: AgentChanged | ClientSeen | TradeFailed) -> None:
        """Change by something that happened to this agent alone."""
        match event:
            case AgentChanged():
                self.change(event.changes)
            case ClientSeen():
                self.sdk_version, self.sdk_seen_at = event.version, event.at
            case TradeFailed():
                since = event.at - FAILED_COOLDOWN_S
                self.failed = {key: at for key, at in self.failed.items() if at > since}
                self.failed[failed_key(event.market_id, event.side)] = event.at


def failed_key(market_id: str, side: Side) -> str:
    """One side of one market, as `Agent.failed` names it."""
    return f"{market_id}:{side.value}"


def status_of(agent: Agent, cash: Micros) -> AgentStatus:
    """The agent's status; broke only when nothing is held that could still pay."""
    if agent.settings.suspended:
        return AgentStatus.SUSPENDED
    if cash == 0 and not agent.open_positions():
        return AgentStatus.BROKE
    return AgentStatus.ACTIVE if agent.settings.claimed else AgentStatus.UNCLAIMED


def check_standing(agent: Agent, cash: Micros) -> None:
    """Refuse an agent that may not or cannot trade at all.

    Raises:
        AgentSuspended: the operator stopped it.
        AgentBroke: it has no cash, and holds nothing that could bring any.
    """
    if agent.settings.suspended:
        raise AgentSuspended("this agent is suspended")
    if cash == 0 and not agent.open_positions():
        raise AgentBroke("this agent is broke: its balance is 0 and it holds nothing")


def check_claimed(agent: Agent, venue: Venue) -> None:
    """Let an unclaimed agent trade on sim only.

    Raises:
        NotClaimed: a real venue, and no operator has claimed the agent.
    """
    if venue is not Venue.SIM and not agent.settings.claimed:
        raise NotClaimed("Agent must be claimed before trading")


def question_before(agents: Iterable[Agent], market_id: str) -> str:
    """The question of a market with closed positions; empty when it is not known."""
    return next(
        (
            closed.question
            for agent in agents
            for closed in agent.closed
            if closed.market_id == market_id
        ),
        "",
    )

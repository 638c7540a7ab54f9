"""Supervision of agents: leashes, trades that wait for a person, skills and their runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, assert_never

from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.slices.agents import AgentDetailView, AgentNeedView, ReturnsView, SignalValue
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.rows import in_place
from service_tui.terms import (
    MARKET_ENDED,
    MONEY_OF,
    Action,
    AgentAlertAction,
    AgentAlertKind,
    LeashMode,
    PendingStatus,
    Side,
    Venue,
)
from service_tui.units import Micros, Timestamp, decimal


class Pace(StrEnum):
    """Schedule of a skill: once, repeated after a pause, or one program that does not end."""

    ONCE = "once"
    EVERY = "every"
    LOOP = "loop"


class SkillRunState(StrEnum):
    """State of a skill's run; the values are the labels of its row.

    `resting`: between two runs. `backing off`: it crashed and is tried again. `crashed`: as often
    as it may. `suspended`: the halt holds it. `detached`: it runs on without the console.
    """

    STARTING = "starting"
    RUNNING = "running"
    RESTING = "resting"
    BACKING_OFF = "backing off"
    SUSPENDED = "suspended"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DONE = "done"
    CRASHED = "crashed"
    DETACHED = "detached"

    @property
    def is_alive(self) -> bool:
        """True if a process runs, or will start without the operator."""
        return self not in {SkillRunState.STOPPED, SkillRunState.DONE, SkillRunState.CRASHED}


@dataclass(frozen=True, slots=True)
class LeashView:
    """Leash of an agent, or of one of its skills (`skill_slug`, else empty). Money in micros."""

    agent_id: str
    skill_slug: str
    mode: LeashMode
    threshold: Micros
    budget: Micros | None
    wait_s: int
    spent: Micros

    @property
    def used(self) -> float | None:
        """The part of the budget that is spent; None without one."""
        return self.spent / self.budget if self.budget else None


@dataclass(frozen=True, slots=True)
class OtherSideView:
    """An agent that holds the other side of a market."""

    agent_id: str
    agent_name: str
    shares: Micros


@dataclass(frozen=True, slots=True)
class PendingTradeView:
    """A trade that waits for the person, or how it was decided.

    A buy is sized by `amount`, a sale by `shares`. `price` is of its side now, `average` what the
    whole would cost a share, None where the venue would not take it; `asked` is what it would have
    cost when it was requested. `bound` is the worst price that the person allowed,
    `other_side` who holds the other side of the market.
    """

    pending_id: str
    agent_id: str
    agent_name: str
    status: PendingStatus
    market_id: str
    question: str
    venue: Venue
    side: Side
    action: Action
    amount: Micros
    shares: Micros
    price_limit: float | None
    price: float | None
    average: float | None
    reasoning: str
    source: str
    skill_slug: str
    signal_data: Mapping[str, SignalValue]
    created_at: Timestamp
    expires_at: Timestamp
    decided_at: Timestamp | None = None
    decided_amount: Micros | None = None
    reason: str = ""
    trade_id: str = ""
    asked: float | None = None
    bound: float | None = None
    other_side: tuple[OtherSideView, ...] = ()

    @property
    def is_waiting(self) -> bool:
        """True while the person can decide it."""
        return self.status is PendingStatus.WAITING

    def left_s(self, now: Timestamp) -> float:
        """Seconds until it expires, >= 0."""
        return max(0.0, self.expires_at - now)


@dataclass(frozen=True, slots=True)
class SkillView:
    """An installed skill. `problem` is why it cannot start; empty if it can."""

    slug: str
    name: str
    description: str
    version: str
    requires: tuple[str, ...] = ()
    problem: str = ""

    def with_problem(self, problem: str) -> "SkillView":
        """The same skill, with what keeps it from being started."""
        return replace(self, problem=problem)


@dataclass(frozen=True, slots=True)
class SkillRunView:
    """A skill that the desk runs, or ran, for one agent.

    `report` is its last line of output about its work, `why` the reason of its state.
    `granted`: the person lets it see the wallet's key. `output_at`: it wrote something about then.
    """

    run_id: str
    skill_slug: str
    agent_id: str
    agent_name: str
    pace: Pace
    every_s: int
    live: bool
    state: SkillRunState
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    next_at: Timestamp | None = None
    pid: int | None = None
    exit_code: int | None = None
    runs_count: int = 0
    restarts: int = 0
    why: str = ""
    report: str = ""
    log_path: str = ""
    budget: Micros | None = None
    granted: bool = False
    output_at: Timestamp | None = None


@dataclass(frozen=True, slots=True)
class LogTailView:
    """The end of a run's output, oldest line first."""

    run_id: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentAlertView:
    """An alert on an agent, with its last firing.

    `limit` and `last_value` are millionths of what the kind counts: minutes, a fraction of the
    peak, money, a fraction of a price, or errors. `is_beyond`: it has fired, and what it watches
    has not come back.
    """

    alert_id: str
    agent_id: str
    agent_name: str
    kind: AgentAlertKind
    limit: Micros
    minutes: int = 0
    action: AgentAlertAction = AgentAlertAction.TELL
    skill_slug: str = ""
    is_beyond: bool = False
    fired_count: int = 0
    fired_at: Timestamp | None = None
    last_value: Micros | None = None
    question: str = ""

    def describe(self) -> str:
        """What it watches, in plain English."""
        return alert_text(self.kind, self.limit, self.minutes, self.skill_slug)


def alert_text(kind: AgentAlertKind, limit: Micros, minutes: int = 0, skill_slug: str = "") -> str:
    """What an alert on an agent watches, in plain English."""
    of_skill = f" of {skill_slug}" if skill_slug else ""
    within = f" in {minutes} min" if kind.has_window else ""
    count = decimal(limit) * kind.typed_per_limit
    return _ALERT_TEXTS[kind].format(count=count, of_skill=of_skill) + within


_ALERT_TEXTS: Final = {
    AgentAlertKind.SILENT: "silent for {count:g} min",
    AgentAlertKind.DRAWDOWN: "drawdown of {count:g} %",
    AgentAlertKind.DAY_LOSS: "day loss of {count:,.2f}",
    AgentAlertKind.SPEND: "buys for {count:,.2f}",
    AgentAlertKind.MOVE: "a held market moves {count:g} pt",
    AgentAlertKind.ERRORS: "{count:g} refused orders{of_skill}",
}


AFTER_FIRING: Final = {
    AgentAlertAction.TELL: "tell you",
    AgentAlertAction.PAUSE: "pause it",
    AgentAlertAction.HALT: "halt all buys",
}
"""What an alert on an agent does, in plain English."""


@dataclass(frozen=True, slots=True)
class SupervisionView:
    """Supervision of agents: leashes, waiting trades, skills and their runs.

    `pending_trades` are those that wait, the nearest deadline first; `decided` the last ones that
    were, newest first. `pasts` is what every agent traded, as it was read for a report at
    `pasts_at`, `needs` what the agents other than the own one wait for.
    """

    leashes: tuple[LeashView, ...] = ()
    pending_trades: tuple[PendingTradeView, ...] = ()
    decided: tuple[PendingTradeView, ...] = ()
    skills: tuple[SkillView, ...] = ()
    runs: tuple[SkillRunView, ...] = ()
    detail: AgentDetailView | None = None
    tail: LogTailView | None = None
    pasts: tuple[AgentDetailView, ...] = ()
    pasts_at: Timestamp | None = None
    needs: tuple[AgentNeedView, ...] = ()
    agent_alerts: tuple[AgentAlertView, ...] = ()
    returns: tuple[ReturnsView, ...] = ()

    def leash_of(self, agent_id: str, skill_slug: str = "") -> LeashView | None:
        """The leash of an agent, or of its skill; None where it is free."""
        return next(
            (
                one
                for one in self.leashes
                if one.agent_id == agent_id and one.skill_slug == skill_slug
            ),
            None,
        )

    def alerts_of(self, agent_id: str) -> tuple[AgentAlertView, ...]:
        """The alerts on an agent, oldest first."""
        return tuple(one for one in self.agent_alerts if one.agent_id == agent_id)

    def returns_of(self, agent_id: str) -> ReturnsView | None:
        """What an agent made of its money; None before it is read."""
        return next((one for one in self.returns if one.agent_id == agent_id), None)

    def runs_of(self, agent_id: str) -> tuple[SkillRunView, ...]:
        """The runs that trade as an agent."""
        return tuple(run for run in self.runs if run.agent_id == agent_id)


@dataclass(frozen=True, slots=True)
class PendingTradesSeen:
    """Waiting trades and the latest decisions were read."""

    pending_trades: tuple[PendingTradeView, ...]
    decided: tuple[PendingTradeView, ...]


@dataclass(frozen=True, slots=True)
class PastsSeen:
    """Recent trades of every agent were read, at wall time `at`."""

    pasts: tuple[AgentDetailView, ...]
    at: Timestamp


FleetFact = PendingTradesSeen | PastsSeen | Loaded | Changed | Removed
"""Every fact of the fleet."""

News = tuple[str, str, NoticeKind]
"""Tone, words and kind of a notice."""

RUNS_MAX: Final = 100
"""What the state keeps of runs; those that live are never forgotten."""

_TONES: Final = {SkillRunState.CRASHED: "bad", SkillRunState.BACKING_OFF: "warn"}

_LISTS: Final[Mapping[type[object], str]] = {
    LeashView: "leashes",
    SkillView: "skills",
    AgentNeedView: "needs",
    AgentAlertView: "agent_alerts",
    ReturnsView: "returns",
}

_IN_FOCUS: Final[Mapping[type[object], str]] = {AgentDetailView: "detail", LogTailView: "tail"}
"""Field that holds the rows of a type; the one row in focus, or None."""

FLEET_KINDS: Final = frozenset({*_LISTS, *_IN_FOCUS, SkillRunView})


def reduce_fleet(view: SupervisionView, fact: FleetFact) -> SupervisionView:  # noqa: C901, PLR0911, PLR0912  (one closed union, one line a kind)
    """The slice after a fact."""
    match fact:
        case Loaded():
            field = _LISTS[fact.kind]
            is_same = fact.rows == getattr(view, field)
            return view if is_same else replace(view, **{field: fact.rows})
        case PendingTradesSeen():
            if (fact.pending_trades, fact.decided) == (view.pending_trades, view.decided):
                return view
            return replace(view, pending_trades=fact.pending_trades, decided=fact.decided)
        case Changed(row=SkillRunView() as run):
            return replace(view, runs=_with_run(view.runs, run))
        case Changed():
            return replace(view, **{_IN_FOCUS[fact.kind]: fact.row})
        case Removed() if fact.kind is SkillRunView:
            return replace(view, runs=tuple(one for one in view.runs if one.run_id != fact.key))
        case Removed():
            return replace(view, **{_IN_FOCUS[fact.kind]: None})
        case PastsSeen():
            return replace(view, pasts=fact.pasts, pasts_at=fact.at)
        case _:
            assert_never(fact)


def _with_run(runs: tuple[SkillRunView, ...], run: SkillRunView) -> tuple[SkillRunView, ...]:
    """The list with this run in its place, or first; of the ended ones the oldest go."""
    known = in_place(runs, run, lambda one: one.run_id)
    if known is not None:
        return known
    listed = (run, *runs)
    over = [old.run_id for old in listed if not old.state.is_alive][RUNS_MAX:]
    return tuple(old for old in listed if old.run_id not in over)


def news_of_fleet(before: SupervisionView, after: SupervisionView) -> Iterator[News]:
    """Notices: a trade needs approval, one expired, a skill crashed."""
    known = {trade.pending_id for trade in before.pending_trades}
    fresh = [trade for trade in after.pending_trades if trade.pending_id not in known]
    if fresh:
        yield "warn", _approval_text(fresh[-1], len(after.pending_trades)), NoticeKind.APPROVAL
    for trade in after.decided:
        if trade.pending_id in known and trade.status is PendingStatus.EXPIRED:
            yield "bad", _lapsed_text(trade), NoticeKind.APPROVAL
    fired = {alert.alert_id: alert.fired_count for alert in before.agent_alerts}
    for alert in after.agent_alerts:
        if alert.fired_count > fired.get(alert.alert_id, alert.fired_count):
            yield _FIRED_TONES[alert.action], fired_text(alert), NoticeKind.AGENT
    states = {run.run_id: run.state for run in before.runs}
    for run in after.runs:
        tone = _TONES.get(run.state)
        if tone and states.get(run.run_id, run.state) is not run.state:
            yield tone, f"{run.skill_slug} as {run.agent_name}: {run.why}", NoticeKind.AGENT


def _lapsed_text(trade: PendingTradeView) -> str:
    """Text about a request that nobody answered in time, or whose market ended first."""
    if trade.reason == MARKET_ENDED:
        return f"{trade.agent_name}'s request lapsed, {MARKET_ENDED}: {pending_text(trade)}"
    return f"approval expired: {approval_text(trade)}"


def fired_text(alert: AgentAlertView) -> str:
    """What an alert on an agent has found, and what it did, in plain English."""
    return f"{alert.agent_name}: {alert.describe()}{_DONE[alert.action]}"


_DONE: Final = {
    AgentAlertAction.TELL: "",
    AgentAlertAction.PAUSE: "; its buys are paused",
    AgentAlertAction.HALT: "; all buys are halted",
}
_FIRED_TONES: Final = {
    AgentAlertAction.TELL: "warn",
    AgentAlertAction.PAUSE: "bad",
    AgentAlertAction.HALT: "bad",
}


def _approval_text(trade: PendingTradeView, waiting: int) -> str:
    """Text about a trade that needs approval, with the number of those that do."""
    request = f"approval needed, {approval_text(trade)}"
    return (
        request if waiting == 1 else f"{waiting} approvals needed, newest: {approval_text(trade)}"
    )


def approval_text(trade: PendingTradeView) -> str:
    """A waiting trade with whose it is, for what is written down of the answer to it."""
    return f"{trade.agent_name}: {pending_text(trade)}"


def pending_text(trade: PendingTradeView) -> str:
    """Description of a waiting trade in plain English."""
    side = trade.side.value.upper()
    if trade.action is Action.BUY:
        money = f"{decimal(trade.amount):,.2f} {MONEY_OF[trade.venue]}"
        return f"BUY {side}, {money}, {trade.question}"
    return f"SELL {side}, {decimal(trade.shares):,.2f} shares, {trade.question}"

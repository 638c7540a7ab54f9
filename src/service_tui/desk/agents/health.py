"""Health of an agent as a label with its reason, and its latest action. Pure; `now` is wall time.

`now` is wall time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.desk.slices.agents import AgentView, FillView
from service_tui.desk.slices.supervision import (
    LeashView,
    Pace,
    PendingTradeView,
    SkillRunState,
    SkillRunView,
    SupervisionView,
)
from service_tui.terms import Action, AgentStatus, LeashMode
from service_tui.units import Micros, Timestamp, decimal

SILENT_S: Final = 600.0
"""A looping skill that wrote and traded nothing for so long is called silent."""

QUIET_S: Final = 3_600.0
"""An agent that this desk does not run, and that has not traded for so long, is called quiet."""

_FREEDOM: Final = {LeashMode.OBSERVE: 0, LeashMode.ASK: 1, LeashMode.AUTO: 2}

SPENT: Final = 0.999
"""Part of a budget from which on nothing is left of it."""


class Health(StrEnum):
    """Health of an agent; the values are the labels of its row."""

    SUSPENDED = "suspended"
    CRASHED = "crashed"
    BROKE = "broke"
    BACKING_OFF = "retrying"
    HALTED = "halted"
    PAUSED = "paused"
    BUDGET = "at budget"
    LIMIT = "at limit"
    NEEDS_APPROVAL = "asks"
    SILENT = "silent"
    OBSERVES = "observes"
    RUNNING = "running"
    STOPPED = "stopped"
    ACTIVE = "active"
    QUIET = "quiet"
    NEW = "new"


RANKS: Final = {health: rank for rank, health in enumerate(Health)}
"""Order by which a person looks at agents: the worst first."""


@dataclass(frozen=True, slots=True)
class HealthReport:
    """Health of an agent, the reason in a sentence, and its number of trades to approve."""

    health: Health
    why: str
    waiting: int = 0


def health_of(
    agent: AgentView, view: SupervisionView, now: Timestamp, *, halted: bool = False
) -> HealthReport:
    """The first of all reasons that hold, the worst first."""
    case = _Case(agent, view, view.runs_of(agent.agent_id), now, halted)
    reasons = ((health, reason(case)) for health, reason in _REASONS)
    never = (Health.NEW, "no trades yet")
    health, why = next((result for result in reasons if result[1]), never)
    # The caller has checked that already.
    left = "" if health is Health.NEEDS_APPROVAL else still_waiting(view, agent.agent_id)
    return HealthReport(health, f"{why}{left}", case.waiting)


def still_waiting(view: SupervisionView, agent_id: str, skill_slug: str = "") -> str:
    """Trades of an agent, or of one of its skills, that still need approval."""
    count = _waiting(view, agent_id, skill_slug)
    if not count:
        return ""
    return f"; {count} trade{' needs' if count == 1 else 's need'} approval"


def _waiting(view: SupervisionView, agent_id: str, skill_slug: str = "") -> int:
    return sum(
        one.agent_id == agent_id and skill_slug in {"", one.skill_slug}
        for one in view.pending_trades
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """Input of every health rule."""

    agent: AgentView
    view: SupervisionView
    runs: tuple[SkillRunView, ...]
    now: Timestamp
    halted: bool

    def newest(self, *states: SkillRunState) -> SkillRunView | None:
        """The newest run, if it is in one of these states."""
        first = self.runs[0] if self.runs else None
        return first if first is not None and first.state in states else None

    @property
    def has_ended(self) -> bool:
        """True if no skill of the agent runs any more, for any reason."""
        return bool(self.runs) and not any(run.state.is_alive for run in self.runs)

    @property
    def is_stopped(self) -> bool:
        """True if the operator stopped its skill: budget and limits then hold nothing up."""
        return self.newest(SkillRunState.STOPPED) is not None and self.has_ended

    @property
    def waiting(self) -> int:
        """Trades of it that wait for the person."""
        return _waiting(self.view, self.agent.agent_id)

    def leashes(self) -> Iterator[LeashView]:
        """Every leash that binds it."""
        return (one for one in self.view.leashes if one.agent_id == self.agent.agent_id)


def _suspended(case: _Case) -> str:
    if case.agent.retired:
        return "retired by you: uses no slot, history kept"
    return "suspended by you" if case.agent.suspended else ""


def _crashed(case: _Case) -> str:
    run = case.newest(SkillRunState.CRASHED)
    return "" if run is None else f"crashed {run.restarts + 1} times, {run.why}"


def _broke(case: _Case) -> str:
    broke = case.agent.status is AgentStatus.BROKE
    return "no cash, and no position to sell" if broke else ""


def _backing_off(case: _Case) -> str:
    run = case.newest(SkillRunState.BACKING_OFF)
    return "" if run is None else f"crashed {run.restarts} times, {run.why}"


def _halted(case: _Case) -> str:
    suspended = case.newest(SkillRunState.SUSPENDED)
    return "trading is halted" if case.halted or suspended is not None else ""


def _paused(case: _Case) -> str:
    return "paused by you: sales only" if case.agent.paused else ""


def _budget(case: _Case) -> str:
    if case.is_stopped:
        return ""
    for one in case.leashes():
        if one.budget is not None and (one.used or 0.0) >= SPENT:
            scope = one.skill_slug or "whole agent"
            return f"{decimal(one.spent):,.2f} of {decimal(one.budget):,.2f} spent today, {scope}"
    run = case.runs[0] if case.runs else None
    return run.report if run is not None and "budget" in run.report else ""


def _limit(case: _Case) -> str:
    limits = case.agent.limits
    if case.is_stopped or limits is None or limits.buys_max is None:
        return ""
    if limits.buys_today + limits.buys_resting < limits.buys_max:
        return ""
    resting = f", {limits.buys_resting} of them open orders" if limits.buys_resting else ""
    used = limits.buys_today + limits.buys_resting
    return f"{used}/{limits.buys_max} buys of the day used{resting}"


def _approvals_text(case: _Case) -> str:
    # A run that ended needs no approval: its waiting trades are shown beside its state.
    if case.has_ended or not case.waiting:
        return ""
    if case.waiting == 1:
        return "1 trade needs approval"
    return f"{case.waiting} trades need approval"


def _silent(case: _Case) -> str:
    run = case.newest(SkillRunState.RUNNING, SkillRunState.DETACHED)
    if run is None or run.pace is not Pace.LOOP or run.started_at is None:
        return ""
    last_sign = max(run.started_at, run.output_at or 0.0, case.agent.last_trade_at or 0.0)
    silent_s = case.now - last_sign
    if silent_s <= SILENT_S:
        return ""
    return f"running, no output and no trade for {silent_s // 60:.0f} minutes"


def _observes(case: _Case) -> str:
    run = case.newest(
        SkillRunState.RUNNING, SkillRunState.RESTING, SkillRunState.DETACHED, SkillRunState.STARTING
    )
    on_paper = run is not None and not run.live
    return f"{run.skill_slug}: paper trading" if on_paper and run is not None else ""


def _running(case: _Case) -> str:
    run = case.newest(
        SkillRunState.RUNNING,
        SkillRunState.RESTING,
        SkillRunState.DETACHED,
        SkillRunState.STARTING,
        SkillRunState.STOPPING,
    )
    return "" if run is None else f"{run.skill_slug}: {run.state.value}"


def _stopped(case: _Case) -> str:
    run = case.newest(SkillRunState.STOPPED, SkillRunState.DONE)
    return "" if run is None else f"{run.skill_slug}: {run.why or run.report or run.state.value}"


def _active(case: _Case) -> str:
    at = case.agent.last_trade_at
    return "trading" if at is not None and case.now - at <= QUIET_S else ""


def _quiet(case: _Case) -> str:
    at = case.agent.last_trade_at
    hours = 0.0 if at is None else (case.now - at) / 3_600
    return "" if at is None else f"no trade for {hours:.0f} hours"


_REASONS: Final[tuple[tuple[Health, Callable[[_Case], str]], ...]] = (
    (Health.SUSPENDED, _suspended),
    (Health.CRASHED, _crashed),
    (Health.BROKE, _broke),
    (Health.BACKING_OFF, _backing_off),
    (Health.HALTED, _halted),
    (Health.PAUSED, _paused),
    (Health.BUDGET, _budget),
    (Health.LIMIT, _limit),
    (Health.NEEDS_APPROVAL, _approvals_text),
    (Health.SILENT, _silent),
    (Health.OBSERVES, _observes),
    (Health.RUNNING, _running),
    (Health.STOPPED, _stopped),
    (Health.ACTIVE, _active),
    (Health.QUIET, _quiet),
)


# -- what it spent, and what it did last -----------------------------------------------------


def spend_of(agent: AgentView, view: SupervisionView) -> tuple[Micros, Micros | None]:
    """Money of today's buys, and the budget that binds them first; None where there is none."""
    left = [
        (one.budget - one.spent, one.spent, one.budget)
        for one in _binding(agent, view)
        if one.budget is not None
    ]
    if left:
        _, spent, budget = min(left)
        return spent, budget
    return agent.spent_today, next(
        (run.budget for run in view.runs_of(agent.agent_id) if run.state.is_alive), None
    )


def strictest_leash(agent: AgentView, view: SupervisionView) -> LeashView | None:
    """The strictest leash that binds the agent or one of its skills."""
    binding = _binding(agent, view)
    return min(binding, key=_freedom, default=None)


def _freedom(leash: LeashView) -> tuple[int, int, float]:
    """Sort key of a leash: mode, threshold, remaining budget."""
    left = float("inf") if leash.budget is None else int(leash.budget - leash.spent)
    # A threshold matters in the mode `ask` alone.
    above = leash.threshold if leash.mode is LeashMode.ASK else Micros(0)
    return _FREEDOM[leash.mode], int(above), left


def _binding(agent: AgentView, view: SupervisionView) -> list[LeashView]:
    """Its own leash and those of the skills that run, or ran last; else every one of it."""
    runs = view.runs_of(agent.agent_id)
    alive = [run.skill_slug for run in runs if run.state.is_alive]
    slugs = {"", *(alive or [run.skill_slug for run in runs[:1]])}
    every = [one for one in view.leashes if one.agent_id == agent.agent_id]
    bound = [one for one in every if one.skill_slug in slugs]
    return bound if runs and bound else every


def last_action(
    agent: AgentView, view: SupervisionView, fills: tuple[FillView, ...]
) -> tuple[str, Timestamp] | None:
    """Latest action of an agent as a short text with its time; None if unknown."""
    return max(_actions(agent, view, fills), key=lambda one: one[1], default=None)


def _actions(
    agent: AgentView, view: SupervisionView, fills: tuple[FillView, ...]
) -> Iterator[tuple[str, Timestamp]]:
    yield from _traded(agent, fills)
    yield from _approval_activity(agent, view)
    for run in view.runs_of(agent.agent_id)[:1]:
        if run.ended_at is not None:
            yield f"{run.state.value}: {run.skill_slug}", run.ended_at
        elif run.started_at is not None:
            yield f"began {run.skill_slug}", run.started_at


def _traded(agent: AgentView, fills: tuple[FillView, ...]) -> Iterator[tuple[str, Timestamp]]:
    """Its newest trade, with details if the event stream reported it."""
    last_fill = next((fill for fill in fills if fill.agent_id == agent.agent_id), None)
    if last_fill is not None:
        deal = f"{last_fill.action.value} {last_fill.side.value.upper()}"
        at = Timestamp(max(last_fill.at, agent.last_trade_at or 0.0))
        yield f"{deal} {decimal(last_fill.money):,.2f}", at
    elif agent.last_trade_at is not None:
        yield "traded", agent.last_trade_at


def _approval_activity(agent: AgentView, view: SupervisionView) -> Iterator[tuple[str, Timestamp]]:
    """The trades of it that wait, and the last one that was decided."""
    for trade in view.pending_trades:
        if trade.agent_id == agent.agent_id:
            yield f"asks: {_order(trade)}", trade.created_at
    own = (trade for trade in view.decided if trade.agent_id == agent.agent_id)
    last = next(own, None)
    if last is not None and last.decided_at is not None:
        yield f"{last.status.value}: {_order(last)}", last.decided_at


def _order(trade: PendingTradeView) -> str:
    buys = trade.action is Action.BUY
    size = decimal(trade.amount if buys else trade.shares)
    return f"{trade.action.value} {trade.side.value.upper()} {size:,.2f}"

"""Needs of agents: approvals, skills, budgets, experiments. Pure."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.questions import short_question, side_question
from service_tui.console.ranking import LAST_S, Need
from service_tui.console.reasons import without_amounts
from service_tui.console.widgets.line_fit import WARN_FROM
from service_tui.desk.agents.health import SPENT
from service_tui.desk.slices.agents import AgentNeedKind, AgentNeedView, AgentView
from service_tui.desk.slices.research import SessionView
from service_tui.desk.slices.supervision import (
    AgentAlertView,
    LeashView,
    PendingTradeView,
    SkillRunState,
)
from service_tui.desk.state import DeskState
from service_tui.terms import AgentAlertAction, AgentStatus, SessionState, Venue
from service_tui.units import Micros, Timestamp

PENDING: Final = "held "
"""Prefix of the key of a pending trade; its id follows."""

SIGNALS: Final = "signals"
"""What signals are called where they are muted."""

URGENT_S: Final = 60.0
"""A pending trade with less time left than this is urgent."""


def of_fleet(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Rows about agents, their skills and their experiments."""
    yield from map(partial(_approval, now=now), state.supervision.pending_trades)
    for need in state.supervision.needs:
        yield _of_agent(need, now)
    for alert in state.supervision.agent_alerts:
        if alert.is_beyond:
            yield _fired(alert, state)
    yield from _crashes(state)
    yield from _budgets(state)
    for agent in () if state.fleet is None else state.fleet.agents:
        yield from _agent(agent, state)
    for session in state.research.sessions:
        if session.state is not SessionState.RUNNING:
            yield _session(session, state)


def _approval(trade: PendingTradeView, now: Timestamp) -> Need:
    """A trade that waits for the person's approval."""
    left = trade.left_s(now)
    price = trade.price or trade.average
    worth = trade.amount or (None if price is None else Micros(round(trade.shares * price)))
    return Need(
        key=f"{PENDING}{trade.pending_id}",
        tone="breach" if left < URGENT_S else "warn",
        glyph="?",
        word="approve",
        what=f"{trade.action.value.upper()} {side_question(trade.side, trade.question)}",
        figure=Text(),
        otherwise="refused",
        screen="agents",
        row=trade.agent_id,
        is_real=trade.venue is not Venue.SIM,
        left_s=left,
        money=worth,
        verb="Decide",
        act="app.approvals",
        agent=trade.agent_name,
        agent_id=trade.agent_id,
        is_pinned=True,
    )


_KINDS: Final = {
    AgentNeedKind.SIGNAL: "signals",
    AgentNeedKind.REDEEMABLE: "to redeem",
}
"""Kinds of alert that the agent itself settles: several of one agent become one row."""

_TOPICS: Final = {
    AgentNeedKind.SIGNAL: SIGNALS,
    AgentNeedKind.REDEEMABLE: "redemptions by agents",
    AgentNeedKind.BREAKER: "circuit breakers",
}
"""Kinds of alert that can be muted."""

_LOOK_OF: Final = {
    AgentNeedKind.ALERT: ("breach", "▼", "alert", "its agent or the service sells"),
    AgentNeedKind.SIGNAL: ("muted", "○", "signal", "its agent decides"),
    AgentNeedKind.REDEEMABLE: ("profit", "●", "redeem", "its agent redeems"),
    AgentNeedKind.BREAKER: ("loss", "■", "breaker", "signals are skipped until then"),
}
"""Tone, glyph, word and `otherwise` of each kind of agent's alert."""


def is_last(need: AgentNeedView, now: Timestamp) -> bool:
    """True if an agent's alert is in its last ten minutes."""
    left = need.left_s(now)
    return need.kind is AgentNeedKind.ALERT and left is not None and 0 < left <= LAST_S


def _of_agent(need: AgentNeedView, now: Timestamp) -> Need:
    """The row of an alert of an agent other than the person's own."""
    tone, glyph, word, otherwise = _LOOK_OF[need.kind]
    left, last = need.left_s(now), is_last(need, now)
    known = short_question if need.side is None else partial(side_question, need.side)
    about = known(need.question) if need.question else "reactor paused"
    return Need(
        key=f"agent {need.key}",
        tone=tone,
        glyph="!" if last else glyph,
        word="LAST 10m" if last else word,
        what=about,
        figure=Text(),
        otherwise=otherwise,
        screen="agents",
        row=need.agent_id,
        kind=_KINDS.get(need.kind, ""),
        group=need.agent_name if need.kind in _KINDS else "",
        topic=_TOPICS.get(need.kind, ""),
        agent=need.agent_name,
        agent_id=need.agent_id,
        is_dismissable=left is None,
        left_s=left,
        money=need.amount,
        verb="Show agent",
        act="agents.open",
        is_last=last,
    )


def _fired(alert: AgentAlertView, state: DeskState) -> Need:
    """An alert on an agent that has fired, until what it watches comes back."""
    watched = without_amounts(alert.describe(), masked=is_private(state))
    return Need(
        key=f"alert {alert.alert_id} {alert.fired_count}",
        tone="warn" if alert.action is AgentAlertAction.TELL else "loss",
        glyph="▲",
        word="alert",
        what=watched,
        figure=Text(),
        otherwise=_AFTER[alert.action],
        screen="agents",
        row=alert.agent_id,
        is_dismissable=True,
        verb="Show agent",
        act="agents.open",
        agent=alert.agent_name,
        agent_id=alert.agent_id,
        topic="alerts on agents",
    )


_AFTER: Final = {
    AgentAlertAction.TELL: "it goes on",
    AgentAlertAction.PAUSE: "its buys stay paused",
    AgentAlertAction.HALT: "all buys stay halted",
}
"""What happens if nothing is done about an alert that fired."""


def _crashes(state: DeskState) -> Iterator[Need]:
    """Skills that crashed for good."""
    for run in state.supervision.runs:
        if run.state is SkillRunState.CRASHED:
            yield Need(
                key=f"run {run.run_id} {run.ended_at}",
                tone="loss",
                glyph="✗",
                word="crashed",
                what=f"{run.skill_slug}: {run.why}",
                figure=Text(),
                otherwise="stays stopped",
                screen="agents",
                row=run.agent_id,
                note="no restarts left",
                is_dismissable=True,
                money=run.budget,
                verb="Restart",
                act="agents.again",
                agent=run.agent_name,
                agent_id=run.agent_id,
                topic="crashed skills",
            )


def _budgets(state: DeskState) -> Iterator[Need]:
    """Budgets of leashes, and of skills, that are nearly spent."""
    names = (
        {} if state.fleet is None else {agent.agent_id: agent.name for agent in state.fleet.agents}
    )
    for leash in state.supervision.leashes:
        if leash.used is not None and leash.used > WARN_FROM:
            yield _budget(leash, names.get(leash.agent_id, leash.agent_id))
    buy_limits = state.buy_limits
    most = None if buy_limits is None else buy_limits.skill_day_max
    for skill in () if buy_limits is None or not most else buy_limits.skills:
        if most and int(skill.spent) > WARN_FROM * most:
            yield Need(
                key=f"skill day {skill.slug}",
                tone="warn",
                glyph="▲",
                word="skill",
                what=f"{skill.slug}: daily budget {_spent(skill.spent / most)}",
                figure=formats.percent(skill.spent / most, 0),
                otherwise=_refused(skill.spent / most),
                screen="settings",
                money=Micros(most - skill.spent),
                verb="Show limits",
                topic=_BUDGETS,
            )


_BUDGETS: Final = "budgets"
"""What budgets are called where they are muted."""


def _spent(used: float) -> str:
    return "spent" if used >= SPENT else "nearly spent"


def _refused(used: float) -> str:
    until = "until 00:00 UTC" if used >= SPENT else "once it is spent"
    return f"buys are refused {until}"


def _budget(leash: LeashView, subject: str) -> Need:
    used = leash.used or 0.0
    of_skill = f"{leash.skill_slug}: " if leash.skill_slug else ""
    return Need(
        key=f"budget {leash.agent_id} {leash.skill_slug}",
        tone="warn",
        glyph="▲",
        word="budget",
        what=f"{of_skill}daily budget {_spent(used)}",
        figure=formats.percent(leash.used, 0),
        otherwise=_refused(used),
        screen="agents",
        row=leash.agent_id,
        money=leash.budget,
        verb="Raise budget",
        act="agents.leash",
        agent=subject,
        agent_id=leash.agent_id,
        topic=_BUDGETS,
    )


def _agent(agent: AgentView, state: DeskState) -> Iterator[Need]:
    """An agent that is out of money."""
    if agent.status is AgentStatus.BROKE:
        yield Need(
            key=f"broke {agent.agent_id}",
            tone="loss",
            glyph="✗",
            word="broke",
            what="out of cash",
            figure=formats.money(agent.cash, masked=is_private(state)),
            otherwise="only sells",
            screen="agents",
            row=agent.agent_id,
            is_dismissable=True,
            money=agent.equity,
            verb="Show agent",
            agent=agent.name,
            agent_id=agent.agent_id,
            topic="agents out of cash",
        )


def _session(session: SessionView, state: DeskState) -> Need:
    """A session of experiments that waits for the person."""
    capped = session.state is SessionState.CAPPED
    newest = next(iter(state.research.of(session)), None)
    return Need(
        key=f"session {session.key} {session.segment} {session.state.value}",
        tone="warn",
        glyph="■" if capped else "‖",
        word=session.state.value,
        what=f"autoresearch of {session.skill}: {session.why or 'stopped'}",
        figure=Text(),
        otherwise="no more experiments",
        screen="research",
        row=None if newest is None else newest.key,
        note=f"{formats.count(session.count).plain} experiments so far",
        is_dismissable=True,
        verb="New session" if capped else "Show runs",
        act="research.new" if capped else "",
        topic="experiments",
    )

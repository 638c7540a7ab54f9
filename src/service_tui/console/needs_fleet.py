"""Needs of agents: approvals, skills, budgets, claims, experiments. Pure."""

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
from service_tui.desk.slices.supervision import LeashView, SkillRunState, pending_text
from service_tui.desk.state import DeskState
from service_tui.terms import AgentStatus, SessionState, Venue, agent_with
from service_tui.units import Micros, Timestamp

HELD: Final = "held "
"""Prefix of the key of a pending trade; its id follows."""

URGENT_S: Final = 60.0
"""A pending trade with less time left than this is urgent."""


def of_fleet(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Rows about agents, their skills and their experiments."""
    yield from _approvals(state, now)
    for need in state.supervision.needs:
        yield _of_agent(need, now)
    yield from _crashes(state)
    yield from _budgets(state)
    for agent in () if state.fleet is None else state.fleet.agents:
        yield from _agent(agent, state)
    for session in state.research.sessions:
        if session.state is not SessionState.RUNNING:
            yield _session(session, state)


def _approvals(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Trades that wait for the person's approval."""
    for trade in state.supervision.held:
        left = trade.left_s(now)
        price = trade.price or trade.average
        text = without_amounts(pending_text(trade), masked=is_private(state))
        worth = trade.amount or (None if price is None else Micros(round(trade.shares * price)))
        yield Need(
            key=f"{HELD}{trade.held_id}",
            tone="breach" if left < URGENT_S else "warn",
            glyph="?",
            word="approve",
            what=f"{trade.agent_name}: {text}",
            figure=Text(formats.duration(left), "warn"),
            otherwise="refused",
            screen="agents",
            row=trade.agent_id,
            is_real=trade.venue is not Venue.SIM,
            left_s=left,
            money=worth,
            verb="Decide",
            act="app.approvals",
        )


_KINDS: Final = {
    AgentNeedKind.SIGNAL: "signals of agents",
    AgentNeedKind.REDEEMABLE: "to redeem by agents",
}
"""Kinds of alert that the agent itself settles: several of them become one row."""

_LOOK_OF: Final = {
    AgentNeedKind.ALERT: ("breach", "▼", "alert", "its agent or the service exits"),
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
    until = Text("" if left is None else formats.duration(left), "bold breach" if last else "warn")
    return Need(
        key=f"agent {need.key}",
        tone=tone,
        glyph="!" if last else glyph,
        word="LAST 10m" if last else word,
        what=f"{need.agent_name}: {about}",
        figure=until,
        otherwise=otherwise,
        screen="agents",
        row=need.agent_id,
        kind=_KINDS.get(need.kind, ""),
        is_dismissable=left is None,
        left_s=left,
        money=need.amount,
        verb="Show agent",
        act="agents.open",
        is_last=last,
    )


def _crashes(state: DeskState) -> Iterator[Need]:
    """Skills that crashed for good."""
    for run in state.supervision.runs:
        if run.state is SkillRunState.CRASHED:
            yield Need(
                key=f"run {run.run_id} {run.ended_at}",
                tone="loss",
                glyph="✗",
                word="crashed",
                what=f"{run.skill_slug} as {run.agent_name}: {run.why}",
                figure=Text(),
                otherwise="stays stopped",
                screen="agents",
                row=run.agent_id,
                note="no restarts left",
                is_dismissable=True,
                money=run.budget,
                verb="Restart",
                act="agents.again",
            )


def _budgets(state: DeskState) -> Iterator[Need]:
    """Budgets of leashes, and of skills, that are nearly spent."""
    names = (
        {} if state.fleet is None else {agent.agent_id: agent.name for agent in state.fleet.agents}
    )
    for leash in state.supervision.leashes:
        if leash.used is not None and leash.used > WARN_FROM:
            yield _budget(leash, names.get(leash.agent_id, leash.agent_id))
    rails = state.buy_limits
    most = None if rails is None else rails.skill_day_max
    for skill in () if rails is None or not most else rails.skills:
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
            )


def _spent(used: float) -> str:
    return "spent" if used >= SPENT else "nearly spent"


def _refused(used: float) -> str:
    until = "until 00:00 UTC" if used >= SPENT else "once it is spent"
    return f"buys are refused {until}"


def _budget(leash: LeashView, subject: str) -> Need:
    who, used = agent_with(subject, leash.skill_slug), leash.used or 0.0
    return Need(
        key=f"budget {leash.agent_id} {leash.skill_slug}",
        tone="warn",
        glyph="▲",
        word="budget",
        what=f"{who}: daily budget {_spent(used)}",
        figure=formats.percent(leash.used, 0),
        otherwise=_refused(used),
        screen="agents",
        row=leash.agent_id,
        money=leash.budget,
        verb="Edit leash",
        act="agents.leash",
    )


def _agent(agent: AgentView, state: DeskState) -> Iterator[Need]:
    """An agent that is unclaimed, or out of money."""
    if agent.status is AgentStatus.BROKE:
        yield Need(
            key=f"broke {agent.agent_id}",
            tone="loss",
            glyph="✗",
            word="broke",
            what=f"{agent.name} is out of cash",
            figure=formats.money(agent.cash, masked=is_private(state)),
            otherwise="only sells",
            screen="agents",
            row=agent.agent_id,
            is_dismissable=True,
            money=agent.equity,
            verb="Show agent",
        )
    elif not agent.claimed and not agent.is_own:
        yield Need(
            key=f"unclaimed {agent.agent_id}",
            tone="accent",
            glyph="○",
            word="unclaimed",
            what=f"{agent.name} is unclaimed (paper trading only)",
            figure=Text(),
            otherwise="trades with play money only",
            screen="agents",
            row=agent.agent_id,
            kind="unclaimed agents",
            is_dismissable=True,
            money=agent.equity,
            verb="Claim",
            act="agents.claim",
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
        figure=formats.count(session.count),
        otherwise="no more experiments",
        screen="research",
        row=None if newest is None else newest.key,
        note="experiments so far",
        is_dismissable=True,
        verb="New session" if capped else "Show runs",
        act="research.new" if capped else "",
    )

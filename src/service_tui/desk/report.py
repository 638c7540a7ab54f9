"""A day's summary of each agent: what it traded, why, what came of it, and what held it back. Pure.

Knows the state. Must not know files, the network or time. A day begins at midnight UTC.
Used by the exports, by the page of the console and by the command line.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from service_tui.desk.agent_health import leash_mode, spend_of
from service_tui.desk.fleet import AgentView
from service_tui.desk.records_fleet import (
    AgentDetailView,
    HeldView,
    LeashView,
    ReasonedTradeView,
    SkillResultView,
    SkillRunView,
)
from service_tui.desk.state import DeskState
from service_tui.terms import Action
from service_tui.units import Micros, Timestamp, decimal

DAY_S: Final = 86_400.0
REASONS_MAX: Final = 3

Pasts = Mapping[str, AgentDetailView]
"""What agents traded, by their ids, as far as it was read."""

Cell = str | float | int | None


@dataclass(frozen=True, slots=True)
class DayReport:
    """One agent's day. Money in micros; `problem` says why its trades are not known.

    `bought` is what its buys cost, `sold` what its sales and payouts brought, `realized` their P&L
    as far as it is known. `spent` is what counts against the budget that binds, and that budget,
    None where there is none; `leash` is the strictest that binds. `decisions` counts, by
    word, what became of trades that waited.
    """

    agent: AgentView
    since: Timestamp
    trades: tuple[ReasonedTradeView, ...]
    buys: int
    sales: int
    bought: Micros
    sold: Micros
    realized: Micros
    best: ReasonedTradeView | None
    worst: ReasonedTradeView | None
    skills: tuple[SkillResultView, ...]
    decisions: Mapping[str, int]
    waiting: int
    leash: LeashView | None
    runs: tuple[SkillRunView, ...]
    problem: str = ""
    spent: tuple[Micros, Micros | None] = (Micros(0), None)


def midnight(now: Timestamp) -> Timestamp:
    """When the day began."""
    return Timestamp(now // DAY_S * DAY_S)


def day_reports(state: DeskState, now: Timestamp, pasts: Pasts) -> tuple[DayReport, ...]:
    """The day of every agent, those with the largest day's P&L, either way, first."""
    fleet = state.fleet
    agents = () if fleet is None else fleet.agents
    found = [_report(agent, state, now, pasts) for agent in agents]
    return tuple(sorted(found, key=lambda one: -abs(one.agent.day_pnl)))


def known_pasts(state: DeskState) -> dict[str, AgentDetailView]:
    """What the state itself knows: of the agent in focus its trades; of the own agent the own."""
    found: dict[str, AgentDetailView] = {}
    if state.account is not None:
        own = tuple(ReasonedTradeView(trade, trade.skill_slug) for trade in state.trades)
        found[state.account.agent_id] = AgentDetailView(state.account.agent_id, own, ())
    found |= {past.agent_id: past for past in state.supervision.pasts}
    if state.supervision.detail is not None and state.supervision.detail.agent_id not in found:
        found[state.supervision.detail.agent_id] = state.supervision.detail
    return found


def _report(agent: AgentView, state: DeskState, now: Timestamp, pasts: Pasts) -> DayReport:
    since, view, past = midnight(now), state.supervision, pasts.get(agent.agent_id)
    trades = tuple(one for one in (() if past is None else past.trades) if one.trade.at >= since)
    buys = [one for one in trades if one.trade.action == Action.BUY.value]
    ends = [one for one in trades if one.trade.action != Action.BUY.value]
    decided = [one for one in trades if one.trade.pnl is not None]
    ranked = sorted(decided, key=lambda one: one.trade.pnl or 0)
    return DayReport(
        agent=agent,
        since=since,
        trades=trades,
        buys=len(buys),
        sales=len(ends),
        bought=Micros(sum(one.trade.cost for one in buys)),
        sold=Micros(sum(one.trade.cost for one in ends)),
        realized=Micros(sum(one.trade.pnl or 0 for one in ends)),
        best=ranked[-1] if ranked and (ranked[-1].trade.pnl or 0) > 0 else None,
        worst=ranked[0] if ranked and (ranked[0].trade.pnl or 0) < 0 else None,
        skills=_skills(trades, () if past is None else past.trades),
        decisions=_decisions(view.decided, agent.agent_id, since),
        waiting=sum(held.agent_id == agent.agent_id for held in view.held),
        leash=leash_mode(agent, view),
        spent=spend_of(agent, view),
        runs=view.runs_of(agent.agent_id),
        problem=past.problem if past is not None else "its trades were not read",
    )


def _skills(
    trades: Sequence[ReasonedTradeView], known: Sequence[ReasonedTradeView]
) -> tuple[SkillResultView, ...]:
    """The day's trades by their skills, the busiest first; its whole past is elsewhere."""
    by_slug: dict[str, list[ReasonedTradeView]] = {}
    for one in trades:
        by_slug.setdefault(_slug_of(one, known), []).append(one)
    found: list[SkillResultView] = []
    for slug, own in by_slug.items():
        pnls = [one.trade.pnl for one in own if one.trade.pnl is not None]
        wins, losses = sum(pnl > 0 for pnl in pnls), sum(pnl < 0 for pnl in pnls)
        found.append(SkillResultView(slug, len(own), Micros(sum(pnls)), wins, losses))
    return tuple(sorted(found, key=lambda one: (-one.trades_count, one.skill_slug)))


def _slug_of(one: ReasonedTradeView, known: Sequence[ReasonedTradeView]) -> str:
    """The skill whose trade it is: of a sale or payout without one, the last buyer of its side."""
    if one.skill_slug or one.trade.action == Action.BUY.value:
        return one.skill_slug
    trade = one.trade
    place = (trade.market_id, trade.side, trade.venue)
    buys = [
        other
        for other in known
        if other.trade.action == Action.BUY.value
        and other.trade.at <= trade.at
        and (other.trade.market_id, other.trade.side, other.trade.venue) == place
    ]
    return max(buys, key=lambda other: other.trade.at).skill_slug if buys else ""


def _decisions(decided: Sequence[HeldView], agent_id: str, since: Timestamp) -> dict[str, int]:
    words = (
        held.status.value
        for held in decided
        if held.agent_id == agent_id and (held.decided_at or since) >= since
    )
    return dict(Counter(words))


# -- as rows ------------------------------------------------------------------------------------


def report_rows(reports: Sequence[DayReport]) -> list[Mapping[str, Cell]]:
    """One row an agent, for a spreadsheet."""
    return [
        {
            "day": f"{datetime.fromtimestamp(one.since, UTC):%Y-%m-%d}",
            "agent": one.agent.agent_id,
            "name": one.agent.name,
            "status": "paused" if one.agent.paused else one.agent.status.value,
            "plan": one.agent.plan.value,
            "leash": "free" if one.leash is None else one.leash.mode.value,
            "equity": decimal(one.agent.equity),
            "day_pnl": decimal(one.agent.day_pnl),
            "total_pnl": decimal(one.agent.total_pnl),
            "positions": one.agent.positions_count,
            "buys": one.buys,
            "bought": decimal(one.bought),
            "sales": one.sales,
            "sold": decimal(one.sold),
            "realized": decimal(one.realized),
            "best": _pnl_of(one.best),
            "worst": _pnl_of(one.worst),
            "spent_today": None if one.leash is None else decimal(one.spent[0]),
            "budget": None if one.spent[1] is None else decimal(one.spent[1]),
            "waiting": one.waiting,
            **{word: one.decisions.get(word, 0) for word in ("approved", "refused", "expired")},
            "skills": ", ".join(f"{run.skill_slug} {run.state.value}" for run in one.runs),
            "problem": one.problem,
        }
        for one in reports
    ]


def _pnl_of(one: ReasonedTradeView | None) -> float | None:
    return None if one is None or one.trade.pnl is None else decimal(one.trade.pnl)


# -- as Markdown --------------------------------------------------------------------------------


def report_markdown(reports: Sequence[DayReport]) -> str:
    """The day of each agent, in sentences that a person reads or sends on."""
    return "\n".join(line for one in reports for line in _section(one))


def _section(one: DayReport) -> list[str]:
    lines = [f"## {plain(one.agent.name)}", ""]
    if one.problem:
        lines.append(f"- Not known: {plain(one.problem)}")
    else:
        traded = f"{one.buys} buys for {_sum(one.bought)}, {one.sales} sales for {_sum(one.sold)}"
        lines.append(f"- Traded: {traded}; realized {_sum(one.realized, signed=True)}")
    lines += [f"- {label}: {_trade(trade)}" for label, trade in _ends_of(one)]
    lines += [
        f"- Skill {plain(skill.skill_slug or 'none named')}: {_skill(skill)}"
        for skill in one.skills
    ]
    if one.decisions or one.waiting:
        words = [f"{count} {word}" for word, count in sorted(one.decisions.items())]
        lines.append(f"- Asked: {', '.join([*words, f'{one.waiting} waiting'])}")
    spent, budget = one.spent
    if one.leash is not None and budget is not None:
        lines.append(f"- Spent {_sum(spent)} of {_sum(budget)} a day")
    lines += [
        f"- Run {plain(run.skill_slug)}: {run.state.value} {plain(run.why)}".rstrip()
        for run in one.runs
    ]
    for trade in one.trades[:REASONS_MAX]:
        if trade.trade.reasoning:
            lines.append(f"- It said: {plain(trade.trade.reasoning)}")
    return [*lines, ""]


def _ends_of(one: DayReport) -> list[tuple[str, ReasonedTradeView]]:
    ends = (("Best", one.best), ("Worst", one.worst))
    return [(label, trade) for label, trade in ends if trade is not None]


def _trade(one: ReasonedTradeView) -> str:
    trade = one.trade
    pnl = _sum(trade.pnl or Micros(0), signed=True)
    return f"{pnl}, {trade.action} {trade.side.value.upper()} {plain(trade.question)}"


def _skill(skill: SkillResultView) -> str:
    said = [f"{skill.trades_count} trades", f"P&L {_sum(skill.pnl, signed=True)}"]
    if skill.win_rate is not None:
        said.append(f"{skill.win_rate:.0%} won")
    return ", ".join(said)


def _sum(amount: Micros, *, signed: bool = False) -> str:
    return f"{decimal(amount):+,.2f}" if signed else f"{decimal(amount):,.2f}"


def plain(cell: Cell) -> str:
    """Text in Markdown: what would end a cell, begin a line or mark it up stands as it is."""
    if isinstance(cell, float):
        return f"{cell:,.2f}"
    text = "" if cell is None else " ".join(str(cell).split())
    return "".join(f"\\{letter}" if letter in "\\|`*_[]<>#" else letter for letter in text)

"""What the desk knows as tables for spreadsheets and programs: CSV, JSON, and a day as Markdown.

Knows the state. Must not know files, the network or time. Pure.
Used by the handler of exports.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from service_tui.desk.records_fleet import ReasonedTradeView
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp, decimal

Cell = str | float | int | None
Row = Mapping[str, Cell]
Rows = Sequence[Row]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of a text that a spreadsheet would calculate. Source: failures, T-19."""


def safe_cell(value: Cell) -> Cell:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    if not isinstance(value, str):
        return "" if value is None else value
    # Blanks before the sign do not stop every spreadsheet.
    is_formula = value.startswith(_FORMULA) or value.lstrip().startswith(_FORMULA)
    return f"'{value}" if is_formula else value


def as_csv(rows: Rows) -> str:
    """Rows under a line of names; nothing at all where there are none."""
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0].keys())
    writer.writerows([safe_cell(cell) for cell in row.values()] for row in rows)
    return text.getvalue()


def as_json(rows: Rows) -> str:
    """Rows as a list of objects, as they are."""
    return json.dumps([dict(row) for row in rows], indent=1, allow_nan=False) + "\n"


def _at(at: Timestamp | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _money(amount: Micros | None) -> float | None:
    return None if amount is None else decimal(amount)


def trade_rows(state: DeskState) -> Rows:
    """The own trades, and those of the agent in focus, with their reasons."""
    detail = state.supervision.detail
    own = [ReasonedTradeView(trade) for trade in state.trades]
    others = [] if detail is None else list(detail.trades)
    name = "" if state.account is None else state.account.agent_id
    return [
        *(_trade_row(name, one) for one in own),
        *(_trade_row("" if detail is None else detail.agent_id, one) for one in others),
    ]


def _trade_row(agent_id: str, one: ReasonedTradeView) -> Row:
    trade = one.trade
    return {
        "agent": agent_id,
        "trade": trade.trade_id,
        "at": _at(trade.at),
        "market": trade.market_id,
        "question": trade.question,
        "venue": trade.venue.value,
        "side": trade.side.value,
        "action": trade.action,
        "shares": _money(trade.shares),
        "cost": _money(trade.cost),
        "average": trade.average,
        "pnl": _money(trade.pnl),
        "status": trade.status.value,
        "skill": one.skill_slug,
        "source": trade.source,
        "reasoning": trade.reasoning,
        "signal_data": json.dumps(dict(one.signal_data), sort_keys=True) if one.signal_data else "",
    }


def position_rows(state: DeskState) -> Rows:
    """What is held, and what was."""
    return [
        {
            "market": held.market_id,
            "question": held.question,
            "venue": held.venue.value,
            "side": held.side.value,
            "status": held.status.value,
            "shares": _money(held.shares),
            "cost": _money(held.cost),
            "average": held.average,
            "mark_price": held.mark_price,
            "mark_value": _money(held.mark_value),
            "exit_value": _money(held.exit_value),
            "unrealized": _money(held.unrealized),
            "realized": _money(held.realized),
            "outcome": None if held.outcome is None else str(held.outcome),
        }
        for held in (*state.positions, *state.closed)
    ]


def alert_rows(state: DeskState) -> Rows:
    """Alerts of monitors, waiting and ended."""
    return [
        {
            "alert": alert.alert_id,
            "at": _at(alert.breached_at),
            "market": alert.market_id,
            "question": alert.question,
            "side": alert.side.value,
            "reason": alert.reason,
            "trigger_price": alert.trigger_price,
            "shares": _money(alert.shares),
            "state": alert.state.value,
        }
        for alert in state.risk.alerts
    ]


def held_rows(state: DeskState) -> Rows:
    """Trades that waited for the person, and how they were decided."""
    view = state.supervision
    return [
        {
            "held": held.held_id,
            "agent": held.agent_id,
            "name": held.agent_name,
            "at": _at(held.created_at),
            "market": held.market_id,
            "question": held.question,
            "side": held.side.value,
            "amount": _money(held.amount),
            "skill": held.skill_slug,
            "reasoning": held.reasoning,
            "status": held.status.value,
            "decided_at": _at(held.decided_at),
            "decided_amount": _money(held.decided_amount),
            "reason": held.reason,
            "trade": held.trade_id,
        }
        for held in (*view.held, *view.decided)
    ]


def agent_rows(state: DeskState) -> Rows:
    """A day's summary, one row an agent."""
    view, fleet = state.supervision, state.fleet
    rows: list[Row] = []
    for agent in () if fleet is None else fleet.agents:
        leash = view.leash_of(agent.agent_id)
        runs = view.runs_of(agent.agent_id)
        fills = [fill for fill in state.fills if fill.agent_id == agent.agent_id]
        rows.append({
            "agent": agent.agent_id,
            "name": agent.name,
            "status": "paused" if agent.paused else agent.status.value,
            "plan": agent.plan.value,
            "leash": "free" if leash is None else leash.mode.value,
            "equity": _money(agent.equity),
            "day_pnl": _money(agent.day_pnl),
            "total_pnl": _money(agent.total_pnl),
            "positions": agent.positions_count,
            "trades": agent.trades_count,
            "last_trade": _at(agent.last_trade_at),
            "spent_today": None if leash is None else _money(leash.spent),
            "budget": None if leash is None else _money(leash.budget),
            "skills": ", ".join(f"{run.skill_slug} {run.state.value}" for run in runs),
            "bought_and_sold_lately": len(fills),
        })
    return rows


TABLES: Final[Mapping[str, Callable[[DeskState], Rows]]] = {
    "agents": agent_rows,
    "trades": trade_rows,
    "positions": position_rows,
    "alerts": alert_rows,
    "approvals": held_rows,
}
"""What can be exported, by the name of its file."""


def day_in_markdown(state: DeskState, now: Timestamp) -> str:
    """The day of all agents, for a person to read or to send."""
    rows = agent_rows(state)
    names = ("name", "status", "leash", "equity", "day_pnl", "total_pnl", "positions", "skills")
    lines = [
        f"# Agents on {datetime.fromtimestamp(now, UTC):%Y-%m-%d}",
        "",
        f"| {' | '.join(names)} |",
        f"|{'---|' * len(names)}",
        *(f"| {' | '.join(_plain(row[name]) for name in names)} |" for row in rows),
        "",
    ]
    waiting = len(state.supervision.held)
    return "\n".join([*lines, f"{waiting} trades wait for approval.", ""])


def _plain(cell: Cell) -> str:
    """A cell of a table in Markdown: what would end it or mark it up stands as it is."""
    if isinstance(cell, float):
        return f"{cell:,.2f}"
    text = "" if cell is None else str(cell)
    return "".join(f"\\{letter}" if letter in "\\|`*_[]<>" else letter for letter in text)

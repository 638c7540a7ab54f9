"""Tables of the desk's data for spreadsheets and programs: CSV, JSON, a day as Markdown. Pure."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from service_tui.desk.audit.report import DayReport, Pasts, day_reports
from service_tui.desk.audit.report_rows import Cell, report_markdown, report_rows, report_table
from service_tui.desk.freshness import is_answered
from service_tui.desk.slices.agents import AgentDetailView, ReasonedTradeView
from service_tui.desk.slices.own_notes import OwnNote
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.risk import AlertView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF
from service_tui.units import Micros, Timestamp, decimal

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


def text_of_moment(at: Timestamp | None) -> str | None:
    """A moment as ISO 8601 in UTC, to the second."""
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _money(amount: Micros | None) -> float | None:
    return None if amount is None else decimal(amount)


def trade_rows(state: DeskState, pasts: Pasts) -> Rows:
    """Trades of every agent that were read, with their reasons; the own trades first."""
    own = own_id(state)
    agents = () if state.fleet is None else state.fleet.agents
    names = {one.agent_id: one.name for one in agents}
    first = sorted(pasts.values(), key=lambda past: past.agent_id != own)
    return [
        _trade_row(past.agent_id, names.get(past.agent_id, ""), one)
        for past in first
        for one in past.trades
    ]


def own_id(state: DeskState) -> str:
    """Id of the person's own agent; empty if it is not known."""
    if state.account is not None:
        return state.account.agent_id
    agents = () if state.fleet is None else state.fleet.agents
    return next((one.agent_id for one in agents if one.is_own), "")


def _trade_row(agent_id: str, name: str, one: ReasonedTradeView) -> Row:
    trade = one.trade
    return {
        "agent": agent_id,
        "trade": trade.trade_id,
        "at": text_of_moment(trade.at),
        "market": trade.market_id,
        "question": trade.question,
        "venue": trade.venue.value,
        "money": MONEY_OF[trade.venue],
        "side": trade.side.value,
        "action": trade.action,
        "deal": trade.deal.value,
        "shares": _money(trade.shares),
        "cost": _money(trade.cost),
        "fee": _money(trade.fee),
        "average": trade.average,
        "pnl": _money(trade.pnl),
        "status": trade.status.value,
        "skill": one.skill_slug,
        "source": trade.source,
        "reasoning": trade.reasoning,
        "signal_data": _signal_data(one),
        "agent_name": name,
    }


def _signal_data(trade: ReasonedTradeView) -> str:
    data = dict(trade.signal_data) or dict(trade.trade.signal_data)
    return json.dumps(data, sort_keys=True) if data else ""


def position_rows(state: DeskState, pasts: Pasts) -> Rows:
    """Open and past positions of every agent; the own positions first."""
    own = own_id(state)
    held = {own: (*state.positions, *state.closed, *state.on_venues)}
    # The state keeps the newest of the own ones that ended; what was read for an export is whole.
    read = [one for one in pasts.values() if one.agent_id != own or one.positions]
    held |= {one.agent_id: _at_one_moment(state, one, own) for one in read}
    return [position_row(agent_id, one) for agent_id, found in held.items() for one in found]


def _at_one_moment(state: DeskState, past: AgentDetailView, own: str) -> tuple[PositionView, ...]:
    """History of an agent; the own agent's open positions match the screens."""
    if past.agent_id != own:
        return past.positions
    shown = {one.key: one for one in (*state.positions, *state.on_venues) if not one.is_closed}
    return tuple(one if one.is_closed else shown.get(one.key, one) for one in past.positions)


def position_row(agent_id: str, position: PositionView) -> Row:
    """A position, in the money of its venue."""
    return {
        "agent": agent_id,
        "market": position.market_id,
        "question": position.question,
        "venue": position.venue.value,
        "money": MONEY_OF[position.venue],
        "side": position.side.value,
        "status": position.end_text,
        "shares": _money(position.shares),
        "cost": _money(position.cost),
        "average": position.average,
        "mark_price": position.mark_price,
        "mark_value": _money(position.mark_value),
        "exit_value": _money(position.exit_value),
        "unrealized": _money(position.unrealized),
        "realized": _money(position.realized),
        "to_redeem": _money(position.to_redeem),
        "outcome": None if position.outcome is None else position.outcome.word.lower(),
    }


def alert_rows(state: DeskState) -> Rows:
    """Alerts of monitors, waiting and ended."""
    return [alert_row(alert) for alert in state.risk.alerts]


def alert_row(alert: AlertView) -> Row:
    """An alert of a monitor."""
    return {
        "alert": alert.alert_id,
        "at": text_of_moment(alert.breached_at),
        "market": alert.market_id,
        "question": alert.question,
        "venue": alert.venue.value,
        "side": alert.side.value,
        "reason": alert.reason,
        "trigger_price": alert.trigger_price,
        "shares": _money(alert.shares),
        "state": alert.state.value,
    }


def pending_trade_rows(state: DeskState) -> Rows:
    """Trades that waited for the person, and how they were decided."""
    view = state.supervision
    return [
        {
            "held": trade.pending_id,
            "agent": trade.agent_id,
            "name": trade.agent_name,
            "at": text_of_moment(trade.created_at),
            "market": trade.market_id,
            "question": trade.question,
            "side": trade.side.value,
            "venue": trade.venue.value,
            "money": MONEY_OF[trade.venue],
            "amount": _money(trade.amount),
            "skill": trade.skill_slug,
            "reasoning": trade.reasoning,
            "status": trade.status.value,
            "decided_at": text_of_moment(trade.decided_at),
            "decided_amount": _money(trade.decided_amount),
            "reason": trade.reason,
            "trade": trade.trade_id,
        }
        for trade in (*view.pending_trades, *view.decided)
    ]


def experiment_rows(state: DeskState) -> Rows:
    """Every experiment that is known, of every agent."""
    return [
        {
            "agent": one.agent,
            "skill": one.skill,
            "session": one.session,
            "segment": one.segment,
            "number": one.number,
            "at": text_of_moment(one.at),
            "status": one.status.value,
            "metric": one.metric,
            "metric_name": one.metric_name,
            "unit": one.metric_unit,
            "direction": one.direction.value,
            "change": one.change,
            "is_best": str(one.is_best).lower(),
            "commit": one.commit,
            "description": one.description,
            "metrics": json.dumps(dict(one.metrics), sort_keys=True) if one.metrics else "",
        }
        for one in state.research.experiments
    ]


def agent_rows(state: DeskState, pasts: Pasts, now: Timestamp) -> Rows:
    """A day's summary, a row for each agent and money."""
    return report_rows(day_reports(state, now, pasts))


TABLES: Final[Mapping[str, Callable[[DeskState], Rows]]] = {
    "alerts": alert_rows,
    "approvals": pending_trade_rows,
    "experiments": experiment_rows,
}
"""What can be exported of the state alone, by the name of its file."""


_SOURCES: Final[Mapping[str, tuple[Topic, ...]]] = {
    "positions": (Topic.POSITIONS,),
    "alerts": (Topic.MONITORS, Topic.BRIEFING),
    "approvals": (Topic.FLEET,),
    "experiments": (Topic.RESEARCH,),
}
"""Topics by table: a table is known once one of them was read. Trades are read by agent instead."""


def note_rows(notes: Iterable[OwnNote]) -> Rows:
    """A person's own notes, in their order."""
    return [
        {
            "at": text_of_moment(note.at),
            "on": note.noted.on.value,
            "key": note.noted.key,
            "market": note.noted.market_id or None,
            "question": note.noted.about,
            "text": note.text,
            "person": note.person,
        }
        for note in notes
    ]


def files_of(
    state: DeskState, now: Timestamp, pasts: Pasts, notes: Iterable[OwnNote] = ()
) -> dict[str, str]:
    """Every file of an export, by its name; `notes` are the person's own."""
    world = world_word(state)
    day = [{**row, "world": world} for row in agent_rows(state, pasts, now)]
    tables = {
        "agents": day,
        "trades": trade_rows(state, pasts),
        "positions": position_rows(state, pasts),
        **{name: table(state) for name, table in TABLES.items()},
        "notes": note_rows(notes),
    }
    unread = unread_tables(state)
    left_out = f"\nUnknown: {', '.join(unread)}.\n" if unread else ""
    files = {"day.md": day_in_markdown(state, now, pasts) + left_out, "day.csv": as_csv(day)}
    for name, rows in tables.items():
        # An empty file means that there is none.
        if rows or name not in unread:
            named = [{**row, "world": world} for row in rows]
            files |= {f"{name}.csv": as_csv(named), f"{name}.json": as_json(named)}
    return files


def world_word(state: DeskState) -> str | None:
    """What the rows of a state are of: an invented world, or a history; None of a real service."""
    if state.world is None:
        return None
    return f"history {state.world.history}" if state.world.history else "invented"


def unread_tables(state: DeskState) -> tuple[str, ...]:
    """Names of tables that the service has not answered: their emptiness means nothing."""
    return tuple(
        name
        for name, sources in _SOURCES.items()
        if not any(is_answered(state, topic) for topic in sources)
    )


def day_in_markdown(state: DeskState, now: Timestamp, pasts: Pasts, agent: str = "") -> str:
    """The day of all agents, or of one, for a person to read or to send."""
    reports = [one for one in day_reports(state, now, pasts) if _is_wanted(one, agent)]
    waiting = len(state.supervision.pending_trades)
    is_known = is_answered(state, Topic.FLEET)
    lines = [
        f"# Agents on {datetime.fromtimestamp(now, UTC):%Y-%m-%d}",
        "",
        report_table(reports),
        "",
        f"{waiting} {'trade needs' if waiting == 1 else 'trades need'} approval."
        if is_known
        else "Trades that need approval: unknown.",
        "",
        report_markdown(reports),
    ]
    return "\n".join(lines)


def _is_wanted(report: DayReport, agent: str) -> bool:
    return not agent or agent in {report.agent.agent_id, report.agent.name}

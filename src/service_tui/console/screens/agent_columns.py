"""The columns of the agents' table, and of the trades below it.

Knows the desk's records and the formats. Must not know a widget but the tables' columns.
Used by the agents screen.
"""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.screens.hand_text import leash_text, skill_text, spend_text
from service_tui.console.widgets.columns import Column
from service_tui.desk.fleet import AgentView, FillView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, AgentStatus, Side, Venue
from service_tui.units import Timestamp

_STATUSES: Final = {
    AgentStatus.UNCLAIMED: ("○", "muted"),
    AgentStatus.ACTIVE: ("●", "profit"),
    AgentStatus.BROKE: ("✗", "loss"),
    AgentStatus.SUSPENDED: ("■", "breach"),
}


def status_text(agent: AgentView) -> Text:
    """How an agent stands, in a sign and a word; what its operator did to it goes first."""
    if agent.paused and not agent.suspended:
        return Text("‖ paused", "warn")
    glyph, tone = _STATUSES.get(agent.status, ("?", "muted"))
    return Text(f"{glyph} {agent.status.value}", tone)


def name_text(agent: AgentView) -> Text:
    """What an agent is called; the person's own is marked."""
    name = formats.plain(agent.name, 60)
    return Text.assemble(name, (" you", "accent")) if agent.is_own else name


def agent_columns(
    state: Callable[[], DeskState], now: Callable[[], Timestamp]
) -> tuple[Column[AgentView], ...]:
    """The columns, from left to right; `state` says what is masked, `now` is wall time."""

    def masked() -> bool:
        return is_private(state())

    return (
        Column[AgentView](
            "name", "agent", 10, name_text, sort_key=lambda row: row.name.casefold(), flex=True
        ),
        Column[AgentView](
            "status", "status", 11, status_text, sort_key=lambda row: status_text(row).plain[2:]
        ),
        Column[AgentView](
            "plan", "plan", 5, lambda row: row.plan.value, sort_key=lambda row: row.plan.value
        ),
        Column[AgentView](
            "equity",
            "equity",
            10,
            lambda row: formats.money(row.equity, masked=masked()),
            sort_key=lambda row: row.equity,
            numeric=True,
        ),
        Column[AgentView](
            "today",
            "today",
            9,
            lambda row: formats.pnl(row.day_pnl, masked=masked()),
            sort_key=lambda row: row.day_pnl,
            numeric=True,
        ),
        Column[AgentView](
            "pnl",
            "P&L",
            9,
            lambda row: formats.pnl(row.total_pnl, masked=masked()),
            sort_key=lambda row: row.total_pnl,
            numeric=True,
        ),
        Column[AgentView](
            "last",
            "last",
            5,
            lambda row: formats.age(row.last_trade_at, now()),
            sort_key=lambda row: row.last_trade_at,
            align="right",
            glows=False,
        ),
        Column[AgentView](
            "trades",
            "trades",
            6,
            lambda row: formats.count(row.trades_count),
            sort_key=lambda row: row.trades_count,
            numeric=True,
            tier=88,
        ),
        Column[AgentView](
            "claimed",
            "claimed",
            7,
            lambda row: "yes" if row.claimed else "no",
            sort_key=lambda row: row.claimed,
            tier=98,
        ),
        Column[AgentView](
            "cash",
            "cash",
            10,
            lambda row: formats.money(row.cash, masked=masked()),
            sort_key=lambda row: row.cash,
            numeric=True,
            tier=110,
        ),
        Column[AgentView](
            "held",
            "held",
            5,
            lambda row: formats.count(row.positions_count),
            sort_key=lambda row: row.positions_count,
            numeric=True,
            tier=118,
        ),
        Column[AgentView](
            "leash",
            "leash",
            9,
            lambda row: leash_text(state().supervision.leash_of(row.agent_id)),
            sort_key=lambda row: leash_text(state().supervision.leash_of(row.agent_id)).plain,
            tier=128,
        ),
        Column[AgentView](
            "skill",
            "skill",
            18,
            lambda row: skill_text(row, state()),
            sort_key=lambda row: skill_text(row, state()).plain,
            tier=148,
        ),
        Column[AgentView](
            "spent",
            "spent",
            9,
            lambda row: spend_text(state().supervision.leash_of(row.agent_id), masked=masked()),
            align="right",
            tier=160,
        ),
    )


def did_text(fill: FillView) -> Text:
    """What was done, in two words; the side in its colour."""
    verb = "buy " if fill.action is Action.BUY else "sell"
    tone = "yes" if fill.side is Side.YES else "no"
    return Text.assemble(f"{verb} ", (fill.side.value.upper(), tone))


def fill_columns(state: Callable[[], DeskState]) -> tuple[Column[FillView], ...]:
    """The columns of the trades; `state` says what is masked."""

    def masked() -> bool:
        return is_private(state())

    return (
        Column[FillView](
            "time",
            "time",
            8,
            lambda row: formats.clock_time(row.at),
            sort_key=lambda row: row.seq,
            numeric=True,
            glows=False,
        ),
        Column[FillView](
            "agent",
            "agent",
            12,
            lambda row: formats.plain(row.agent_name, 40),
            sort_key=lambda row: row.agent_name.casefold(),
        ),
        Column[FillView]("did", "did", 8, did_text),
        Column[FillView](
            "venue",
            "venue",
            9,
            lambda row: Text(row.venue.value, "muted" if row.venue is Venue.SIM else "accent"),
            sort_key=lambda row: row.venue.value,
            tier=90,
        ),
        Column[FillView](
            "money",
            "money",
            9,
            lambda row: formats.money(row.money, masked=masked()),
            sort_key=lambda row: row.money,
            numeric=True,
        ),
        Column[FillView](
            "price", "price", 6, lambda row: formats.price(row.price, aligned=True), numeric=True
        ),
        Column[FillView](
            "market", "market", 16, lambda row: formats.plain(row.question), flex=True
        ),
        Column[FillView](
            "pnl",
            "P&L",
            9,
            lambda row: (
                Text() if row.action is Action.BUY else formats.pnl(row.realized, masked=masked())
            ),
            numeric=True,
            tier=100,
        ),
        Column[FillView]("source", "by", 14, lambda row: formats.plain(row.source, 40), tier=140),
    )

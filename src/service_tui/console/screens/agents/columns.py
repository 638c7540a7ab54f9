"""The columns of the agents' table, and of the trades below it."""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.parts.standard_columns import amount_column
from service_tui.console.screens.agents.hand_text import leash_text, skill_text, spend_text
from service_tui.console.widgets.columns import Column
from service_tui.desk.agents.health import (
    RANKS,
    Health,
    Told,
    health_of,
    last_action,
    leash_mode,
    spend_of,
)
from service_tui.desk.freshness import leashes_known
from service_tui.desk.slices.agents import AgentView, FillView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, AgentStatus, Side, Venue
from service_tui.units import Micros, Timestamp, decimal

_STATUSES: Final = {
    AgentStatus.UNCLAIMED: ("○", "muted"),
    AgentStatus.ACTIVE: ("●", "profit"),
    AgentStatus.BROKE: ("✗", "loss"),
    AgentStatus.SUSPENDED: ("■", "breach"),
}


_HEALTHS: Final = {
    Health.SUSPENDED: ("■", "breach"),
    Health.CRASHED: ("✗", "loss"),
    Health.BROKE: ("✗", "loss"),
    Health.BACKING_OFF: ("↻", "warn"),
    Health.HALTED: ("‖", "loss"),
    Health.PAUSED: ("‖", "warn"),
    Health.BUDGET: ("▣", "warn"),
    Health.LIMIT: ("▣", "warn"),
    Health.ASKS: ("?", "warn"),
    Health.SILENT: ("…", "warn"),
    Health.OBSERVES: ("◌", "muted"),
    Health.RUNNING: ("▶", "profit"),
    Health.STOPPED: ("□", "muted"),
    Health.ACTIVE: ("●", "profit"),
    Health.QUIET: ("○", "muted"),
    Health.NEW: ("○", "muted"),
}

_HEALTH: Final = 14
_STATE: Final = _HEALTH - 2
"""Cells of how an agent is: of all, and behind the sign."""

_NEAR: Final = 0.8
"""Part of a limit from which on it is told in another tone."""


def status_text(agent: AgentView) -> Text:
    """What the service calls an agent, in a sign and a word."""
    glyph, tone = _STATUSES.get(agent.status, ("?", "muted"))
    return Text(f"{glyph} {agent.status.value}", tone)


def name_text(agent: AgentView) -> Text:
    """What an agent is called; the person's own is marked."""
    name = formats.plain(agent.name, 60)
    return Text.assemble(name, (" you", "accent")) if agent.is_own else name


def told_of(agent: AgentView, state: DeskState, now: Timestamp) -> Told:
    """How an agent is, and why."""
    return health_of(agent, state.supervision, now, halted=state.halted_since is not None)


def health_text(told: Told) -> Text:
    """How an agent is, in a sign and a word; apart from it, how many trades of it wait."""
    glyph, tone = _HEALTHS[told.health]
    asked = f" ?{told.waiting}" if told.waiting and told.health is not Health.ASKS else ""
    return Text.assemble(
        (f"{glyph} {told.health.value[: _STATE - len(asked)]}", tone), (asked, "warn")
    )


def won_text(agent: AgentView) -> Text:
    """The part of what is closed that won."""
    return formats.percent(agent.win_rate, 0)


def buys_text(agent: AgentView) -> Text:
    """Buys of the day against what the plan allows."""
    limits = agent.limits
    if limits is None:
        return Text(formats.NOT_KNOWN, "muted")
    if limits.buys_max is None:
        return Text(f"{limits.buys_today:,}")
    used = limits.buys_today + limits.buys_resting
    tone = "warn" if used > _NEAR * limits.buys_max else ""
    return Text.assemble((f"{limits.buys_today:,}", tone), (f"/{limits.buys_max:,}", "muted"))


def spent_text(agent: AgentView, spent: Micros, budget: Micros | None, *, masked: bool) -> Text:
    """What its buys of the day cost: a budget counts all money alike, else $SIM and real apart."""
    if masked or budget is not None or not agent.spent_real:
        return spend_text(spent, budget, masked=masked)
    play = formats.NOT_KNOWN if not agent.spent_play else f"{decimal(agent.spent_play):,.0f}"
    return Text.assemble((play, "muted"), (f"+{decimal(agent.spent_real):,.0f}", "live"))


def agent_columns(
    state: Callable[[], DeskState], now: Callable[[], Timestamp]
) -> tuple[Column[AgentView], ...]:
    """The columns, from left to right; `state` says what is masked, `now` is wall time.

    Which of them a narrow table shows is their tier: first who it is and how, how free, what it
    has and makes, what it did last; then what it may still do.

    Returns:
        The columns.
    """

    def masked() -> bool:
        return is_private(state())

    def known(amount: Micros) -> Micros | None:
        # Another service does not tell what its agents have: a nought would be a lie.
        return amount if state().service.embedded else None

    def spend(row: AgentView) -> tuple[Micros, Micros | None]:
        return spend_of(row, state().supervision)

    def leash(row: AgentView) -> Text:
        bound = leash_mode(row, state().supervision)
        return leash_text(bound, known=leashes_known(state()))

    def did(row: AgentView) -> tuple[str, Timestamp] | None:
        return last_action(row, state().supervision, state().fills)

    return (
        Column[AgentView](
            "name", "agent", 11, name_text, sort_key=lambda row: row.name.casefold(), flex=True
        ),
        Column[AgentView](
            "health",
            "health",
            _HEALTH,
            lambda row: health_text(told_of(row, state(), now())),
            sort_key=lambda row: RANKS[told_of(row, state(), now()).health],
        ),
        Column[AgentView](
            "status",
            "status",
            11,
            status_text,
            sort_key=lambda row: status_text(row).plain[2:],
            tier=132,
        ),
        Column[AgentView](
            "plan",
            "plan",
            5,
            lambda row: row.plan.value,
            sort_key=lambda row: row.plan.value,
            tier=124,
        ),
        Column[AgentView](
            "skill",
            "skill",
            14,
            lambda row: skill_text(row, state()),
            sort_key=lambda row: skill_text(row, state()).plain,
            tier=112,
        ),
        Column[AgentView](
            "leash",
            "mode",
            9,
            leash,
            sort_key=lambda row: leash(row).plain,
        ),
        Column[AgentView](
            "equity",
            "equity",
            9,
            lambda row: formats.money(known(row.equity), masked=masked()),
            sort_key=lambda row: row.equity,
            numeric=True,
            tier=62,
        ),
        Column[AgentView](
            "today",
            "today",
            9,
            lambda row: formats.pnl(known(row.day_pnl), masked=masked()),
            sort_key=lambda row: row.day_pnl,
            numeric=True,
        ),
        Column[AgentView](
            "pnl",
            "P&L",
            9,
            lambda row: formats.pnl(known(row.total_pnl), masked=masked()),
            sort_key=lambda row: row.total_pnl,
            numeric=True,
            tier=92,
        ),
        Column[AgentView](
            "won",
            "won",
            4,
            won_text,
            sort_key=lambda row: row.win_rate,
            numeric=True,
            tier=118,
        ),
        Column[AgentView](
            "held",
            "open",
            4,
            lambda row: formats.count(row.positions_count if state().service.embedded else None),
            sort_key=lambda row: row.positions_count,
            numeric=True,
            tier=98,
        ),
        Column[AgentView](
            "buys",
            "buys",
            7,
            buys_text,
            sort_key=lambda row: None if row.limits is None else row.limits.buys_today,
            numeric=True,
            tier=140,
        ),
        Column[AgentView](
            "spent",
            "spent",
            7,
            lambda row: spent_text(row, *spend(row), masked=masked()),
            sort_key=lambda row: row.spent_play if spend(row)[1] is None else spend(row)[0],
            numeric=True,
            tier=78,
        ),
        Column[AgentView](
            "did",
            "last action",
            12,
            lambda row: Text(formats.NOT_KNOWN, "muted") if (last := did(row)) is None else last[0],
            sort_key=lambda row: "" if (last := did(row)) is None else last[0],
            tier=156,
        ),
        Column[AgentView](
            "last",
            "last",
            4,
            lambda row: formats.age(None if (last := did(row)) is None else last[1], now()),
            sort_key=lambda row: None if (last := did(row)) is None else last[1],
            align="right",
            glows=False,
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
            sort_key=lambda row: row.at,
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
        amount_column("money", "money", 9, lambda row: row.money, formats.money, masked),
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

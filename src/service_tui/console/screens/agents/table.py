"""The table of the agents, and that of the trades of all below it."""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import awaited, not_loaded_text
from service_tui.console.keys import cap
from service_tui.console.registering import how_to_register
from service_tui.console.table_spec import (
    AmountFormat,
    TableSpec,
    amount_column,
    clock_column,
    figure_column,
    listed_name,
    shorter_name,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.spark import sparkline
from service_tui.desk.agents.health import (
    RANKS,
    Health,
    HealthReport,
    health_of,
    last_action,
    spend_of,
    strictest_leash,
)
from service_tui.desk.freshness import leashes_known
from service_tui.desk.slices.agents import AgentView, FillView, ReturnsView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.supervision import LeashView, SkillRunState
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.terms import Action, AgentStatus, LeashMode, Plan, Side, Venue
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
    Health.NEEDS_APPROVAL: ("?", "warn"),
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
"""Cells of an agent's state: in all, and behind the sign."""

_NEAR: Final = 0.8
"""Part of a limit from which it has another tone."""

RUN_STATES: Final = {
    SkillRunState.RUNNING: ("▶", "profit"),
    SkillRunState.RESTING: ("◷", "muted"),
    SkillRunState.BACKING_OFF: ("↻", "warn"),
    SkillRunState.SUSPENDED: ("‖", "warn"),
    SkillRunState.CRASHED: ("✗", "loss"),
    SkillRunState.DETACHED: ("▷", "accent"),
}
"""Glyph and tone of a run that is alive."""


# -- cells --------------------------------------------------------------------------------------


def status_text(agent: AgentView) -> Text:
    """The service's status of an agent, as a sign and a word."""
    glyph, tone = _STATUSES.get(agent.status, ("?", "muted"))
    return Text(f"{glyph} {agent.status.value}", tone)


def name_text(agent: AgentView) -> Text:
    """An agent's name; the person's own is marked."""
    name = formats.plain(agent.name, 60)
    return Text.assemble(name, (" you", "accent")) if agent.is_own else name


def agent_health(agent: AgentView, view: ViewContext) -> HealthReport:
    """An agent's health, and why."""
    state = view.state
    return health_of(agent, state.supervision, view.now, halted=state.halted_since is not None)


def health_text(report: HealthReport) -> Text:
    """A health as a sign and a word; after it the number of its waiting trades."""
    glyph, tone = _HEALTHS[report.health]
    request = (
        f" ?{report.waiting}"
        if report.waiting and report.health is not Health.NEEDS_APPROVAL
        else ""
    )
    return Text.assemble(
        (f"{glyph} {report.health.value[: _STATE - len(request)]}", tone), (request, "warn")
    )


def _buys_text(agent: AgentView) -> Text:
    """Buys of the day against the plan's limit."""
    limits = agent.limits
    if limits is None:
        return Text(formats.NOT_KNOWN, "muted")
    if limits.buys_max is None:
        return Text(f"{limits.buys_today:,}")
    used = limits.buys_today + limits.buys_resting
    tone = "warn" if used > _NEAR * limits.buys_max else ""
    return Text.assemble((f"{limits.buys_today:,}", tone), (f"/{limits.buys_max:,}", "muted"))


def leash_text(leash: LeashView | None, *, loaded: bool = True) -> Text:
    """A leash as a sign and a word; unknown before the leashes have `loaded`."""
    if leash is None:
        return Text("○ free" if loaded else formats.NOT_KNOWN, "muted")
    glyph = {LeashMode.OBSERVE: "◌", LeashMode.ASK: "?", LeashMode.AUTO: "●"}[leash.mode]
    return Text(f"{glyph} {leash.mode.value}", "warn" if leash.mode is LeashMode.ASK else "")


def skill_text(agent: AgentView, state: DeskState) -> Text:
    """The skill that runs as an agent, or ran last, with its state as a sign."""
    runs = state.supervision.runs_of(agent.agent_id)
    if not runs:
        return formats.count(None)
    glyph, tone = RUN_STATES.get(runs[0].state, ("■", "muted"))
    return Text.assemble((f"{glyph} ", tone), runs[0].skill_slug)


def spend_text(spent: Micros, budget: Micros | None, *, masked: bool) -> Text:
    """Money spent today, of the day's budget if there is one."""
    if masked:
        return Text(formats.MASK)
    if budget is None:
        return Text(f"{decimal(spent):,.0f}" if spent else formats.NOT_KNOWN, "muted")
    tone = "warn" if int(spent) > _NEAR * budget else ""
    return Text.assemble((f"{decimal(spent):,.0f}", tone), (f"/{decimal(budget):,.0f}", "muted"))


def _spent_text(agent: AgentView, view: ViewContext) -> Text:
    """Cost of its buys of the day: a budget counts all money alike, else $SIM and real apart."""
    spent, budget = spend_of(agent, view.state.supervision)
    if view.masked or budget is not None or not agent.spent_real:
        return spend_text(spent, budget, masked=view.masked)
    play = formats.NOT_KNOWN if not agent.spent_play else f"{decimal(agent.spent_play):,.0f}"
    return Text.assemble((play, "muted"), (f"+{decimal(agent.spent_real):,.0f}", "live"))


def _spent_rank(agent: AgentView, view: ViewContext) -> Micros:
    spent, budget = spend_of(agent, view.state.supervision)
    return agent.spent_play if budget is None else spent


def _leash_of(agent: AgentView, view: ViewContext) -> Text:
    """The leash that binds an agent."""
    bound = strictest_leash(agent, view.state.supervision)
    return leash_text(bound, loaded=leashes_known(view.state))


def _if_reported(amount: Micros, view: ViewContext) -> Micros | None:
    # Another service does not report its agents' money: zero would be wrong.
    return amount if view.state.service.embedded else None


def _last(agent: AgentView, view: ViewContext) -> tuple[str, Timestamp] | None:
    return last_action(agent, view.state.supervision, view.state.fills)


def _last_word(agent: AgentView, view: ViewContext) -> str:
    last = _last(agent, view)
    return "" if last is None else last[0]


def _last_at(agent: AgentView, view: ViewContext) -> Timestamp | None:
    last = _last(agent, view)
    return None if last is None else last[1]


def _did_text(fill: FillView) -> Text:
    """Action and side, in two words; the side in its colour."""
    verb = "buy " if fill.action is Action.BUY else "sell"
    tone = "yes" if fill.side is Side.YES else "no"
    return Text.assemble(f"{verb} ", (fill.side.value.upper(), tone))


# -- rows, and what a search finds --------------------------------------------------------------


def _rows(state: DeskState) -> tuple[AgentView, ...]:
    """All agents of the embedded service; of another one those whose skills this desk runs."""
    if state.fleet is not None or state.service.embedded:
        return () if state.fleet is None else state.fleet.agents
    nothing = Micros(0)
    ours = {
        run.agent_id: AgentView(
            agent_id=run.agent_id,
            name=run.agent_name,
            description="an agent of another service, run by a skill of this desk",
            status=AgentStatus.ACTIVE,
            plan=Plan.FREE if state.account is None else state.account.plan,
            claimed=False,
            claim_url="",
            paused=False,
            suspended=False,
            cash=nothing,
            equity=nothing,
            total_pnl=nothing,
            day_pnl=nothing,
            positions_count=0,
            trades_count=0,
            last_trade_at=None,
            created_at=run.started_at or Timestamp(0.0),
        )
        for run in reversed(state.supervision.runs)
    }
    return tuple(ours.values())


def _search_text(agent: AgentView, view: ViewContext) -> str:
    text = agent_health(agent, view)
    parts = (
        agent.name,
        agent.agent_id,
        agent.description,
        agent.plan.value,
        status_text(agent),
        text.health.value,
        Health.NEEDS_APPROVAL.value if text.waiting else "",
        _leash_of(agent, view),
        *(run.skill_slug for run in view.state.supervision.runs_of(agent.agent_id)),
    )
    return folded("\n".join(str(part) for part in parts))


def _money_column(
    name: str,
    title: str,
    amount: Callable[[AgentView], Micros],
    format_value: AmountFormat,
    *,
    tier: int = 0,
) -> Column[AgentView]:
    return Column(
        name,
        title,
        9,
        lambda agent, view: format_value(_if_reported(amount(agent), view), masked=view.masked),
        sort_key=lambda agent, _: amount(agent),
        numeric=True,
        tier=tier,
    )


_CURVE_CELLS: Final = 10
_CURVE_SPAN: Final = 0.002
"""The least height of a curve of equity, of its end: what moves less is flat."""


def known_returns(agent: AgentView, view: ViewContext) -> ReturnsView:
    """What an agent made of its money until now; without figures before they are read."""
    known = view.state.supervision.returns_of(agent.agent_id)
    return (
        ReturnsView(agent.agent_id) if known is None else known.brought_to(agent.equity, view.now)
    )


def _in_percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def _curve(agent: AgentView, view: ViewContext) -> Text:
    """The equity over time, each on its own scale: the columns beside it say how far."""
    known = known_returns(agent, view)
    if not known.curve or not agent.equity:
        return Text(" " * _CURVE_CELLS)
    values = [equity / agent.equity for _, equity in known.curve]
    ink = "flat" if not agent.total_pnl else "profit" if agent.total_pnl > 0 else "loss"
    span = max(_CURVE_SPAN, max(values) - min(values))
    return Text(sparkline(values, _CURVE_CELLS, span=span), ink)


def _returns_column(
    name: str,
    title: str,
    value: Callable[[ReturnsView], float | None],
    write: Callable[[float | None], Text],
    *,
    tier: int,
    width: int = 7,
) -> Column[AgentView]:
    """A figure of what an agent made of its money; unknown before it is read."""

    def figure(agent: AgentView, view: ViewContext) -> float | None:
        return value(known_returns(agent, view))

    return Column(
        name,
        title,
        width,
        lambda agent, view: write(figure(agent, view)),
        sort_key=figure,
        numeric=True,
        tier=tier,
    )


def ratio_text(ratio: float | None) -> Text:
    """A ratio with two decimals."""
    known = ratio is not None and abs(ratio) < _RATIO_MAX
    return Text(f"{ratio:.2f}") if known else Text(formats.NOT_KNOWN, "muted")


_RATIO_MAX: Final = 1_000.0
"""A larger ratio is one of days that hardly differ: it says nothing."""


# -- why there are no rows ----------------------------------------------------------------------


def empty_text(state: DeskState) -> str:
    """Why no agent is listed."""
    if not state.service.embedded:
        return (
            "Agents of another service are managed on its dashboard.\n\nStart without --url to "
            "see those of this machine."
        )
    if state.service.phase is Phase.OFFLINE:
        problem = state.service.problem or "no response"
        return f"The service cannot be reached: {problem}.\n\n{cap('app.refresh')} retries now."
    if state.service.phase is Phase.CONNECTING:
        return "Loading agents."
    if state.fleet is None:
        return not_loaded_text("agents")
    return f"No agents yet.\n\n{how_to_register(state).plain}"


def no_trades_text(state: DeskState) -> str:
    """Why no trade of an agent is listed."""
    if not state.service.embedded:
        return "Another service does not report its agents' trades."
    fleet = state.fleet
    if fleet is None or any(agent.trades_count for agent in fleet.agents):
        return awaited(state, "Loading the agents' trades.")
    return "No trades yet."


# -- the tables ---------------------------------------------------------------------------------

AGENTS: Final = TableSpec[AgentView](
    "agents",
    rows=_rows,
    key=lambda agent: agent.agent_id,
    # A narrow table keeps name, leash, money and last trade;
    # then the limits.
    columns=(
        Column(
            "name",
            "agent",
            11,
            lambda agent, _: name_text(agent),
            sort_key=lambda agent, _: agent.name.casefold(),
            flex=True,
        ),
        Column(
            "health",
            "health",
            _HEALTH,
            lambda agent, view: health_text(agent_health(agent, view)),
            sort_key=lambda agent, view: RANKS[agent_health(agent, view).health],
        ),
        Column(
            "status",
            "status",
            11,
            lambda agent, _: status_text(agent),
            sort_key=lambda agent, _: status_text(agent).plain[2:],
            tier=132,
        ),
        Column(
            "plan",
            "plan",
            5,
            lambda agent, _: agent.plan.value,
            sort_key=lambda agent, _: agent.plan.value,
            tier=124,
        ),
        Column(
            "skill",
            "skill",
            14,
            lambda agent, view: skill_text(agent, view.state),
            sort_key=lambda agent, view: skill_text(agent, view.state).plain,
            tier=112,
        ),
        Column(
            "leash", "may", 9, _leash_of, sort_key=lambda agent, view: _leash_of(agent, view).plain
        ),
        _money_column("equity", "equity", lambda agent: agent.equity, formats.money, tier=62),
        _money_column("today", "today", lambda agent: agent.day_pnl, formats.pnl),
        _money_column("pnl", "P&L", lambda agent: agent.total_pnl, formats.pnl, tier=92),
        figure_column(
            "won",
            "won",
            4,
            lambda agent: agent.win_rate,
            lambda rate: formats.percent(rate, 0),
            tier=118,
        ),
        Column("curve", "curve", _CURVE_CELLS, _curve, tier=121, glows=False),
        _returns_column(
            "return", "return", lambda one: one.total_return, formats.percent_change, tier=122
        ),
        _returns_column(
            "drawdown", "drawdown", lambda one: one.drawdown, formats.percent, tier=123, width=8
        ),
        _returns_column("sharpe", "sharpe", lambda one: one.sharpe, ratio_text, tier=134),
        Column(
            "held",
            "open",
            4,
            lambda agent, view: formats.count(
                agent.positions_count if view.state.service.embedded else None
            ),
            sort_key=lambda agent, _: agent.positions_count,
            numeric=True,
            tier=98,
        ),
        Column(
            "buys",
            "buys",
            7,
            lambda agent, _: _buys_text(agent),
            sort_key=lambda agent, _: None if agent.limits is None else agent.limits.buys_today,
            numeric=True,
            tier=140,
        ),
        Column("spent", "spent", 7, _spent_text, sort_key=_spent_rank, numeric=True, tier=78),
        Column(
            "did",
            "last action",
            12,
            lambda agent, view: _last_word(agent, view) or Text(formats.NOT_KNOWN, "muted"),
            sort_key=_last_word,
            tier=156,
            wide=(200, 24),
            fits=True,
        ),
        Column(
            "last",
            "last",
            4,
            lambda agent, view: formats.age(_last_at(agent, view), view.now),
            sort_key=_last_at,
            align="right",
            glows=False,
        ),
    ),
    search_text=_search_text,
    empty_text=empty_text,
    sort="equity",
    falling=True,
    compared={
        "equity": lambda agent, _: decimal(agent.equity),
        "cash": lambda agent, _: decimal(agent.cash),
        "today": lambda agent, _: decimal(agent.day_pnl),
        "pnl": lambda agent, _: decimal(agent.total_pnl),
        "trades": lambda agent, _: float(agent.trades_count),
        "held": lambda agent, _: float(agent.positions_count),
        "return": lambda agent, view: _in_percent(known_returns(agent, view).total_return),
        "drawdown": lambda agent, view: _in_percent(known_returns(agent, view).drawdown),
        "sharpe": lambda agent, view: known_returns(agent, view).sharpe,
        "won": lambda agent, _: 100 * (agent.win_rate or 0.0),
        "buys": lambda agent, _: 0.0 if agent.limits is None else float(agent.limits.buys_today),
        "spent": lambda agent, _: decimal(agent.spent_play),
    },
)

TRADES: Final[tuple[Column[FillView], ...]] = (
    clock_column(lambda fill: fill.at),
    Column(
        "agent",
        "agent",
        12,
        lambda fill, _: formats.plain(fill.agent_name, 40),
        sort_key=lambda fill, _: fill.agent_name.casefold(),
        wide=(110, 17),
        fits=True,
    ),
    Column("did", "action", 8, lambda fill, _: _did_text(fill)),
    Column(
        "venue",
        "venue",
        9,
        lambda fill, _: Text(fill.venue.value, "muted" if fill.venue is Venue.SIM else "accent"),
        sort_key=lambda fill, _: fill.venue.value,
        tier=90,
    ),
    amount_column("money", "money", 9, lambda fill: fill.money, formats.money),
    Column(
        "price", "price", 6, lambda fill, _: formats.price(fill.price, aligned=True), numeric=True
    ),
    Column(
        "market",
        "market",
        16,
        lambda fill, view: listed_name(fill.market_id, fill.question, view.state),
        shorter=lambda fill, view: shorter_name(fill.market_id, fill.question, view.state),
        flex=True,
        keeps_end=True,
    ),
    Column(
        "pnl",
        "P&L",
        9,
        lambda fill, view: Text() if fill.action is Action.BUY else view.pnl(fill.realized),
        numeric=True,
        tier=100,
    ),
    Column(
        "source",
        "by",
        14,
        lambda fill, _: formats.plain(fill.by, 40),
        tier=140,
    ),
)
"""The trades of all agents, as they arrive."""

"""What is told about the agents: the line of sums, one agent whole, and how another one comes."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, section
from service_tui.console.freshness import is_private, not_told
from service_tui.console.keys import cap
from service_tui.console.screens.agents.columns import health_text, name_text, status_text, told_of
from service_tui.console.screens.agents.hand_text import hand_parts, leash_text, story_parts
from service_tui.console.widgets.line_fit import Bit
from service_tui.desk.agents.health import Health, leash_mode
from service_tui.desk.freshness import leashes_known
from service_tui.desk.slices.agents import AgentLimitsView, AgentView, VenueMoneyView
from service_tui.desk.slices.records import Phase
from service_tui.desk.state import DeskState
from service_tui.terms import AgentStatus, Plan
from service_tui.units import Micros, Timestamp, decimal

COMPARED: Final = ("equity", "cash", "today", "pnl", "trades", "held", "won", "buys", "spent")
"""Columns that the `/` line compares."""

USUAL_PLAN: Final = Plan.PRO
"""Source: the embedded service gives it to new agents unless told otherwise."""

_LABEL: Final = 13
_SKILLS: Final = 5


def words_of(agent: AgentView, state: DeskState, now: Timestamp) -> str:
    """Everything that a search finds an agent by, casefolded."""
    told = told_of(agent, state, now)
    parts = (
        agent.name,
        agent.agent_id,
        agent.description,
        agent.plan.value,
        status_text(agent),
        told.health.value,
        Health.ASKS.value if told.waiting else "",
        leash_text(leash_mode(agent, state.supervision), known=leashes_known(state)),
        *(run.skill_slug for run in state.supervision.runs_of(agent.agent_id)),
    )
    return "\n".join(str(part) for part in parts).casefold()


def number_of(agent: AgentView, column: str) -> float:
    """An agent's value in a column of `COMPARED`."""
    counts = {
        "trades": agent.trades_count,
        "held": agent.positions_count,
        "buys": 0 if agent.limits is None else agent.limits.buys_today,
        "won": 100 * (agent.win_rate or 0.0),
    }
    if column in counts:
        return float(counts[column])
    amounts = {
        "equity": agent.equity,
        "cash": agent.cash,
        "today": agent.day_pnl,
        "spent": agent.spent_play,
    }
    return decimal(amounts.get(column, agent.total_pnl))


def fleet_bits(state: DeskState) -> tuple[Bit, ...]:
    """All agents in one line: how many, what they have, what the next one gets."""
    fleet, masked = state.fleet, is_private(state)
    if fleet is None:
        said = "asking for the agents" if state.service.embedded else "agents of another service"
        return (Bit(Text(said, "muted")),)
    equity = Micros(sum(agent.equity for agent in fleet.agents))
    today = Micros(sum(agent.day_pnl for agent in fleet.agents))
    told = Text("● live", "profit") if state.listening else Text("○ asked now and then", "muted")
    # The person's own agent does not count against the plan.
    others = sum(not agent.is_own for agent in fleet.agents)
    count = Text(f"{others}", "bold")
    most = (f" of {fleet.agents_max} agents", "muted")
    return (
        Bit(Text.assemble(count, most), 0),
        Bit(Text.assemble(("equity ", "muted"), formats.money(equity, masked=masked)), 3),
        Bit(Text.assemble(formats.pnl(today, masked=masked, arrow=True), (" today", "muted")), 2),
        Bit(
            Text.assemble(("new agents: ", "muted"), plan_words(fleet.plan)),
            4,
            Text.assemble(("new: ", "muted"), (fleet.plan.value, "accent")),
        ),
        Bit(told, 1, right=True),
    )


def plan_words(plan: Plan) -> Text:
    """A plan, and whether it is the usual one."""
    tail = " (the default)" if plan is USUAL_PLAN else ""
    return Text.assemble((plan.value, "accent"), (tail, "muted"))


def rows_of(state: DeskState) -> tuple[AgentView, ...]:
    """All agents of the embedded service; of another one those whose skills this desk runs."""
    if state.fleet is not None or state.service.embedded:
        return () if state.fleet is None else state.fleet.agents
    nothing = Micros(0)
    ours = {
        run.agent_id: AgentView(
            agent_id=run.agent_id,
            name=run.agent_name,
            description="an agent of another service, whose skill this desk runs",
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


def agent_detail(agent: AgentView, state: DeskState, now: Timestamp) -> Text:
    """Who one agent is, how it is and why, how free, what runs as it, what it has."""
    masked = is_private(state)
    told = told_of(agent, state, now)
    head = Text.assemble(name_text(agent), "  ", health_text(told))
    head.stylize("bold", 0, len(name_text(agent).plain))
    parts = [Text.assemble(head, "\n", (formats.plain(told.why, 300).plain, "muted"))]
    if agent.description:
        parts.append(formats.plain(agent.description, 400))
    parts += [section(name, text) for name, text in hand_parts(agent, state, now)]
    if not state.service.embedded:
        return Text("\n\n").join(parts)
    parts.append(section("money, $SIM", _rows(_money(agent, masked=masked))))
    parts += [
        section(f"{money.venue.value}, play USDC", _rows(_venue_money(money, masked=masked)))
        for money in agent.venues
    ]
    if agent.limits is not None:
        parts.append(section("limits", _rows(_limits(agent.limits, masked=masked))))
    parts.append(section("standing", _rows(_standing(agent, now))))
    return Text("\n\n").join(parts)


def agent_story(agent: AgentView, state: DeskState, now: Timestamp, width: int) -> Text:
    """What its skills came to, and what it did and why, newest first."""
    parts = story_parts(agent, state, now, width)
    return Text("\n\n").join(section(name, text) for name, text in parts)


def _limits(limits: AgentLimitsView, *, masked: bool) -> tuple[Figure, ...]:
    """What binds it, and what of that is used; money of real venues apart."""

    def of(used: Micros, most: Micros | None) -> Text:
        most_text = Text("no limit", "muted")
        if most is not None:
            most_text = formats.money(most, masked=masked)
        return Text.assemble(formats.money(used, masked=masked), (" of ", "muted"), most_text)

    most = "no limit" if limits.buys_max is None else f"{limits.buys_max:,}"
    resting = f" + {limits.buys_resting:,} resting" if limits.buys_resting else ""
    bought = Text.assemble(f"{limits.buys_today:,}", (f"{resting} of ", "muted"), most)
    rows: list[Figure] = [
        ("buys today", bought),
        ("one trade", formats.money(limits.sim_trade_max, masked=masked)),
        ("one market", formats.money(limits.sim_market_max, masked=masked)),
        ("real trade", formats.money(limits.trade_max, masked=masked)),
        ("real day", of(limits.day_spent, limits.day_spend_max)),
    ]
    if limits.position_max is not None:
        rows.append(("position", formats.money(limits.position_max, masked=masked)))
    rows += [
        (formats.plain(slug, 12).plain, of(spent, limits.skill_budget))
        for slug, spent in limits.skills[:_SKILLS]
    ]
    if limits.cooldowns_count:
        rows.append(("cooling", Text(f"{limits.cooldowns_count} sides take no buy yet", "warn")))
    return tuple(rows)


def how_to_register(state: DeskState) -> Text:
    """How an agent comes here."""
    address = state.service.address
    if not address and state.service.phase is Phase.CONNECTING:
        return Text("Asking the service for its address.", "muted")
    if not address:
        return Text("The service has no address yet: agents cannot reach it.", "muted")
    return Text.assemble(
        ("An agent of this machine registers itself:\n", "muted"),
        f"curl -s -X POST {address}/api/sdk/agents/register "
        "-H 'Content-Type: application/json' -d '{\"name\": \"my-agent\"}'",
    )


def empty_words(state: DeskState) -> str:
    """Why there is no agent to see."""
    if not state.service.embedded:
        return (
            "The agents of another service are governed on its own dashboard.\n\n"
            "Start without --url to see those of this machine."
        )
    if state.service.phase is Phase.OFFLINE:
        problem = state.service.problem or "no answer"
        return f"The service cannot be reached: {problem}.\n\n{cap('app.refresh')} tries now."
    if state.service.phase is Phase.CONNECTING:
        return "Asking the service for its agents."
    if state.fleet is None:
        return not_told("agents")
    return f"No agents yet.\n\n{how_to_register(state).plain}"


def _standing(agent: AgentView, now: Timestamp) -> tuple[Figure, ...]:
    claimed = Text("yes") if agent.claimed else Text("no: play money only", "muted")
    last = (
        Text.assemble(formats.age(agent.last_trade_at, now), (" ago", "muted"))
        if agent.last_trade_at is not None
        else Text("never", "muted")
    )
    link: tuple[Figure, ...] = (
        () if agent.claimed else (("claim page", formats.plain(agent.claim_url, 120)),)
    )
    return (
        ("plan", plan_words(agent.plan)),
        ("buys", Text("paused", "warn") if agent.paused else Text("allowed")),
        ("claimed", claimed),
        *link,
        ("trades", formats.count(agent.trades_count)),
        ("last trade", last),
        ("since", formats.date_time(agent.created_at)),
        ("id", formats.plain(agent.agent_id, 60)),
    )


def _money(agent: AgentView, *, masked: bool) -> tuple[Figure, ...]:
    """What it has in $SIM; who has real money besides is told what of the table is $SIM alone."""
    alone: tuple[Figure, ...] = (
        ("spent today", formats.money(agent.spent_play, masked=masked)),
        ("won", formats.percent(agent.win_rate, 0)),
    )
    return (
        ("equity", formats.money(agent.equity, masked=masked)),
        ("cash", formats.money(agent.cash, masked=masked)),
        ("P&L", formats.pnl(agent.total_pnl, masked=masked)),
        ("P&L today", formats.pnl(agent.day_pnl, masked=masked)),
        ("held", formats.count(agent.positions_count)),
        *(alone if agent.venues else ()),
    )


def _venue_money(money: VenueMoneyView, *, masked: bool) -> tuple[Figure, ...]:
    """What an agent has on a real venue; money in open buys is in the equity, not in the cash."""
    kept: tuple[Figure, ...] = (
        (("in orders", formats.money(money.reserved, masked=masked)),) if money.reserved else ()
    )
    return (
        ("equity", formats.money(money.equity, masked=masked)),
        ("cash", formats.money(money.cash, masked=masked)),
        *kept,
        ("P&L", formats.pnl(money.total_pnl, masked=masked)),
        ("held", formats.count(money.positions_count)),
        ("open orders", formats.count(money.orders_count)),
    )


def _rows(rows: tuple[Figure, ...]) -> Text:
    lines = [Text.assemble((label.ljust(_LABEL), "muted"), value) for label, value in rows]
    return Text("\n").join(lines)

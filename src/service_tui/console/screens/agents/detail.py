"""Texts on the agents: the line of sums, one agent in full, and its trades with reasons."""

from calendar import Calendar
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, section
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import awaited
from service_tui.console.questions import short_question
from service_tui.console.screens.agents.table import (
    RUN_STATES,
    agent_health,
    health_text,
    known_returns,
    leash_text,
    name_text,
    ratio_text,
    spend_text,
)
from service_tui.console.signs import edge_text, signs_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.line_fit import Bit
from service_tui.desk.agents.health import strictest_leash
from service_tui.desk.slices.agents import (
    EPOCH,
    AgentLimitsView,
    AgentView,
    ReasonedTradeView,
    ReturnsView,
    SkillResultView,
    VenueMoneyView,
)
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.reactor import MIRROR_SKILL
from service_tui.desk.slices.supervision import (
    AFTER_FIRING,
    AgentAlertView,
    LeashView,
    SkillRunView,
)
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.evaluation.returns import Period
from service_tui.terms import MONEY_OF, LeashMode, Plan, Side, counted
from service_tui.units import Micros, Timestamp

USUAL_PLAN: Final = Plan.PRO
"""Source: default of the embedded service for new agents."""

_LABEL: Final = 13
_SKILLS: Final = 5
_TRADES: Final = 60
_HELD: Final = 30
_LINES: Final = 12
_OFF: Final = 0.1
_BAR: Final = 12


# -- above the table ----------------------------------------------------------------------------


def fleet_bits(view: ViewContext) -> tuple[Bit, ...]:
    """All agents in one line: count, money, and the plan of the next one."""
    state, fleet = view.state, view.state.fleet
    if fleet is None:
        line = "loading agents" if state.service.embedded else "agents of another service"
        return (Bit(Text(line, "muted")),)
    equity = Micros(sum(agent.equity for agent in fleet.agents))
    today = Micros(sum(agent.day_pnl for agent in fleet.agents))
    made = formats.pnl(today, masked=view.masked, arrow=True)
    text = Text("● live", "profit") if state.listening else Text("○ polled", "muted")
    # The person's own agent does not count against the plan, but has a row below.
    others = sum(not agent.is_own for agent in fleet.agents)
    count = Text("you + " if others < len(fleet.agents) else "", "muted")
    count.append(f"{others}", "bold")
    most = (f"/{fleet.agents_max} agents", "muted")
    return (
        Bit(Text.assemble(count, most), 0),
        Bit(Text.assemble(("equity ", "muted"), view.money(equity)), 3),
        Bit(Text.assemble(made, (" today", "muted")), 2),
        Bit(
            Text.assemble(("new agents: ", "muted"), _plan_text(fleet.plan)),
            4,
            Text.assemble(("new: ", "muted"), (fleet.plan.value, "accent")),
        ),
        Bit(text, 1, right=True),
    )


def _plan_text(plan: Plan) -> Text:
    """A plan, and whether it is the default one."""
    tail = " (default)" if plan is USUAL_PLAN else ""
    return Text.assemble((plan.value, "accent"), (tail, "muted"))


# -- an agent -----------------------------------------------------------------------------------


def describe(agent: AgentView, view: ViewContext) -> Text:
    """One agent in full: identity, health, leash, runs, money."""
    shown = agent_health(agent, view)
    head = Text.assemble(name_text(agent), "  ", health_text(shown))
    head.stylize("bold", 0, len(name_text(agent).plain))
    parts = [Text.assemble(head, "\n", (formats.plain(shown.why, 300).plain, "muted"))]
    if agent.description:
        parts.append(formats.plain(agent.description, 400))
    parts += [section(name, text) for name, text in _parts(agent, view)]
    if not view.state.service.embedded:
        return Text("\n\n").join(parts)
    parts.append(section("money, $SIM", _rows(_money(agent, view))))
    returns = known_returns(agent, view)
    if returns.curve:
        parts.append(section("returns, $SIM", _rows(_returns(returns, view))))
        parts.append(section(*calendar(returns, view)))
    parts += [
        section(f"{money.venue.value}, play USDC", _rows(_venue_money(money, view)))
        for money in agent.venues
    ]
    if agent.limits is not None:
        parts.append(section("limits", _rows(_limits(agent, agent.limits, view))))
    parts.append(section("standing", _rows(_state_figures(agent, view.now))))
    return Text("\n\n").join(parts)


def history_text(agent: AgentView, view: ViewContext) -> Text:
    """The results of its skills, and its trades with reasons, newest first."""
    parts = _story_parts(agent, view)
    return Text("\n\n").join(section(name, text) for name, text in parts)


def _limits(agent: AgentView, limits: AgentLimitsView, view: ViewContext) -> tuple[Figure, ...]:
    """The agent's limits and their use; money of real venues apart."""

    def of(used: Micros, most: Micros | None) -> Text:
        most_text = Text("no limit", "muted")
        if most is not None:
            most_text = view.money(most)
        return Text.assemble(view.money(used), (" of ", "muted"), most_text)

    most = "no limit" if limits.buys_max is None else f"{limits.buys_max:,}"
    resting = f" + {limits.buys_resting:,} resting" if limits.buys_resting else ""
    bought = Text.assemble(f"{limits.buys_today:,}", (f"{resting} of ", "muted"), most)
    rows: list[Figure] = [
        ("buys today", bought),
        ("per trade", view.money(limits.sim_trade_max)),
        ("per market", view.money(limits.sim_market_max)),
        ("real trade", view.money(limits.trade_max)),
        ("real day", of(limits.day_spent, limits.day_spend_max)),
    ]
    if limits.position_max is not None:
        rows.append(("position", view.money(limits.position_max)))
    rows += [
        (formats.plain(slug, 12).plain, of(spent, budget_of(slug, agent, limits, view)))
        for slug, spent in limits.skills[:_SKILLS]
    ]
    if limits.cooldowns_count:
        rows.append((
            "cooling",
            Text(f"{counted(limits.cooldowns_count, 'side')} in cooldown", "warn"),
        ))
    return tuple(rows)


def budget_of(
    slug: str, agent: AgentView, limits: AgentLimitsView, view: ViewContext
) -> Micros | None:
    """The day's limit of a skill; of the reactor on this desk, its daily cap."""
    config = view.state.reactor.config
    if slug == MIRROR_SKILL and agent.is_own and config is not None:
        cap = config.daily_cap
        return cap if limits.skill_budget is None else Micros(min(cap, limits.skill_budget))
    return limits.skill_budget


def _state_figures(agent: AgentView, now: Timestamp) -> tuple[Figure, ...]:
    claimed = Text("yes") if agent.claimed else Text("no: not approved for real money", "muted")
    last = (
        Text.assemble(formats.age(agent.last_trade_at, now), (" ago", "muted"))
        if agent.last_trade_at is not None
        else Text("never", "muted")
    )
    link: tuple[Figure, ...] = (
        () if agent.claimed else (("claim page", formats.plain(agent.claim_url, 120)),)
    )
    return (
        ("plan", _plan_text(agent.plan)),
        ("buys", Text("paused", "warn") if agent.paused else Text("allowed")),
        ("claimed", claimed),
        *link,
        ("trades", formats.count(agent.trades_count)),
        ("last trade", last),
        ("since", formats.date_time(agent.created_at)),
        ("id", formats.plain(agent.agent_id, 60)),
    )


def _money(agent: AgentView, view: ViewContext) -> tuple[Figure, ...]:
    """Its $SIM; for an agent with real money besides, a note that the table is $SIM alone."""
    alone: tuple[Figure, ...] = (
        ("spent today", view.money(agent.spent_play)),
        ("won", formats.percent(agent.win_rate, 0)),
    )
    return (
        ("equity", view.money(agent.equity)),
        ("at mark", view.money(agent.mark_equity)),
        ("cash", view.money(agent.cash)),
        ("P&L", view.pnl(agent.total_pnl)),
        ("P&L today", view.pnl(agent.day_pnl)),
        ("positions", formats.count(agent.positions_count)),
        *(alone if agent.venues else ()),
    )


def _returns(known: ReturnsView, view: ViewContext) -> tuple[Figure, ...]:
    """What it made of its money since it began, and lately; all as if it sold everything now."""
    return (
        ("return", formats.percent_change(known.total_return)),
        ("this week", view.pnl(known.gained(Period.WEEK, view.now))),
        ("this month", view.pnl(known.gained(Period.MONTH, view.now))),
        ("drawdown", formats.percent(known.drawdown)),
        ("deepest", formats.percent(known.max_drawdown)),
        ("Sharpe", ratio_text(known.sharpe)),
    )


def calendar(known: ReturnsView, view: ViewContext) -> tuple[str, Text]:
    """The P&L of each day of this month UTC, week by week, with its name.

    A day is written with its sign; one that changed nothing, or is not known, is a dot.
    """
    today = datetime.fromtimestamp(view.now, UTC).date()
    gained = dict(known.days)
    lines = [Text(" ".join(name.rjust(_DAY) for name in _WEEKDAYS), "muted")]
    for week in Calendar().monthdatescalendar(today.year, today.month):
        days, amounts = Text(), Text()
        for day in week:
            if days:
                days.append(" ")
                amounts.append(" ")
            is_in = day.month == today.month and day <= today
            days.append(f"{day.day if is_in else '':>{_DAY}}", "muted")
            pnl = gained.get((day - EPOCH).days) if is_in else None
            cell = Text("·" if is_in else "", "faint")
            if pnl is not None:
                cell = formats.pnl(pnl, masked=view.masked, short=True)
            cell.pad_left(max(0, _DAY - cell.cell_len))
            amounts.append_text(cell)
        lines += [days, amounts]
    return f"{today:%B} by day, $SIM", Text("\n").join(lines)


_WEEKDAYS: Final = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_DAY: Final = 6
"""Cells of a day of the calendar: a sign, three digits, a point and a suffix."""


def _venue_money(money: VenueMoneyView, view: ViewContext) -> tuple[Figure, ...]:
    """What an agent has on a real venue; money in open buys is in the equity, not in the cash."""
    kept: tuple[Figure, ...] = (
        (("in orders", view.money(money.reserved)),) if money.reserved else ()
    )
    return (
        ("equity", view.money(money.equity)),
        ("cash", view.money(money.cash)),
        *kept,
        ("P&L", view.pnl(money.total_pnl)),
        *((("to redeem", view.money(money.to_redeem)),) if money.to_redeem else ()),
        ("positions", formats.count(money.positions_count)),
        ("open orders", formats.count(money.orders_count)),
    )


def _rows(rows: tuple[Figure, ...]) -> Text:
    lines = [Text.assemble((label.ljust(_LABEL), "muted"), value) for label, value in rows]
    return Text("\n").join(lines)


# -- leash, skills, and what it did -------------------------------------------------------------


def _parts(agent: AgentView, view: ViewContext) -> Iterator[tuple[str, Text]]:
    """Titled parts of an agent's description."""
    supervision = view.state.supervision
    bound = strictest_leash(agent, supervision)
    leashes = [leashe for leashe in supervision.leashes if leashe.agent_id == agent.agent_id]
    leashes.sort(key=lambda one: one != bound)
    if leashes:
        yield "permissions", Text("\n").join(_leash_line(leashe, view) for leashe in leashes)
    alerts = supervision.alerts_of(agent.agent_id)
    if alerts:
        yield "alerts", Text("\n").join(alert_line(alert, view) for alert in alerts)
    runs = supervision.runs_of(agent.agent_id)
    if runs:
        yield "skills", Text("\n").join(_run_line(run, view.now) for run in runs)
    if supervision.tail is not None and any(run.run_id == supervision.tail.run_id for run in runs):
        lines = supervision.tail.lines[-_LINES:]
        yield "output", Text("\n".join(formats.plain(line, 200).plain for line in lines), "muted")


def _story_parts(agent: AgentView, view: ViewContext) -> Iterator[tuple[str, Text]]:
    """Titled parts of an agent's history."""
    detail = view.state.supervision.detail
    if not view.state.service.embedded:
        text = "Another service does not report its agents' trades. See the output."
        yield "history", Text(text, "muted")
        return
    if detail is None or detail.agent_id != agent.agent_id:
        yield "history", Text(awaited(view.state, "loading its trades"), "muted")
        return
    if detail.problem:
        yield "history", Text(formats.plain(detail.problem, 300).plain, "warn")
        return
    yield "positions", _positions_text(agent, detail.positions, view)
    if detail.results:
        lines = [_result_lines(one, view, is_own=agent.is_own) for one in detail.results]
        yield "results by skill", Text("\n").join(lines)
    lines = [_trade_line(trade, view) for trade in detail.trades[:_TRADES]]
    nothing = Text("No trades yet.", "muted")
    yield "history", Text("\n").join(lines) if lines else nothing


def _positions_text(agent: AgentView, positions: Sequence[PositionView], view: ViewContext) -> Text:
    """Its open positions, in two lines each; the number of those left out."""
    if not positions:
        return Text("No open positions.", "muted")
    lines = [_position_line(position, view) for position in positions[:_HELD]]
    more = max(agent.positions_count, len(positions)) - len(lines)
    if more > 0:
        lines.append(Text(f"and {more:,} more", "muted"))
    return Text("\n").join(lines)


def _position_line(position: PositionView, view: ViewContext) -> Text:
    """The question; below it side, shares, average, price now and P&L."""
    tone = "yes" if position.side is Side.YES else "no"
    question = formats.plain(short_question(position.question), 120)
    return Text.assemble(
        question, "\n  ", (position.side.value.upper(), tone), " ", view.shares(position.shares),
        (" at ", "muted"), formats.price(position.average), (", now ", "muted"),
        formats.price(position.mark_price), ("  P&L ", "muted"), view.pnl(position.pnl),
        (f" {MONEY_OF[position.venue]}", "muted"),
    )  # fmt: skip


def _leash_line(leash: LeashView, view: ViewContext) -> Text:
    whose = leash.skill_slug or "whole agent"
    spent = spend_text(leash.spent, leash.budget, masked=view.masked)
    needs_approval = leash.mode is LeashMode.ASK
    above = Text.assemble(" above ", view.money(leash.threshold)) if needs_approval else ""
    return Text.assemble(leash_text(leash), above, (f"  {whose}  ", "muted"), spent)


def alert_line(alert: AgentAlertView, view: ViewContext) -> Text:
    """An alert on an agent: its sign, what it watches and does, its last firing."""
    sign = ("▲ ", "loss") if alert.is_beyond else ("○ ", "muted")
    line = Text.assemble(
        sign, view.sentence(alert.describe()), (f", then {AFTER_FIRING[alert.action]}", "muted")
    )
    if alert.fired_at is None:
        return line.append("  never fired", "muted")
    times = "" if alert.fired_count == 1 else f", {alert.fired_count:,} times"
    line.append_text(Text.assemble(("  fired ", "muted"), formats.age(alert.fired_at, view.now)))
    line.append(f" ago{times}", "muted")
    if alert.question:
        line.append(f"\n  {formats.plain(short_question(alert.question), 120).plain}", "muted")
    return line


def _run_line(run: SkillRunView, now: Timestamp) -> Text:
    glyph, tone = RUN_STATES.get(run.state, ("■", "muted"))
    age = formats.age(run.started_at, now)
    head = Text.assemble((f"{glyph} {run.state.value}", tone), f"  {run.skill_slug}  ", age)
    text = run.why or run.report
    if text:
        head.append(f"\n  {formats.plain(text, 200)}", "muted")
    return head


def _result_lines(result: SkillResultView, view: ViewContext, *, is_own: bool) -> Text:
    """A skill's figures: profit, share of wins, confidence and accuracy, edge."""
    name = formats.skill_name(result.skill_slug, is_own=is_own)
    head = Text.assemble(
        (name, "bold"),
        ("  realized ", "muted"),
        view.pnl(result.pnl),
        (f" {MONEY_OF[result.venue]}", "muted"),
        (f"  {counted(result.trades_count, 'trade')}", "muted"),
    )
    facts = [*facts_of(result)]
    if result.win_rate is not None:
        decided = result.wins + result.losses
        facts.insert(0, f"won {result.wins:,} of {decided:,} closed")
    if facts:
        for line in _wrapped(facts, max(20, view.width - 2)):
            head.append(f"\n  {line}")
    for each in result.calibration:
        sure, right = f"{each.confidence:.0%}", f"{each.hit_rate:.0%}"
        off = each.hit_rate - each.confidence
        tone = "muted" if abs(off) <= _OFF else "profit" if off > 0 else "loss"
        bar = "█" * round(each.hit_rate * _BAR)
        head.append(f"\n  confidence {sure:>4}  correct {right:>4} of {each.count:<4} ", "muted")
        head.append(bar.ljust(_BAR, "·"), tone)
    return head


def facts_of(result: SkillResultView) -> Iterator[str]:
    """What is known of a skill's foresight: how sure it was, how often right, its edge.

    Yields:
        A fact each; none where too little is known.
    """
    if result.confidence is not None and result.hit_rate is not None:
        score = "" if result.brier is None else f" (Brier {result.brier:.3f})"
        yield f"confidence {result.confidence:.0%}, correct {result.hit_rate:.0%}{score}"
    if result.edge is not None and result.slippage is not None and result.edge_kept is not None:
        yield (
            f"edge {edge_text(result.edge)}, slippage {edge_text(result.slippage)}, "
            f"net edge {edge_text(result.edge_kept)}"
        )


def _wrapped(facts: Sequence[str], width: int) -> Iterator[str]:
    """Facts side by side while there is room, each in one piece."""
    line = ""
    for fact in facts:
        joined = f"{line}  {fact}" if line else fact
        if line and len(joined) > width:
            yield line
            line = fact
        else:
            line = joined
    if line:
        yield line


def _trade_line(trade_view: ReasonedTradeView, view: ViewContext) -> Text:
    trade = trade_view.trade
    head = Text.assemble(
        formats.moment_of(trade.at, view.now),
        f"  {trade.did} {trade.side.value.upper()} ",
        *_paid_for(trade, view),
        formats.plain(short_question(trade.question), 120),
    )
    why = "  ".join(filter(None, (trade.reasoning, _signals(trade_view))))
    return head.append(f"\n  {formats.plain(why, 240)}", "muted") if why else head


def _paid_for(trade: TradeView, view: ViewContext) -> tuple[Text | tuple[str, str], ...]:
    """The fill's amounts; for an order without a fill its state."""
    if trade.deal is Deal.ORDER:
        return ((f"{trade.status.value}  ", "muted"),)
    unit = (f" {MONEY_OF[trade.venue]}  ", "muted")
    return view.money(trade.cost), unit


def _signals(trade: ReasonedTradeView) -> str:
    return signs_text(trade.signal_data, ("signal_source", "edge", "confidence", "probability"))


def explain_agent(agent: AgentView, view: ViewContext) -> tuple[Explanation, ...]:
    """Inputs of an agent's P&L."""
    inputs = (("equity", view.money(agent.equity)), ("cash", view.money(agent.cash)))
    age = formats.age(agent.last_trade_at, view.now)
    formula = "equity - funds given; equity = cash + what selling every position would bring"
    pnl = view.pnl(agent.total_pnl)
    return (Explanation("P&L, $SIM", pnl, formula, inputs, "service data", age),)

"""What the person's hand does with one agent, in words: leash, skills, reasons, results, output."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.signs import signs_text
from service_tui.desk.agents.health import leash_mode
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.fleet import (
    LeashView,
    ReasonedTradeView,
    SkillResultView,
    SkillRunState,
    SkillRunView,
)
from service_tui.desk.slices.records import Deal, TradeView
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, LeashMode, counted
from service_tui.units import Micros, Timestamp, decimal

_TRADES: Final = 60
_LINES: Final = 12
_NEAR: Final = 0.8
_OFF: Final = 0.1
_BAR: Final = 12

_STATES: Final = {
    SkillRunState.RUNNING: ("▶", "profit"),
    SkillRunState.RESTING: ("◷", "muted"),
    SkillRunState.BACKING_OFF: ("↻", "warn"),
    SkillRunState.SUSPENDED: ("‖", "warn"),
    SkillRunState.CRASHED: ("✗", "loss"),
    SkillRunState.DETACHED: ("▷", "accent"),
}


def leash_text(leash: LeashView | None, *, known: bool = True) -> Text:
    """How free somebody is, in a sign and a word; not free before the leashes are `known`."""
    if leash is None:
        return Text("○ free" if known else formats.NOT_KNOWN, "muted")
    glyph = {LeashMode.OBSERVE: "◌", LeashMode.ASK: "?", LeashMode.AUTO: "●"}[leash.mode]
    return Text(f"{glyph} {leash.mode.value}", "warn" if leash.mode is LeashMode.ASK else "")


def skill_text(agent: AgentView, state: DeskState) -> Text:
    """The skill that runs as an agent, or ran last, with its state as a sign."""
    runs = state.supervision.runs_of(agent.agent_id)
    if not runs:
        return Text("-", "muted")
    glyph, tone = _STATES.get(runs[0].state, ("■", "muted"))
    return Text.assemble((f"{glyph} ", tone), runs[0].skill_slug)


def spend_text(spent: Micros, budget: Micros | None, *, masked: bool) -> Text:
    """What is spent today, of the day's budget where there is one."""
    if masked:
        return Text(formats.MASK)
    if budget is None:
        return Text(f"{decimal(spent):,.0f}" if spent else formats.NOT_KNOWN, "muted")
    tone = "warn" if spent > _NEAR * budget else ""
    return Text.assemble((f"{decimal(spent):,.0f}", tone), (f"/{decimal(budget):,.0f}", "muted"))


def hand_parts(agent: AgentView, state: DeskState, now: Timestamp) -> Iterator[tuple[str, Text]]:
    """Headed parts of what is told of an agent."""
    view, masked = state.supervision, is_private(state)
    bound = leash_mode(agent, view)
    leashes = [one for one in view.leashes if one.agent_id == agent.agent_id]
    leashes.sort(key=lambda one: one != bound)
    if leashes:
        yield "leash", Text("\n").join(_leash_line(one, masked=masked) for one in leashes)
    runs = view.runs_of(agent.agent_id)
    if runs:
        yield "skills", Text("\n").join(_run_line(run, now) for run in runs)
    if view.tail is not None and any(run.run_id == view.tail.run_id for run in runs):
        lines = view.tail.lines[-_LINES:]
        yield "output", Text("\n".join(formats.plain(line, 200).plain for line in lines), "muted")


def story_parts(
    agent: AgentView, state: DeskState, now: Timestamp, width: int
) -> Iterator[tuple[str, Text]]:
    """Headed parts of what an agent did, in lines of `width` cells."""
    masked, detail = is_private(state), state.supervision.detail
    if not state.service.embedded:
        said = "Another service does not tell what its agents trade: see the output."
        yield "what it did, and why", Text(said, "muted")
        return
    if detail is None or detail.agent_id != agent.agent_id:
        yield "what it did, and why", Text("asking for its trades", "muted")
        return
    if detail.problem:
        yield "what it did, and why", Text(formats.plain(detail.problem, 300).plain, "warn")
        return
    if detail.results:
        yield (
            "results by skill",
            Text("\n").join(_result_lines(one, width, masked=masked) for one in detail.results),
        )
    lines = [_trade_line(one, now, masked=masked) for one in detail.trades[:_TRADES]]
    nothing = Text("It has not traded yet.", "muted")
    yield "what it did, and why", Text("\n").join(lines) if lines else nothing


def _leash_line(leash: LeashView, *, masked: bool) -> Text:
    whose = leash.skill_slug or "all it does"
    spent = spend_text(leash.spent, leash.budget, masked=masked)
    above = f" above {decimal(leash.threshold):,.2f}" if leash.mode is LeashMode.ASK else ""
    return Text.assemble(leash_text(leash), above, (f"  {whose}  ", "muted"), spent)


def _run_line(run: SkillRunView, now: Timestamp) -> Text:
    glyph, tone = _STATES.get(run.state, ("■", "muted"))
    age = formats.age(run.started_at, now)
    head = Text.assemble((f"{glyph} {run.state.value}", tone), f"  {run.skill_slug}  ", age)
    said = run.why or run.report
    if said:
        head.append(f"\n  {formats.plain(said, 200)}", "muted")
    return head


def _result_lines(one: SkillResultView, width: int, *, masked: bool) -> Text:
    """A skill's figures: what it made, how often it won, how sure and right it was, its edge."""
    name = formats.plain(one.skill_slug or "no skill named", 30).plain
    head = Text.assemble(
        (name, "bold"),
        ("  realized ", "muted"),
        formats.pnl(one.pnl, masked=masked),
        (f" {MONEY_OF[one.venue]}", "muted"),
        (f"  {counted(one.trades_count, 'trade')}", "muted"),
    )
    facts = [*_facts(one)]
    if one.win_rate is not None:
        facts.insert(0, f"won {one.win_rate:.0%} of {one.wins + one.losses} closed")
    if facts:
        for line in wrapped(facts, max(20, width - 2)):
            head.append(f"\n  {line}")
    for each in one.calibration:
        sure, right = f"{each.confidence:.0%}", f"{each.hit_rate:.0%}"
        off = each.hit_rate - each.confidence
        tone = "muted" if abs(off) <= _OFF else "profit" if off > 0 else "loss"
        bar = "█" * round(each.hit_rate * _BAR)
        head.append(f"\n  sure {sure:>4}  right {right:>4} of {each.count:<4} ", "muted")
        head.append(bar.ljust(_BAR, "·"), tone)
    return head


def _facts(one: SkillResultView) -> Iterator[str]:
    if one.confidence is not None and one.hit_rate is not None:
        score = "" if one.brier is None else f" (Brier {one.brier:.3f})"
        yield f"sure {one.confidence:.0%}, right {one.hit_rate:.0%}{score}"
    if one.edge is not None and one.slippage is not None and one.edge_kept is not None:
        yield (f"edge {one.edge:+.3f}, slippage {one.slippage:+.3f}, kept {one.edge_kept:+.3f}")


def wrapped(facts: Sequence[str], width: int) -> Iterator[str]:
    """Facts side by side while there is room, none of them cut apart."""
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


def _trade_line(one: ReasonedTradeView, now: Timestamp, *, masked: bool) -> Text:
    trade = one.trade
    head = Text.assemble(
        formats.moment_of(trade.at, now),
        f"  {trade.did} {trade.side.value.upper()} ",
        *_paid_for(trade, masked=masked),
        formats.plain(trade.question, 80),
    )
    why = "  ".join(filter(None, (trade.reasoning, _signals(one))))
    return head.append(f"\n  {formats.plain(why, 240)}", "muted") if why else head


def _paid_for(trade: TradeView, *, masked: bool) -> tuple[Text | tuple[str, str], ...]:
    """What changed hands; of an order without a fill how it stands."""
    if trade.deal is Deal.ORDER:
        return ((f"{trade.status.value}  ", "muted"),)
    unit = (f" {MONEY_OF[trade.venue]}  ", "muted")
    return formats.money(trade.cost, masked=masked), unit


def _signals(one: ReasonedTradeView) -> str:
    return signs_text(one.signal_data, ("signal_source", "edge", "confidence", "probability"))

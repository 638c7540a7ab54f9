"""What the person's hand does with one agent, in words: leash, skills, reasons, results, output.

Knows the desk's records and the formats. Must not know a widget.
Used by the agents screen.
"""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.desk.fleet import AgentView
from service_tui.desk.records_fleet import (
    LeashView,
    ReasonedTradeView,
    SkillResultView,
    SkillRunState,
    SkillRunView,
)
from service_tui.desk.state import DeskState
from service_tui.terms import LeashMode
from service_tui.units import Timestamp, decimal

_TRADES: Final = 8
_LINES: Final = 12

_STATES: Final = {
    SkillRunState.RUNNING: ("▶", "profit"),
    SkillRunState.RESTING: ("◷", "muted"),
    SkillRunState.BACKING_OFF: ("↻", "warn"),
    SkillRunState.SUSPENDED: ("‖", "warn"),
    SkillRunState.CRASHED: ("✗", "loss"),
    SkillRunState.DETACHED: ("▷", "accent"),
}


def leash_text(leash: LeashView | None) -> Text:
    """How free somebody is, in a sign and a word."""
    if leash is None:
        return Text("○ free", "muted")
    glyph = {LeashMode.OBSERVE: "◌", LeashMode.ASK: "?", LeashMode.AUTO: "●"}[leash.mode]
    return Text(f"{glyph} {leash.mode.value}", "warn" if leash.mode is LeashMode.ASK else "")


def skill_text(agent: AgentView, state: DeskState) -> Text:
    """The skill that runs as an agent, or ran last, with its state as a sign."""
    runs = state.supervision.runs_of(agent.agent_id)
    if not runs:
        return Text("-", "muted")
    glyph, tone = _STATES.get(runs[0].state, ("■", "muted"))
    return Text.assemble((f"{glyph} ", tone), runs[0].skill_slug)


def spend_text(leash: LeashView | None, *, masked: bool) -> Text:
    """What is spent of the day's budget."""
    if leash is None or leash.budget is None:
        return Text("-", "muted")
    tone = "warn" if (leash.used or 0.0) > 0.8 else ""  # noqa: PLR2004  (four fifths, as everywhere)
    said = "***" if masked else f"{decimal(leash.spent):,.0f}/{decimal(leash.budget):,.0f}"
    return Text(said, tone)


def hand_parts(agent: AgentView, state: DeskState, now: Timestamp) -> Iterator[tuple[str, Text]]:
    """Headed parts of what is told of an agent."""
    view, masked = state.supervision, is_private(state)
    leashes = [one for one in view.leashes if one.agent_id == agent.agent_id]
    if leashes:
        yield "leash", Text("\n").join(_leash_line(one, masked=masked) for one in leashes)
    runs = view.runs_of(agent.agent_id)
    if runs:
        yield "skills", Text("\n").join(_run_line(run, now) for run in runs)
    detail = view.detail
    if detail is not None and detail.agent_id == agent.agent_id:
        if detail.results:
            yield (
                "results by skill",
                Text("\n").join(_result_line(one, masked=masked) for one in detail.results),
            )
        if detail.trades:
            yield (
                "what it did, and why",
                Text("\n").join(_trade_line(one, masked=masked) for one in detail.trades[:_TRADES]),
            )
    if view.tail is not None and any(run.run_id == view.tail.run_id for run in runs):
        lines = view.tail.lines[-_LINES:]
        yield "output", Text("\n".join(formats.plain(line, 200).plain for line in lines), "muted")


def _leash_line(leash: LeashView, *, masked: bool) -> Text:
    whose = leash.skill_slug or "all it does"
    spent = spend_text(leash, masked=masked)
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


def _result_line(one: SkillResultView, *, masked: bool) -> Text:
    parts = [formats.plain(one.skill_slug or "no skill", 30).plain, f"{one.trades_count} trades"]
    if one.win_rate is not None:
        parts.append(f"won {one.win_rate:.0%}")
    if one.confidence is not None and one.hit_rate is not None:
        parts.append(f"sure {one.confidence:.0%}, right {one.hit_rate:.0%}")
    if one.edge is not None and one.slippage is not None:
        parts.append(f"edge {one.edge:+.3f}, kept {one.edge - one.slippage:+.3f}")
    return Text.assemble(formats.pnl(one.pnl, masked=masked), "  ", "  ".join(parts))


def _trade_line(one: ReasonedTradeView, *, masked: bool) -> Text:
    trade = one.trade
    head = Text.assemble(
        formats.clock_time(trade.at),
        f"  {trade.action} {trade.side.value.upper()} ",
        formats.money(trade.cost, masked=masked),
        "  ",
        formats.plain(trade.question, 80),
    )
    why = "  ".join(filter(None, (trade.reasoning, _signals(one))))
    return head.append(f"\n  {formats.plain(why, 240)}", "muted") if why else head


def _signals(one: ReasonedTradeView) -> str:
    names = ("signal_source", "edge", "confidence", "probability")
    return "  ".join(f"{name} {one.signal_data[name]}" for name in names if name in one.signal_data)

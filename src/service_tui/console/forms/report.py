"""The day of every agent on one page: its trades, their result, and its refusals."""

from collections.abc import Sequence
from textwrap import shorten
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import section
from service_tui.console.forms.page import Page
from service_tui.console.freshness import NOT_YET, is_private
from service_tui.console.keys import cap
from service_tui.console.questions import side_question
from service_tui.desk.audit.report import DayReport, MoneyDay, day_reports, known_pasts, totals
from service_tui.desk.audit.report_rows import ALL, REASONS_MAX
from service_tui.desk.slices.agents import ReasonedTradeView, SkillResultView
from service_tui.desk.state import DeskState
from service_tui.terms import counted
from service_tui.units import Timestamp

_NAME: Final = 14
_WIDTHS: Final = (7, 11, 5, 11, 6, 11)
"""Cells of the columns: money, the day's P&L, buys, bought, sales, sold."""

_LABEL: Final = 15
_QUESTION: Final = 36
"""Letters of a question that stay on its line."""


class Report(Page):
    """A table of all agents, then each of them; `first` is the agent at the top."""

    def __init__(self, state: DeskState, now: Timestamp, *, first: str = "") -> None:
        super().__init__(
            "Daily report by agent",
            f"{cap('dialog.close')} closes, j and k scroll, {cap('app.agents')} "
            f"{cap('agents.export')} exports",
        )
        self._state = state
        self._now = now
        self._first = first

    def text(self) -> Text:
        """The report of the present state."""
        return report_text(self._state, self._now, first=self._first)

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Renew the report when its inputs have changed."""
        before, self._state, self._now = self._state, state, now
        parts = (state.fleet, state.supervision, state.trades, is_private(state))
        if parts != (before.fleet, before.supervision, before.trades, is_private(before)):
            self._text_block.show_text(self.text())


def report_text(state: DeskState, now: Timestamp, *, first: str = "") -> Text:
    """The whole page."""
    if state.fleet is None:
        return Text("Agents of an external service: see its own dashboard.", "muted")
    masked, reports = is_private(state), day_reports(state, now, known_pasts(state))
    ordered = sorted(reports, key=lambda one: one.agent.agent_id != first)
    read = state.supervision.pasts_at
    age = "loading trades" if read is None else f"updated {formats.age(read, now)} ago"
    head = Text.assemble(("since midnight UTC", "muted"), ("; ", "muted"), (age, "muted"))
    parts = [head, _table(ordered, masked=masked)]
    parts += [section(_title(report), _about(report, masked=masked)) for report in ordered]
    return Text("\n\n").join(parts)


def _title(report: DayReport) -> str:
    return formats.plain(report.agent.name, 60).plain


def _table(reports: Sequence[DayReport], *, masked: bool) -> Text:
    """A line for each agent and currency; then the sums, by currency."""
    names = ("ccy", "day P&L", "buys", "bought", "sales", "sold")
    heads = "".join(name.rjust(width) for name, width in zip(names, _WIDTHS, strict=True))
    lines = [Text("agent".ljust(_NAME) + heads, "muted")]
    for report in reports:
        name = formats.plain(report.agent.name, _NAME - 1)
        for day in report.monies:
            is_first = day is report.monies[0]
            cells = _cells(day, is_read=not report.problem, masked=masked)
            lines.append(_line(name if is_first else Text(), cells))
    is_read = not any(report.problem for report in reports)
    lines += [
        _line(Text(ALL, "heading"), _cells(day, is_read=is_read, masked=masked))
        for day in totals(reports)
    ]
    return Text("\n").join(lines)


def _cells(day: MoneyDay, *, is_read: bool, masked: bool) -> tuple[Text, ...]:
    traded = (
        formats.count(day.buys),
        formats.money(day.bought, masked=masked),
        formats.count(day.sales),
        formats.money(day.sold, masked=masked),
    )
    # An unread value is not zero.
    shown = traded if is_read else (Text("?", "muted"),) * len(traded)
    return (Text(day.money, "muted"), formats.pnl(day.day_pnl, masked=masked), *shown)


def _line(name: Text, cells: Sequence[Text]) -> Text:
    line = name.copy()
    line.append(" " * (_NAME - line.cell_len))
    for cell, width in zip(cells, _WIDTHS, strict=True):
        line.append(" " * max(1, width - cell.cell_len))
        line.append_text(cell)
    return line


def _about(report: DayReport, *, masked: bool) -> Text:
    rows: list[tuple[str, Text]] = []
    if report.problem:
        rows.append(("no data", formats.plain(report.problem, 200)))
    else:
        is_own = report.agent.is_own
        rows += [
            row for day in report.monies for row in _of_money(day, masked=masked, is_own=is_own)
        ]
    if report.decisions or report.waiting:
        decisions = [f"{count} {word}" for word, count in sorted(report.decisions.items())]
        rows.append(("approvals", Text(", ".join([*decisions, f"{report.waiting} pending"]))))
    if report.leash is not None:
        rows.append(("permissions", _leash(report, masked=masked)))
    rows += [
        ("runs", formats.plain(f"{run.skill_slug}: {run.state.value} {run.why}", 200))
        for run in report.runs
    ]
    reasons = [trade.trade.reasoning for trade in report.trades if trade.trade.reasoning]
    rows += [("reason", formats.plain(reason, 200)) for reason in reasons[:REASONS_MAX]]
    lines = [
        Text.assemble((formats.plain(label, _LABEL - 1).plain.ljust(_LABEL), "muted"), value)
        for label, value in rows
    ]
    return Text("\n").join(lines)


def _of_money(day: MoneyDay, *, masked: bool, is_own: bool) -> list[tuple[str, Text]]:
    """The result in one currency, with its best and worst trade, and by skill."""
    unit = (f" {day.money}", "muted")
    rows = [("realized", Text.assemble(formats.pnl(day.realized, masked=masked), unit))]
    if day.payouts:
        paid = formats.money(day.paid, masked=masked)
        rows.append(("payouts", Text.assemble(f"{day.payouts:,} for ", paid, unit)))
    rows += [
        (label, Text.assemble(formats.pnl(trade.trade.pnl, masked=masked), unit, _trade(trade)))
        for label, trade in (("best", day.best), ("worst", day.worst))
        if trade is not None
    ]
    rows += [
        (
            formats.skill_name(skill.skill_slug, is_own=is_own),
            Text.assemble(formats.pnl(skill.pnl, masked=masked), unit, _skill(skill)),
        )
        for skill in day.skills
    ]
    return rows


def _trade(trade_view: ReasonedTradeView) -> str:
    trade = trade_view.trade
    question = shorten(side_question(trade.side, trade.question), _QUESTION, placeholder="…")
    return f"  {trade.did} {question}"


def _skill(skill: SkillResultView) -> str:
    decided = skill.wins + skill.losses
    won = f", won {skill.wins:,} of {decided:,} closed" if decided else ""
    return f"  {counted(skill.trades_count, 'trade')}{won}"


def _leash(report: DayReport, *, masked: bool) -> Text:
    leash, (spent, budget) = report.leash, report.spent
    if leash is None or budget is None:
        free = "free" if report.leash_known else NOT_YET
        return Text(free if leash is None else leash.mode.value)
    used = formats.money(spent, masked=masked).plain
    return Text(f"{leash.mode.value}, {used} of {formats.money(budget, masked=masked).plain} a day")

"""The day of the agents as rows of a spreadsheet, and as sentences in Markdown. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from service_tui.desk.audit.report import DayReport, MoneyDay, totals
from service_tui.desk.slices.agents import ReasonedTradeView, SkillResultView
from service_tui.terms import counted
from service_tui.units import Micros, decimal

Cell = str | float | int | None

REASONS_MAX: Final = 3

ALL: Final = "all"
"""How the line is called that sums the agents, each money for itself."""


def report_rows(reports: Sequence[DayReport]) -> list[Mapping[str, Cell]]:
    """One spreadsheet row for each agent and currency.

    Figures without a currency are on the first.
    """
    return [_row(one, day) for one in reports for day in one.monies]


def _row(report: DayReport, day: MoneyDay) -> Mapping[str, Cell]:
    is_first = day is report.monies[0]
    spent, budget = report.spent
    return {
        "day": f"{datetime.fromtimestamp(report.since, UTC):%Y-%m-%d}",
        "agent": report.agent.agent_id,
        "name": report.agent.name,
        "status": "paused" if report.agent.paused else report.agent.status.value,
        "plan": report.agent.plan.value,
        "leash": _leash(report),
        "money": day.money,
        **_figures(day, is_read=not report.problem),
        "best": _pnl_of(day.best),
        "worst": _pnl_of(day.worst),
        # A budget counts the money of every venue alike.
        "spent_of_budget": decimal(spent) if is_first and report.leash is not None else None,
        "budget": decimal(budget) if is_first and budget is not None else None,
        "waiting": report.waiting if is_first else None,
        **{
            word: report.decisions.get(word, 0) if is_first else None
            for word in ("approved", "refused", "expired")
        },
        "skills": ", ".join(f"{run.skill_slug} {run.state.value}" for run in report.runs),
        "problem": report.problem,
    }


def _leash(report: DayReport) -> str | None:
    if report.leash is None:
        return "free" if report.leash_known else None
    return report.leash.mode.value


def _figures(day: MoneyDay, *, is_read: bool) -> Mapping[str, Cell]:
    """Figures that can be summed over agents; empty for trades that were not read."""
    traded: Mapping[str, Cell] = {
        "buys": day.buys,
        "bought": decimal(day.bought),
        "sales": day.sales,
        "sold": decimal(day.sold),
        "payouts": day.payouts,
        "paid": decimal(day.paid),
        "realized": decimal(day.realized),
    }
    return {
        "equity": decimal(day.equity),
        "day_pnl": None if day.day_pnl is None else decimal(day.day_pnl),
        "total_pnl": decimal(day.total_pnl),
        "positions": day.positions,
        "to_redeem": decimal(day.to_redeem),
        **(traded if is_read else dict.fromkeys(traded)),
    }


def _pnl_of(trade: ReasonedTradeView | None) -> float | None:
    return None if trade is None or trade.trade.pnl is None else decimal(trade.trade.pnl)


# -- as Markdown --------------------------------------------------------------------------------

_COLUMNS: Final = (
    "name",
    "status",
    "leash",
    "money",
    "equity",
    "day_pnl",
    "total_pnl",
    "positions",
    "to_redeem",
    "buys",
    "bought",
    "sales",
    "sold",
    "payouts",
    "paid",
    "realized",
)


def report_table(reports: Sequence[DayReport]) -> str:
    """A table of the agents; its last lines are the sums, one for each money."""
    is_read = not any(one.problem for one in reports)
    sums = [
        {"name": ALL, "money": day.money, **_figures(day, is_read=is_read)}
        for day in totals(reports)
    ]
    lines = [
        f"| {' | '.join(_COLUMNS)} |",
        f"|{'---|' * len(_COLUMNS)}",
        *(
            f"| {' | '.join(plain(row.get(name)) for name in _COLUMNS)} |"
            for row in (*report_rows(reports), *sums)
        ),
    ]
    return "\n".join(lines)


def report_markdown(reports: Sequence[DayReport]) -> str:
    """The day of each agent, in sentences that a person reads or sends on."""
    return "\n".join(line for one in reports for line in _section(one))


def _section(report: DayReport) -> list[str]:
    lines = [f"## {plain(report.agent.name)}", ""]
    if report.problem:
        lines.append(f"- Unknown: {plain(report.problem)}")
    else:
        lines += [line for day in report.monies for line in _of_money(day)]
    if report.decisions or report.waiting:
        parts = [f"{count} {word}" for word, count in sorted(report.decisions.items())]
        lines.append(f"- Approvals: {', '.join([*parts, f'{report.waiting} pending'])}")
    spent, budget = report.spent
    if report.leash is not None and budget is not None:
        lines.append(f"- Spent {_sum(spent)} of {_sum(budget)} a day, all currencies together")
    lines += [
        f"- Run {plain(run.skill_slug)}: {run.state.value} {plain(run.why)}".rstrip()
        for run in report.runs
    ]
    for trade in report.trades[:REASONS_MAX]:
        if trade.trade.reasoning:
            lines.append(f"- Reason: {plain(trade.trade.reasoning)}")
    return [*lines, ""]


def _of_money(day: MoneyDay) -> list[str]:
    """Lines about one currency: trades, the best and the worst of them, and results by skill."""
    traded = (
        f"{counted(day.buys, 'buy')} for {_sum(day.bought)}, "
        f"{counted(day.sales, 'sale')} for {_sum(day.sold)}"
    )
    if day.payouts:
        traded += f", {counted(day.payouts, 'payout')} of {_sum(day.paid)}"
    lines = [f"- Traded in {day.money}: {traded}; realized {_sum(day.realized, signed=True)}"]
    lines += [
        f"- {label} in {day.money}: {_trade(trade)}"
        for label, trade in (("Best", day.best), ("Worst", day.worst))
        if trade is not None
    ]
    lines += [
        f"- Skill {plain(skill.skill_slug or 'no skill')} in {day.money}: {_skill(skill)}"
        for skill in day.skills
    ]
    return lines


def _trade(one: ReasonedTradeView) -> str:
    trade = one.trade
    pnl = _sum(trade.pnl or Micros(0), signed=True)
    return f"{pnl}, {trade.did} {trade.side.value.upper()} {plain(trade.question)}"


def _skill(skill: SkillResultView) -> str:
    parts = [counted(skill.trades_count, "trade"), f"P&L {_sum(skill.pnl, signed=True)}"]
    if skill.win_rate is not None:
        parts.append(f"{skill.win_rate:.0%} won")
    return ", ".join(parts)


def _sum(amount: Micros, *, signed: bool = False) -> str:
    return f"{decimal(amount):+z,.2f}" if signed else f"{decimal(amount):z,.2f}"


def plain(cell: Cell) -> str:
    """Text escaped for a Markdown cell."""
    if isinstance(cell, float):
        return f"{cell:z,.2f}"
    text = "" if cell is None else " ".join(str(cell).split())
    return "".join(f"\\{letter}" if letter in "\\|`*_[]<>#" else letter for letter in text)

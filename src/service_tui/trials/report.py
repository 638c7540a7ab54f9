"""The report of an evaluation: a page of Markdown, JSON, CSV of the trades, METRIC lines."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final, NamedTuple

from service_tui.console.charts.drawing import drawn_time
from service_tui.console.charts.series import TimeSeries, Window
from service_tui.desk.audit.exports import Row, as_csv, text_of_moment
from service_tui.evaluation.forecasts import Interval
from service_tui.evaluation.ledger import MarketResult, TradedMarket, TrialTrade, results_of
from service_tui.evaluation.luck import paired_difference
from service_tui.evaluation.report import (
    SCHEMA,
    CalibrationReport,
    DifferenceReport,
    EdgeReport,
    EvaluationReport,
    GroupReport,
    SkillReport,
    TrialReport,
)
from service_tui.evaluation.verdict import CurveFigures, Verdict, verdict_of
from service_tui.terms import counted
from service_tui.trials.trial import TrialResult
from service_tui.units import ONE, Micros, Timestamp

CHART: Final = (78, 12)
_NONE: Final = "-"


class JudgedSkill(NamedTuple):
    """What one skill came to in its trials."""

    slug: str
    results: tuple[TrialResult, ...]
    verdict: Verdict


class Difference(NamedTuple):
    """By how much the first skill made more than the other, micros, with its 90 % interval."""

    first: str
    other: str
    more: Micros
    interval: Interval | None


class JudgedEvaluation(NamedTuple):
    """The report of an evaluation."""

    skills: tuple[JudgedSkill, ...]
    differences: tuple[Difference, ...]


def report_of(results: Sequence[TrialResult]) -> JudgedEvaluation:
    """Judge the trials of one or several skills; the same results give the same report."""
    by_slug: dict[str, list[TrialResult]] = {}
    for one in results:
        by_slug.setdefault(one.plan.slug, []).append(one)
    skills = tuple(
        JudgedSkill(slug, tuple(found), verdict_of([one.ledger for one in found], _rng()))
        for slug, found in by_slug.items()
    )
    first, *others = skills
    differences = tuple(
        Difference(first.slug, other.slug, *paired_difference(_all(first), _all(other), _rng()))
        for other in others
    )
    return JudgedEvaluation(skills, differences)


def _rng() -> random.Random:
    return random.Random(0)  # noqa: S311  (draws of a bootstrap)


def _all(skill: JudgedSkill) -> list[MarketResult]:
    return [
        result._replace(block=f"{one.plan.name}/{result.block}")
        for one in skill.results
        for result in results_of(one.ledger)
    ]


# -- Markdown --------------------------------------------------------------------------------------


def markdown(report: JudgedEvaluation) -> Iterator[str]:
    """The page, line by line."""
    for skill in report.skills:
        yield from _page(skill)
    if report.differences:
        yield "## Compared"
        yield ""
        yield "| Skill | made more than | by | 90 % |"
        yield "|---|---|---|---|"
        for one in report.differences:
            interval = _interval(one.interval, lambda value: f"{value / ONE:,.2f}")
            yield f"| {one.first} | {one.other} | {money(one.more)} | {interval} |"
        yield ""


def _page(skill: JudgedSkill) -> Iterator[str]:
    verdict = skill.verdict
    yield f"# {skill.slug}"
    yield ""
    yield f"**{verdict.sentence[:1].upper()}{verdict.sentence[1:]}.**"
    yield ""
    if troubles := list(_troubles(skill)):
        yield from (*troubles, "")
    for result in skill.results:
        plan = result.plan
        yield (
            f"Trial {plan.name}: {_day(plan.begins_at)} to {_day(plan.ends_at)}, "
            f"{counted(result.rounds, 'round')} every {plan.every_s / 60:g} min, "
            f"{plan.budget:.2f} $SIM a day, plan {plan.plan.value}, "
            f"{'a process for each round' if result.anew else 'one process'}."
        )
    yield ""
    yield "| Figure | Value | 90 % |"
    yield "|---|---|---|"
    for name, value, interval in figures(verdict):
        yield f"| {name} | {value} | {interval} |"
    yield ""
    yield from _curves(skill)
    yield from _luck(verdict)
    yield from _calibration(verdict)
    yield from _edges(verdict)
    yield from _groups(verdict)


def figures(verdict: Verdict) -> Iterator[tuple[str, str, str]]:
    """Name, value and interval of each figure, as text."""
    sums = verdict.sums
    yield "trades", f"{sums.trades} in {counted(verdict.events, 'event')}", ""
    yield "P&L", money(sums.pnl), ""
    yield "ROI", percent(sums.roi), _interval(verdict.roi_interval, percent)
    yield "turnover", money(sums.turnover), ""
    yield "slippage paid", money(sums.slippage), ""
    for number, curve in enumerate(verdict.curves, 1):
        tail = f" ({number})" if len(verdict.curves) > 1 else ""
        yield f"max drawdown{tail}", percent(curve.max_drawdown), ""
        under = _NONE if curve.under_water_s is None else f"{curve.under_water_s / 86_400:.1f} d"
        yield f"longest time under water{tail}", under, ""
        yield f"Sharpe, Sortino{tail}", f"{number_of(curve.sharpe)}, {number_of(curve.sortino)}", ""
    yield "stated probabilities", str(verdict.forecasts), ""
    yield (
        "Brier, own and the market's",
        f"{number_of(verdict.brier, 4)}, {number_of(verdict.market_brier, 4)}",
        "",
    )
    yield (
        "log loss, own and the market's",
        f"{number_of(verdict.log_loss, 4)}, {number_of(verdict.market_log_loss, 4)}",
        "",
    )
    yield (
        "skill score",
        number_of(verdict.skill_score, 3),
        _interval(verdict.skill_interval, lambda value: number_of(value, 3)),
    )
    yield "closing line value", points(verdict.closing_line), ""


def _troubles(skill: JudgedSkill) -> Iterator[str]:
    """What went wrong, by name."""
    for result in skill.results:
        name = result.plan.name
        if result.fence:
            yield f"- {name}: {result.fence}: this trial proves nothing about the future"
        if result.ended:
            where = f"ended in round {result.rounds} of {result.plan.rounds}"
            yield f"- {name}: {where}: {result.ended}"
        for error, count in result.errors:
            yield f"- {name}: {count} of {result.rounds} rounds failed: {error}"
        for code, count in result.refusals:
            yield f"- {name}: {counted(count, 'order')} refused: {code}"
        if result.late:
            late = counted(result.late, "round")
            yield f"- {name}: {late} skipped: an earlier one waited too long"
        if result.left_behind:
            left = counted(result.left_behind, "program")
            yield f"- {name}: {left} left behind, and ended"


def troubles_of(report: JudgedEvaluation) -> list[str]:
    """What went wrong in the trials of the first skill, a sentence each."""
    return [one.removeprefix("- ") for one in _troubles(report.skills[0])]


def _curves(skill: JudgedSkill) -> Iterator[str]:
    for result in skill.results:
        curve = [(point.at, float(point.equity) / ONE) for point in result.ledger.curve]
        if len(curve) < 2:  # noqa: PLR2004
            continue
        yield f"Equity, $SIM, {result.plan.name}:"
        yield ""
        yield from _drawn(TimeSeries("equity", tuple(curve), "", write=_with_cents))


def _luck(verdict: Verdict) -> Iterator[str]:
    controls = verdict.luck.controls
    if not controls:
        return
    # As a curve from the worst to the best; the trader's own is a second line across it.
    ranked = tuple((float(place), control / ONE) for place, control in enumerate(controls))
    own = verdict.luck.pnl / ONE
    yield "P&L of 200 random traders, worst to best, and the skill's own (flat line):"
    yield ""
    yield from _drawn(
        TimeSeries(
            "P&L",
            ranked,
            "",
            others=(((0.0, own), (ranked[-1][0], own)),),
            write=_with_cents,
        )
    )


def _drawn(series: TimeSeries) -> Iterator[str]:
    first, last = series.span
    drawn = drawn_time(series, CHART, Window(first, last), None)
    yield "```"
    # Without the last row: its labels are times of day.
    for pieces in drawn.lines[:-1]:
        yield "".join(text for text, _ in pieces).rstrip()
    yield "```"
    yield ""


def _calibration(verdict: Verdict) -> Iterator[str]:
    if not verdict.calibration:
        return
    yield "| Stated | Count | Mean stated | Came true | 90 % |"
    yield "|---|---|---|---|---|"
    for one in verdict.calibration:
        interval = _interval(one.interval, lambda value: number_of(value, 3))
        yield (
            f"| {one.low:.1f} to {one.high:.1f} | {one.forecasts} | {one.stated:.3f} "
            f"| {one.came:.3f} | {interval} |"
        )
    yield ""


def _edges(verdict: Verdict) -> Iterator[str]:
    if not verdict.edges:
        return
    yield "| Buys, by claimed edge | Claimed | Realised |"
    yield "|---|---|---|"
    for one in verdict.edges:
        yield f"| {one.buys} | {points(one.claimed)} | {points(one.realised)} |"
    yield ""


def _groups(verdict: Verdict) -> Iterator[str]:
    for title, rows in verdict.groups.items():
        if not rows:
            continue
        yield f"| By {title} | Buys | Spent | P&L |"
        yield "|---|---|---|---|"
        for row in rows:
            yield f"| {row.name} | {row.buys} | {money(row.bought)} | {money(row.pnl)} |"
        yield ""


def money(amount: Micros) -> str:
    """$SIM with two decimals."""
    return f"{amount / ONE:,.2f}"


def _with_cents(value: float) -> str:
    return f"{value:.2f}"


def percent(value: float | None) -> str:
    """A fraction in percent; a dash where there is none."""
    return _NONE if value is None else f"{100 * value:.2f} %"


def points(value: float | None) -> str:
    """Price points; a dash where there is none."""
    return _NONE if value is None else f"{100 * value:+.2f} pt"


def number_of(value: float | None, digits: int = 2) -> str:
    """A figure; a dash where there is none."""
    return _NONE if value is None else f"{value:.{digits}f}"


def _interval(interval: Interval | None, write: Callable[[float], str]) -> str:
    return _NONE if interval is None else f"{write(interval.low)} to {write(interval.high)}"


def _day(at: Timestamp) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


# -- for programs ----------------------------------------------------------------------------------


def kept_form(report: JudgedEvaluation) -> EvaluationReport:
    """The report as it is kept, and read by programs."""
    return EvaluationReport(
        SCHEMA,
        tuple(_skill_report(one) for one in report.skills),
        tuple(
            DifferenceReport(
                one.first,
                one.other,
                one.more / ONE,
                _ends(one.interval, ONE),
            )
            for one in report.differences
        ),
    )


def _skill_report(skill: JudgedSkill) -> SkillReport:
    verdict = skill.verdict
    sums = verdict.sums
    return SkillReport(
        skill=skill.slug,
        verdict=verdict.sentence,
        trials=tuple(map(_trial_report, skill.results, verdict.curves)),
        trades=sums.trades,
        events=verdict.events,
        bought=sums.bought / ONE,
        pnl=sums.pnl / ONE,
        roi=sums.roi,
        roi_interval=_ends(verdict.roi_interval),
        turnover=sums.turnover / ONE,
        slippage=sums.slippage / ONE,
        forecasts=verdict.forecasts,
        brier=verdict.brier,
        market_brier=verdict.market_brier,
        log_loss=verdict.log_loss,
        market_log_loss=verdict.market_log_loss,
        skill_score=verdict.skill_score,
        skill_interval=_ends(verdict.skill_interval),
        closing_line=verdict.closing_line,
        controls_beaten=verdict.luck.beaten,
        controls=tuple(one / ONE for one in verdict.luck.controls),
        calibration=tuple(
            CalibrationReport(*one[:-1], _ends(one.interval)) for one in verdict.calibration
        ),
        edges=tuple(EdgeReport(*one) for one in verdict.edges),
        groups={
            title: tuple(
                GroupReport(row.name, row.buys, row.bought / ONE, row.pnl / ONE) for row in rows
            )
            for title, rows in verdict.groups.items()
        },
    )


def _trial_report(result: TrialResult, curve: CurveFigures) -> TrialReport:
    plan = result.plan
    return TrialReport(
        name=plan.name,
        history=plan.history or None,
        seed=plan.seed,
        begins_at=plan.begins_at,
        ends_at=plan.ends_at,
        every_s=plan.every_s,
        budget=plan.budget,
        rounds=result.rounds,
        failed_rounds=result.failed,
        skipped_rounds=result.late,
        ended=result.ended or None,
        errors=dict(result.errors),
        refusals=dict(result.refusals),
        left_behind=result.left_behind,
        is_fenced=not result.fence,
        **asdict(curve),
        curve=tuple((float(point.at), point.equity / ONE) for point in result.ledger.curve),
    )


def _ends(interval: Interval | None, unit: Micros | int = 1) -> tuple[float, float] | None:
    return None if interval is None else (interval.low / unit, interval.high / unit)


def trades_csv(report: JudgedEvaluation) -> str:
    """Every trade of every trial; money and shares in units."""
    return as_csv([
        _trade_row(skill.slug, result, trade, markets)
        for skill in report.skills
        for result in skill.results
        for markets in [result.ledger.by_id]
        for trade in result.ledger.trades
    ])


def _trade_row(
    slug: str, result: TrialResult, trade: TrialTrade, markets: Mapping[str, TradedMarket]
) -> Row:
    market = markets[trade.market_id]
    return {
        "skill": slug,
        "trial": result.plan.name,
        "at": text_of_moment(trade.at),
        "market_id": trade.market_id,
        "question": market.question,
        "category": market.category,
        "side": trade.side.value,
        "action": trade.action.value,
        "shares": trade.shares / ONE,
        "money": trade.money / ONE,
        "price_before": trade.price_before,
        "yes_before": trade.yes_before,
        "stated": trade.stated,
        "edge": trade.edge,
        "paid_yes": market.paid_yes,
    }


METRICS: Final = (
    "pnl", "roi", "skill_score", "brier", "closing_line", "controls_beaten", "trades",
)  # fmt: skip
"""The figures that an experiment can improve."""


def figures_of(report: JudgedEvaluation) -> dict[str, float]:
    """The figures of the first skill by their name in `METRICS`, without undefined ones."""
    verdict = report.skills[0].verdict
    values = (
        verdict.sums.pnl / ONE,
        verdict.sums.roi,
        verdict.skill_score,
        verdict.brier,
        verdict.closing_line,
        verdict.luck.beaten,
        verdict.sums.trades,
    )
    return {
        name: float(value) for name, value in zip(METRICS, values, strict=True) if value is not None
    }


def metrics(report: JudgedEvaluation) -> Iterator[str]:
    """`METRIC name=value` lines of the first skill, for an experiment of autoresearch."""
    for name, value in figures_of(report).items():
        yield f"METRIC {name}={value:.6f}"

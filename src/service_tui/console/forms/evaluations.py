"""Evaluations of skills on a page: luck in a sentence, equity, random traders, every figure."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType

from service_tui.console import formats
from service_tui.console.charts.drawing import drawn_time
from service_tui.console.charts.series import TimeSeries, Window
from service_tui.console.figures import Figure, figures, section
from service_tui.console.forms.page import Page
from service_tui.console.freshness import NOT_YET, is_private
from service_tui.console.keys import cap
from service_tui.desk.slices.research import EvaluationView
from service_tui.desk.state import DeskState
from service_tui.evaluation.report import SkillReport, TrialReport
from service_tui.terms import counted
from service_tui.units import ONE, Micros, Timestamp

_FRAME: Final = 5
"""Cells of the frame and its scrollbar, left and right together."""

_TWO_FROM: Final = 110
"""Least width with room for two charts, or tables, side by side."""

_PERIOD_FROM: Final = 96
"""Least width with room for the periods of the trials."""

_GAP: Final = 4
_CHART_ROWS: Final = 11
_NAME: Final = 60
_SENTENCE: Final = 300
_DAY_S: Final = 86_400.0

EMPTY: Final = (
    "No evaluation on this machine yet. In a shell:\n\n"
    "  service-tui evaluate momentum                   three invented worlds\n"
    "  service-tui evaluate momentum --history NAME    real questions of the past\n\n"
    "It tries the skill round by round, and says whether it is good, or lucky."
)


class Evaluations(Page):
    """The evaluations of this machine, one at a time, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "turn(1)", show=False),
        Binding("left", "turn(-1)", show=False),
    ]

    def __init__(self, state: DeskState) -> None:
        super().__init__(
            "Evaluations", f"{cap('dialog.close')} closes, j and k scroll, ← and → older and newer"
        )
        self._state = state
        self._place = 0

    def text(self) -> Text:
        """The evaluation in front."""
        found = self._state.research.evaluations
        width = max(40, self.size.width - _FRAME)
        if found is None:
            return Text(NOT_YET, "muted")
        if not found:
            return Text(EMPTY)
        place = min(self._place, len(found) - 1)
        head = Text.assemble(
            (f"{place + 1} of {len(found)}  ", "muted"),
            (formats.plain(found[place].name, _NAME).plain, "bold heading"),
            ("  ", ""),
            # No age: nothing renews the page while it is read.
            (formats.date_time(found[place].at).plain, "muted"),
        )
        masked = is_private(self._state)
        return Text.assemble(head, "\n\n", evaluation_text(found[place], width, masked=masked))

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Renew the page when what was read has changed."""
        del now
        before, self._state = self._state, state
        asked = state.research.evaluations, is_private(state)
        if asked != (before.research.evaluations, is_private(before)):
            self.show()

    def on_resize(self, _: events.Resize) -> None:
        """Draw the charts at the new width."""
        self.show()

    def action_turn(self, by: int) -> None:
        """To an older evaluation, or a newer one."""
        count = len(self._state.research.evaluations or ())
        self._place = max(0, min(self._place + by, count - 1))
        self.show()
        self.query_one("#frame").scroll_home(animate=False)


def evaluation_text(view: EvaluationView, width: int, *, masked: bool) -> Text:
    """One evaluation, in so many cells."""
    if view.report is None:
        return Text(formats.plain(view.problem, _SENTENCE).plain, "warn")
    parts = [_skill(one, width, masked=masked) for one in view.report.skills]
    if view.report.differences:
        parts.append(section("compared", _differences(view, masked=masked)))
    return Text("\n\n").join(parts)


def _skill(skill: SkillReport, width: int, *, masked: bool) -> Text:
    parts = [
        Text.assemble(
            (formats.plain(skill.skill, _NAME).plain, "bold heading"),
            "\n",
            (formats.plain(skill.verdict, _SENTENCE).plain, "bold"),
        )
    ]
    troubles = list(_troubles(skill))
    if troubles:
        parts.append(Text("\n", "warn").join(Text(one, "warn") for one in troubles))
    across = max(1, min(4, width // 34))
    shown = list(_figures(skill, masked=masked))
    parts.append(figures(shown, across=across, width=width))
    parts.append(_trials(skill, width))
    parts += _beside(
        width,
        _equity(skill, _half(width), masked=masked),
        _random_traders(skill, _half(width), masked=masked),
    )
    parts += _beside(width, _calibration(skill), _edges(skill))
    groups = [_group(title, skill, masked=masked) for title in skill.groups]
    for first in range(0, len(groups), 2):
        parts += _beside(width, *groups[first : first + 2])
    return Text("\n\n").join(part for part in parts if part.plain)


def _half(width: int) -> int:
    return (width - _GAP) // 2 if width >= _TWO_FROM else width


def _beside(width: int, *parts: Text) -> list[Text]:
    """Parts side by side where there is room, else one below the other."""
    shown = [part for part in parts if part.plain]
    if width < _TWO_FROM or len(shown) < len(parts) or len(shown) < 2:  # noqa: PLR2004
        return shown
    left, right = (part.split("\n", allow_blank=True) for part in shown)
    lines: list[Text] = []
    for number in range(max(len(left), len(right))):
        line = left[number].copy() if number < len(left) else Text()
        line.append(" " * max(1, _half(width) + _GAP - line.cell_len))
        line.append_text(right[number] if number < len(right) else Text())
        lines.append(line)
    return [Text("\n").join(lines)]


def _troubles(skill: SkillReport) -> Iterator[str]:
    for trial in skill.trials:
        name = formats.plain(trial.name, _NAME).plain
        if not trial.is_fenced:
            yield f"{name}: the recording was not closed to the skill: this proves nothing"
        if trial.ended:
            why = formats.plain(trial.ended, _SENTENCE).plain
            yield f"{name}: ended after {counted(trial.rounds, 'round')}: {why}"
        for error, count in trial.errors.items():
            yield f"{name}: {counted(count, 'round')} failed: {formats.plain(error, _SENTENCE)}"
        for code, count in trial.refusals.items():
            yield f"{name}: {counted(count, 'order')} refused: {formats.plain(code, _NAME)}"
        if trial.skipped_rounds:
            yield f"{name}: {counted(trial.skipped_rounds, 'round')} skipped while it waited"
        if trial.left_behind:
            yield f"{name}: {counted(trial.left_behind, 'program')} left behind, and ended"


def _figures(skill: SkillReport, *, masked: bool) -> Iterator[Figure]:
    yield "trades", Text(f"{skill.trades:,} in {counted(skill.events, 'event')}")
    yield "P&L", formats.pnl(_micros(skill.pnl), masked=masked)
    yield "ROI", _with_ends(formats.percent(skill.roi), skill.roi_interval, 100.0, "%")
    yield "slippage paid", formats.money(_micros(skill.slippage), masked=masked)
    score = _number(skill.skill_score, 3)
    yield "skill score", _with_ends(score, skill.skill_interval, 1.0, "")
    yield "Brier, market's", Text(f"{_number(skill.brier, 4)}, {_number(skill.market_brier, 4)}")
    yield (
        "log loss, market's",
        Text(f"{_number(skill.log_loss, 4)}, {_number(skill.market_log_loss, 4)}"),
    )
    yield "closing line", Text.assemble(formats.points(skill.closing_line), (" pt", "muted"))


def _trials(skill: SkillReport, width: int) -> Text:
    """A line for each trial: its period, where there is room, and the figures of its curve."""
    rows = [
        (
            formats.plain(one.name, 20).plain,
            formats.day(Timestamp(one.begins_at)),
            formats.day(Timestamp(one.ends_at)),
            f"{one.rounds:,}",
            formats.percent(one.total_return, 2).plain,
            formats.percent(one.max_drawdown, 2).plain,
            _days(one),
            _number(one.sharpe, 2).plain,
            _number(one.sortino, 2).plain,
        )
        for one in skill.trials
    ]
    heads = ("", "from", "to", "rounds", "return", "drawdown", "under water", "Sharpe", "Sortino")
    places = range(len(heads)) if width >= _PERIOD_FROM else (0, 4, 5, 6, 7)
    return _table(
        "trials",
        [heads[place] for place in places],
        [[row[place] for place in places] for row in rows],
    )


def _days(trial: TrialReport) -> str:
    if trial.under_water_s is None:
        return formats.count(None).plain
    return f"{trial.under_water_s / _DAY_S:.1f} d"


def _number(value: float | None, digits: int) -> Text:
    return formats.count(None) if value is None else Text(f"{value:.{digits}f}")


def _with_ends(value: Text, ends: tuple[float, float] | None, factor: float, unit: str) -> Text:
    if ends is None:
        return value
    low, high = (f"{factor * end:.{1 if factor > 1 else 3}f}" for end in ends)
    return Text.assemble(value, (f" ({low} to {high}{unit})", "muted"))


def _micros(units: float) -> Micros:
    return Micros(round(units * ONE))


def _equity(skill: SkillReport, width: int, *, masked: bool) -> Text:
    drawn = [trial for trial in skill.trials if len(trial.curve) > 1]
    if not drawn or masked:
        return Text()
    names = tuple(formats.plain(trial.name, 20).plain for trial in drawn)
    first, *others = (trial.curve for trial in drawn)
    title = "equity, $SIM" + (f": {', '.join(names)}" if len(names) > 1 else "")
    series = TimeSeries(title, first, "", others=tuple(others), names=names, write=_cents)
    return section(title, _drawn(series, width))


def _random_traders(skill: SkillReport, width: int, *, masked: bool) -> Text:
    if len(skill.controls) < 2 or masked:  # noqa: PLR2004
        return Text()
    ranked = tuple((float(place), pnl) for place, pnl in enumerate(skill.controls))
    own = ((0.0, skill.pnl), (ranked[-1][0], skill.pnl))
    series = TimeSeries("P&L", ranked, "", others=(own,), write=_cents)
    return section(
        "random traders, worst to best; flat: the skill", _drawn(series, width, has_times=False)
    )


def _drawn(series: TimeSeries, width: int, *, has_times: bool = True) -> Text:
    first, last = series.span
    drawn = drawn_time(series, (width, _CHART_ROWS), Window(first, last), None)
    lines = drawn.lines if has_times else drawn.lines[:-1]
    return Text("\n").join(Text.assemble(*pieces) for pieces in lines)


def _cents(value: float) -> str:
    return f"{value:,.2f}"


def _calibration(skill: SkillReport) -> Text:
    rows = [
        (
            f"{one.low:.1f} to {one.high:.1f}",
            f"{one.forecasts}",
            f"{one.stated:.3f}",
            f"{one.came:.3f}",
            "" if one.interval is None else f"{one.interval[0]:.3f} to {one.interval[1]:.3f}",
        )
        for one in skill.calibration
    ]
    return _table("calibration", ("stated", "count", "mean", "came true", "90 %"), rows)


def _edges(skill: SkillReport) -> Text:
    rows = [
        (f"{one.buys}", f"{100 * one.claimed:+.2f}", f"{100 * one.realised:+.2f}")
        for one in skill.edges
    ]
    return _table("edge, in points", ("buys", "claimed", "realised"), rows)


def _group(title: str, skill: SkillReport, *, masked: bool) -> Text:
    rows = [
        (
            formats.plain(row.name, 24).plain,
            f"{row.buys}",
            formats.money(_micros(row.bought), masked=masked).plain,
            formats.pnl(_micros(row.pnl), masked=masked).plain,
        )
        for row in skill.groups[title]
    ]
    return _table(f"by {formats.plain(title, 24).plain}", ("", "buys", "spent", "P&L"), rows)


def _differences(view: EvaluationView, *, masked: bool) -> Text:
    lines: list[Text] = []
    for one in () if view.report is None else view.report.differences:
        names = (formats.plain(name, _NAME).plain for name in (one.first, one.other))
        more = formats.pnl(_micros(one.more), masked=masked)
        line = Text.assemble(" made more than ".join(names), ": ", more)
        if one.interval is not None and not masked:
            line.append(f" ({one.interval[0]:,.2f} to {one.interval[1]:,.2f})", "muted")
        lines.append(line)
    return Text("\n").join(lines)


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Text:
    """A small table: the first column on the left, figures on the right; empty without rows."""
    if not rows:
        return Text()
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )

    body = [Text(line(heads), "muted"), *(Text(line(row)) for row in rows)]
    return section(title, Text("\n").join(body))

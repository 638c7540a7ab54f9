"""Charts of experiments and of a sweep, as lines of text.

The shape of a mark gives its status without the colour.
"""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console.charts.sources import best_by_value, swept
from service_tui.desk.slices.research import BacktestView, ExperimentView
from service_tui.terms import ExperimentStatus
from service_tui.units import decimal

MARKS: Final = {
    ExperimentStatus.KEEP: ("●", "profit"),
    ExperimentStatus.DISCARD: ("○", "muted"),
    ExperimentStatus.CRASH: ("✗", "loss"),
    ExperimentStatus.CHECKS_FAILED: ("✗", "loss"),
}
MARGIN: Final = 10
Cell = tuple[str, str]


def figure(value: float | None, unit: str = "") -> str:
    """A metric with four significant digits, and its unit."""
    if value is None:
        return "\N{EN DASH}"
    text = f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"  # noqa: PLR2004  (digits)
    return f"{text} {unit}".rstrip()


def metric_chart(rows: Sequence[ExperimentView], width: int, height: int) -> Text:
    """The metric of each experiment, oldest at the left, with the best so far as a line.

    Args:
        rows: of one session, oldest first.
        width: cells available; the newest that fit are shown.
        height: lines available, the axis and its numbers included.

    Returns:
        The lines; one sentence if no experiment has a figure.
    """
    room = max(1, width - MARGIN)
    pitch = 3 if len(rows) * 3 <= room else 2 if len(rows) * 2 <= room else 1
    shown = rows[-(room // pitch) :]
    known = [experiment.metric for experiment in shown if experiment.metric is not None]
    lines = max(2, height - 2)
    if not known:
        return Text("no experiment figures yet", "muted")
    low, high = min(known), max(known)
    grid: list[list[Cell]] = [[(" ", "")] * (len(shown) * pitch) for _ in range(lines)]
    best: float | None = None
    for place, one in enumerate(shown):
        if one.metric is not None and one.status is ExperimentStatus.KEEP:
            is_better = best is None or one.direction.is_better(one.metric, best)
            best = one.metric if is_better else best
        if best is not None:
            row = _row(best, low, high, lines)
            for column in range(place * pitch, (place + 1) * pitch):
                grid[row][column] = ("─", "accent")
    for place, one in enumerate(shown):
        row = lines - 1 if one.metric is None else _row(one.metric, low, high, lines)
        grid[row][place * pitch] = MARKS[one.status]
    return _framed(
        grid, (low, high), _spread([str(experiment.number) for experiment in shown], pitch)
    )


def _spread(labels: Sequence[str], pitch: int) -> str:
    """Labels under their columns; one that would touch its neighbour is left out."""
    line = ""
    for place, label in enumerate(labels):
        at = place * pitch
        if at >= (len(line) + 2 if line else 0):
            line = line.ljust(at) + label
    return line


def sweep_chart(view: BacktestView, width: int, height: int) -> Text:
    """P&L against the swept threshold; of several, against the first.

    Returns:
        The lines; a sentence without a sweep.
    """
    if not view.points:
        return Text("one set of thresholds: sweep several values for a chart", "muted")
    if not view.total:
        return Text("no trades replayed: no chart", "muted")
    name = swept(view.points)
    best = best_by_value(view.points, name)
    if not best:
        return Text("no threshold in the result: no chart", "muted")
    values = sorted(best)
    figures = [decimal(best[value].pnl) for value in values]
    room = max(1, width - MARGIN)
    pitch = max(1, min(6, room // len(values)))
    shown = max(1, room // pitch)
    values, figures = values[:shown], figures[:shown]
    low, high = min(*figures, 0.0), max(*figures, 0.0)
    lines = max(2, height - 2)
    grid: list[list[Cell]] = [[(" ", "")] * (len(values) * pitch) for _ in range(lines)]
    zero = _row(0.0, low, high, lines)
    for column in range(len(values) * pitch):
        grid[zero][column] = ("╌", "faint")
    top = max(figures)
    for place, one in enumerate(figures):
        row = _row(one, low, high, lines)
        ink = "bold accent" if one == top else "profit" if one > 0 else "loss"
        for each in range(min(row, zero), max(row, zero) + 1):
            grid[each][place * pitch] = ("█" if each != row else "▪", ink)
    labels = _spread([figure(value) for value in values], pitch)
    fits = len(labels) + len(name) + 2 <= room
    return _framed(
        grid,
        (low, high),
        f"{labels}  {name}" if fits else f"{labels}\n{name:>{MARGIN + len(name)}}",
    )


def _row(value: float, low: float, high: float, lines: int) -> int:
    if high <= low:
        return lines // 2
    return round((high - value) / (high - low) * (lines - 1))


def _framed(grid: list[list[Cell]], ends: tuple[float, float], below: str) -> Text:
    """The rows with their axis; `below` stands under it."""
    low, high = ends
    text = Text()
    for row, cells in enumerate(grid):
        label = high if row == 0 else low if row == len(grid) - 1 else None
        shown = "" if label is None else figure(label)
        text.append(f"{shown:>{MARGIN - 2}} │", "muted")
        for letter, ink in cells:
            text.append(letter, ink)
        text.append("\n")
    text.append(" " * (MARGIN - 1) + "└" + "─" * (len(grid[0]) if grid else 0) + "\n", "faint")
    text.append(" " * MARGIN + below, "muted")
    return text

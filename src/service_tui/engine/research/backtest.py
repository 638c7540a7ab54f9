"""Replays a skill's trades as if only those within thresholds had been made.

Source: spec, "Autoresearch experiment tool parameters", "Threshold convention".

A threshold `min_x` keeps trades whose signal `x` is at least its value, `max_x` those at most; any
other name is a minimum for the signal of that name. A trade without the signal is excluded.
"""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from service_tui.units import Micros

MIN: Final = "min_"
MAX: Final = "max_"


class Threshold(NamedTuple):
    """One of them: which signal, whether its value is the most, and the value."""

    name: str
    key: str
    is_max: bool
    value: float

    def passes(self, signal: float | None) -> bool:
        """Whether a trade with this signal is kept; one without it never is."""
        if signal is None:
            return False
        return signal <= self.value if self.is_max else signal >= self.value


class Replayed(NamedTuple):
    """A trade that happened. `pnl` is what it brought, or would now; `is_open`: not decided yet.

    `signals` are those that thresholds ask for, in their order; None where it carries none.
    """

    pnl: Micros
    is_open: bool
    signals: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """What passed, and what it brought. `decided` of those that passed have an end."""

    included: int
    excluded: int
    pnl: Micros
    decided: int
    won: int

    @property
    def win_rate(self) -> float | None:
        """Of what was decided, how much brought money; None where nothing is decided."""
        return self.won / self.decided if self.decided else None

    def improvement_pct(self, original: Micros) -> float | None:
        """How much better than the original, in percent of it; None where that is 0."""
        return 100.0 * (self.pnl - original) / abs(original) if original else None


def threshold_of(name: str, value: float) -> Threshold:
    """The threshold that a key of a config means."""
    for prefix, is_max in ((MIN, False), (MAX, True)):
        if name.startswith(prefix) and len(name) > len(prefix):
            return Threshold(name, name.removeprefix(prefix), is_max, value)
    return Threshold(name, name, is_max=False, value=value)


def thresholds_of(config: Mapping[str, float]) -> tuple[Threshold, ...]:
    """Every threshold of a config, in its order."""
    return tuple(threshold_of(name, value) for name, value in config.items())


Point = tuple[tuple[float, ...], Replay]
"""Values of the swept thresholds in their order, and what they bring."""


def sweep(
    trades: Sequence[Replayed], swept: Sequence[Threshold], values: Sequence[Sequence[float]]
) -> list[Point]:
    """Try every combination of values, as fast as one pass over the trades.

    Args:
        trades: those that pass whatever is not swept; their signals are in the order of `swept`.
        swept: the thresholds that take values; their own value does not count.
        values: the values of each.

    Returns:
        One point for every combination, the last threshold changing fastest.
    """
    ladders = [sorted(set(steps)) for steps in values]
    sizes = [len(ladder) for ladder in ladders]
    cells = _cells(trades, swept, ladders)
    for axis in range(len(ladders)):
        _add_up(cells, sizes, axis)
    places = [
        [_reach(ladder, step, is_max=one.is_max) for step in steps]
        for one, ladder, steps in zip(swept, ladders, values, strict=True)
    ]
    total = len(trades)
    found: list[Point] = []
    for combination in itertools.product(*(range(len(steps)) for steps in values)):
        where = tuple(places[axis][step] for axis, step in enumerate(combination))
        count, pnl, decided, won = cells.get(where, (0, 0, 0, 0))
        chosen = tuple(values[axis][step] for axis, step in enumerate(combination))
        found.append((chosen, Replay(count, total - count, Micros(pnl), decided, won)))
    return found


Sums = tuple[int, int, int, int]
"""Trades, P&L, decided ones, won ones."""

Cells = dict[tuple[int, ...], Sums]


def _reach(ladder: Sequence[float], step: float, *, is_max: bool) -> int:
    """How many rungs a value leaves on its far side: 0 is the strictest."""
    at = bisect_left(ladder, step)
    return at if is_max else len(ladder) - 1 - at


def _cells(
    trades: Sequence[Replayed], swept: Sequence[Threshold], ladders: Sequence[Sequence[float]]
) -> Cells:
    """Each trade in the cell of the strictest values that it passes."""
    cells: Cells = {}
    for pnl, is_open, signals in trades:
        where: list[int] = []
        for signal, one, ladder in zip(signals, swept, ladders, strict=True):
            if signal is None:
                break
            size = len(ladder)
            rung = (
                bisect_left(ladder, signal) if one.is_max else size - bisect_right(ladder, signal)
            )
            if rung >= size:
                break
            where.append(rung)
        else:
            place = tuple(where)
            count, total, decided, won = cells.get(place, (0, 0, 0, 0))
            is_won = not is_open and pnl > 0
            cells[place] = (count + 1, int(total + pnl), decided + (not is_open), won + is_won)
    return cells


def _add_up(cells: Cells, sizes: Sequence[int], axis: int) -> None:
    """Let every cell hold what all stricter ones of an axis hold, too."""
    for place in itertools.product(*(range(size) for size in sizes)):
        if not place[axis]:
            continue
        before = (*place[:axis], place[axis] - 1, *place[axis + 1 :])
        if before in cells:
            mine = cells.get(place, (0, 0, 0, 0))
            other = cells[before]
            cells[place] = (
                mine[0] + other[0],
                mine[1] + other[1],
                mine[2] + other[2],
                mine[3] + other[3],
            )

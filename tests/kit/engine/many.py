"""A recording with many markets, on which the worlds of a whole run may begin."""

import os
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from kit.service.where import ON_HISTORY
from service_tui.app.options import Options
from service_tui.storage.history_file import (
    HistoryWriter,
    MarketRow,
    QuoteColumns,
    history_path,
)

AT: Final = 1_800_000_000.0
"""When they begin: the time of the tests' own clock, as it is in an invented world."""

MINUTE: Final = 60.0
STEP_S: Final = 3 * MINUTE
BEFORE_S: Final = 6 * 3_600.0
AFTER_S: Final = 2 * 86_400.0
SOURCES: Final = ("polymarket", "kalshi", "manifold")
SUBJECTS: Final = ("politics", "sports", "weather", "crypto", "economics", "science", "culture")
LIVES_S: Final = (600.0, 1_800.0, 3_600.0, 4 * 3_600.0, 86_400.0)
COUNT: Final = 120


def recorded_world() -> Options | None:
    """The history of this run; None for one on invented questions."""
    return _many_markets() if os.environ.get(ON_HISTORY) else None


@cache
def _many_markets() -> Options:
    """Markets of every home and subject: some that last minutes, some for days, in every price."""
    folder = Path(tempfile.mkdtemp(prefix="history-"))
    chance = random.Random(20)
    rows = sorted(
        (_market(number, chance) for number in range(COUNT)), key=lambda one: one.opens_at
    )
    writer = HistoryWriter(history_path(folder, "many"))
    for row in rows:
        times, prices = _prices(row, chance)
        bids = [max(0.0, round(price - 0.012, 3)) for price in prices]
        asks = [min(1.0, round(price + 0.012, 3)) for price in prices]
        writer.add(
            row,
            times,
            prices,
            QuoteColumns(times, bids, asks, [90.0] * len(times), [90.0] * len(times)),
        )
    writer.finish("many")
    begin = "2027-01-15T08:00:00"
    return Options(folder, folder, folder / "log", history="many", history_from=begin)


def _market(number: int, chance: random.Random) -> MarketRow:
    life_s = LIVES_S[number % len(LIVES_S)] if number < COUNT // 2 else AFTER_S
    opens_at = AT - chance.random() * min(BEFORE_S, life_s / 2)
    ends_at = opens_at + life_s
    source = SOURCES[number % 3]
    return MarketRow(
        source, f"m{number}", f"event {number // 6}", f"Does number {number} come true?",
        SUBJECTS[number % len(SUBJECTS)], opens_at, ends_at, ends_at + MINUTE,
        chance.choice((0.0, 1.0)), 1e5,
    )  # fmt: skip


def _prices(row: MarketRow, chance: random.Random) -> tuple[list[float], list[float]]:
    times, prices, price, at = list[float](), list[float](), chance.uniform(0.2, 0.8), row.opens_at
    while at < (row.ends_at or AT):
        times.append(at)
        prices.append(round(price, 4))
        price = min(0.95, max(0.05, price + chance.gauss(0.0, 0.01)))
        at += STEP_S
    return times, prices

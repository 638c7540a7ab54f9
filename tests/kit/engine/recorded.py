"""Recordings that are drawn: those with one past and two futures tell a glance at the future."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from service_tui.app.options import Options
from service_tui.storage.history_file import (
    VOID,
    HistoryWriter,
    MarketRow,
    QuoteColumns,
    WalletTradeRow,
    history_path,
)
from service_tui.units import Timestamp

BEGIN, DAY, HOUR = 1_700_000_000.0, 86_400.0, 3_600.0
WALL = Timestamp(1_900_000_000.0)
PARTS = BEGIN + 5 * DAY
"""When the futures of two recordings part."""

ENDS = (0.0, 0.0, 1.0, 1.0, 0.35, -1.0)
"""What a share of YES pays in the end; below 0 everybody gets the money back."""

Recorded = tuple[MarketRow, list[float], list[float]]


def recorded(number: int, past: random.Random, future: random.Random) -> Recorded:
    """A market whose prices follow one source of chance up to PARTS, and another one from there."""
    opens_at = BEGIN + past.random() * 4 * DAY
    closes_at = BEGIN + (6 + past.random() * 3) * DAY if past.random() < 0.6 else None
    times, prices, price, at = list[float](), list[float](), 0.1 + 0.8 * past.random(), opens_at
    ends_at = BEGIN + 4 * DAY + future.random() * 5 * DAY
    ends_at = max(ends_at, PARTS + HOUR)
    while at < ends_at:
        times.append(at)
        prices.append(round(price, 4))
        chance = past if at < PARTS else future
        price = min(0.99, max(0.01, price + chance.gauss(0.0, 0.05)))
        at += HOUR * (1 + int(chance.random() * 12))
        if times[-1] < PARTS <= at:
            at = PARTS + 1 + future.random() * HOUR
    is_over = future.random() < 0.9
    source = ("polymarket", "kalshi", "manifold")[number % 3]
    row = MarketRow(
        source, f"m{number}", f"event {number % 3}", f"Does {number} come?", "science",
        opens_at, closes_at, ends_at if is_over else None,
        future.choice(ENDS) if is_over else None, future.random() * 1e6,
    )  # fmt: skip
    return row, times, prices


def ended(number: int, past: random.Random) -> Recorded:
    """A market that was over before the futures part, with all that is known of it."""
    row, times, prices = recorded(number, past, past)
    ends_at = BEGIN + (4 + past.random() * 0.9) * DAY
    known = [at for at in times if at < ends_at]
    return (
        row._replace(ends_at=ends_at, settles_at=past.choice((0.0, 1.0, 0.35, VOID))),
        known,
        prices[: len(known)],
    )


def later(number: int, future: random.Random) -> Recorded:
    """A market that nobody knows of before the futures part; some share an event of the past."""
    row, _, _ = recorded(number, future, future)
    opens_at = PARTS + 1 + future.random() * DAY
    times = [opens_at + HOUR * count for count in range(1 + future.randrange(40))]
    ends_at = times[-1] + future.random() * DAY
    return (
        row._replace(opens_at=opens_at, closes_at=None, ends_at=ends_at, settles_at=1.0),
        times,
        [round(future.uniform(0.05, 0.95), 4) for _ in times],
    )


def quotes_of(one: Recorded, past: int, future: int) -> QuoteColumns:
    """A bid and an ask beside most prices of every second market; a few have nobody on a side."""
    row, times, prices = one
    if int(row.native_id[1:]) % 2:
        return QuoteColumns()
    found = list[tuple[float, ...]]()
    for at, price in zip(times, prices, strict=True):
        chance = random.Random(f"{past if at < PARTS else future} {row.native_id} {at}")
        low, high = chance.uniform(0.001, 0.06), chance.uniform(0.001, 0.06)
        bid = 0.0 if chance.random() < 0.05 else max(0.0, round(price - low, 3))
        if chance.random() < 0.8:
            ask = min(1.0, round(price + high, 3))
            found.append((at, bid, ask, float(chance.randrange(500)), chance.uniform(0, 500)))
    return QuoteColumns(*map(list, zip(*found, strict=True))) if found else QuoteColumns()


WALLETS = tuple(bytes([number] * 20) for number in range(1, 8))


def trades_of(number: int, one: Recorded, past: int, future: int) -> list[WalletTradeRow]:
    """What wallets traded in a market of Polymarket, about as often as it has a price."""
    row, times, prices = one
    found = list[WalletTradeRow]()
    for at, price in zip(times, prices, strict=True) if row.source == "polymarket" else ():
        chance = random.Random(f"{past if at < PARTS else future} trade {row.native_id} {at}")
        for wallet in chance.sample(WALLETS, chance.randrange(3)):
            is_no = chance.random() < 0.4
            found.append(
                WalletTradeRow(
                    at, 0, number, wallet, is_no, chance.random() < 0.2, chance.random() < 0.2,
                    chance.uniform(1.0, 900.0), round(1.0 - price if is_no else price, 4),
                )
            )  # fmt: skip
    return found


def write(folder: Path, past: int, future: int, count: int = 12) -> Options:
    """A recording: markets of both times, some that are over before, and some that come later."""
    chances = random.Random(past), random.Random(future)
    rows = [recorded(number, *chances) for number in range(count)]
    rows += [ended(count + number, chances[0]) for number in range(count // 4)]
    coming = chances[1].randrange(1, count)
    rows += [later(count + count // 4 + number, chances[1]) for number in range(coming)]
    rows.sort(key=lambda one: one[0].opens_at)
    path = history_path(folder, "two")
    writer = HistoryWriter(path)
    for row, times, prices in rows:
        writer.add(row, times, prices, quotes_of((row, times, prices), past, future))
    trades = [
        one for number, row in enumerate(rows) for one in trades_of(number, row, past, future)
    ]
    trades.sort(key=lambda one: one.at)
    writer.add_trades(one._replace(number=number) for number, one in enumerate(trades))
    writer.finish("two")
    return Options(folder, folder, folder / "log", history="two")


def two_futures(folder: Path, seed: int, begins_at: float = PARTS - DAY) -> list[Options]:
    """Two recordings with one past, in folders beside each other.

    The names of the folders are of one length, as answers may be as long as what is in them.
    """
    begin = datetime.fromtimestamp(begins_at, UTC).isoformat()
    return [
        replace(write(folder / str(future), seed, future, 24), history_from=begin)
        for future in (101, 102)
    ]

"""How long a backtest of 100,000 trades takes: two thresholds, from SQLite, and a sweep of both.

Run: python tests/bench/bench_backtest.py [trades]
Prints the median of nine, seconds; the first part is what an old data directory costs once, when
its journal is digested. Ends with status 1 above the limit of the issue.
"""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from service_tui.engine.codec.events import dumps, encode
from service_tui.engine.events import Fill, Note, Payout
from service_tui.server.past.digest import Digest
from service_tui.server.routes.research import read, thresholds_in, weigh
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.entries import EntryQuery
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.opening import open_database
from service_tui.terms import Action, Side
from service_tui.units import Micros, Timestamp
from service_tui.wire.research import BacktestBody, BacktestRequest

LIMIT_S: Final = 0.5
NOW: Final = 1_800_000_000.0
MARKETS: Final = 400
AGENT: Final = "a1"
SKILL: Final = "weather-edge"
PRICES: Final = {f"m{number}": 0.5 for number in range(MARKETS)}


def fill(number: int, rng: random.Random) -> Fill:
    """A buy with signals, now and then a sale of a part."""
    sells = number % 7 == 6
    signals = {
        "edge": round(rng.random(), 4), "probability": round(rng.random(), 4),
        "client_ref": f"r{number:08}", "signal_source": "forecast",
    }  # fmt: skip
    note = Note("the forecast moved", "sdk:weather", SKILL, None if sells else signals)
    at = Timestamp(NOW - 86_400 + number * 0.5)
    return Fill(
        f"t{number}", AGENT, f"m{rng.randrange(MARKETS)}", rng.choice(list(Side)),
        Action.SELL if sells else Action.BUY, Micros(rng.randrange(10**6, 10**7)),
        Micros(rng.randrange(10**6, 10**7)), 0.4, 0.41, at, at, Micros(0), note,
    )  # fmt: skip


async def fill_up(database: Database, trades: int) -> None:
    rng = random.Random(7)
    journal = JournalStore(database)
    rows = [
        JournalRow(number + 1, one.at, "fill", AGENT, one.market_id, encode(one))
        for number, one in enumerate(fill(number, rng) for number in range(trades * 7 // 6))
    ]
    for number in range(MARKETS * 19 // 20):
        for side in Side:
            paid = Payout(
                AGENT, side, Micros(1), Micros(1), Micros(0), Micros(0), Timestamp(NOW - 1)
            )
            body = dumps([f"m{number}", NOW, bool(number % 2), paid])
            row = JournalRow(len(rows) + 1, NOW, "payout", AGENT, f"m{number}", body)
            rows.append(row)
    for start in range(0, len(rows), 5_000):
        await journal.append(rows[start : start + 5_000])


def measured(digest: Digest, said: BacktestRequest) -> tuple[float, float, BacktestBody]:
    wanted = EntryQuery(AGENT, SKILL, "sim", NOW - 30 * 86_400)
    took: list[float] = []
    worked: list[float] = []
    body = BacktestBody()
    for _ in range(9):
        began, busy = time.perf_counter(), time.process_time()
        thresholds = thresholds_in(said)
        body = weigh(said, thresholds, read(digest.entries, wanted, thresholds), PRICES)
        took.append(time.perf_counter() - began)
        worked.append(time.process_time() - busy)
    return statistics.median(took), statistics.median(worked), body


async def main(trades: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        lock = DataDirLock.acquire(path, pid=1, now=NOW)
        database = open_database(path, now=NOW, lock=lock)
        try:
            await fill_up(database, trades)
            digest = Digest(database)
            began = time.perf_counter()
            await digest.catch_up()
            print(f"digested once   {time.perf_counter() - began:7.3f} s")
            two = BacktestRequest(
                skill_slug=SKILL, config={"min_edge": 0.3, "max_probability": 0.8}, days=30
            )
            took, busy, body = measured(digest, two)
            print(f"two thresholds  {took:7.3f} s  (processor {busy:.3f}) of {body.trades_total:,}")
            grid = {
                "min_edge": tuple(step / 20 for step in range(20)),
                "max_probability": tuple(step / 20 for step in range(20)),
            }
            swept, busy, body = measured(digest, two.model_copy(update={"sweep": grid}))
            print(f"sweep of 400    {swept:7.3f} s  (processor {busy:.3f} s)")
        finally:
            database.close(NOW)
            lock.release()
    return int(took > LIMIT_S)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)))

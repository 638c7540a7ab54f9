"""How much the writer's thread adds to a durable insert. Run by hand:

    python tests/bench/bench_storage.py [directory on the disk to be measured]

Raw sqlite3 and the writer take turns in one process, so that a slow moment of the disk meets both.
"""

import asyncio
import sqlite3
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from service_tui.storage.db.connection import connect_to_write
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.db.schema import create
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.opening import open_database

ROUNDS = 30
PER_ROUND = 100
CONCURRENCY = 16
INSERT = "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)"
BODY = '{"shares": 1000000, "price": 0.5123}' * 5

Values = tuple[int, float, str, str, str, str]


def values(seq: int) -> Values:
    return (seq, 1_800_000_000.0, "trade", f"agent-{seq % 40}", f"market-{seq % 200}", BODY)


def raw_commits(connection: sqlite3.Connection, first: int) -> list[float]:
    times: list[float] = []
    for seq in range(first, first + PER_ROUND):
        began = perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(INSERT, values(seq))
        connection.execute("COMMIT")
        times.append(perf_counter() - began)
    return times


async def written(database: Database, first: int) -> list[float]:
    times: list[float] = []
    for seq in range(first, first + PER_ROUND):
        row = values(seq)
        began = perf_counter()
        await database.write(lambda connection, row=row: connection.execute(INSERT, row).rowcount)
        times.append(perf_counter() - began)
    return times


async def appended(journal: JournalStore, first: int) -> list[float]:
    times: list[float] = []
    for seq in range(first, first + PER_ROUND):
        began = perf_counter()
        await journal.append([JournalRow(*values(seq))])
        times.append(perf_counter() - began)
    return times


async def crowded(database: Database, first: int) -> float:
    """Durable inserts a second with sixteen waiting at a time."""
    seqs = iter(range(first, first + CONCURRENCY * PER_ROUND))

    async def one_of_them() -> None:
        for seq in seqs:
            row = values(seq)
            await database.write(
                lambda connection, row=row: connection.execute(INSERT, row).rowcount
            )

    began = perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(CONCURRENCY):
            group.create_task(one_of_them())
    return CONCURRENCY * PER_ROUND / (perf_counter() - began)


def shown(name: str, times: list[float]) -> float:
    p50 = statistics.median(times)
    p99 = statistics.quantiles(times, n=100)[98]
    rate = len(times) / sum(times)
    print(f"{name:<28} p50 {p50 * 1e6:7.1f} us   p99 {p99 * 1e6:8.1f} us   {rate:8.0f} a second")
    return p50


def data_directory(parent: Path, name: str) -> Database:
    directory = parent / name
    return open_database(directory, now=0.0, lock=DataDirLock.acquire(directory, pid=1, now=0.0))


async def measure(parent: Path) -> None:
    raw_path = parent / "raw.sqlite3"
    create(raw_path, version=1)
    raw = connect_to_write(raw_path, with_wal=True, timeout_s=5)
    database, appending = data_directory(parent, "written"), data_directory(parent, "appended")
    journal = JournalStore(appending)
    commits: list[float] = []
    writes: list[float] = []
    appends: list[float] = []
    rates: list[float] = []
    for first in range(1, ROUNDS * PER_ROUND, PER_ROUND):
        commits += raw_commits(raw, first)
        writes += await written(database, first)
        appends += await appended(journal, first)
    first = ROUNDS * PER_ROUND + 1
    for _ in range(5):
        rates.append(await crowded(database, first))
        first += CONCURRENCY * PER_ROUND
    base = shown("raw BEGIN/INSERT/COMMIT", commits)
    through = shown("Database.write, one waiting", writes)
    print(f"{'':<28} {through / base:.2f} times raw")
    entry = shown("Journal.append, one waiting", appends)
    print(f"{'':<28} {entry / base:.2f} times raw")
    print(f"{f'Database.write, {CONCURRENCY} waiting':<28} {statistics.median(rates):.0f} a second")
    raw.close()
    database.close(1.0)
    appending.close(1.0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        asyncio.run(measure(Path(name)))

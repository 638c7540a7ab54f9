"""How long histories take: an import of many trades, and a world that opens on one.

    python tests/bench/histories.py [MARKETS [TRADES]]      (20,000 and 10,000,000 without a word)

The trades are made up, in the Parquet layout of the largest public data set. Import and opening
run in processes of their own, so that the memory is theirs.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

BEGIN = 1_704_067_200
"""2024-01-01, midnight UTC."""

YEAR_S = 365 * 86_400

OPEN = """
import asyncio, resource, sys, time
from pathlib import Path
from service_tui.app.options import Options
from service_tui.app.first_state import first_state
from service_tui.app import live
async def main():
    folder = Path(sys.argv[1])
    words = {"history": "many", "history_from": "2024-07-01"} if sys.argv[2] == "history" else {}
    asked = Options(folder / "data", folder / "config", folder / "log", seed=7, **words)
    begun = time.perf_counter()
    async with live.local_desk(asked, first_state(asked)) as desk:
        async for state in desk.changes():
            if state.world is not None and state.markets:
                break
        print(f"{sys.argv[2]}: {time.perf_counter() - begun:.2f} s,"
              f" {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB,"
              f" {len(state.markets)} markets")
asyncio.run(main())
"""


def main() -> None:
    markets = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    trades = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made(folder / "kalshi", markets, trades)
        child(
            "import",
            "-m",
            *("service_tui", "history", "import", folder / "kalshi", "--name", "many"),
            *("--data-dir", folder / "data"),
        )
        for kind in ("invented", "history", "invented", "history"):
            (folder / kind).mkdir(exist_ok=True)
            here = folder / f"{kind}-{time.monotonic_ns()}"
            (here / "data" / "histories").mkdir(parents=True)
            os.link(
                folder / "data" / "histories" / "many.history",
                here / "data" / "histories" / "many.history",
            )
            child(f"open {kind}", "-c", OPEN, here, kind)


def made(folder: Path, markets: int, trades: int) -> None:
    """Write markets that last between a day and a quarter, and trades in the time of each."""
    (folder / "markets").mkdir(parents=True)
    (folder / "trades").mkdir()
    opened = f"(epoch_ms((({BEGIN} + (n * 2654435761 % {YEAR_S}))::BIGINT) * 1000))"
    lasts = "(86400 + (n * 40503 % 7776000))"
    duckdb.sql(f"""COPY (SELECT 'T' || n AS ticker, 'E' || n // 4 AS event_ticker,
        'Does ' || n || ' happen?' AS title, '' AS yes_sub_title,
        CASE n % 2 WHEN 0 THEN 'yes' ELSE 'no' END AS result, {opened} AS open_time,
        {opened} + to_seconds({lasts}) AS close_time, 100 AS volume
        FROM range({markets}) r(n)) TO '{folder}/markets/all.parquet' (FORMAT PARQUET)""")  # noqa: S608  (numbers of ours)
    duckdb.sql(f"""COPY (SELECT 'id' || k AS trade_id, 'T' || n AS ticker,
        1 + (k * 7919 % 98) AS yes_price, 99 - (k * 7919 % 98) AS no_price, 1 AS count,
        'yes' AS taker_side, {opened} + to_seconds(k * 7561 % {lasts}) AS created_time
        FROM (SELECT k, k % {markets} AS n FROM range({trades}) r(k)))
        TO '{folder}/trades/all.parquet' (FORMAT PARQUET)""")  # noqa: S608  (numbers of ours)


def child(what: str, *words: object) -> None:
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, *map(str, words)], check=False, stdout=subprocess.PIPE)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    took = time.perf_counter() - begun
    last = done.stdout.decode().strip().splitlines()[-1:]
    print(f"{what}: {took:.1f} s, peak of all so far {peak:.0f} MB: {' '.join(last)}", flush=True)


if __name__ == "__main__":
    main()

"""A desk with twenty agents is recorded on the manual clock, then any moment of it is read back.

Run: python tests/bench/replay.py [hours]
Prints the records, the size of the file and what it comes to in a day (at most 5 MB), and the
milliseconds to a drawn moment, the first of a file and the next ones (at most 500).
"""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit.service.line import Line
from kit.service.stage import open_stage, open_test_desk
from service_tui.clock import ManualClock
from service_tui.desk.recording.player import Player
from service_tui.desk.recording.recorder import AFTER_EVENT_S, SAVED_MAX, Recorder
from service_tui.storage.recordings import Recordings
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import MARKETS, PLACE_TRADE, REGISTER

HOUR_S = 3_600.0
DAY_S = 86_400.0
AGENTS = 20
TRADES_A_STEP = 0.15
"""Chance of a trade of some agent in two seconds: about 6,500 a day."""

DRAWN = 100


async def recorded(folder: Path, hours: float) -> tuple[float, float]:
    """Record a desk; returns its first and its last time."""
    clock, rng, recorder = ManualClock(), random.Random(3), Recorder()
    store = Recordings(folder)
    store.begin()
    async with open_stage(folder / "service", clock, speed=1) as stage:
        stage.sim.service.limits = False
        lines = [Line(stage, stage.key)]
        for number in range(AGENTS):
            told = await lines[0].said(REGISTER, json={"name": f"agent {number}"})
            lines.append(Line(stage, told["api_key"]))
        names = [one["id"] for one in (await lines[0].said(MARKETS, limit=100))["markets"]]
        async with open_test_desk(stage) as desk:
            began, count, events = clock.now(), 0, 0
            while clock.now() < began + hours * HOUR_S:
                await clock.advance(AFTER_EVENT_S)
                if rng.random() < TRADES_A_STEP:
                    order = {"market_id": rng.choice(names), "side": "yes", "amount": 5}
                    await rng.choice(lines).ask(PLACE_TRADE, json=order)
                state = desk.state
                if not state.from_cache and recorder.is_due(state, clock.now()):
                    row = recorder.record(state, clock.now())
                    if row is not None:
                        store.add(row)
                        count += 1
                        events += bool(row.event)
            size = store.path.stat().st_size
            # What was saved up is written once; the rest goes on as it comes in.
            day = SAVED_MAX + (size - SAVED_MAX) / hours * 24
            print(f"{hours:g} h, {len(desk.state.markets)} markets, {AGENTS} agents")
            print(f"{count} records, {events} of events")
            print(f"{size / 1e6:.2f} MB; a day {day / 1e6:.2f} MB")
            return began, clock.now()


def read_back(folder: Path, began: float, ended: float) -> None:
    """Time drawn moments, each with a player of its own and with one for all."""
    rng, one, cold, warm = random.Random(4), Player(Recordings(folder)), [], []
    for _ in range(DRAWN):
        at = Timestamp(rng.uniform(began, ended))
        for player, times in ((Player(Recordings(folder)), cold), (one, warm)):
            start = time.perf_counter()
            assert player.moment(at) is not None
            times.append((time.perf_counter() - start) * 1_000)
    for name, times in (("first of a file", cold), ("with the former one", warm)):
        print(f"{name}: median {statistics.median(times):.0f} ms, most {max(times):.0f} ms")


async def main(hours: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "service").mkdir()
        read_back(Path(folder), *await recorded(Path(folder), hours))


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0))

"""What following costs: from a poll's answer to the mirror's request, and two hundred at once.

    python tests/bench/bench_reactor.py [directory on the disk to be measured]

The desk and the embedded service are the real ones, on a disk; only time is turned by hand.
"""

import asyncio
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import httpx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from kit.desk.reactor import PENDING, following, is_trade, settle  # noqa: E402
from kit.samples.desk import NOW, sample_state  # noqa: E402
from kit.samples.reactor import reactor  # noqa: E402
from service_tui.desk.changes import Changed  # noqa: E402
from service_tui.desk.reduce import reduce  # noqa: E402
from service_tui.desk.slices.reactor import (  # noqa: E402
    SIGNALS_MAX,
    Policy,
    SignalsSeen,
    SignalState,
)
from service_tui.storage.blotter import Blotter, Intent  # noqa: E402

ROUNDS = 40
AT_ONCE = 200


def report(name: str, value: float, unit: str, target: str = "") -> None:
    sys.stdout.write(f"{name:<58} {value:>9.2f} {unit:<4} {target}\n")
    sys.stdout.flush()


class Timed(httpx.AsyncBaseTransport):
    """Notes when a listing had come, and when the first order after it left."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner
        self.came_at: float | None = None
        self.took_ms: list[float] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if is_trade(request) and self.came_at is not None:
            self.took_ms.append((perf_counter() - self.came_at) * 1e3)
            self.came_at = None
        response = await self.inner.handle_async_request(request)
        if request.url.path == PENDING and request.method == "GET":
            raw = await response.aread()
            self.came_at = perf_counter() if b'"tx_hash"' in raw else None
            stream = httpx.ByteStream(raw)
            return httpx.Response(response.status_code, headers=response.headers, stream=stream)
        return response


async def auto(directory: Path) -> None:
    """One signal a poll, mirrored by the policy: the median of many."""
    opened = following(directory, policy=Policy.AUTO, daily_cap=100_000.0, mirror_fraction=0.05)
    async with opened as (_, stage, line):
        line.inner = timed = Timed(line.inner)
        commits: list[float] = []
        for _round in range(ROUNDS):
            await settle(stage)
            # As long after the last one as that of a mirror, which an idle disk may answer later.
            await asyncio.sleep(0.04)
            began = perf_counter()
            await Blotter(stage.database).open_ticket(
                Intent(f"bench-{_round}", NOW, "b", "s", "{}")
            )
            commits.append((perf_counter() - began) * 1e3)
            for _step in range(24):
                await stage.clock.advance(0.1)
                # Real time for each step, so that no other work falls into the same moment.
                await asyncio.sleep(0.02)
    took = sorted(timed.took_ms)
    report(f"answer of a poll to the order, median of {len(took)}", statistics.median(took), "ms",
           "<= 5")  # fmt: skip
    # A busy machine makes any of them slow, and none of them fast.
    report("the same, the fastest of ten", took[len(took) // 10], "ms")
    report("yardstick: one durable commit of the same disk", statistics.median(commits), "ms")
    report("the same, the slowest of ten", took[len(took) * 9 // 10], "ms")


def many() -> None:
    """Two hundred signals of one listing through reduce, then each of them mirrored."""
    state = sample_state(400)
    state = replace(state, reactor=reactor(state))
    known = state.reactor.signals
    fresh = tuple(
        replace(
            known[place % len(known)],
            signal_id=f"s{place}",
            state=SignalState.PENDING,
            at=NOW,
            ticket_id="",
        )
        for place in range(AT_ONCE)
    )
    old = tuple(
        replace(known[place % len(known)], signal_id=f"o{place}", state=SignalState.MIRRORED)
        for place in range(SIGNALS_MAX - AT_ONCE)
    )
    full = replace(state, reactor=replace(state.reactor, signals=old))
    listed: list[float] = []
    each: list[float] = []
    sums: list[float] = []
    for _ in range(20):
        began = perf_counter()
        after = reduce(full, SignalsSeen(NOW, fresh))
        listed.append((perf_counter() - began) * 1e3)
        assert [one.signal_id for one in after.reactor.signals[:AT_ONCE]] == [
            one.signal_id for one in reversed(fresh)
        ]
        began = perf_counter()
        for one in fresh:
            after = reduce(after, Changed(replace(one, state=SignalState.MIRRORED)))
        each.append((perf_counter() - began) * 1e3 / AT_ONCE)
        began = perf_counter()
        after.reactor.wallets()
        sums.append((perf_counter() - began) * 1e3)
    report(f"{AT_ONCE} signals of one listing through reduce", min(listed), "ms")
    report("one signal that changes, among five hundred", min(each) * 1e3, "us")
    report("statistics of every wallet", min(sums), "ms")


def main() -> None:
    many()
    where = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=where) as directory:
        asyncio.run(auto(Path(directory)))


if __name__ == "__main__":
    main()

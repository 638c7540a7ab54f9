"""The clock as an injected value."""

import asyncio
import heapq
import itertools
import time
from typing import Protocol

from service_tui.units import Timestamp


class Clock(Protocol):
    """The two clocks that a room may read."""

    def now(self) -> Timestamp:
        """Seconds since 1970, UTC; may jump when the machine's clock is set."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards: for ages, deadlines and durations."""
        ...

    async def sleep(self, delay_s: float) -> None:
        """Return after `delay_s` seconds of this clock."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> Timestamp:
        """Wall time."""
        return Timestamp(time.time())

    def monotonic(self) -> float:
        """Monotonic time."""
        return time.monotonic()

    async def sleep(self, delay_s: float) -> None:
        """Sleep on the event loop."""
        await asyncio.sleep(delay_s)


class ManualClock:
    """A clock that only a test moves."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self._start = start
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> Timestamp:
        """The time last set."""
        return Timestamp(self._now)

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._now - self._start

    def set(self, now: float) -> None:
        """Set the time, forward or back; sleepers wake at the next `advance`."""
        self._now = now

    async def sleep(self, delay_s: float) -> None:
        """Wait until `advance` has passed the due time."""
        if delay_s <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + delay_s, next(self._order), future))
        await future

    async def advance(self, by_s: float) -> None:
        """Move time forward, waking sleepers in order and letting each run."""
        until = self._now + by_s
        while self._sleepers and self._sleepers[0][0] <= until:
            due, _, future = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not future.done():
                future.set_result(None)
            await _let_run()
        self._now = until
        await _let_run()


async def _let_run() -> None:
    """Give every task that became ready a few turns of the loop."""
    for _ in range(20):
        await asyncio.sleep(0)

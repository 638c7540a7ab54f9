"""Manual time that waits for what other threads still do.

A tick, a poll or an order ends in a write, and a write is done by a thread. `ManualClock` lets
tasks run a number of turns of the loop: how much of the disk's work falls into those is for the
machine to say, and so was what a test saw after `advance`. Here time goes on, and `advance`
returns, only when no thread owes the loop an answer and no task is ready to run.
"""

import asyncio
import heapq
from typing import Final

from kit.loop import LATE_S, held, note_threads, noted, owing
from service_tui import clock
from service_tui.clock import ManualClock
from service_tui.storage.db.writer import Writer

TURNS: Final = 3
"""Turns of the loop that are given in any case."""

STRIDE_S: Final = 4.0
"""A stride of a long time: the world takes it for an ordinary tick."""

TURNS_MAX: Final = 2_000
"""Who is ready again after so many turns waits for the test itself."""


async def let_run() -> None:
    """Until every task waits for a later time, for the test, or for nothing that a thread does."""
    loop = asyncio.get_running_loop()
    ready = loop._ready
    for turn in range(TURNS_MAX):
        await asyncio.sleep(0)
        if turn < TURNS or ready:
            continue
        late = owing(loop)
        if not late:
            return
        done, _ = await asyncio.wait(late, timeout=LATE_S, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            held.update(late)


def patch() -> None:
    """Have every `ManualClock` of the tests wait so."""
    clock._let_run = let_run
    Writer.write = noted(Writer.write)


def patch_program() -> None:
    """The same in a program that a test starts: nothing else is patched there."""
    note_threads()
    patch()


async def leap(manual: ManualClock, by_s: float, step_s: float = STRIDE_S) -> None:
    """Let a long time pass in strides, in each of which every sleeper that is due wakes once.

    `ManualClock.advance` wakes a ticker of a second 3,600 times an hour. A service whose machine
    was busy ticks as here; its world takes a stride of up to five seconds for an ordinary tick, and
    a longer one for an absence.
    """
    end = manual._now + by_s
    while manual._now < end:
        manual._now = min(end, manual._now + step_s)
        due = [one for one in manual._sleepers if one[0] <= manual._now]
        manual._sleepers = [one for one in manual._sleepers if one[0] > manual._now]
        heapq.heapify(manual._sleepers)
        for _, _, future in sorted(due):
            if not future.done():
                future.set_result(None)
        await let_run()

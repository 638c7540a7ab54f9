"""What a console that embeds its service does while nobody types: counted, without a clock."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.timer import Timer

from kit import loop
from kit.console import painting
from kit.console.textual_private import Compositor
from kit.console.walk import walking
from service_tui.client import reply
from service_tui.clock import ManualClock
from service_tui.desk.slices.service import Phase
from service_tui.storage.db.writer import Writer

SETTLE_S = 30
WATCHED_S = 10

LIMITS = {
    0: {"paints": 11, "timers": 22, "commits": 1, "bodies": 45, "messages": 40},
    1: {"paints": 20, "timers": 32, "commits": 12, "bodies": 56, "messages": 120},
}
"""By speed of the world: what ten seconds may cost. Paused, only the age of what is known grows."""


@asynccontextmanager
async def console(path: Path, clock: ManualClock, speed: int) -> AsyncGenerator[Pilot[int]]:
    async with walking(path, clock, size=(120, 40), speed=speed) as walk:
        await pass_time(walk.pilot, clock, SETTLE_S)
        assert walk.state.service.phase is Phase.ONLINE
        # The welcome of a first start is closed by whoever reads it.
        await walk.pilot.press("enter")
        await pass_time(walk.pilot, clock, SETTLE_S)
        yield walk.pilot


async def pass_time(pilot: Pilot[int], clock: ManualClock, seconds: int) -> None:
    """Seconds of both clocks: the service's and the desk's, and Textual's."""
    for _ in range(seconds):
        await clock.advance(1.0)
        loop.move_on(1.0)
        await pilot.pause()


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts of what costs something, from now on."""
    done = Counter[str]()

    def count(owner: Any, name: str, what: str) -> None:
        really = getattr(owner, name)

        def counting(*args: Any, **named: Any) -> Any:
            done[what] += 1
            return really(*args, **named)

        monkeypatch.setattr(owner, name, counting)

    count(reply, "decode", "bodies")
    count(Writer, "_write", "commits")
    count(Timer, "_tick", "timers")
    count(Compositor, "render_update", "paints")
    count(MessagePump, "_dispatch_message", "messages")
    return done


@pytest.mark.slow
@pytest.mark.parametrize("speed", LIMITS)
async def test_a_console_that_is_left_alone_does_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speed: int
) -> None:
    clock = ManualClock()
    async with console(tmp_path, clock, speed) as pilot:
        with painting.each_frame():
            # What was owed until now is painted before it counts.
            await pilot.pause()
            done = counted(monkeypatch)
            await pass_time(pilot, clock, WATCHED_S)
            did = Counter(done)
    assert {what: did[what] for what, most in LIMITS[speed].items() if did[what] > most} == {}
    # It is counted at all: the desk asks, and each second of a world that runs is stored.
    assert did["bodies"] > 0
    assert (did["commits"] >= WATCHED_S) == (speed > 0)

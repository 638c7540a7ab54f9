"""A console on a real embedded world: its screen, its desk, a hand on the keys and on the clock."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from textual.pilot import Pilot

from kit.console.idle import wait_for_idle
from kit.console.painted import strips_of
from service_tui.app.first_state import first_state
from service_tui.app.live import embedded_parts
from service_tui.app.options import Options
from service_tui.app.recording import recording
from service_tui.clock import ManualClock
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.desk import Desk
from service_tui.desk.recording.player import Player
from service_tui.desk.state import DeskState

QUICK = 200
"""Steps for which threads are given a moment each; a machine that is slow gets longer ones."""


class Walk:
    """What a person sees and does; `pace_s` is how long he waits after a key, by the clock."""

    app: ConsoleApp
    pilot: Pilot[int]
    desk: Desk

    def __init__(self, clock: ManualClock, pace_s: float) -> None:
        self.clock = clock
        self.is_open = False
        self.player: Player | None = None
        self._pace_s = pace_s

    @property
    def state(self) -> DeskState:
        return self.app.desk_state

    @property
    def text(self) -> str:
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    async def until(
        self, is_so: Callable[[DeskState], object], *, step_s: float = 0.25, times: int = 600
    ) -> DeskState:
        """Let time pass until the screen shows the wanted state."""
        for step in range(times):
            if is_so(self.state):
                await self.pilot.pause()
                return self.state
            await self.clock.advance(step_s)
            await asyncio.sleep(0.005 if step < QUICK else 0.05)
            # Nothing is painted before somebody looks.
            await wait_for_idle()
        raise AssertionError("the console never showed the wanted state")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.rest()

    async def rest(self) -> None:
        """A quiet moment for debounced things, in both times."""
        for _ in range(4):
            await self.clock.advance(self._pace_s / 4)
            await self.pilot.pause(0.05)


@asynccontextmanager
async def walking(  # noqa: PLR0913  (each has a meaning)
    path: Path,
    clock: ManualClock,
    *,
    first: str = "",
    size: tuple[int, int] = (140, 40),
    speed: int = 0,
    chance: int = 5,
    pace_s: float = 1.0,
    listen: int | None = None,
    is_whole: bool = False,
) -> AsyncGenerator[Walk]:
    """A console that has just shown its first frame; its desk comes up meanwhile.

    `is_whole`: with demo agents and a recording, as at a first start.
    """
    options = Options(
        path, path / "config", path / "log", seed=7, speed=speed, listen=listen, demo=is_whole
    )
    initial = first_state(options)
    walk = Walk(clock, pace_s)

    @asynccontextmanager
    async def open_desk() -> AsyncIterator[Desk]:
        async with (
            embedded_parts(options, initial, clock, random.Random(chance)) as desk,
            recording(desk, clock) if is_whole else nullcontext() as store,
        ):
            walk.player = None if store is None else Player(store)
            walk.desk, walk.is_open = desk, True
            yield desk

    walk.app = ConsoleApp(
        open_desk=open_desk,
        initial=initial,
        now=clock.now,
        themes=load_themes(shipped_folder()),
        log_path="log",
        first=first,
        has_demo=is_whole,
        player=lambda: walk.player,
    )
    async with walk.app.run_test(size=size) as pilot:
        walk.pilot = pilot
        yield walk

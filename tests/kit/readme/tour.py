"""The moving picture of the README: one short session, on the desk of `service-tui demo`."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

from kit.readme.picture import read, written
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.commands.demo import SEED, START, _lived_in_desk, _settle
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.desk import Desk

SIZE: Final = (116, 32)


class Step(NamedTuple):
    """Keys to press, the title of the picture after them, and how long it is shown."""

    keys: str
    title: str
    seconds: float


STEPS: Final = (
    Step("0", "0 - what needs you now", 3.0),
    Step("2 j", "2 - every market; / finds one", 4.0),
    Step("b", "b - the order ticket", 2.0),
    Step("2 5", "25 - an amount, and what it buys", 3.0),
    Step("enter 9", "enter - filled; 9 lists every order", 3.0),
    Step("1", "1 - your positions at live prices", 3.0),
    Step("3", "3 - each buy has a stop", 3.0),
    Step("f9", "F9 - halt: no more buys", 4.0),
)


def tour() -> str:
    """The whole picture; the same each time."""
    svgs = asyncio.run(_session())
    pictures = [read(svg, step.title) for svg, step in zip(svgs, STEPS, strict=True)]
    return written(pictures, [step.seconds for step in STEPS])


async def _session() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        clock = ManualClock(START)
        options = Options(Path(folder), Path(folder), Path(folder) / "log", seed=SEED, speed=60)
        async with _lived_in_desk(options, clock) as desk:
            return await _pictures(desk, clock)


async def _pictures(desk: Desk, clock: ManualClock) -> list[str]:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Desk]:
        yield desk

    app = ConsoleApp(
        open_desk=opened,
        initial=desk.state,
        now=clock.now,
        themes=load_themes(shipped_folder()),
        log_path="service-tui.log",
    )
    made: list[str] = []
    async with app.run_test(size=SIZE) as pilot:
        app.apply_theme("night")
        await pilot.pause()
        for step in STEPS:
            for key in step.keys.split():
                await pilot.press(key)
                await asyncio.sleep(0.2)
                await _settle(clock, 2)
                await pilot.pause()
            await asyncio.sleep(0.5)
            await pilot.pause()
            made.append(app.export_screenshot(simplify=True))
    return made

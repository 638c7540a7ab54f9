"""The moving picture of the README: one short session, on the desk of `service-tui demo`."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

from kit.readme.picture import read, written
from service_tui.app.recording import recording
from service_tui.clock import ManualClock
from service_tui.commands.demo import START, lived_in_desk, lived_in_options, settle
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.desk import Desk
from service_tui.desk.recording.player import Player

SIZE: Final = (116, 32)


class Step(NamedTuple):
    """Keys to press, the title of the picture after them, and how long it is shown."""

    keys: str
    title: str
    seconds: float


STEPS: Final = (
    Step("7", "7 - agents at work: what they hold and made, and who asks", 4.0),
    Step("ampersand", "& - one asks before it buys: its reason, its edge, the price", 5.0),
    Step("escape 0", "0 - whatever needs you, the most urgent first", 4.0),
    Step("escape f9", "F9 - halt: no agent buys any more", 4.0),
    Step("escape R R E S U M E enter", "R, RESUME - they may buy again", 3.0),
    Step("f3", "F3 - the desk as it was a while ago", 4.0),
    Step("f3 2 j", "2 - every market; / finds one", 4.0),
    Step("b 2 5", "b, 25 - the order ticket, and what 25 buys", 4.0),
    Step("enter 1", "enter - filled; 1 has your positions at live prices", 3.0),
    Step("3", "3 - each buy has a stop", 3.0),
)


def tour() -> str:
    """The whole picture; the same each time."""
    svgs = asyncio.run(_session())
    pictures = [read(svg, step.title) for svg, step in zip(svgs, STEPS, strict=True)]
    return written(pictures, [step.seconds for step in STEPS])


async def _session() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        clock = ManualClock(START)
        options = lived_in_options(Path(folder))
        async with lived_in_desk(options, clock) as desk, recording(desk, clock) as store:
            await settle(clock, 90)
            return await _pictures(desk, clock, Player(store))


async def _pictures(desk: Desk, clock: ManualClock, player: Player) -> list[str]:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Desk]:
        yield desk

    app = ConsoleApp(
        open_desk=opened,
        initial=desk.state,
        now=clock.now,
        themes=load_themes(shipped_folder()),
        log_path="service-tui.log",
        player=lambda: player,
    )
    made: list[str] = []
    async with app.run_test(size=SIZE) as pilot:
        app.apply_theme("night")
        await pilot.pause()
        for step in STEPS:
            for key in step.keys.split():
                await pilot.press(key)
                await asyncio.sleep(0.2)
                await settle(clock, 2)
                await pilot.pause()
            await asyncio.sleep(0.5)
            await pilot.pause()
            made.append(app.export_screenshot(simplify=True))
    return made

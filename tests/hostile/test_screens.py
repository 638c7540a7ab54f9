"""Screens over a service that lies: they stand, and show no letter that moves a terminal."""

import random
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from kit.console.painted import strips_of
from kit.desk.hostile import Told, lied_to
from kit.examples import DEPTH
from kit.service import hostile
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.desk import Desk

SEED = 20_270_102
SCREENS = "1234567890"
HARM = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202e]| nan\b| inf\b")
LIES = 1 if DEPTH == 1 else 60
"""About each path, over all screens."""


def console_of(told: Told) -> ConsoleApp:
    @asynccontextmanager
    async def desk() -> AsyncGenerator[Desk]:
        yield told.desk

    known = told.desk.state
    return ConsoleApp(
        open_desk=desk,
        initial=replace(known, preferences={**known.preferences, "welcome": "seen"}),
        now=told.stage.clock.now,
        themes=load_themes(shipped_folder()),
        log_path="log",
    )


def drawn(ways: Sequence[hostile.Bytes], rng: random.Random) -> Sequence[hostile.Bytes]:
    return rng.sample(ways, min(LIES, len(ways)))


async def lie(told: Told, pilot: Pilot[int], about: tuple[str, hostile.Bytes], key: str) -> str:
    """Answer so once, look at a screen, then answer truly again.

    Returns:
        What the screen showed of it.
    """
    path, way = about
    told.lied.ways[path] = way
    await told.read(path)
    await pilot.press(key)
    await pilot.pause()
    screen = pilot.app.screen
    shown = "\n".join(strip.text for strip in strips_of(screen))
    told.lied.ways.clear()
    await told.read(path, until_good=True)
    return shown


@pytest.mark.slow
async def test_no_lie_ends_a_console_or_moves_its_terminal(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    async with lied_to(tmp_path) as told:
        app = console_of(told)
        lies = [
            (path, way)
            for path, body in told.lied.bodies.items()
            for way in drawn(tuple(hostile.field_ways(body)), rng)
        ]
        async with app.run_test(size=(120, 40)) as pilot:
            for about in lies:
                shown = await lie(told, pilot, about, rng.choice(SCREENS))
                assert not HARM.search(shown), about
            assert app.is_running

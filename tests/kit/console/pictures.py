"""Screens of the whole console at rest, for pictures."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from kit.console.doors import RecordingDoors
from kit.console.snapshot import picture
from kit.samples.desk import NOW
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.state import DeskState

SIZES = ((80, 24), (120, 40), (160, 50))


THEMES = load_themes(shipped_folder())


CALM = 4


"""Equal pictures in a row after which a screen rests: glows fade, late layouts have come."""


NAMES = tuple(sorted(theme.name for theme in THEMES.themes))


async def shown(pilot: Pilot[int], keys: tuple[str, ...]) -> None:
    await pilot.pause()
    for key in keys:
        await pilot.press(key)
        # A cursor that rests asks for its market.
        await pilot.pause(0.3)
    before, calm = "", 0
    while calm < CALM:
        await pilot.pause(0.2)
        now = await picture(pilot, ("night",))
        before, calm = now, calm + 1 if now == before else 0


@asynccontextmanager
async def seen(
    known: DeskState, keys: tuple[str, ...], size: tuple[int, int], first: str = ""
) -> AsyncGenerator[tuple[Pilot[int], RecordingDoors]]:
    """A console on what is known, after some keys, when nothing moves any more."""
    doors = RecordingDoors(known)
    app = ConsoleApp(
        open_desk=doors.open,
        initial=known,
        now=lambda: NOW,
        themes=THEMES,
        log_path="/log/service-tui.log",
        data_path="/data",
        first=first,
    )
    async with app.run_test(size=size) as pilot:
        await shown(pilot, keys)
        yield pilot, doors

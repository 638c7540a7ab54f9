"""Screens of the whole console at rest, for pictures."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from kit.console.doors import RecordingDoors
from kit.console.idle import wait_for_idle
from kit.console.snapshot import assert_snapshot
from kit.samples.desk import NOW
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.state import DeskState

SIZES = ((80, 24), (120, 40), (160, 50))
THEMES = load_themes(shipped_folder())
NAMES = tuple(sorted(theme.name for theme in THEMES.themes))

CURSOR_S = 0.3
"""A cursor that rests so long asks for its market."""

SETTLED_S = 2.0
"""After so long no glow is left and every late layout has come."""


async def shown(pilot: Pilot[int], keys: tuple[str, ...]) -> None:
    """Press the keys one after another, and let the screen come to rest."""
    await wait_for_idle()
    for key in keys:
        await pilot.press(key)
        await pilot.pause(CURSOR_S)
    await pilot.pause(SETTLED_S)


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


async def assert_at_sizes(
    known: DeskState,
    keys: tuple[str, ...],
    name: str,
    first: str = "",
    *,
    anew: bool = False,
) -> None:
    """Compare what the keys lead to with its kept picture of each size.

    One console is made larger and larger, which costs a third of three consoles. What a page
    measures as it opens is not measured again: such a page is opened `anew` at each size.
    """
    for opened in SIZES if anew else SIZES[:1]:
        async with seen(known, keys, opened, first) as (pilot, _):
            await assert_each(pilot, name, (opened,) if anew else SIZES)


async def assert_each(
    pilot: Pilot[int],
    name: str,
    sizes: tuple[tuple[int, int], ...] = SIZES,
    *,
    themes: tuple[str, ...] = ("night",),
) -> None:
    """Compare what is on the screen with its kept picture of each size."""
    for size in sizes:
        if pilot.app.size != size:
            await pilot.resize_terminal(*size)
            await shown(pilot, ())
        pilot.app.clear_notifications()
        await assert_snapshot(pilot, f"{name}_{size[0]}x{size[1]}", themes=themes)

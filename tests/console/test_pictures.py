"""The whole console, screen by screen, at three sizes in every theme, as pictures to be read."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from console.snapshot import assert_snapshot, picture
from doors import RecordingDoors
from guarded_samples import guarded_state
from samples import NOW
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.records import MeanwhileView, ResolvedView
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp

SIZES = ((80, 24), (120, 40), (160, 50))
THEMES = load_themes(shipped_folder())
CALM = 4
"""Equal pictures in a row after which a screen rests: glows fade, late layouts have come."""

NAMES = tuple(sorted(theme.name for theme in THEMES.themes))

SCREENS = {
    "attention": ("0",),
    "portfolio": ("1",),
    "markets": ("2", "j"),
    "monitors": ("3",),
    "monitor": ("3", "j", "e"),
    "monitors_many": ("3", "E", "1", "5", "enter"),
    "alerts": ("3", "o"),
    "price_alerts": ("3", "o", "o", "o"),
    "agents": ("7",),
    "plan": ("7", "j", "P"),
    "settings": ("8",),
    "blotter": ("9",),
    "ticket": ("2", "j", "b"),
    "help": ("2", "question_mark"),
    "palette": ("1", "colon"),
    "welcome": ("f12",),
}


def state() -> DeskState:
    """A desk in the middle of a day, back from an absence, the welcome seen."""
    full = guarded_state()
    market = next(iter(full.markets.values()))
    meanwhile = MeanwhileView(
        closed_at=Timestamp(NOW - 30_000),
        opened_at=NOW,
        world_elapsed_s=30_000.0,
        resolved_count=41,
        listed_count=39,
        resolved=(
            ResolvedView(
                Timestamp(NOW - 9_000),
                market.market_id,
                market.question,
                outcome=True,
                payout=Micros(51_200_000),
                pnl=Micros(26_200_000),
            ),
        ),
        news=full.news[:3],
        equity_before=Micros(10_000_000_000),
        equity_after=Micros(10_026_200_000),
    )
    world = None if full.world is None else replace(full.world, meanwhile=meanwhile)
    return replace(full, world=world, preferences={"welcome": "seen"})


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


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
async def test_each_screen_looks_as_it_is_meant_to(name: str, size: tuple[int, int]) -> None:
    async with seen(state(), SCREENS[name], size) as (pilot, _):
        await assert_snapshot(pilot, f"screen_{name}_{size[0]}x{size[1]}", themes=NAMES)

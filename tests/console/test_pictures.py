"""The whole console, screen by screen, at three sizes, as pictures to be read."""

from dataclasses import replace

import pytest

from kit.console.pictures import NAMES, assert_at_sizes, seen
from kit.console.snapshot import FOLDER, assert_snapshot
from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from service_tui.desk.slices.world import AbsenceView, ResolvedView
from service_tui.desk.state import DeskState
from service_tui.outcome import YES
from service_tui.units import Micros, Timestamp

SCREENS = {
    "monitors": ("3",),
    "monitor": ("3", "j", "e"),
    "monitors_many": ("3", "E", "1", "5", "enter"),
    "alerts": ("3", "o"),
    "price_alerts": ("3", "o", "o", "o"),
    "plan": ("7", "j", "P"),
    "ticket": ("2", "j", "b"),
    "help": ("2", "question_mark"),
    "palette": ("1", "ctrl+p"),
    "command": ("2", "colon", *"so"),
    "sort_menu": ("2", "comma"),
    "welcome": ("f12",),
}
ANEW = {"help", "palette", "sort_menu", "ticket", "command"}
"""What measures the room as it opens, or lies over a pane: that gives room back in its own time."""


def state() -> DeskState:
    """A desk in the middle of a day, back from an absence, the welcome seen."""
    full = guarded_state()
    market = next(iter(full.markets.values()))
    meanwhile = AbsenceView(
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
                outcome=YES,
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


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
async def test_each_screen_looks_as_it_is_meant_to(name: str) -> None:
    await assert_at_sizes(state(), SCREENS[name], f"screen_{name}", anew=name in ANEW)


@pytest.mark.slow
async def test_a_layout_is_the_same_in_every_theme() -> None:
    async with seen(state(), ("1",), (120, 40)) as (pilot, _):
        await assert_snapshot(pilot, "screen_portfolio_120x40", themes=NAMES)


def test_no_two_kept_pictures_are_the_same() -> None:
    """A key that opens nothing any more leaves a picture of what was there before."""
    assert len(list(FOLDER.glob("*.txt"))) > 100
    pictures: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        assert pictures.setdefault(text, path.name) == path.name

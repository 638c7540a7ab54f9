"""The main job, from key press to table: find, buy, see it, sell half, quit, come back."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from kit.console.painted import strips_of
from service_tui.app.first_state import first_state
from service_tui.app.live import embedded_parts
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState

SIZE = (120, 40)
Walker = Pilot[int]
Pair = tuple[ConsoleApp, Walker]


@asynccontextmanager
async def console(path: Path, clock: ManualClock) -> AsyncGenerator[Pair]:
    options = Options(path, path / "config", path / "log", seed=7, speed=0)
    initial = first_state(options)
    app = ConsoleApp(
        open_desk=lambda: embedded_parts(options, initial, clock, random.Random(5)),
        initial=initial,
        now=clock.now,
        themes=load_themes(shipped_folder()),
        log_path="log",
    )
    async with app.run_test(size=SIZE) as pilot:
        yield app, pilot


async def until(
    app: ConsoleApp, pilot: Walker, clock: ManualClock, is_so: Callable[[DeskState], object]
) -> DeskState:
    for step in range(300):
        if is_so(app.desk_state):
            await pilot.pause()
            return app.desk_state
        await clock.advance(0.25)
        await asyncio.sleep(0.005 if step < 100 else 0.05)
        await pilot.pause()
    raise AssertionError("the console never showed the wanted state")


async def pass_time(pilot: Walker, clock: ManualClock, seconds: float = 2.0) -> None:
    """Quiet moments for debounced things, in both times."""
    for _ in range(8):
        await clock.advance(seconds / 8)
        await pilot.pause(0.06)


@pytest.mark.slow
async def test_find_buy_see_sell_half_quit_and_come_back(tmp_path: Path) -> None:
    clock = ManualClock()
    async with console(tmp_path, clock) as (app, pilot):
        state = await until(app, pilot, clock, lambda s: len(s.markets) > 60 and s.limits)
        await pilot.press("escape")
        market = sorted(
            (one for one in state.markets.values() if one.is_open), key=lambda one: one.question
        )[3]
        await pilot.press("2", "slash", *[key_of(letter) for letter in market.question[5:40]])
        await pass_time(pilot, clock)
        await pilot.press("enter")
        await pilot.press("b")
        await pass_time(pilot, clock)
        for key in "25":
            await pilot.press(key)
        await pass_time(pilot, clock)
        await pilot.press("enter")
        state = await until(app, pilot, clock, lambda s: s.positions)
        held = state.positions[0]
        assert held.market_id == market.market_id
        assert held.cost == 25_000_000
        assert state.account.cash == 9_975_000_000
        await pilot.press("1")
        await pass_time(pilot, clock)
        assert held.question[:20] in screen_text(app)
        await pilot.press("x")
        await pass_time(pilot, clock)
        await choose_half(pilot)
        await pass_time(pilot, clock)
        await pilot.press("enter")
        state = await until(
            app, pilot, clock, lambda s: s.positions and s.positions[0].shares < held.shares
        )
        half = state.positions[0]
        assert abs(half.shares * 2 - held.shares) <= 20
        cash = state.account.cash
        assert [ticket.state for ticket in state.tickets] == [TicketState.DONE] * 2
        await pilot.press("ctrl+q")
    async with console(tmp_path, clock) as (app, pilot):
        assert app.desk_state.from_cache
        assert app.desk_state.positions[0].market_id == market.market_id
        state = await until(app, pilot, clock, lambda s: not s.from_cache and s.positions)
        assert state.positions[0].shares == half.shares
        assert state.account.cash == cash
        assert len(state.tickets) == 2


def key_of(letter: str) -> str:
    named = {" ": "space", "?": "question_mark", ",": "comma", ".": "full_stop", "-": "minus"}
    return named.get(letter, letter)


def screen_text(app: ConsoleApp) -> str:
    width, height = app.size
    lines = strips_of(app.screen)
    return "\n".join(strip.text for strip in lines)[: (width + 1) * height]


async def choose_half(pilot: Walker) -> None:
    await pilot.press("f2")

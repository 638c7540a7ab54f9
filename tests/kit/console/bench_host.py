"""A console whose state changes every second, and the wait of each key press."""

import asyncio
import gc
import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from textual import events

from kit.console import painting
from kit.console.doors import RecordingDoors
from kit.samples.desk import NOW, sample_state
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.state import DeskState
from service_tui.units import Probability

LOST_S = 2.0


def moved(state: DeskState, rng: random.Random) -> DeskState:
    """The state with another price in every market."""
    markets = {
        key: replace(
            market,
            price=Probability(min(0.99, max(0.01, market.price + rng.uniform(-0.01, 0.01)))),
        )
        for key, market in state.markets.items()
    }
    return replace(state, markets=markets)


async def run_markets(
    count: int, seconds: int, rng: random.Random
) -> tuple[list[float], list[float]]:
    """Waits of key presses over so many markets, whose prices change every second."""
    states = [replace(sample_state(count), preferences={"welcome": "seen"})]
    for _ in range(seconds + 2):
        states.append(moved(states[-1], rng))
    return await run_keys("markets", states, seconds, rng)


async def run_keys(
    first: str,
    states: list[DeskState],
    seconds: int,
    rng: random.Random,
    *,
    at_end: Callable[[RecordTable[Any], DeskState], None] = lambda *_: None,
) -> tuple[list[float], list[float]]:
    """Seconds that each of many key presses waited until the app had dealt with it.

    Once by the clock on the wall, and once by the CPU that the console itself used meanwhile: what
    the wait would be if nobody else were using the machine. A state of `states` is on the screen
    `first` at first, another one comes every second; `at_end` is told what stands there then. They
    are made beforehand: what the bench itself costs is no wait of the console's.
    """
    doors = RecordingDoors(states[0])
    app = ConsoleApp(
        open_desk=doors.open,
        initial=states[0],
        now=lambda: NOW,
        themes=load_themes(shipped_folder()),
        log_path="",
        first=first,
    )
    coming = iter(states[1:])
    # As the program does after its imports; and the states made beforehand are the bench's own.
    gc.collect()
    gc.freeze()
    waits: list[float] = []
    used: list[float] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause(1.0)
        table = app.query_one(f"#{first}").query_one(RecordTable)
        keys = ["j", "k"]
        await pilot.press("j", "j")
        end = time.perf_counter() + seconds
        due = 0.0
        while time.perf_counter() < end:
            if time.perf_counter() >= due:
                due = time.perf_counter() + 1.0
                doors.bring(next(coming))
            keys.append(keys.pop(0))
            before, started = table.order.cursor, time.perf_counter()
            used_before = time.thread_time()
            event = events.Key(keys[0], keys[0])
            event.set_sender(app)
            app._driver.send_message(event)
            while table.order.cursor == before and time.perf_counter() - started < LOST_S:  # noqa: ASYNC110
                await asyncio.sleep(0)
            waits.append(time.perf_counter() - started)
            used.append(time.thread_time() - used_before)
            await asyncio.sleep(rng.uniform(0.01, 0.06))
        await pilot.pause(1.0)
        at_end(table, doors.state)
    return waits, used


async def run_switches(count: int, rounds: int = 60) -> list[float]:
    """Seconds that a change of the screen takes until the new one was painted, by digits typed."""
    state = replace(sample_state(count), preferences={"welcome": "seen"})
    app = ConsoleApp(
        open_desk=RecordingDoors(state).open,
        initial=state,
        now=lambda: NOW,
        themes=load_themes(shipped_folder()),
        log_path="",
        first="markets",
    )
    painted = 0
    display = app._display

    def note(screen: Any, update: Any) -> None:
        nonlocal painted
        painted += update is not None
        display(screen, update)

    async def switched(key: str) -> float:
        front, before = app.front, painted
        event = events.Key(key, key)
        event.set_sender(app)
        started = time.perf_counter()
        app._driver.send_message(event)
        while app.front is front or painted == before:
            if time.perf_counter() - started > LOST_S:
                break
            await asyncio.sleep(0)
        return time.perf_counter() - started

    waits: list[float] = []
    setattr(app, "_display", note)  # noqa: B010  (a method of Textual's)
    with painting.each_frame():
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause(1.0)
            # Every screen has been open once: what is loaded then is no switch.
            await pilot.press("1", "3", "6", "2")
            gc.collect()
            gc.freeze()
            for number in range(rounds):
                waits.append(await switched("3612"[number % 4]))
                await pilot.pause(0.1)
    return waits

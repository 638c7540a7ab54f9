"""A desk with twenty agents is recorded on the manual clock, then any moment of it is read back.

Run: python tests/bench/replay.py [hours [folder]]
     python tests/bench/replay.py read folder
Prints the records, the size of the file and what it comes to in a day (at most 5 MB at a hundred
markets), the milliseconds to a drawn moment, the first of a file and the next ones (at most 500),
and whether every screen at ten drawn moments shows what it showed then. With a folder the recording
stays there, and `read` times its moments once more.
"""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit.console.doors import running, seen_before
from kit.console.every_screen import texts
from kit.service.line import Line
from kit.service.stage import open_stage, open_test_desk
from service_tui.app.collecting import Collecting
from service_tui.clock import ManualClock
from service_tui.desk.commands.agents import ReadLog, WatchAgent
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.recording.player import Player
from service_tui.desk.recording.recorder import (
    AFTER_EVENT_S,
    DAY_BYTES,
    MARKETS_OF_A_DAY,
    SAVED_MAX,
    Recorder,
)
from service_tui.desk.state import DeskState
from service_tui.storage.recordings import Recordings
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import MARKETS, PLACE_TRADE, REGISTER

HOUR_S = 3_600.0
DAY_S = 86_400.0
AGENTS = 20
TRADES_A_STEP = 0.15
"""Chance of a trade of some agent in two seconds: about 6,500 a day."""

DRAWN = 100
MOMENTS = 10
WIDTH, HEIGHT = 160, 50


async def recorded(folder: Path, hours: float) -> dict[Timestamp, DeskState]:
    """Record a desk; returns the recorded states by their times."""
    states: dict[Timestamp, DeskState] = {}
    clock, rng, recorder = ManualClock(), random.Random(3), Recorder()
    store = Recordings(folder)
    store.begin()
    async with open_stage(folder / "service", clock, speed=1) as stage:
        stage.sim.service.limits = False
        lines = [Line(stage, stage.key)]
        for number in range(AGENTS):
            told = await lines[0].said(REGISTER, json={"name": f"agent {number}"})
            lines.append(Line(stage, told["api_key"]))
        names = [one["id"] for one in (await lines[0].said(MARKETS, limit=100))["markets"]]
        async with open_test_desk(stage) as desk:
            # As a person does who has looked at a market and at an agent.
            desk.submit(WatchMarket(names[0], 86_400))
            desk.submit(WatchAgent(stage.agent_id))
            desk.submit(ReadLog())
            began, count, events, largest = clock.now(), 0, 0, 0
            shown_h = 0
            while clock.now() < began + hours * HOUR_S:
                await clock.advance(AFTER_EVENT_S)
                if rng.random() < TRADES_A_STEP:
                    order = {"market_id": rng.choice(names), "side": "yes", "amount": 5}
                    await rng.choice(lines).ask(PLACE_TRADE, json=order)
                state = desk.state
                if not state.from_cache and recorder.is_due(state, clock.now()):
                    row = recorder.record(state, clock.now())
                    if row is not None:
                        store.add(row)
                        recorder.kept(row)
                        states[Timestamp(row.at)] = state
                        count += 1
                        largest = max(largest, len(row.body))
                        events += bool(row.event)
                if (clock.now() - began) // HOUR_S > shown_h:
                    shown_h += 1
                    so_far = store.path.stat().st_size / 1e6
                    print(f"{shown_h} h: {count} records, {so_far:.2f} MB", flush=True)
            size = store.path.stat().st_size
            # What may have been written by now; the last record may be larger than what was left.
            scale = max(1.0, len(desk.state.markets) / MARKETS_OF_A_DAY)
            allowed = scale * (SAVED_MAX + DAY_BYTES * hours / 24) + largest
            day = scale * (SAVED_MAX + DAY_BYTES) + largest
            print(f"{hours:g} h, {len(desk.state.markets)} markets, {AGENTS} agents")
            print(f"{count} records, {events} of events")
            print(f"{size / 1e6:.2f} MB of {allowed / 1e6:.2f}; a day at most {day / 1e6:.2f} MB")
            return states


def read_back(folder: Path, times: Sequence[Timestamp]) -> None:
    """Time drawn moments, each with a player of its own and with one for all."""
    # As in the console: a full collection of garbage waits for an idle moment.
    Collecting().begin()
    rng, one = random.Random(4), Player(Recordings(folder))
    cold: list[float] = []
    warm: list[float] = []
    for _ in range(DRAWN):
        at = Timestamp(rng.uniform(times[0], times[-1]))
        for player, took in ((Player(Recordings(folder)), cold), (one, warm)):
            start = time.perf_counter()
            assert player.moment(at) is not None
            took.append((time.perf_counter() - start) * 1_000)
    for name, took in (("first of a file", cold), ("with the former one", warm)):
        print(f"{name}: median {statistics.median(took):.0f} ms, most {max(took):.0f} ms")


async def compared(folder: Path, states: dict[Timestamp, DeskState]) -> None:
    """Show ten moments as they came and as they are replayed, and compare every screen."""
    drawn = sorted(random.Random(5).sample(list(states), min(MOMENTS, len(states))))
    player = Player(Recordings(folder))
    shown = 0
    different: list[str] = []
    for at in drawn:
        async with running(seen_before(states[at]), size=(WIDTH, HEIGHT)) as seen:
            seen.clock[0] = at
            await seen.bring(replace(seen_before(states[at]), rewound_to=None))
            height = seen.app.deck.size.height
            then = await texts(seen)
        nothing = replace(DeskState(states[at].service), preferences={"welcome": "seen"})
        async with running(
            nothing, player=lambda: player, replay_at=at, size=(WIDTH, HEIGHT), first="attention"
        ) as seen:
            await seen.until(lambda: seen.app.replay.moment is not None)
            # The line that marks the replay takes one from the screen, unless there was one then.
            more = height - seen.app.deck.size.height
            await seen.pilot.resize_terminal(WIDTH, HEIGHT + more)
            await seen.pilot.pause(0.3)
            again = await texts(seen)
        shown += len(then)
        for name, text in again.items():
            pairs = zip(then[name].splitlines(), text.splitlines(), strict=False)
            lines = [pair for pair in pairs if pair[0] != pair[1]]
            different += [f"{name} at {at:.0f}: {lines[:2]}"] if lines else []
    print(f"{shown} screens at {len(drawn)} moments: {shown - len(different)} equal")
    print(*different, sep="\n")


async def main(hours: float, folder: Path) -> None:
    (folder / "service").mkdir(parents=True)
    states = await recorded(folder, hours)
    read_back(folder, list(states))
    await compared(folder, states)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["read", kept]:
            read_back(Path(kept), Player(Recordings(Path(kept))).span() or ())
        case [hours, kept]:
            asyncio.run(main(float(hours), Path(kept)))
        case rest:
            with tempfile.TemporaryDirectory() as passing:
                asyncio.run(main(float(rest[0]) if rest else 2.0, Path(passing)))

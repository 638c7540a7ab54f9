"""What an experiment brings is on the screen within two seconds, whoever made it."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from textual.pilot import Pilot

from kit.console.painted import strips_of
from service_tui.app.first_state import first_state
from service_tui.app.live import embedded_parts
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.console.app import ConsoleApp
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.desk import Desk
from service_tui.notes import notebook, registry
from service_tui.notes.notebook import FILE
from service_tui.notes.registry import RegistryEntry
from service_tui.terms import ExperimentStatus
from service_tui.wire.endpoints.research import POST_EXPERIMENT
from service_tui.wire.research import ExperimentRequest

WITHIN_S: Final = 2.0
STEP_S: Final = 0.25
ROUNDS: Final = 2_000
"""Looks without any time passing on the manual clock: a slow machine gets all it needs."""

CONFIG: Final = {
    "type": "config", "name": "first", "skillSlug": "edge-picker", "metricName": "score",
    "metricUnit": "$", "bestDirection": "higher",
}  # fmt: skip


def line(run: int, text: str) -> dict[str, object]:
    return {
        "run": run, "commit": "abc1234", "metric": float(run), "metrics": {}, "status": "keep",
        "description": text, "timestamp": 1_800_000_000_000 + run, "segment": 0,
        "confidence": None,
    }  # fmt: skip


class Onlooker:
    """A person who looks at screen 6."""

    def __init__(self, app: ConsoleApp, pilot: Pilot[int], clock: ManualClock) -> None:
        self.app, self.pilot, self.clock = app, pilot, clock

    @property
    def text(self) -> str:
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    async def wait(self, is_so: Callable[[], object]) -> None:
        """Let the machine work until it is so, or has had time enough; the clock stands still."""
        for _ in range(ROUNDS):
            if is_so():
                return
            await asyncio.sleep(0.005)
            await self.pilot.pause()

    async def sees(self, words: str) -> float:
        """How long the words take to appear; they must within the limit of the issue."""
        began = self.clock.monotonic()
        while self.clock.monotonic() - began < WITHIN_S:
            await self.clock.advance(STEP_S)
            for _ in range(4):
                await asyncio.sleep(0.005)
                await self.pilot.pause()
            if words in self.text:
                return self.clock.monotonic() - began
        await self.wait(lambda: words in self.text)
        assert words in self.text
        return self.clock.monotonic() - began


@asynccontextmanager
async def onlooker(path: Path) -> AsyncGenerator[tuple[Onlooker, Desk]]:
    clock = ManualClock()
    options = Options(path, path / "config", path / "log", seed=7, speed=0)
    initial = first_state(options)
    opened: list[Desk] = []

    @asynccontextmanager
    async def open_desk() -> AsyncIterator[Desk]:
        async with embedded_parts(options, initial, clock, random.Random(5)) as desk:
            opened.append(desk)
            yield desk

    app = ConsoleApp(
        open_desk=open_desk, initial=initial, now=clock.now,
        themes=load_themes(shipped_folder()), log_path="log", first="research",
    )  # fmt: skip
    async with app.run_test(size=(140, 40)) as pilot:
        seen = Onlooker(app, pilot, clock)
        for _ in range(400):
            if opened and not app.desk_state.from_cache and app.desk_state.limits:
                break
            await clock.advance(STEP_S)
            await asyncio.sleep(0.005)
            await pilot.pause()
        await pilot.press("escape")
        yield seen, opened[0]


@pytest.mark.slow
async def test_a_line_and_a_post_are_on_the_screen_within_two_seconds(tmp_path: Path) -> None:
    data, repository = tmp_path / "data", tmp_path / "skill"
    repository.mkdir()
    async with onlooker(data) as (seen, desk):
        notebook.append(repository / FILE, CONFIG)
        notebook.append(repository / FILE, line(1, "the thresholds as they came"))
        entry = RegistryEntry(str(repository), skill="edge-picker")
        registry.write(registry.path_of(data, repository), entry)
        took = [await seen.sees("the thresholds as they came")]
        for run in range(2, 5):
            notebook.append(repository / FILE, line(run, f"another line {run}"))
            took.append(await seen.sees(f"another line {run}"))
        assert max(took) <= WITHIN_S

        for run in range(5, 8):
            body = ExperimentRequest(
                skill_slug="edge-picker", experiment_number=run, status=ExperimentStatus.KEEP,
                metric_value=float(run), description=f"posted elsewhere {run}",
                client_ref=f"other-{run}",
            )  # fmt: skip
            await desk.ports.client.call(POST_EXPERIMENT, body=body)
            took.append(await seen.sees(f"posted elsewhere {run}"))
        assert max(took) <= WITHIN_S

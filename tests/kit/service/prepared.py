"""Services that have lived for a while: each kind is made once a process, and copied for a test.

A story that many tests start from (a wallet linked and paid for, a position bought, its market
settled) takes seconds of tape. It is told once, its data directory is kept, and each test opens a
copy of it at the moment where the story ended.
"""

import shutil
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from kit.service.stage import Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.terms import Plan

Facts = TypeVar("Facts")


@dataclass(frozen=True)
class Story(Generic[Facts]):
    """A service to start from: what happened there, and what a test must know of it."""

    tell: Callable[[Stage], Awaitable[Facts]]
    speed: int | None = None
    plan: Plan = Plan.PRO


@dataclass(frozen=True)
class Kept(Generic[Facts]):
    """Where a told story lies, and when it ended."""

    folder: Path
    now: float
    key: str
    agent_id: str
    facts: Facts


_kept: dict[Story, Kept] = {}
_ground: list[tempfile.TemporaryDirectory[str]] = []


async def kept(story: Story[Facts]) -> Kept[Facts]:
    """The story's directory, closed in order; it is told when it is first wanted."""
    found = _kept.get(story)
    if found is None:
        ground = tempfile.TemporaryDirectory(prefix="prepared-")
        # Removed when the process ends.
        _ground.append(ground)
        folder, clock = Path(ground.name) / "data", ManualClock()
        async with open_stage(folder, clock, speed=story.speed, plan=story.plan) as stage:
            facts = await story.tell(stage)
            found = Kept(folder, clock.now(), stage.key, stage.agent_id, facts)
        _kept[story] = found
    return found


@asynccontextmanager
async def open_prepared(path: Path, story: Story[Facts]) -> AsyncGenerator[tuple[Stage, Facts]]:
    """A stage on a copy of the story's directory, at the moment where it ended."""
    at = await kept(story)
    shutil.copytree(at.folder, path, dirs_exist_ok=True)
    clock = ManualClock(at.now)
    async with open_stage(path, clock, key=at.key, agent_id=at.agent_id, plan=story.plan) as stage:
        yield stage, at.facts

"""An optimiser makes thirty experiments, finds a better threshold, and a person sees it.

The skill trades through ServiceClient, the optimiser speaks MCP to a server of its own.
"""

import asyncio
import random
import re
import runpy
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import sample_state
from kit.service.stage import Stage, open_stage, open_test_desk, until
from kit.terminal.research import Driver, driving, git
from service_tui import ServiceClient
from service_tui.console.screens.research.chart import metric_chart
from service_tui.console.screens.research.screen import ResearchScreen
from service_tui.desk.slices.research import ResearchView
from service_tui.desk.state import DeskState
from service_tui.sdk.rounds import one_round
from service_tui.server.http.loopback import listen
from service_tui.skills.package import BUNDLED
from service_tui.units import Timestamp

pytestmark = pytest.mark.process


SKILL: Final = "closing-favourite"
EXPERIMENTS: Final = 30
START: Final = 0.55
"""Buys nearly anything; the skill comes with 0.85."""

TRADES: Final = 30
BUDGET: Final = 1_000.0
DEFAULT: Final = re.compile(r'(?<=FAVOURITE_FAVOURITE", ")[0-9.]+')


def confidence_of(favourite: float) -> float:
    """What the skill believes of a favourite at this price."""
    return round(favourite + (1 - favourite) / 5, 4)


async def trade(stage: Stage, url: str, script: Path) -> None:
    """What the bundled skill buys while its threshold is at the start, and what became of it."""
    skill = runpy.run_path(str(script))
    ideas = skill["ideas"]
    ideas.__globals__["FAVOURITE"] = START
    with ServiceClient(stage.key, url) as client:
        await asyncio.to_thread(client.update_settings, auto_risk_monitor_enabled=False)
        bought = 0
        for _ in range(TRADES):
            report = await asyncio.to_thread(
                one_round, client, SKILL, ideas, left=BUDGET, trades=1
            )  # fmt: skip
            bought += report.trades_executed
            await stage.clock.advance(2.0)
        assert bought > 12, report
        held = {row.market_id for row in await asyncio.to_thread(client.get_positions)}
    world = stage.world
    last = max(world.markets[one].listing.resolved_at for one in held)
    ends = Timestamp(world.at + last - world.world_at + 1)
    await stage.sim.service.world_store.advance(ends)
    stage.clock.set(max(stage.clock.now(), ends))


def repository_of_the_skill(folder: Path) -> Path:
    shutil.copytree(BUNDLED / SKILL, folder)
    git(folder, "init", "--quiet", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "the skill as it comes")
    return folder


def change_the_default(script: Path, favourite: float) -> None:
    script.write_text(DEFAULT.sub(f"{favourite}", script.read_text(), count=1))


class Optimiser:
    """What an agent does that looks for a better threshold, and what it found."""

    def __init__(self) -> None:
        self.first = 0.0
        self.best, self.best_at = float("-inf"), START
        self._rng = random.Random(5)

    async def experiment(self, driver: Driver, script: Path, number: int) -> None:
        tried = START if number == 1 else self._next()
        change_the_default(script, tried)
        config = {"min_confidence": confidence_of(tried)}
        said = await driver.call("backtest_experiment", skill_slug=SKILL, config=config, days=30)
        metric = said["simulated_pnl"]
        is_better = metric > self.best
        told = await driver.log(
            "keep" if is_better else "discard", metric, f"favourite {tried}"
        )  # fmt: skip
        assert (told["experiment"], told["warnings"]) == (number, [])
        self.first = metric if number == 1 else self.first
        if is_better:
            self.best, self.best_at = metric, tried

    def _next(self) -> float:
        return round(min(0.97, self._rng.gauss(self.best_at, 0.08)), 3)


@pytest.mark.slow
async def test_thirty_experiments_find_a_better_threshold(tmp_path: Path) -> None:
    repository, found = repository_of_the_skill(tmp_path / "skill"), Optimiser()
    async with open_stage(tmp_path / "served") as stage, listen(stage.sim.app) as url:
        await trade(stage, url, repository / "run.py")
        service = {"SERVICE_API_KEY": stage.key, "SERVICE_API_URL": url}
        async with driving(repository, tmp_path / "data", env=service) as driver:
            begun = await driver.init(name="edges", skill_slug=SKILL, metric_name="simulated")
            script = Path(begun["worktree"]) / "run.py"
            for number in range(1, EXPERIMENTS + 1):
                await found.experiment(driver, script, number)
                await stage.clock.advance(2.0)
        assert found.best > found.first
        assert found.best_at > START
        assert DEFAULT.findall(script.read_text()) == [f"{found.best_at}"]
        assert str(found.best_at) in git(repository, "show", f"autoresearch/{SKILL}:run.py")
        assert git(script.parent, "log", "-1", "--format=%s") == f"favourite {found.best_at}"

        async with open_test_desk(stage) as desk:

            def seen(state: DeskState) -> bool:
                return len(state.research.experiments) == EXPERIMENTS

            state = await until(desk, seen, stage.clock)
        research = state.research
        assert research.sessions[0].best == found.best
        top = next(one for one in research.experiments if one.is_best)
        assert top.description == f"favourite {found.best_at}"
        await check_screen(research)


async def check_screen(research: ResearchView) -> None:
    shown = replace(seen_before(sample_state()), research=research)
    async with running(shown, size=(120, 40)) as console:
        await console.press("6")
        front = console.app.front
        assert isinstance(front, ResearchScreen)
        assert len(front.table.order) == EXPERIMENTS
        drawn = metric_chart(research.experiments[::-1], 100, 9).plain
        assert drawn.count("○") + drawn.count("●") == EXPERIMENTS

"""An optimiser makes thirty experiments, finds a better threshold, and a person sees it."""

import os
import random
import re
import runpy
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from autoresearch.driven import git
from doors import running, seen_before
from line import change, line_to
from samples import sample_state
from service_tui.autoresearch.remote import Remote
from service_tui.autoresearch.session import Means, Session
from service_tui.autoresearch.tools import TOOLS
from service_tui.autoresearch.worktree import repository_at
from service_tui.console.screens.research import ResearchScreen
from service_tui.console.screens.research_chart import metric_chart
from service_tui.desk.state import DeskState
from service_tui.engine.market import Market
from service_tui.skills.package import BUNDLED
from service_tui.units import Timestamp
from service_tui.wire.endpoints import PLACE_TRADE
from support import Stage, open_stage, open_test_desk, until

SKILL: Final = "closing-favourite"
EXPERIMENTS: Final = 30
START: Final = 0.55
"""Buys nearly anything; the skill comes with 0.85."""

TRADES: Final = 30
DEFAULT: Final = re.compile(r'(?<=FAVOURITE_FAVOURITE", ")[0-9.]+')


def confidence_of(favourite: float) -> float:
    """What the skill believes of a favourite at this price."""
    return round(favourite + (1 - favourite) / 5, 4)


class Wishes:
    """Stands where the skill has its client: shows it the markets, and hears what it wants."""

    def __init__(self, markets: list[Market]) -> None:
        self.orders: list[dict[str, Any]] = []
        self._markets = markets

    def get_markets(self, **_: object) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(id=one.market_id, current_probability=one.price())
            for one in self._markets
        ]

    def trade(self, market_id: str, side: str, amount: float, **more: Any) -> SimpleNamespace:
        more.pop("reasoning")
        self.orders.append({"market_id": market_id, "side": side, "amount": amount, **more})
        return SimpleNamespace(success=True)


async def trade(stage: Stage, script: Path) -> None:
    """What the bundled skill buys while its threshold is at the start, and what became of it."""
    line = line_to(stage)
    await change(stage, auto_risk_monitor_enabled=False)
    markets = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
    skill = runpy.run_path(str(script))
    wishes = Wishes(markets[:60])
    skill["run"].__globals__.update(FAVOURITE=START, TRADES=TRADES)
    skill["run"](wishes, left=1_000.0)
    assert len(wishes.orders) > 12
    bought = {order["market_id"] for order in wishes.orders}
    for order in wishes.orders:
        said = await line.said(PLACE_TRADE, json=order)
        assert said["success"], said
        await stage.clock.advance(2.0)
    world = stage.world
    last = max(one.listing.resolved_at for one in markets if one.market_id in bought)
    ends = Timestamp(world.at + last - world.world_at + 1)
    await stage.sim.service.keeper.advance(ends)
    stage.clock._now = max(stage.clock._now, ends)


def repository_of_the_skill(folder: Path) -> Path:
    shutil.copytree(BUNDLED / SKILL, folder)
    git(folder, "init", "--quiet", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "the skill as it comes")
    return folder


async def test_thirty_experiments_find_a_better_threshold(tmp_path: Path) -> None:
    repository = repository_of_the_skill(tmp_path / "skill")
    async with open_stage(tmp_path / "served") as stage:
        await trade(stage, repository / "run.py")
        session = Session(
            Means(
                await repository_at(repository), Remote(stage.client), stage.clock,
                tmp_path / "data", dict(os.environ), 50, mark="journey",
            )
        )  # fmt: skip
        await session.open()
        tools = {one.name: one for one in TOOLS}

        async def call(tool: str, **given: object) -> dict[str, Any]:
            return dict(await tools[tool].call(session, given))

        begun = await call(
            "init_experiment", name="edges", skill_slug=SKILL, metric_name="simulated",
            direction="higher",
        )  # fmt: skip
        script = Path(begun["worktree"]) / "run.py"
        rng, best, best_at, first = random.Random(5), float("-inf"), START, 0.0
        for number in range(1, EXPERIMENTS + 1):
            tried = START if number == 1 else round(min(0.97, rng.gauss(best_at, 0.08)), 3)
            script.write_text(DEFAULT.sub(f"{tried}", script.read_text(), count=1))
            config = {"min_confidence": confidence_of(tried)}
            said = await call("backtest_experiment", skill_slug=SKILL, config=config, days=30)
            metric = said["simulated_pnl"]
            status = "keep" if metric > best else "discard"
            told = await call(
                "log_experiment", status=status, metric=metric, description=f"favourite {tried}"
            )
            assert told["experiment"] == number
            first = metric if number == 1 else first
            if status == "keep":
                best, best_at = metric, tried
            await stage.clock.advance(2.0)
        assert best > first
        assert best_at > START
        assert DEFAULT.findall(script.read_text()) == [f"{best_at}"]
        assert str(best_at) in git(repository, "show", f"autoresearch/{SKILL}:run.py")
        assert git(script.parent, "log", "-1", "--format=%s") == f"favourite {best_at}"
        session.close()

        async with open_test_desk(stage) as desk:

            def seen(state: DeskState) -> bool:
                return len(state.research.experiments) == EXPERIMENTS

            state = await until(desk, seen, stage.clock)
        research = state.research
        assert research.sessions[0].best == best
        top = next(one for one in research.experiments if one.is_best)
        assert top.description == f"favourite {best_at}"
        shown = replace(seen_before(sample_state()), research=research)
        async with running(shown, size=(120, 40)) as console:
            await console.press("6")
            front = console.app.front
            assert isinstance(front, ResearchScreen)
            assert len(front.table.order) == EXPERIMENTS
            drawn = metric_chart(research.experiments[::-1], 100, 9).plain
            assert drawn.count("○") + drawn.count("●") == EXPERIMENTS

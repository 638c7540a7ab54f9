"""An optimiser makes thirty experiments, finds a better threshold, and a person sees it."""

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from autoresearch.driven import SKILL, git, new_repository
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
from service_tui.units import Timestamp
from service_tui.wire.endpoints import PLACE_TRADE
from support import Stage, open_stage, open_test_desk, until

EXPERIMENTS: Final = 30
START: Final = 0.02


async def trade(stage: Stage) -> None:
    """Buys of which those with a large edge mostly win, and what became of them."""
    line, rng = line_to(stage), random.Random(3)
    await change(stage, auto_risk_monitor_enabled=False)
    found = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
    chosen = [one for one in found if 0.2 < one.price() < 0.8][:24]
    for market in chosen:
        edge = round(rng.uniform(0, 0.3), 3)
        side = "yes" if market.listing.outcome is (edge > 0.12) else "no"
        said = await line.said(
            PLACE_TRADE,
            json={
                "market_id": market.market_id, "side": side, "amount": 5, "skill_slug": SKILL,
                "signal_data": {"edge": edge},
            },
        )  # fmt: skip
        assert said["success"], said
        await stage.clock.advance(2.0)
    world = stage.world
    ends = Timestamp(world.at + chosen[-1].listing.resolved_at - world.world_at + 1)
    await stage.sim.service.keeper.advance(ends)
    stage.clock._now = max(stage.clock._now, ends)


async def test_thirty_experiments_find_a_better_threshold(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with open_stage(tmp_path / "served") as stage:
        await trade(stage)
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
        script = Path(begun["worktree"]) / "skill.py"
        rng, best, best_edge, first = random.Random(5), float("-inf"), START, 0.0
        for number in range(1, EXPERIMENTS + 1):
            edge = START if number == 1 else round(max(0.0, rng.gauss(best_edge, 0.08)), 3)
            text = script.read_text()
            was = text.split("MIN_EDGE = ")[1].split("\n")[0]
            script.write_text(text.replace(f"MIN_EDGE = {was}", f"MIN_EDGE = {edge}", 1))
            said = await call(
                "backtest_experiment", skill_slug=SKILL, config={"min_edge": edge}, days=30
            )
            metric = said["simulated_pnl"]
            status = "keep" if metric > best else "discard"
            told = await call(
                "log_experiment", status=status, metric=metric, description=f"min_edge {edge}"
            )
            assert told["experiment"] == number
            first = metric if number == 1 else first
            if status == "keep":
                best, best_edge = metric, edge
            await stage.clock.advance(2.0)
        assert best > first
        assert best_edge > START
        assert f"MIN_EDGE = {best_edge}" in script.read_text()
        assert git(script.parent, "log", "-1", "--format=%s") == f"min_edge {best_edge}"
        session.close()

        async with open_test_desk(stage) as desk:

            def seen(state: DeskState) -> bool:
                return len(state.research.experiments) == EXPERIMENTS

            state = await until(desk, seen, stage.clock)
        research = state.research
        assert research.sessions[0].best == best
        top = next(one for one in research.experiments if one.is_best)
        assert top.description == f"min_edge {best_edge}"
        shown = replace(seen_before(sample_state()), research=research)
        async with running(shown, size=(120, 40)) as console:
            await console.press("6")
            front = console.app.front
            assert isinstance(front, ResearchScreen)
            assert len(front.table.order) == EXPERIMENTS
            drawn = metric_chart(research.experiments[::-1], 100, 9).plain
            assert drawn.count("○") + drawn.count("●") == EXPERIMENTS

"""A skill on the leash: install, ask, approve, refuse, set free, hit the budget, export."""

import asyncio
import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from kit.console.walk import Walk, walking
from kit.service.stage import Stage, first_state, open_stage, open_test_desk
from service_tui.clock import ManualClock
from service_tui.console.forms.form import SECOND_THOUGHT_S
from service_tui.console.forms.leash_form import LeashForm
from service_tui.desk.commands.agents import (
    ApproveTrade,
    ExportData,
    InstallSkill,
    RefuseTrade,
    SetLeash,
    StartSkill,
    WatchAgent,
)
from service_tui.desk.desk import Desk
from service_tui.desk.slices.supervision import Pace, SkillRunState, SkillRunView
from service_tui.desk.state import DeskState
from service_tui.server.http.loopback import listen
from service_tui.skills.process import tagged
from service_tui.storage.action_log import FILE, verify
from service_tui.terms import LeashMode
from service_tui.units import ONE, Micros

pytestmark = [pytest.mark.process, pytest.mark.slow]


DOCUMENT = """---
name: buyer
description: Buys a little of everything, one after the other.
metadata:
  version: 1.2.0
---
"""
SCRIPT = """
import json, os, sys, time
from service_tui import ServiceClient
from service_tui.client.errors import RateLimitedError

print("budget", os.environ["SERVICE_BUYER_DAILY_BUDGET_USD"])
told = set()
with ServiceClient(live="--live" in sys.argv) as client:
    markets = client.get_markets(limit=60)
    for market in markets:
        result = client.trade(
            market.id, "yes", 5.0, reasoning="=cheap enough", source="sdk:buyer",
            skill_slug="buyer",
            signal_data={"edge": 0.05, "confidence": 0.6, "probability": 0.5, "signal_source": "t"},
        )
        if result.error_code == "LEASH_BUDGET":
            report = {"signals": len(markets), "skip_reason": result.error}
            print(json.dumps({"automaton": report}), flush=True)
            break
        while True:
            try:
                trades = client.get_held_trades()
            except RateLimitedError:
                # The service's minute is that of the test, and passes as the machine lets it.
                time.sleep(0.5)
                continue
            held = [one for one in trades if one.held_id == result.trade_id]
            if not held or held[0].status != "waiting":
                break
            time.sleep(0.1)
        if held:
            print(f"{held[0].status.value}: {held[0].reason}", flush=True)
        time.sleep(0.05)
"""


def written(where: Path) -> Path:
    folder = where / "buyer"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(DOCUMENT)
    (folder / "run.py").write_text(SCRIPT)
    return folder


async def until(stage: Stage, desk: Desk, is_so: Callable[[DeskState], object]) -> DeskState:
    for _ in range(3_000):
        if is_so(desk.state):
            return desk.state
        await stage.clock.advance(0.05)
        await asyncio.sleep(0.02)
    run = desk.state.supervision.runs[:1]
    raise AssertionError((run, desk.state.supervision.tail, desk.state.notices[-3:]))


def only_run(state: DeskState) -> SkillRunView:
    (run,) = state.supervision.runs
    return run


def traded(state: DeskState) -> bool:
    detail = state.supervision.detail
    return detail is not None and bool(detail.trades)


def output(state: DeskState) -> tuple[str, ...]:
    tail = state.supervision.tail
    return () if tail is None else tail.lines


async def test_a_skill_is_installed_led_freed_and_stopped_by_its_budget(tmp_path: Path) -> None:
    source = written(tmp_path / "from")
    async with open_stage(tmp_path / "data") as stage, listen(stage.sim.app) as url:
        initial = first_state()
        initial = replace(initial, service=replace(initial.service, address=url))
        async with open_test_desk(stage, initial) as desk:
            desk.submit(InstallSkill(str(source)))
            await until(
                stage, desk, lambda s: any(one.slug == "buyer" for one in s.supervision.skills)
            )
            desk.submit(
                StartSkill(
                    "buyer",
                    Pace.ONCE,
                    name="heron",
                    mode=LeashMode.ASK,
                    budget=Micros(30 * ONE),
                )
            )
            state = await until(stage, desk, lambda s: s.supervision.pending_trades)
            run = only_run(state)
            desk.submit(WatchAgent(run.agent_id, run.run_id))
            first = state.supervision.pending_trades[0]
            assert (first.agent_name, first.skill_slug, first.amount) == (
                "heron", "buyer", 5 * ONE,
            )  # fmt: skip
            assert first.signal_data["confidence"] == 0.6
            assert first.left_s(stage.clock.now()) > 0

            desk.submit(ApproveTrade(first.pending_id, "the first", Micros(4 * ONE)))
            state = await until(
                stage,
                desk,
                lambda s: (
                    s.supervision.detail
                    and s.supervision.detail.trades
                    and s.supervision.pending_trades
                ),
            )
            bought = state.supervision.detail.trades[0]
            assert (bought.trade.cost, bought.trade.reasoning) == (4 * ONE, "=cheap enough")

            second = state.supervision.pending_trades[0]
            desk.submit(RefuseTrade(second.pending_id, "the second", "not this one"))
            state = await until(
                stage,
                desk,
                lambda s: (
                    s.supervision.tail and "refused: not this one" in s.supervision.tail.lines
                ),
            )
            assert "approved: approved at another size" in state.supervision.tail.lines
            assert "budget 30.00" in state.supervision.tail.lines

            free = SetLeash(
                run.agent_id,
                "heron",
                LeashMode.AUTO,
                budget=Micros(30 * ONE),
                skill_slug="buyer",
            )
            desk.submit(free)
            third = desk.state.supervision.pending_trades
            state = await until(
                stage,
                desk,
                lambda s: s.supervision.leash_of(run.agent_id, "buyer").mode is LeashMode.AUTO,
            )
            for held in third or state.supervision.pending_trades:
                desk.submit(ApproveTrade(held.pending_id, "the third"))
            state = await until(stage, desk, lambda s: only_run(s).state is SkillRunState.DONE)
            assert "daily budget of skill buyer reached: 30.00" in only_run(state).report
            agent = stage.world.agents[run.agent_id]
            assert 25 * ONE < agent.spent_today(stage.clock.now()) <= 30 * ONE
            state = await until(
                stage, desk, lambda s: len(s.supervision.detail.trades) == agent.trades_count
            )
            (result,) = state.supervision.detail.results
            assert (result.skill_slug, result.trades_count) == ("buyer", agent.trades_count)
            assert result.edge is not None
            assert result.edge > 0
            assert tagged(run.run_id) == []

            desk.submit(ExportData(str(tmp_path / "out")))
            # Every file is written when it is said where they are.
            await until(
                stage,
                desk,
                lambda s: any("files written to" in one.text for one in s.notices),
            )
        assert sum(stage.world.ledger.balances().values()) == 0
    with (tmp_path / "out" / "trades.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == agent.trades_count
    # What a spreadsheet would calculate is text, and the numbers are numbers.
    assert {row["reasoning"] for row in rows} == {"'=cheap enough"}
    assert sum(float(row["cost"]) for row in rows) <= 30
    told = json.loads((tmp_path / "out" / "trades.json").read_text())
    assert {row["reasoning"] for row in told} == {"=cheap enough"}
    assert "| heron |" in (tmp_path / "out" / "day.md").read_text()
    log = tmp_path / "data" / FILE
    found = verify(log)
    assert (found.problem, found.count > 8) == ("", True)
    assert "not this one" in log.read_text()
    log.write_text(log.read_text().replace("not this one", "yes this one", 1))
    assert "does not follow" in verify(log).problem


# -- the same with the keys of the console -------------------------------------------------------


async def typed(walk: Walk, name: str, text: str) -> None:
    walk.app.screen.query_one(f"#{name}", Input).value = text
    await walk.pilot.pause()


async def until_shown(walk: Walk, is_so: Callable[[DeskState], object]) -> DeskState:
    """The processes take real time; what is on a screen is up to date then."""
    for _ in range(3_000):
        state = walk.app.desk_state
        if is_so(state):
            await walk.rest()
            return state
        await walk.clock.advance(0.05)
        await asyncio.sleep(0.02)
        await walk.pilot.pause()
    state = walk.app.desk_state
    raise AssertionError((state.supervision.runs, state.supervision.tail, state.notices[-3:]))


def row_of(walk: Walk, name: str) -> str:
    """Its line of the table, where the skill stands beside the name."""
    lines = walk.text.splitlines()
    return next((line for line in lines if f" {name} " in line and " buyer " in line), "")


async def test_the_same_journey_is_walked_with_keys(tmp_path: Path) -> None:
    source = written(tmp_path / "from")
    clock = ManualClock()
    async with walking(tmp_path / "data", clock, first="markets", listen=0) as walk:
        await until_shown(
            walk, lambda s: walk.is_open and s.service.address and s.supervision.skills and s.limits
        )
        await walk.press("escape")
        await walk.press("7", "I")
        await typed(walk, "install-path", str(source))
        await walk.press("enter")
        await until_shown(walk, lambda s: any(one.slug == "buyer" for one in s.supervision.skills))

        await walk.press("n")
        for _ in range(12):
            question = str(walk.app.screen.query_one("#form-question").render())
            if question.startswith("buyer ("):
                break
            await walk.press("f5")
        await typed(walk, "skill-name", "heron")
        await typed(walk, "skill-budget", "30")
        await walk.press("f6", "f6", "enter")
        state = await until_shown(walk, lambda s: s.supervision.pending_trades)
        assert "& 1 approval" in walk.text
        run = only_run(state)

        # From another screen: the dialog says who, what, why; the size is changed.
        await walk.press("2", "ampersand")
        assert "heron with buyer: BUY YES" in walk.text
        why = str(walk.app.screen.query_one("#approval-why").render())
        assert "=cheap enough" in why
        assert "confidence: 0.6" in why
        await walk.press("ctrl+u", "4", "enter")
        state = await until_shown(
            walk, lambda s: s.supervision.decided and s.supervision.pending_trades
        )
        assert state.supervision.decided[0].decided_amount == 4 * ONE

        await walk.press("ampersand", "f4", "n", "o", "p", "e", "enter")
        state = await until_shown(
            walk,
            lambda s: s.supervision.decided[0].reason == "nope" and s.supervision.pending_trades,
        )

        # The fleet: what it holds, what it did and why.
        await walk.press("7")
        walk.app.front.focus_row(run.agent_id)
        state = await until_shown(walk, traded)
        assert "? asks" in row_of(walk, "heron")
        assert "history" in walk.text
        assert "=cheap enough" in walk.text
        await until_shown(walk, lambda _: "refused: nope" in "\n".join(output(walk.app.desk_state)))

        # The leash that binds is the skill's: it opens there. A longer one is asked for twice.
        await walk.press("l", "f7", "enter")
        assert isinstance(walk.app.screen, LeashForm)
        await walk.pilot.pause(SECOND_THOUGHT_S * 2)
        await walk.press("enter")
        await until_shown(
            walk,
            lambda s: s.supervision.leash_of(run.agent_id, "buyer").mode is LeashMode.AUTO,
        )
        if walk.app.desk_state.supervision.pending_trades:
            await walk.press("ampersand", "enter")
        state = await until_shown(walk, lambda s: only_run(s).state is SkillRunState.DONE)
        assert "at budget" in row_of(walk, "heron")
        assert "daily budget of skill buyer reached: 30.00" in only_run(state).report

        await walk.press("ctrl+s")
        await until_shown(walk, lambda _: list((tmp_path / "data").rglob("trades.csv")))
        assert tagged(run.run_id) == []
    (found,) = (tmp_path / "data").rglob("trades.csv")
    rows = list(csv.DictReader(found.read_text().splitlines()))
    assert 25 < sum(float(row["cost"]) for row in rows) <= 30

"""Experiments, backtests and the files of sessions, as the desk comes to know of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import line_to
from kit.service.stage import Stage, open_stage, open_test_desk, until
from service_tui.desk.commands.research import RunBacktest, ShowDiff
from service_tui.desk.research.files import FileWatch
from service_tui.desk.slices.research import FilesSeen
from service_tui.desk.state import DeskState
from service_tui.notes import notebook, registry
from service_tui.notes.registry import Live, RegistryEntry
from service_tui.terms import Plan, SessionState
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.endpoints.research import POST_EXPERIMENT

SKILL = "edge-picker"
CONFIG = {
    "type": "config", "name": "first", "skillSlug": SKILL, "metricName": "score",
    "metricUnit": "$", "bestDirection": "higher",
}  # fmt: skip


def result(run: int, **other: Any) -> dict[str, Any]:
    given = {
        "run": run, "commit": "abc1234", "metric": float(run), "metrics": {}, "status": "keep",
        "description": "tried", "timestamp": 1_800_000_000_000 + run, "segment": 0,
        "confidence": None,
    }  # fmt: skip
    return given | other


def with_file(folder: Path, *lines: dict[str, Any], live: Live | None = None) -> Path:
    repository = folder / "skill"
    repository.mkdir(exist_ok=True)
    for line in lines:
        notebook.append(repository / notebook.FILE, line)
    entry = RegistryEntry(str(repository), agent_id="a1", skill=SKILL, live=live)
    registry.write(registry.path_of(folder, repository), entry)
    return repository


async def post(stage: Stage, number: int, status: str = "keep") -> None:
    await line_to(stage).said(
        POST_EXPERIMENT,
        json={
            "skill_slug": SKILL, "experiment_number": number, "status": status,
            "metric_value": float(number), "session": "first", "client_ref": f"r{number}",
        },
    )  # fmt: skip


@pytest.mark.slow
async def test_an_experiment_of_another_process_is_seen(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage) as desk:
        await until(desk, lambda state: bool(state.account), stage.clock)
        await post(stage, 1)

        def seen(state: DeskState) -> bool:
            return [one.number for one in state.research.experiments] == [1]

        state = await until(desk, seen, stage.clock)
        assert state.research.sessions[0].name == "first"
        assert state.research.experiments[0].is_best


async def test_the_outcomes_of_another_process_are_counted(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage) as desk:
        await until(desk, lambda state: bool(state.account), stage.clock)
        outcomes = ("keep", "discard", "crash", "keep", "discard")
        for number, status in enumerate(outcomes, start=1):
            await post(stage, number, status)

        def counts(state: DeskState) -> tuple[int | None, ...]:
            sessions = state.research.sessions
            return (0,) if not sessions else (
                sessions[0].kept, sessions[0].discarded, sessions[0].crashed
            )  # fmt: skip

        await until(desk, lambda state: counts(state) == (2, 2, 1), stage.clock)


def test_a_line_of_a_file_is_seen_when_it_is_there(tmp_path: Path) -> None:
    watch = FileWatch(tmp_path, None)  # type: ignore[arg-type]
    assert watch.look() is None
    repository = with_file(tmp_path, CONFIG, result(1))
    first = watch.look()
    assert first is not None
    assert [one.number for one in first.experiments] == [1]
    assert first.sessions[0].branch == f"autoresearch/{SKILL}"
    assert watch.look() is None
    notebook.append(repository / notebook.FILE, result(2, status="crash", metric=None))
    second = watch.look()
    assert second is not None
    assert [(one.number, one.metric) for one in second.experiments] == [(2, None), (1, 1.0)]
    assert second.sessions[0].crashes_in_row == 1
    notebook.append(repository / notebook.FILE, {"type": "off", "skillSlug": SKILL})
    third = watch.look()
    assert third is not None
    assert third.sessions[0].state is SessionState.PAUSED
    assert "turned off" in third.sessions[0].why


def test_what_runs_is_seen_with_its_output(tmp_path: Path) -> None:
    live = Live("python skill.py", 1_800_000_000.0, 300.0, "half \x1b[2Jway\n")
    with_file(tmp_path, CONFIG, live=live)
    found = FileWatch(tmp_path, None).look()  # type: ignore[arg-type]
    assert found is not None
    run = found.sessions[0].run
    assert run is not None
    assert run.is_running
    assert "\x1b" not in run.tail


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"repository": 5}', '{"repository": "/nowhere", "live": {"a": 1}}']
)
def test_a_broken_entry_is_passed_over(tmp_path: Path, text: str) -> None:
    with_file(tmp_path, CONFIG)
    (tmp_path / registry.FOLDER / "broken.json").write_text(text)
    found = FileWatch(tmp_path, None).look()  # type: ignore[arg-type]
    assert found is not None
    assert len(found.sessions) == 1


@pytest.mark.slow
async def test_a_backtest_is_shown_with_its_sweep(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage) as desk:
        market = stage.open_markets()[0]
        await line_to(stage).said(
            PLACE_TRADE,
            json={
                "market_id": market.market_id, "side": "yes", "amount": 5, "skill_slug": SKILL,
                "signal_data": {"edge": 0.2},
            },
        )  # fmt: skip
        grid = (("min_edge", (0.1, 0.3)),)
        desk.submit(RunBacktest(4, SKILL, (("max_edge", 0.5),), sweep=grid))
        state = await until(desk, lambda state: state.research.backtest is not None, stage.clock)
        backtest = state.research.backtest
        assert backtest is not None
        assert (backtest.request_id, backtest.total, state.research.request_id) == (4, 1, 0)
        assert [point.included for point in backtest.points] == [1, 0]
        assert backtest.keys == ("edge",)


@pytest.mark.slow
async def test_a_free_plan_is_said_where_the_backtest_would_stand(tmp_path: Path) -> None:
    async with (
        open_stage(tmp_path, speed=0, plan=Plan.FREE) as stage,
        open_test_desk(stage) as desk,
    ):
        desk.submit(RunBacktest(1, SKILL))
        state = await until(desk, lambda state: bool(state.research.problem), stage.clock)
        assert "Pro" in state.research.problem


@pytest.mark.slow
async def test_a_diff_of_a_repository_elsewhere_is_said(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage) as desk:
        desk.submit(ShowDiff("nobody:nothing", "abc1234"))
        state = await until(desk, lambda state: state.research.diff is not None, stage.clock)
        assert state.research.diff is not None
        assert "not on this machine" in state.research.diff.problem


def test_a_file_that_was_seen_is_a_fact(tmp_path: Path) -> None:
    with_file(tmp_path, CONFIG, result(1))
    found = FileWatch(tmp_path, None).look()  # type: ignore[arg-type]
    assert found is not None
    assert FilesSeen(found) == FilesSeen(found)
    assert json.dumps(CONFIG)

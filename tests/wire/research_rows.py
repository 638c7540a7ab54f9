"""The statements of the interface spec on autoresearch. A part of the table in `conformity.py`."""

import asyncio
import os
import random
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.service.scene import Caller, Json, Scene
from kit.terminal.research import SKILL, git, new_repository
from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.remote import Remote
from service_tui.autoresearch.session import Means, Session
from service_tui.autoresearch.tools import TOOLS as SERVED
from service_tui.autoresearch.worktree import repository_at
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.clock import SystemClock
from service_tui.commands.research_arguments import CAP_VARIABLE, cap_of
from service_tui.config import KEY_VARIABLE, URL_VARIABLE, read_environment
from service_tui.notes.notebook import FILE
from service_tui.wire.research_tools import (
    BacktestArguments,
    InitArguments,
    LogArguments,
    RunArguments,
)
from wire.conformity import AUTH, ENDPOINTS, ERRORS, LIMITS, TOOLS, VERSIONING, row

SESSION: Final = "Autoresearch session"
SERVER: Final = "Autoresearch MCP server"
STARTS_GIT: Final = frozenset({
    (SERVER, "AUTORESEARCH_MAX_EXPERIMENTS"),
    (SERVER, "text 1"),
    (SERVER, "text 2"),
    (SESSION, "paused"),
    (SESSION, "running"),
    (SESSION, "running (b)"),
    (SESSION, "running (c)"),
    (SESSION, "running (d)"),
    ("Experiment outcomes", "text 1"),
    (LIMITS, "Autoresearch consecutive crashes"),
    (LIMITS, "Autoresearch experiments per session"),
    (VERSIONING, "bullet 4"),
})
"""Statements whose checks work on a repository of their own."""

FIRST: Final = {"name": "first", "skill_slug": SKILL, "metric_name": "score"}


class Bench:
    """A session on a repository of its own, talking to the running service."""

    def __init__(self, session: Session, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self.tools = {one.name: one for one in SERVED}

    @property
    def tree(self) -> Path:
        return self.folder / ".autoresearch" / SKILL

    async def call(self, tool: str, **given: object) -> dict[str, Any]:
        return dict(await self.tools[tool].call(self.session, given))

    async def log(self, status: str, metric: float = 1.0) -> dict[str, Any]:
        return await self.call("log_experiment", status=status, metric=metric, description="tried")


def on_bench(who: Caller, work: Callable[[Bench], Awaitable[None]], *, cap: int = 50) -> None:
    async def whole() -> None:
        with tempfile.TemporaryDirectory() as place:
            folder = new_repository(Path(place) / "skill")
            api_keys = ApiKeys(ApiKey(who.key, who.url))
            transport = httpx.AsyncHTTPTransport()
            async with Client(
                transport, who.url, api_keys, clock=SystemClock(), rng=random.Random(1)
            ) as client:
                means = Means(
                    await repository_at(folder), Remote(client), SystemClock(), Path(place),
                    dict(os.environ), cap, allows_shell=True, mark="row",
                )  # fmt: skip
                session = Session(means)
                await session.open()
                await work(Bench(session, folder))
                session.close()

    asyncio.run(whole())


def pro(scene: Scene) -> Caller:
    return scene.stranger(plan="pro")


def posted(who: Caller, number: int, **other: Any) -> Json:
    body = {"skill_slug": SKILL, "experiment_number": number, "status": "keep", "metric_value": 1.0}
    return who.ok("POST", "autoresearch/experiments", json=body | other)


# -- tools ---------------------------------------------------------------------------------

PARAMETERS: Final[dict[str, tuple[type[Any], str, bool]]] = {
    "name": (InitArguments, "name", True),
    "skill_slug": (InitArguments, "skill_slug", True),
    "metric_name": (InitArguments, "metric_name", True),
    "metric_unit": (InitArguments, "metric_unit", False),
    "direction": (InitArguments, "direction", False),
    "command": (RunArguments, "command", True),
    "timeout": (RunArguments, "timeout", False),
    "status": (LogArguments, "status", True),
    "metric": (LogArguments, "metric", True),
    "description": (LogArguments, "description", True),
    "secondary_metrics": (LogArguments, "secondary_metrics", False),
    "skill_slug (b)": (BacktestArguments, "skill_slug", True),
    "config": (BacktestArguments, "config", True),
    "days": (BacktestArguments, "days", False),
    "venue": (BacktestArguments, "venue", False),
}
GOOD: Final[dict[type[Any], dict[str, object]]] = {
    InitArguments: dict(FIRST),
    RunArguments: {"command": "true"},
    LogArguments: {"status": "keep", "metric": 1, "description": "a"},
    BacktestArguments: {"skill_slug": "a", "config": {}},
}
DEFAULTS: Final = {"direction": "higher", "timeout": 300, "days": 7, "venue": "sim"}


@row(TOOLS, *PARAMETERS)
def a_parameter_of_a_tool(_: Scene, name: str) -> None:
    kind, parameter, required = PARAMETERS[name]
    schema = kind.model_json_schema()
    assert (parameter in schema.get("required", [])) is required
    without = {key: one for key, one in GOOD[kind].items() if key != parameter}
    if required:
        with pytest.raises(ToolError, match=parameter):
            arguments(kind, without)
    else:
        taken = arguments(kind, without)
        if parameter in DEFAULTS:
            assert getattr(taken, parameter) == DEFAULTS[parameter]
    if name == "status":
        for status in ("keep", "discard", "crash"):
            arguments(kind, {**GOOD[kind], "status": status})
    if name == "days":
        with pytest.raises(ToolError, match="days"):
            arguments(kind, {**GOOD[kind], "days": 31})
    if name == "venue":
        arguments(kind, {**GOOD[kind], "venue": "evm_venue"})
        with pytest.raises(ToolError, match="venue"):
            arguments(kind, {**GOOD[kind], "venue": "sol_venue"})


def bought(scene: Scene, who: Caller, *signals: dict[str, Any]) -> None:
    for signal in signals:
        said = who.trade(scene.market(), amount=5, skill_slug=SKILL, signal_data=signal)
        assert said["success"], said


@row(TOOLS, "text 5")
@row(ENDPOINTS, "POST /api/sdk/autoresearch/backtest")
def thresholds_keep_trades_by_their_signals(scene: Scene) -> None:
    who = pro(scene)
    bought(scene, who, {"edge": 0.1, "probability": 0.4}, {"edge": 0.3, "probability": 0.8})
    for config, count in (
        ({"min_edge": 0.3}, 1), ({"min_edge": 0.31}, 0), ({"max_probability": 0.4}, 1),
        ({"edge": 0.1}, 2), ({}, 2),
    ):  # fmt: skip
        body = {"skill_slug": SKILL, "config": config}
        said = who.ok("POST", "autoresearch/backtest", json=body)
        assert said["trades_included"] == count
        assert said["trades_total"] == 2
        assert isinstance(said["simulated_pnl"], float | int)
    silent = who.ok("POST", "autoresearch/backtest", json={"skill_slug": "other", "config": {}})
    assert silent["message"]


# -- sessions ------------------------------------------------------------------------------


@row(SESSION, "running")
def a_crash_of_the_first_pauses(scene: Scene) -> None:
    async def work(bench: Bench) -> None:
        await bench.call("init_experiment", **FIRST)
        assert (await bench.log("crash", 0))["state"] == "paused"

    on_bench(pro(scene), work)


@row(SESSION, "running (b)", "paused")
@row(LIMITS, "Autoresearch consecutive crashes")
def three_crashes_pause_and_a_new_name_clears(scene: Scene) -> None:
    who = pro(scene)

    async def told() -> tuple[str, int]:
        body = await asyncio.to_thread(who.get, "autoresearch/state", skill_slug=SKILL)
        return body["state"], body["consecutive_crashes"]

    async def work(bench: Bench) -> None:
        await bench.call("init_experiment", **FIRST)
        await bench.log("keep")
        states = [(await bench.log("crash", 0))["state"] for _ in range(3)]
        assert states == ["running", "running", "paused"]
        with pytest.raises(ToolError, match="paused"):
            await bench.call("run_experiment", command="true")
        assert await told() == ("paused", 3)
        said = await bench.call("init_experiment", **(FIRST | {"name": "second"}))
        assert (said["state"], said["baseline"]) == ("running", None)
        assert await told() == ("running", 0)

    on_bench(who, work)


@row(SESSION, "running (c)", "running (d)")
@row(LIMITS, "Autoresearch experiments per session")
@row(SERVER, "AUTORESEARCH_MAX_EXPERIMENTS")
def four_fifths_warn_and_the_cap_blocks(scene: Scene) -> None:
    assert (cap_of(None), cap_of("0"), CAP_VARIABLE) == (50, 0, "AUTORESEARCH_MAX_EXPERIMENTS")

    async def work(bench: Bench) -> None:
        await bench.call("init_experiment", **FIRST)
        said = [await bench.log("keep", number) for number in range(1, 6)]
        assert [bool(one["warnings"]) for one in said] == [False, False, False, True, False]
        assert [one["state"] for one in said] == ["running"] * 4 + ["capped"]
        with pytest.raises(ToolError, match="5 of 5"):
            await bench.call("run_experiment", command="true")

    on_bench(pro(scene), work, cap=5)


@row("Experiment outcomes", "text 1")
def keep_commits_and_the_others_revert(scene: Scene) -> None:
    async def work(bench: Bench) -> None:
        await bench.call("init_experiment", **FIRST)
        (bench.tree / "skill.py").write_text("kept = True\n")
        await bench.log("keep")
        assert git(bench.tree, "log", "-1", "--format=%s") == "tried"
        for status in ("discard", "crash"):
            (bench.tree / "skill.py").write_text("broken\n")
            (bench.tree / "new.py").write_text("new\n")
            await bench.log(status, 0)
            assert (bench.tree / "skill.py").read_text() == "kept = True\n"
            assert not (bench.tree / "new.py").exists()

    on_bench(pro(scene), work)


# -- service -------------------------------------------------------------------------------


@row(ENDPOINTS, "POST /api/sdk/autoresearch/experiments")
@row(ENDPOINTS, "GET /api/sdk/autoresearch/experiments")
@row(ENDPOINTS, "GET /api/sdk/autoresearch/state")
def experiments_and_their_state(scene: Scene) -> None:
    who = pro(scene)
    assert who.get("autoresearch/state", skill_slug=SKILL)["last_experiment_number"] == 0
    posted(who, 1, metric_name="pnl", session="first")
    posted(who, 2, metric_value=3.0)
    rows = who.get("autoresearch/experiments")["experiments"]
    assert [one["experiment_number"] for one in rows] == [2, 1]
    said = who.get("autoresearch/state", skill_slug=SKILL)
    assert (said["last_experiment_number"], said["best_metric"]) == (2, 3.0)


@row("Plans", "text 1")
@row(ERRORS, "403")
@row(AUTH, "item 8")
def a_free_plan_gets_403(scene: Scene) -> None:
    who = scene.stranger(plan="free")
    for method, path, sent in (
        ("GET", "autoresearch/state", None),
        ("GET", "autoresearch/experiments", None),
        ("POST", "autoresearch/backtest", {"skill_slug": SKILL, "config": {}}),
        ("GET", "reactor/config", None),
    ):
        refused = who.ask(method, path, json=sent)
        assert refused.status_code == 403
        assert refused.json()["fix"]


@row(SERVER, "text 1")
@row(VERSIONING, "bullet 4")
def four_tools_and_no_slash_commands(scene: Scene) -> None:
    async def work(bench: Bench) -> None:
        assert list(bench.tools) == [
            "init_experiment", "run_experiment", "log_experiment", "backtest_experiment"
        ]  # fmt: skip

    on_bench(pro(scene), work)


@row(SERVER, "SERVICE_API_KEY", "SERVICE_API_URL")
def the_key_and_the_address_come_from_the_environment(scene: Scene) -> None:
    who = pro(scene)
    around = {KEY_VARIABLE: who.key, URL_VARIABLE: who.url}
    assert set(around) == {"SERVICE_API_KEY", "SERVICE_API_URL"}
    read = read_environment(around)
    assert (read.api_key, read.api_url) == (who.key, who.url)
    bad = Caller(who.url, "sk_live_nobody_at_all")
    assert bad.ask("GET", "autoresearch/state").status_code == 401


@row(SERVER, "text 2")
def results_lie_in_a_file_and_are_synced_and_checked(scene: Scene) -> None:
    who = pro(scene)

    async def work(bench: Bench) -> None:
        await bench.call("init_experiment", **(FIRST | {"metric_name": "pnl"}))
        said = await bench.log("keep", 500.0)
        assert any("differs from the outcomes" in one for one in said["warnings"])
        assert '"run": 1' in (bench.folder / FILE).read_text()

    on_bench(who, work)
    found = who.get("autoresearch/experiments")["experiments"]
    assert [one["metric_value"] for one in found] == [500.0]


@row(LIMITS, "run_experiment timeout", "Backtest window")
def windows_and_deadlines(_: Scene) -> None:
    assert RunArguments(command="a").deadline_s == 300.0
    assert BacktestArguments(skill_slug="a", config={}).days == 7
    with pytest.raises(ToolError, match="days"):
        arguments(BacktestArguments, {"skill_slug": "a", "config": {}, "days": 31})

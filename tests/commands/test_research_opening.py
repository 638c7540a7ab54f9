"""Whose key and service a session of a repository takes, and what its commands print."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from kit.terminal.research import SKILL, new_repository
from service_tui.app.attached import HOLDER_URL
from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.worktree import repository_at
from service_tui.clock import ManualClock, SystemClock
from service_tui.commands.research import autoresearch, first_arguments
from service_tui.commands.research_arguments import ResearchRequest
from service_tui.commands.research_opening import (
    api_of,
    command_environment,
    keys_of,
    opened,
)
from service_tui.credentials.api_keys import stored_desk_keys
from service_tui.terms import Direction, ExperimentStatus
from service_tui.wire.research_tools import LogArguments

KEY = "sk_live_" + "a" * 40
THERE = "http://127.0.0.1:9"
FAR = "https://desk.example"


def options_of(path: Path) -> Options:
    return Options(path / "data", path / "config", path / "log", seed=7, speed=0)


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({"PATH": "/bin", "A": "b"}, f"{Path(sys.executable).parent}{os.pathsep}/bin"),
        # A Python that was activated stays first.
        ({"PATH": "/v/bin:/bin", "VIRTUAL_ENV": "/v"}, "/v/bin:/bin"),
        ({}, f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"),
    ],
)
def test_a_command_finds_the_servers_own_python_first(
    environment: dict[str, str], path: str
) -> None:
    assert command_environment(environment) == environment | {"PATH": path}


def test_a_session_without_a_name_is_named_by_its_skill_and_the_time() -> None:
    made = first_arguments(ResearchRequest(Path("/r"), "dip"), ManualClock(1_234.4))
    assert (made.name, made.metric_name, made.metric_unit) == ("dip 1234", "pnl", "$")
    asked = ResearchRequest(
        Path("/r"), "dip", name="first", metric="sharpe", unit="x", direction=Direction.LOWER
    )
    made = first_arguments(asked, ManualClock(1.0))
    assert (made.name, made.skill_slug, made.metric_name) == ("first", "dip", "sharpe")
    assert (made.metric_unit, made.direction) == ("x", "lower")


def test_a_directory_without_a_key_says_what_to_do(tmp_path: Path) -> None:
    options, request = options_of(tmp_path), ResearchRequest(tmp_path)
    assert api_of(options, request) == {}
    with pytest.raises(ToolError, match=r"has no key.*open the console on it once"):
        keys_of(options, request)
    own = keys_of(options, ResearchRequest(tmp_path, api_key=KEY)).api
    assert own is not None
    assert (own.secret, own.base_url) == (KEY, HOLDER_URL)


@pytest.mark.slow
async def test_an_experiment_reaches_the_service_of_its_session(tmp_path: Path) -> None:
    options = options_of(tmp_path)
    async with own_directory(options, SystemClock()) as owner:
        api_keys = stored_desk_keys(options.data_dir)
        assert api_keys is not None
        for key, url, wanted in (
            (KEY, FAR, (KEY, FAR)),
            (None, FAR, (api_keys.agent, owner.address)),
            (KEY, None, (KEY, owner.address)),
            (None, None, (api_keys.agent, owner.address)),
        ):
            api = api_of(options, ResearchRequest(tmp_path, api_key=key, api_url=url))
            assert (api["SERVICE_API_KEY"], api["SERVICE_API_URL"]) == wanted
        found = keys_of(options, ResearchRequest(tmp_path)).api
        assert found is not None
        assert found.secret == api_keys.agent


# -- a repository ------------------------------------------------------------------------------


@pytest.mark.process
async def test_a_session_opens_on_a_named_service_that_does_not_answer(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    request = ResearchRequest(folder, api_key=KEY, api_url=THERE, allows_shell=False)
    async with opened(options_of(tmp_path), request, SystemClock()) as session:
        assert session.description() == {"session": None}
    assert not (tmp_path / "data" / "desk.sqlite3").exists()
    with pytest.raises(ToolError):
        async with opened(options_of(tmp_path), ResearchRequest(tmp_path), SystemClock()):
            pass


@pytest.mark.slow
@pytest.mark.process
def test_a_session_is_begun_told_reset_and_turned_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, options = new_repository(tmp_path / "skill"), options_of(tmp_path)

    def said(word: str, skill: str = "", **other: object) -> list[str]:
        autoresearch(options, ResearchRequest(folder, word, skill, **other))  # type: ignore[arg-type]
        return capsys.readouterr().out.splitlines()

    assert said("status") == [
        f"no session in {folder}; start one with 'service-tui autoresearch <skill>'"
    ]
    place = folder / ".autoresearch" / SKILL
    begun = said(SKILL, name="first", metric="sharpe", unit="", cap=3)
    assert begun == [
        f"{SKILL}: running, session 'first'",
        f"  experiments run in {place} on autoresearch/{SKILL}",
        "  start 'service-tui autoresearch' from an MCP client in the repository",
    ]
    counts = "0 kept, 0 discarded, 0 crashed"
    assert said("status") == [
        f"{SKILL}: running, session 'first'",
        f"  0 of 3 experiments: {counts}",
        "  sharpe: baseline none, best none (higher is better)",
    ]
    assert said("reset", SKILL)[0].startswith(f"{SKILL}: running, session 'first @")
    assert said("off", SKILL) == [f"autoresearch is off for {SKILL}; a new session turns it on"]
    assert said("status")[0].startswith(f"{SKILL}: off, session 'first @")


@pytest.mark.slow
@pytest.mark.process
async def test_beside_a_server_that_works_the_session_is_left_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, options = new_repository(tmp_path / "skill"), options_of(tmp_path)
    away = {"api_key": KEY, "api_url": THERE}
    async with opened(options, ResearchRequest(folder, **away), SystemClock()) as server:
        for word, skill, name in ((SKILL, "", "first"), ("reset", SKILL, "first @")):
            request = ResearchRequest(folder, word, skill, name="first", cap=4, **away)
            await asyncio.to_thread(autoresearch, options, request)
            told = capsys.readouterr().out
            assert told.startswith(f"{SKILL}: session '{name}")
            assert told.endswith("starts with the server of this directory\n")
        said = await server.log(
            LogArguments(status=ExperimentStatus.CRASH, metric=0.0, description="it broke")
        )
        assert str(said["session"]).startswith("first @")
        repository = await repository_at(folder)
        with repository.file.open("a") as file:
            file.write("nonsense\n")
        await asyncio.to_thread(autoresearch, options, ResearchRequest(folder, "status"))
        told = capsys.readouterr().out
        assert "1 crashed" in told
        assert told.endswith(f"1 unreadable lines in {repository.file}\n")

"""Each example runs against an embedded service, and holds what it bought."""

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from kit.service.served import open_served

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
AGENTS = {
    "agent_sdk.py": [sys.executable],
    "agent_httpx.py": [sys.executable],
    "agent.mjs": ["node"],
    "agent.sh": ["sh"],
}
NEEDED = {"agent.mjs": ("node",), "agent.sh": ("curl", "jq")}
SHOWN = re.compile(r"\d+(\.\d+)? YES for 5(\.00)?: Will .*\?\n")
ENDS_S = 60.0


def test_every_example_is_run_here() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.suffix != ".md"} == set(AGENTS)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("is_registered", [False, True], ids=["registers", "has a key"])
@pytest.mark.parametrize("name", AGENTS)
async def test_an_example_buys_and_shows_its_position(
    tmp_path: Path, name: str, *, is_registered: bool
) -> None:
    for program in NEEDED.get(name, ()):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not on this machine")
    async with open_served(tmp_path / "data") as served:
        environ = {one: os.environ[one] for one in ("PATH", "PYTHONPATH") if one in os.environ}
        environ |= {"SERVICE_API_URL": served.url, "HOME": str(tmp_path)}
        if is_registered:
            environ["SERVICE_API_KEY"] = served.stage.key
        run = await asyncio.create_subprocess_exec(
            *AGENTS[name], EXAMPLES / name, env=environ, stdout=-1, stderr=-1
        )
        async with asyncio.timeout(ENDS_S):
            shown, problem = await run.communicate()
        assert run.returncode == 0, problem.decode()
        assert SHOWN.fullmatch(shown.decode()), shown
        trade, register = "POST /api/sdk/trade", "POST /api/sdk/agents/register"
        assert served.posts == ([trade] if is_registered else [register, trade])

"""A real MCP client that drives the server as a subprocess, on a real repository."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from service_tui.app.attached import address_of
from service_tui.credentials.api_keys import stored_desk_keys
from service_tui.notes.notebook import FILE
from service_tui.wire.endpoints.research import EXPERIMENTS

Json = dict[str, Any]
SKILL: Final = "edge-picker"
ROOT: Final = Path(__file__).resolve().parents[3]
SCRIPT: Final = '''\
"""A skill with one threshold; the best of it is 0.3."""
import json, sys
MIN_EDGE = 0.05
print(json.dumps({"pnl": round(10 - 100 * (MIN_EDGE - 0.3) ** 2, 4)}))
'''
START: Final = {
    "name": "first", "skill_slug": SKILL, "metric_name": "score", "direction": "higher"
}  # fmt: skip


def sh(folder: Path, *words: str) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def git(folder: Path, *words: str) -> str:
    return sh(folder, "git", *words)


def new_repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    (folder / "skill.py").write_text(SCRIPT)
    (folder / "SKILL.md").write_text("---\nname: edge-picker\n---\n")
    (folder / ".gitignore").write_text("*.log\n__pycache__/\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "the skill")
    return folder


@dataclass
class Driver:
    """The client's side, and where to look at what it did."""

    client: Client
    repository: Path
    data_dir: Path

    @property
    def worktree(self) -> Path:
        return self.repository / ".autoresearch" / SKILL

    async def call(self, tool: str, **arguments: Any) -> Json:
        said = await self.client.call_tool(tool, arguments)
        assert not said.is_error, said.content[0].text
        return json.loads(said.content[0].text)

    async def refused(self, tool: str, **arguments: Any) -> str:
        said = await self.client.call_tool(tool, arguments)
        assert said.is_error, said.content[0].text
        return said.content[0].text

    async def init(self, **other: Any) -> Json:
        return await self.call("init_experiment", **(START | other))

    async def log(
        self, status: str, metric: float, description: str = "tried", **more: Any
    ) -> Json:
        return await self.call(
            "log_experiment", status=status, metric=metric, description=description, **more
        )

    def lines(self) -> list[Json]:
        return [json.loads(line) for line in (self.repository / FILE).read_text().splitlines()]

    def results(self) -> list[Json]:
        return [line for line in self.lines() if "run" in line]

    def subjects(self) -> list[str]:
        return git(self.worktree, "log", "--format=%s").splitlines()

    async def told_by_the_service(self) -> list[Json]:
        """The results as any other agent's program would read them, newest first."""
        api_keys, address = stored_desk_keys(self.data_dir), address_of(self.data_dir)
        assert api_keys is not None
        assert address is not None
        async with httpx.AsyncClient(base_url=address) as line:
            said = await line.get(EXPERIMENTS.path, headers={"X-API-Key": api_keys.agent or ""})
        return said.json()["experiments"]

    def dirt(self) -> str:
        return git(self.worktree, "status", "--porcelain")


def environment(data_dir: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    kept["PYTHONPATH"] = str(ROOT / "src")
    kept["SERVICE_TUI_DATA_DIR"] = str(data_dir)
    kept["SERVICE_TUI_NO_DEMO"] = "1"
    return {**kept, **(more or {})}


@asynccontextmanager
async def driving(
    repository: Path,
    data_dir: Path,
    *words: str,
    env: Mapping[str, str] | None = None,
    allow_shell: bool = True,
    lead: Sequence[str] = ("-m", "service_tui"),
    around: Sequence[str] = (),
) -> AsyncGenerator[Driver]:
    """A client of a new server. `lead` is what Python runs, `around` a program that runs Python."""
    program, *rest = (*around, sys.executable)
    shell = ["--allow-shell"] if allow_shell else []
    server = StdioServerParameters(
        command=program,
        args=[*rest, *lead, "autoresearch", "--speed", "0", *shell, *words],
        cwd=repository,
        env=environment(data_dir, env),
    )
    async with Client(server, read_timeout_seconds=600) as client:
        yield Driver(client, repository, data_dir)

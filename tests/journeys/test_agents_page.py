"""The page on agents: its commands and its programs, run as they stand there."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
START_S: Final = 120


def blocks(language: str, section: str) -> list[str]:
    """The blocks of a language below a heading."""
    below = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", below, flags=re.DOTALL)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def environment(home: Path, **more: str) -> dict[str, str]:
    """A new user's, with the program's command on the path."""
    bin_ = home / "bin"
    bin_.mkdir(exist_ok=True)
    command = bin_ / "service-tui"
    if not command.exists():
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m service_tui "$@"\n')
        command.chmod(0o755)
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "LANG") if name in os.environ}
    path = f"{bin_}:{os.environ['PATH']}"
    return {**kept, "HOME": str(home), "PATH": path, **more}


async def ran(command: list[str], env: dict[str, str], cwd: Path) -> str:
    made = await asyncio.create_subprocess_exec(
        *command, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await asyncio.wait_for(made.communicate(), START_S)
    assert made.returncode == 0, err.decode()
    return out.decode()


@asynccontextmanager
async def served(line: str, env: dict[str, str], cwd: Path) -> AsyncGenerator[None]:
    """What the page starts first, until it says that it serves."""
    made = await asyncio.create_subprocess_exec(
        *line.split(), env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        assert made.stdout is not None
        said = await asyncio.wait_for(made.stdout.readuntil(b"http://127.0.0.1"), START_S)
        assert said
        yield
    finally:
        made.terminate()
        await asyncio.wait_for(made.communicate(), START_S)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page registers by curl")
async def test_an_agent_is_connected_and_a_skill_is_written_as_the_page_says(
    tmp_path: Path,
) -> None:
    port = free_port()
    (shell,) = blocks("sh", "Connect")
    serve, register, export = shell.replace("8400", str(port)).splitlines()
    env = environment(tmp_path)
    async with served(serve, env, tmp_path):
        born = await ran(["sh", "-c", register], env, tmp_path)
        key = re.search(r'"api_key":\s*"(sk_live_[^"]+)"', born)
        assert key, born
        names = dict(re.findall(r"(SERVICE_API_\w+)=(\S+)", export))
        known = environment(tmp_path, **names | {"SERVICE_API_KEY": key[1]})
        (script,) = blocks("python", "Connect")
        (tmp_path / "mine.py").write_text(script)
        bought = (await ran([sys.executable, "mine.py"], known, tmp_path)).split()
        assert float(bought[0]) > 0
        assert bought[1:] == ["10.0", "None"]
        (idea,) = blocks("python", "Skills")
        (tmp_path / "idea.py").write_text(idea)
        said = await ran([sys.executable, "idea.py", "--once"], known, tmp_path)
        assert said.strip()


async def test_a_new_skill_is_whole_and_passes_its_check(tmp_path: Path) -> None:
    env = environment(tmp_path)
    await ran(["service-tui", "skills", "new", "my-idea"], env, tmp_path)
    assert (tmp_path / "my-idea" / "SKILL.md").exists()
    await ran(["service-tui", "skills", "check", "my-idea"], env, tmp_path)

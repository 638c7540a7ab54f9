"""What a skill has started ends with it, also where no variable tells any more whose it is."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from service_tui.skills.guard import descendants, end_all
from service_tui.skills.process import Launch, SkillProcess, report_of

ESCAPES = """
import pathlib, subprocess, sys, time
words = f"env -i setsid bash -c 'echo $$ > {sys.argv[1]}.new; mv {sys.argv[1]}.new {sys.argv[1]}; sleep 60' &"
subprocess.run(["bash", "-c", words])
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
time.sleep(float(sys.argv[2]))
"""  # noqa: E501


def is_gone(pid: int) -> bool:
    """Whether no more than its entry is left."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True
    return stat.rpartition(b")")[2].split()[0] == b"Z"


async def until(is_so: Callable[[], bool]) -> None:
    for _ in range(3_000):
        if is_so():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("not within a minute")


@pytest.mark.process
@pytest.mark.parametrize("ends", ["by itself", "killed"])
async def test_what_cleared_its_environment_ends_with_the_skill(tmp_path: Path, ends: str) -> None:
    script, told = tmp_path / "run.py", tmp_path / "pid"
    script.write_text(ESCAPES)
    words = (str(told), "0" if ends == "by itself" else "60")
    process = SkillProcess.start(
        Launch(f"r{os.getpid()}", tmp_path / "run", script, words, own={}), dict(os.environ)
    )
    try:
        await until(told.exists)
        if ends == "killed":
            process.kill()
        await until(lambda: process.exit_code() is not None)
        escaped = int(told.read_text())
        await until(lambda: is_gone(escaped))
    finally:
        process.kill()


@pytest.mark.process
async def test_what_a_child_of_a_skill_has_started_is_found_below_it() -> None:
    words = "sh -c 'sleep 60 & wait' & wait"
    skill = await asyncio.create_subprocess_exec("sh", "-c", words)
    try:
        await until(lambda: len(descendants(skill.pid)) == 2)
    finally:
        end_all([skill.pid, *(below := descendants(skill.pid))])
        await skill.wait()
    await until(lambda: all(is_gone(pid) for pid in below))


def test_the_newest_report_is_told() -> None:
    lines = ['{"automaton": {"signals": 1}}', "working", '{"automaton": {"signals": 2}}', "done"]
    assert report_of(lines) == "signals 2"

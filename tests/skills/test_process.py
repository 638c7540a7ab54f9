"""What a skill has started ends with it, also where no variable tells any more whose it is."""

import asyncio
import json
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from service_tui.skills import guard
from service_tui.skills.guard import (
    DETACHED,
    FILE_MAX,
    FOLDER,
    LIFELINE,
    NICENESS,
    descendants,
    end_all,
)
from service_tui.skills.process import (
    CUT,
    LOG,
    LOG_KEPT,
    LOG_MAX,
    PASSED_ON,
    TAG,
    Launch,
    SkillProcess,
    bound_log,
    end_tagged,
    environment,
    report_of,
    tagged,
)

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


SHOWS = """
import json, os, pathlib, resource, signal, sys, time
pathlib.Path("shown.new").write_text(json.dumps({
    "nice": os.nice(0), "core": resource.getrlimit(resource.RLIMIT_CORE),
    "size": resource.getrlimit(resource.RLIMIT_FSIZE), "words": sys.argv, "path": sys.path[0],
    "environment": dict(os.environ), "group": os.getpgrp(), "pid": os.getpid(),
    "lines": [name for name in os.listdir("/proc/self/fd") if int(name) > 2],
}))
os.rename("shown.new", "shown")
print("begun", flush=True)
time.sleep(60)
"""


def started(folder: Path, text: str, *words: str, run_id: str = "") -> SkillProcess:
    script = folder.parent / "run.py"
    script.write_text(text)
    run_id = run_id or f"{folder.parent.name}-{os.getpid()}"
    return SkillProcess.start(Launch(run_id, folder, script, words, {"OWN": "1"}), dict(os.environ))


@pytest.mark.process
async def test_a_skill_runs_within_bounds_in_its_folder_and_ends_in_order_when_it_is_asked(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "new" / "tides"
    (tmp_path / "new").mkdir()
    process = started(folder, SHOWS, "--live", "x")
    try:
        await until((folder / "shown").exists)
        shown = json.loads((folder / "shown").read_text())
        assert shown["nice"] == NICENESS + os.nice(0)
        assert (shown["core"], shown["size"]) == ([0, 0], [FILE_MAX, FILE_MAX])
        assert shown["words"] == [str(tmp_path / "new" / "run.py"), "--live", "x"]
        assert shown["path"] == str(tmp_path / "new")
        assert shown["environment"].items() >= {"OWN": "1", "HOME": str(folder)}.items()
        # It finds no word of the line by which it dies with the console.
        assert not {LIFELINE, FOLDER} & set(shown["environment"])
        assert shown["group"] == shown["pid"] == process.pid
        assert stat.S_IMODE((folder / LOG).stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        # It is known by its tag, also to who finds it again; another run of this number is not it.
        assert tagged(process.run_id) == [process.pid]
        assert SkillProcess(process.pid, process.run_id, folder).exit_code() is None
        assert SkillProcess(process.pid, "another", folder).exit_code() == 0
        process.signal(signal.SIGTERM)
        await until(lambda: process.exit_code() is not None)
        assert process.exit_code() == 0
        assert tagged(process.run_id) == []
        assert SkillProcess(process.pid, process.run_id, folder).exit_code() == 0
        # What is gone takes a signal without a word, and the next run adds to the output.
        process.signal(signal.SIGTERM)
        process.detach(detached=True)
        process.let_go()
        process = started(folder, "print('again')")
        await until(lambda: process.exit_code() == 0)
        assert (folder / LOG).read_text() == "begun\nagain\n"
        assert not (folder / DETACHED).exists()
    finally:
        process.kill()


LEAVES = """
import pathlib, subprocess, sys
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
pathlib.Path("child.new").write_text(str(child.pid))
pathlib.Path("child.new").rename("child")
raise SystemExit(3)
"""


@pytest.mark.process
async def test_what_a_skill_left_is_ended_although_it_failed(tmp_path: Path) -> None:
    process = started(tmp_path / "run", LEAVES)
    await until(lambda: process.exit_code() is not None)
    child = int((tmp_path / "run" / "child").read_text())
    await until(lambda: is_gone(child))
    assert process.exit_code() == 3
    process.let_go()


@pytest.mark.process
@pytest.mark.parametrize("is_detached", [False, True])
async def test_a_skill_dies_with_who_started_it_unless_it_is_detached(
    tmp_path: Path, *, is_detached: bool
) -> None:
    process = started(tmp_path / "run", SHOWS)
    try:
        await until((tmp_path / "run" / "shown").exists)
        process.detach(detached=is_detached)
        if is_detached:
            process.leave()
            await asyncio.sleep(0.3)
            assert tagged(process.run_id) == [process.pid]
            assert process.exit_code() == 0
        else:
            process.let_go()
            await until(lambda: tagged(process.run_id) == [])
    finally:
        end_tagged(process.run_id)
        if is_detached:
            await asyncio.to_thread(os.waitpid, process.pid, 0)
        else:
            process.kill()


@pytest.mark.process
def test_a_skill_that_cannot_be_started_leaves_nothing_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    # No system takes a word of this length.
    launch = Launch("r", tmp_path, Path("run.py"), ("x" * 1_000_000,), {})
    with pytest.raises(OSError, match="too long"):
        SkillProcess.start(launch, {})
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_one_that_is_gone_keeps_no_other_alive_and_has_nobody_below_it() -> None:
    end_all([2**22 + 1])
    assert descendants(2**22 + 1) == []


def launch(**own: str) -> Launch:
    return Launch("run-1", Path("/skills/tides"), Path("run.py"), (), own)


def test_a_skill_gets_a_little_of_our_environment_and_its_own_variables() -> None:
    ours = dict.fromkeys(PASSED_ON[:-1], "ours") | {"HOME": "/root", "WALLET_PRIVATE_KEY": "0x"}
    assert environment(launch(SERVICE_API_KEY="sk", TZ="UTC"), ours) == {
        **dict.fromkeys(PASSED_ON[:-1], "ours"),
        "HOME": "/skills/tides", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "AUTOMATON_MANAGED": "1", "SERVICE_MANAGED_MODE": "1",
        "SERVICE_API_KEY": "sk", "TZ": "UTC",
        TAG: "run-1", guard.FOLDER: "/skills/tides",
    }  # fmt: skip


def test_no_variable_of_a_skill_replaces_its_tag_or_its_folder() -> None:
    found = environment(launch(**{TAG: "other", guard.FOLDER: "/", "HOME": "/own"}), {})
    assert (found[TAG], found[guard.FOLDER], found["HOME"]) == ("run-1", "/skills/tides", "/own")
    assert "sk-1" not in repr(launch(SERVICE_API_KEY="sk-1"))


# -- the output ----------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "is_cut"), [(LOG_MAX, False), (LOG_MAX + 1, True)])
def test_an_output_is_cut_when_it_grows_too_long(
    tmp_path: Path, size: int, *, is_cut: bool
) -> None:
    content = b"a" * (size - LOG_KEPT) + b"z" * LOG_KEPT
    (tmp_path / LOG).write_bytes(content)
    bound_log(tmp_path)
    assert (tmp_path / LOG).read_bytes() == (CUT + b"z" * LOG_KEPT if is_cut else content)
    bound_log(tmp_path / "none")


FULL = {
    "signals": 3, "trades_attempted": 2, "trades_executed": 1, "amount_usd": 4.5,
    "skip_reason": "s" * 61, "other": "x",
}  # fmt: skip


FULL_SAID = "signals 3, trades attempted 2, trades executed 1, amount usd 4.5, skip reason " + (
    "s" * 60
)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ((), ""),
        (("no report", " {}"), ""),
        (
            (json.dumps({"automaton": FULL}), "bye"),
            FULL_SAID,
        ),
        (('{"service_managed_output": {"signals": 0}}',), "signals 0"),
        (('{"automaton": {"signals": 1}}', '{"automaton": {"signals": 2}}'), "signals 2"),
        (('{"automaton": {"signals": 1}}', "{"), "the report is not JSON"),
        (('{"automaton": {"signals": NaN}}',), "the report is not JSON"),
        (('{"a":' * 100_000,), "the report is not JSON"),
        (('{"automaton": [1]}',), ""),
        (('{"other": {"signals": 1}}',), ""),
        (('{"automaton": {"signals": 1}}', *["x"] * 19), "signals 1"),
        (('{"automaton": {"signals": 1}}', *["x"] * 20), ""),
    ],
)
def test_a_report_is_the_last_object_of_the_last_lines(lines: tuple[str, ...], text: str) -> None:
    assert report_of(lines) == text


def test_a_marker_says_whether_a_process_outlives_the_desk(tmp_path: Path) -> None:
    made = SkillProcess(77, "run-1", tmp_path)
    for detached in (True, True, False, False):
        made.detach(detached=detached)
        assert (tmp_path / guard.DETACHED).exists() is detached
    made.detach(detached=True)
    assert os.stat(tmp_path / guard.DETACHED).st_mode & 0o777 == 0o600  # noqa: PTH116


def test_the_newest_report_is_told() -> None:
    lines = ['{"automaton": {"signals": 1}}', "working", '{"automaton": {"signals": 2}}', "done"]
    assert report_of(lines) == "signals 2"

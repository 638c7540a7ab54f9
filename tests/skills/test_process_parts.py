"""What a skill's process gets, how it is ended and what it reports, without starting one."""

import json
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest

from service_tui.skills import guard, process
from service_tui.skills.process import (
    CUT,
    LOG,
    LOG_KEPT,
    LOG_MAX,
    LOOKS_MAX,
    PASSED_ON,
    TAG,
    Launch,
    SkillProcess,
    bound_log,
    end_tagged,
    environment,
    report_of,
)


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


# -- its end -------------------------------------------------------------------------------


class Child:
    """A process as the one that started it has it."""

    def __init__(self, code: int | None) -> None:
        self.returncode: int | None = code
        self.waited: list[float] = []

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


Done = list[tuple[Any, ...]]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Done:
    found: Done = []
    monkeypatch.setattr(process.os, "killpg", lambda *given: found.append(("group", *given)))
    monkeypatch.setattr(process.os, "kill", lambda *given: found.append(("one", *given)))
    monkeypatch.setattr(process.os, "close", lambda line: found.append(("close", line)))
    monkeypatch.setattr(process.os, "sched_yield", lambda: None)
    monkeypatch.setattr(guard, "descendants", lambda pid: [pid + 1])
    monkeypatch.setattr(guard, "end_all", lambda below: found.append(("below", below)))
    monkeypatch.setattr(process, "tagged", lambda _: [])
    monkeypatch.setattr(process, "is_run", lambda pid, run_id: (pid, run_id) == (77, "run-1"))
    return found


def skill(child: Child | None = None, pid: int = 77) -> SkillProcess:
    made = SkillProcess(pid, "run-1", Path("/none"))
    made._child, made._line = child, 5  # type: ignore[assignment]
    return made


def test_a_signal_goes_to_the_whole_group_and_one_that_is_gone_gets_none(
    done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill().signal(signal.SIGTERM)
    assert done == [("group", 77, signal.SIGTERM)]

    def gone(*_: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(process.os, "killpg", gone)
    skill().signal(signal.SIGTERM)


@pytest.mark.parametrize(("code", "below"), [(None, [78]), (0, [])])
def test_what_is_killed_is_killed_with_all_below_it(
    done: Done, code: int | None, below: list[int]
) -> None:
    child = Child(code)
    skill(child).kill()
    assert done == [("group", 77, signal.SIGKILL), ("below", below), ("close", 5)]
    assert child.waited == [0.5]


def test_the_line_is_closed_once_and_a_detached_process_has_ended_well(done: Done) -> None:
    child = Child(None)
    made = skill(child)
    made.leave()
    made.let_go()
    assert (done, made.exit_code()) == ([("close", 5)], 0)


@pytest.mark.parametrize(("pid", "code"), [(77, None), (78, 0)])
@pytest.mark.usefixtures("done")
def test_of_an_adopted_process_it_is_known_whether_it_runs(pid: int, code: int | None) -> None:
    assert skill(pid=pid).exit_code() == code
    assert skill(Child(3), pid).exit_code() == 3


def test_what_is_left_of_a_run_is_looked_for_a_few_times(
    done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [[11, 12], [13], []]
    monkeypatch.setattr(process, "tagged", lambda run_id: looks.pop(0) if run_id == "r" else [])
    end_tagged("r")
    assert done == [("one", pid, signal.SIGKILL) for pid in (11, 12, 13)]
    done.clear()
    monkeypatch.setattr(process, "tagged", lambda _: [14])
    end_tagged("r")
    assert len(done) == LOOKS_MAX


def test_a_detached_process_that_is_left_keeps_its_marker(tmp_path: Path, done: Done) -> None:
    made = SkillProcess(77, "run-1", tmp_path)
    made._child, made._line = Child(None), 5  # type: ignore[assignment]
    made.detach(detached=True)
    done.clear()
    made.leave()
    assert (tmp_path / guard.DETACHED).exists()
    assert done == [("close", 5)]


def test_a_marker_says_whether_a_process_outlives_the_desk(tmp_path: Path) -> None:
    made = SkillProcess(77, "run-1", tmp_path)
    for detached in (True, True, False, False):
        made.detach(detached=detached)
        assert (tmp_path / guard.DETACHED).exists() is detached
    made.detach(detached=True)
    assert os.stat(tmp_path / guard.DETACHED).st_mode & 0o777 == 0o600  # noqa: PTH116


class Started:
    """In place of a process: what it would have been started with."""

    given: Any = None
    pid = 77

    def __init__(self, words: list[str], **given: Any) -> None:
        Started.given = (words, given, os.fstat(given["stdout"]).st_ino)


def test_a_skill_is_started_behind_its_guard_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process.subprocess, "Popen", Started)
    folder = tmp_path / "new" / "tides"
    given = Launch("run-1", folder, Path("run.py"), ("--live", "x"), {"TZ": "UTC"})
    made = SkillProcess.start(given, {})
    words, more, log = Started.given
    assert words == [sys.executable, "-u", guard.__file__, "run.py", "--live", "x"]
    (ends,) = more["pass_fds"]
    assert more["env"] == environment(given, {}) | {guard.LIFELINE: str(ends)}
    assert (more["cwd"], more["stdin"]) == (folder, process.subprocess.DEVNULL)
    assert more["start_new_session"]
    assert more["stdout"] == more["stderr"]
    assert log == (folder / LOG).stat().st_ino
    assert stat.S_IMODE((folder / LOG).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # The line is kept; the skill's end of it and the output are the skill's alone.
    for closed in (ends, more["stdout"]):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(closed)
    assert (made.pid, made.run_id, made.folder) == (77, "run-1", folder)
    assert made._line is not None
    os.fstat(made._line)
    made.let_go()


def test_a_skill_that_starts_again_is_not_detached_and_adds_to_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process.subprocess, "Popen", Started)
    (tmp_path / guard.DETACHED).touch()
    (tmp_path / LOG).write_text("before\n")
    SkillProcess.start(Launch("r", tmp_path, Path("run.py"), (), {}), {}).let_go()
    assert not (tmp_path / guard.DETACHED).exists()
    assert (tmp_path / LOG).read_text() == "before\n"


def test_a_skill_that_cannot_be_started_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[int] = []
    pipe = os.pipe

    def noted() -> tuple[int, int]:
        lines.extend(pipe())
        return lines[0], lines[1]

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(process.os, "pipe", noted)
    monkeypatch.setattr(process.subprocess, "Popen", refuse)
    with pytest.raises(OSError, match="no more processes"):
        SkillProcess.start(Launch("r", tmp_path, Path("run.py"), (), {}), {})
    for line in lines:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(line)


def test_what_is_killed_is_looked_for_by_its_tag_too(
    done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(process, "end_tagged", looked.append)
    skill(Child(None)).kill()
    assert looked == ["run-1"]
    assert done[0] == ("group", 77, signal.SIGKILL)


class Alive:
    """Processes of a machine: their state and their tag."""

    rows: ClassVar = {
        1: (psutil.STATUS_RUNNING, "run-1"), 2: (psutil.STATUS_ZOMBIE, "run-1"),
        3: (psutil.STATUS_SLEEPING, "run-2"), 4: (psutil.STATUS_SLEEPING, "run-1"),
    }  # fmt: skip

    def __init__(self, pid: int) -> None:
        if pid not in self.rows:
            raise psutil.NoSuchProcess(pid)
        self._state, self._tag = self.rows[pid]

    def status(self) -> str:
        return self._state

    def environ(self) -> dict[str, str]:
        return {TAG: self._tag}


def test_a_run_is_known_by_its_tag_while_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "Process", Alive)
    monkeypatch.setattr(psutil, "pids", lambda: [1, 2, 3, 4, 5])
    assert [process.is_run(pid, "run-1") for pid in range(1, 6)] == [
        True,
        False,
        False,
        True,
        False,
    ]
    assert process.tagged("run-1") == [1, 4]
    assert process.tagged("run-2") == [3]

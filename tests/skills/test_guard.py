"""The program around a skill: its bounds, what it passes on, and what ends with it."""

import os
import resource
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from service_tui.skills import guard, process
from service_tui.skills.process import LOG, TAG, Launch, SkillProcess, is_run, tagged


class System:
    """The calls that would touch this machine, noted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[Any] = []
        for name in ("signal",):
            monkeypatch.setattr(guard.signal, name, self.note(name))
        monkeypatch.setattr(guard.os, "nice", self.note("nice"))
        monkeypatch.setattr(guard.os, "kill", self.note("kill"))
        monkeypatch.setattr(guard.os, "killpg", self.note("killpg"))
        monkeypatch.setattr(guard.resource, "setrlimit", self.note("limit"))
        library = SimpleNamespace(prctl=self.note("prctl"))
        monkeypatch.setattr(guard.ctypes, "CDLL", lambda _: library)
        monkeypatch.setattr(
            guard, "descendants", lambda pid: [41, 42] if pid == os.getpid() else []
        )

    def note(self, name: str) -> Any:
        return lambda *words: self.calls.append((name, *words))


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    return System(monkeypatch)


def test_a_skill_runs_within_its_bounds_and_all_that_it_started_ends_with_it(
    system: System, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script, seen = tmp_path / "run.py", list[Any]()
    monkeypatch.setattr(sys, "path", ["first", "second"])
    monkeypatch.setattr(sys, "argv", ["guard"])
    monkeypatch.setenv(guard.FOLDER, str(tmp_path))
    monkeypatch.delenv(guard.LIFELINE, raising=False)

    def run_path(path: str, *, run_name: str) -> None:
        seen.append((path, run_name, list(sys.argv), list(sys.path), guard.FOLDER in os.environ))
        raise SystemExit(3)

    monkeypatch.setattr(guard.runpy, "run_path", run_path)
    with pytest.raises(SystemExit):
        guard.main([str(script), "--once"])
    words = [str(script), "--once"]
    assert seen == [(str(script), "__main__", words, [str(tmp_path), "second"], False)]
    bound = guard.FILE_MAX
    assert system.calls == [
        ("signal", signal.SIGTERM, guard._end), ("nice", 10),
        ("limit", resource.RLIMIT_CORE, (0, 0)), ("limit", resource.RLIMIT_FSIZE, (bound, bound)),
        ("prctl", 36, 1, 0, 0, 0), ("kill", 41, signal.SIGKILL), ("kill", 42, signal.SIGKILL),
    ]  # fmt: skip
    assert bound == 16 * 1024 * 1024


def test_the_line_to_the_parent_is_watched_and_hidden_from_the_skill(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def thread(**named: Any) -> Any:
        made.append((named["target"], named["args"], named["daemon"]))
        return SimpleNamespace(start=lambda: made.append("started"))

    monkeypatch.setattr(guard.threading, "Thread", thread)
    monkeypatch.setattr(sys, "path", [""])
    monkeypatch.setattr(sys, "argv", [""])
    monkeypatch.setattr(guard.runpy, "run_path", lambda *_, **__: None)
    monkeypatch.setenv(guard.LIFELINE, "7")
    monkeypatch.setenv(guard.FOLDER, "/the/folder")
    guard.main(["/x/run.py"])
    assert made == [(guard._die_with, (7, Path("/the/folder")), True), "started"]
    assert guard.LIFELINE not in os.environ
    assert system.calls


@pytest.mark.parametrize("detached", [False, True])
def test_a_skill_dies_with_its_parent_unless_it_is_detached(
    system: System, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, detached: bool
) -> None:
    read: list[Any] = []
    monkeypatch.setattr(guard.os, "read", lambda *words: read.append(words))
    if detached:
        (tmp_path / guard.DETACHED).touch()
    guard._die_with(7, tmp_path)
    assert read == [(7, 1)]
    ended = [
        ("kill", 41, signal.SIGKILL), ("kill", 42, signal.SIGKILL),
        ("killpg", os.getpgrp(), signal.SIGKILL),
    ]  # fmt: skip
    assert system.calls == ([] if detached else ended)


def test_a_request_to_end_is_an_end_in_order() -> None:
    with pytest.raises(SystemExit) as ended:
        guard._end(15, None)
    assert ended.value.code == 0


def test_what_is_gone_or_not_ours_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def kill(pid: int, _: int) -> None:
        tried.append(pid)
        raise ProcessLookupError

    monkeypatch.setattr(guard.os, "kill", kill)
    guard.end_all([5, 6])
    assert tried == [5, 6]


def test_descendants_are_found_to_any_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def of(pid: int) -> Any:
        if pid == 9:
            raise psutil.NoSuchProcess(9)

        def children(*, recursive: bool) -> list[Any]:
            asked.append((pid, recursive))
            return [SimpleNamespace(pid=11), SimpleNamespace(pid=12)]

        return SimpleNamespace(children=children)

    monkeypatch.setattr(psutil, "Process", of)
    assert guard.descendants(3) == [11, 12]
    assert asked == [(3, True)]
    assert guard.descendants(9) == []


# -- the process as the desk starts it -----------------------------------------------------------


def test_a_skill_is_started_by_its_guard_in_its_folder_with_its_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[Any] = []

    def popen(words: list[str], **named: Any) -> Any:
        started.append((words, named))
        return SimpleNamespace(pid=77, poll=lambda: None)

    monkeypatch.setattr(process.subprocess, "Popen", popen)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / guard.DETACHED).touch()
    launch = Launch("r1", folder, Path("/skill/run.py"), ("--once",), {"OWN": "secret"})
    made = SkillProcess.start(launch, {"PATH": "/bin", "HOME": "/root", "KEY": "no"})
    ((words, named),) = started
    assert words == [sys.executable, "-u", guard.__file__, "/skill/run.py", "--once"]
    assert (named["cwd"], named["start_new_session"]) == (folder, True)
    assert named["stdout"] == named["stderr"]
    env = named["env"]
    assert (env["PATH"], env["HOME"], env["OWN"], env[TAG]) == ("/bin", str(folder), "secret", "r1")
    assert "KEY" not in env
    (line,) = named["pass_fds"]
    assert env[guard.LIFELINE] == str(line)
    assert (made.pid, made.run_id, made.folder, made.exit_code()) == (77, "r1", folder, None)
    assert not (folder / guard.DETACHED).exists()
    assert (folder / LOG).stat().st_mode & 0o777 == 0o600
    made.let_go()


def test_a_start_that_fails_leaves_no_line_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def popen(*_: object, **__: object) -> None:
        raise OSError(8, "no program")

    closed: list[int] = []
    real = os.close
    monkeypatch.setattr(process.subprocess, "Popen", popen)
    monkeypatch.setattr(process.os, "close", lambda fd: (closed.append(fd), real(fd))[1])
    launch = Launch("r1", tmp_path, Path("/skill/run.py"), (), {})
    with pytest.raises(OSError, match="no program"):
        SkillProcess.start(launch, {})
    assert len(set(closed)) == 3


@pytest.mark.parametrize(
    ("status", "tag", "runs"),
    [
        (psutil.STATUS_RUNNING, "r1", True),
        (psutil.STATUS_SLEEPING, "r1", True),
        (psutil.STATUS_ZOMBIE, "r1", False),
        (psutil.STATUS_RUNNING, "r2", False),
        (psutil.STATUS_RUNNING, None, False),
    ],
)
def test_a_run_is_a_living_process_with_its_tag(
    monkeypatch: pytest.MonkeyPatch, status: str, tag: str | None, *, runs: bool
) -> None:
    def of(pid: int) -> Any:
        if pid == 9:
            raise psutil.AccessDenied(9)
        env = {} if tag is None else {TAG: tag}
        return SimpleNamespace(status=lambda: status, environ=lambda: env)

    monkeypatch.setattr(psutil, "Process", of)
    monkeypatch.setattr(psutil, "pids", lambda: [3, 9, 4])
    assert is_run(3, "r1") is runs
    assert not is_run(9, "r1")
    assert tagged("r1") == ([3, 4] if runs else [])

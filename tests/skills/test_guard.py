"""The bounds that a skill's process sets itself, without becoming one."""

import ctypes
import os
import resource
import runpy
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from service_tui.skills import guard

Done = list[tuple[Any, ...]]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Done:
    """What was asked of the machine, in order; nothing is done."""
    found: Done = []

    def noted(*named: Any) -> Any:
        return lambda *given, **more: found.append((*named, *given, *more.values()))

    monkeypatch.setattr(os, "nice", noted("nice"))
    monkeypatch.setattr(os, "kill", noted("kill"))
    monkeypatch.setattr(os, "killpg", noted("group"))
    monkeypatch.setattr(os, "getpgrp", lambda: 70)
    monkeypatch.setattr(os, "getpid", lambda: 7)
    monkeypatch.setattr(os, "read", noted("read"))
    monkeypatch.setattr(signal, "signal", noted("signal"))
    monkeypatch.setattr(resource, "setrlimit", noted("limit"))
    monkeypatch.setattr(runpy, "run_path", noted("run"))
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(prctl=noted("prctl")))
    monkeypatch.setattr(guard, "descendants", lambda pid: [pid + 1, pid + 2])
    monkeypatch.setattr(sys, "argv", ["guard.py"])
    monkeypatch.setattr(sys, "path", ["/program", "/library"])
    return found


BOUNDS: Done = [
    ("signal", signal.SIGTERM, guard._end),
    ("nice", 10),
    ("limit", resource.RLIMIT_CORE, (0, 0)),
    ("limit", resource.RLIMIT_FSIZE, (16 * 1024 * 1024,) * 2),
]
BECOMES: Done = [
    ("prctl", 36, 1, 0, 0, 0),
    ("run", "/skills/tides/run.py", "__main__"),
    ("kill", 8, signal.SIGKILL),
    ("kill", 9, signal.SIGKILL),
]


def test_bounds_are_set_before_the_skill_runs_and_what_it_left_is_ended(
    done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(guard.LIFELINE, raising=False)
    monkeypatch.delenv(guard.FOLDER, raising=False)
    guard.main(["/skills/tides/run.py", "--live"])
    assert done == BOUNDS + BECOMES
    assert sys.argv == ["/skills/tides/run.py", "--live"]
    assert sys.path == ["/skills/tides", "/library"]


def test_a_skill_with_a_line_is_watched_and_finds_no_word_of_it(
    done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: Done = []

    class Watch:
        def __init__(self, *, target: Any, args: Any, daemon: bool) -> None:
            self.given = (target, args, daemon)

        def start(self) -> None:
            started.append(self.given)

    monkeypatch.setattr(threading, "Thread", Watch)
    monkeypatch.setenv(guard.LIFELINE, "5")
    monkeypatch.setenv(guard.FOLDER, "/skills/tides")
    guard.main(["/skills/tides/run.py"])
    assert started == [(guard._die_with, (5, Path("/skills/tides")), True)]
    assert guard.LIFELINE not in os.environ
    assert guard.FOLDER not in os.environ
    assert done == BOUNDS + BECOMES


def test_what_a_skill_left_is_ended_although_it_failed(
    done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("fell over")

    def refuse(_: object) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(runpy, "run_path", fail)
    monkeypatch.setattr(ctypes, "CDLL", refuse)
    with pytest.raises(RuntimeError, match="fell over"):
        guard.main(["/skills/tides/run.py"])
    assert done == BOUNDS + BECOMES[2:]


@pytest.mark.parametrize("is_detached", [False, True])
def test_a_skill_dies_with_who_started_it_unless_it_is_detached(
    done: Done, tmp_path: Path, *, is_detached: bool
) -> None:
    if is_detached:
        (tmp_path / guard.DETACHED).touch()
    guard._die_with(5, tmp_path)
    assert done[0] == ("read", 5, 1)
    ends = [("kill", 8, signal.SIGKILL), ("kill", 9, signal.SIGKILL), ("group", 70, signal.SIGKILL)]
    assert done[1:] == ([] if is_detached else ends)


def test_a_line_that_is_broken_is_the_end_as_well(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bytes:
        raise OSError("bad line")

    monkeypatch.setattr(os, "read", broken)
    guard._die_with(5, tmp_path)
    assert done[-1] == ("group", 70, signal.SIGKILL)


def test_one_that_cannot_be_killed_keeps_no_other_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []

    def kill(pid: int, number: int) -> None:
        if pid == 2:
            raise PermissionError
        killed.append((pid, number))

    monkeypatch.setattr(os, "kill", kill)
    guard.end_all([1, 2, 3])
    assert killed == [(1, signal.SIGKILL), (3, signal.SIGKILL)]


def test_descendants_are_those_of_every_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Done = []

    class Process:
        def __init__(self, pid: int) -> None:
            if pid == 9:
                raise psutil.NoSuchProcess(pid)
            asked.append((pid,))

        def children(self, *, recursive: bool) -> list[Any]:
            asked.append((recursive,))
            return [SimpleNamespace(pid=11), SimpleNamespace(pid=12)]

    monkeypatch.setattr(psutil, "Process", Process)
    assert guard.descendants(7) == [11, 12]
    assert asked == [(7,), (True,)]
    assert guard.descendants(9) == []


def test_a_skill_that_is_asked_to_end_ends_well() -> None:
    with pytest.raises(SystemExit) as ended:
        guard._end(signal.SIGTERM, None)
    assert ended.value.code == 0

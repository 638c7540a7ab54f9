"""Which processes belong to a command, and which do not."""

import asyncio
import os
import signal
from types import SimpleNamespace
from typing import Any, Final

import psutil
import pytest

from service_tui.autoresearch import runner
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.runner import MARK, Output, end_marked, run

HERE: Final = os.getpid()


class Process:
    """A process as the system shows it."""

    def __init__(self, pid: int, **changes: Any) -> None:
        self.pid = pid
        self.mark: str | None = None
        self.parent = 1
        self.is_dead = False
        self.is_hidden = False
        self.below: list[Process] = []
        vars(self).update(changes)

    def status(self) -> str:
        if self.is_hidden:
            raise psutil.AccessDenied
        return psutil.STATUS_ZOMBIE if self.is_dead else psutil.STATUS_RUNNING

    def ppid(self) -> int:
        return self.parent

    def environ(self) -> dict[str, str]:
        return {} if self.mark is None else {MARK: self.mark}

    def children(self, *, recursive: bool = False) -> "list[Process]":
        return (
            self.below
            if not recursive
            else [*self.below, *(two for one in self.below for two in one.children(recursive=True))]
        )


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is killed and what is reaped; nothing of this machine is touched."""
    calls: list[Any] = []
    monkeypatch.setattr(runner.os, "kill", lambda pid, sign: calls.append((pid, sign)))
    monkeypatch.setattr(runner.os, "killpg", lambda pid, sign: calls.append(("group", pid, sign)))
    monkeypatch.setattr(runner.os, "waitpid", lambda pid, _: calls.append(("reaped", pid)))
    return calls


def shown(monkeypatch: pytest.MonkeyPatch, *looks: list[Process]) -> None:
    waiting = list(looks)
    monkeypatch.setattr(runner.psutil, "process_iter", lambda: waiting.pop(0) if waiting else [])


def test_all_with_the_mark_are_killed_and_nobody_else(
    monkeypatch: pytest.MonkeyPatch, ended: list[Any]
) -> None:
    some = [
        Process(11, mark="m1"), Process(12, mark="m2"), Process(13), Process(HERE, mark="m1"),
        Process(14, mark="m1", is_hidden=True), Process(15, mark="m1"),
    ]  # fmt: skip
    shown(monkeypatch, some)
    assert end_marked("m1", but=15) == 1
    assert ended == [(11, signal.SIGKILL), ("reaped", 11)]
    shown(monkeypatch, some)
    assert end_marked("") == 0


def test_the_dead_are_reaped_by_their_parent_alone(
    monkeypatch: pytest.MonkeyPatch, ended: list[Any]
) -> None:
    dead = [
        Process(11, mark="m1", is_dead=True, parent=HERE),
        Process(12, mark="m1", is_dead=True, parent=7),
    ]
    shown(monkeypatch, dead)
    assert end_marked("m1") == 0
    assert ended == [("reaped", 11)]


def killed(
    monkeypatch: pytest.MonkeyPatch, children: list[Process], sessions: dict[int, int]
) -> int:
    looks = [children]
    shown(monkeypatch)
    monkeypatch.setattr(
        runner.psutil, "Process",
        lambda: SimpleNamespace(children=lambda: looks.pop(0) if looks else []),
    )  # fmt: skip
    monkeypatch.setattr(runner.os, "getsid", lambda pid: sessions[pid])
    return runner._kill_tree(50, "m1", {21})


def test_orphans_of_another_session_are_killed_with_all_below_them(
    monkeypatch: pytest.MonkeyPatch, ended: list[Any]
) -> None:
    orphan = Process(22, below=[Process(31, below=[Process(32)])])
    children = [
        Process(21), orphan, Process(23, is_dead=True), Process(24), Process(50),
        Process(25, is_hidden=True),
    ]  # fmt: skip
    sessions = {0: 1, 21: 9, 22: 9, 23: 9, 24: 1, 50: 9, 25: 9}
    assert killed(monkeypatch, children, sessions) == 3
    assert ended[0] == ("group", 50, signal.SIGKILL)
    assert [call[0] for call in ended[1:] if call[1] == signal.SIGKILL] == [22, 31, 32]


# -- a command -----------------------------------------------------------------------------------


class Started:
    """A command that writes some parts and ends, or never does."""

    def __init__(self, parts: list[bytes], code: int | None) -> None:
        self.pid = 50
        self.parts = parts
        self.code = code
        self.returncode: int | None = None
        self.stdout = self
        self.forever = asyncio.Event()

    async def read(self, _: int) -> bytes:
        if self.parts:
            return self.parts.pop(0)
        if self.code is None:
            await self.forever.wait()
        return b""

    async def wait(self) -> None:
        if self.code is None:
            await self.forever.wait()
        self.returncode = self.code

    def kill(self) -> None:
        self.code, self.returncode = -9, -9
        self.forever.set()


async def outcome(
    monkeypatch: pytest.MonkeyPatch, started: Started, deadline_s: float = 5.0
) -> tuple[Any, Any]:
    calls: list[Any] = []

    async def start(*words: str, **named: Any) -> Started:
        calls.append((words, named))
        return started

    def kill_tree(pid: int, mark: str, others: object) -> int:
        calls.append((pid, mark, others))
        return 4

    monkeypatch.setattr(runner.asyncio, "create_subprocess_exec", start)
    monkeypatch.setattr(runner, "_kill_tree", kill_tree)
    monkeypatch.setattr(runner, "_children", lambda: {21})
    monkeypatch.setattr(runner, "_adopt_orphans", lambda: None)
    monkeypatch.setattr(runner, "GRACE_S", 0.001)
    done = await run(
        "make all", runner.Path("/there"), deadline_s=deadline_s,
        environment={MARK: "m1", "A": "b"}, output=Output(),
    )  # fmt: skip
    return done, calls


async def test_a_command_is_run_by_a_shell_of_its_own_session_and_told_by_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done, calls = await outcome(monkeypatch, Started([b"one\n", b"two\n"], 3))
    words, named = calls[0]
    assert words[:2] == ("/bin/bash", "-c")
    assert words[3:] == ("experiment", "make all")
    assert "ulimit -c 0 -f 2097152" in words[2]
    assert named["cwd"] == runner.Path("/there")
    assert named["env"] == {MARK: "m1", "A": "b"}
    assert named["start_new_session"] is True
    assert calls[1] == (50, "m1", {21})
    assert (done.exit_code, done.timed_out, done.tail, done.size, done.left_over) == (
        3, False, "one\ntwo", 8, 4
    )  # fmt: skip
    assert 0 <= done.took_s < 5


async def test_a_command_that_takes_too_long_is_ended(
    monkeypatch: pytest.MonkeyPatch, ended: list[Any]
) -> None:
    done, _ = await outcome(monkeypatch, Started([b"one\n"], None), 0.001)
    assert (done.exit_code, done.timed_out, done.succeeded) == (-9, True, False)
    assert ended == [("group", 50, signal.SIGTERM)]


@pytest.mark.parametrize(
    ("error", "why"), [(OSError(2, "not there"), "not there"), (ValueError(), "a zero byte")]
)
async def test_a_command_that_cannot_be_started_is_told_why(
    monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
) -> None:
    async def start(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(runner.asyncio, "create_subprocess_exec", start)
    monkeypatch.setattr(runner, "_adopt_orphans", lambda: None)
    with pytest.raises(ToolError, match=rf"started in /there \(.*{why}\)"):
        await run("x", runner.Path("/there"), deadline_s=1, environment={}, output=Output())

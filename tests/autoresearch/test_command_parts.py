"""What a command gets, what stays of its output, and what is ended, without running one."""

import asyncio
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from service_tui.autoresearch import runner
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.runner import (
    KEPT_BYTES,
    LINES,
    MARK,
    SHOWN_MAX,
    Output,
    Ran,
    end_marked,
    environment_of,
)


@pytest.mark.parametrize(
    ("exit_code", "timed_out", "succeeded"),
    [(0, False, True), (0, True, False), (1, False, False), (None, False, False)],
)
def test_only_a_command_that_ended_well_by_itself_succeeded(
    *, exit_code: int | None, timed_out: bool, succeeded: bool
) -> None:
    assert Ran(exit_code, timed_out, 1.0, "", 0).succeeded is succeeded


@pytest.mark.parametrize(
    ("name", "is_kept"),
    [
        ("PATH", True),
        ("HOME", True),
        ("LC_NUMERIC", True),
        ("XLC_ALL", False),
        ("SERVICE_DEPTH", True),
        ("SERVICE_API_KEY", False),
        ("SERVICE_WALLET", False),
        ("SERVICE_My_password", False),
        ("MY_SERVICE_DEPTH", False),
        ("WALLET_PRIVATE_KEY", False),
        ("OTHER", False),
    ],
)
def test_a_command_gets_plain_settings_and_no_secret(name: str, *, is_kept: bool) -> None:
    found = environment_of({name: "x"}, mark="m", api={})
    assert found == {**({name: "x"} if is_kept else {}), MARK: "m", "TERM": "dumb"}


def test_a_command_gets_the_sessions_own_key_and_mark_and_no_other() -> None:
    ours = {"SERVICE_API_URL": "http://ours", MARK: "theirs", "TERM": "xterm"}
    api = {"SERVICE_API_KEY": "k", "SERVICE_API_URL": "http://it", "OTHER": "x"}
    assert environment_of(ours, mark="m", api=api) == {
        "SERVICE_API_KEY": "k", "SERVICE_API_URL": "http://it", MARK: "m", "TERM": "dumb",
    }  # fmt: skip


def test_each_part_of_an_output_is_counted_and_shown() -> None:
    sizes: list[int] = []
    output = Output(lambda one: sizes.append(one.size))
    for part in (b"one\n", b"two\r\n", b"three"):
        output.take(part)
    assert (sizes, output.size, output.tail()) == ([4, 9, 14], 14, "one\ntwo\nthree")


def test_of_a_long_output_the_end_stays() -> None:
    output = Output()
    output.take(b"x" * (KEPT_BYTES - 5))
    output.take(b"\nlast")
    assert output.tail().endswith("x\nlast")
    output.take(b"a" * (KEPT_BYTES + 7))
    assert output.size == 2 * KEPT_BYTES + 7
    assert output.tail() == "a" * SHOWN_MAX


def test_of_many_small_parts_no_more_is_kept_than_the_bound_needs() -> None:
    output = Output()
    for number in range(40):
        output.take(f"{number:02}".encode() * (KEPT_BYTES // 16))
    assert sum(map(len, output._parts)) == KEPT_BYTES
    assert output.tail().endswith("39")
    # A part of which only the end is needed stays whole.
    output.take(b"!")
    assert sum(map(len, output._parts)) == KEPT_BYTES + 1


def test_the_last_lines_are_shown() -> None:
    output = Output()
    output.take("".join(f"line {number}\n" for number in range(200)).encode())
    shown = output.tail().split("\n")
    assert shown[0] == f"line {200 - LINES}"
    assert [one for one in shown if one][-1] == "line 199"


def test_all_with_a_mark_are_killed_until_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [[11, 12, 13], [12, 14], [12]]
    killed: list[tuple[int, int]] = []

    def kill(pid: int, number: int) -> None:
        killed.append((pid, number))
        if pid == 13:
            raise ProcessLookupError

    monkeypatch.setattr(runner, "_marked", lambda mark: looks.pop(0) if mark == "m" else [])
    monkeypatch.setattr(runner.os, "kill", kill)
    reaped: list[tuple[int, int]] = []

    def reap(pid: int, options: int) -> tuple[int, int]:
        reaped.append((pid, options))
        if pid == 11:
            raise ChildProcessError
        return pid, 0

    monkeypatch.setattr(runner.os, "waitpid", reap)
    # Who leads the group is ended by others.
    assert end_marked("m", but=12) == 3
    # A child that nobody waits for would stay as a zombie; to wait for it might take for ever.
    assert reaped == [(pid, os.WNOHANG) for pid in (11, 13, 14)]
    assert killed == [(pid, signal.SIGKILL) for pid in (11, 13, 14)]
    assert end_marked("") == 0


def test_what_forks_for_ever_is_not_looked_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_marked", lambda _: [11])
    monkeypatch.setattr(runner.os, "kill", lambda *_: None)
    monkeypatch.setattr(runner.os, "waitpid", lambda *_: (0, 0))
    assert end_marked("m") == 20


class Process:
    """A process of the machine, as psutil shows it."""

    def __init__(
        self, pid: int, *, state: str = psutil.STATUS_RUNNING, parent: int = 1, mark: str = "m"
    ) -> None:
        self.pid = pid
        self.below: list[Process] = []
        self._state, self._parent, self._mark = state, parent, mark

    def status(self) -> str:
        if self._state == "gone":
            raise psutil.NoSuchProcess(self.pid)
        return self._state

    def ppid(self) -> int:
        return self._parent

    def environ(self) -> dict[str, str]:
        return {MARK: self._mark}

    def children(self, *, recursive: bool = False) -> list["Process"]:
        return [*self.below, *(two for one in self.below if recursive for two in one.children())]


ZOMBIE = psutil.STATUS_ZOMBIE


def test_what_carries_the_mark_and_lives_is_found_and_our_dead_are_reaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reaped: list[tuple[int, int]] = []
    monkeypatch.setattr(runner.os, "getpid", lambda: 7)
    monkeypatch.setattr(runner.os, "waitpid", lambda *given: reaped.append(given))
    rows = [
        Process(7), Process(8), Process(9, mark="other"), Process(10, state="gone"),
        Process(11, state=ZOMBIE, parent=7), Process(12, state=ZOMBIE, parent=8), Process(13),
    ]  # fmt: skip
    monkeypatch.setattr(runner.psutil, "process_iter", lambda: iter(rows))
    assert runner._marked("m") == [8, 13]
    assert reaped == [(11, os.WNOHANG)]
    assert runner._marked("") == []


def test_orphans_that_left_the_session_are_found_with_all_below_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    us, stray = Process(7), Process(21)
    stray.below = [Process(22)]
    stray.below[0].below = [Process(23)]
    us.below = [
        stray, Process(24), Process(25), Process(26, state=ZOMBIE), Process(27, state="gone"),
    ]  # fmt: skip
    # 24 was there before, 25 shares our session.
    sessions = {0: 7, 25: 7}
    monkeypatch.setattr(runner.os, "getsid", lambda pid: sessions.get(pid, pid))
    monkeypatch.setattr(runner.psutil, "Process", lambda: us)
    assert runner._strays({24}) == [21, 22, 23]
    assert runner._children() == {21, 24, 25, 26, 27}


def test_the_group_the_marked_and_the_strays_are_ended_but_for_the_leader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed: list[tuple[int, int]] = []
    marked, strays = [[5, 6], [5]], [[5, 8, 9], [5]]
    monkeypatch.setattr(runner, "_marked", lambda mark: marked.pop(0) if mark == "m" else [])
    monkeypatch.setattr(runner, "_strays", lambda others: strays.pop(0) if others == {3} else [])
    monkeypatch.setattr(runner.os, "killpg", lambda *given: killed.append(given))
    monkeypatch.setattr(runner.os, "kill", lambda *given: killed.append(given))
    monkeypatch.setattr(runner.os, "waitpid", lambda *_: (0, 0))
    runner._kill_tree(5, "m", {3})
    assert killed == [(pid, signal.SIGKILL) for pid in (5, 6, 8, 9)]


class Child:
    """What a shell writes; None is a wait. It ends after so many waits, if it does."""

    pid = 5

    def __init__(self, *parts: bytes | None, ends: bool = True) -> None:
        self.returncode: int | None = None
        self.stdout = self
        self.done: list[str] = []
        self._parts, self._ends = list(parts), ends

    async def read(self, most: int) -> bytes:
        assert most == KEPT_BYTES
        part = self._parts.pop(0) if self._parts else b""
        if part is None:
            if self._ends:
                self.returncode = 3
            await asyncio.sleep(10)
        return part or b""

    async def wait(self) -> int:
        self.done.append("wait")
        if not self._ends:
            await asyncio.sleep(3_600)
        self.returncode = 3 if self.returncode is None else self.returncode
        return self.returncode

    def kill(self) -> None:
        self.done.append("kill")


async def ran(child: Any, monkeypatch: pytest.MonkeyPatch, deadline_s: float = 5.0) -> Ran:
    """Run a command that is only played."""
    child.given = []

    async def start(*words: str, **more: Any) -> Any:
        child.given.append((words, more))
        return child

    monkeypatch.setattr(runner.asyncio, "create_subprocess_exec", start)
    monkeypatch.setattr(runner, "_adopt_orphans", lambda: child.done.append("adopt"))
    monkeypatch.setattr(runner, "_children", lambda: {3})
    monkeypatch.setattr(runner, "_kill_tree", lambda *given: child.done.append(given))
    monkeypatch.setattr(runner.os, "killpg", lambda *given: child.done.append(given))
    environment = {MARK: "m", "PATH": "/bin"}
    return await runner.run(
        "make test", Path("/tree"), deadline_s=deadline_s, environment=environment, output=Output()
    )


async def test_a_command_is_run_by_a_shell_of_its_own_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = Child(b"one\n", b"two")
    found = await ran(child, monkeypatch)
    assert (found.exit_code, found.timed_out, found.tail, found.size) == (3, False, "one\ntwo", 7)
    assert child.done == ["adopt", "wait", (5, "m", {3})]
    ((words, more),) = child.given  # type: ignore[attr-defined]
    assert (words[0], words[-2:]) == ("/bin/bash", ("experiment", "make test"))
    assert f"ulimit -c 0 -f {2 * 1024 * 1024} " in words[2]
    assert (more["cwd"], more["env"]) == (Path("/tree"), {MARK: "m", "PATH": "/bin"})
    assert more["start_new_session"]
    assert (more["stdout"], more["stderr"]) == (-1, -2)
    assert more["stdin"] == -3


async def test_a_child_that_keeps_the_output_open_is_waited_for_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = Child(b"one", None, b"late", None, b"never")
    found = await ran(child, monkeypatch)
    assert (found.tail, found.timed_out) == ("onelate", False)


async def test_what_takes_too_long_is_asked_to_end_and_then_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = Child(*[None] * 100, ends=False)
    found = await ran(child, monkeypatch, deadline_s=1.0)
    assert (found.exit_code, found.timed_out) == (None, True)
    assert child.done == ["adopt", (5, signal.SIGTERM), (5, "m", {3}), "kill", "wait"]
    # Its second, two seconds of grace, and two for its end.
    assert found.took_s == pytest.approx(5.0, abs=0.5)


@pytest.mark.parametrize(
    ("error", "why"),
    [(OSError(2, "No such file"), "No such file"), (ValueError("x"), "it holds a zero byte")],
)
async def test_a_command_that_cannot_be_started_is_named(
    monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
) -> None:
    async def refuse(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(runner.asyncio, "create_subprocess_exec", refuse)
    with pytest.raises(ToolError, match=rf"cannot be started in /tree \({why}\)"):
        await runner.run("x", Path("/tree"), deadline_s=1, environment={}, output=Output())


def test_orphans_come_to_us(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []
    library = SimpleNamespace(prctl=lambda *given: asked.append(given))
    monkeypatch.setattr(runner.ctypes, "CDLL", lambda _: library)
    runner._adopt_orphans()
    assert asked == [(36, 1, 0, 0, 0)]
    monkeypatch.setattr(runner.ctypes, "CDLL", lambda _: SimpleNamespace())
    runner._adopt_orphans()


def test_of_a_large_part_the_end_is_kept_and_all_is_counted() -> None:
    output = Output()
    output.take(b"first\n")
    output.take(b"x" * KEPT_BYTES + b"\nthe end")
    assert output.size == 6 + KEPT_BYTES + 8
    assert output.tail().endswith("\nthe end")
    assert "first" not in output.tail()
    for _ in range(3):
        output.take(b"y" * (KEPT_BYTES // 2))
    assert output.size == 14 + KEPT_BYTES + 3 * (KEPT_BYTES // 2)
    assert sum(map(len, output._parts)) <= 2 * KEPT_BYTES
    assert "the end" not in output.tail()

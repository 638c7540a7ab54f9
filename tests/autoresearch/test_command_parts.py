"""What a command gets, what stays of its output, and what is ended, without running one."""

import signal

import pytest

from service_tui.autoresearch import runner
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
    assert Ran(exit_code, timed_out, 1.0, "", 0, 0).succeeded is succeeded


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
    monkeypatch.setattr(runner.os, "waitpid", lambda *_: (0, 0))
    # Who leads the group is ended by others.
    assert end_marked("m", but=12) == 3
    assert killed == [(pid, signal.SIGKILL) for pid in (11, 13, 14)]
    assert end_marked("") == 0


def test_what_forks_for_ever_is_not_looked_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_marked", lambda _: [11])
    monkeypatch.setattr(runner.os, "kill", lambda *_: None)
    monkeypatch.setattr(runner.os, "waitpid", lambda *_: (0, 0))
    assert end_marked("m") == 20

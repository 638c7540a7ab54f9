"""The action log: append-only, chained, honest about what was done to it."""

import fcntl
import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service_tui.storage import action_log
from service_tui.storage.action_log import (
    LINE_MAX,
    START,
    ActionLog,
    LogCheck,
    head_path,
    newest,
    verify,
)

ENTRIES = [{"who": "person", "words": f"order {number}"} for number in range(5)]


def written(path: Path) -> Path:
    log = ActionLog(path)
    log.append(ENTRIES[:2])
    log.append(ENTRIES[2:])
    log.append([])
    return path


def test_the_chain_holds_over_writes_and_restarts(tmp_path: Path) -> None:
    path = written(tmp_path / "log")
    first = verify(path)
    assert (first.count, first.problem) == (5, "")
    ActionLog(path).append([{"at": 1.5}])
    assert verify(path).count == 6
    assert verify(path).last_hash != first.last_hash
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_empty_log_is_whole(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    assert verify(tmp_path / "log").last_hash == START
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "none")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: [lines[0], lines[1].replace(b"order 1", b"order 9"), *lines[2:]], 2),
        (lambda lines: [*lines[:2], *lines[3:]], 3),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4),
        (lambda lines: [*lines[:4], lines[4][:-9]], 5),
        (lambda lines: [*lines, b"no entry\n"], 6),
        (lambda lines: [*lines, b'{"hash":1,"entry":{}}\n'], 6),
        (lambda lines: [*lines, b"[" * 90_000 + b"\n"], 6),
        (lambda lines: [*lines, b"[" * 60_000 + b"\n"], 6),
        (lambda lines: [*lines, b'{"hash":"x","entry":[]}\n'], 6),
        (lambda lines: [*lines, b'{"entry":{}}\n'], 6),
        (lambda lines: [*lines, b"[]\n"], 6),
        # A line is whole only with its end.
        (lambda lines: [*lines[:4], lines[4][:-1]], 5),
    ],
)
def test_what_was_done_to_it_shows_where(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], line: int
) -> None:
    path = written(tmp_path / "log")
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    found = verify(path)
    assert found.problem.startswith(f"line {line} ")
    assert found.count == line - 1


def test_a_torn_last_line_does_not_swallow_the_next_entry(tmp_path: Path) -> None:
    path = written(tmp_path / "log")
    path.write_bytes(path.read_bytes()[:-5])
    ActionLog(path).append([{"who": "person"}])
    lines = path.read_bytes().splitlines()
    assert len(lines) == 6
    assert verify(path).problem == "line 5 is torn, or no entry"


@pytest.mark.parametrize("left", [0, 1, 4])
def test_a_tail_that_is_cut_shows_against_the_head(tmp_path: Path, left: int) -> None:
    path = written(tmp_path / "log")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:left]))
    found = verify(path)
    assert found.problem == f"the end is cut off: {5 - left} of 5 are missing"
    assert found.count == left


def test_a_log_that_is_gone_is_missed(tmp_path: Path) -> None:
    path = written(tmp_path / "log")
    path.unlink()
    assert verify(path) == LogCheck(0, START, "the log is gone; it had 5 entries")


def test_another_log_in_its_place_is_not_taken_for_it(tmp_path: Path) -> None:
    path = written(tmp_path / "log")
    ActionLog(tmp_path / "other").append([{"who": "else", "words": str(one)} for one in range(7)])
    path.write_bytes((tmp_path / "other").read_bytes())
    assert verify(path).problem == "line 5 is not the one that was written last"


def test_a_head_that_lags_after_a_kill_is_no_fault(tmp_path: Path) -> None:
    path = written(tmp_path / "log")
    before = head_path(path).read_bytes()
    ActionLog(path).append([{"who": "person"}])
    head_path(path).write_bytes(before)
    assert verify(path).problem == ""
    head_path(path).unlink()
    assert (verify(path).count, verify(path).problem) == (6, "")


def test_who_kept_a_hash_finds_out_that_head_and_log_were_both_cut(tmp_path: Path) -> None:
    path = written(tmp_path / "log")
    kept = verify(path).last_hash
    assert verify(path, kept).problem == ""
    path.unlink()
    head_path(path).unlink()
    ActionLog(path).append(ENTRIES[:4])
    assert verify(path).problem == ""
    assert verify(path, kept).problem == f"no line has the hash {kept}"
    # What is wrong with the log itself is said first.
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert verify(path, kept).problem == "the end is cut off: 2 of 4 are missing"


def test_the_newest_entries_come_with_their_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "log")
    made = ActionLog(path).append([{"who": "tide", "at": 2.5}])
    found = newest(path, 3)
    assert [line.number for line in found] == [6, 5, 4]
    assert found[0] == made[0]
    assert found[1].entry["words"] == "order 4"
    assert newest(tmp_path / "none", 3) == ()


def test_a_pipe_in_place_of_the_log_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    os.mkfifo(head_path(tmp_path / "log"))
    with pytest.raises(OSError, match="no plain file"):
        verify(tmp_path / "log")


def test_two_processes_append_to_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "actions.jsonl"
    one, other = ActionLog(path), ActionLog(path)
    for number in range(3):
        one.append([{"words": f"one {number}"}])
        (line,) = other.append([{"words": f"other {number}"}])
        assert line.number == 2 * number + 2
    assert verify(path).problem == ""
    assert verify(path).count == 6


def test_two_logs_of_one_file_go_on_from_each_other(tmp_path: Path) -> None:
    path = tmp_path / "log"
    first, second = ActionLog(path), ActionLog(path)
    numbers = [line.number for log in (first, second) * 4 for line in log.append(ENTRIES[:2])]
    assert numbers == list(range(1, 17))
    with path.open("ab") as file:
        file.write(b'{"hash":"torn')
    # The torn line counts, and stays on a line of its own.
    assert [line.number for line in first.append(ENTRIES[:1])] == [18]
    assert [line.number for line in second.append(ENTRIES[:1])] == [19]
    # A log that was cut is read from its start again.
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    assert [line.number for line in first.append(ENTRIES[:1])] == [4]
    assert verify(path).problem == ""


def test_a_line_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    path = written(tmp_path / "log")
    whole = path.read_bytes()
    with ThreadPoolExecutor() as pool, path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(len(whole) - 20)
        verdict = pool.submit(verify, path)
        with pytest.raises(TimeoutError):
            verdict.result(0.1)
        file.seek(0, os.SEEK_END)
        file.write(whole[-20:])
        file.flush()
        fcntl.flock(file, fcntl.LOCK_UN)
        assert verdict.result(10) == verify(path)
    assert verify(path).problem == ""


def test_a_line_is_what_every_program_that_checks_it_expects(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"no entry\n")
    (line,) = ActionLog(path).append([{"who": "person", "at": 1.5, "amount": 3}])
    # Other programs follow the chain by this text: names in order, and no space.
    text = '{"amount":3,"at":1.5,"who":"person"}'
    named = hashlib.sha256(f"{START}\n{text}".encode()).hexdigest()
    assert path.read_text() == f'no entry\n{{"hash":"{named}","entry":{text}}}\n'
    assert (line.number, line.hash) == (2, named)
    assert head_path(path).read_text() == f"2 {named}\n"


def test_nothing_to_append_makes_no_log(tmp_path: Path) -> None:
    assert ActionLog(tmp_path / "log").append([]) == ()
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_a_number_that_is_none_is_neither_written_nor_read(tmp_path: Path, number: str) -> None:
    path = written(tmp_path / "log")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        ActionLog(path).append([{"who": "person"}, {"at": float(number)}])
    assert path.read_bytes() == before
    path.write_bytes(before + f'{{"hash":"x","entry":{{"at":{number}}}}}\n'.encode())
    assert verify(path).problem == "line 6 is torn, or no entry"
    assert [line.number for line in newest(path, 2)] == [5, 4]


@pytest.mark.parametrize("head", [b"", b"5", b"five x\n", b"\xff\xfe", None])
def test_a_head_that_says_nothing_is_none(tmp_path: Path, head: bytes | None) -> None:
    path = written(tmp_path / "log")
    head_path(path).unlink()
    if head is None:
        head_path(path).mkdir()
    else:
        head_path(path).write_bytes(head)
    expected = "line 5 is not the one that was written last" if head == b"5" else ""
    assert (verify(path).count, verify(path).problem) == (5, expected)


def test_a_line_of_the_greatest_length_is_read_and_a_longer_one_is_none(tmp_path: Path) -> None:
    for words, problem in ((0, ""), (1, "line 1 is torn, or no entry")):
        path = tmp_path / f"log {words}"
        frame = len('{"hash":"","entry":{"words":""}}\n') + len(START)
        ActionLog(path).append([{"words": "x" * (LINE_MAX - frame + words)}])
        assert path.stat().st_size == LINE_MAX + words
        assert verify(path).problem == problem


def test_of_a_long_log_only_the_end_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "log")
    *_, before, last = path.read_bytes().splitlines(keepends=True)
    # Half a line is passed over, and counted all the same.
    monkeypatch.setattr(action_log, "TAIL_MAX", len(before) + len(last) + 9)
    assert [line.number for line in newest(path, 9)] == [5, 4]


def test_a_line_is_written_under_the_lock_and_flushed_before_its_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "log")
    seen: list[tuple[object, int, bytes]] = []

    def noting(what: object) -> None:
        seen.append((what, len(path.read_bytes().splitlines()), head_path(path).read_bytes()[:1]))

    monkeypatch.setattr(fcntl, "flock", lambda _, operation: noting(operation))
    monkeypatch.setattr(os, "fsync", lambda _: noting("fsync"))
    ActionLog(path).append(ENTRIES[:1])
    assert seen == [(fcntl.LOCK_EX, 5, b"5"), ("fsync", 6, b"5")]
    assert head_path(path).read_bytes()[:1] == b"6"

"""The action log: append-only, chained, honest about what was done to it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from service_tui.storage.action_log import START, ActionLog, verify

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

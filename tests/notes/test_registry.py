"""Entries of repositories: what is written comes back, and what is broken is passed over."""

import hashlib
import json
import math
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from service_tui.notes.registry import (
    ENTRIES_MAX,
    ENTRY_BYTES_MAX,
    Live,
    RegistryEntry,
    entries,
    is_alive,
    path_of,
    read,
    write,
)

LIVE = Live("make test", 1_000.0, 60.0, "the end", 1_050.0, 3, timed_out=True)
ENTRY = RegistryEntry("/home/a", "ada", 77, "dips", True, "no room", LIVE)  # noqa: FBT003 - a row


@pytest.mark.parametrize("entry", [ENTRY, RegistryEntry("/home/b")])
def test_an_entry_comes_back_with_every_field(tmp_path: Path, entry: RegistryEntry) -> None:
    path = path_of(tmp_path, Path(entry.repository))
    write(path, entry)
    assert read(path) == entry
    assert entries(tmp_path) == [entry]
    # Nothing of the writing is left beside it.
    assert list(path.parent.iterdir()) == [path]


def test_each_repository_has_an_entry_of_its_own(tmp_path: Path) -> None:
    paths = {path_of(tmp_path, Path(name)) for name in ("/a", "/b", "/a/b")}
    assert len(paths) == 3
    assert {one.suffix for one in paths} == {".json"}


BROKEN: dict[str, Any] = {
    "no object": [],
    "no repository": {"pid": 1},
    "a repository that is no text": {"repository": 5},
    "a process that is no number": {"repository": "/a", "pid": "1"},
    "a tail that is no text": {
        "repository": "/a",
        "live": {"command": "c", "started_at": 1, "deadline_s": 1, "tail": 5},
    },
    "a start that is no number": {
        "repository": "/a",
        "live": {"command": "c", "started_at": "now", "deadline_s": 1},
    },
    **{
        f"{name} of a run that is {value!r}": {
            "repository": "/a",
            "live": {"command": "c", "started_at": 1, "deadline_s": 1, name: value},
        }
        for name, values in {
            "command": (5, None),
            "started_at": (math.nan, math.inf, -1, True, 10**400),
            "deadline_s": ("soon", math.nan, None, math.inf),
            "ended_at": ("then", math.nan, [], None),
            "exit_code": ("0", 1.5, True, 10**20),
        }.items()
        for value in values
    },
    **{
        f"{name} that is {value!r}": {"repository": "/a", name: value}
        for name, values in {
            "pid": (1.5, True, 10**20, None),
            "skill": (5, None),
            "agent_id": ([], 5),
            "warning": (5, {}),
        }.items()
        for value in values
    },
    "a run without its command": {"repository": "/a", "live": {"started_at": 1}},
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_entry_that_is_none_is_passed_over(tmp_path: Path, name: str) -> None:
    good = path_of(tmp_path, Path("/home/a"))
    write(good, ENTRY)
    bad = good.with_name("0.json")
    bad.write_text(json.dumps(BROKEN[name]), encoding="utf-8")
    assert read(bad) is None
    assert entries(tmp_path) == [ENTRY]
    assert read(good.with_name("nothing.json")) is None


def test_an_entry_of_a_newer_program_is_read_as_far_as_it_is_known(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    more = {"repository": "/a", "pid": 5, "colour": "red", "live": "soon"}
    path.write_text(json.dumps(more), encoding="utf-8")
    assert read(path) == RegistryEntry("/a", pid=5)


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)])
def test_an_entry_has_at_most_so_many_bytes(tmp_path: Path, *, more: int, is_read: bool) -> None:
    path = tmp_path / "one.json"
    bare = json.dumps({"repository": ""})
    name = "a" * (ENTRY_BYTES_MAX - len(bare) + more)
    path.write_text(json.dumps({"repository": name}), encoding="utf-8")
    assert (read(path) is not None) is is_read


def test_so_many_entries_are_looked_at(tmp_path: Path) -> None:
    for number in range(ENTRIES_MAX + 2):
        write(path_of(tmp_path, Path(f"/{number}")), RegistryEntry(f"/{number}"))
    assert len(entries(tmp_path)) == ENTRIES_MAX


def test_a_process_is_alive_while_it_runs() -> None:
    assert is_alive(os.getpid())
    # The first process is somebody else's, and runs all the same.
    assert is_alive(1)
    for pid in (0, -1, 2**22 + 1):
        assert not is_alive(pid)


def test_a_process_of_somebody_else_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    assert is_alive(77)


def test_a_run_of_a_newer_program_is_read_as_far_as_it_is_known(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    run = {"command": "c", "started_at": 1.5, "deadline_s": 60.0, "colour": "red"}
    path.write_text(json.dumps({"repository": "/a", "live": run}), encoding="utf-8")
    assert read(path) == RegistryEntry("/a", live=Live("c", 1.5, 60.0))


def test_the_folders_of_an_entry_are_made_for_this_user_alone(tmp_path: Path) -> None:
    path = path_of(tmp_path / "data", Path("/a"))
    (tmp_path / "data").mkdir()
    write(path, ENTRY)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    deep = path_of(tmp_path / "new" / "data", Path("/a"))
    write(deep, ENTRY)
    assert read(deep) == ENTRY
    assert path.name == f"{hashlib.sha256(b'/a').hexdigest()[:24]}.json"

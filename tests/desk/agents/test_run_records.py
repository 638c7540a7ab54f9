"""Records of runs on disk: read by their types, and never from where a skill writes."""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from kit.samples.filled import filled
from service_tui.desk.agents.run_records import RECORDS, keep_record, stored_records
from service_tui.desk.agents.skill_runs import known_runs, suspend_known
from service_tui.desk.slices.supervision import SkillRunState, SkillRunView

FULL = filled(SkillRunView, 7, run_id="run-one", state=SkillRunState.DETACHED)
WRONG: dict[str, tuple[Any, ...]] = {
    "run_id": (None, 1, "run-two", [], "../run-one"),
    "skill_slug": (None, 1, {}),
    "agent_id": (None, []),
    "agent_name": (None, 7.5),
    "pace": (None, "never", [], {}),
    "every_s": (None, "5", 1.5, -1, True, 10**30),
    "live": (None, 1, "yes"),
    "state": (None, "gone", []),
    "started_at": ("now", True, -1, 1e300, 10**400, [], {}),
    "ended_at": ("now", -0.5, 3e11),
    "next_at": ("now", 1e18),
    "pid": (-1, 0, "1", 1.5, True, 2**31, 10**400),
    "exit_code": ("0", 1.5, 10**30),
    "runs_count": (None, -1, "1"),
    "restarts": (None, -1, 2**40),
    "why": (None, 1),
    "report": (None, []),
    "log_path": (None, 1),
    "budget": ("1", 1.5, True, 10**30),
    "granted": (None, 1, "true"),
    "output_at": ("now", -1, 1e300),
}


def older(folder: Path, run_id: str = "run-one") -> Path:
    place = folder / "runs" / run_id
    place.mkdir(parents=True, exist_ok=True)
    return place / "run.json"


def newer(folder: Path, run_id: str = "run-one") -> Path:
    (folder / RECORDS).mkdir(mode=0o700, exist_ok=True)
    return folder / RECORDS / f"{run_id}.json"


PLACES = pytest.mark.parametrize("place", [older, newer])


def test_every_field_of_a_run_is_tried() -> None:
    assert WRONG.keys() == asdict(FULL).keys()


@PLACES
@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_a_run_with_a_field_of_another_type_is_left_out(
    place: Callable[..., Path], name: str, value: object, tmp_path: Path
) -> None:
    whole = replace(FULL, run_id="run-two")
    place(tmp_path, "run-two").write_text(json.dumps(asdict(whole)))
    place(tmp_path).write_text(json.dumps({**asdict(FULL), name: value}))
    assert stored_records(tmp_path) == [whole]
    assert [view.run_id for view in known_runs(tmp_path)] == ["run-two"]
    assert suspend_known(tmp_path) == 0


def write(raw: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(raw)


def link_loop(path: Path) -> None:
    path.symlink_to(path)


BROKEN: dict[str, Callable[[Path], object]] = {
    "empty": write(b""),
    "NUL bytes": write(bytes(300)),
    "null": write(b"null"),
    "a list": write(b"[]"),
    "no UTF-8": write(b'"\xff"'),
    "NaN": write(json.dumps({**asdict(FULL), "started_at": float("nan")}).encode()),
    "5,000 digits": write(b'{"pid": ' + b"9" * 5_000 + b"}"),
    "deep": write(b"[" * 60_000),
    "large": write(b" " * 70_000 + b"{}"),
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a loop of links": link_loop,
}


@PLACES
@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_record_is_left_out(place: Callable[..., Path], how: str, tmp_path: Path) -> None:
    BROKEN[how](place(tmp_path))
    assert stored_records(tmp_path) == []


def test_records_of_an_older_program_are_taken_over_once(tmp_path: Path) -> None:
    older(tmp_path).write_text(json.dumps(asdict(FULL)))
    later = replace(FULL, run_id="run-two", started_at=9.0)
    keep_record(tmp_path, later)
    # What a skill writes into its folder from now on is nothing to us.
    older(tmp_path, "run-three").write_text(json.dumps(asdict(replace(FULL, run_id="run-three"))))
    older(tmp_path).write_text(json.dumps({**asdict(FULL), "pid": 1}))
    assert {view.run_id: view for view in stored_records(tmp_path)} == {
        "run-one": FULL, "run-two": later,
    }  # fmt: skip


def test_a_process_without_the_tag_of_the_run_is_never_suspended(tmp_path: Path) -> None:
    keep_record(tmp_path, replace(FULL, pid=os.getpid()))
    assert suspend_known(tmp_path) == 0
    assert [view.state for view in known_runs(tmp_path)] == [SkillRunState.STOPPED]

"""Notes about unfinished work: what the next server reads of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.unfinished import MARK_MAX, Begun, Unanswered
from service_tui.notes.notebook import Config, Logged
from service_tui.terms import Direction, ExperimentStatus


def logged(skill: str = "tides", run: int = 4) -> Logged:
    config = Config("spring", skill, "pnl", "$", Direction.HIGHER, 2)
    return Logged(run, "c0ffee" * 5, 1.5, {}, ExperimentStatus.KEEP, "more", 99, 2, config)


@pytest.mark.parametrize("is_done", [False, True])
def test_a_result_that_is_being_kept_is_noted_for_its_skill(
    tmp_path: Path, *, is_done: bool
) -> None:
    begun, result = Begun(tmp_path), logged()
    begun.note(result, is_done=is_done)
    assert Begun(tmp_path).result("tides") == Unanswered(result.ref, "c0ffee" * 5, is_done)
    assert begun.result("winds") is None
    assert [one.name for one in tmp_path.iterdir()] == ["tides.pending"]


def test_the_notes_of_two_skills_end_each_by_itself(tmp_path: Path) -> None:
    begun = Begun(tmp_path)
    begun.note(logged("tides"))
    begun.note(logged("winds"))
    begun.end("tides")
    begun.end("tides")
    assert begun.result("tides") is None
    assert begun.result("winds") == Unanswered(logged("winds").ref, "c0ffee" * 5, is_done=False)


@pytest.mark.parametrize(
    "text", ["", "[", "[]", '"ref"', '{"ref": "r"}', '{"commit": "c"}', "{}", "[" * 100_000]
)
def test_a_note_that_names_no_result_is_removed(tmp_path: Path, text: str) -> None:
    (tmp_path / "tides.pending").write_text(text)
    assert Begun(tmp_path).result("tides") is None
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_runs_is_noted_until_nothing_of_it_runs(tmp_path: Path) -> None:
    begun = Begun(tmp_path)
    assert begun.run() is None
    begun.note_run("m" * (MARK_MAX + 1), "make é")
    assert Begun(tmp_path).run() == ("m" * MARK_MAX, "make é")
    assert begun.result("running") is None
    begun.end_run()
    begun.end_run()
    assert begun.run() is None


@pytest.mark.parametrize(
    ("note", "found"),
    [
        ({}, ("", "")),
        ({"mark": 7}, ("7", "")),
        ({"mark": "m" * 99, "command": "make"}, ("m" * MARK_MAX, "make")),
    ],
)
def test_what_a_note_of_a_command_lacks_is_empty(
    tmp_path: Path, note: Any, found: tuple[str, str]
) -> None:
    (tmp_path / "running").write_text(json.dumps(note))
    assert Begun(tmp_path).run() == found


def test_a_note_that_cannot_be_written_says_so_and_leaves_the_former_one(tmp_path: Path) -> None:
    begun = Begun(tmp_path)
    begun.note_run("first", "make")
    (tmp_path / "running.new").mkdir()
    with pytest.raises(ToolError, match="nothing was kept"):
        begun.note_run("second", "make")
    assert begun.run() == ("first", "make")


def test_a_note_is_written_through_no_link_and_leaves_none(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("of the person\n")
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("running", "running.new"):
        (folder / name).symlink_to(elsewhere)
    assert Begun(folder).run() is None
    (folder / "running").symlink_to(elsewhere)
    Begun(folder).note_run("m", "make")
    assert Begun(folder).run() == ("m", "make")
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    with pytest.raises(ToolError, match="cannot be written"):
        Begun(folder).note_run("n", "make")
    assert elsewhere.read_text() == "of the person\n"

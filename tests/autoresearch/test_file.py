"""What a person writes into the file of a repository beside a server."""

from pathlib import Path
from typing import Any

import pytest

from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.file import begin_beside, fresh, notes_of, size_of, turn_off
from service_tui.autoresearch.worktree import Repository
from service_tui.notes import notebook
from service_tui.notes.notebook import Config
from service_tui.terms import Direction
from service_tui.wire.research_tools import InitArguments

TIDES = Config("spring", "tides", "score", "pt", Direction.LOWER, 3, 77, 8)
RAIN = Config("wet", "rain", "pnl", "$", Direction.HIGHER, 0, 78, 9)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path, tmp_path / ".git")
    for one in (TIDES, RAIN):
        notebook.append(made.file, one.line())
    return made


@pytest.mark.parametrize(("named", "skill"), [("tides", "tides"), ("", "rain")])
def test_a_session_that_is_turned_off_is_off_in_the_file(
    repository: Repository, named: str, skill: str
) -> None:
    assert turn_off(repository, named, 99) == skill
    last = repository.file.read_text().splitlines()[-1]
    assert last == f'{{"type": "off", "skillSlug": "{skill}", "timestamp": 99}}'
    assert notes_of(repository).off == {skill}


def test_only_a_session_that_is_there_is_turned_off(repository: Repository) -> None:
    with pytest.raises(ToolError, match="no session of snow here: nothing to turn off"):
        turn_off(repository, "snow", 99)
    repository.file.unlink()
    with pytest.raises(ToolError, match="no session of any skill here"):
        turn_off(repository, "", 99)
    assert size_of(repository.file) == 0


@pytest.mark.parametrize(
    ("name", "fresh_name"),
    [("spring", "spring @99"), ("spring @5", "spring @99"), ("s" * 200, "s" * 160 + " @99")],
)
def test_a_fresh_session_measures_what_the_one_before_did(name: str, fresh_name: str) -> None:
    notes = notebook.Notes([Config(name, *list(TIDES.line().values())[2:5], Direction.LOWER, 3)])
    begun = fresh(notes, "", 99)
    assert begun == InitArguments(
        name=fresh_name, skill_slug="tides", metric_name="score", metric_unit="pt",
        direction=Direction.LOWER,
    )  # fmt: skip
    with pytest.raises(ToolError, match="no session of rain here; begin one: autoresearch SKILL"):
        fresh(notes, "rain", 99)


@pytest.mark.parametrize(
    ("skill", "changes"), [("tides", {"segment": 4}), ("snow", {"segment": 0})]
)
def test_a_session_beside_a_server_is_the_next_segment(
    repository: Repository, skill: str, changes: dict[str, Any]
) -> None:
    asked = InitArguments(
        name="second", skill_slug=skill, metric_name="edge", metric_unit="%",
        direction=Direction.LOWER,
    )  # fmt: skip
    begun = begin_beside(repository, asked, 5, 99)
    assert begun == Config("second", skill, "edge", "%", Direction.LOWER, changes["segment"], 99, 5)
    assert notes_of(repository).configs == [TIDES, RAIN, begun]


def test_a_session_of_the_same_name_is_not_begun_beside_it(repository: Repository) -> None:
    asked = InitArguments(name="spring", skill_slug="tides", metric_name="score")
    before = size_of(repository.file)
    with pytest.raises(ToolError, match="the session spring is there; give a new name"):
        begin_beside(repository, asked, 5, 99)
    assert size_of(repository.file) == before == len(repository.file.read_bytes())


def test_a_file_that_cannot_be_used_is_named(repository: Repository) -> None:
    repository.file.unlink()
    repository.file.mkdir()
    with pytest.raises(ToolError, match=r"cannot be read \(it is no plain file\); move it away"):
        notes_of(repository)
    gone = Repository(repository.root / "none", repository.store)
    asked = InitArguments(name="a", skill_slug="tides", metric_name="score")
    with pytest.raises(ToolError, match=r"cannot be written \(No such file or directory\)"):
        begin_beside(gone, asked, 5, 99)

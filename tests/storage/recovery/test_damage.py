"""A damaged database is moved aside at once, and the question stays open until it is answered."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kit.service.small import AT, small_database
from service_tui.storage.db.backups import FOLDER
from service_tui.storage.db.connection import COMPANIONS, DATABASE_FILE
from service_tui.storage.recovery import damage
from service_tui.storage.recovery.damage import (
    answer,
    keep_question,
    move_aside,
    open_question,
    set_aside,
)

NOTE = "damaged.json"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return small_database(tmp_path / DATABASE_FILE, 5)


@pytest.mark.slow
def test_a_damaged_database_is_moved_aside_and_says_what_can_be_had(path: Path) -> None:
    content = path.read_bytes()
    old = small_database(path.parent / FOLDER / "desk-2027-01-14.sqlite3", 2)
    error = set_aside(path, reason="row 4 makes no sense", now=AT, before=4)
    assert not path.exists()
    assert error.kept_as == path.with_name(f"{DATABASE_FILE}.corrupt-20270115T080000Z")
    assert error.kept_as.read_bytes() == content
    rest, backup = error.had.rest, error.had.backup
    assert rest is not None
    assert backup is not None
    assert (rest.missing, rest.path.parent) == ("rows 4 to 5 of the journal", old.parent)
    assert rest.reach.startswith("up to row 3 of the journal")
    assert (backup.path, backup.missing) == (old, "")
    assert backup.reach.startswith("up to row 2 of the journal")
    # What was salvaged is offered as such, and not among the backups.
    assert error.backups == (old,)
    assert "row 4 makes no sense" in str(error)
    assert (path.parent / NOTE).stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_the_question_is_asked_in_the_same_words_until_it_is_answered(path: Path) -> None:
    small_database(path.parent / FOLDER / "desk-2027-01-14.sqlite3", 2)
    error = set_aside(path, reason="row 4 makes no sense", now=AT, before=4)
    for _ in range(2):
        again = open_question(path)
        assert again is not None
        assert (str(again), again.had, again.backups) == (str(error), error.had, error.backups)
    answer(path)
    assert open_question(path) is None
    # Answered twice, as by two hands: no error.
    answer(path)


@pytest.mark.slow
def test_what_is_offered_is_still_there(path: Path) -> None:
    small_database(path.parent / FOLDER / "desk-2027-01-14.sqlite3", 2)
    rest, backup = (had := set_aside(path, reason="odd", now=AT, before=4).had).rest, had.backup
    assert rest is not None
    assert backup is not None
    rest.path.unlink()
    again = open_question(path)
    assert again is not None
    assert (again.had.rest, again.had.backup) == (None, backup)
    assert again.backups == (backup.path,)
    backup.path.unlink()
    last = open_question(path)
    assert last is not None
    assert (last.had.backup, last.backups) == (None, ())


def test_a_database_put_there_by_hand_is_an_answer(path: Path) -> None:
    error = set_aside(path, reason="odd", now=AT)
    error.kept_as.rename(path)
    assert open_question(path) is None
    assert not (path.parent / NOTE).exists()
    # And a start that finds a database and no question asks none.
    assert open_question(path) is None


def test_a_kill_during_the_salvage_leaves_the_question(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(damage, "left_of", killed)
    with pytest.raises(KeyboardInterrupt):
        set_aside(path, reason="row 4 makes no sense", now=AT)
    asked = open_question(path)
    assert asked is not None
    assert "row 4 makes no sense" in str(asked)
    assert asked.kept_as.exists()
    assert (asked.had.rest, asked.had.backup) == (None, None)


@pytest.mark.parametrize(
    "note", [b"", b"no JSON", b"[]", b'{"reason": "x"}', b"\xff", b'{"reason": 1, "kept_as": []}']
)
def test_a_note_that_cannot_be_read_is_a_question_all_the_same(tmp_path: Path, note: bytes) -> None:
    (tmp_path / NOTE).write_bytes(note)
    asked = open_question(tmp_path / DATABASE_FILE)
    assert asked is not None
    assert "the note about it cannot be read" in str(asked)
    assert asked.kept_as == tmp_path


def test_a_note_that_may_not_be_read_is_a_question_too(tmp_path: Path) -> None:
    (tmp_path / NOTE).mkdir()
    assert open_question(tmp_path / DATABASE_FILE) is not None


def test_a_note_that_cannot_be_written_stops_no_salvage(path: Path) -> None:
    (path.parent / NOTE).mkdir()
    error = set_aside(path, reason="odd", now=AT)
    assert error.had.rest is not None
    assert error.kept_as.exists()


def test_a_kept_question_names_the_file_and_the_reason(tmp_path: Path) -> None:
    path = tmp_path / DATABASE_FILE
    (tmp_path / NOTE).write_text(json.dumps({"reason": "x" * 500, "kept_as": "elsewhere"}))
    keep_question(path, reason="half of a restore", kept_as=tmp_path / "kept")
    asked = open_question(path)
    assert asked is not None
    assert asked.kept_as == tmp_path / "kept"
    assert "half of a restore" in str(asked)


def test_a_database_moves_with_its_companions_to_a_free_name(tmp_path: Path) -> None:
    path = tmp_path / DATABASE_FILE
    for _ in range(2):
        for suffix in ("", *COMPANIONS):
            path.with_name(path.name + suffix).write_text(suffix)
        kept = move_aside(path, "kept")
        for suffix in ("", *COMPANIONS):
            assert kept.with_name(kept.name + suffix).read_text() == suffix
    assert len([*tmp_path.iterdir()]) == 2 * (1 + len(COMPANIONS))


def test_the_database_moves_before_its_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.with_name(f"{path.name}-wal").touch()
    rename = Path.rename

    def dies_at_the_second(self: Path, target: Path) -> Path:
        if not path.exists():
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", dies_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        move_aside(path, "kept")
    # A database without its log would be taken for a whole one.
    assert path.with_name(f"{path.name}-wal").exists()


def test_damage_of_a_file_without_rows_leaves_nothing_but_the_backup(path: Path) -> None:
    old = small_database(path.parent / FOLDER / "desk-2027-01-14.sqlite3", 2)
    path.write_bytes(b"overwritten")
    error = set_aside(path, reason="odd", now=AT)
    assert error.had.rest is None
    assert error.had.backup is not None
    assert error.had.backup.path == old
    assert "nothing salvaged beyond the backup" in str(error)
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("SELECT max(seq) FROM journal").fetchone() == (2,)

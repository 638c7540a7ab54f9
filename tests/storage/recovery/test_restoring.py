"""A copy takes the place of the database only when it is whole, and nothing is written over."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.service.small import AT, seqs_in, small_database, write_journal
from service_tui.storage.db.backups import FOLDER, backups_of
from service_tui.storage.db.connection import COMPANIONS, DATABASE_FILE, connect_to_write
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.db.schema import SCHEMA
from service_tui.storage.errors import NewerSchemaError, StorageError
from service_tui.storage.recovery.damage import keep_question, open_question
from service_tui.storage.recovery.restoring import back_up, begin_anew, copies_in, restore
from service_tui.storage.recovery.salvage import Copy

STAMP = "20270115T080000Z"


@pytest.fixture
def held(tmp_path: Path) -> Iterator[DataDirLock]:
    lock = DataDirLock.acquire(tmp_path / "data", pid=1, now=AT)
    yield lock
    lock.release()


@pytest.fixture
def path(held: DataDirLock) -> Path:
    return small_database(held.directory / DATABASE_FILE, 5)


def change(path: Path, query: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(query)


def row_missing(path: Path) -> None:
    change(path, "DELETE FROM journal WHERE seq = 2")


def overwritten(path: Path) -> None:
    path.write_bytes(b"overwritten")


def page_broken(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[4096:8192] = b"\xff" * 4096
    path.write_bytes(raw)


def of_another_program(path: Path) -> None:
    change(path, "PRAGMA user_version=0")


def newer(path: Path) -> None:
    change(path, f"PRAGMA user_version={SCHEMA.version + 1}")


def log_damaged(path: Path) -> None:
    path.with_name(f"{path.name}-wal").write_bytes(b"no log, although it is long enough" * 200)


SPOILED = [
    row_missing,
    overwritten,
    page_broken,
    of_another_program,
    log_damaged,
    newer,
    Path.unlink,
]


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if path.is_file())


def test_a_backup_is_a_whole_copy_under_a_free_name(path: Path) -> None:
    first = back_up(path.parent, None, now=AT)
    assert first == Copy(path.parent / FOLDER / f"desk-kept-{STAMP}.sqlite3", 5, AT + 5)
    assert seqs_in(first.path) == [1, 2, 3, 4, 5]
    second = back_up(path.parent, None, now=AT)
    assert second.path.name == f"desk-kept-{STAMP}-2.sqlite3"


def test_a_backup_is_written_over_nothing(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    assert back_up(path.parent, elsewhere, now=AT).path == elsewhere
    elsewhere.write_text("mine")
    with pytest.raises(StorageError, match="is there already"):
        back_up(path.parent, elsewhere, now=AT)
    assert elsewhere.read_text() == "mine"


def test_without_a_database_there_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no database"):
        back_up(tmp_path, None, now=AT)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("spoil", [row_missing, page_broken, of_another_program])
def test_of_a_damaged_database_no_copy_stays(path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(path)
    with pytest.raises(StorageError, match=r"(?s)is damaged \(.+\); no copy was made"):
        back_up(path.parent, None, now=AT)
    assert backups_of(path.parent) == ()


def test_a_copy_that_is_restored_replaces_the_database_which_is_kept(
    held: DataDirLock, path: Path
) -> None:
    source = small_database(path.parent / FOLDER / "desk-2027-01-14.sqlite3", 2)
    for suffix in COMPANIONS:
        path.with_name(path.name + suffix).touch()
    keep_question(path, reason="odd", kept_as=path)
    before = path.read_bytes()

    copy, replaced = restore(held, source, now=AT)

    assert copy == Copy(path, 2, AT + 2)
    assert seqs_in(path) == [1, 2]
    assert replaced is not None
    assert replaced == path.with_name(f"{DATABASE_FILE}.replaced-{STAMP}")
    assert replaced.read_bytes() == before
    # Neither a log of the old one beside the new one, nor a draft, nor a question is left.
    assert names_in(path.parent) == sorted([
        "desk.lock", DATABASE_FILE, *(f"{replaced.name}{suffix}" for suffix in ("", *COMPANIONS)),
    ])  # fmt: skip
    assert source.exists()


def test_where_nothing_was_nothing_is_replaced(held: DataDirLock, tmp_path: Path) -> None:
    source = small_database(tmp_path / "copy", 2)
    copy, replaced = restore(held, source, now=AT)
    assert (copy.seq, replaced) == (2, None)
    assert names_in(held.directory) == ["desk.lock", DATABASE_FILE]


@pytest.mark.parametrize("spoil", SPOILED, ids=[one.__name__ for one in SPOILED])
def test_a_copy_that_is_not_whole_changes_nothing(
    held: DataDirLock, path: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    source = small_database(tmp_path / "copy", 3)
    spoil(source)
    before, names = path.read_bytes(), names_in(path.parent)
    with pytest.raises(StorageError) as refused:
        restore(held, source, now=AT)
    is_named = any(
        words in str(refused.value) for words in ("nothing was changed", "is not there", "no file")
    )
    assert is_named or isinstance(refused.value, NewerSchemaError)
    assert path.read_bytes() == before
    assert names_in(path.parent) == names
    assert open_question(path) is None


def test_neither_the_database_itself_nor_a_folder_is_a_copy(
    held: DataDirLock, path: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    for source in (path, link):
        with pytest.raises(StorageError, match="is the database itself"):
            restore(held, source, now=AT)
    with pytest.raises(StorageError, match="no file"):
        restore(held, tmp_path, now=AT)


def test_rows_in_the_log_of_a_copy_are_restored_too(held: DataDirLock, tmp_path: Path) -> None:
    source = small_database(tmp_path / "copy", 3)
    with closing(connect_to_write(source, with_wal=True, timeout_s=1)) as writing:
        write_journal(writing, [4])
        copy, _ = restore(held, source, now=AT)
    assert copy.seq == 4
    assert seqs_in(copy.path) == [1, 2, 3, 4]


def test_a_restore_that_dies_between_the_two_asks(
    held: DataDirLock, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, rename = small_database(tmp_path / "copy", 2), Path.rename

    def dies(self: Path, target: Path) -> Path:
        if target == path:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", dies)
    with pytest.raises(KeyboardInterrupt):
        restore(held, source, now=AT)
    asked = open_question(path)
    assert asked is not None
    assert f"{source} was about to take its place" in str(asked)
    assert seqs_in(asked.kept_as) == [1, 2, 3, 4, 5]


def test_a_new_desk_makes_room_and_answers_the_question(held: DataDirLock, path: Path) -> None:
    keep_question(path, reason="odd", kept_as=path)
    replaced = begin_anew(held, now=AT)
    assert replaced is not None
    assert seqs_in(replaced) == [1, 2, 3, 4, 5]
    assert names_in(path.parent) == ["desk.lock", replaced.name]
    assert open_question(path) is None
    assert begin_anew(held, now=AT) is None


def test_a_log_alone_is_kept_for_a_new_desk(held: DataDirLock) -> None:
    (held.directory / f"{DATABASE_FILE}-wal").write_text("log")
    replaced = begin_anew(held, now=AT)
    assert replaced is not None
    assert replaced.with_name(f"{replaced.name}-wal").read_text() == "log"
    assert names_in(held.directory) == ["desk.lock", f"{replaced.name}-wal"]


def test_copies_are_listed_newest_first_with_the_problem_of_those_that_are_not_whole(
    tmp_path: Path,
) -> None:
    folder = tmp_path / FOLDER
    whole = small_database(folder / "desk-b.sqlite3", 2)
    holed = small_database(folder / "desk-c.sqlite3", 3)
    row_missing(holed)
    odd = folder / "desk-a.sqlite3"
    overwritten(odd)
    small_database(folder / "other.sqlite3", 1)
    for age, path in enumerate((odd, whole, holed)):
        os.utime(path, (AT - age, AT - age))

    listed = dict(copies_in(tmp_path))

    assert [*listed] == [odd, whole, holed]
    assert listed[whole] == Copy(whole, 2, AT + 2)
    assert listed[odd] == "the file is not a database"
    assert "rows of the journal" in str(listed[holed])

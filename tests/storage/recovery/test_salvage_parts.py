"""What is read of a damaged database, and how much of it makes a whole one again."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from kit.service.small import (
    AT,
    seqs_in,
    small_database,
    write_journal,
    write_preference,
    write_snapshots,
)
from service_tui.storage.db.backups import FOLDER
from service_tui.storage.db.connection import COMPANIONS, connect_to_write
from service_tui.storage.db.declared import CREATIONS
from service_tui.storage.db.inspection import DamageFound, check_pages
from service_tui.storage.db.schema import SCHEMA
from service_tui.storage.db.wal import log_of, look
from service_tui.storage.recovery import salvage
from service_tui.storage.recovery.salvage import (
    Copy,
    _carry_over,
    _copy_rows,
    _from_the_end,
    _put_together,
    examined,
    left_of,
    newest_good,
)


class Damaged:
    """A table of which a page cannot be read behind some rows."""

    def __init__(self, *rows: tuple[int, str], is_whole: bool = False) -> None:
        self._rows, self._is_whole = rows, is_whole

    def execute(self, _: str) -> Iterator[tuple[int, str]]:
        yield from self._rows
        if not self._is_whole:
            raise sqlite3.DatabaseError("database disk image is malformed")


@pytest.mark.parametrize("is_whole", [True, False])
def test_rows_from_the_end_are_kept_up_to_what_cannot_be_read(*, is_whole: bool) -> None:
    source: Any = Damaged((9, "nine"), (8, "eight"), is_whole=is_whole)
    assert _from_the_end(source, "SELECT", {}) == {9: ("nine",), 8: ("eight",)}


def test_rows_from_the_end_stop_at_the_first_that_is_known() -> None:
    source: Any = Damaged((9, "nine"), (3, "three"), (2, "two"))
    assert _from_the_end(source, "SELECT", {3: ("three",)}) == {9: ("nine",)}
    assert _from_the_end(Damaged(), "SELECT", {}) == {}  # type: ignore[arg-type]


def in_memory(journal: Iterable[int] = (), snapshots: Iterable[int] = ()) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for each in CREATIONS:
        connection.execute(each)
    write_journal(connection, journal)
    write_snapshots(connection, snapshots)
    return connection


class Torn:
    """A database of which some rows of the journal lie on a page that cannot be read."""

    def __init__(self, whole: sqlite3.Connection, unreadable: Iterable[int]) -> None:
        self._whole, self._unreadable = whole, {*unreadable}

    def execute(self, query: str) -> Iterator[tuple[Any, ...]]:
        for row in self._whole.execute(query):
            if " journal " in query and row[0] in self._unreadable:
                raise sqlite3.DatabaseError("database disk image is malformed")
            yield row


def column(connection: sqlite3.Connection, query: str) -> list[Any]:
    return [value for (value,) in connection.execute(query)]


@dataclass(frozen=True)
class Carried:
    """A damaged database and a backup: what of them can be replayed.

    `unreadable` are rows of the journal on a broken page; `backup` is how far the backup goes.
    """

    of: str
    journal: Iterable[int]
    snapshots: Iterable[int]
    kept: Iterable[int]
    kept_snapshots: list[int]
    last: int
    unreadable: Iterable[int] = ()
    backup: int = 0
    before: int | None = None
    spoiled: list[int] = field(default_factory=list[int])


CARRIED = [
    Carried("all is whole", range(1, 6), [0, 3], range(1, 6), [0, 3], 5, backup=2),
    Carried("nothing has happened yet", [], [0], [], [0], 0),
    Carried("a gap in the middle", range(1, 10), [0], range(1, 4), [0], 9, unreadable=[4, 5]),
    Carried(
        "the backup fills the gap", range(1, 10), [0], range(1, 10), [0], 9,
        unreadable=[4, 5], backup=5,
    ),
    Carried(
        "the backup ends in the gap", range(1, 10), [0], range(1, 5), [0], 9,
        unreadable=[4, 5], backup=4,
    ),
    Carried(
        "a snapshot right before what follows the gap", range(1, 10), [0, 5],
        [1, 2, 3, 6, 7, 8, 9], [5], 9, unreadable=[4, 5],
    ),
    Carried(
        "a snapshot inside the gap", range(1, 10), [0, 4], range(1, 4), [0], 9, unreadable=[4, 5],
    ),
    Carried(
        "two gaps", range(1, 12), [0], range(1, 3), [0], 11, unreadable=[3, 9], backup=2,
    ),
    Carried("the tape's rows were pruned", [1, 5, 6, 7], [4, 6], [1, 5, 6, 7], [4, 6], 7),
    Carried("a snapshot at the last row", range(1, 5), [4], range(1, 5), [4], 4),
    Carried("a snapshot beyond the journal", range(1, 6), [0, 7], range(1, 6), [0], 7),
    Carried("no snapshot to begin from", range(1, 6), [], [], [], 5),
    Carried("more snapshots than are kept", range(1, 6), [0, 1, 3], range(1, 6), [1, 3], 5),
    Carried("a row without sense", range(1, 10), [0, 3, 6], range(1, 4), [0, 3], 9, before=4),
    Carried("no row makes sense", range(1, 6), [0, 3], [], [0], 5, before=1),
    Carried("a snapshot of the row without sense", range(1, 6), [0, 1], [], [0], 5, before=1),
    Carried("no snapshot that can be read", range(1, 6), [3], [], [], 5, spoiled=[3]),
    Carried("a row without sense at a snapshot", range(1, 10), [0, 3], [1, 2], [0], 9, before=3),
    Carried(
        "a snapshot that cannot be read", range(1, 6), [0, 3], range(1, 6), [0], 5, spoiled=[3]
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CARRIED, ids=[case.of for case in CARRIED])
def test_the_longest_beginning_that_can_be_replayed_is_carried_over(case: Carried) -> None:
    whole = in_memory(case.journal, case.snapshots)
    for seq in case.spoiled:
        whole.execute("UPDATE snapshots SET body = x'00' WHERE seq = ?", (seq,))
    source: Any = Torn(whole, case.unreadable)
    target = in_memory(range(1, case.backup + 1))

    _, last = _carry_over(source, target, case.before)

    assert last == case.last
    assert column(target, "SELECT seq FROM journal ORDER BY seq") == [*case.kept]
    assert column(target, "SELECT seq FROM snapshots ORDER BY seq") == case.kept_snapshots
    assert not target.in_transaction


def test_every_readable_table_replaces_that_of_the_backup() -> None:
    source, target = in_memory([1, 2], [0]), in_memory([1], [0])
    write_preference(source, "theme", "dark")
    write_preference(target, "theme", "light")
    write_preference(target, "dropped since", "x")
    # Lots are read again from the journal, and the use is that of the copy.
    for connection, value in ((source, 9), (target, 5)):
        connection.execute("INSERT INTO entriesread VALUES (1, ?)", (value,))
        lot = "(1, 't', 'a', 'sim', 's', 'm', 'YES', 1, 1, 1, 1, 0, NULL)"
        connection.execute(f"INSERT INTO entries VALUES {lot}")  # noqa: S608 - a row of ours
        connection.execute("INSERT INTO endedfilled VALUES (1, ?)", (value,))
        connection.execute("INSERT INTO use VALUES (1, ?)", (value,))

    carried, _ = _carry_over(source, target, None)

    # Two rows of the journal, a snapshot and a preference.
    assert carried == 4
    preferences = target.execute("SELECT key, value FROM preferences").fetchall()
    assert preferences == [("theme", "dark")]
    assert column(target, "SELECT seq FROM entriesread") == []
    assert column(target, "SELECT seq FROM entries") == []
    assert column(target, "SELECT seq FROM endedfilled") == [5]
    assert column(target, "SELECT closed_at FROM use") == [5]


def test_rows_that_can_be_read_replace_those_of_the_backup_and_the_others_stay() -> None:
    target = in_memory()
    for key in ("first", "lost"):
        write_preference(target, key, "old")

    class Broken:
        """A table whose rows can be read up to a page in its middle."""

        def execute(self, query: str) -> Iterator[tuple[object, ...]]:
            last = query.endswith("DESC")
            yield (9, "last", "new") if last else (1, "first", "new")
            raise sqlite3.DatabaseError("database disk image is malformed")

    assert _copy_rows(cast("Any", Broken()), target, "preferences") == 2

    rows = target.execute("SELECT key, value FROM preferences ORDER BY key").fetchall()
    assert rows == [("first", "new"), ("last", "new"), ("lost", "old")]


def test_a_row_that_breaks_a_rule_of_its_table_is_left_out() -> None:
    source, target = in_memory(), in_memory()
    source.execute("DROP TABLE preferences")
    source.execute("CREATE TABLE preferences (key, value)")
    for key, value in (("first", "x"), ("broken", None), ("last", "y")):
        source.execute("INSERT INTO preferences VALUES (?, ?)", (key, value))

    _copy_rows(source, target, "preferences")

    assert column(target, "SELECT key FROM preferences ORDER BY rowid") == ["first", "last"]


def files_of(path: Path, to: Path) -> Path:
    """What a killed program leaves: its files as they are while it has them open."""
    for suffix in ("", *COMPANIONS):
        file = path.with_name(path.name + suffix)
        if file.exists():
            shutil.copyfile(file, to.with_name(to.name + suffix))
    return to


def test_frames_of_a_log_are_put_where_sqlite_would_move_them(tmp_path: Path) -> None:
    path = small_database(tmp_path / "source", 3)
    moved, mine = tmp_path / "moved", tmp_path / "mine"
    with closing(connect_to_write(path, with_wal=True, timeout_s=1)) as writing:
        writing.execute("PRAGMA synchronous=OFF")
        # A page at the end is freed in the log: the file is shorter after it.
        write_preference(writing, "large", "x" * 20_000)
        writing.execute("PRAGMA wal_checkpoint(FULL)")
        writing.execute("DELETE FROM preferences")
        write_journal(writing, [4, 5])
        writing.execute("VACUUM")
        killed = files_of(path, tmp_path / "killed")
    files_of(killed, moved)

    _put_together(killed, mine, look(killed).frames)

    with closing(sqlite3.connect(moved)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    assert len(mine.read_bytes()) < len(killed.read_bytes())
    assert seqs_in(mine) == [1, 2, 3, 4, 5]
    # Where the changes are counted the two differ, as SQLite writes once more to end the log.
    assert mine.read_bytes()[100:] == moved.read_bytes()[100:]
    # The sizes, and that the file needs no log.
    assert mine.read_bytes()[16:24] == moved.read_bytes()[16:24]
    assert not log_of(mine).exists()
    # Nobody else reads it, not even before it has its name.
    assert mine.stat().st_mode & 0o777 == 0o600


def test_what_is_no_database_is_put_together_as_it_is(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_bytes(b"no database, although it is longer than a header")
    _put_together(odd, tmp_path / "copy", 3)
    assert (tmp_path / "copy").read_bytes() == odd.read_bytes()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A database of five rows under the name that a damaged one has."""
    return small_database(tmp_path / "desk.sqlite3.corrupt", 5, snapshots=[0, 2])


def backup(kept: Path, rows: int, name: str = "desk-2027-01-15.sqlite3") -> Path:
    return small_database(kept.parent / FOLDER / name, rows)


def names_in(kept: Path) -> list[str]:
    return sorted(path.name for path in (kept.parent / FOLDER).iterdir())


def test_a_database_that_is_whole_after_all_is_left_as_it_is(kept: Path) -> None:
    before = kept.read_bytes()
    rest = left_of(kept, before=None, now=AT)
    assert rest is not None
    assert names_in(kept) == [rest.path.name] == ["desk-left-20270115T080000Z.sqlite3"]
    assert rest.missing == "what came after row 5 of the journal"
    assert rest.reach.startswith("up to row 5 of the journal, 2027-01-1")
    assert rest.path.stat().st_mode & 0o777 == 0o600
    assert seqs_in(rest.path) == [1, 2, 3, 4, 5]
    assert kept.read_bytes() == before


@pytest.mark.parametrize(("rows", "name"), [(5, "desk-left"), (6, None)])
def test_what_is_left_counts_unless_a_backup_goes_further(
    kept: Path, rows: int, name: str | None
) -> None:
    backup(kept, rows)
    rest = left_of(kept, before=None, now=AT)
    assert (rest and rest.path.name[:9]) == name
    assert len(names_in(kept)) == 1 + (rest is not None)


def test_rows_before_one_without_sense_are_recovered(kept: Path) -> None:
    backup(kept, 2)
    rest = left_of(kept, before=4, now=AT)
    assert rest is not None
    assert rest.path.name == "desk-recovered-20270115T080000Z.sqlite3"
    assert rest.missing == "rows 4 to 5 of the journal"
    assert rest.reach.startswith("up to row 3 of the journal, ")
    assert seqs_in(rest.path) == [1, 2, 3]
    assert seqs_in(rest.path, "snapshots") == [0, 2]
    assert len(names_in(kept)) == 2


def test_without_a_backup_rows_are_recovered_into_an_empty_database(kept: Path) -> None:
    rest = left_of(kept, before=3, now=AT)
    assert rest is not None
    assert seqs_in(rest.path) == [1, 2]
    assert rest.missing == "rows 3 to 5 of the journal"


def test_the_world_before_its_first_row_is_recovered_too(kept: Path) -> None:
    rest = left_of(kept, before=1, now=AT)
    assert rest is not None
    assert rest.reach.startswith("up to row 0 of the journal, ")
    assert rest.missing == "rows 1 to 5 of the journal"
    assert (seqs_in(rest.path), seqs_in(rest.path, "snapshots")) == ([], [0])


@pytest.mark.parametrize("before", [None, 4])
def test_without_room_for_a_copy_nothing_is_left(
    kept: Path, monkeypatch: pytest.MonkeyPatch, before: int | None
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(salvage, "copy_whole", full)
    assert left_of(kept, before=before, now=AT) is None
    assert names_in(kept) == []


@pytest.mark.parametrize(("rows", "is_more"), [(3, True), (4, False)])
def test_what_is_recovered_is_no_less_than_the_backup(
    kept: Path, rows: int, *, is_more: bool
) -> None:
    backup(kept, rows)
    assert (left_of(kept, before=4, now=AT) is not None) is is_more


def test_a_journal_of_which_nothing_can_be_replayed_is_no_rest(tmp_path: Path) -> None:
    kept = small_database(tmp_path / "kept", 3, snapshots=[])
    with closing(sqlite3.connect(kept)) as connection, connection:
        write_preference(connection, "theme", "dark")
    assert left_of(kept, before=None, now=AT) is None
    assert names_in(kept) == []


def test_settings_alone_are_a_rest_where_no_journal_was(tmp_path: Path) -> None:
    kept = small_database(tmp_path / "kept", 0, snapshots=[])
    with closing(sqlite3.connect(kept)) as connection, connection:
        write_preference(connection, "theme", "dark")
    rest = left_of(kept, before=None, now=AT)
    assert rest is not None
    assert (rest.reach, rest.missing) == ("no row in its journal", "what was written since")


def test_an_empty_database_is_nothing_to_recover(tmp_path: Path) -> None:
    kept = small_database(tmp_path / "kept", 0, snapshots=[])
    assert left_of(kept, before=1, now=AT) is None


def test_rows_of_another_version_are_not_mixed_with_ours(kept: Path) -> None:
    with closing(sqlite3.connect(kept)) as connection:
        connection.execute(f"PRAGMA user_version={SCHEMA.version - 1}")
    assert left_of(kept, before=4, now=AT) is None
    assert names_in(kept) == []


def test_where_the_file_is_gone_or_no_folder_can_be_made_nothing_is_left(kept: Path) -> None:
    assert left_of(kept.with_name("gone"), before=None, now=AT) is None
    (kept.parent / FOLDER).rmdir()
    (kept.parent / FOLDER).write_text("in the way")
    assert left_of(kept, before=None, now=AT) is None


def killed_with_a_log(tmp_path: Path, *, is_moved: bool) -> Path:
    """Five rows, of which two are in the log, and in the database too where they were moved."""
    path = small_database(tmp_path / "source", 3)
    with closing(connect_to_write(path, with_wal=True, timeout_s=1)) as writing:
        writing.execute("PRAGMA synchronous=OFF")
        for seq in (4, 5):
            write_journal(writing, [seq])
        if is_moved:
            writing.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return files_of(path, tmp_path / "killed")


@pytest.mark.parametrize(("is_moved", "seq"), [(True, 5), (False, 4)])
def test_a_cut_log_sets_nothing_back_that_the_database_has(
    tmp_path: Path, seq: int, *, is_moved: bool
) -> None:
    killed = killed_with_a_log(tmp_path, is_moved=is_moved)
    log = log_of(killed)
    log.write_bytes(log.read_bytes()[:-1])
    rest = left_of(killed, before=None, now=AT)
    assert rest is not None
    assert seqs_in(rest.path) == [*range(1, seq + 1)]
    assert rest.missing == f"what came after row {seq} of the journal"


def test_rows_are_recovered_from_the_database_where_it_is_ahead_of_its_log(tmp_path: Path) -> None:
    killed = killed_with_a_log(tmp_path, is_moved=True)
    log = log_of(killed)
    log.write_bytes(log.read_bytes()[:-1])
    rest = left_of(killed, before=6, now=AT)
    assert rest is not None
    assert seqs_in(rest.path) == [1, 2, 3, 4, 5]
    assert rest.missing == "what came after row 5 of the journal"


def test_rows_before_one_without_sense_are_looked_for_in_the_log_too(tmp_path: Path) -> None:
    killed = killed_with_a_log(tmp_path, is_moved=False)
    rest = left_of(killed, before=5, now=AT)
    assert rest is not None
    assert seqs_in(rest.path) == [1, 2, 3, 4]


def test_the_newest_whole_backup_is_the_good_one(tmp_path: Path, kept: Path) -> None:
    old = backup(kept, 2, "desk-2027-01-14.sqlite3")
    newer = backup(kept, 3, "desk-2027-01-13.sqlite3")
    newest = old.with_name("desk-kept-1.sqlite3")
    newest.write_bytes(b"damaged")
    # Every page is whole, but no snapshot is there to begin from.
    second = small_database(old.with_name("desk-kept-2.sqlite3"), 4, snapshots=[])
    for age, path in enumerate((newest, second, newer, old)):
        _aged(path, age)
    good = newest_good(tmp_path)
    assert good == Copy(newer, 3, AT + 3)


def _aged(path: Path, age: int) -> None:
    os.utime(path, (AT - age, AT - age))


def test_an_index_that_lacks_a_row_is_damage(tmp_path: Path) -> None:
    path = small_database(tmp_path / "desk", 3)
    index = "type = 'index' AND name = 'journal_by_agent'"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema=ON")
        rows = connection.execute(f"SELECT * FROM sqlite_schema WHERE {index}").fetchall()  # noqa: S608 - a name of ours
        connection.execute(f"DELETE FROM sqlite_schema WHERE {index}")  # noqa: S608 - a name of ours
    # Another connection does not know the index, and writes a row without it.
    with closing(sqlite3.connect(path)) as connection, connection:
        write_journal(connection, [4])
        connection.execute("PRAGMA writable_schema=ON")
        connection.executemany("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", rows)
    check_pages(path, timeout_s=1)
    with pytest.raises(DamageFound, match="journal_by_agent"):
        examined(path)


@pytest.mark.parametrize("at", [1e30, 1e12, -1e12, float("nan"), float("inf")])
def test_a_time_that_no_calendar_has_is_left_out_of_a_reach(at: float) -> None:
    assert Copy(Path("x"), 7, at).reach == "up to row 7 of the journal"

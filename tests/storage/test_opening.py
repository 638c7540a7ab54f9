"""Opening a database: new, old, newer and damaged ones."""

import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from kit.service.small import seqs_in, small_database
from service_tui.storage import opening
from service_tui.storage.db.backups import back_up_daily
from service_tui.storage.db.connection import DATABASE_FILE, connect_to_write
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.db.schema import SCHEMA, Schema
from service_tui.storage.errors import (
    CorruptDatabaseError,
    LockUnavailableError,
    LostLogError,
    NewerSchemaError,
    StorageBusyError,
    StorageError,
    UnreadableDirectoryError,
    storage_error,
)
from service_tui.storage.opening import (
    _damage_moved_aside,
    look_at,
    open_database,
    open_for_reading,
)
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.storage.recovery.restoring import begin_anew

NOW = 1_800_000_000.0
STAMP = "20270115T080000Z"

Limit = Callable[[int], AbstractContextManager[None]]

NEXT = Schema(
    SCHEMA.version + 1,
    {SCHEMA.version: ("ALTER TABLE cache ADD COLUMN note TEXT", "DELETE FROM preferences")},
)

MIGRATE_SLOWLY = """
import sys
from pathlib import Path
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.opening import open_database
from service_tui.storage.recovery.restoring import begin_anew
from service_tui.storage.db.schema import SCHEMA, Schema
directory = Path(sys.argv[1])
lock = DataDirLock.acquire(directory, pid=1, now=0.0)
rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000000) "
steps = {SCHEMA.version: ("DELETE FROM preferences", "INSERT INTO once SELECT i, i FROM (" + rows +
             "SELECT i FROM n)")}
print("begun", flush=True)
open_database(directory, now=0.0, lock=lock, schema=Schema(SCHEMA.version + 1, steps))
"""


def fill(directory: Path, *, rows: int = 400) -> None:
    """A database in order, with something in it."""
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    database = open_database(directory, now=NOW, lock=lock)
    put(database, rows=rows)
    database.close(NOW)
    lock.release()


def put(database: Database, *, rows: int) -> None:
    def work(connection: sqlite3.Connection) -> None:
        records = [(f"key-{number}", "x" * 500) for number in range(rows)]
        connection.executemany("INSERT INTO preferences VALUES (?, ?)", records)

    database.submit(work).result(10)


def left_open(directory: Path, source: Path) -> Path:
    """A copy of a directory as a killed process would leave it: in use, its log beside it."""
    lock = DataDirLock.acquire(source, pid=1, now=NOW)
    database = open_database(source, now=NOW, lock=lock)
    put(database, rows=400)
    directory.mkdir(mode=0o700)
    for name in (DATABASE_FILE, f"{DATABASE_FILE}-wal"):
        shutil.copy2(source / name, directory / name)
    database.close(NOW)
    lock.release()
    return directory / DATABASE_FILE


def open_here(directory: Path, schema: Schema = SCHEMA) -> Database:
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    try:
        database = open_database(directory, now=NOW, lock=lock, timeout_s=0.02, schema=schema)
    finally:
        lock.release()
    return database


def begin_here_anew(directory: Path) -> None:
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    begin_anew(lock, now=NOW)
    lock.release()


def count(path: Path, table: str = "preferences") -> int:
    with closing(sqlite3.connect(path)) as connection:
        query = f"SELECT count(*) FROM {table}"  # noqa: S608 - a name of ours
        (number,) = connection.execute(query).fetchone()
        return int(number)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_database_is_for_us_alone(database: Database) -> None:
    put(database, rows=1)
    for suffix in ("", "-wal", "-shm"):
        assert mode(database.path.with_name(database.path.name + suffix)) == 0o600
    journal_mode = database.submit(lambda c: c.execute("PRAGMA journal_mode").fetchone())
    synchronous = database.submit(lambda c: c.execute("PRAGMA synchronous").fetchone())
    assert journal_mode.result(10) == ("wal",)
    assert synchronous.result(10) == (2,)


def test_without_the_lock_there_is_no_write_ahead_log(directory: Path) -> None:
    fill(directory)
    database = open_database(directory, now=NOW, lock=None)
    put(database, rows=0)
    journal_mode = database.submit(lambda c: c.execute("PRAGMA journal_mode").fetchone())
    assert journal_mode.result(10) == ("delete",)
    assert not database.path.with_name(f"{DATABASE_FILE}-wal").exists()
    database.close(NOW)


def test_without_the_lock_nobody_joins_its_holder(database: Database) -> None:
    with pytest.raises(StorageBusyError):
        open_database(database.path.parent, now=NOW, lock=None, timeout_s=0.02)


def test_a_lock_must_be_held_and_be_of_this_directory(directory: Path, tmp_path: Path) -> None:
    lock = DataDirLock.acquire(tmp_path / "other", pid=1, now=NOW)
    with pytest.raises(LockUnavailableError):
        open_database(directory, now=NOW, lock=lock)
    lock.release()
    with pytest.raises(LockUnavailableError):
        open_database(tmp_path / "other", now=NOW, lock=lock)


def test_an_open_database_can_be_read_beside_its_holder(database: Database) -> None:
    put(database, rows=3)
    reading = open_for_reading(database.path.parent)
    assert reading.rows("SELECT count(*) FROM preferences", {}) == [(3,)]
    with pytest.raises(StorageError, match="reading only"):
        reading.submit(lambda _: None)
    assert reading.failure is None
    reading.close(NOW)
    put_again = database.submit(lambda c: c.execute("DELETE FROM preferences").rowcount)
    assert put_again.result(10) == 3


def test_reading_only_never_makes_or_moves_a_file(directory: Path) -> None:
    with pytest.raises(StorageError):
        open_for_reading(directory)
    (directory / DATABASE_FILE).write_bytes(b"no database at all")
    with pytest.raises(StorageError, match="damaged"):
        open_for_reading(directory)
    assert (directory / DATABASE_FILE).read_bytes() == b"no database at all"


def test_a_newer_schema_is_left_alone(directory: Path) -> None:
    fill(directory)
    path = directory / DATABASE_FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version={SCHEMA.version + 1}")
    before = path.read_bytes()
    for attempt in (open_here, open_for_reading):
        with pytest.raises(
            NewerSchemaError,
            match=f"schema {SCHEMA.version + 1} and this program knows {SCHEMA.version}",
        ) as refused:
            attempt(directory)
        assert (refused.value.found, refused.value.known) == (SCHEMA.version + 1, SCHEMA.version)
    assert path.read_bytes() == before


def test_an_older_schema_is_copied_and_led_to_the_new_one(directory: Path) -> None:
    fill(directory, rows=5)
    with pytest.raises(StorageError, match="older schema"):
        open_for_reading(directory, schema=NEXT)
    database = open_here(directory, NEXT)
    added = database.submit(lambda c: c.execute("SELECT note FROM cache").fetchall())
    assert added.result(10) == []
    database.close(NOW)
    assert count(directory / DATABASE_FILE) == 0
    copy = directory / "backups" / f"desk-schema-{SCHEMA.version}-{STAMP}.sqlite3"
    assert count(copy) == 5
    open_here(directory, NEXT).close(NOW)
    assert [copy] == list((directory / "backups").iterdir())


TO_VERSION_1 = """
DROP INDEX journal_of_the_tape;
CREATE INDEX journal_of_the_crowd ON journal (seq) WHERE agent_id IS NULL AND kind = 'crowd';
DROP INDEX journal_of_people;
DROP TABLE people;
DROP TABLE invitations;
DROP TABLE pricealerts;
DROP TABLE reactorsignals;
DROP TABLE reactorwallets;
DROP TABLE chainruns;
DROP TABLE kepttokens;
DROP TABLE entries;
DROP TABLE entriesread;
DROP TABLE endedmarkets;
DROP TABLE endedfilled;
DROP INDEX journal_by_kind;
DROP INDEX journal_by_venue;
ALTER TABLE journal DROP COLUMN venue;
PRAGMA user_version=1;
"""


def shape(path: Path) -> set[tuple[str, str, str]]:
    """Every table and index, with what made it, however it is laid out."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema")
        return {(kind, name, " ".join(sql.split())) for kind, name, sql in rows}


def test_version_1_becomes_what_a_new_database_is(directory: Path, tmp_path: Path) -> None:
    fill(directory, rows=5)
    fill(tmp_path / "new")
    path = directory / DATABASE_FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_VERSION_1)
    assert shape(path) != shape(tmp_path / "new" / DATABASE_FILE)
    open_here(directory).close(NOW)
    assert shape(path) == shape(tmp_path / "new" / DATABASE_FILE)
    assert count(path) == 5
    assert count(directory / "backups" / f"desk-schema-1-{STAMP}.sqlite3") == 5


TO_VERSION_12 = """
DROP TABLE pricealerts;
CREATE TABLE pricealerts (
alert_id TEXT NOT NULL, market_id TEXT NOT NULL, question TEXT NOT NULL,
side TEXT NOT NULL, condition TEXT NOT NULL, threshold REAL NOT NULL,
created_at REAL NOT NULL, armed INTEGER NOT NULL, triggered_at REAL,
triggered_price REAL, PRIMARY KEY (alert_id) ) STRICT;
INSERT INTO pricealerts VALUES ('a', 'm', 'Rain?', 'yes', 'above', 0.6, 5.0, 1, NULL, NULL);
INSERT INTO pricealerts VALUES ('b', 'm', 'Rain?', 'no', 'below', 0.4, 4.0, 0, 6.0, 0.39);
PRAGMA user_version=12;
"""


def test_the_price_alerts_of_version_12_are_kept_by_the_console(directory: Path) -> None:
    fill(directory)
    with closing(sqlite3.connect(directory / DATABASE_FILE)) as connection:
        connection.executescript(TO_VERSION_12)
    database = open_here(directory)
    rows = PriceAlerts(database).all()
    database.close(NOW)
    assert [(one["alert_id"], one["armed"], one["triggered_price"]) for one in rows] == [
        ("a", 1, None),
        ("b", 0, 0.39),
    ]
    assert {(one["service_id"], one["sent_at"], one["removed"]) for one in rows} == {("", None, 0)}


def test_a_database_of_a_version_below_any_is_kept_aside(directory: Path) -> None:
    fill(directory)
    with closing(sqlite3.connect(directory / DATABASE_FILE)) as connection:
        connection.execute("PRAGMA user_version=-5")
    with pytest.raises(CorruptDatabaseError, match="another program") as refused:
        open_here(directory)
    assert refused.value.kept_as.exists()


def test_a_migration_that_fails_leaves_the_old_schema_whole(directory: Path) -> None:
    fill(directory, rows=5)
    steps = ("DELETE FROM preferences", "ALTER TABLE nowhere ADD COLUMN a TEXT")
    broken = Schema(SCHEMA.version + 1, {SCHEMA.version: steps})
    with pytest.raises(StorageError, match="no such table: nowhere"):
        open_here(directory, broken)
    assert count(directory / DATABASE_FILE) == 5
    open_here(directory).close(NOW)


@pytest.mark.slow
@pytest.mark.process
def test_a_migration_that_is_killed_leaves_the_old_schema_whole(directory: Path) -> None:
    fill(directory, rows=5)
    with subprocess.Popen(
        [sys.executable, "-c", MIGRATE_SLOWLY, str(directory)], stdout=subprocess.PIPE, text=True
    ) as migrating:
        assert migrating.stdout is not None
        assert migrating.stdout.readline() == "begun\n"
        log = directory / f"{DATABASE_FILE}-wal"
        while not (log.exists() and log.stat().st_size > 1_000_000):
            assert migrating.poll() is None
        migrating.send_signal(signal.SIGKILL)
    database = open_here(directory)
    database.close(NOW)
    assert count(directory / DATABASE_FILE) == 5
    assert count(directory / DATABASE_FILE, "once") == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"not a database, but long enough to look like one" * 200, "is not a database"),
        (b"SQLite format 3\0" + b"\xff" * 5000, "damaged"),
        (b"SQLite format 3\0", "damaged"),
    ],
)
def test_what_is_no_database_is_kept_and_named(
    directory: Path, content: bytes, reason: str
) -> None:
    directory.mkdir(mode=0o700)
    (directory / DATABASE_FILE).write_bytes(content)
    with pytest.raises(CorruptDatabaseError, match=reason) as refused:
        open_here(directory)
    assert refused.value.kept_as.name == f"{DATABASE_FILE}.corrupt-{STAMP}"
    assert refused.value.kept_as.read_bytes() == content
    assert refused.value.backups == ()
    assert "there is no backup yet" in str(refused.value)
    with pytest.raises(CorruptDatabaseError, match=reason):
        open_here(directory)
    begin_here_anew(directory)
    open_here(directory).close(NOW)


@pytest.mark.slow
def test_a_truncated_database_is_kept_and_its_backup_offered(directory: Path) -> None:
    fill(directory)
    backup = back_up_daily(directory, now=NOW)
    assert backup is not None
    path = directory / DATABASE_FILE
    cut = path.read_bytes()[:50_000]
    path.write_bytes(cut)
    with pytest.raises(CorruptDatabaseError) as refused:
        open_here(directory)
    assert refused.value.kept_as.read_bytes() == cut
    assert refused.value.backups == (backup,)
    assert f"newest intact backup: {backup}" in str(refused.value)
    shutil.copy2(backup, path)
    open_here(directory).close(NOW)
    assert count(path) == 400


def test_nothing_that_was_kept_is_overwritten(directory: Path) -> None:
    kept: set[Path] = set()
    for content in (b"first", b"second", b"third"):
        directory.mkdir(mode=0o700, exist_ok=True)
        (directory / DATABASE_FILE).write_bytes(content)
        with pytest.raises(CorruptDatabaseError) as refused:
            open_here(directory)
        kept.add(refused.value.kept_as)
    assert {path.read_bytes() for path in kept} == {b"first", b"second", b"third"}


def test_the_log_moves_with_a_damaged_database(directory: Path, tmp_path: Path) -> None:
    path = left_open(directory, tmp_path / "source")
    log = path.with_name(f"{path.name}-wal").read_bytes()
    path.write_bytes(b"overwritten")
    with pytest.raises(CorruptDatabaseError) as refused:
        open_here(directory)
    kept = refused.value.kept_as
    assert kept.read_bytes() == b"overwritten"
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == log
    assert not path.with_name(f"{path.name}-wal").exists()


def test_a_log_without_its_database_is_kept(directory: Path, tmp_path: Path) -> None:
    path = left_open(directory, tmp_path / "source")
    log = path.with_name(f"{path.name}-wal").read_bytes()
    path.unlink()
    with pytest.raises(CorruptDatabaseError, match="its log is still here") as refused:
        open_here(directory)
    kept = refused.value.kept_as
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == log
    begin_here_anew(directory)
    open_here(directory).close(NOW)
    assert count(path) == 0


def test_a_log_cut_in_the_middle_gives_what_was_whole(directory: Path, tmp_path: Path) -> None:
    path = left_open(directory, tmp_path / "source")
    log = path.with_name(f"{path.name}-wal")
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    open_here(directory).close(NOW)
    # The one large transaction is not whole, so that none of it is there.
    assert count(path) == 0


@pytest.mark.slow
def test_after_an_end_in_disorder_every_page_is_looked_at(directory: Path) -> None:
    fill(directory)
    path = directory / DATABASE_FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE use SET closed_at = NULL")
        connection.commit()
    content = bytearray(path.read_bytes())
    content[100_000:104_096] = b"\x0d" * 4096
    path.write_bytes(content)
    with pytest.raises(CorruptDatabaseError) as refused:
        open_here(directory)
    assert refused.value.kept_as.read_bytes() == bytes(content)


@pytest.mark.parametrize("seed", range(25))
def test_no_damage_escapes_in_another_shape(directory: Path, seed: int) -> None:
    rng = random.Random(seed)
    fill(directory, rows=60)
    path = directory / DATABASE_FILE
    content = bytearray(path.read_bytes())
    for _ in range(rng.randrange(1, 40)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    if seed % 2:
        del content[rng.randrange(len(content)) :]
    path.write_bytes(content)
    untouched = path
    try:
        open_here(directory).close(NOW)
    except CorruptDatabaseError as error:
        untouched = error.kept_as
    except NewerSchemaError:
        pass
    else:
        return
    assert untouched.read_bytes() == bytes(content)


def test_a_database_of_another_program_is_not_written(directory: Path) -> None:
    directory.mkdir(mode=0o700)
    path = directory / DATABASE_FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(CorruptDatabaseError, match="another program") as refused:
        open_here(directory)
    assert refused.value.kept_as.read_bytes() == before


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_files_that_others_may_write_are_refused(directory: Path, suffix: str) -> None:
    fill(directory)
    file = directory / f"{DATABASE_FILE}{suffix}"
    file.touch()
    file.chmod(0o620)
    with pytest.raises(UnreadableDirectoryError, match="others may write"):
        open_here(directory)
    file.chmod(0o600)
    open_here(directory).close(NOW)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_database_of_another_user_is_refused(directory: Path) -> None:
    fill(directory)
    os.chown(directory / DATABASE_FILE, 65534, 65534)
    with pytest.raises(UnreadableDirectoryError, match="another user"):
        open_here(directory)


def test_a_database_that_could_not_be_finished_is_begun_again(directory: Path) -> None:
    directory.mkdir(mode=0o700)
    (directory / f"{DATABASE_FILE}.new").write_bytes(b"left by a killed process")
    open_here(directory).close(NOW)
    assert sorted(path.name for path in directory.iterdir()) == ["desk.lock", DATABASE_FILE]


def test_a_rollback_left_by_a_killed_program_is_finished(directory: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    database = open_database(source, now=NOW, lock=None)
    put(database, rows=400)
    directory.mkdir(mode=0o700)

    def leave_half(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA cache_size=1")
        connection.execute("DELETE FROM preferences")
        for name in (DATABASE_FILE, f"{DATABASE_FILE}-journal"):
            shutil.copy2(source / name, directory / name)

    database.submit(leave_half).result(10)
    database.close(NOW)
    open_here(directory).close(NOW)
    assert count(directory / DATABASE_FILE) == 400


def test_a_full_disk_at_the_first_start_leaves_no_half_database(
    directory: Path, file_size_limit: Limit
) -> None:
    with file_size_limit(10_000), pytest.raises(StorageError, match="nothing was written"):
        open_here(directory)
    assert not (directory / DATABASE_FILE).exists()
    open_here(directory).close(NOW)


@pytest.mark.parametrize("with_lock", [True, False])
def test_a_lost_log_is_told_once_and_what_is_left_is_copied(
    directory: Path, *, with_lock: bool
) -> None:
    path = small_database(directory / DATABASE_FILE, 3)
    with closing(connect_to_write(path, with_wal=True, timeout_s=0)) as killed:
        killed.execute("INSERT INTO use VALUES (1, NULL)")
    lock = DataDirLock.acquire(directory, pid=1, now=NOW) if with_lock else None
    with pytest.raises(LostLogError, match="may be missing") as lost:
        open_database(directory, now=NOW, lock=lock, timeout_s=0)
    assert lost.value.copy.name == f"desk-without-log-{STAMP}.sqlite3"
    assert seqs_in(lost.value.copy) == [1, 2, 3]
    # The copy itself is no older one.
    assert lost.value.backups == ()
    seen = look_at(directory, timeout_s=0)
    assert (seen.ended_in_order, seen.log_is_lost) == (True, False)
    open_database(directory, now=NOW, lock=lock, timeout_s=0).close(NOW)
    assert len([*lost.value.copy.parent.iterdir()]) == 1
    if lock is not None:
        lock.release()


@pytest.mark.parametrize(
    ("code", "is_damage"),
    [(sqlite3.SQLITE_CORRUPT, True), (sqlite3.SQLITE_NOTADB, True), (sqlite3.SQLITE_FULL, False)],
)
def test_damage_that_an_opening_meets_is_moved_aside_with_its_reason(
    directory: Path, code: int, *, is_damage: bool
) -> None:
    path = small_database(directory / DATABASE_FILE, 3)
    met = sqlite3.DatabaseError("page 7 is broken")
    met.sqlite_errorcode = code
    with pytest.raises(StorageError) as raised, _damage_moved_aside(path, now=NOW):
        raise storage_error(met) from met
    assert isinstance(raised.value, CorruptDatabaseError) is is_damage
    assert path.exists() is not is_damage
    if is_damage:
        assert f"{path} is damaged (page 7 is broken)" in str(raised.value)
        assert (directory / f"{DATABASE_FILE}.corrupt-{STAMP}").exists()


@pytest.mark.parametrize(
    ("with_lock", "ended_at", "is_checked"),
    [
        (True, NOW, False), (True, None, True), (True, 0.0, True), (False, NOW, True),
        (False, None, True),
    ],
)  # fmt: skip
def test_every_page_is_looked_at_unless_the_last_use_alone_ended_in_order(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    ended_at: float | None,
    *,
    with_lock: bool,
    is_checked: bool,
) -> None:
    path, checked = small_database(directory / DATABASE_FILE, 1), list[Path]()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO use VALUES (1, ?)", (ended_at,))
    monkeypatch.setattr(opening, "check_pages", lambda path, **_: checked.append(path))
    lock = DataDirLock.acquire(directory, pid=1, now=NOW) if with_lock else None
    open_database(directory, now=NOW, lock=lock, timeout_s=0).close(NOW)
    assert checked == ([path] if is_checked else [])
    if lock is not None:
        lock.release()


def test_a_log_that_its_holder_changes_now_is_not_checked(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_database(directory / DATABASE_FILE, 1)
    seen: list[object] = []
    monkeypatch.setattr(opening, "inspect", lambda _, **given: seen.append(given["is_in_use"]))
    look_at(directory, timeout_s=0)
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    look_at(directory, timeout_s=0)
    lock.release()
    assert seen == [False, True]

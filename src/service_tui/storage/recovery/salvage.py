"""Salvages whole copies from a damaged database; they are written beside the backups.

Changes nothing that it reads.
"""

import shutil
import sqlite3
import zlib
from collections.abc import Collection, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service_tui.storage.db.backups import FOLDER, backups_of, copy_whole, new_copy
from service_tui.storage.db.connection import connect_to_read, connect_to_write
from service_tui.storage.db.database import Database
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.inspection import DamageFound, check_pages, inspect
from service_tui.storage.db.lock import private_directory
from service_tui.storage.db.schema import SCHEMA, create
from service_tui.storage.db.statements import columns
from service_tui.storage.db.wal import frames_of, look, page_size_of
from service_tui.storage.errors import Rest, StorageError, as_storage_error
from service_tui.storage.journal import SNAPSHOTS_KEPT, JournalStore

_WAIT_S: Final = 5.0
_MODE_AT: Final = 18
_WITHOUT_LOG: Final = b"\x01\x01"
"""The two bytes of a file that needs no log. Source: sqlite.org/fileformat2.html, 1.3.3."""

_NOT_COPIED: Final = frozenset({"use", "entries", "entriesread", "endedfilled"})
"""The use is that of the copy; the rest is made again from the journal."""

_UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class Copy:
    """A whole database: its journal's last row, and when that was (None before the first)."""

    path: Path
    seq: int
    at: float | None

    @property
    def reach(self) -> str:
        """Text about how far it goes, in local time."""
        if self.at is None:
            return "no row in its journal"
        try:
            moment = datetime.fromtimestamp(self.at, tz=UTC).astimezone()
        except (OverflowError, OSError, ValueError):
            return f"up to row {self.seq} of the journal"
        return f"up to row {self.seq} of the journal, {moment:%Y-%m-%d %H:%M:%S}"


def examined(path: Path) -> Copy:
    """Check a database that no process writes: pages, indexes, schema and journal rows.

    Returns:
        How far it goes.

    Raises:
        DamageFound: it is damaged.
        StorageError: it is of a newer program, or its rows are not whole.
    """
    with as_storage_error():
        inspect(path, schema=SCHEMA, timeout_s=_WAIT_S)
        check_pages(path, timeout_s=_WAIT_S, thorough=True)
        database = Database(path, port=None, with_wal=False, timeout_s=_WAIT_S)
        try:
            JournalStore(database).check()
        finally:
            database.close(0.0)
        with closing(connect_to_read(path, timeout_s=_WAIT_S)) as connection:
            return Copy(path, *_end_of(connection))


def newest_good(directory: Path) -> Copy | None:
    """The newest backup that is whole, None where there is none."""
    return next((copy for path in backups_of(directory) if (copy := _whole(path))), None)


def left_of(kept: Path, *, before: int | None, now: float) -> Rest | None:
    """Make a whole copy of what is left of a damaged database, in the folder of its backups.

    Args:
        kept: the damaged file, with what belongs to it; nothing has it open.
        before: the first row of the journal that makes no sense, where that is the damage.
        now: seconds since 1970, for the copy's name.

    Returns:
        The copy, None where nothing but the backups is left, or no room for it.
    """
    folder = kept.parent / FOLDER
    try:
        private_directory(folder)
        draft = folder / ".left.part"
        try:
            return _best_of(kept, draft, before=before, now=now)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, StorageError, *_UNREADABLE):
        return None


def _best_of(kept: Path, draft: Path, *, before: int | None, now: float) -> Rest | None:
    seen = look(kept) if kept.exists() else None
    if seen is None:
        return None
    is_ahead = seen.index is not None and seen.frames < seen.index.backfilled
    base = newest_good(kept.parent)
    # Where the database is ahead of what is whole in the log, the log would set pages back.
    for count in dict.fromkeys((0,) if is_ahead else (seen.frames, 0)):
        _put_together(kept, draft, count)
        copy = None if before is not None else _whole(draft)
        if copy is not None and (base is None or base.seq <= copy.seq):
            return _kept(draft, new_copy(kept.parent, "left", now=now), copy, _behind(copy))
    _put_together(kept, draft, 0 if is_ahead else seen.frames)
    return _recovered(base, draft, before=before, now=now)


def _whole(path: Path) -> Copy | None:
    try:
        return examined(path)
    except (DamageFound, StorageError):
        return None


def _recovered(base: Copy | None, damaged: Path, *, before: int | None, now: float) -> Rest | None:
    """The newest good backup, and what the damaged file still holds."""
    folder = damaged.parent
    copy = folder / ".recovered.part"
    copy.unlink(missing_ok=True)
    try:
        if base is None:
            create(copy, version=SCHEMA.version)
        else:
            shutil.copyfile(base.path, copy)
            copy.chmod(0o600)
        with (
            closing(connect_to_read(damaged, timeout_s=_WAIT_S)) as source,
            closing(connect_to_write(copy, with_wal=False, timeout_s=_WAIT_S)) as target,
        ):
            if _version(source) != _version(target):
                return None
            carried, last = _carry_over(source, target, before)
        examined_copy = examined(copy)
        least = 0 if base is None else base.seq
        if examined_copy.at is None:
            # Nothing of the journal is left: that is whole only where there was no journal.
            least = last
        if not carried or examined_copy.seq < least:
            return None
        missing = _behind(examined_copy)
        if last > examined_copy.seq:
            missing = f"rows {examined_copy.seq + 1} to {last} of the journal"
        return _kept(copy, new_copy(folder.parent, "recovered", now=now), examined_copy, missing)
    except DamageFound:
        return None
    finally:
        copy.unlink(missing_ok=True)


def _behind(copy: Copy) -> str:
    return (
        f"what came after row {copy.seq} of the journal" if copy.seq else "what was written since"
    )


def _kept(draft: Path, final: Path, copy: Copy, missing: str) -> Rest:
    copy_whole(draft, final)
    return Rest(final, copy.reach, missing)


def _put_together(kept: Path, copy: Path, count: int) -> None:
    """The database with the first frames of its log in it, as SQLite would have moved them."""
    shutil.copyfile(kept, copy)
    copy.chmod(0o600)
    with copy.open("r+b") as file:
        size = page_size_of(file.read(_MODE_AT))
        if size is None:
            return
        pages = 0
        for frame in frames_of(kept, count):
            file.seek((frame.page - 1) * size)
            file.write(frame.content)
            pages = frame.pages or pages
        if pages:
            file.truncate(pages * size)
        file.seek(_MODE_AT)
        file.write(_WITHOUT_LOG)


def _carry_over(
    source: sqlite3.Connection, target: sqlite3.Connection, before: int | None
) -> tuple[int, int]:
    """Bring every readable row of one database into the other, then cut the journal to what fits.

    Returns:
        How many rows came, and the highest row of the journal that is known to have been.
    """
    target.execute("BEGIN IMMEDIATE")
    tables = [one for one in TABLES if one not in _NOT_COPIED]
    carried = sum(_copy_rows(source, target, table) for table in tables)
    last = max(_highest(target, "journal"), _highest(target, "snapshots"))
    bound = last + 1 if before is None else before
    target.execute("DELETE FROM journal WHERE seq >= ?", (bound,))
    target.execute("DELETE FROM snapshots WHERE seq >= ?", (bound,))
    _drop_unreadable_snapshots(target)
    _cut_to_what_is_whole(target)
    target.execute("DELETE FROM entries")
    target.execute("DELETE FROM entriesread")
    target.execute("COMMIT")
    return carried, last


def _copy_rows(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> int:
    """Copy readable rows of a table from both ends; the backup's rows fill the gap.

    Returns:
        How many rows that was.
    """
    names = columns(table)
    places = ", ".join("?" for _ in TABLES[table].columns)
    put = f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - names of ours
    select = f"SELECT rowid, {names} FROM {table} ORDER BY rowid"  # noqa: S608 - names of ours
    rows: dict[int, tuple[object, ...]] = {}
    try:
        rows.update((rowid, tuple(row)) for rowid, *row in source.execute(select))
        target.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of ours
    except _UNREADABLE:
        rows |= _from_the_end(source, f"{select} DESC", rows)
    for row in rows.values():
        # A row that breaks a rule of the table is one that was damaged.
        with suppress(sqlite3.IntegrityError):
            target.execute(put, row)
    return len(rows)


def _from_the_end(
    source: sqlite3.Connection, select: str, known: Collection[int]
) -> dict[int, tuple[object, ...]]:
    """Rows from the last one back, as far as they can be read or are known."""
    rows: dict[int, tuple[object, ...]] = {}
    with suppress(*_UNREADABLE):
        for rowid, *row in source.execute(select):
            if rowid in known:
                break
            rows[rowid] = tuple(row)
    return rows


def _drop_unreadable_snapshots(connection: sqlite3.Connection) -> None:
    for seq, body in connection.execute("SELECT seq, body FROM snapshots").fetchall():
        try:
            zlib.decompress(body)
        except zlib.error:
            connection.execute("DELETE FROM snapshots WHERE seq = ?", (seq,))


def _cut_to_what_is_whole(connection: sqlite3.Connection) -> None:
    """Keep the longest beginning that can be replayed: every row after the oldest snapshot."""
    while last := _highest(connection, "journal"):
        (start,) = connection.execute(
            "SELECT max(seq) FROM journal AS a "
            "WHERE NOT EXISTS (SELECT 1 FROM journal AS b WHERE b.seq = a.seq - 1)"
        ).fetchone()
        seqs = _seqs(connection.execute("SELECT seq FROM snapshots ORDER BY seq DESC"))
        fit = [seq for seq in seqs if start - 1 <= seq <= last][:SNAPSHOTS_KEPT]
        if fit:
            kept = ", ".join(map(str, fit))
            connection.execute(f"DELETE FROM snapshots WHERE seq NOT IN ({kept})")  # noqa: S608 - numbers
            return
        connection.execute("DELETE FROM journal WHERE seq >= ?", (start,))


def _seqs(rows: Iterable[tuple[int]]) -> list[int]:
    return [seq for (seq,) in rows]


def _highest(connection: sqlite3.Connection, table: str) -> int:
    (found,) = connection.execute(f"SELECT coalesce(max(seq), 0) FROM {table}").fetchone()  # noqa: S608 - a name of ours
    return int(found)


def _end_of(connection: sqlite3.Connection) -> tuple[int, float | None]:
    row = connection.execute("SELECT seq, at FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
    if row is None:
        row = connection.execute("SELECT 0, max(at) FROM snapshots").fetchone()
    return row[0], row[1]


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)

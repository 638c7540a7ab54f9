"""Moves a damaged database aside; nothing replaces it before the person has chosen."""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from service_tui.plain_files import read_plain
from service_tui.storage.db.backups import backups_of, first_free, stamp
from service_tui.storage.db.connection import COMPANIONS
from service_tui.storage.db.lock import open_private
from service_tui.storage.db.schema import sync_directory
from service_tui.storage.errors import CorruptDatabaseError, Had, Rest, StorageError
from service_tui.storage.recovery.salvage import left_of, newest_good

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_NOTE: Final = "damaged.json"
"""File beside the database: the damage, until a replacement was chosen."""


@dataclass(frozen=True, slots=True)
class _Noted:
    reason: str
    kept_as: str
    rest: tuple[str, str, str] | None = None
    backup: tuple[str, str, str] | None = None


@cache
def _reader() -> "TypeAdapter[_Noted]":
    # Few starts meet a damage, of which each would wait for this.
    from pydantic import TypeAdapter  # noqa: PLC0415

    return TypeAdapter(_Noted)


def set_aside(
    path: Path, *, reason: str, now: float, before: int | None = None
) -> CorruptDatabaseError:
    """Keep a damaged database under another name, and see what can be had of it.

    Args:
        path: the database; no process has it open.
        reason: what is wrong with it.
        now: seconds since 1970.
        before: the first row of the journal that makes no sense, where that is the damage.

    Returns:
        The error to raise: where it is, what can be had, and what is missing then.
    """
    kept_as = move_aside(path, f"corrupt-{stamp(now)}")
    # At once: if the program is killed during the salvage, the next start raises the question.
    _write(path, _Noted(reason, str(kept_as)))
    good = newest_good(path.parent)
    backup = None if good is None else (str(good.path), good.reach, "")
    rest = left_of(kept_as, before=before, now=now)
    rest_row = None if rest is None else (str(rest.path), rest.reach, rest.missing)
    noted = _Noted(reason, str(kept_as), rest_row, backup)
    _write(path, noted)
    return _error(path, noted)


def open_question(path: Path) -> CorruptDatabaseError | None:
    """Pending decision about damage; None without one.

    A database that stands there again, as after a copy by hand, is an answer too.

    Returns:
        What was found, as the error to raise; None where all is decided.
    """
    note = path.with_name(_NOTE)
    if path.exists():
        note.unlink(missing_ok=True)
        return None
    try:
        text = read_plain(note)
        return _error(path, _reader().validate_json(text))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return _error(path, _Noted("the note about it cannot be read", str(path.parent)))


def answer(path: Path) -> None:
    """Remove the pending decision."""
    path.with_name(_NOTE).unlink(missing_ok=True)


def keep_question(path: Path, *, reason: str, kept_as: Path) -> None:
    """Store a pending decision for a start at which the replacement is missing."""
    _write(path, _Noted(reason, str(kept_as)))


def move_aside(path: Path, ending: str) -> Path:
    """Rename a database and SQLite's files beside it to a free name.

    Returns:
        Where it is now.
    """
    kept_as = free_name(path, ending)
    # The database first: alone it would be taken for a whole one, its log alone never.
    for suffix in ("", *COMPANIONS):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(kept_as.with_name(kept_as.name + suffix))
    return kept_as


def free_name(path: Path, ending: str) -> Path:
    """A name beside the database that nothing has yet."""
    return first_free(lambda number: path.with_name(f"{path.name}.{ending}{number}"))


def _error(path: Path, noted: _Noted) -> CorruptDatabaseError:
    rest, backup = (_still_there(one) for one in (noted.rest, noted.backup))
    return CorruptDatabaseError(
        path,
        reason=noted.reason,
        kept_as=Path(noted.kept_as),
        backups=tuple(one for one in backups_of(path.parent) if rest is None or one != rest.path),
        had=Had(rest, backup),
    )


def _still_there(noted: tuple[str, str, str] | None) -> Rest | None:
    if noted is None or not Path(noted[0]).exists():
        return None
    return Rest(Path(noted[0]), *noted[1:])


def _write(path: Path, noted: _Noted) -> None:
    """Store the note; if that fails, the question is raised this once."""
    note = path.with_name(_NOTE)
    with suppress(OSError, StorageError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(open_private(note, flags), "w", encoding="utf-8") as file:
            json.dump(asdict(noted), file)
            file.flush()
            os.fsync(file.fileno())
        sync_directory(note.parent)

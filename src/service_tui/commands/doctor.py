"""Places, keys and files of a start, and their problems: read only.

It changes nothing.
"""

import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from service_tui.app.histories import day, folders_of, opened_file
from service_tui.app.options import Options
from service_tui.credentials.api_keys import ApiKeysError, profiles, stored_desk_keys
from service_tui.engine.tape.history import HistoryStart
from service_tui.records import read
from service_tui.settings import COMMAND_FILE, KEY_FILE
from service_tui.skills.guard import UNFENCED, fence_version
from service_tui.storage.cached_state import read_cache, read_preferences
from service_tui.storage.db.backups import backups_of
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.inspection import DamageFound, check_pages
from service_tui.storage.db.lock import holder_of, refuse_foreign_directory
from service_tui.storage.db.schema import SCHEMA
from service_tui.storage.errors import StorageError, lost_log
from service_tui.storage.journal import JournalStore, Snapshot
from service_tui.storage.opening import look_at, open_for_reading
from service_tui.storage.recovery.damage import open_question
from service_tui.terms import counted

PACKAGES: Final = ("textual", "httpx", "pydantic", "starlette", "uvicorn")
BUSY_S: Final = 1.0
"""How long a check of the database waits for another program."""


def findings(options: Options) -> tuple[list[str], bool]:
    """Lines for a person, and True if no problem was found."""
    problems: list[str] = []
    database = options.data_dir / DATABASE_FILE
    stored = _stored(options.data_dir)
    size = f"{database.stat().st_size / 1e6:.1f} MB" if database.exists() else "none yet"
    cache = read_cache(database)
    lines = [
        f"data       {options.data_dir}",
        f"world      {_world(options.data_dir, stored, problems)}",
        f"database   {size}, SQLite {sqlite3.sqlite_version}",
        f"stored     {len(cache)} responses, {len(read_preferences(database))} preferences",
        f"backups    {_backups(options.data_dir)}",
        f"log        {options.log_path}",
        f"profiles   {_profiles(options, problems)}",
        f"keys       {_own_keys(options, problems)}",
        f"commands   {_own_commands(options, problems)}",
        f"lock       {_lock(options)}",
        f"terminal   {os.environ.get('TERM', 'not set')}, {_output_type()}",
        f"fence      {_fence()}",
        *(f"{name:<10} {metadata.version(name)}" for name in PACKAGES),
    ]
    problems += _unwritable(options.data_dir) or _damages(options.data_dir, stored)
    lines += [f"PROBLEM    {problem}" for problem in problems] or ["no problems"]
    return lines, not problems


Stored = list[Snapshot] | StorageError
"""The snapshots of a world, newest first, or why no world can be built from its rows."""


def _stored(data_dir: Path) -> Stored:
    """What is written down, read and checked once; nothing where there is no database."""
    if not (data_dir / DATABASE_FILE).exists():
        return []
    try:
        database = open_for_reading(data_dir, timeout_s=BUSY_S)
        try:
            return JournalStore(database).readable()
        finally:
            database.close(0.0)
    except StorageError as error:
        return error


def _world(data_dir: Path, stored: Stored, problems: list[str]) -> str:
    """What the world of a directory runs on: an invented one by its seed, or a history."""
    if isinstance(stored, StorageError):
        return "cannot be read now"
    if not stored:
        return "none yet"
    fields = json.loads(stored[0].body)
    began = fields.get("history")
    if began is None:
        return f"invented, seed {fields['seed']}"
    start = read(HistoryStart, began)
    try:
        opened_file(start, folders_of(data_dir)).close()
    except StorageError as error:
        problems.append(str(error))
    return f"history {start.name} from {day(start.begins_at)}"


def _unwritable(data_dir: Path) -> list[str]:
    """Why a start could not write in its directory, or create it; leaves no file behind."""
    try:
        there = next((path for path in (data_dir, *data_dir.parents) if path.exists()), Path())
        if there == data_dir:
            refuse_foreign_directory(data_dir)
        # Only a write proves it: a mode does not reveal a file system that accepts no files.
        with tempfile.TemporaryDirectory(prefix=".service-tui-", dir=there):
            return []
    except StorageError as error:
        return [str(error)]
    except OSError as error:
        return [f"cannot write {data_dir} ({error.strerror}): give another --data-dir"]


def _backups(data_dir: Path) -> str:
    """How many copies there are, and the newest; 'verify' and 'restore' open them."""
    result = backups_of(data_dir)
    if not result:
        return "none yet; 'service-tui backup' makes one"
    return f"{len(result)}, newest {result[0]}; 'service-tui restore' lists them"


def _damages(data_dir: Path, stored: Stored) -> Iterator[str]:
    """Problems of the files that a start needs; a directory not made yet has none."""
    path = data_dir / DATABASE_FILE
    if not path.exists():
        question = open_question(path)
        if question is not None:
            yield f"{question}; 'service-tui restore' continues with a copy"
    else:
        try:
            damage = look_at(data_dir, timeout_s=BUSY_S)
            check_pages(path, timeout_s=BUSY_S)
            if damage.log_is_lost:
                yield lost_log(path)
            if damage.version == SCHEMA.version and isinstance(stored, StorageError):
                yield str(stored)
        except (StorageError, DamageFound, sqlite3.Error) as error:
            yield str(error)
    try:
        stored_desk_keys(data_dir)
    except ApiKeysError as error:
        yield str(error)


def _output_type() -> str:
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return "a terminal" if is_terminal else "no terminal"


def _fence() -> str:
    """Whether skills and experiments are kept from the files with keys on this machine."""
    version = fence_version()
    return f"Landlock {version}: skills cannot read keys" if version else f"none: {UNFENCED}"


def profile_problem(options: Options, name: str) -> str:
    """Why a stored profile cannot be used; empty if it can, or if another line reports it."""
    try:
        stored = profiles(options.config_dir)
    except ApiKeysError:
        return ""
    names = ", ".join(sorted(stored)) or "none"
    return "" if name in stored else f"no profile {name!r} (stored: {names})"


def _profiles(options: Options, problems: list[str]) -> str:
    try:
        return ", ".join(sorted(profiles(options.config_dir))) or "none"
    except ApiKeysError as error:
        problems.append(str(error))
        return "unreadable"


def _own_keys(options: Options, problems: list[str]) -> str:
    """How many actions have personal keys; a file with errors moves none."""
    path = options.config_dir / KEY_FILE
    if not path.exists():
        return "default"
    # The table of keys brings the whole framework of the console.
    from service_tui.console.key_file import read_own_keys  # noqa: PLC0415

    result = read_own_keys(path)
    problems += result.problems
    return f"{len(result.moved)} remapped in {KEY_FILE}" if result.moved else "default"


def _own_commands(options: Options, problems: list[str]) -> str:
    """How many commands of the person's own there are; a file with errors has none."""
    path = options.config_dir / COMMAND_FILE
    if not path.exists():
        return "none of your own"
    # They bring every command of the console, and its keys.
    from service_tui.console.key_file import read_own_keys  # noqa: PLC0415
    from service_tui.console.own_commands import read_own_commands  # noqa: PLC0415

    moved = read_own_keys(options.config_dir / KEY_FILE).moved
    result = read_own_commands(path, moved)
    problems += result.problems
    return f"{counted(len(result.commands), 'command')} in {COMMAND_FILE}"


def _lock(options: Options) -> str:
    """The owner of the data directory and its address; a dead process owns nothing."""
    try:
        holder = holder_of(options.data_dir)
    except StorageError as error:
        return str(error)
    if holder is None:
        return "free"
    return f"owned by {holder.describe()}" + (
        f", serving {holder.address}" if holder.address else ""
    )

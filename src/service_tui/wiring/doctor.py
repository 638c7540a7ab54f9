"""What is where, and what is wrong: read only.

Knows files, the cold cache and versions. Must not change anything.
Used by cli.
"""

import os
import sqlite3
import sys
from importlib import metadata
from typing import Final

from service_tui.storage.cold import read_cache, read_preferences
from service_tui.storage.lock import LOCK_FILE
from service_tui.wiring.keys import KeysError, desk_keys, profiles
from service_tui.wiring.options import Options
from service_tui.wiring.start import DATABASE_FILE

PACKAGES: Final = ("textual", "httpx", "pydantic", "fastapi", "sqlmodel")


def findings(options: Options) -> tuple[list[str], bool]:
    """Lines for a person, and whether all is well."""
    problems: list[str] = []
    database = options.data_dir / DATABASE_FILE
    size = f"{database.stat().st_size / 1e6:.1f} MB" if database.exists() else "not made yet"
    cache = read_cache(database)
    lines = [
        f"data       {options.data_dir}",
        f"database   {size}, SQLite {sqlite3.sqlite_version}",
        f"kept       {len(cache)} answers, {len(read_preferences(database))} preferences",
        f"log        {options.log_path}",
        f"profiles   {_profiles(options, problems)}",
        f"lock       {_lock(options)}",
        f"terminal   {os.environ.get('TERM', 'not set')}, {_kind_of_output()}",
        *(f"{name:<10} {metadata.version(name)}" for name in PACKAGES),
    ]
    if options.data_dir.exists() and not os.access(options.data_dir, os.W_OK):
        problems.append(f"{options.data_dir} cannot be written: give another --data-dir")
    if database.exists():
        try:
            desk_keys(options.data_dir)
        except KeysError as error:
            problems.append(str(error))
    lines += [f"PROBLEM    {problem}" for problem in problems] or ["all is well"]
    return lines, not problems


def _kind_of_output() -> str:
    return "a terminal" if sys.stdout.isatty() else "no terminal"


def _profiles(options: Options, problems: list[str]) -> str:
    try:
        return ", ".join(sorted(profiles(options.config_dir))) or "none"
    except KeysError as error:
        problems.append(str(error))
        return "unreadable"


def _lock(options: Options) -> str:
    """Who holds the data directory, as the lock file tells."""
    try:
        return (options.data_dir / LOCK_FILE).read_text(encoding="utf-8").strip() or "free"
    except OSError:
        return "free"

"""The last halt state of each console of a data directory: one operator uses them all.

Imports nothing heavy.
"""

from pathlib import Path
from typing import Final

from service_tui.desk.slices.halt import HALT, KeptHalt, kept_halt
from service_tui.storage.cached_state import read_preferences

DATABASES: Final = ("desk.sqlite3", "attached/*/desk.sqlite3")
"""The directory's own database, and those of consoles that were attached to its owner."""


def kept_halts(data_dir: Path) -> tuple[KeptHalt, ...]:
    """The last halt state of each console, as far as it can be read without waiting."""
    paths = (kept_halt(read_preferences(path).get(HALT)) for path in databases(data_dir))
    return tuple(kept for kept in paths if kept is not None)


def databases(data_dir: Path, but: Path | None = None) -> tuple[Path, ...]:
    """The databases of all consoles of a data directory, without one."""
    found = (path for pattern in DATABASES for path in sorted(data_dir.glob(pattern)))
    return tuple(path for path in found if path != but)

"""The last halt record of each console of a data directory; the newest counts for all.

Halts that had no database to lie in left a mark beside its place.

Imports nothing heavy.
"""

from pathlib import Path
from typing import Final

from service_tui.app.options import BESIDE
from service_tui.desk.slices.halt import HALT, KeptHalt, kept_halt, newest
from service_tui.storage.cached_state import can_be_read, read_preferences
from service_tui.storage.halt_mark import marked_at
from service_tui.units import Timestamp

DATABASES: Final = ("desk.sqlite3", "attached/*/desk.sqlite3")
"""The directory's own database, and those of consoles that were attached to its owner."""


def kept_halts(data_dir: Path) -> tuple[KeptHalt, ...]:
    """The last halt state of each console, as far as it can be read without waiting."""
    stored = [kept_halt(read_preferences(path).get(HALT)) for path in databases(data_dir)]
    times = [marked_at(folder) for folder in (data_dir, *_in(data_dir, f"{BESIDE}/*"))]
    marked = [KeptHalt(on=True, at=Timestamp(at)) for at in times if at is not None]
    return (*(kept for kept in stored if kept is not None), *marked)


def is_halted(data_dir: Path) -> bool:
    """True where the last word of all consoles is a halt, and where one cannot be read.

    It may wait for a moment: another program may be writing.
    """
    unread = [path for path in databases(data_dir) if not can_be_read(path)]
    return bool(unread) or newest(kept_halts(data_dir)) is not None


def databases(data_dir: Path, but: Path | None = None) -> tuple[Path, ...]:
    """The databases of all consoles of a data directory, without one."""
    found = (path for pattern in DATABASES for path in _in(data_dir, pattern))
    return tuple(path for path in found if path != but)


def _in(data_dir: Path, pattern: str) -> list[Path]:
    """What is there by that pattern; nothing where it cannot be looked at."""
    try:
        return sorted(data_dir.glob(pattern))
    except OSError:
        return []

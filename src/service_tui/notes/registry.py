"""Registry of running sessions for observers: one small file for each repository."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from service_tui.plain_files import read_plain

FOLDER: Final = "autoresearch"
ENTRIES_MAX: Final = 64
ENTRY_BYTES_MAX: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Live:
    """The command that runs, or ran last. Times are seconds since 1970; `ended_at` 0 while it runs.

    `exit_code` is None while it runs, or where a signal ended it.
    """

    command: str
    started_at: float
    deadline_s: float
    tail: str = ""
    ended_at: float = 0.0
    exit_code: int | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """A repository. `pid` is the server that drives it now, 0 for none."""

    repository: str
    agent_id: str = ""
    pid: int = 0
    skill: str = ""
    allows_shell: bool = False
    warning: str = ""
    live: Live | None = None


def path_of(data_dir: Path, repository: Path) -> Path:
    """Path of a repository's entry."""
    name = hashlib.sha256(str(repository).encode(errors="surrogateescape")).hexdigest()[:24]
    return data_dir / FOLDER / f"{name}.json"


def write(path: Path, entry: RegistryEntry) -> None:
    """Write an entry whole or not at all; a disk that refuses costs only the observers' view."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = path.with_suffix(f".{os.getpid()}.new")
        beside.write_text(json.dumps(asdict(entry)), encoding="utf-8")
        beside.replace(path)


def entries(data_dir: Path) -> list[RegistryEntry]:
    """Every repository that is known here; what cannot be read is passed over."""
    entries_found: list[RegistryEntry] = []
    folder = data_dir / FOLDER
    for path in sorted(folder.glob("*.json"))[:ENTRIES_MAX]:
        entry = read(path)
        if entry is not None:
            entries_found.append(entry)
    return entries_found


def read(path: Path) -> RegistryEntry | None:
    """One entry; None where there is none that can be read."""
    try:
        fields = json.loads(read_plain(path, ENTRY_BYTES_MAX))
        return _entry_of(fields)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _entry_of(fields: Mapping[str, object]) -> RegistryEntry:
    live = fields.get("live")
    plain: dict[str, object] = {
        name: value for name, value in fields.items() if name in RegistryEntry.__slots__
    }
    plain["live"] = _live_of(live) if isinstance(live, dict) else None  # pyright: ignore[reportUnknownArgumentType]
    entry = RegistryEntry(**plain)  # pyright: ignore[reportArgumentType]
    if not isinstance(entry.repository, str) or not isinstance(entry.pid, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("no entry")
    return entry


def _live_of(fields: Mapping[str, object]) -> Live:
    plain = {str(name): value for name, value in fields.items() if name in Live.__slots__}
    live = Live(**plain)  # pyright: ignore[reportArgumentType]
    if not isinstance(live.tail, str) or not isinstance(live.started_at, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("no run")
    return live


def is_alive(pid: int) -> bool:
    """True if a process runs."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

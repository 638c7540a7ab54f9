"""Registry of running sessions for observers: one small file for each repository."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from service_tui.plain_files import read_plain, write_below

FOLDER: Final = "autoresearch"
ENTRIES_MAX: Final = 64
ENTRY_BYTES_MAX: Final = 256 * 1024
WHOLE_MAX: Final = 2**31
"""No process and no exit status has a larger number."""

SECONDS_MAX: Final = 1e10
"""Seconds since 1970 until the year 2286."""


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
        body = json.dumps(asdict(entry)).encode()
        write_below(path.parent, path, body, f".{os.getpid()}.new")


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
    return RegistryEntry(
        repository=_text(fields, "repository", None),
        agent_id=_text(fields, "agent_id"),
        pid=_whole(fields, "pid"),
        skill=_text(fields, "skill"),
        allows_shell=fields.get("allows_shell") is True,
        warning=_text(fields, "warning"),
        live=_live_of({str(name): one for name, one in live.items()})  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(live, dict)
        else None,
    )


def _live_of(fields: Mapping[str, object]) -> Live:
    status = fields.get("exit_code")
    return Live(
        command=_text(fields, "command", None),
        started_at=_figure(fields, "started_at", None),
        deadline_s=_figure(fields, "deadline_s", None),
        tail=_text(fields, "tail"),
        ended_at=_figure(fields, "ended_at"),
        exit_code=None if status is None else _whole(fields, "exit_code"),
        timed_out=fields.get("timed_out") is True,
    )


def _text(fields: Mapping[str, object], name: str, default: str | None = "") -> str:
    value = fields.get(name, default)
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    return value


def _whole(fields: Mapping[str, object], name: str) -> int:
    value = fields.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > WHOLE_MAX:
        raise TypeError(f"{name} is no whole number")
    return value


def _figure(fields: Mapping[str, object], name: str, default: float | None = 0.0) -> float:
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is no number")
    # No comparison holds of what is not a number.
    if not 0 <= value <= SECONDS_MAX:
        raise ValueError(f"{name} is not finite")
    return float(value)


def is_alive(pid: int) -> bool:
    """True if a process runs."""
    if not 0 < pid <= WHOLE_MAX:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

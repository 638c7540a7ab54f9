"""The action log: what the person and the agents did, one line each, chained by hashes.

Knows files. Must not know what an action means.
Used by the desk (which appends) and by the command line (which verifies). Each line holds the hash
of the one before: a line that is changed, taken out or put in breaks the chain from there on. What
is cut off at the end shows only to who has kept a later hash.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeGuard

FILE: Final = "actions.jsonl"
START: Final = "0" * 64
LINE_MAX: Final = 65_536

Entry = Mapping[str, str | float | int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a look at the whole log found. `problem` is empty where the chain holds."""

    count: int
    last_hash: str
    problem: str = ""


class ActionLog:
    """The log of one data directory; one process appends to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: str | None = None

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries and wait until they are on disk; an OSError says that they are not."""
        if not entries:
            return
        last = self._last if self._last is not None else _last_hash(self._path)
        lines: list[str] = []
        for entry in entries:
            said = _said(entry)
            last = _hash(last, said)
            lines.append(f'{{"hash":"{last}","entry":{said}}}\n')
        made = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with os.fdopen(made, "ab") as file:
            if file.tell() and not _ends_whole(self._path):
                # A torn last line stays as it is, on a line of its own.
                file.write(b"\n")
            file.write("".join(lines).encode())
            file.flush()
            os.fsync(file.fileno())
        self._last = last


def verify(path: Path) -> Verdict:
    """Follow the chain from its first line; an OSError where the log cannot be read."""
    last, count = START, 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            found = _read(raw)
            if found is None:
                return Verdict(count, last, f"line {number} is torn, or no entry")
            said, claimed = found
            if _hash(last, said) != claimed:
                return Verdict(count, last, f"line {number} does not follow from the one before it")
            last, count = claimed, count + 1
    return Verdict(count, last)


def _said(entry: Mapping[str, object]) -> str:
    return json.dumps(dict(entry), separators=(",", ":"), sort_keys=True, allow_nan=False)


def _hash(last: str, said: str) -> str:
    return hashlib.sha256(f"{last}\n{said}".encode()).hexdigest()


def _read(raw: bytes) -> tuple[str, str] | None:
    """An entry as it was said, and its hash; None where the line is none."""
    try:
        found: object = json.loads(raw) if raw.endswith(b"\n") and len(raw) <= LINE_MAX else None
    except (ValueError, RecursionError):
        return None
    if not _is_object(found):
        return None
    claimed, entry = found.get("hash"), found.get("entry")
    if not isinstance(claimed, str) or not _is_object(entry):
        return None
    try:
        return _said(entry), claimed
    except (TypeError, ValueError):
        return None


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _last_hash(path: Path) -> str:
    """The hash on which the next line builds: of the last whole line, else the start."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - 2 * LINE_MAX))
            lines = file.read().splitlines(keepends=True)
    except FileNotFoundError:
        return START
    for raw in reversed(lines):
        found = _read(raw)
        if found is not None:
            return found[1]
    return START

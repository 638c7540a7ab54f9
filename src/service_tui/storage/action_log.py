"""The action log: one line for each action of operator and agents, chained by hashes.

Each line holds the hash of the one before: a line that is changed, taken out or put in breaks the
chain from there on. What is cut off at the end shows against the head, a file beside the log that
names its last line; who puts back both is found out only by who has kept a later hash.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, TypeGuard

from service_tui.plain_files import open_plain, read_plain

FILE: Final = "actions.jsonl"
START: Final = "0" * 64
LINE_MAX: Final = 65_536
TAIL_MAX: Final = 4 << 20
"""Bytes of the end that are read to show the last entries."""

Entry = Mapping[str, str | float | int]


@dataclass(frozen=True, slots=True)
class LogCheck:
    """Result of verifying the whole log. `problem` is empty if the chain is intact."""

    count: int
    last_hash: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Entry of the log: number from 1, hash, content."""

    number: int
    hash: str
    entry: Mapping[str, object]


class ActionLog:
    """The log of one data directory; several processes may append to it, one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: str | None = None
        self._count = 0
        self._size = 0

    def append(self, entries: Sequence[Entry]) -> tuple[LogEntry, ...]:
        """Append entries and wait until they are on disk; raises OSError if they are not.

        Returns:
            The lines that they are now.
        """
        if not entries:
            return ()
        made = open_plain(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(made, "ab") as file:
            # Held until the file is closed: another process builds on what this one wrote.
            fcntl.flock(file, fcntl.LOCK_EX)
            return self._write(file, entries)

    def _write(self, file: BinaryIO, entries: Sequence[Entry]) -> tuple[LogEntry, ...]:
        last = self._last_of(os.fstat(file.fileno()).st_size)
        lines: list[str] = []
        made_lines: list[LogEntry] = []
        for number, entry in enumerate(entries, self._count + 1):
            text = _text_of(entry)
            last = _hash(last, text)
            lines.append(f'{{"hash":"{last}","entry":{text}}}\n')
            made_lines.append(LogEntry(number, last, entry))
        if os.fstat(file.fileno()).st_size and not _ends_whole(self._path):
            # A torn last line stays as it is, on a line of its own.
            file.write(b"\n")
        file.write("".join(lines).encode())
        file.flush()
        os.fsync(file.fileno())
        self._size = os.fstat(file.fileno()).st_size
        self._last, self._count = last, self._count + len(lines)
        _write_head(self._path, self._count, last)
        return tuple(made_lines)

    def _last_of(self, size: int) -> str:
        """The hash on which the next line builds; of a log that others lengthened, the new part."""
        if self._last is not None and size == self._size:
            return self._last
        if self._last is None or size < self._size:
            self._count = self._size = 0
        self._count += _count_lines(self._path, self._size)
        return _last_hash(self._path)


def verify(path: Path, holds: str = "") -> LogCheck:
    """Verify the chain from its first line, and its end against the head.

    Args:
        path: the log.
        holds: a hash that somebody has kept; the log must have a line that bears it.

    Returns:
        How many lines follow from one another, and the first thing that is wrong.

    Raises:
        OSError: the log cannot be read.
    """
    try:
        opened = open_plain(path)
    except FileNotFoundError:
        head = _head_of(path)
        if head is None:
            raise
        return LogCheck(0, START, f"the log is gone; it had {head[0]} entries")
    with os.fdopen(opened, "rb") as file:
        # Whoever is writing ends its lines and their head first.
        fcntl.flock(file, fcntl.LOCK_SH)
        head = _head_of(path)
        check, at_head, is_met = _followed(file, head, holds)
    problem = check.problem
    if not problem and head is not None and check.count < head[0]:
        missing = head[0] - check.count
        problem = f"the end is cut off: {missing} of {head[0]} are missing"
    elif not problem and head is not None and at_head != head[1]:
        problem = f"line {head[0]} is not the one that was written last"
    elif not problem and holds and not is_met:
        problem = f"no line has the hash {holds}"
    return replace(check, problem=problem)


def _followed(
    file: BinaryIO, head: tuple[int, str] | None, holds: str
) -> tuple[LogCheck, str, bool]:
    """The chain line by line.

    Returns:
        What it comes to, the hash at the line of the head, and whether the hash wanted was met.
    """
    last, count, at_head, is_met = START, 0, START, False
    for number, raw in enumerate(file, 1):
        entry = _read(raw)
        if entry is None:
            torn = f"line {number} is torn, or no entry"
            return LogCheck(count, last, torn), at_head, is_met
        text, stated = entry
        if _hash(last, text) != stated:
            odd = f"line {number} does not follow from the one before it"
            return LogCheck(count, last, odd), at_head, is_met
        last, count = stated, count + 1
        is_met |= stated == holds
        if head is not None and count == head[0]:
            at_head = last
    return LogCheck(count, last), at_head, is_met


def newest(path: Path, most: int) -> tuple[LogEntry, ...]:
    """The last entries, newest first; lines that are none are passed over. Empty without a log."""
    try:
        total = _count_lines(path)
        lines = _tail(path, TAIL_MAX)
    except FileNotFoundError:
        return ()
    entries: list[LogEntry] = []
    for place, raw in enumerate(reversed(lines)):
        read = _read(raw)
        if read is not None and len(entries) < most:
            entry: object = json.loads(read[0])
            if _is_object(entry):
                entries.append(LogEntry(total - place, read[1], entry))
    return tuple(entries)


def head_path(path: Path) -> Path:
    """The file that names the last line of a log."""
    return path.with_name(f"{path.name}.head")


def _head_of(path: Path) -> tuple[int, str] | None:
    """Number of lines and hash of the last one, by the head; None without a head."""
    try:
        raw = read_plain(head_path(path), LINE_MAX)
        count, _, last = raw.decode("ascii").strip().partition(" ")
        return int(count), last
    except (OSError, ValueError):
        return None


def _write_head(path: Path, count: int, last: str) -> None:
    """Name the last line. A head that lags behind a log, as after a kill, is no fault."""
    draft = path.with_name(f".{path.name}.head.new")
    draft.unlink(missing_ok=True)
    made = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(made, "w", encoding="ascii") as file:
        file.write(f"{count} {last}\n")
    draft.replace(head_path(path))


def _count_lines(path: Path, since: int = 0) -> int:
    """Lines of a log from a byte on, a torn last one too; 0 without a log."""
    count, end = 0, b"\n"
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            file.seek(since)
            while chunk := file.read(1 << 20):
                count += chunk.count(b"\n")
                end = chunk[-1:]
    except FileNotFoundError:
        return 0
    return count + (end != b"\n")


def _text_of(entry: Mapping[str, object]) -> str:
    return json.dumps(dict(entry), separators=(",", ":"), sort_keys=True, allow_nan=False)


def _hash(last: str, text: str) -> str:
    return hashlib.sha256(f"{last}\n{text}".encode()).hexdigest()


def _read(raw: bytes) -> tuple[str, str] | None:
    """Text and hash of a line; None if it is no entry."""
    try:
        decoded: object = json.loads(raw) if raw.endswith(b"\n") and len(raw) <= LINE_MAX else None
    except (ValueError, RecursionError):
        return None
    if not _is_object(decoded):
        return None
    stated, entry = decoded.get("hash"), decoded.get("entry")
    if not isinstance(stated, str) or not _is_object(entry):
        return None
    try:
        return _text_of(entry), stated
    except (TypeError, ValueError, RecursionError):
        return None


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _ends_whole(path: Path) -> bool:
    with os.fdopen(open_plain(path), "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _last_hash(path: Path) -> str:
    """The hash on which the next line builds: of the last whole line, else the start."""
    try:
        lines = _tail(path, 2 * LINE_MAX)
    except FileNotFoundError:
        return START
    for raw in reversed(lines):
        entry = _read(raw)
        if entry is not None:
            return entry[1]
    return START


def _tail(path: Path, most: int) -> list[bytes]:
    """The last lines within so many bytes; the first of them may be half a line."""
    size = path.stat().st_size
    with os.fdopen(open_plain(path), "rb") as file:
        file.seek(max(0, size - most))
        return file.read().splitlines(keepends=True)

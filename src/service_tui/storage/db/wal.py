"""Checks a write-ahead log before SQLite opens it, as SQLite takes damage for the log's end.

What a killed program leaves is in order: commits, then at most one that is not finished. A log that
holds less than its index names, or goes on behind a frame that is not whole, has lost something
that was acknowledged. Source: sqlite.org/fileformat2.html, 4; sqlite.org/walformat.html.
"""

import struct
import sys
from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

LOG_HEADER: Final = 32
"""Bytes before the first frame; with no more a log is as good as gone."""

_FRAME_HEADER: Final = 24
_MAGICS: Final = {0x377F0682: "<", 0x377F0683: ">"}
"""What a log begins with, and in which order of bytes it is then summed up."""

_VERSION: Final = 3_007_000
_SALTS: Final = 8
_SUMMED: Final = 24
"""Bytes of the log's header that its sum is of."""

_INDEX_HEADER: Final = 48
_INDEX_SUMMED: Final = 40
_BACKFILL_AT: Final = 96
_INDEX_MAX: Final = 136
_LARGEST_PAGE: Final = 65_536
_WORD: Final = 0xFFFF_FFFF
_NATIVE: Final = "<" if sys.byteorder == "little" else ">"

Sum = tuple[int, int]


class Header(NamedTuple):
    """The beginning of a log: order of its sums, size of its pages, and what marks its frames."""

    order: str
    page_size: int
    salts: bytes
    seed: Sum


class WalFrame(NamedTuple):
    """A page as a commit has left it; `pages` is the database's size at a commit, else 0."""

    page: int
    pages: int
    content: bytes


class Index(NamedTuple):
    """SQLite's shared index of a log in use.

    `frames` are acknowledged; the database has the first `backfilled` of them.
    """

    salts: bytes
    frames: int
    backfilled: int


@dataclass(frozen=True, slots=True)
class WalContent:
    """Content of a log: `frames` up to its last whole commit. `damage` is empty if it is intact.

    `index` is None where there is none, or where it is of another log.
    """

    frames: int
    damage: str = ""
    index: Index | None = None


def look(database: Path) -> WalContent:
    """Check the log of a database that no process has open; the same bytes are checked once.

    Returns:
        What it holds; no frames where there is none.
    """
    log = log_of(database)
    try:
        status = log.stat()
    except OSError:
        return WalContent(0)
    return _looked_at(database, status.st_size, status.st_mtime_ns, status.st_ino)


@lru_cache(maxsize=16)
def _looked_at(database: Path, size: int, _changed: int, _inode: int) -> WalContent:
    # Remembered: the first reader rewrites the index, which may be the only evidence of a loss.
    if size <= LOG_HEADER:
        return WalContent(0)
    index = _index_of(database)
    page_size = _page_size_of(database)
    with log_of(database).open("rb") as file:
        header = _header_of(file.read(LOG_HEADER))
        if header is None:
            header = _guessed_header(file, page_size)
            frames = 0 if header is None else _followed(file, header, index).frames
            return WalContent(frames, "the header of its log is damaged", index)
        if page_size not in {None, header.page_size}:
            odd = f"its log is of pages of {header.page_size} bytes, not of {page_size}"
            return WalContent(0, odd, index)
        if index is not None and index.salts != header.salts:
            index = None
        return _followed(file, header, index)


def frames_of(database: Path, count: int) -> Generator[WalFrame]:
    """The first frames of a log, as many as `look` found intact; none where there is no log."""
    if not count:
        return
    with log_of(database).open("rb") as file:
        header = _header_of(file.read(LOG_HEADER))
        header = header or _guessed_header(file, _page_size_of(database))
        if header is None:
            return
        file.seek(LOG_HEADER)
        for _, frame in zip(range(count), _whole(file, header), strict=False):
            yield frame


def log_of(database: Path) -> Path:
    """Path of a database's log."""
    return database.with_name(f"{database.name}-wal")


def page_size_of(head: bytes) -> int | None:
    """The size of a database's pages, from its first 18 bytes; None where it is none."""
    if not head.startswith(b"SQLite format 3\0"):
        return None
    size = int.from_bytes(head[16:18], "big")
    return _LARGEST_PAGE if size == 1 else size


def _page_size_of(database: Path) -> int | None:
    try:
        with database.open("rb") as file:
            return page_size_of(file.read(18))
    except OSError:
        return None


def _header_of(head: bytes) -> Header | None:
    if len(head) < LOG_HEADER:
        return None
    magic, version, page_size = struct.unpack_from(">III", head)
    order = _MAGICS.get(magic)
    if order is None or version != _VERSION:
        return None
    seed = _summed(head[:_SUMMED], order, (0, 0))
    if seed != struct.unpack_from(">II", head, _SUMMED) or not 0 < page_size <= _LARGEST_PAGE:
        return None
    return Header(order, page_size, head[16:24], seed)


def _guessed_header(file: BinaryIO, page_size: int | None) -> Header | None:
    """Reconstruction of a damaged header.

    What it names stands elsewhere too, but for the sum with which the frames begin: that is either
    still there, or follows from the rest.

    Returns:
        The header, with which the first frame is whole; None where there is none.
    """
    file.seek(0)
    head = file.read(LOG_HEADER)
    salts = file.read(_FRAME_HEADER)[8:16]
    if page_size is None or len(salts) < _SALTS:
        return None
    for magic, order in _MAGICS.items():
        mended = struct.pack(">III", magic, _VERSION, page_size) + head[12:16] + salts
        for seed in (
            struct.unpack_from(">II", head, _SUMMED),
            _summed(mended, order, (0, 0)),
        ):
            header = Header(order, page_size, salts, seed)
            file.seek(LOG_HEADER)
            if next(_whole(file, header), None) is not None:
                file.seek(LOG_HEADER)
                return header
    return None


def _followed(file: BinaryIO, header: Header, index: Index | None) -> WalContent:
    """Content of the log up to the last commit, and the damage behind it."""
    count = committed = 0
    for frame in _whole(file, header):
        count += 1
        if frame.pages:
            committed = count
    if index is not None and index.frames == committed:
        return WalContent(committed, index=index)
    if index is not None and index.frames > committed:
        lost = f"its log has {committed} of {index.frames} pages that were written"
        return WalContent(committed, lost, index)
    if _goes_on(file, header, after=count + 1):
        return WalContent(committed, f"page {count + 1} of its log is damaged", index)
    return WalContent(committed, index=index)


def _whole(file: BinaryIO, header: Header) -> Generator[WalFrame]:
    """Frame by frame, up to the first that is not whole or belongs to an earlier log."""
    total = header.seed
    while True:
        head = file.read(_FRAME_HEADER)
        content = file.read(header.page_size)
        if len(content) < header.page_size or head[8:16] != header.salts:
            return
        page, pages, *stated = struct.unpack(">II8xII", head)
        total = _summed(head[:8], header.order, total)
        total = _summed(content, header.order, total)
        if page == 0 or total != tuple(stated):
            return
        yield WalFrame(page, pages, content)


def _goes_on(file: BinaryIO, header: Header, *, after: int) -> bool:
    """True if frames of this log follow the one numbered `after`, which is damaged.

    That one itself may be what was written last: the frame of an earlier log is under it.

    Returns:
        Whether there is one.
    """
    size = _FRAME_HEADER + header.page_size
    place = LOG_HEADER + after * size
    while True:
        file.seek(place)
        head = file.read(_FRAME_HEADER)
        if len(head) < _FRAME_HEADER:
            return False
        if head[8:16] == header.salts:
            return True
        place += size


def _index_of(database: Path) -> Index | None:
    """The index beside a log; None if its two headers differ."""
    try:
        with database.with_name(f"{database.name}-shm").open("rb") as file:
            head = file.read(_INDEX_MAX)
    except OSError:
        return None
    first = head[:_INDEX_HEADER]
    if len(head) < _INDEX_MAX or first != head[_INDEX_HEADER : 2 * _INDEX_HEADER]:
        return None
    stated = struct.unpack_from("=II", first, _INDEX_SUMMED)
    if _summed(first[:_INDEX_SUMMED], _NATIVE, (0, 0)) != stated or not any(first):
        return None
    (frames,) = struct.unpack_from("=I", first, 16)
    (backfilled,) = struct.unpack_from("=I", head, _BACKFILL_AT)
    return Index(first[32:40], frames, backfilled)


def _summed(content: bytes, order: str, before: Sum) -> Sum:
    """Go on with a sum over more bytes, eight at a time."""
    first, second = before
    numbers = iter(struct.unpack(f"{order}{len(content) // 4}I", content))
    for number in numbers:
        first = (first + number + second) & _WORD
        second = (second + next(numbers) + first) & _WORD
    return first, second

"""Reads records back: the desk as it was at a moment. Calls block; they belong off the loop."""

import json
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from service_tui.desk.recording.differences import applied
from service_tui.desk.recording.moment import RecordedMoment, RecordError
from service_tui.desk.recording.recorder import DICTIONARY_BYTES
from service_tui.desk.recording.trees import Tree, TreeError, value_of
from service_tui.desk.state import DeskState
from service_tui.storage.errors import StorageError
from service_tui.storage.recordings import Recordings, RecordRow
from service_tui.units import Timestamp

TREE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Longest text of one record; a longer one is not ours."""

UNREADABLE: Final = "this record cannot be read: it is damaged, or of another version"


class Player:
    """The recorded desk, moment by moment."""

    def __init__(self, store: Recordings) -> None:
        self._store = store
        self._times: tuple[float, ...] = ()
        self._texts: list[bytes] = []
        self._trees: list[Tree] = []
        self._reading = Lock()

    def span(self) -> tuple[Timestamp, Timestamp] | None:
        """Times of the first and the last record; None without one.

        Raises:
            RecordError: the recording cannot be read.
        """
        with _readable():
            span = self._store.span()
        return None if span is None else (Timestamp(span[0]), Timestamp(span[1]))

    def neighbour(self, at: Timestamp, by: int, *, is_event: bool = False) -> Timestamp | None:
        """Time of the record before (-1) or after (1) a time; with `is_event` of an event.

        Raises:
            RecordError: the recording cannot be read.
        """
        with _readable():
            found = self._store.neighbour(at, by, is_event=is_event)
        return None if found is None else Timestamp(found)

    def moment(self, at: Timestamp) -> RecordedMoment | None:
        """The last recorded moment not after `at`; the first one for an earlier time.

        Returns:
            None where nothing is recorded.

        Raises:
            RecordError: the recording, or this record, cannot be read.
        """
        span = self.span()
        if span is None:
            return None
        with _readable():
            chain = self._store.chain(max(at, span[0]))
        if not chain:
            raise RecordError(UNREADABLE)
        try:
            # A key pressed twice reads from two threads.
            with self._reading:
                state: DeskState = value_of(DeskState, self._tree(chain))
        except (TreeError, ValueError, zlib.error, RecursionError) as error:
            self._times, self._texts, self._trees = (), [], []
            raise RecordError(UNREADABLE) from error
        return RecordedMoment(Timestamp(chain[-1].at), chain[-1].event, state)

    def _tree(self, chain: tuple[RecordRow, ...]) -> Tree:
        """The tree at the end of a chain; trees of the former one are used again."""
        times = tuple(record.at for record in chain)
        known = 0
        for mine, wanted in zip(self._times, times, strict=False):
            if mine != wanted:
                break
            known += 1
        del self._texts[known:], self._trees[known:]
        for record in chain[known:]:
            before = b"" if record.is_whole else self._texts[-1][-DICTIONARY_BYTES:]
            text = _unpacked(record.body, before)
            tree: Tree = json.loads(text, parse_constant=_no_number)
            self._trees.append(tree if record.is_whole else applied(self._trees[-1], tree))
            self._texts.append(text)
        self._times = times
        return self._trees[-1]


@contextmanager
def _readable() -> Generator[None]:
    try:
        yield
    except StorageError as error:
        raise RecordError(str(error)) from error


def _no_number(name: str) -> float:
    raise TreeError(f"{name} is no number")


def _unpacked(body: bytes, dictionary: bytes) -> bytes:
    unpacker = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
    text = unpacker.decompress(body, TREE_BYTES_MAX)
    if not unpacker.eof:
        raise TreeError("no whole record")
    return text

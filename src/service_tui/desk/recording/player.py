"""Reads records back: the desk as it was at a moment. Calls block; they belong off the loop."""

import json
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from service_tui.desk.checked_records import Tree, TreeError, value_of
from service_tui.desk.recording.differences import applied
from service_tui.desk.recording.moment import RecordedMoment, RecordError
from service_tui.desk.recording.recorder import DICTIONARY_BYTES, EVENTS
from service_tui.desk.state import DeskState
from service_tui.storage.errors import StorageError
from service_tui.storage.recordings import Recordings, RecordRow
from service_tui.units import Timestamp

TEXT_MAX: Final = 64_000_000
"""ours: longest text of all the records behind a moment; a longer one is none of ours."""

PASSED_OVER_MAX: Final = 40
"""ours: records that cannot be read and are passed over; each may hide the hour behind it."""

UNREADABLE: Final = "record cannot be read: damaged or of another version"


class Player:
    """The recorded desk, moment by moment."""

    def __init__(self, store: Recordings, text_max: int = TEXT_MAX) -> None:
        # `text_max`: most that is unpacked for one moment.
        self._store = store
        self._text_max = text_max
        self._times: tuple[float, ...] = ()
        self._ends: list[bytes] = []
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
        # A key pressed twice reads from two threads.
        with self._reading:
            state = self._state(chain)
        last = chain[-1]
        return RecordedMoment(Timestamp(last.at), last.event if last.event in EVENTS else "", state)

    def readable(self, at: Timestamp) -> tuple[RecordedMoment | None, str]:
        """The last moment not after `at` that can be read, and why a later one cannot.

        Returns:
            The moment, None where nothing is recorded, and a sentence, empty if nothing was
            passed over.

        Raises:
            RecordError: none of the records looked at can be read.
        """
        problem, before = "", at
        for _ in range(PASSED_OVER_MAX):
            try:
                return self.moment(before), problem
            except RecordError as error:
                if error.before is None:
                    raise
                problem, before = problem or str(error), error.before
        raise RecordError(problem)

    def step(
        self, at: Timestamp, by: int, *, is_event: bool = False
    ) -> tuple[RecordedMoment | None, str]:
        """The next moment before (-1) or after (1) a time that can be read; of an event if wanted.

        Returns:
            The moment, None where there is no further one, and why one was passed over.

        Raises:
            RecordError: none of the records looked at can be read.
        """
        problem = ""
        for _ in range(PASSED_OVER_MAX):
            found = self.neighbour(at, by, is_event=is_event)
            if found is None:
                return None, problem
            try:
                return self.moment(found), problem
            except RecordError as error:
                problem, at = problem or str(error), found
        raise RecordError(problem)

    def _state(self, chain: tuple[RecordRow, ...]) -> DeskState:
        """The state at the end of a chain.

        Raises:
            RecordError: it cannot be read; the one before the first that cannot may be.
        """
        try:
            state: DeskState = value_of(DeskState, self._tree(chain))
        except (TreeError, ValueError, zlib.error, RecursionError, MemoryError) as error:
            # Those up to here were read, the last of them perhaps as a tree that is no state.
            place = min(len(self._trees), len(chain) - 1)
            self._times, self._ends, self._trees = (), [], []
            raise RecordError(UNREADABLE, Timestamp(chain[place].at - 0.0005)) from error
        return state

    def _tree(self, chain: tuple[RecordRow, ...]) -> Tree:
        """The tree at the end of a chain; trees of the former one are used again."""
        times = tuple(record.at for record in chain)
        known = 0
        for mine, wanted in zip(self._times, times, strict=False):
            if mine != wanted:
                break
            known += 1
        del self._ends[known:], self._trees[known:]
        left = self._text_max
        for record in chain[known:]:
            before = b"" if record.is_whole else self._ends[-1]
            text = _unpacked(record.body, before, left)
            left -= len(text)
            tree: Tree = json.loads(text, parse_constant=_no_number)
            self._trees.append(tree if record.is_whole else applied(self._trees[-1], tree))
            self._ends.append(text[-DICTIONARY_BYTES:])
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


def _unpacked(body: bytes, dictionary: bytes, limit: int) -> bytes:
    unpacker = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
    # At least one: no limit at all would be zero.
    text = unpacker.decompress(body, max(1, limit))
    if not unpacker.eof:
        raise TreeError("no whole record")
    return text

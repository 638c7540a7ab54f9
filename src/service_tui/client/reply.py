"""Decodes an answer strictly; invalid rows of a list are dropped, so that the others remain."""

import json
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeGuard, TypeVar

from pydantic import ValidationError

from service_tui.units import Timestamp
from service_tui.wire.base import LenientModel, WireModel
from service_tui.wire.text import line

Answer = TypeVar("Answer", bound=WireModel)

OBJECTS_MAX: Final = 20_000
VALUES_MAX: Final = 100_000
FAULTS_MAX: Final = 5_000
"""ours: some times what the largest honest page has. Two megabytes of `{}` as rows would otherwise
hold the loop for three seconds and take a gigabyte for their faults (measured)."""

SAME_LEAST: Final = 4_096
SAME_MOST: Final = 8
"""ours: bounds that keep the large polled answers (markets, positions, trades, news) only."""

DATE_STEP_S: Final = 1.0
"""A Date header names whole seconds."""

_Location = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Reply(Generic[Answer]):
    """An answer with its timing.

    Attributes:
        answer: the body.
        dropped: number of invalid rows that were left out.
        latency_s: seconds from sending to the last byte.
        at: our clock when it arrived.
        server_date: the service's clock, whole seconds; None if not reported.
    """

    answer: Answer
    dropped: int
    latency_s: float
    at: Timestamp
    server_date: Timestamp | None = None

    @property
    def skew_s(self) -> float | None:
        """Seconds that our clock is ahead of the service's (below 0: behind), at the least.

        Latency and whole seconds can look like skew: that part is not counted. None if the service
        sent no Date.
        """
        if self.server_date is None:
            return None
        most = self.at - self.server_date
        least = most - self.latency_s - DATE_STEP_S
        return max(0.0, least) if most > 0 else most


class NotProtocolError(Exception):
    """The bytes are no valid answer of this type; the text contains no value of it."""


def decode(answers: type[Answer], raw: bytes, *, room: int = 1) -> tuple[Answer, int]:
    """Decode an answer; `room` is how many times the usual number of values it may hold.

    Returns:
        The answer, and how many of its rows were left out as invalid.

    Raises:
        NotProtocolError: not JSON, too many values, or another shape.
    """
    if raw.count(b"{") > room * OBJECTS_MAX or raw.count(b",") > room * VALUES_MAX:
        raise NotProtocolError("the answer holds too many values")
    # Errors of pydantic repeat what was sent, which may be a key: none is ever chained.
    answer, _ = _validated(answers, raw)
    if answer is not None:
        return answer, 0
    tree = tree_of(raw)
    if tree is None:
        raise NotProtocolError("the answer is not a JSON object")
    answer, faults = _validated(answers, _raw_of(tree))
    if answer is None and issubclass(answers, LenientModel) and _drop_nulls(tree, faults):
        answer, faults = _validated(answers, _raw_of(tree))
    dropped = 0
    fatal = [fault for fault in faults if _row_of(tree, fault) is None]
    if answer is None and not fatal:
        dropped = _drop_rows(tree, faults)
        answer, fatal = _validated(answers, _raw_of(tree))
    if answer is None:
        where = line(".".join(str(part) for part in fatal[0])) or "the whole"
        raise NotProtocolError(f"the answer has another shape: {where} is missing or invalid")
    return answer, dropped


class SameAnswers:
    """Cache of decoded answers by their bytes: an unchanged answer is not decoded again.

    Answers are frozen, so that a caller may also see by identity that nothing changed. Only those
    of `SAME_LEAST` bytes and more are kept, `SAME_MOST` at most.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[type, bytes], tuple[WireModel, int]] = {}

    def decode(self, answers: type[Answer], raw: bytes, *, room: int = 1) -> tuple[Answer, int]:
        """Decode an answer, or return the last one if the bytes are the same.

        Returns:
            The answer, the same object for the same bytes, and how many of its rows are invalid.

        Raises:
            NotProtocolError: as `decode` does.
        """
        key = (answers, raw)
        kept = self._kept.pop(key, None)
        if kept is not None and isinstance(kept[0], answers):
            self._kept[key] = kept
            return kept[0], kept[1]
        decoded = decode(answers, raw, room=room)
        if len(raw) >= SAME_LEAST:
            self._kept[key] = decoded
            while len(self._kept) > SAME_MOST:
                del self._kept[next(iter(self._kept))]
        return decoded


def tree_of(raw: bytes) -> Mapping[str, object] | None:
    """The JSON object in `raw`, or None; broken letters are replaced, not fatal."""
    try:
        # A number of 5,000 digits is a ValueError, 100,000 brackets are a RecursionError.
        tree: object = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return tree if is_object(tree) else None


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_fields(value: object) -> TypeGuard[MutableMapping[str, object]]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """True for a JSON array."""
    return isinstance(value, list)


def _raw_of(tree: Mapping[str, object]) -> bytes:
    """The tree as JSON again; half a surrogate, which no strict reader takes, becomes a '?'."""
    return json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace")


def _validated(answers: type[Answer], raw: bytes) -> tuple[Answer | None, Sequence[_Location]]:
    """Try the bytes.

    Returns:
        The answer, or None and where its faults lie.

    Raises:
        NotProtocolError: more faults than are listed.
    """
    try:
        return answers.model_validate_json(raw), ()
    except ValidationError as error:
        if error.error_count() > FAULTS_MAX:
            raise NotProtocolError(f"the answer has {error.error_count():,} faults") from None
        faults = error.errors(include_input=False, include_url=False, include_context=False)
        return None, [fault["loc"] for fault in faults]


def _drop_nulls(tree: Mapping[str, object], faults: Sequence[_Location]) -> int:
    """Remove nulls that are invalid; their number."""
    places = [place for fault in faults if (place := _null_of(tree, fault)) is not None]
    for fields, name in places:
        fields.pop(name, None)
    return len(places)


def _null_of(
    tree: Mapping[str, object], fault: _Location
) -> tuple[MutableMapping[str, object], str] | None:
    """The object and key of the null at which a fault lies; None if there is no null."""
    node: object = tree
    for part in fault:
        if is_list(node) and isinstance(part, int):
            node = node[part]
        elif is_fields(node) and isinstance(part, str) and part in node:
            if node[part] is None:
                return node, part
            node = node[part]
        else:
            return None
    return None


def _drop_rows(tree: Mapping[str, object], faults: Sequence[_Location]) -> int:
    """Remove invalid rows from their lists; their number."""
    rows: dict[int, tuple[list[object], set[int]]] = {}
    for fault in faults:
        if (row := _row_of(tree, fault)) is not None:
            rows.setdefault(id(row[0]), (row[0], set()))[1].add(row[1])
    for entries, bad in rows.values():
        entries[:] = [entry for index, entry in enumerate(entries) if index not in bad]
    return sum(len(bad) for _, bad in rows.values())


def _row_of(tree: Mapping[str, object], fault: _Location) -> tuple[list[object], int] | None:
    """The outermost list on the way to a fault, and the index in it."""
    node: object = tree
    for part in fault:
        if is_list(node) and isinstance(part, int):
            return node, part
        if not is_object(node) or not isinstance(part, str) or part not in node:
            return None
        node = node[part]
    return None

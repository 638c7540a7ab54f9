"""Ways of answering wrongly, as data: what a service may say that is broken, or wants harm.

A `Way` turns a good answer into a bad one. Those for whole answers hold for every path; those for
fields are made from the answer itself, one for each field and each wrong value.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import httpx

from kit.desk.faults import Fault, said

STATUSES: Final = (201, 204, 301, 400, 401, 403, 404, 405, 409, 413, 418, 422, 429, 500, 502, 503)
MEGABYTE: Final = 1_000_000

Answer = Fault | httpx.Response
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Way:
    """One way: `of` makes the answer from the body that a good one would have."""

    name: str
    of: Callable[[bytes], Answer]


@dataclass(frozen=True)
class Bytes:
    """Another body, with the status of a good one."""

    name: str
    bytes_of: Callable[[bytes], bytes]

    def of(self, body: bytes) -> Answer:
        return said(self.bytes_of(body))


def _status(status: int) -> Way:
    return Way(f"status {status}", lambda _: said({"error": "we \x1b[2Jmoved [bold]"}, status))


def _doubled(body: bytes) -> bytes:
    """Every member twice: JSON names no winner."""
    return b"{" + body.strip()[1:-1] + b"," + body.strip()[1:-1] + b"}"


WHOLE: Final = (
    *(_status(status) for status in STATUSES),
    *(Way(fault.name.lower(), lambda _, fault=fault: fault) for fault in Fault),
    Bytes("nothing", lambda _: b""),
    Bytes("null", lambda _: b"null"),
    Bytes("a list", lambda body: b"[" + body + b"]"),
    Bytes("a text", lambda _: b'"good"'),
    Bytes("a number", lambda _: b"1e999"),
    Bytes("an object without anything", lambda _: b"{}"),
    Bytes("half of it", lambda body: body[: len(body) // 2]),
    Bytes("it twice", lambda body: body + body),
    Bytes("each member twice", _doubled),
    Bytes("with a mark before it", lambda body: b"\xef\xbb\xbf" + body),
    Bytes("other letters", lambda body: body.decode().encode("utf-16")),
    Bytes("broken letters", lambda body: body.replace(b'"', b'"\xff\xfe', 3)),
    Bytes("a hundred thousand brackets", lambda _: b"[" * 100_000),
    Bytes("a hundred thousand objects", lambda _: b'{"a":' * 100_000),
    Bytes("a number of five thousand digits", lambda _: b'{"markets":' + b"9" * 5_000 + b"}"),
    Bytes("a hundred megabytes", lambda body: body + b" " * (100 * MEGABYTE)),
    Bytes("a hundred thousand rows", lambda _: b'{"markets":[' + b"{}," * 100_000 + b"{}]}"),
)


@dataclass(frozen=True)
class Raw:
    """A number as it is written."""

    text: str


WRONG: Final[tuple[Any, ...]] = (
    None, True, "", "x", "\x1b[2J\x07[bold]\u202e", "9" * 400, "9999-99-99T99:99:99Z",
    "2500-01-01T00:00:00Z", "0001-01-01T00:00:00Z", 0, -1, 0.5, 2**31, 2**53 + 1, 2**64, -(10**18),
    1e308, Raw("1e400"), Raw("-Infinity"), Raw("NaN"), Raw("9" * 330), [], [None], {}, {"a": 1},
)  # fmt: skip
"""Values of every kind, and numbers at and beyond every bound."""


def places(tree: Any, before: Place = ()) -> Iterator[Place]:
    """Every field of a body; of a list its first row and its last, whose rows are alike."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield (*before, name)
            yield from places(value, (*before, name))
    elif isinstance(tree, list) and tree:
        for index in sorted({0, len(tree) - 1}):
            yield (*before, index)
            yield from places(tree[index], (*before, index))


@lru_cache(maxsize=1)
def around(body: bytes, place: Place) -> tuple[str, str]:
    """What stands before the value of a place, and behind it; the next value is of the same one."""
    tree = json.loads(body)
    node = tree
    for part in place[:-1]:
        node = node[part]
    mark = "\x00here\x00"
    node[place[-1]] = mark
    before, _, behind = json.dumps(tree).partition(json.dumps(mark))
    return before, behind


def with_value(body: bytes, place: Place, value: Any) -> bytes:
    """The body with another value at a place."""
    before, behind = around(body, place)
    return (
        before + (value.text if isinstance(value, Raw) else json.dumps(value)) + behind
    ).encode()


def without(body: bytes, place: Place) -> bytes:
    """The body without a field, or without a row."""
    tree = json.loads(body)
    node = tree
    for part in place[:-1]:
        node = node[part]
    del node[place[-1]]
    return json.dumps(tree).encode()


def field_ways(body: bytes, values: Sequence[Any] = WRONG) -> Iterator[Bytes]:
    """For each field of an answer: without it, and with each wrong value."""
    for place in dict.fromkeys(places(json.loads(body))):
        named = ".".join(map(str, place))
        yield Bytes(f"without {named}", lambda body, place=place: without(body, place))
        for value in values:
            yield Bytes(
                f"{named} = {value!r:.30}",
                lambda body, place=place, value=value: with_value(body, place, value),
            )

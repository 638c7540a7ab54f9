"""Recursive length prefixes by hand: the bytes of a transaction, and back, in one way only."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from service_tui.signing.errors import MalformedError

Item: TypeAlias = "bytes | tuple[Item, ...]"

_SHORT_MAX: Final = 55
"""Bytes whose length fits the first byte. Source: Yellow Paper, appendix B."""

_TEXT: Final = 0x80
_LIST: Final = 0xC0
_DEPTH_MAX: Final = 8
"""Lists in lists; a transaction has three."""


def encoded(item: Item) -> bytes:
    """The bytes of a text or of a list of items."""
    if isinstance(item, bytes):
        if len(item) == 1 and item[0] < _TEXT:
            return item
        return _prefix(len(item), _TEXT) + item
    return encoded_list([encoded(part) for part in item])


def encoded_list(parts: Sequence[bytes]) -> bytes:
    """The bytes of a list whose items are encoded already."""
    body = b"".join(parts)
    return _prefix(len(body), _LIST) + body


def encoded_number(number: int) -> bytes:
    """The bytes of a number >= 0, without leading zeros."""
    return encoded(number.to_bytes((number.bit_length() + 7) // 8, "big"))


def decoded(data: bytes) -> Item:
    """What the bytes hold, where they are the one way to write it.

    Returns:
        Bytes, or a tuple of items.

    Raises:
        MalformedError: cut off, something behind the end, too deep, or written in a longer way.
    """
    item, end = _read(data, 0, _DEPTH_MAX)
    if end != len(data):
        raise MalformedError(f"{len(data) - end} bytes stand behind the end")
    return item


def number(item: Item, *, bits: int) -> int:
    """A number of a list.

    Returns:
        0 to 2^bits - 1.

    Raises:
        MalformedError: a list, too large, or with leading zeros.
    """
    if not isinstance(item, bytes) or len(item) * 8 > bits or item[:1] == b"\0":
        raise MalformedError(f"a number of up to {bits} bits is expected")
    return int.from_bytes(item, "big")


def _prefix(length: int, base: int) -> bytes:
    if length <= _SHORT_MAX:
        return bytes([base + length])
    size = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([base + _SHORT_MAX + len(size)]) + size


def _read(data: bytes, at: int, depth: int) -> tuple[Item, int]:
    """The item that begins here, and where the next one would."""
    if at >= len(data) or not depth:
        raise MalformedError("the bytes are cut off or nested too deeply")
    first = data[at]
    if first < _TEXT:
        return data[at : at + 1], at + 1
    base = _LIST if first >= _LIST else _TEXT
    start, length = _length(data, at, base)
    end = start + length
    if end > len(data):
        raise MalformedError("the bytes are cut off")
    if base == _TEXT:
        text = data[start:end]
        if length == 1 and text[0] < _TEXT:
            raise MalformedError("a single byte is written in a longer way than needed")
        return text, end
    items: list[Item] = []
    while start < end:
        item, start = _read(data, start, depth - 1)
        items.append(item)
    if start != end:
        raise MalformedError("an item reaches beyond its list")
    return tuple(items), end


def _length(data: bytes, at: int, base: int) -> tuple[int, int]:
    """Where the content begins, and how many bytes it has."""
    marked = data[at] - base
    if marked <= _SHORT_MAX:
        return at + 1, marked
    size = data[at + 1 : at + 1 + marked - _SHORT_MAX]
    length = int.from_bytes(size, "big")
    if len(size) != marked - _SHORT_MAX or size[:1] == b"\0" or length <= _SHORT_MAX:
        raise MalformedError("a length is cut off or written in a longer way than needed")
    return at + 1 + len(size), length

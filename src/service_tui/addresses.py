"""Addresses of EVM wallets: what is one, and how it is written with its checksum."""

import re
from functools import lru_cache
from typing import Final

ZERO_ADDRESS: Final = "0x" + "00" * 20
"""Nobody's: what is sent there is lost."""

_ADDRESS: Final = re.compile(r"0[xX][0-9a-fA-F]{40}\Z")
_RATE: Final = 136
"""Bytes that one permutation takes in. Source: Keccak, capacity 512."""

_MASK: Final = (1 << 64) - 1
_HALF: Final = 8
"""A digit of the hash from which on the letter of the address is a capital. Source: EIP-55."""


def _rotations() -> tuple[int, ...]:
    """By how much each lane is turned. Source: Keccak reference, 1.2, "rho"."""
    turns = [0] * 25
    x, y = 1, 0
    for step in range(24):
        turns[x + 5 * y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return tuple(turns)


def _constants() -> tuple[int, ...]:
    """What is mixed into the first lane of each round. Source: Keccak reference, 1.2, "iota"."""
    found: list[int] = []
    register = 1
    for _ in range(24):
        constant = 0
        for power in range(7):
            constant |= (register & 1) << ((1 << power) - 1)
            register = register << 1 ^ (0x171 if register & 0x80 else 0)
        found.append(constant)
    return tuple(found)


_TURNS: Final = _rotations()
_ROUNDS: Final = _constants()
_COLUMNS: Final = tuple(((x + 4) % 5, (x + 1) % 5) for x in range(5))
_LANES: Final = tuple(
    (y + 5 * ((2 * x + 3 * y) % 5), _TURNS[x + 5 * y], x) for y in range(5) for x in range(5)
)
_ROWS: Final = tuple(
    (x + 5 * y, (x + 1) % 5 + 5 * y, (x + 2) % 5 + 5 * y) for y in range(5) for x in range(5)
)


def _permuted(lanes: list[int]) -> list[int]:
    """The state after 24 rounds. One flat line a step: a watchlist has many addresses to check."""
    for constant in _ROUNDS:
        sums = [
            lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
            for x in range(5)
        ]
        mixed = [
            sums[left] ^ (sums[right] << 1 | sums[right] >> 63) & _MASK for left, right in _COLUMNS
        ]
        moved = [0] * 25
        for lane, (target, by, column) in zip(lanes, _LANES, strict=True):
            turned = lane ^ mixed[column]
            moved[target] = (turned << by | turned >> (64 - by)) & _MASK
        lanes = [moved[a] ^ (~moved[b] & moved[c]) for a, b, c in _ROWS]
        lanes[0] ^= constant
    return lanes


def keccak256(data: bytes) -> bytes:
    """The hash of the EVM, which is not the SHA-3 of the standard library: it pads otherwise."""
    padded = bytearray(data)
    padded += b"\x01" + bytes(-(len(data) + 1) % _RATE)
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), _RATE):
        for lane in range(_RATE // 8):
            at = start + lane * 8
            lanes[lane] ^= int.from_bytes(padded[at : at + 8], "little")
        lanes = _permuted(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def is_address(text: str) -> bool:
    """True for the form of an address; the checksum is not checked."""
    return _ADDRESS.match(text) is not None


@lru_cache(maxsize=4_096)
def checksummed(address: str) -> str:
    """An address with the capitals that are its checksum. Source: EIP-55.

    Returns:
        `0x` and 40 hex digits; the same for every spelling of one address.

    Raises:
        ValueError: it has not the form of an address.
    """
    if not is_address(address):
        raise ValueError("an address is 0x and 40 hex digits")
    digits = address[2:].lower()
    marks = keccak256(digits.encode()).hex()
    return "0x" + "".join(
        digit.upper() if int(mark, 16) >= _HALF else digit
        for digit, mark in zip(digits, marks, strict=False)
    )


def checked_address(text: str) -> str:
    """An address as a person or program gave it, with its checksum.

    Returns:
        The address, checksummed.

    Raises:
        ValueError: no address, or capitals and small letters that contradict its checksum.
    """
    found = checksummed(text)
    digits = text[2:]
    if digits not in {digits.lower(), digits.upper()} and digits != found[2:]:
        raise ValueError("the address's checksum is wrong: a digit is mistyped")
    return found

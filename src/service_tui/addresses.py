"""EVM addresses: validation, and writing them with their checksum."""

import re
from functools import lru_cache
from typing import Final

from service_tui.pasted import wallet

ZERO_ADDRESS: Final = "0x" + "00" * 20
"""Nobody's: what is sent there is lost."""

_ADDRESS: Final = re.compile(r"0[xX][0-9a-fA-F]{40}\Z")
_BITS: Final = 256
_HALF: Final = 8
"""A digit of the hash from which on the letter of the address is a capital. Source: EIP-55."""


def keccak256(data: bytes) -> bytes:
    """The hash of the EVM, which is not the SHA-3 of the standard library: it pads otherwise.

    Returns:
        32 bytes.
    """
    # Loaded by the first hash: many commands need none.
    from Crypto.Hash import keccak  # noqa: PLC0415

    return keccak.new(digest_bits=_BITS, data=data).digest()


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
    """An address as a person or program gave it, pasted or typed, with its checksum.

    Returns:
        The address, checksummed.

    Raises:
        ValueError: no address, or capitals and small letters that contradict its checksum.
    """
    given = wallet(text)
    found = checksummed(given)
    digits = given[2:]
    if digits not in {digits.lower(), digits.upper()} and digits != found[2:]:
        raise ValueError("the address's checksum is wrong: a digit is mistyped")
    return found

"""Ids of outcome tokens, computed from a condition.

Used before an order is signed, and by the service, whose ids come from here too.
"""

import re
from functools import lru_cache
from typing import Final

from service_tui.addresses import keccak256
from service_tui.signing.book import POLYGON, AddressBook
from service_tui.signing.errors import MalformedError

_P: Final = 21888242871839275222246405745257275088696311157297823662689037894645226208583
_B: Final = 3
"""The curve on which collections lie. Source: conditional-tokens-contracts, CTHelpers.sol."""

_ROOT: Final = (_P + 1) // 4
_ODD_BIT: Final = 1 << 254
_TOP: Final = 255
_YES_SET: Final = 1
_NO_SET: Final = 2
_CONDITION: Final = re.compile(r"0[xX][0-9a-fA-F]{64}\Z")
_KEPT: Final = 4_096


def condition_bytes(text: str) -> bytes:
    """A condition id as bytes.

    Returns:
        32 bytes.

    Raises:
        MalformedError: the text is no condition id.
    """
    if not _CONDITION.match(text):
        raise MalformedError("the service does not name the condition of this market")
    return bytes.fromhex(text[2:])


@lru_cache(_KEPT)
def collection_id(condition: bytes, index_set: int) -> bytes:
    """The id of a collection without a parent. Source: CTHelpers.sol, `getCollectionId`."""
    seed = int.from_bytes(keccak256(condition + index_set.to_bytes(32, "big")), "big")
    x = seed % _P
    while True:
        x = (x + 1) % _P
        square = (pow(x, 3, _P) + _B) % _P
        y = pow(square, _ROOT, _P)
        if y * y % _P == square:
            break
    if (seed >> _TOP) != y % 2:
        y = _P - y
    return (x ^ _ODD_BIT if y % 2 else x).to_bytes(32, "big")


def position_id(collateral: str, collection: bytes) -> int:
    """The id of a collection's token. Source: CTHelpers.sol, `getPositionId`."""
    return int.from_bytes(keccak256(bytes.fromhex(collateral[2:]) + collection), "big")


@lru_cache(_KEPT)
def outcome_token(
    condition: bytes, *, is_yes: bool, is_neg_risk: bool, book: AddressBook = POLYGON
) -> int:
    """The token of a side. Both generations of the exchange trade the same tokens.

    Args:
        condition: 32 bytes.
        is_yes: which side.
        is_neg_risk: a market of several outcomes, whose tokens stand on the wrapped collateral.
        book: the chain's contracts.

    Returns:
        The ERC-1155 id.
    """
    collateral = book.wrapped_collateral if is_neg_risk else book.usdc_bridged
    return position_id(collateral, collection_id(condition, _YES_SET if is_yes else _NO_SET))

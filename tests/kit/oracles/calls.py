"""Calls of contracts, read and written by hand: what the product's own codec is compared with."""

from typing import Final

from service_tui.addresses import checksummed, keccak256
from service_tui.signing.calls import (
    Approve,
    Call,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
)
from service_tui.signing.errors import MalformedError, UnknownCallError

UINT_MAX: Final = 2**256 - 1
WORD: Final = 32
ZERO_32: Final = bytes(WORD)
LIST_MAX: Final = 256
"""Outcomes that a condition can have. Source: conditional tokens, `prepareCondition`."""


REDEEM_POSITIONS: Final = bytes.fromhex("01b7037c")
REDEEM_NEG_RISK: Final = bytes.fromhex("dbeccb23")
APPROVE: Final = bytes.fromhex("095ea7b3")
SET_APPROVAL_FOR_ALL: Final = bytes.fromhex("a22cb465")
"""First bytes of the call data. Source: wire reference, 6.5 and 6.6."""


def selector(signature: str) -> bytes:
    """The four bytes that name a function, like `balanceOf(address,uint256)`."""
    return keccak256(signature.encode())[:4]


def encode_call(call: Call) -> bytes:
    """The call data of a call.

    Returns:
        Selector and arguments, in the one form that is signed.

    Raises:
        MalformedError: a number that fits no word.
    """
    match call:
        case RedeemPositions():
            head = [
                address_word(call.collateral),
                bytes32_word(call.parent_collection_id),
                bytes32_word(call.condition_id),
                uint_word(4 * WORD),
            ]
            return REDEEM_POSITIONS + b"".join(head) + _list_words(call.index_sets)
        case RedeemNegRisk():
            head = [bytes32_word(call.condition_id), uint_word(2 * WORD)]
            return REDEEM_NEG_RISK + b"".join(head) + _list_words(call.amounts)
        case Approve():
            return APPROVE + address_word(call.spender) + uint_word(call.amount)
        case SetApprovalForAll():
            approved = uint_word(int(call.is_approved))
            return SET_APPROVAL_FOR_ALL + address_word(call.operator) + approved


def decode_call(data: bytes) -> Call:
    """What call data asks for, where it is the one way to write it.

    Returns:
        The call; encoded again it gives the same bytes.

    Raises:
        UnknownCallError: no function that is known here.
        MalformedError: arguments cut off, out of range, with bytes behind them, or in another form.
    """
    decoder = _DECODERS.get(data[:4])
    if decoder is None:
        raise UnknownCallError(f"the call names the function 0x{data[:4].hex()}, which is unknown")
    call = decoder(_Words(data[4:]))
    if encode_call(call) != data:
        raise MalformedError("the arguments are not written in the one form that is signed")
    return call


def uint_word(number: int) -> bytes:
    """A number as one word."""
    if not 0 <= number <= UINT_MAX:
        raise MalformedError("a number does not fit 256 bits")
    return number.to_bytes(WORD, "big")


def address_word(address: str) -> bytes:
    """An address as one word.

    Returns:
        32 bytes.

    Raises:
        MalformedError: no address.
    """
    try:
        return bytes(12) + bytes.fromhex(checksummed(address)[2:])
    except ValueError as error:
        raise MalformedError(str(error)) from error


def bytes32_word(data: bytes) -> bytes:
    """An id of 32 bytes as one word."""
    if len(data) != WORD:
        raise MalformedError(f"an id has {WORD} bytes, not {len(data)}")
    return data


def _list_words(numbers: tuple[int, ...]) -> bytes:
    return uint_word(len(numbers)) + b"".join(map(uint_word, numbers))


class _Words:
    """The arguments of a call, read word by word."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def at(self, index: int) -> bytes:
        word = self._data[index * WORD : (index + 1) * WORD]
        if len(word) != WORD:
            raise MalformedError("the arguments are cut off")
        return word

    def number(self, index: int) -> int:
        return int.from_bytes(self.at(index), "big")

    def address(self, index: int) -> str:
        word = self.at(index)
        if any(word[:12]):
            raise MalformedError("an address is longer than 20 bytes")
        return checksummed("0x" + word[12:].hex())

    def boolean(self, index: int) -> bool:
        number = self.number(index)
        if number not in {0, 1}:
            raise MalformedError("a yes or no is neither 0 nor 1")
        return number == 1

    def numbers(self, index: int) -> tuple[int, ...]:
        """A list whose place stands in a word; only the place behind the head is canonical."""
        place, rest = divmod(self.number(index), WORD)
        if rest or place != index + 1:
            raise MalformedError("a list does not stand where it must")
        length = self.number(place)
        if length > LIST_MAX:
            raise MalformedError(f"a list has more than {LIST_MAX} entries")
        return tuple(self.number(place + 1 + step) for step in range(length))


def _redeem_positions(words: _Words) -> Call:
    return RedeemPositions(words.address(0), words.at(1), words.at(2), words.numbers(3))


def _redeem_neg_risk(words: _Words) -> Call:
    return RedeemNegRisk(words.at(0), words.numbers(1))


def _approve(words: _Words) -> Call:
    return Approve(words.address(0), words.number(1))


def _set_approval_for_all(words: _Words) -> Call:
    return SetApprovalForAll(words.address(0), words.boolean(1))


_DECODERS: Final = {
    REDEEM_POSITIONS: _redeem_positions,
    REDEEM_NEG_RISK: _redeem_neg_risk,
    APPROVE: _approve,
    SET_APPROVAL_FOR_ALL: _set_approval_for_all,
}

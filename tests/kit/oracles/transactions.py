"""Transactions of type 2 read by hand: what the product's own reader is compared with."""

from typing import Final

from kit.oracles import rlp
from service_tui.addresses import checksummed, keccak256
from service_tui.signing.errors import MalformedError
from service_tui.signing.signer import ORDER, V_OFFSET, recovered
from service_tui.signing.transactions import (
    RAW_MAX,
    SignedTransaction,
    Transaction,
    bytes_of_hex,
)

TYPE_2: Final = b"\x02"
_FIELDS: Final = 12
_WORD_BITS: Final = 256
_NONCE_BITS: Final = 64


def digest_of(transaction: Transaction) -> bytes:
    """What is signed of a transaction: 32 bytes. Source: EIP-1559.

    Returns:
        The hash that the signature is made of.

    Raises:
        MalformedError: a field that no transaction can hold.
    """
    return keccak256(TYPE_2 + rlp.encoded_list(_fields(transaction)))


def decode_transaction(signed: str | bytes) -> SignedTransaction:
    """Read a signed transaction, where its bytes are the one way to write it.

    Args:
        signed: the bytes, or `0x` and their hex digits.

    Returns:
        What it says and who signed it.

    Raises:
        MalformedError: no hex, another type, another form, an access list, no true signature.
    """
    raw = _bytes(signed)
    if raw[:1] != TYPE_2:
        raise MalformedError("the transaction is not of type 2")
    items = rlp.decoded(raw[1:])
    if not isinstance(items, tuple) or len(items) != _FIELDS:
        raise MalformedError(f"a signed transaction of type 2 has {_FIELDS} fields")
    if items[8] != ():
        raise MalformedError("the transaction has an access list")
    transaction = Transaction(
        chain_id=rlp.number(items[0], bits=_NONCE_BITS),
        nonce=rlp.number(items[1], bits=_NONCE_BITS),
        max_priority_fee=rlp.number(items[2], bits=_WORD_BITS),
        max_fee=rlp.number(items[3], bits=_WORD_BITS),
        gas=rlp.number(items[4], bits=_NONCE_BITS),
        to=_address(items[5]),
        value=rlp.number(items[6], bits=_WORD_BITS),
        data=_data(items[7]),
    )
    parity, r, s = (rlp.number(item, bits=_WORD_BITS) for item in items[9:])
    if parity > 1 or not (r < ORDER and s < ORDER):
        raise MalformedError("the signature's numbers are out of range")
    signature = r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([parity + V_OFFSET])
    sender = recovered(digest_of(transaction), signature)
    return SignedTransaction(transaction, sender, raw, "0x" + keccak256(raw).hex())


def _bytes(signed: str | bytes) -> bytes:
    raw = bytes_of_hex(signed) if isinstance(signed, str) else signed
    if len(raw) > RAW_MAX:
        raise MalformedError(f"a transaction has at most {RAW_MAX} bytes")
    return raw


def _fields(transaction: Transaction) -> list[bytes]:
    """The nine fields that are signed, encoded."""
    _check(transaction)
    return [
        rlp.encoded_number(transaction.chain_id),
        rlp.encoded_number(transaction.nonce),
        rlp.encoded_number(transaction.max_priority_fee),
        rlp.encoded_number(transaction.max_fee),
        rlp.encoded_number(transaction.gas),
        rlp.encoded(bytes.fromhex(checksummed(transaction.to)[2:])),
        rlp.encoded_number(transaction.value),
        rlp.encoded(transaction.data),
        rlp.encoded(()),
    ]


def _check(transaction: Transaction) -> None:
    """Refuse numbers that the chain's own fields cannot hold."""
    small = (transaction.chain_id, transaction.nonce, transaction.gas)
    large = (transaction.max_priority_fee, transaction.max_fee, transaction.value)
    if not all(0 <= number < 1 << _NONCE_BITS for number in small) or not all(
        0 <= number < 1 << _WORD_BITS for number in large
    ):
        raise MalformedError("a number of the transaction is out of range")


def _address(item: rlp.Item) -> str:
    if not isinstance(item, bytes) or len(item) != 20:
        raise MalformedError("the transaction has no address that it goes to")
    return checksummed("0x" + item.hex())


def _data(item: rlp.Item) -> bytes:
    if not isinstance(item, bytes):
        raise MalformedError("the call data is a list")
    return item

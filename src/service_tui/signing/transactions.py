"""Transactions of type 2: built, signed, written as bytes and read back.

Knows EIP-2718 and EIP-1559. Must not know which contracts or calls are allowed: policy does.
Used by policy and approvals, which sign, and by the service's relay, which reads.
"""

import re
from dataclasses import dataclass
from typing import Final

from service_tui.addresses import checksummed, keccak256
from service_tui.signing import rlp
from service_tui.signing.book import CHAIN_ID
from service_tui.signing.errors import MalformedError
from service_tui.signing.signer import ORDER, V_OFFSET, Signer, recovered

TYPE_2: Final = b"\x02"
RAW_MAX: Final = 131_072
"""Bytes that a node takes at most for one transaction. Source: go-ethereum, `txMaxSize`."""

_HEX: Final = re.compile(r"0[xX]((?:[0-9a-fA-F]{2})*)\Z")
_FIELDS: Final = 12
_WORD_BITS: Final = 256
_NONCE_BITS: Final = 64
"""Source: EIP-2681."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction of type 2, with an empty access list; amounts and fees in wei."""

    chain_id: int = CHAIN_ID
    nonce: int
    max_priority_fee: int
    max_fee: int
    gas: int
    to: str
    value: int = 0
    data: bytes = b""

    @property
    def cost_max(self) -> int:
        """The most that it can take from the wallet, wei."""
        return self.gas * self.max_fee + self.value


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """A signed transaction: what it says, who signed it, its bytes and its hash."""

    transaction: Transaction
    sender: str
    raw: bytes
    tx_hash: str

    @property
    def hex(self) -> str:
        """The bytes as `0x` and hex digits, as `broadcast-tx` takes them."""
        return "0x" + self.raw.hex()


def digest_of(transaction: Transaction) -> bytes:
    """What is signed of a transaction: 32 bytes. Source: EIP-1559.

    Returns:
        The hash that the signature is made of.

    Raises:
        MalformedError: a field that no transaction can hold.
    """
    return keccak256(TYPE_2 + rlp.encoded_list(_fields(transaction)))


def sign_transaction(transaction: Transaction, signer: Signer) -> SignedTransaction:
    """Sign a transaction. Whoever calls this has judged it.

    Returns:
        The bytes that may be broadcast, and their hash, computed here.

    Raises:
        LockedError: the key is not at hand.
        MalformedError: a field that no transaction can hold.
    """
    signed = decode_transaction(_raw(transaction, signer.sign(digest_of(transaction))))
    if signed.sender != signer.address:
        raise MalformedError("the signer gave a signature of another key")
    return signed


def hash_of(raw: bytes) -> str:
    """The hash by which the chain knows a signed transaction: `0x` and 64 hex digits."""
    return "0x" + keccak256(raw).hex()


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
    return SignedTransaction(transaction, sender, raw, hash_of(raw))


def bytes_of_hex(text: str) -> bytes:
    """The bytes behind `0x` and an even number of hex digits.

    Returns:
        The bytes, also none.

    Raises:
        MalformedError: something else.
    """
    found = _HEX.match(text) if len(text) <= 2 * RAW_MAX + 2 else None
    if found is None:
        raise MalformedError("0x and an even number of hex digits are expected")
    return bytes.fromhex(found[1])


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


def _raw(transaction: Transaction, signature: bytes) -> bytes:
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
    numbers = [rlp.encoded_number(part) for part in (signature[64] - V_OFFSET, r, s)]
    return TYPE_2 + rlp.encoded_list([*_fields(transaction), *numbers])


def _check(transaction: Transaction) -> None:
    """Refuse numbers that the chain's own fields cannot hold."""
    small = (transaction.chain_id, transaction.nonce, transaction.gas)
    large = (transaction.max_priority_fee, transaction.max_fee, transaction.value)
    if not all(0 <= number < 1 << _NONCE_BITS for number in small) or not all(
        0 <= number < 1 << _WORD_BITS for number in large
    ):
        raise MalformedError("a number of the transaction is out of range")


def _address(item: rlp.Item) -> str:
    if not isinstance(item, bytes) or len(item) != 20:  # noqa: PLR2004  (bytes of an address)
        raise MalformedError("the transaction has no address that it goes to")
    return checksummed("0x" + item.hex())


def _data(item: rlp.Item) -> bytes:
    if not isinstance(item, bytes):
        raise MalformedError("the call data is a list")
    return item

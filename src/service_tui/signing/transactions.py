"""Transactions of type 2: built, signed, written as bytes and read back."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from service_tui.addresses import checksummed
from service_tui.signing import keep_recursion_limit
from service_tui.signing.book import CHAIN_ID
from service_tui.signing.errors import MalformedError, OtherTypeError
from service_tui.signing.signer import V_OFFSET, Signer, recovered

if TYPE_CHECKING:
    from eth_account.typed_transactions.typed_transaction import TypedTransaction

TYPE_2: Final = b"\x02"
RAW_MAX: Final = 131_072
"""Bytes that a node takes at most for one transaction. Source: go-ethereum, `txMaxSize`."""

_HEX: Final = re.compile(r"0[xX]((?:[0-9a-fA-F]{2})*)\Z")
_WORD_BITS: Final = 256
_NONCE_BITS: Final = 64
"""Source: EIP-2681."""

_ADDRESS_BYTES: Final = 20


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
        """Maximum cost to the wallet, wei."""
        return self.gas * self.max_fee + self.value


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """A signed transaction: content, signer, bytes and hash."""

    transaction: Transaction
    sender: str
    raw: bytes
    tx_hash: str

    @property
    def hex(self) -> str:
        """The bytes as `0x` and hex digits, as `broadcast-tx` takes them."""
        return "0x" + self.raw.hex()


def digest_of(transaction: Transaction) -> bytes:
    """Digest of a transaction: 32 bytes. Source: EIP-1559.

    Returns:
        The hash that the signature is made of.

    Raises:
        MalformedError: a field that no transaction can hold.
    """
    return bytes(_typed(transaction).hash())


def sign_transaction(transaction: Transaction, signer: Signer) -> SignedTransaction:
    """Sign a transaction. The caller has checked it against the policy.

    Returns:
        The bytes that may be broadcast, and their hash, computed here.

    Raises:
        LockedError: the key is not at hand.
        MalformedError: a field that no transaction can hold.
    """
    signature = signer.sign(digest_of(transaction))
    signed = decode_transaction(_typed(transaction, signature).encode())
    if signed.sender != signer.address:
        raise MalformedError("the signer gave a signature of another key")
    if signed.transaction != replace(transaction, to=checksummed(transaction.to)):
        raise MalformedError("the signed bytes say something else than was to be signed")
    return signed


def hash_of(raw: bytes) -> str:
    """The hash by which the chain knows a signed transaction: `0x` and 64 hex digits."""
    from eth_utils.crypto import keccak  # noqa: PLC0415

    return "0x" + keccak(raw).hex()


def decode_transaction(signed: str | bytes) -> SignedTransaction:
    """Read a signed transaction, where its bytes are the one way to write it.

    Args:
        signed: the bytes, or `0x` and their hex digits.

    Returns:
        Its content and its signer.

    Raises:
        MalformedError: no hex, another form, an access list, no true signature.
        OtherTypeError: another type.
    """
    raw = _bytes(signed)
    if raw[:1] != TYPE_2:
        raise OtherTypeError("the transaction is not of type 2")
    fields = _read(raw)
    if fields["accessList"]:
        raise MalformedError("the transaction has an access list")
    if len(fields["to"]) != _ADDRESS_BYTES:
        raise MalformedError("the transaction has no address that it goes to")
    transaction = Transaction(
        chain_id=fields["chainId"],
        nonce=fields["nonce"],
        max_priority_fee=fields["maxPriorityFeePerGas"],
        max_fee=fields["maxFeePerGas"],
        gas=fields["gas"],
        to=checksummed("0x" + fields["to"].hex()),
        value=fields["value"],
        data=bytes(fields["data"]),
    )
    parity, r, s = fields["v"], fields["r"], fields["s"]
    if parity > 1 or max(r, s) >= 1 << _WORD_BITS:
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
    match = _HEX.match(text) if len(text) <= 2 * RAW_MAX + 2 else None
    if match is None:
        raise MalformedError("0x and an even number of hex digits are expected")
    return bytes.fromhex(match[1])


def _bytes(signed: str | bytes) -> bytes:
    raw = bytes_of_hex(signed) if isinstance(signed, str) else signed
    if len(raw) > RAW_MAX:
        raise MalformedError(f"a transaction has at most {RAW_MAX} bytes")
    return raw


def _read(raw: bytes) -> dict[str, Any]:
    """The fields of a signed transaction of type 2, where its bytes are the one way to write it."""
    from eth_account.typed_transactions.typed_transaction import TypedTransaction  # noqa: PLC0415
    from hexbytes import HexBytes  # noqa: PLC0415

    keep_recursion_limit()
    try:
        transaction = TypedTransaction.from_bytes(HexBytes(raw))
        encoded, fields = transaction.encode(), transaction.as_dict()
    except Exception as error:
        # The bytes come from outside: whatever the library raises, they are no transaction.
        raise MalformedError("the bytes are no signed transaction of type 2") from error
    if encoded != raw:
        raise MalformedError("the bytes are not the one way to write this transaction")
    return fields


def _typed(transaction: Transaction, signature: bytes | None = None) -> "TypedTransaction":
    """The transaction as the library takes it, signed or not."""
    from eth_account.typed_transactions.typed_transaction import TypedTransaction  # noqa: PLC0415

    keep_recursion_limit()
    _check(transaction)
    fields: dict[str, Any] = {
        "type": 2,
        "chainId": transaction.chain_id,
        "nonce": transaction.nonce,
        "maxPriorityFeePerGas": transaction.max_priority_fee,
        "maxFeePerGas": transaction.max_fee,
        "gas": transaction.gas,
        "to": checksummed(transaction.to),
        "value": transaction.value,
        "data": transaction.data,
        "accessList": (),
    }
    if signature is not None:
        fields["v"] = signature[64] - V_OFFSET
        fields["r"] = int.from_bytes(signature[:32], "big")
        fields["s"] = int.from_bytes(signature[32:64], "big")
    return TypedTransaction.from_dict(fields)


def _check(transaction: Transaction) -> None:
    """Refuse numbers that the chain's own fields cannot hold."""
    small = (transaction.chain_id, transaction.nonce, transaction.gas)
    large = (transaction.max_priority_fee, transaction.max_fee, transaction.value)
    if not all(0 <= number < 1 << _NONCE_BITS for number in small) or not all(
        0 <= number < 1 << _WORD_BITS for number in large
    ):
        raise MalformedError("a number of the transaction is out of range")

"""Transactions of a Solana-type chain: enough to have a rehearsal wallet sign a quote.

A transaction of version 0 with one signer and one memo that holds the terms of the trade. Nothing
is sent to any chain: the signature proves that the wallet agreed to exactly these terms.
Source: wire reference, 2.3, "base64 unsigned VersionedTransaction".
"""

import base64
import hashlib
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from service_tui.signing.errors import MalformedError

_ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_KEY_BYTES: Final = 32
_SIGNATURE_BYTES: Final = 64
_VERSION_0: Final = 0x80
_HEADER: Final = bytes((1, 0, 1))
"""One signer, who also pays; the memo program is read only."""

_MEMO_PROGRAM: Final = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"
TRANSACTION_MAX: Final = 1_232
"""Bytes of a transaction on that chain."""


def decode_base58(text: str) -> bytes:
    """The bytes of an address; MalformedError where it is none of 32 bytes."""
    number = 0
    for letter in text:
        digit = _ALPHABET.find(letter)
        if digit < 0:
            raise MalformedError("not base 58")
        number = number * len(_ALPHABET) + digit
    zeros = len(text) - len(text.lstrip(_ALPHABET[0]))
    raw = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    if len(raw) != _KEY_BYTES:
        raise MalformedError("not an address of 32 bytes")
    return raw


def encode_base58(raw: bytes) -> str:
    """The text of an address."""
    number = int.from_bytes(raw, "big")
    letters = ""
    while number:
        number, digit = divmod(number, len(_ALPHABET))
        letters = _ALPHABET[digit] + letters
    return _ALPHABET[0] * (len(raw) - len(raw.lstrip(b"\0"))) + letters


def _length(count: int) -> bytes:
    """A length in the chain's form: seven bits a byte, the lowest first."""
    out = bytearray()
    while True:
        count, low = count >> 7, count & 0x7F
        out.append(low | (0x80 if count else 0))
        if not count:
            return bytes(out)


def memo_message(wallet: str, memo: str) -> bytes:
    """The message that a wallet signs: a memo, paid by the wallet.

    Raises:
        MalformedError: the wallet is no address.
    """
    keys = (decode_base58(wallet), decode_base58(_MEMO_PROGRAM))
    data = memo.encode()
    # No chain is asked for a recent block: the memo itself makes the message one of its kind.
    block = hashlib.sha256(data).digest()
    instruction = bytes((1,)) + _length(1) + bytes((0,)) + _length(len(data)) + data
    return b"".join((
        bytes((_VERSION_0,)),
        _HEADER,
        _length(len(keys)),
        *keys,
        block,
        _length(1),
        instruction,
        _length(0),
    ))


def unsigned_transaction(message: bytes) -> str:
    """The transaction with an empty signature, base64."""
    return base64.b64encode(_length(1) + bytes(_SIGNATURE_BYTES) + message).decode()


def sign_transaction(transaction: str, secret: bytes) -> str:
    """The transaction signed by a key of 32 bytes, base64; for rehearsals and tests."""
    raw = base64.b64decode(transaction, validate=True)
    message = raw[1 + _SIGNATURE_BYTES :]
    signature = Ed25519PrivateKey.from_private_bytes(secret).sign(message)
    return base64.b64encode(raw[:1] + signature + message).decode()


def wallet_of(secret: bytes) -> str:
    """The address of a key of 32 bytes."""
    public = Ed25519PrivateKey.from_private_bytes(secret).public_key()
    return encode_base58(public.public_bytes(Encoding.Raw, PublicFormat.Raw))


def signature_of(transaction: str) -> str:
    """The signature of a transaction that was checked, base 58: its name on the chain."""
    raw = base64.b64decode(transaction, validate=True)
    return encode_base58(raw[1 : 1 + _SIGNATURE_BYTES])


def check_signed(transaction: str, message: bytes, wallet: str) -> None:
    """Check that a wallet signed exactly this message.

    Raises:
        MalformedError: the text is no transaction, its message is another one, or the signature
            is not the wallet's.
    """
    try:
        raw = base64.b64decode(transaction, validate=True)
    except ValueError as error:
        raise MalformedError("the transaction is not base64") from error
    if len(raw) > TRANSACTION_MAX or raw[:1] != _length(1):
        raise MalformedError("this is no transaction of one signer")
    signature, signed = raw[1 : 1 + _SIGNATURE_BYTES], raw[1 + _SIGNATURE_BYTES :]
    if signed != message:
        raise MalformedError("the transaction is not the one that was quoted")
    try:
        Ed25519PublicKey.from_public_bytes(decode_base58(wallet)).verify(signature, message)
    except InvalidSignature as error:
        raise MalformedError("the signature is not the wallet's") from error
    except ValueError as error:
        raise MalformedError("the wallet is no key of this chain") from error

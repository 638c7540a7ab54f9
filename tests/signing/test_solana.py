"""Transactions of the other chain: their bytes, and who signed them."""

import base64
import hashlib

import pytest

from service_tui.signing.errors import MalformedError
from service_tui.signing.solana import (
    TRANSACTION_MAX,
    check_signed,
    decode_base58,
    encode_base58,
    memo_message,
    sign_transaction,
    signature_of,
    unsigned_transaction,
    wallet_of,
)

SECRET, OTHER = b"\7" * 32, b"\10" * 32
WALLET = wallet_of(SECRET)
MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"
# 200 bytes: its length takes two bytes of seven bits.
MEMO = "m" * 200
MESSAGE = memo_message(WALLET, MEMO)


def test_a_message_holds_one_signer_and_one_memo() -> None:
    # Source: the chain's documents, "Versioned transactions" and "Compact-array format".
    assert (
        b"".join((
            b"\x80",
            b"\1\0\1",
            b"\2",
            decode_base58(WALLET),
            decode_base58(MEMO_PROGRAM),
            hashlib.sha256(MEMO.encode()).digest(),
            b"\1",
            b"\1" + b"\1\0" + b"\xc8\1" + MEMO.encode(),
            b"\0",
        ))
        == MESSAGE
    )


def test_a_transaction_waits_for_its_signature_and_gets_it() -> None:
    unsigned = unsigned_transaction(MESSAGE)
    raw = base64.b64decode(unsigned)
    assert raw == b"\1" + bytes(64) + MESSAGE
    signed = base64.b64decode(sign_transaction(unsigned, SECRET))
    assert signed[:1] + signed[65:] == b"\1" + MESSAGE
    assert signed[1:65] != bytes(64)
    check_signed(base64.b64encode(signed).decode(), MESSAGE, WALLET)
    assert signature_of(base64.b64encode(signed).decode()) == encode_base58(signed[1:65])


def with_first(byte: bytes) -> str:
    raw = base64.b64decode(sign_transaction(unsigned_transaction(MESSAGE), SECRET))
    return base64.b64encode(byte + raw[1:]).decode()


@pytest.mark.parametrize(
    ("transaction", "why"),
    [
        ("no base64!", "is not base64"),
        (with_first(b"\2"), "no transaction of one signer"),
        (with_first(b""), "no transaction of one signer"),
        ("", "no transaction of one signer"),
        (unsigned_transaction(MESSAGE), "is not the wallet's"),
        (sign_transaction(unsigned_transaction(MESSAGE), OTHER), "is not the wallet's"),
        (
            sign_transaction(unsigned_transaction(memo_message(WALLET, "other")), SECRET),
            "not the one that was quoted",
        ),
        (sign_transaction(unsigned_transaction(MESSAGE), SECRET) + "\n", "is not base64"),
    ],
)
def test_what_the_wallet_did_not_sign_exactly_is_refused(transaction: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        check_signed(transaction, MESSAGE, WALLET)


@pytest.mark.parametrize("more", [0, 1])
def test_a_transaction_has_at_most_the_bytes_of_the_chain(more: int) -> None:
    short = memo_message(WALLET, "m" * 128)
    room = TRANSACTION_MAX - len(short) - 65
    message = memo_message(WALLET, "m" * (128 + room + more))
    signed = sign_transaction(unsigned_transaction(message), SECRET)
    assert len(base64.b64decode(signed)) == TRANSACTION_MAX + more
    if more:
        with pytest.raises(MalformedError, match="no transaction of one signer"):
            check_signed(signed, message, WALLET)
    else:
        check_signed(signed, message, WALLET)


@pytest.mark.parametrize("raw", [bytes(32), b"\0" + b"\1" * 31, b"\xff" * 32, bytes(31) + b"\1"])
def test_an_address_is_its_bytes_in_base_58(raw: bytes) -> None:
    assert decode_base58(encode_base58(raw)) == raw


@pytest.mark.parametrize("text", ["", "1", "1" * 33, "0" * 32, "O" + WALLET[1:], WALLET + "1"])
def test_what_is_no_address_of_32_bytes_is_refused(text: str) -> None:
    with pytest.raises(MalformedError):
        decode_base58(text)


def test_letters_are_those_of_base_58() -> None:
    # Source: the system program of that chain is 32 ones.
    assert encode_base58(bytes(32)) == "1" * 32
    assert encode_base58(b"\0\0\1\2") == "115T"

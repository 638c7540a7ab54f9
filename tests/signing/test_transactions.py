"""Transactions: bytes, calls and signatures, compared with the library."""

import copy
import pickle
import random
import traceback

import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_utils.address import to_checksum_address

from kit.examples import DEPTH, seeds
from kit.oracles import rlp
from kit.oracles.calls import selector
from service_tui.signing.calls import (
    Approve,
    Call,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    decode_call,
    encode_call,
)
from service_tui.signing.errors import (
    KeyFormatError,
    LockedError,
    MalformedError,
    UnknownCallError,
)
from service_tui.signing.signer import ORDER, LocalSigner, recovered
from service_tui.signing.transactions import (
    Transaction,
    bytes_of_hex,
    decode_transaction,
    hash_of,
    sign_transaction,
)


def key_of(rng: random.Random) -> bytes:
    return rng.randrange(1, 2**252).to_bytes(32, "big")


def random_transaction(rng: random.Random) -> Transaction:
    def size(bits: int) -> int:
        return rng.getrandbits(rng.randrange(bits + 1))

    return Transaction(
        chain_id=rng.choice([1, 137, 80002, size(60) + 1]),
        nonce=size(63),
        max_priority_fee=size(128),
        max_fee=size(128),
        gas=size(62),
        to="0x" + rng.randbytes(20).hex(),
        value=size(200),
        data=rng.randbytes(rng.choice([0, 1, 4, 55, 56, 68, 300])),
    )


def theirs(transaction: Transaction) -> dict[str, object]:
    return {
        "type": 2,
        "chainId": transaction.chain_id,
        "nonce": transaction.nonce,
        "maxPriorityFeePerGas": transaction.max_priority_fee,
        "maxFeePerGas": transaction.max_fee,
        "gas": transaction.gas,
        "to": to_checksum_address(transaction.to),
        "value": transaction.value,
        "data": "0x" + transaction.data.hex(),
        "accessList": [],
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(10))
def test_a_hundred_random_transactions_are_those_of_the_library_to_the_byte(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        transaction, key = random_transaction(rng), key_of(rng)
        signed = sign_transaction(transaction, LocalSigner(key))
        expected = Account.from_key(key).sign_transaction(theirs(transaction))
        assert signed.raw == bytes(expected.raw_transaction)
        assert signed.tx_hash == "0x" + bytes(expected.hash).hex()
        assert signed.sender == Account.from_key(key).address
        assert decode_transaction(signed.hex).raw == signed.raw


def test_a_published_transaction_of_type_2() -> None:
    # Source: ethereumjs, the vectors of its tests for EIP-1559.
    transaction = Transaction(
        chain_id=4,
        nonce=819,
        max_priority_fee=75_853,
        max_fee=121_212,
        gas=35_552,
        to="0x000000000000000000000000000000000000aaaa",
        value=43_203_529,
    )
    key = "8f2a55949038a9610f50fb23b5883af3b4ecb3c3bb792cbcefbd1542c692be63"
    assert sign_transaction(transaction, LocalSigner(key)).hex == (
        "0x02f86e048203338301284d8301d97c828ae094000000000000000000000000000000000000aaaa"
        "8402933bc980c080a00f924cb68412c8f1cfd74d9b581c71eeaf94fff6abdde3e5b02ca6b2931dcf47"
        "a07dd1c50027c3e31f8b565e25ce68a5072110f61fce5eee81b195dd51273c2f83"
    )


KEY = "8f2a55949038a9610f50fb23b5883af3b4ecb3c3bb792cbcefbd1542c692be63"
PLAIN = Transaction(nonce=1, max_priority_fee=2, max_fee=3, gas=4, to="0x" + "aa" * 20)


def raw() -> bytes:
    return sign_transaction(PLAIN, LocalSigner(KEY)).raw


def rebuilt(**changed: rlp.Item) -> bytes:
    """The signed transaction with fields of the list exchanged."""
    items = rlp.decoded(raw()[1:])
    assert isinstance(items, tuple)
    fields = list(items)
    for name, value in changed.items():
        fields[int(name.removeprefix("f"))] = value
    return b"\x02" + rlp.encoded(tuple(fields))


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        "0x",
        "0x02",
        "02" * 60,
        "0xzz",
        "0x0 2",
        "0x123",
        "0x" + "02" * 200_000,
        b"",
        b"\x01" + raw()[1:],
        b"\xf8" + raw()[1:],
        raw()[1:],
        raw() + b"\0",
        raw()[:-1],
        b"\x02\xc0",
        b"\x02" + rlp.encoded((b"",) * 12),
        b"\x02" + b"\xc1" * 100,
        rebuilt(f8=((b"\xaa" * 20, ()),)),
        rebuilt(f5=b""),
        rebuilt(f5=b"\xaa" * 19),
        rebuilt(f5=()),
        rebuilt(f1=b"\0\1"),
        rebuilt(f1=b"\1" * 9),
        rebuilt(f7=()),
        rebuilt(f9=b"\2"),
        rebuilt(f10=b""),
        rebuilt(f11=b""),
        rebuilt(f11=b"\xff" * 32),
        rebuilt(f10=b"\xff" * 33),
    ],
)
def test_bytes_that_are_no_transaction_are_refused(hostile: str | bytes) -> None:
    with pytest.raises(MalformedError):
        decode_transaction(hostile)


def test_the_mirrored_signature_of_a_transaction_is_refused() -> None:
    items = rlp.decoded(raw()[1:])
    assert isinstance(items, tuple)
    parity, s = (rlp.number(items[at], bits=256) for at in (9, 11))
    mirrored = ORDER - s
    forged = rebuilt(
        f9=b"" if parity else b"\1", f11=mirrored.to_bytes((mirrored.bit_length() + 7) // 8, "big")
    )
    with pytest.raises(MalformedError):
        decode_transaction(forged)


@pytest.mark.slow
def test_a_changed_byte_is_another_sender_or_nothing() -> None:
    own, rng = LocalSigner(KEY).address, random.Random(3)
    for _ in range(200):
        changed = bytearray(raw())
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        try:
            read = decode_transaction(bytes(changed))
        except MalformedError:
            continue
        assert read.sender != own or read.transaction == PLAIN
        assert read.tx_hash == hash_of(bytes(changed))


@pytest.mark.parametrize(
    "changes",
    [{"nonce": -1}, {"nonce": 2**64}, {"gas": 2**64}, {"max_fee": 2**256}, {"value": -1}],
)
def test_numbers_that_no_transaction_holds_are_not_signed(changes: dict[str, int]) -> None:
    fields = {"nonce": 1, "max_priority_fee": 1, "max_fee": 1, "gas": 1, **changes}
    with pytest.raises(MalformedError):
        sign_transaction(Transaction(to="0x" + "aa" * 20, **fields), LocalSigner(KEY))


def random_call(rng: random.Random) -> Call:
    address = to_checksum_address("0x" + rng.randbytes(20).hex())
    numbers = tuple(rng.getrandbits(256) for _ in range(rng.randrange(5)))
    return rng.choice([
        RedeemPositions(address, rng.randbytes(32), rng.randbytes(32), numbers),
        RedeemNegRisk(rng.randbytes(32), numbers),
        Approve(address, rng.getrandbits(256)),
        SetApprovalForAll(address, rng.random() < 0.5),
    ])


TYPES = {
    RedeemPositions: ["address", "bytes32", "bytes32", "uint256[]"],
    RedeemNegRisk: ["bytes32", "uint256[]"],
    Approve: ["address", "uint256"],
    SetApprovalForAll: ["address", "bool"],
}
NAMES = {
    RedeemPositions: "redeemPositions",
    RedeemNegRisk: "redeemPositions",
    Approve: "approve",
    SetApprovalForAll: "setApprovalForAll",
}


@pytest.mark.slow
def test_random_calls_are_those_of_the_library() -> None:
    rng = random.Random(9)
    for _ in range(150 * DEPTH):
        call = random_call(rng)
        kinds = TYPES[type(call)]
        values = [getattr(call, name) for name in type(call).__slots__]
        name = f"{NAMES[type(call)]}({','.join(kinds)})"
        assert encode_call(call) == selector(name) + encode(kinds, values)
        assert decode_call(encode_call(call)) == call


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        b"\xde\xad\xbe\xef",
        encode_call(Approve("0x" + "11" * 20, 1)) + b"\0",
        encode_call(Approve("0x" + "11" * 20, 1))[:-1],
        encode_call(SetApprovalForAll("0x" + "11" * 20, is_approved=True))[:-1] + b"\2",
        encode_call(RedeemNegRisk(bytes(32), (1,)))[:-32],
        encode_call(RedeemNegRisk(bytes(32), ()))[:-1] + b"\xff",
    ],
)
def test_call_data_in_another_form_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedError):
        decode_call(data)


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(UnknownCallError, match="0xf242432a"):
        decode_call(bytes.fromhex("f242432a"))


@pytest.mark.parametrize("form", [KEY, "0x" + KEY, f" {KEY.upper()}\n", bytes.fromhex(KEY)])
def test_a_key_may_be_written_in_its_usual_forms(form: str | bytes) -> None:
    assert LocalSigner(form).address == Account.from_key(KEY).address


@pytest.mark.parametrize(
    "form", ["", "0x", KEY[:-1], KEY + "0", "g" * 64, "00" * 32, "ff" * 32, b"\1" * 31, b"\0" * 32]
)
def test_what_is_no_key_is_refused_and_not_repeated(form: str | bytes) -> None:
    with pytest.raises(KeyFormatError) as refused:
        LocalSigner(form)
    assert len(form) < 10 or str(form) not in str(refused.value)


def test_nothing_of_a_signer_shows_its_key() -> None:
    signer = LocalSigner(KEY)
    shown = [repr(signer), str(signer), f"{signer}", f"{signer!r:>90}", f"{[signer]}", f"{signer:}"]
    try:
        signer.sign(b"short")
    except MalformedError as error:
        shown.extend(traceback.format_exception(error))
    number = str(int(KEY, 16))
    for text in shown:
        assert KEY not in text.lower()
        assert number not in text
        assert repr(bytes.fromhex(KEY))[2:-1] not in text
    assert not hasattr(signer, "__dict__")
    for steal in (copy.copy, copy.deepcopy, pickle.dumps, lambda it: it.__getstate__()):
        with pytest.raises(TypeError):
            steal(signer)


def test_a_forgotten_key_signs_nothing() -> None:
    signer = LocalSigner(KEY)
    address = signer.address
    signer.forget()
    assert signer.address == address
    with pytest.raises(LockedError, match=address):
        sign_transaction(PLAIN, signer)


def test_a_signer_that_signs_with_another_key_is_found_out() -> None:
    class Liar:
        address = "0x" + "11" * 20

        def sign(self, digest: bytes) -> bytes:
            return LocalSigner(KEY).sign(digest)

    with pytest.raises(MalformedError, match="another key"):
        sign_transaction(PLAIN, Liar())


@pytest.mark.parametrize(
    "signature", [b"", b"\0" * 65, b"\1" * 64 + b"\x1d", b"\1" * 66, b"\xff" * 65]
)
def test_what_is_no_signature_recovers_nobody(signature: bytes) -> None:
    with pytest.raises(MalformedError):
        recovered(bytes(32), signature)


def test_a_transaction_costs_at_most_its_gas_at_the_highest_fee_and_its_value() -> None:
    transaction = Transaction(
        nonce=0, max_priority_fee=2, max_fee=7, gas=100, to="0x" + "ab" * 20, value=13
    )
    assert transaction.cost_max == 713


@pytest.mark.parametrize(("count", "taken"), [(131_072, True), (131_073, False)])
def test_hex_is_read_up_to_the_longest_transaction(*, count: int, taken: bool) -> None:
    text = "0x" + "ab" * count
    if taken:
        assert bytes_of_hex(text) == b"\xab" * count
    else:
        with pytest.raises(MalformedError):
            bytes_of_hex(text)


@pytest.mark.parametrize("number", [1, ORDER - 1])
def test_a_key_lies_between_nothing_and_the_order_of_the_curve(number: int) -> None:
    assert LocalSigner(number.to_bytes(32, "big")).address.startswith("0x")


@pytest.mark.parametrize("number", [0, ORDER, ORDER + 1])
def test_a_key_outside_of_the_curve_is_none(number: int) -> None:
    with pytest.raises(KeyFormatError):
        LocalSigner(number.to_bytes(32, "big"))


def test_a_signature_is_read_with_either_writing_of_its_parity() -> None:
    signer = LocalSigner("4c" * 32)
    for digest in (bytes(32), b"\1" * 32, b"\2" * 32, b"\3" * 32):
        signature = signer.sign(digest)
        assert signature[-1] in {27, 28}
        assert recovered(digest, signature) == signer.address
        assert recovered(digest, signature[:-1] + bytes([signature[-1] - 27])) == signer.address


@pytest.mark.parametrize(
    ("r", "s", "last"),
    [
        (0, 1, 27),
        (ORDER, 1, 27),
        (1, 0, 27),
        (1, ORDER // 2 + 1, 27),
        (1, 1, 26),
        (1, 1, 29),
        (1, 1, 2),
    ],
)
def test_numbers_out_of_range_are_no_signature(r: int, s: int, last: int) -> None:
    signature = r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([last])
    with pytest.raises(MalformedError, match="out of range"):
        recovered(bytes(32), signature)


@pytest.mark.parametrize(("r", "s"), [(1, 1), (1, ORDER // 2)])
def test_numbers_at_their_bounds_are_a_signature_of_somebody(r: int, s: int) -> None:
    signature = r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27])
    assert recovered(b"\5" * 32, signature).startswith("0x")


def test_a_digest_and_a_signature_have_their_lengths() -> None:
    signer = LocalSigner("4c" * 32)
    signature = signer.sign(bytes(32))
    for digest, text in ((bytes(31), signature), (bytes(32), signature[:-1])):
        with pytest.raises(MalformedError, match="has 65 bytes"):
            recovered(digest, text)
    with pytest.raises(MalformedError, match="has 32 bytes, not 31"):
        signer.sign(bytes(31))


def test_a_forgotten_key_keeps_its_address() -> None:
    signer = LocalSigner("4c" * 32)
    known = LocalSigner("4c" * 32).address
    signer.forget()
    assert signer.address == known

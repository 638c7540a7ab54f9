"""The library's readers give the verdicts of the ones written by hand, on bytes that lie."""

import random
from collections.abc import Callable, Iterator

import pytest

from kit.examples import seeds
from kit.oracles import calls as calls_by_hand
from kit.oracles import transactions as transactions_by_hand
from kit.oracles.calls import LIST_MAX
from service_tui.signing.calls import (
    Approve,
    Call,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    decode_call,
    encode_call,
)
from service_tui.signing.errors import MalformedError
from service_tui.signing.signer import LocalSigner
from service_tui.signing.transactions import Transaction, decode_transaction, sign_transaction

KEY = "8f2a55949038a9610f50fb23b5883af3b4ecb3c3bb792cbcefbd1542c692be63"
ADDRESS = "0x" + "Aa" * 20


def verdict(read: Callable[[bytes], object], data: bytes) -> object:
    """What a reader makes of bytes; None where it refuses them."""
    try:
        return read(data)
    except MalformedError:
        return None


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The bytes with one of the changes that an attacker would try."""
    place = rng.randrange(len(data))
    word = place // 32 * 32 + 4
    return rng.choice([
        data[:place],
        data[:place] + data[place + 1 :],
        data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :],
        data + rng.randbytes(rng.choice([1, 31, 32, 64])),
        data[:word] + rng.randbytes(32) + data[word + 32 :],
        data[:word] + b"\xff" * 32 + data[word + 32 :],
        data[:word] + bytes(31) + rng.randbytes(1) + data[word + 32 :],
        data[:4] + rng.randbytes(rng.randrange(8) * 32),
    ])


def some_call(rng: random.Random) -> Call:
    numbers = tuple(rng.choice([0, 1, 2, rng.getrandbits(256)]) for _ in range(rng.randrange(4)))
    return rng.choice([
        RedeemPositions(ADDRESS, bytes(32), rng.randbytes(32), numbers),
        RedeemNegRisk(rng.randbytes(32), numbers),
        Approve(ADDRESS, rng.getrandbits(256)),
        SetApprovalForAll(ADDRESS, is_approved=rng.random() < 0.5),
    ])


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(10))
def test_mutated_calls_are_judged_as_by_hand(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        data = encode_call(some_call(rng))
        assert data == calls_by_hand.encode_call(decode_call(data))
        lie = mutated(rng, data)
        assert verdict(decode_call, lie) == verdict(calls_by_hand.decode_call, lie)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(10))
def test_mutated_transactions_are_judged_as_by_hand(seed: int) -> None:
    rng = random.Random(seed)
    signer = LocalSigner(KEY)
    for _ in range(150):
        transaction = Transaction(
            nonce=rng.choice([0, 1, 127, 128, rng.getrandbits(64)]),
            max_priority_fee=rng.getrandbits(rng.randrange(1, 80)),
            max_fee=rng.getrandbits(rng.randrange(1, 80)),
            gas=rng.getrandbits(32),
            to=ADDRESS,
            value=rng.choice([0, rng.getrandbits(200)]),
            data=rng.randbytes(rng.choice([0, 1, 55, 56, 300])),
        )
        lie = mutated(rng, sign_transaction(transaction, signer).raw)
        found = verdict(decode_transaction, lie)
        assert found == verdict(transactions_by_hand.decode_transaction, lie)


def nested(depths: Iterator[int]) -> Iterator[bytes]:
    for depth in depths:
        yield b"\x02" + b"\xc1" * depth
        yield b"\x02" + b"\xf9\xff\xff" * depth


def test_lists_in_lists_are_refused_however_deep() -> None:
    for lie in nested(iter((1, 100, 2_000, 40_000))):
        assert verdict(decode_transaction, lie) is None


def redeemed(entries: tuple[int, ...]) -> Iterator[Call]:
    yield RedeemPositions(ADDRESS, bytes(32), bytes(32), entries)
    yield RedeemNegRisk(bytes(32), entries)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(("count", "is_read"), [(LIST_MAX, True), (LIST_MAX + 1, False)])
def test_a_list_has_as_many_entries_as_a_condition_has_outcomes(
    count: int, which: int, *, is_read: bool
) -> None:
    call = [*redeemed(tuple(range(count)))][which]
    data = calls_by_hand.encode_call(call)
    if is_read:
        assert decode_call(data) == calls_by_hand.decode_call(data)
        return
    for read in (decode_call, calls_by_hand.decode_call):
        with pytest.raises(MalformedError):
            read(data)

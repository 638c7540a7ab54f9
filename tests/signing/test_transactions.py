import random

import pytest
from eth_account import Account
from eth_utils.address import to_checksum_address

from service_tui.signing.signer import LocalSigner
from service_tui.signing.transactions import (
    Transaction,
    decode_transaction,
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
        data=rng.randbytes(rng.choice([0, 1, 4, 55, 56, 68, 300, rng.randrange(70_000) // 50])),
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


@pytest.mark.parametrize("seed", range(10))
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

"""A chain with conditional tokens, money, an oracle and wallets, and what they do on it."""

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

from eth_abi.abi import encode

from kit.chain.nodes import Node
from kit.oracles.calls import selector
from service_tui.addresses import checksummed, keccak256
from service_tui.signing.book import POLYGON, AddressBook
from service_tui.signing.calls import ZERO_32
from service_tui.signing.chain import Answer, ChainReader, Parameter
from service_tui.signing.contracts import Contracts
from service_tui.signing.node import chain_of, contracts_of
from service_tui.signing.signer import Signer
from service_tui.signing.transactions import Transaction, sign_transaction

SHARES = 25_000_000
MILLION = 1_000_000


@dataclass
class World:
    """One node, and who acts on it. `is_real`: its contracts are the published ones."""

    node: Node
    book: AddressBook
    oracle: str
    is_real: bool = True
    questions: Any = field(default_factory=lambda: itertools.count(1))

    async def rpc(self, method: str, parameters: list[Parameter], /) -> Answer:
        return self.node.ask(method, list(parameters))

    @property
    def chain(self) -> ChainReader:
        return chain_of(self.rpc, self.book.chain_id)

    @property
    def contracts(self) -> Contracts:
        return contracts_of(self.rpc, self.book)

    def by_oracle(self, to: str, signature: str, *values: object) -> None:
        data = "0x" + call_data(signature, *values).hex()
        wanted = {"from": self.oracle, "to": to, "data": data, "gas": hex(2_000_000)}
        self.mined(self.node.ask("eth_sendTransaction", [wanted]))

    def mined(self, tx_hash: str) -> str:
        """Wait until a transaction stands in a block, which a node of this kind makes at once."""
        for _ in range(1_000):
            if self.node.ask("eth_getTransactionReceipt", [tx_hash]) is not None:
                return tx_hash
        raise AssertionError("the node made no block")

    def prepared(self) -> bytes:
        """A fresh condition of two outcomes."""
        question = next(self.questions).to_bytes(32, "big")
        tokens = self.book.conditional_tokens
        self.by_oracle(
            tokens, "prepareCondition(address,bytes32,uint256)", self.oracle, question, 2
        )
        packed = bytes.fromhex(self.oracle[2:]) + question + (2).to_bytes(32, "big")
        return keccak256(packed)

    def reported(self, payouts: list[int]) -> bytes:
        """Settle the newest condition."""
        self.questions, peek = itertools.tee(self.questions)
        question = (next(peek) - 1).to_bytes(32, "big")
        tokens = self.book.conditional_tokens
        self.by_oracle(tokens, "reportPayouts(bytes32,uint256[])", question, payouts)
        return question

    def bought(self, signer: Signer, condition: bytes, shares: int = SHARES) -> None:
        """Give a wallet both outcomes of a condition, paid with fresh money."""
        money, tokens = self.book.usdc_bridged, self.book.conditional_tokens
        self.by_oracle(money, "mint(address,uint256)", signer.address, shares)
        self.by_wallet(signer, money, "approve(address,uint256)", tokens, shares)
        signature = "splitPosition(address,bytes32,bytes32,uint256[],uint256)"
        self.by_wallet(signer, tokens, signature, money, ZERO_32, condition, [1, 2], shares)

    def by_wallet(self, signer: Signer, to: str, signature: str, *values: object) -> str:
        """What a wallet does elsewhere, past our policy."""
        nonce = int(self.node.ask("eth_getTransactionCount", [signer.address, "pending"]), 16)
        signed = sign_transaction(
            Transaction(
                nonce=nonce,
                max_priority_fee=10**9,
                max_fee=10**11,
                gas=1_000_000,
                to=to,
                data=call_data(signature, *values),
            ),
            signer,
        )
        return self.mined(self.node.ask("eth_sendRawTransaction", [signed.hex]))


def opened(node: Node, token_code: bytes, *, is_real: bool) -> World:
    """A world on a node that holds the conditional tokens already."""
    oracle = checksummed(node.ask("eth_accounts", [])[0])
    made = {"from": oracle, "data": "0x" + token_code.hex(), "gas": hex(6_000_000)}
    tx_hash = World(node, POLYGON, oracle).mined(node.ask("eth_sendTransaction", [made]))
    receipt = node.ask("eth_getTransactionReceipt", [tx_hash])
    token = checksummed(receipt["contractAddress"])
    book = replace(POLYGON, usdc_bridged=token, usdc_native=token)
    return World(node, book, oracle, is_real)


def call_data(signature: str, *values: object) -> bytes:
    """Call data, as the library writes it."""
    kinds = signature[signature.index("(") + 1 : -1]
    return selector(signature) + encode(kinds.split(","), list(values))


def adapter_code(collateral: str) -> bytes:
    """A stand-in for the negative-risk adapter, written by hand.

    `wcol()` answers the collateral; any other call is taken, and the hash of its data is the first
    word of its storage. The real adapter is in no package: only who is called with what is tested.
    """
    answer = bytes.fromhex("73" + collateral[2:] + "5f5260205ff3")
    record = bytes.fromhex("365f5f37365f205f5500")
    head = bytes.fromhex("5f3560e01c63") + selector("wcol()") + bytes.fromhex("1460")
    jump = len(head) + 2 + len(record)
    return head + bytes([jump]) + b"\x57" + record + b"\x5b" + answer


def creation(runtime: bytes) -> bytes:
    """Code that leaves a contract behind."""
    return (
        bytes.fromhex("61")
        + len(runtime).to_bytes(2, "big")
        + bytes.fromhex("80600a5f395ff3")
        + runtime
    )

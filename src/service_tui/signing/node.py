"""web3's transport to the node: the caller's connection, with its key, deadline and bounds.

Heavy: imports web3. A caller on an event loop has it loaded in a thread first.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from web3 import AsyncWeb3
from web3.providers import AsyncBaseProvider
from web3.types import RPCEndpoint, RPCResponse

from service_tui.signing import codec, keep_recursion_limit
from service_tui.signing.book import CHAIN_ID, AddressBook
from service_tui.signing.chain import Answer, ChainReader, Parameter, Rpc
from service_tui.signing.contracts import Contracts
from service_tui.signing.errors import ChainError

keep_recursion_limit()

_QUANTITY: Final = re.compile(r"0x[0-9a-fA-F]{1,64}\Z")
_WORD: Final = re.compile(r"0x[0-9a-fA-F]{64}\Z")
_BYTES: Final = re.compile(r"0x(?:[0-9a-fA-F]{2}){0,32768}\Z")

_READINGS: Final = {
    "eth_chainId": "the chain's id",
    "eth_blockNumber": "the number of the block",
    "eth_getBalance": "the balance",
    "eth_getTransactionCount": "the nonce",
    "eth_gasPrice": "the gas price",
    "eth_estimateGas": "the gas",
}
"""What a person calls the answer to a method."""

_RECEIPT_NUMBERS: Final = ("status", "blockNumber", "gasUsed", "effectiveGasPrice")

Form = Callable[[str, Answer], Answer]
"""Checks the answer to a method and gives back what of it may be believed, or raises ChainError."""


class Relayed(AsyncBaseProvider):
    """Carries web3's calls over our own line, where the method is in the table.

    The table is both the list of allowed methods and the check of each answer: web3 itself
    judges no answer, and would send any method.
    """

    # Otherwise a contract's revert may name an address, and web3 fetches it. Source: EIP-3668.
    global_ccip_read_enabled = False

    def __init__(self, rpc: Rpc, forms: Mapping[str, Form]) -> None:
        super().__init__(cache_allowed_requests=False)
        self._rpc = rpc
        self._forms = forms

    async def make_request(self, method: RPCEndpoint, params: Iterable[Parameter]) -> RPCResponse:
        """One call; ChainError for a method not in the table, or an answer of another form."""
        form = self._forms.get(method)
        if form is None:
            raise ChainError(f"{method} is not asked here")
        answer = form(method, await self._rpc(method, [*params]))
        return {"jsonrpc": "2.0", "id": 1, "result": answer}


def chain_of(rpc: Rpc, chain_id: int = CHAIN_ID) -> ChainReader:
    """Reader of a chain's node, over the caller's connection."""
    return ChainReader(_web(rpc, _NODE), chain_id)


def contracts_of(rpc: Rpc, book: AddressBook) -> Contracts:
    """Reader of a book's contracts, over the caller's connection."""
    return Contracts(_web(rpc, _READS), book, codec.ABI)


def _web(rpc: Rpc, forms: Mapping[str, Form]) -> AsyncWeb3[Relayed]:
    # No middleware: no ENS, no gas buffer, no defaults filled in, no key.
    return AsyncWeb3(Relayed(rpc, forms), middleware=[])


def _quantity(method: str, answer: Answer) -> Answer:
    if not isinstance(answer, str) or not _QUANTITY.match(answer):
        raise ChainError(f"the node's answer for {_READINGS.get(method, method)} is no number")
    return answer


def _bytes(method: str, answer: Answer) -> Answer:
    if not isinstance(answer, str) or not _BYTES.match(answer):
        raise ChainError(f"the node's answer to {method} is no bytes")
    return answer


def _word(_: str, answer: Answer) -> Answer:
    if not isinstance(answer, str) or not _WORD.match(answer):
        raise ChainError("the contract's answer is not one word: no such contract there?")
    return answer


def _receipt(_: str, answer: Answer) -> Answer:
    """The fields of a receipt that are used here, each a number, and whose it is."""
    if answer is None:
        return None
    if not isinstance(answer, dict):
        raise ChainError("the receipt is no record")
    about = answer.get("transactionHash")
    if not isinstance(about, str) or not _WORD.match(about):
        raise ChainError("the receipt is that of another transaction")
    # Older nodes leave the price out; the cost is not known then, and reported as 0.
    given = {"effectiveGasPrice": "0x0", **answer}
    numbers = {name: _quantity(name, given.get(name)) for name in _RECEIPT_NUMBERS}
    return {"transactionHash": about, **numbers}


_NODE: Final[Mapping[str, Form]] = {
    "eth_chainId": _quantity,
    "eth_blockNumber": _quantity,
    "eth_getBalance": _quantity,
    "eth_getTransactionCount": _quantity,
    "eth_gasPrice": _quantity,
    "eth_estimateGas": _quantity,
    "eth_getTransactionReceipt": _receipt,
    "eth_call": _bytes,
}
_READS: Final[Mapping[str, Form]] = {"eth_call": _word}

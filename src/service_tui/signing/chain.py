"""Reads of the node: nonce, gas, fees, receipts.

Asks through web3, whose line and whose check of every answer are those of `node`, which makes it.
"""

from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, cast

from service_tui.addresses import checksummed
from service_tui.signing import keep_recursion_limit
from service_tui.signing.errors import ChainError, NotEnoughGasError
from service_tui.signing.policy import GWEI, Price, SignableCall
from service_tui.signing.transactions import Transaction

if TYPE_CHECKING:
    from eth_typing import ChecksumAddress, HexStr
    from web3 import AsyncWeb3
    from web3.types import TxParams

Parameter: TypeAlias = "str | dict[str, str]"
Answer: TypeAlias = "bool | int | float | str | list[Answer] | dict[str, Answer] | None"

PRIORITY_MIN: Final = 30 * GWEI
GAS_UNKNOWN: Final = 300_000
"""Source: wire reference, 6.5 and 6.6."""

NONCE_MAX: Final = 1 << 32
"""ours: no wallet has sent so many transactions; a figure above it is no nonce."""


class Rpc(Protocol):
    """One JSON-RPC call: the answer's `result`; ChainError where there is none."""

    def __call__(self, method: str, parameters: list[Parameter], /) -> Awaitable[Answer]:
        """Call the node."""
        ...


@dataclass(frozen=True, slots=True)
class Receipt:
    """Result of a transaction; `cost` in wei."""

    tx_hash: str
    succeeded: bool
    block: int
    cost: int


class ChainReader:
    """Questions to the node of one chain. `node.chain_of` makes it."""

    def __init__(self, web: "AsyncWeb3[Any]", chain_id: int) -> None:
        self._eth = web.eth
        self._chain_id = chain_id

    async def check_chain(self) -> None:
        """Raise unless it is the right chain; checked once a session.

        Raises:
            ChainError: another one.
        """
        with as_chain_error():
            chain_id = await self._eth.chain_id
        if chain_id != self._chain_id:
            raise ChainError(f"the node is on chain {chain_id}, not on {self._chain_id}")

    async def block(self) -> int:
        """The number of the newest block."""
        with as_chain_error():
            return await self._eth.block_number

    async def balance(self, address: str) -> int:
        """Gas token balance of an address, wei."""
        with as_chain_error():
            return await self._eth.get_balance(_address(address), "latest")

    async def count(self, address: str, as_of: Literal["latest", "pending"]) -> int:
        """Number of an address's transactions, which is its next nonce.

        Returns:
            Those in blocks, with `pending` those that wait as well.

        Raises:
            ChainError: no answer, or a number that no wallet reaches.
        """
        with as_chain_error():
            count = await self._eth.get_transaction_count(_address(address), as_of)
        if count > NONCE_MAX:
            raise ChainError("the node's answer for the nonce is more than any wallet has sent")
        return count

    async def price(self, signable: SignableCall, sender: str, *, attempt: int = 0) -> Price:
        """Nonce, gas and fees for a signable call, after a trial run.

        Args:
            signable: the call.
            sender: our address.
            attempt: how often it was tried before; each time the fees are a quarter higher.

        Returns:
            Gas with 30 % to spare; fees of the wire reference, 6.5.

        Raises:
            ChainError: no answer, or the call would fail.
        """
        data = "0x" + signable.data.hex()
        with as_chain_error():
            await self._eth.call(_request(signable, sender, data), "latest")
            nonce = await self.count(sender, "pending")
            gas_price = await self._eth.gas_price
        priority = max(PRIORITY_MIN, gas_price // 4)
        # ours: where gas is cheap twice its price lies below the least tip, which no node takes.
        ceiling = max(2 * gas_price, priority)
        return Price(
            nonce=nonce,
            gas=await self._gas(signable, sender, data),
            max_fee=_raised(ceiling, attempt),
            max_priority_fee=_raised(priority, attempt),
        )

    async def _gas(self, signable: SignableCall, sender: str, data: str) -> int:
        try:
            with as_chain_error():
                estimate = await self._eth.estimate_gas(_request(signable, sender, data), "latest")
        except ChainError:
            return signable.gas_hint or GAS_UNKNOWN
        return estimate * 13 // 10

    async def check_gas(self, transaction: Transaction, sender: str) -> None:
        """Make sure that the wallet can pay for it.

        Raises:
            NotEnoughGasError: it cannot; with what is needed and what is there.
        """
        balance = await self.balance(sender)
        if balance < transaction.cost_max:
            raise NotEnoughGasError(needed=transaction.cost_max, balance=balance)

    async def receipt(self, tx_hash: str) -> Receipt | None:
        """Receipt of a transaction; None while it has none.

        Returns:
            None while the chain does not have it.

        Raises:
            ChainError: no answer, or one about another transaction.
        """
        from web3.exceptions import TransactionNotFound  # noqa: PLC0415

        keep_recursion_limit()
        with as_chain_error():
            try:
                receipt = await self._eth.get_transaction_receipt(cast("HexStr", tx_hash))
            except TransactionNotFound:
                return None
        if "0x" + receipt["transactionHash"].hex() != tx_hash.lower():
            raise ChainError("the receipt is that of another transaction")
        cost = receipt["gasUsed"] * receipt["effectiveGasPrice"]
        return Receipt(tx_hash, receipt["status"] == 1, receipt["blockNumber"], cost)


@contextmanager
def as_chain_error() -> Generator[None]:
    """Whatever the library makes of an answer, a caller sees ChainError alone.

    Raises:
        ChainError: the answer makes no sense; one that came over the line passes as it is.
    """
    from web3.exceptions import Web3Exception  # noqa: PLC0415

    keep_recursion_limit()
    try:
        yield
    except (Web3Exception, ValueError, TypeError, OverflowError) as error:
        raise ChainError("the node's answer makes no sense") from error


def _address(text: str) -> "ChecksumAddress":
    return cast("ChecksumAddress", checksummed(text))


def _request(signable: SignableCall, sender: str, data: str) -> "TxParams":
    return {"from": _address(sender), "to": _address(signable.to), "data": cast("HexStr", data)}


def _raised(fee: int, attempt: int) -> int:
    """A fee after some tries: a quarter more each. Source: wire reference, 6.5."""
    return fee * 5**attempt // 4**attempt

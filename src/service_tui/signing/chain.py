"""What the node says: nonce, gas, fees, receipts.

Knows JSON-RPC's methods and the form of their answers. Must not know how they are carried: a
caller is handed in, which returns the `result` or raises ChainError.
Used by contracts here, and by whoever prices and follows a transaction.
"""

import re
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from service_tui.signing.book import CHAIN_ID
from service_tui.signing.errors import ChainError, NotEnoughGasError
from service_tui.signing.policy import GWEI, Judged, Price
from service_tui.signing.transactions import Transaction

Parameter: TypeAlias = "str | dict[str, str]"
Answer: TypeAlias = "bool | int | float | str | list[Answer] | dict[str, Answer] | None"

PRIORITY_MIN: Final = 30 * GWEI
GAS_UNKNOWN: Final = 300_000
"""Source: wire reference, 6.5 and 6.6."""

NONCE_MAX: Final = 1 << 32
"""ours: no wallet has sent so many transactions; a figure above it is no nonce."""

_QUANTITY: Final = re.compile(r"0x[0-9a-fA-F]{1,64}\Z")


class Rpc(Protocol):
    """One JSON-RPC call: the answer's `result`; ChainError where there is none."""

    def __call__(self, method: str, parameters: list[Parameter], /) -> Awaitable[Answer]:
        """Ask the node."""
        ...


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a transaction; `cost` in wei."""

    tx_hash: str
    succeeded: bool
    block: int
    cost: int


class Chain:
    """Questions to the node of one chain."""

    def __init__(self, rpc: Rpc, chain_id: int = CHAIN_ID) -> None:
        self._rpc = rpc
        self._chain_id = chain_id

    async def check_chain(self) -> None:
        """Make sure that it is the right chain; asked once a session.

        Raises:
            ChainError: another one.
        """
        found = quantity(await self._rpc("eth_chainId", []), "the chain's id")
        if found != self._chain_id:
            raise ChainError(f"the node is on chain {found}, not on {self._chain_id}")

    async def block(self) -> int:
        """The number of the newest block."""
        return quantity(await self._rpc("eth_blockNumber", []), "the number of the block")

    async def balance(self, address: str) -> int:
        """What an address holds of the gas token, wei."""
        return quantity(await self._rpc("eth_getBalance", [address, "latest"]), "the balance")

    async def count(self, address: str, as_of: Literal["latest", "pending"]) -> int:
        """How many transactions of an address there are; the next one's nonce.

        Returns:
            Those in blocks, with `pending` those that wait as well.

        Raises:
            ChainError: no answer, or a number that no wallet reaches.
        """
        found = quantity(await self._rpc("eth_getTransactionCount", [address, as_of]), "the nonce")
        if found > NONCE_MAX:
            raise ChainError("the node's answer for the nonce is more than any wallet has sent")
        return found

    async def price(self, judged: Judged, sender: str, *, attempt: int = 0) -> Price:
        """Nonce, gas and fees for a call that was judged, after it went through on trial.

        Args:
            judged: the call.
            sender: our address.
            attempt: how often it was tried before; each time the fees are a quarter higher.

        Returns:
            Gas with 30 % to spare; fees of the wire reference, 6.5.

        Raises:
            ChainError: no answer, or the call would fail.
        """
        wanted = {"from": sender, "to": judged.to, "data": "0x" + judged.data.hex()}
        await self._rpc("eth_call", [wanted, "latest"])
        nonce = await self.count(sender, "pending")
        gas_price = quantity(await self._rpc("eth_gasPrice", []), "the gas price")
        priority = max(PRIORITY_MIN, gas_price // 4)
        # ours: where gas is cheap twice its price lies below the least tip, which no node takes.
        ceiling = max(2 * gas_price, priority)
        return Price(
            nonce=nonce,
            gas=await self._gas(wanted, judged),
            max_fee=_raised(ceiling, attempt),
            max_priority_fee=_raised(priority, attempt),
        )

    async def _gas(self, wanted: dict[str, str], judged: Judged) -> int:
        try:
            estimate = quantity(await self._rpc("eth_estimateGas", [wanted]), "the gas")
        except ChainError:
            return judged.gas_hint or GAS_UNKNOWN
        return estimate * 13 // 10

    async def check_gas(self, transaction: Transaction, sender: str) -> None:
        """Make sure that the wallet can pay for it.

        Raises:
            NotEnoughGasError: it cannot; with what is needed and what is there.
        """
        held = await self.balance(sender)
        if held < transaction.cost_max:
            raise NotEnoughGasError(needed=transaction.cost_max, held=held)

    async def receipt(self, tx_hash: str) -> Receipt | None:
        """What became of a transaction.

        Returns:
            None while the chain does not have it.

        Raises:
            ChainError: no answer, or one about another transaction.
        """
        found = await self._rpc("eth_getTransactionReceipt", [tx_hash])
        if found is None:
            return None
        if not isinstance(found, dict):
            raise ChainError("the receipt is no record")
        about = found.get("transactionHash")
        if not isinstance(about, str) or about.lower() != tx_hash.lower():
            raise ChainError("the receipt is that of another transaction")
        status, block, gas, price = (
            quantity(found.get(name, "0x0" if name == "effectiveGasPrice" else None), name)
            for name in ("status", "blockNumber", "gasUsed", "effectiveGasPrice")
        )
        return Receipt(tx_hash, status == 1, block, gas * price)


def quantity(found: Answer, what: str) -> int:
    """A number of a node's answer.

    Returns:
        0 to 2^256 - 1.

    Raises:
        ChainError: something else.
    """
    if not isinstance(found, str) or not _QUANTITY.match(found):
        raise ChainError(f"the node's answer for {what} is no number")
    return int(found, 16)


def _raised(fee: int, attempt: int) -> int:
    """A fee after some tries: a quarter more each. Source: wire reference, 6.5."""
    return fee * 5**attempt // 4**attempt

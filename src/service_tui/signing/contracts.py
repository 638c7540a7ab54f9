"""Reads of the venue's contracts: payouts, tokens, balances, approvals.

`node` makes the web3 object: it sends the calls and checks every answer.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from service_tui.addresses import checksummed
from service_tui.signing.abi import Function
from service_tui.signing.book import AddressBook
from service_tui.signing.calls import ZERO_32
from service_tui.signing.chain import as_chain_error
from service_tui.signing.errors import ChainError
from service_tui.signing.policy import NO_SET, YES_SET

if TYPE_CHECKING:
    from eth_typing import ChecksumAddress
    from web3 import AsyncWeb3

Value = TypeVar("Value", int, bool, str, bytes)


class Contracts:
    """Reads the contracts of one address book. `node.contracts_of` makes it."""

    def __init__(self, web: "AsyncWeb3[Any]", book: AddressBook, abi: Sequence[Function]) -> None:
        self.book = book
        self._known = web.eth.contract(abi=[*abi])

    async def payout_denominator(self, condition_id: bytes) -> int:
        """Parts into which a condition's payout is divided; 0 while it is not resolved."""
        return await self._read(int, "payoutDenominator(bytes32)", condition_id)

    async def payout_numerator(self, condition_id: bytes, *, is_yes: bool) -> int:
        """Parts that a side is paid."""
        outcome = 0 if is_yes else 1
        return await self._read(int, "payoutNumerators(bytes32,uint256)", condition_id, outcome)

    async def token_id(
        self, condition_id: bytes, *, is_yes: bool, collateral: str, is_neg_risk: bool
    ) -> int:
        """The id of a side's token, as the contract derives it.

        Negative-risk positions stand on a wrapped collateral, which the adapter names.

        Returns:
            The ERC-1155 id.

        Raises:
            ChainError: no answer.
        """
        if is_neg_risk:
            collateral = await self._read(str, "wcol()", to=self.book.neg_risk_adapter)
        index_set = YES_SET if is_yes else NO_SET
        signature = "getCollectionId(bytes32,bytes32,uint256)"
        collection = await self._read(bytes, signature, ZERO_32, condition_id, index_set)
        signature = "getPositionId(address,bytes32)"
        return await self._read(int, signature, checksummed(collateral), collection)

    async def token_balance(self, owner: str, token_id: int) -> int:
        """Balance of an outcome token, micros."""
        return await self._read(int, "balanceOf(address,uint256)", checksummed(owner), token_id)

    async def money(self, token: str, owner: str) -> int:
        """Balance of a currency, in its smallest unit."""
        return await self._read(int, "balanceOf(address)", checksummed(owner), to=token)

    async def _read(
        self, kind: type[Value], signature: str, *arguments: object, to: str | None = None
    ) -> Value:
        """Decoded answer of a contract."""
        target = cast("ChecksumAddress", to or self.book.conditional_tokens)
        with as_chain_error():
            read = self._known(target).get_function_by_signature(signature)
            answer: object = await read(*arguments).call()
        if not isinstance(answer, kind):
            raise ChainError(f"the contract's answer to {signature} makes no sense")
        return answer

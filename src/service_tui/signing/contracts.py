"""What the contracts hold: payouts, tokens, money, approvals.

Knows their functions and the book of addresses. Must not know the node beyond one call.
Used by redemption here, and by whoever shows a wallet.
"""

import re
from typing import Final

from service_tui.addresses import checksummed
from service_tui.signing.book import AddressBook
from service_tui.signing.calls import (
    ZERO_32,
    address_word,
    bytes32_word,
    selector,
    uint_word,
)
from service_tui.signing.chain import Rpc
from service_tui.signing.errors import ChainError
from service_tui.signing.policy import NO_SET, YES_SET

_WORD: Final = re.compile(r"0x[0-9a-fA-F]{64}\Z")
_SELECTOR: Final = {
    name: selector(name)
    for name in (
        "payoutDenominator(bytes32)",
        "payoutNumerators(bytes32,uint256)",
        "getCollectionId(bytes32,bytes32,uint256)",
        "getPositionId(address,bytes32)",
        "wcol()",
        "balanceOf(address,uint256)",
        "balanceOf(address)",
        "allowance(address,address)",
        "isApprovedForAll(address,address)",
    )
}


class Contracts:
    """Questions to the contracts of one book."""

    def __init__(self, rpc: Rpc, book: AddressBook) -> None:
        self._rpc = rpc
        self.book = book

    async def payout_denominator(self, condition_id: bytes) -> int:
        """Parts into which a condition's payout is divided; 0 while it is not resolved."""
        return await self._read("payoutDenominator(bytes32)", bytes32_word(condition_id))

    async def payout_numerator(self, condition_id: bytes, *, is_yes: bool) -> int:
        """Parts that a side is paid."""
        arguments = bytes32_word(condition_id) + uint_word(0 if is_yes else 1)
        return await self._read("payoutNumerators(bytes32,uint256)", arguments)

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
            word = await self._words("wcol()", b"", to=self.book.neg_risk_adapter)
            collateral = checksummed("0x" + word[-20:].hex())
        index_set = YES_SET if is_yes else NO_SET
        collection = await self._words(
            "getCollectionId(bytes32,bytes32,uint256)",
            ZERO_32 + bytes32_word(condition_id) + uint_word(index_set),
        )
        return await self._read(
            "getPositionId(address,bytes32)", address_word(collateral) + collection
        )

    async def token_balance(self, owner: str, token_id: int) -> int:
        """What an address holds of an outcome's token, micros."""
        arguments = address_word(owner) + uint_word(token_id)
        return await self._read("balanceOf(address,uint256)", arguments)

    async def money(self, token: str, owner: str) -> int:
        """What an address holds of a currency, in its smallest unit."""
        return await self._read("balanceOf(address)", address_word(owner), to=token)

    async def allowance(self, token: str, owner: str, spender: str) -> int:
        """How much of a currency a spender may take."""
        arguments = address_word(owner) + address_word(spender)
        return await self._read("allowance(address,address)", arguments, to=token)

    async def is_approved_for_all(self, owner: str, operator: str) -> bool:
        """Whether an operator may move every outcome's token."""
        arguments = address_word(owner) + address_word(operator)
        return await self._read("isApprovedForAll(address,address)", arguments) == 1

    async def _read(self, signature: str, arguments: bytes, *, to: str | None = None) -> int:
        return int.from_bytes(await self._words(signature, arguments, to=to), "big")

    async def _words(self, signature: str, arguments: bytes, *, to: str | None = None) -> bytes:
        """The one word that a contract answers."""
        data = "0x" + (_SELECTOR[signature] + arguments).hex()
        target = to or self.book.conditional_tokens
        found = await self._rpc("eth_call", [{"to": target, "data": data}, "latest"])
        if not isinstance(found, str) or not _WORD.match(found):
            raise ChainError(f"the answer to {signature} is not one word: no such contract there?")
        return bytes.fromhex(found[2:])

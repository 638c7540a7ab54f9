"""What the simulated contracts answer when a client asks without changing anything: `eth_call`.

Knows the words of the ABI, the world and the book of addresses. Must not know HTTP.
Used by the route of the chain. Every figure is that of the venue's own account: the chain is a
view of it.
"""

from collections.abc import Callable, Iterator
from typing import Final

from service_tui.addresses import checksummed
from service_tui.engine.agents import Agent
from service_tui.engine.catalogue import condition_of, token_of
from service_tui.engine.chain import managed_address
from service_tui.engine.mining import SIDES
from service_tui.engine.venues import Holding
from service_tui.engine.world import World
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, Exchange
from service_tui.signing.calls import UINT_MAX, WORD, selector, uint_word
from service_tui.signing.tokens import collection_id, position_id
from service_tui.terms import Side, Venue, WalletKind


class Reverted(Exception):
    """The call fails; `str()` is the contract's reason."""


Answer = Callable[[World, bytes], bytes]


def called(world: World, to: str, data: bytes) -> bytes:
    """The answer of a contract.

    Args:
        world: whose accounts stand behind the contracts.
        to: the contract, checksummed.
        data: selector and arguments.

    Returns:
        One word.

    Raises:
        Reverted: no such contract, no such function, or arguments that are cut off.
    """
    known = _ANSWERS.get((to, data[:4]))
    if known is None:
        raise Reverted("execution reverted")
    return known(world, data[4:])


def _number(data: bytes, index: int) -> int:
    word = data[index * WORD : (index + 1) * WORD]
    if len(word) != WORD:
        raise Reverted("execution reverted")
    return int.from_bytes(word, "big")


def _address(data: bytes, index: int) -> str:
    return checksummed(f"0x{_number(data, index) & (1 << 160) - 1:040x}")


def _hex_word(data: bytes, index: int) -> str:
    return f"0x{_number(data, index):064x}"


def agent_of(world: World, address: str) -> Agent | None:
    """The agent whose wallet an address is, linked or managed."""
    wallet = world.chain.wallet(address)
    if wallet is None:
        managed = (
            one for one in world.agents.values() if one.settings.wallet is WalletKind.MANAGED
        )
        wanted = address.lower()
        return next(
            (one for one in managed if managed_address(one.agent_id).lower() == wanted), None
        )
    if world.chain.linked.get(wallet.agent_id) != wallet.address.lower():
        return None
    return world.agents.get(wallet.agent_id)


def usdc_of(world: World, agent: Agent) -> int:
    """USDC.e in an external wallet: open buys keep theirs there until they are met."""
    venues = world.venues
    cash = venues.cash(agent.agent_id, Venue.EVM)
    return cash + venues.reserved(agent.agent_id, Venue.EVM)


def _money(world: World, data: bytes) -> bytes:
    agent = agent_of(world, _address(data, 0))
    return uint_word(0 if agent is None else usdc_of(world, agent))


def approvals_of(world: World, address: str) -> set[str]:
    """The names of the approvals that an address has given; the service gives all of its own."""
    wallet = world.chain.wallet(address)
    if wallet is not None:
        return wallet.approvals
    own = agent_of(world, address)
    if own is None or not own.settings.claimed:
        return set()
    return {one.key for exchange in Exchange for one in approvals(POLYGON, exchange)}


def _native(world: World, data: bytes) -> bytes:
    wallet = world.chain.wallet(_address(data, 0))
    return uint_word(0 if wallet is None else wallet.native_usdc)


def _approved(world: World, data: bytes, prefix: str) -> bool:
    key = f"{prefix}_{_address(data, 1).lower()}"
    return key in approvals_of(world, _address(data, 0))


def _allowance(prefix: str) -> Answer:
    def answer(world: World, data: bytes) -> bytes:
        return uint_word(UINT_MAX if _approved(world, data, prefix) else 0)

    return answer


def _all_approved(world: World, data: bytes) -> bytes:
    return uint_word(int(_approved(world, data, "ctf")))


def _holdings(world: World) -> Iterator[tuple[str, Holding]]:
    for account in world.venues.accounts.values():
        if account.venue is Venue.EVM:
            yield from account.holdings.items()


def _outcome(world: World, condition: str) -> bool | None:
    """The outcome that the oracle has reported for a condition."""
    for market_id, market in world.markets.items():
        if condition_of(market_id) == condition:
            return market.outcome
    for market_id, holding in _holdings(world):
        if condition_of(market_id) == condition:
            return holding.outcome
    return None


def _denominator(world: World, data: bytes) -> bytes:
    return uint_word(int(_outcome(world, _hex_word(data, 0)) is not None))


def _numerator(world: World, data: bytes) -> bytes:
    outcome, slot = _outcome(world, _hex_word(data, 0)), _number(data, 1)
    if slot >= len(SIDES):
        raise Reverted("execution reverted")
    pays = outcome is not None and SIDES[slot] is (Side.YES if outcome else Side.NO)
    return uint_word(int(pays))


def _tokens(world: World, data: bytes) -> bytes:
    """Shares of an outcome in an address."""
    agent, wanted = agent_of(world, _address(data, 0)), str(_number(data, 1))
    if agent is None:
        return uint_word(0)
    for market_id, holding in world.venues.account(agent.agent_id, Venue.EVM).holdings.items():
        for side in SIDES:
            if token_of(market_id, side, neg_risk=holding.neg_risk) == wanted:
                return uint_word(holding.on_chain(side))
    return uint_word(0)


def _collection_of(_: World, data: bytes) -> bytes:
    return collection_id(bytes.fromhex(_hex_word(data, 1)[2:]), _number(data, 2))


def _position_of(_: World, data: bytes) -> bytes:
    return uint_word(position_id(_address(data, 0), data[WORD : 2 * WORD]))


def _wrapped(_: World, __: bytes) -> bytes:
    return bytes(12) + bytes.fromhex(POLYGON.wrapped_collateral[2:])


_ANSWERS: Final[dict[tuple[str, bytes], Answer]] = {
    (POLYGON.conditional_tokens, selector("payoutDenominator(bytes32)")): _denominator,
    (POLYGON.conditional_tokens, selector("payoutNumerators(bytes32,uint256)")): _numerator,
    (POLYGON.conditional_tokens, selector("balanceOf(address,uint256)")): _tokens,
    (POLYGON.conditional_tokens, selector("isApprovedForAll(address,address)")): _all_approved,
    (
        POLYGON.conditional_tokens,
        selector("getCollectionId(bytes32,bytes32,uint256)"),
    ): _collection_of,
    (POLYGON.conditional_tokens, selector("getPositionId(address,bytes32)")): _position_of,
    (POLYGON.neg_risk_adapter, selector("wcol()")): _wrapped,
    (POLYGON.usdc_bridged, selector("balanceOf(address)")): _money,
    (POLYGON.usdc_native, selector("balanceOf(address)")): _native,
    (POLYGON.pusd, selector("balanceOf(address)")): _money,
    (POLYGON.usdc_bridged, selector("allowance(address,address)")): _allowance("usdc_bridged"),
    (POLYGON.usdc_native, selector("allowance(address,address)")): _allowance("usdc_native"),
    (POLYGON.pusd, selector("allowance(address,address)")): _allowance("pusd"),
}

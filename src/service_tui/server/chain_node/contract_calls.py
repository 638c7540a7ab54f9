"""Answers of the simulated contracts to `eth_call`, which changes nothing.

Every figure is that of the venue's own account: the chain is a view of it.
"""

from collections.abc import Callable, Iterator
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.catalogue import condition_of, token_of
from service_tui.engine.books.venues import VenuePosition, aside_account
from service_tui.engine.chain.block_production import SIDES
from service_tui.engine.chain.chain import managed_address
from service_tui.engine.world import World
from service_tui.outcome import Outcome
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import UINT_MAX
from service_tui.signing.errors import MalformedError
from service_tui.signing.tokens import collection_id, position_id
from service_tui.terms import Venue, WalletKind
from service_tui.units import ONE, Micros


class Reverted(Exception):
    """The call fails; `str()` is the contract's reason."""


Answer = Callable[..., object]
"""Takes the world and the call's arguments; gives back the value that the contract answers."""


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
    from service_tui.signing import codec  # noqa: PLC0415

    try:
        signature, arguments = codec.decode(data)
    except MalformedError as error:
        raise Reverted("execution reverted") from error
    known = _ANSWERS.get((to, signature))
    if known is None:
        raise Reverted("execution reverted")
    return codec.encode_answer(signature, known(world, *arguments))


def agent_of(world: World, address: str) -> Agent | None:
    """The agent whose wallet an address is, linked or managed."""
    wallet = world.chain.wallet(address)
    if wallet is None:
        managed = (
            one for one in world.agents.values() if one.settings.wallet is WalletKind.MANAGED
        )
        lowered = address.lower()
        return next(
            (one for one in managed if managed_address(one.agent_id).lower() == lowered), None
        )
    if world.chain.linked.get(wallet.agent_id) != wallet.address.lower():
        return None
    return world.agents.get(wallet.agent_id)


def usdc_of(world: World, agent: Agent) -> int:
    """USDC.e in an external wallet: open buys keep theirs there until they are met."""
    venues = world.venues
    cash = venues.cash(agent.agent_id, Venue.EVM)
    return int(cash + venues.reserved(agent.agent_id, Venue.EVM))


def _owner_aside(world: World, address: str) -> tuple[str, str] | None:
    """Whose wallet an address is, and its name among those set aside; None for any other."""
    wallet, lowered, aside = world.chain.wallet(address), address.lower(), world.venues.aside
    if wallet is not None:
        # ours: two agents may link it one after the other; it shows what the last one has in it.
        return (wallet.agent_id, lowered) if (wallet.agent_id, lowered) in aside else None
    managed = (agent_id for agent_id, name in aside if not name)
    found = next((one for one in managed if managed_address(one).lower() == lowered), None)
    return None if found is None else (found, "")


def _money(world: World, owner: str) -> int:
    agent = agent_of(world, owner)
    if agent is not None:
        return usdc_of(world, agent)
    aside = _owner_aside(world, owner)
    return 0 if aside is None else int(world.ledger.balance(aside_account(*aside)))


def approvals_of(world: World, address: str) -> set[str]:
    """The names of the approvals that an address has given; the service gives all of its own."""
    wallet = world.chain.wallet(address)
    if wallet is not None:
        return wallet.approvals
    own = agent_of(world, address)
    if own is None or not own.settings.claimed:
        return set()
    return {one.key for exchange in ExchangeVersion for one in approvals(POLYGON, exchange)}


def _native(world: World, owner: str) -> int:
    wallet = world.chain.wallet(owner)
    return 0 if wallet is None else int(wallet.native_usdc)


def _allowance(prefix: str) -> Answer:
    def answer(world: World, owner: str, spender: str) -> int:
        is_given = f"{prefix}_{spender.lower()}" in approvals_of(world, owner)
        return UINT_MAX if is_given else 0

    return answer


def _all_approved(world: World, owner: str, operator: str) -> bool:
    return f"ctf_{operator.lower()}" in approvals_of(world, owner)


def _holdings(world: World) -> Iterator[tuple[str, VenuePosition]]:
    for account, holdings, _ in world.venues.pools():
        if account.venue is Venue.EVM:
            yield from holdings.items()


def _outcome(world: World, condition: str) -> Outcome | None:
    """The outcome that the oracle has reported for a condition."""
    for market_id, market in world.markets.items():
        if condition_of(market_id) == condition:
            return market.outcome
    for market_id, holding in _holdings(world):
        if condition_of(market_id) == condition:
            return holding.outcome
    return None


def _denominator(world: World, condition: bytes) -> int:
    outcome = _outcome(world, f"0x{condition.hex()}")
    if outcome is None:
        return 0
    if outcome.yes is None:
        # ours: the tokens know no cost, so that the oracle reports a half to each side; what a
        # redemption of this chain pays is the cost.
        return len(SIDES)
    return 1 if outcome.winner is not None else int(ONE)


def _numerator(world: World, condition: bytes, slot: int) -> int:
    if slot >= len(SIDES):
        raise Reverted("execution reverted")
    outcome = _outcome(world, f"0x{condition.hex()}")
    if outcome is None:
        return 0
    if outcome.yes is None or outcome.winner is not None:
        return int(outcome.pays(SIDES[slot]))
    return int(outcome.paid(SIDES[slot], ONE, Micros(0)))


def _tokens(world: World, owner: str, token: int) -> int:
    """Shares of an outcome in an address."""
    agent, token_id = agent_of(world, owner), str(token)
    if agent is not None:
        holdings = world.venues.account(agent.agent_id, Venue.EVM).holdings
    elif (aside := _owner_aside(world, owner)) is not None:
        holdings = world.venues.aside[aside]
    else:
        return 0
    for market_id, holding in holdings.items():
        for side in SIDES:
            if token_of(market_id, side, neg_risk=holding.neg_risk) == token_id:
                return int(holding.on_chain(side))
    return 0


def _collection_of(_: World, __: bytes, condition: bytes, index_set: int) -> bytes:
    return collection_id(condition, index_set)


def _position_of(_: World, collateral: str, collection: bytes) -> int:
    return position_id(collateral, collection)


def _wrapped(_: World) -> str:
    return POLYGON.wrapped_collateral


_ANSWERS: Final[dict[tuple[str, str], Answer]] = {
    (POLYGON.conditional_tokens, "payoutDenominator(bytes32)"): _denominator,
    (POLYGON.conditional_tokens, "payoutNumerators(bytes32,uint256)"): _numerator,
    (POLYGON.conditional_tokens, "balanceOf(address,uint256)"): _tokens,
    (POLYGON.conditional_tokens, "isApprovedForAll(address,address)"): _all_approved,
    (POLYGON.conditional_tokens, "getCollectionId(bytes32,bytes32,uint256)"): _collection_of,
    (POLYGON.conditional_tokens, "getPositionId(address,bytes32)"): _position_of,
    (POLYGON.neg_risk_adapter, "wcol()"): _wrapped,
    (POLYGON.usdc_bridged, "balanceOf(address)"): _money,
    (POLYGON.usdc_native, "balanceOf(address)"): _native,
    (POLYGON.pusd, "balanceOf(address)"): _money,
    (POLYGON.usdc_bridged, "allowance(address,address)"): _allowance("usdc_bridged"),
    (POLYGON.usdc_native, "allowance(address,address)"): _allowance("usdc_native"),
    (POLYGON.pusd, "allowance(address,address)"): _allowance("pusd"),
}

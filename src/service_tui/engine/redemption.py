"""Redemption: a winning position on a real venue becomes cash, once.

Knows venues and the lifecycle. Must not know wallets, chains or HTTP.
Used by the server.
"""

from service_tui.engine.agents import Agent
from service_tui.engine.errors import (
    AlreadyRedeemed,
    NotFinalized,
    PositionLost,
    PositionNotFound,
)
from service_tui.engine.events import Redeemed
from service_tui.engine.transitions import PositionState
from service_tui.engine.venues import Times, Venues
from service_tui.terms import Side


def redeem(venues: Venues, agent: Agent, claim: tuple[str, Side], times: Times) -> list[Redeemed]:
    """Turn a winning position into cash.

    Args:
        venues: where it is held.
        agent: who holds it.
        claim: market and side.
        times: wall time and the tape's.

    Returns:
        The event, already applied.

    Raises:
        PositionNotFound: nothing is held there.
        NotFinalized: the oracle has not settled.
        PositionLost: the other side won.
        AlreadyRedeemed: it was done before.
    """
    market_id, side = claim
    account, holding = next(
        (
            (account, account.holdings[market_id])
            for (agent_id, _), account in venues.accounts.items()
            if agent_id == agent.agent_id and market_id in account.holdings
        ),
        (None, None),
    )
    if account is None or holding is None or not holding.position.shares(side):
        raise PositionNotFound(f"position in market {market_id} not found")
    if holding.state in {PositionState.ACTIVE, PositionState.AWAITING}:
        raise NotFinalized("the venue has not finalized the market")
    if holding.winner() is not side:
        raise PositionLost("the position lost: the other side won")
    if holding.state is PositionState.REDEEMED:
        raise AlreadyRedeemed("on-chain token balance is 0: already redeemed")
    at, world_at = times
    position = holding.position
    event = Redeemed(
        agent.agent_id,
        account.venue,
        market_id,
        side,
        position.shares(side),
        position.cost(side),
        holding.payout(),
        at,
        world_at,
    )
    venues.apply(event)
    return [event]

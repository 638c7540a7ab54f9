"""Redemption: a winning position on a real venue becomes cash, once.

A managed wallet is redeemed by the service; an external one by a transaction of its own: see
mining.
"""

from typing import NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.venues import REAL, Times, VenueAccount, VenuePosition, Venues
from service_tui.engine.errors import (
    AlreadyRedeemed,
    ManualOnly,
    NotFinalized,
    PositionLost,
    PositionNotFound,
)
from service_tui.engine.events import Claimed, Event, PositionRedeemed
from service_tui.engine.transitions import PositionState
from service_tui.terms import Side, Venue, WalletKind


class AccountPosition(NamedTuple):
    """A holding and the account it is in."""

    account: VenueAccount
    holding: VenuePosition


def found_in(venues: Venues, agent: Agent, market_id: str) -> AccountPosition | None:
    """What an agent holds in a market on a real venue, in whichever state."""
    for venue in REAL:
        account = venues.accounts.get((agent.agent_id, venue))
        if account is not None and market_id in account.holdings:
            return AccountPosition(account, account.holdings[market_id])
    return None


def winning(venues: Venues, agent: Agent, claim: tuple[str, Side]) -> AccountPosition:
    """The position of a claim, which has won and is not redeemed.

    Args:
        venues: where it is held.
        agent: who holds it.
        claim: market and side.

    Returns:
        Where it is.

    Raises:
        PositionNotFound: nothing is held there.
        NotFinalized: the oracle has not settled.
        PositionLost: the other side won.
        AlreadyRedeemed: it was done before.
    """
    market_id, side = claim
    found = found_in(venues, agent, market_id)
    if found is None or not found.holding.position.shares(side):
        raise PositionNotFound(f"position in market {market_id} not found")
    holding = found.holding
    if holding.state in {PositionState.ACTIVE, PositionState.AWAITING}:
        raise NotFinalized("the venue has not finalized the market")
    if holding.winner() is not side:
        raise PositionLost("the position lost: the other side won")
    if holding.state is PositionState.REDEEMED:
        raise AlreadyRedeemed("on-chain token balance is 0: already redeemed")
    return found


def redeem(
    venues: Venues, agent: Agent, claim: tuple[str, Side], times: Times
) -> list[PositionRedeemed]:
    """Turn a winning position into cash, by the service's own hand.

    Args:
        venues: where it is held.
        agent: who holds it.
        claim: market and side.
        times: wall time and the tape's.

    Returns:
        The event, already applied.

    Raises:
        Refusal: as `winning`.
    """
    account, holding = winning(venues, agent, claim)
    if not holding.on_chain(claim[1]):
        # Redeemed by an own wallet that was linked before.
        raise AlreadyRedeemed("on-chain token balance is 0: already redeemed")
    return [_paid(venues, account, holding, times)]


def check_chain(venue: Venue) -> None:
    """Refuse a venue whose positions cannot be redeemed here.

    Raises:
        ManualOnly: it redeems on its own page. Source: spec, "Redemption flow".
    """
    if venue is not Venue.EVM:
        raise ManualOnly(f"redemption on {venue.value} is manual only")


def claim_position(venues: Venues, found: AccountPosition, side: Side, times: Times) -> list[Event]:
    """Mark a position claimed whose tokens are gone from the chain; nothing while they are there.

    Returns:
        The event, already applied.
    """
    if found.holding.state is not PositionState.READY or found.holding.on_chain(side):
        return []
    return [claimed(venues, found, side, (times, ""))]


def claimed(
    venues: Venues, found: AccountPosition, side: Side, receipt: tuple[Times, str]
) -> Claimed:
    """Mark a position claimed: by the hash of a report, or because the service found it so."""
    account, holding = found
    times, tx_hash = receipt
    event = Claimed(
        account.agent_id, account.venue, holding.position.market_id, side, *times, tx_hash
    )
    venues.apply(event)
    return event


def _paid(
    venues: Venues, account: VenueAccount, holding: VenuePosition, times: Times
) -> PositionRedeemed:
    winner = holding.winner()
    if winner is None:
        raise ValueError("an open position has no winner")
    position = holding.position
    event = PositionRedeemed(
        account.agent_id,
        account.venue,
        position.market_id,
        winner,
        holding.payout(),
        position.on(winner).cost_of(holding.payout()),
        holding.payout(),
        *times,
        wallet=venues.wallets.get(account.agent_id) if account.venue is Venue.EVM else None,
    )
    venues.apply(event)
    return event


# -- what falls due ------------------------------------------------------------------------


def redeem_managed(venues: Venues, times: Times) -> list[Event]:
    """Redeem what the service holds for its agents. Source: spec, "Wallet types".

    Returns:
        The events, already applied.
    """
    due = {agent_id for agent_id in venues.payable if _is_managed(venues.agents[agent_id])}
    if not due:
        return []
    events: list[Event] = []
    for account in venues.accounts.values():
        if account.agent_id in due and account.venue is Venue.EVM:
            ready = [holding for holding in account.holdings.values() if holding.payout()]
            events += [_paid(venues, account, holding, times) for holding in ready]
    return events


def _is_managed(agent: Agent) -> bool:
    settings = agent.settings
    return settings.wallet is WalletKind.MANAGED and settings.auto_redeem_enabled

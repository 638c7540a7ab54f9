"""Redemption: a position on a real venue that pays becomes cash, once.

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
from service_tui.engine.events import Event, MarkedRedeemed, PositionRedeemed
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


def paying(venues: Venues, agent: Agent, place: tuple[str, Side]) -> AccountPosition:
    """The position at a place, which pays and is not redeemed.

    Args:
        venues: where it is held.
        agent: who holds it.
        place: market and side.

    Returns:
        Where it is.

    Raises:
        PositionNotFound: nothing is held there.
        NotFinalized: the oracle has not settled.
        PositionLost: the side pays nothing.
        AlreadyRedeemed: it was done before.
    """
    market_id, side = place
    found = found_in(venues, agent, market_id)
    if found is None or not found.holding.position.shares(side):
        raise PositionNotFound(f"position in market {market_id} not found")
    holding = found.holding
    if holding.state in {PositionState.ACTIVE, PositionState.AWAITING}:
        raise NotFinalized("the venue has not finalized the market")
    if not holding.pays(side):
        raise PositionLost("the position lost: the other side won")
    if holding.state is PositionState.REDEEMED:
        raise AlreadyRedeemed("on-chain token balance is 0: already redeemed")
    return found


def redeem(
    venues: Venues, agent: Agent, place: tuple[str, Side], times: Times
) -> list[PositionRedeemed]:
    """Turn a position that pays into cash, by the service's own hand: the other side, too.

    Args:
        venues: where it is held.
        agent: who holds it.
        place: market and side.
        times: wall time and the tape's.

    Returns:
        The events, already applied.

    Raises:
        Refusal: as `paying`.
    """
    account, holding = paying(venues, agent, place)
    if not holding.on_chain(place[1]):
        # Redeemed by an own wallet that was linked before.
        raise AlreadyRedeemed("on-chain token balance is 0: already redeemed")
    return _paid(venues, account, holding, times)


def check_chain(venue: Venue) -> None:
    """Refuse a venue whose positions cannot be redeemed here.

    Raises:
        ManualOnly: it redeems on its own page. Source: spec, "Redemption flow".
    """
    if venue is not Venue.EVM:
        raise ManualOnly(f"redemption on {venue.value} is manual only")


def mark_what_is_gone(
    venues: Venues, found: AccountPosition, side: Side, times: Times
) -> list[Event]:
    """Mark a position redeemed whose tokens are gone from the chain; nothing while they are there.

    Returns:
        The event, already applied.
    """
    if found.holding.state is not PositionState.READY or found.holding.on_chain(side):
        return []
    if found.holding.payout(side.other):
        # The other side is there, and pays: the position goes on.
        return []
    return [mark_redeemed(venues, found, side, (times, ""))]


def mark_redeemed(
    venues: Venues, found: AccountPosition, side: Side, receipt: tuple[Times, str]
) -> MarkedRedeemed:
    """Mark a position redeemed: by the hash of a report, or because the service found it so."""
    account, holding = found
    times, tx_hash = receipt
    event = MarkedRedeemed(
        account.agent_id, account.venue, holding.position.market_id, side, *times, tx_hash
    )
    venues.apply(event)
    return event


def _paid(
    venues: Venues, account: VenueAccount, holding: VenuePosition, times: Times
) -> list[PositionRedeemed]:
    """Each side that still brings something."""
    events: list[PositionRedeemed] = []
    for side in Side:
        payout, shares = holding.payout(side), holding.on_chain(side)
        if not payout:
            continue
        event = PositionRedeemed(
            account.agent_id,
            account.venue,
            holding.position.market_id,
            side,
            shares,
            holding.position.on(side).cost_of(shares),
            payout,
            *times,
            wallet=venues.wallets.get(account.agent_id) if account.venue is Venue.EVM else None,
        )
        venues.apply(event)
        events.append(event)
    return events


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
            for holding in ready:
                events += _paid(venues, account, holding, times)
    return events


def _is_managed(agent: Agent) -> bool:
    settings = agent.settings
    return settings.wallet is WalletKind.MANAGED and settings.auto_redeem_enabled

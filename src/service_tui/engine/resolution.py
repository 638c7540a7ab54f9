"""What the confirmed outcome of a market pays to whom.

Knows markets, agents, venues and their positions. Must not know the ledger: nothing is paid here.
Used by world.
"""

from collections.abc import Iterator

from service_tui.engine.events import MarketResolved, Payout
from service_tui.engine.exchange import open_shares
from service_tui.engine.market import Market
from service_tui.engine.position import Position
from service_tui.engine.venues import Venues
from service_tui.terms import Side
from service_tui.units import Micros, Timestamp


def resolution_of(market: Market, venues: Venues, at: Timestamp) -> MarketResolved:
    """The resolution of a market, not yet applied; every side that was ever bought is in it."""
    outcome, market_id = market.listing.outcome, market.market_id
    winner = Side.YES if outcome else Side.NO
    payouts = [
        payout
        for agent in venues.agents.values()
        if (position := agent.positions.get(market_id)) is not None
        for payout in _payouts(position, winner, agent.sources.get(market_id, ()))
    ]
    settled = [
        (account.venue, payout)
        for account in venues.accounts.values()
        if (holding := account.holdings.get(market_id)) is not None
        for payout in _payouts(holding.position, winner, holding.sources)
    ]
    held = open_shares(venues.agents, market_id, winner)
    return MarketResolved(
        market_id,
        at,
        market.listing.resolved_at,
        outcome,
        tuple(payouts),
        Micros(market.sold(winner) - held),
        tuple(settled),
    )


def _payouts(position: Position, winner: Side, sources: tuple[str, ...]) -> Iterator[Payout]:
    """What each side of a position that was ever bought is worth."""
    for side in Side:
        held = position.on(side)
        if held.shares or held.opened_at:
            worth = held.shares if side is winner else Micros(0)
            yield Payout(
                position.agent_id,
                side,
                held.shares,
                held.cost,
                worth,
                held.realized,
                held.opened_at,
                sources,
            )

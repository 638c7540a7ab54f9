"""What the confirmed outcome of a market pays to whom.

Knows markets, agents and their positions. Must not know the ledger: nothing is paid here.
Used by world.
"""

from collections.abc import Mapping

from service_tui.engine.agents import Agent
from service_tui.engine.events import MarketResolved, Payout
from service_tui.engine.exchange import open_shares
from service_tui.engine.market import Market
from service_tui.terms import Side
from service_tui.units import Micros, Timestamp


def resolution_of(market: Market, agents: Mapping[str, Agent], at: Timestamp) -> MarketResolved:
    """The resolution of a market, not yet applied."""
    outcome = market.listing.outcome
    winner = Side.YES if outcome else Side.NO
    payouts: list[Payout] = []
    for agent in agents.values():
        position = agent.positions.get(market.market_id)
        if position is None:
            continue
        for side in Side:
            shares = position.shares(side)
            payout = shares if side is winner else Micros(0)
            if shares or position.realized(side):
                payouts.append(
                    Payout(
                        agent.agent_id,
                        side,
                        shares,
                        position.cost(side),
                        payout,
                        position.realized(side),
                        position.opened_at(side),
                    )
                )
    held = open_shares(agents, market.market_id, winner)
    return MarketResolved(
        market.market_id,
        at,
        market.listing.resolved_at,
        outcome,
        tuple(payouts),
        Micros(market.sold(winner) - held),
    )

"""The hint to try real money, after some practice on sim."""

from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.venues import REAL
from service_tui.engine.world import World
from service_tui.server.projections.present import claim_url
from service_tui.terms import Venue, counted
from service_tui.wire.endpoint import (
    SDK,
)
from service_tui.wire.endpoints.public import PATCH_SETTINGS, PLACE_TRADE
from service_tui.wire.trades import GoLiveBody, GoLiveStep

MILESTONES: Final = frozenset({10, 50, 100, 250})
"""Trades on sim at which it comes. Source: wire reference, 3.4."""


def go_live_of(world: World, agent: Agent, address: str, *, since: int) -> GoLiveBody | None:
    """What to do for real trading.

    Args:
        world: as it is after the trades.
        agent: who traded.
        address: of this service.
        since: how many trades the agent had before.

    Returns:
        None where no milestone was passed, or for who traded on a real venue.
    """
    passed = any(since < milestone <= agent.trades_count for milestone in MILESTONES)
    if not passed or agent.settings.real_trading_enabled:
        return None
    if any(world.venues.account(agent.agent_id, venue).trades_count for venue in REAL):
        return None
    claim = GoLiveStep(
        actor="owner", action="claim the agent", method="GET", url=claim_url(address, agent)
    )
    steps = (
        GoLiveStep(
            actor="owner",
            action="link a wallet, and fund it with USDC.e and some POL",
            method="POST",
            url=f"{address}{SDK}/wallet/link",
        ),
        GoLiveStep(
            actor="agent",
            action="enable real trading",
            method=PATCH_SETTINGS.method,
            url=f"{address}{PATCH_SETTINGS.path}",
            body={"sdk_real_trading_enabled": True},
        ),
        GoLiveStep(
            actor="agent",
            action="name the venue of a trade",
            method=PLACE_TRADE.method,
            url=f"{address}{PLACE_TRADE.path}",
            body={"venue": Venue.EVM.value},
        ),
    )
    return GoLiveBody(
        reason=f"{counted(agent.trades_count, 'trade')} on sim",
        sim_trades=agent.trades_count,
        steps=steps if agent.settings.claimed else (claim, *steps),
    )

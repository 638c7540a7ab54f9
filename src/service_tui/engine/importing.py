"""Lists questions that a venue knows already, at the price that they have there."""

from collections.abc import Sequence

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.limits import check_import
from service_tui.engine.events import MarketListed
from service_tui.engine.listing import Listing
from service_tui.engine.tape.crowd import opening_of
from service_tui.engine.world import World
from service_tui.units import Timestamp


def import_listings(
    world: World,
    agent: Agent,
    listings: Sequence[Listing],
    at: Timestamp,
    *,
    unlimited: bool = False,
) -> list[MarketListed]:
    """List questions for all agents; together they count as one import.

    Args:
        world: where they are listed.
        agent: who requested them.
        listings: questions that are not listed, and open.
        at: wall time.
        unlimited: lifts the plan's imports a day.

    Returns:
        The events, already applied.

    Raises:
        DayImports: the agent's imports of the day are used up.
    """
    if not unlimited:
        check_import(agent, at)
    events = [
        MarketListed(
            at,
            world.world_at,
            listing,
            # In the middle of its life the first price would be a gift to the first buyer.
            opening_of(listing, world.world_at),
            # ours: an event counts as one import, however many outcomes it has.
            agent.agent_id if count == 0 else "",
        )
        for count, listing in enumerate(listings)
    ]
    for event in events:
        world.apply(event)
    return events

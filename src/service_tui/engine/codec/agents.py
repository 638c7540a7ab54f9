"""Leashes and waiting trades as JSON-able values and back: their part of the snapshot."""

from service_tui.engine.agents.holding import PendingTrades
from service_tui.engine.agents.leash import Leash
from service_tui.engine.codec.events import Named, held_end_of, held_of
from service_tui.terms import LeashMode


def holding_fields(holding: PendingTrades) -> Named:
    """Everything that the person has decided about agents, and what waits for him."""
    return {
        "count": holding.count,
        "leashes": {
            agent_id: {
                slug: [one.mode, one.threshold, one.budget, one.wait_s]
                for slug, one in agent.leashes.items()
            }
            for agent_id, agent in holding.agents.items()
            if agent.leashes
        },
        "waiting": [list(held) for held in holding.waiting.values()],
        "ended": [[list(held), list(end)] for held, end in holding.ended],
    }


def restore_holding(holding: PendingTrades, fields: Named | None) -> None:
    """Take leashes and trades from a snapshot; one from before there were any has none."""
    if fields is None:
        return
    holding.count = fields["count"]
    for agent_id, leashes in fields["leashes"].items():
        holding.agents[agent_id].leashes = {
            slug: Leash(LeashMode(mode), *rest) for slug, (mode, *rest) in leashes.items()
        }
    waiting = map(held_of, fields["waiting"])
    holding.waiting = {held.held_id: held for held in waiting}
    holding.ended.extend((held_of(held), held_end_of(end)) for held, end in fields["ended"])

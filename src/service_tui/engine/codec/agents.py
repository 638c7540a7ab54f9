"""Leashes and waiting trades as JSON-able values and back: their part of the snapshot."""

from service_tui.engine.agents.leash import Leash
from service_tui.engine.agents.pending_trades import PendingTrades
from service_tui.engine.codec.events import Named, held_end_of, held_of
from service_tui.terms import LeashMode


def pending_fields(pending: PendingTrades) -> Named:
    """Everything that the person has decided about agents, and what waits for him."""
    return {
        "count": pending.count,
        "leashes": {
            agent_id: {
                slug: [leash.mode, leash.threshold, leash.budget, leash.wait_s]
                for slug, leash in agent.leashes.items()
            }
            for agent_id, agent in pending.agents.items()
            if agent.leashes
        },
        "waiting": [list(trade) for trade in pending.waiting.values()],
        "ended": [[list(trade), list(end)] for trade, end in pending.ended],
    }


def restore_pending(pending: PendingTrades, fields: Named | None) -> None:
    """Take leashes and trades from a snapshot; one from before there were any has none."""
    if fields is None:
        return
    pending.count = fields["count"]
    for agent_id, leashes in fields["leashes"].items():
        pending.agents[agent_id].leashes = {
            slug: Leash(LeashMode(mode), *rest) for slug, (mode, *rest) in leashes.items()
        }
    waiting = map(held_of, fields["waiting"])
    pending.waiting = {trade.held_id: trade for trade in waiting}
    pending.ended.extend((held_of(trade), held_end_of(end)) for trade, end in fields["ended"])

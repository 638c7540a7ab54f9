"""Leashes and waiting trades as JSON-able values and back: their part of the snapshot."""

from service_tui.engine.agents.leash import Leash
from service_tui.engine.agents.pending_trades import PendingTrades
from service_tui.engine.events import PendingEnded, TradePending
from service_tui.records import Named, read


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
        "waiting": list(pending.waiting.values()),
        "ended": list(pending.ended),
    }


def restore_pending(pending: PendingTrades, fields: Named | None) -> None:
    """Take leashes and trades from a snapshot; one from before there were any has none."""
    if fields is None:
        return
    pending.count = fields["count"]
    names = Leash.__slots__
    for agent_id, leashes in fields["leashes"].items():
        pending.agents[agent_id].leashes = {
            slug: read(Leash, dict(zip(names, row, strict=True))) for slug, row in leashes.items()
        }
    waiting = [read(TradePending, row) for row in fields["waiting"]]
    pending.waiting = {trade.pending_id: trade for trade in waiting}
    pending.ended.extend(
        (read(TradePending, one), read(PendingEnded, end)) for one, end in fields["ended"]
    )

"""Links another wallet: the agent's balances on the EVM venue then belong to that wallet."""

from typing import NamedTuple

from service_tui.engine.books.resting import cancel_all
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import AlertEnded, Event, MonitorDeleted
from service_tui.engine.world import World
from service_tui.terms import AlertStatus, Venue


class WalletChange(NamedTuple):
    """What happened, already applied, and how much of it ended with the wallet that went."""

    events: list[Event]
    orders: int = 0
    monitors: int = 0


def link(world: World, linked: WalletLinked) -> WalletChange:
    """Let an agent trade with another wallet; an empty address is the managed one.

    Money and positions of the wallet that goes are kept for it, its open orders are cancelled.
    Source: decisions, "Another wallet".
    """
    agent_id, at = linked.agent_id, linked.at
    before = world.chain.linked.get(agent_id, "")
    noted = linked._replace(left=before)
    if linked.address.lower() == before:
        return WalletChange(world.note(noted))
    resting = world.venues.orders(agent_id, Venue.EVM)
    events: list[Event] = [*cancel_all(world.venues, resting, (at, world.world_at))]
    # ours: monitors and alerts end with it. What nobody guards is said when it is linked again;
    # thresholds of another time would sell at once.
    watched = [
        monitor.watched
        for monitor in world.risk.monitors_of(agent_id)
        if monitor.watched.venue is Venue.EVM
    ]
    events += world.did([
        MonitorDeleted(agent_id, at, one.venue, one.market_id, one.side) for one in watched
    ])
    events += world.did([
        AlertEnded(
            alert.breach.alert_id, agent_id, at, alert.breach.market_id, AlertStatus.RESOLVED
        )
        for alert in world.risk.alerts_of(agent_id)
        if alert.breach.venue is Venue.EVM
    ])
    events += world.note(noted)
    return WalletChange(events, len(resting), len(watched))

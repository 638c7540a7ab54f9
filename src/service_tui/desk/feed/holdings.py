"""Reads all agents' positions while a screen shows them."""

from service_tui.desk.changes import Changed
from service_tui.desk.feed.poller_memory import PollerMemory, Read
from service_tui.desk.holdings.translate import holdings_view
from service_tui.desk.ports import Ports
from service_tui.wire.endpoints.fleet import DESK_HOLDINGS, DESK_LIMITS


async def read_holdings(ports: Ports, memory: PollerMemory) -> Read:
    """Everything held, and its limits; nothing while no page shows it."""
    if not memory.wants_holdings:
        return [], None
    reply = await ports.client.call(DESK_HOLDINGS)
    limits = await ports.client.call(DESK_LIMITS)
    view = holdings_view(reply.answer, limits.answer, ports.now())
    return [Changed(view, reply.dropped)], reply.latency_s

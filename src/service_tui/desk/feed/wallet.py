"""Reads the redemption queue and the wallet; falls back to positions and settings.

A service without our lists is read by its positions and settings instead.
"""

import logging

from service_tui.client.errors import NotFoundError
from service_tui.desk.chain.translate import (
    rows_of,
    rows_of_position,
    wallet_of_settings,
    wallet_view,
)
from service_tui.desk.changes import Changed
from service_tui.desk.facts import Fact
from service_tui.desk.feed.poller_memory import PollerMemory, Read
from service_tui.desk.ports import Ports
from service_tui.desk.slices.redemption import AutoChanged, QueueSeen
from service_tui.wire.endpoints.public import AGENT, POSITIONS, SETTINGS
from service_tui.wire.endpoints.wallet import REDEMPTIONS, WALLET
from service_tui.wire.positions import PositionsQuery
from service_tui.wire.redemption import RedemptionsQuery

log = logging.getLogger(__name__)


async def read_redemptions(ports: Ports, memory: PollerMemory) -> Read:
    """Read every position on a real venue, and whether the service redeems automatically."""
    if not memory.without_queue:
        try:
            reply = await ports.client.call(REDEMPTIONS, query=RedemptionsQuery())
        except NotFoundError:
            log.info("the service keeps no queue of redemptions: positions are read")
            memory.without_queue = True
        else:
            rows, odd = rows_of(reply.answer.redemptions)
            auto = AutoChanged(on_service=reply.answer.auto_redeem_enabled)
            return [QueueSeen(rows, reply.dropped + odd), auto], reply.latency_s
    query = PositionsQuery(venue="all", status="all", limit=500)
    listed = await ports.client.call(POSITIONS, query=query)
    agent = await ports.client.call(AGENT)
    rows = tuple(row for body in listed.answer.positions for row in rows_of_position(body))
    facts: list[Fact] = [
        QueueSeen(rows, listed.dropped),
        AutoChanged(on_service=agent.answer.auto_redeem_enabled),
    ]
    return facts, listed.latency_s


async def read_wallet(ports: Ports, memory: PollerMemory) -> Read:
    """The wallet, what is in it, and what real trades still need."""
    if not memory.without_wallet:
        try:
            reply = await ports.client.call(WALLET)
        except NotFoundError:
            log.info("no wallet data from the service: using its settings")
            memory.without_wallet = True
        else:
            seen = wallet_view(reply.answer, ports.state().wallet)
            return [Changed(seen)], reply.latency_s
    settings = await ports.client.call(SETTINGS)
    return [Changed(wallet_of_settings(settings.answer, ports.state().wallet))], settings.latency_s

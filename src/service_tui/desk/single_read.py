"""Reads the service once without running a desk: its readings, without its loops."""

import asyncio
from dataclasses import replace
from typing import Final

from service_tui.desk.agents.past import pasts_of
from service_tui.desk.audit.report import Pasts
from service_tui.desk.facts import Fact, ServiceAnswered
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.feed.pollers import READINGS
from service_tui.desk.ports import DeskContext, Ports
from service_tui.desk.reduce import reduce
from service_tui.desk.state import DeskState
from service_tui.desk.wanted import Wanted
from service_tui.storage.blotter import Blotter
from service_tui.storage.kept_tokens import KeptTokens

NEWEST: Final = 50
"""Commands that are read: what has just failed is among them."""


async def read_once(
    initial: DeskState,
    context: DeskContext,
    wanted: Wanted,
) -> tuple[DeskState, Pasts]:
    """State after one reading of each topic, and the past of every agent; nothing is stored.

    Args:
        initial: what is known without a request.
        context: the service, and what a desk is opened with.
        wanted: what is read.

    Returns:
        What is known then.

    Raises:
        ServiceError: a topic was not answered.
    """
    state = initial

    def emit(fact: Fact) -> None:
        nonlocal state
        state = reduce(state, fact)

    blotter = Blotter(context.database)
    if wanted.commands:
        # Most lists need none.
        from service_tui.desk.blotter import ticket_of  # noqa: PLC0415

        rows = await asyncio.to_thread(lambda: [*blotter.open_tickets(), *blotter.recent(NEWEST)])
        # By name: one without an answer may be among the newest, too.
        known = {row.ticket_id: ticket_of(row) for row in rows}
        state = replace(state, tickets=tuple(known.values()))
    ports = Ports(
        client=context.client,
        blotter=blotter,
        clock=context.clock,
        new_id=context.new_id,
        state=lambda: state,
        emit=emit,
        refresh=lambda _: None,
        tokens=KeptTokens(context.database),
    )
    for topic in wanted.topics:
        # Trades come with the past of each agent, and not once more as fills.
        memory = PollerMemory(fills=None, wants_returns=wanted.returns)
        facts, latency_s = await READINGS[topic](ports, memory)
        for fact in facts:
            emit(fact)
        emit(ServiceAnswered(topic, ports.now(), latency_s or 0.0, context.client.skew_s))
    return replace(state, from_cache=False), await pasts_of(ports, wanted.parts)

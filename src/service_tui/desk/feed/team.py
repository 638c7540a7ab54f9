"""Reads the people of a shared desk, the calls that my role forbids, and the last changes."""

from typing import Final

from service_tui.desk.changes import Changed
from service_tui.desk.feed.poller_memory import PollerMemory, Read
from service_tui.desk.ports import Ports
from service_tui.desk.slices.team import ActView, PersonHere, TeamView
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints.people import DESK_AUDIT, DESK_ME
from service_tui.wire.people import AuditQuery

ACTS: Final = 100
"""Newest changes that are read."""


async def read_team(ports: Ports, _: PollerMemory) -> Read:
    """Read the team of a shared desk."""
    reply = await ports.client.call(DESK_ME)
    audit = await ports.client.call(DESK_AUDIT, query=AuditQuery(limit=ACTS))
    me = reply.answer
    team = TeamView(
        name=me.name,
        role=me.role,
        world=me.world,
        forbidden=frozenset(me.forbidden),
        here=tuple(PersonHere(one.name, one.role, one.seconds_ago) for one in me.here),
        leader=me.leader,
        epoch=me.epoch,
        acts=tuple(
            ActView(one.seq, timestamp(one.at), one.person, one.action, one.subject, one.detail)
            for one in audit.answer.acts
        ),
    )
    return [Changed(team)], reply.latency_s

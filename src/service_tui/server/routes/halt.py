"""Routes of the operator's halt: until it is resumed, every agent's buys are refused."""

from collections.abc import Sequence
from typing import Final

from service_tui.engine import halting
from service_tui.engine.events import Event, OrderEnded
from service_tui.server.http.service import RequestContext, Routes
from service_tui.units import decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints.desk import DESK_HALT, DESK_RESUME
from service_tui.wire.halt import CancelledBody, HaltBody


async def halt(request: RequestContext) -> HaltBody:
    """Refuse every entry and cancel the buys that rest; a second time it changes nothing.

    On a disk that refuses it is an error, and done all the same before anything is traded again.
    """
    store = request.service.world_store
    store.is_halt_due = True
    store.check_whole()
    done = await _done(request, halting.halt(request.world, request.now))
    store.is_halt_due = False
    return done


async def resume(request: RequestContext) -> HaltBody:
    """Take entries again; pauses of single agents stay."""
    store = request.service.world_store
    store.check_whole()
    done = await _done(request, halting.resume(request.world, request.now))
    store.is_halt_due = False
    return done


async def _done(request: RequestContext, events: Sequence[Event]) -> HaltBody:
    """Journal the events, and report the state of the halt."""
    await request.write(events)
    world = request.world
    since = world.halt.since
    return HaltBody(
        halted=since is not None,
        halted_at=None if since is None else moment(since),
        cancelled=tuple(
            CancelledBody(
                order_id=one.order_id,
                agent_id=one.agent_id,
                agent_name=world.agents[one.agent_id].settings.name,
                market_id=one.market_id,
                returned_usdc=decimal(one.returned),
            )
            for one in events
            if isinstance(one, OrderEnded)
        ),
    )


ROUTES: Final[Routes] = {DESK_HALT: halt, DESK_RESUME: resume}

"""Steps of a halt and of its end, one call each; a step raises while it is not done.

A step says in plain English what came of it; it raises ServiceError, StorageError or NotDoneError
while it is not done.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from service_tui.client.errors import NotFoundError
from service_tui.desk.ports import Ports
from service_tui.desk.slices.records import TicketState, Topic
from service_tui.terms import Action
from service_tui.wire.endpoints.desk import DESK_HALT, DESK_RESUME, WORLD
from service_tui.wire.endpoints.public import CANCEL_ORDER, OPEN_ORDERS, PATCH_USER_SETTINGS
from service_tui.wire.settings import UserSettingsPatch

Done = Callable[[Ports], Awaitable[str]]
"""Carries out a step; returns a text about its result."""


class HaltStep(NamedTuple):
    """One who has to know. `what` is true once it is done."""

    name: str
    description: str
    done: Done
    embedded_only: bool = False


class NotDoneError(Exception):
    """Every call was answered, but the step is not done; the text is one plain sentence."""


class NotYetError(NotDoneError):
    """Something else has to end first."""


async def stop_what_runs(ports: Ports) -> str:
    """Acknowledgement of local skills, which the closing gate suspended."""
    if ports.gate.loose:
        ports.gate.suspend()
    if loose := ports.gate.loose:
        raise NotDoneError("; ".join(f"{name} still running: {why}" for name, why in loose.items()))
    count = ports.gate.suspended_count
    return f"{count} suspended" if count else "none running here"


async def halt_service(ports: Ports) -> str:
    """The embedded service refuses the entries of every agent, and keeps that over a restart."""
    answer = (await ports.client.call(DESK_HALT)).answer
    if not answer.halted:
        raise NotDoneError("service not halted")
    ports.refresh(Topic.WORLD)
    ports.refresh(Topic.BRIEFING)
    return f"{len(answer.cancelled)} open buys cancelled" if answer.cancelled else ""


async def service_is_halted(ports: Ports) -> bool:
    """Read the embedded service's halt now, and refresh the world on screen."""
    answer = (await ports.client.call(WORLD)).answer
    ports.refresh(Topic.WORLD)
    return answer.halted_at is not None


async def pause_agent(ports: Ports) -> str:
    """Set `trading_paused` on the service for the agent of this desk."""
    body = UserSettingsPatch(trading_paused=True)
    answer = (await ports.client.call(PATCH_USER_SETTINGS, body=body)).answer
    # Left out it means paused wherever something is to be allowed; here it acknowledges nothing.
    if not (answer.trading_paused and "trading_paused" in answer.model_fields_set):
        raise NotDoneError("trading not paused at the service")
    ports.refresh(Topic.ACCOUNT)
    return ""


async def cancel_buys(ports: Ports) -> str:
    """No buy of ours rests on a book; sales stay, they bring money."""
    reply = await ports.client.call(OPEN_ORDERS)
    buys = [order for order in reply.answer.orders if order.trade_type is not Action.SELL]
    refused: list[str] = []
    for order in buys:
        try:
            cancelled = await ports.client.call(CANCEL_ORDER, path={"order_id": order.order_id})
        except NotFoundError:
            # It was filled, or ended automatically, since it was listed.
            continue
        if not cancelled.answer.success:
            refused.append(cancelled.answer.message)
    if refused:
        why = f": {refused[0]}" if refused[0] else ""
        raise NotDoneError(f"{len(refused)} of {len(buys)} not cancelled{why}")
    if reply.dropped:
        raise NotDoneError(f"{reply.dropped} open orders unreadable")
    # What had left before the halt may still come to rest.
    under_way = sum(
        ticket.state is TicketState.SENT and ticket.amount > 0 for ticket in ports.state().tickets
    )
    if under_way:
        raise NotYetError(f"{len(buys)} cancelled; {under_way} buys still pending")
    return f"{len(buys)} cancelled" if buys else "none open"


async def lift_pause(ports: Ports) -> None:
    """Clear `trading_paused` on the service for the agent of this desk."""
    body = UserSettingsPatch(trading_paused=False)
    await ports.client.call(PATCH_USER_SETTINGS, body=body)
    ports.refresh(Topic.ACCOUNT)


async def resume_service(ports: Ports) -> None:
    """The embedded service takes entries again."""
    answer = (await ports.client.call(DESK_RESUME)).answer
    if answer.halted:
        raise NotDoneError("service still halted")
    ports.refresh(Topic.WORLD)
    ports.refresh(Topic.BRIEFING)

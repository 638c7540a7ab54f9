"""Steps of a halt and of its end, one call each.

A step returns a text about its result. While it is not done it raises ServiceError, StorageError or
NotDoneError, and is tried again.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from service_tui.client.errors import NotFoundError
from service_tui.desk.ports import Ports
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Action
from service_tui.wire.endpoints.desk import DESK_HALT, DESK_RESUME, WORLD
from service_tui.wire.endpoints.public import CANCEL_ORDER, OPEN_ORDERS, PATCH_USER_SETTINGS
from service_tui.wire.settings import UserSettingsPatch

StepCall = Callable[[Ports], Awaitable[str]]
"""Carries out a step; returns a text about its result, and raises while it is not done."""


class HaltStep(NamedTuple):
    """One acknowledgement of a halt. `description` is the state that `carry_out` brings about."""

    name: str
    description: str
    carry_out: StepCall
    embedded_only: bool = False


class NotDoneError(Exception):
    """Every call was answered, but the step is not done; the text is one plain sentence."""


class NotYetError(NotDoneError):
    """Something else has to end first."""


async def stop_what_runs(ports: Ports) -> str:
    """Suspend the local skills that still run; the closing of the gate has suspended the others."""
    if ports.gate.loose:
        ports.gate.suspend()
    if loose := ports.gate.loose:
        raise NotDoneError("; ".join(f"{name} still running: {why}" for name, why in loose.items()))
    count = ports.gate.suspended_count
    return f"{count} suspended" if count else "none running here"


async def halt_service(ports: Ports) -> str:
    """Make the embedded service refuse the buys of every agent; it stays halted over a restart."""
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
    # A missing field means paused elsewhere; here it is no acknowledgement.
    if not (answer.trading_paused and "trading_paused" in answer.model_fields_set):
        raise NotDoneError("trading not paused at the service")
    ports.refresh(Topic.ACCOUNT)
    return ""


async def cancel_buys(ports: Ports) -> str:
    """Cancel the open buys of this desk's agent; open sales stay."""
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
    # Buys sent before the halt may still become open orders.
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
    """Make the embedded service accept buys again."""
    answer = (await ports.client.call(DESK_RESUME)).answer
    if answer.halted:
        raise NotDoneError("service still halted")
    ports.refresh(Topic.WORLD)
    ports.refresh(Topic.BRIEFING)

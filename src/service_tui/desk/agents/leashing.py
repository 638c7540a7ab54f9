"""Calls that set permissions, shared by several handlers."""

from service_tui.desk.commands.agents import SetLeash
from service_tui.desk.ports import Ports
from service_tui.units import decimal
from service_tui.wire.endpoints.fleet import DESK_FREE_LEASH, DESK_SET_LEASH
from service_tui.wire.fleet import LeashQuery, LeashRequest


async def set_leash(order: SetLeash, ports: Ports) -> None:
    """Put a leash on or take it off; raises ServiceError with the reason if refused."""
    path = {"agent_id": order.agent_id}
    if order.mode is None:
        query = LeashQuery(skill_slug=order.skill_slug)
        await ports.client.call(DESK_FREE_LEASH, path=path, query=query)
        return
    body = LeashRequest(
        mode=order.mode,
        skill_slug=order.skill_slug,
        threshold=decimal(order.threshold),
        daily_budget=None if order.budget is None else decimal(order.budget),
        wait_s=order.wait_s,
    )
    await ports.client.call(DESK_SET_LEASH, path=path, body=body)

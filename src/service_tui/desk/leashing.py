"""Putting leashes on: the calls that more than one handler makes.

Knows ports. Must not know widgets.
Used by the handlers of the fleet and of skills.
"""

from service_tui.desk.commands_fleet import SetLeash
from service_tui.desk.ports import Ports
from service_tui.desk.records_fleet import SupervisionView
from service_tui.units import decimal
from service_tui.wire.endpoints_fleet import DESK_FREE_LEASH, DESK_SET_LEASH
from service_tui.wire.fleet import LeashQuery, LeashRequest


def still_waiting(view: SupervisionView, agent_id: str, skill_slug: str = "") -> str:
    """What is left to decide of an agent, or of one of its skills; empty when nothing is."""
    count = sum(
        one.agent_id == agent_id and skill_slug in {"", one.skill_slug} for one in view.held
    )
    if not count:
        return ""
    return f"; {count} trade{' still waits' if count == 1 else 's still wait'} for you (&)"


async def set_leash(order: SetLeash, ports: Ports) -> None:
    """Put a leash on, or take it off; a ServiceError says why not."""
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

"""Handlers of leashes, approvals, alerts on agents and PauseAll."""

from service_tui.client.errors import ServiceError
from service_tui.desk.agents.health import still_waiting
from service_tui.desk.agents.leashing import set_leash
from service_tui.desk.commands.agents import (
    ApproveTrade,
    PauseAll,
    RefuseTrade,
    RemoveAgentAlert,
    SetAgentAlert,
    SetLeash,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import failed_text
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.topics import Topic
from service_tui.units import decimal
from service_tui.wire.desk import DeskAgentPatch
from service_tui.wire.endpoints.desk import DESK_PATCH_AGENT
from service_tui.wire.endpoints.fleet import (
    DESK_APPROVE,
    DESK_DELETE_AGENT_ALERT,
    DESK_REFUSE,
    DESK_SET_AGENT_ALERT,
)
from service_tui.wire.fleet import AgentAlertRequest, ApproveRequest, RefuseRequest

HandOrder = SetLeash | ApproveTrade | RefuseTrade | PauseAll | SetAgentAlert | RemoveAgentAlert


async def carry_out(order: HandOrder, ports: Ports) -> None:
    """Carry out a leash or approval command and report the result in a notice."""
    why = objection(ports)
    if why:
        ports.emit(Noticed("warn", f"{order.describe()}: {why}"))
        return
    try:
        result = await _done(order, ports)
    except (ServiceError, ValueError) as error:
        ports.emit(Noticed("bad", failed_text(order, error)))
    else:
        ports.emit(result)
    for topic in (Topic.FLEET, Topic.AGENTS):
        ports.refresh(topic)


async def _done(order: HandOrder, ports: Ports) -> Noticed:
    match order:
        case SetLeash():
            await set_leash(order, ports)
            view = ports.state().supervision
            left = still_waiting(view, order.agent_id, order.skill_slug)
            return Noticed("good", f"{order.describe()}{left}")
        case ApproveTrade():
            return await _approve(order, ports)
        case RefuseTrade():
            return await _refuse(order, ports)
        case SetAgentAlert() | RemoveAgentAlert():
            return await _change_alert(order, ports)
        case PauseAll():
            return await _pause_all(order, ports)


def objection(ports: Ports) -> str:
    """Reason why this desk refuses the command; empty if it does not."""
    service = ports.state().service
    if service.read_only:
        return READ_ONLY
    if not service.embedded:
        return "this service has no leashes"
    return ""


async def _approve(order: ApproveTrade, ports: Ports) -> Noticed:
    size = None if order.amount is None else decimal(order.amount)
    body = ApproveRequest(amount=size, not_above=order.not_above, not_below=order.not_below)
    reply = await ports.client.call(DESK_APPROVE, path={"held_id": order.pending_id}, body=body)
    trade = reply.answer.trade
    if trade is None or not trade.success:
        why = reply.answer.held.reason or "refused by the venue"
        return Noticed("bad", f"{order.describe()}: {why}", NoticeKind.APPROVAL)
    changed = ("" if size is None else f" for {size:,.2f}") + order.bound_text
    return Noticed("good", f"approved{changed}: {order.what}", NoticeKind.APPROVAL)


async def _refuse(order: RefuseTrade, ports: Ports) -> Noticed:
    await ports.client.call(
        DESK_REFUSE, path={"held_id": order.pending_id}, body=RefuseRequest(reason=order.reason)
    )
    return Noticed("good", f"refused: {order.what}", NoticeKind.APPROVAL)


async def _change_alert(order: SetAgentAlert | RemoveAgentAlert, ports: Ports) -> Noticed:
    if isinstance(order, RemoveAgentAlert):
        path = {"agent_id": order.agent_id, "alert_id": order.alert_id}
        await ports.client.call(DESK_DELETE_AGENT_ALERT, path=path)
        return Noticed("good", order.describe())
    body = AgentAlertRequest(
        kind=order.watches,
        limit=decimal(order.limit),
        minutes=order.minutes or None,
        action=order.action,
        skill_slug=order.skill_slug,
    )
    await ports.client.call(DESK_SET_AGENT_ALERT, path={"agent_id": order.agent_id}, body=body)
    return Noticed("good", order.describe())


async def _pause_all(order: PauseAll, ports: Ports) -> Noticed:
    fleet = ports.state().fleet
    others = [] if fleet is None else [one for one in fleet.agents if not one.is_own]
    wanted = [one for one in others if one.paused is not order.paused]
    for agent in wanted:
        await ports.client.call(
            DESK_PATCH_AGENT,
            path={"agent_id": agent.agent_id},
            body=DeskAgentPatch(trading_paused=order.paused),
        )
    state = "paused (sales only)" if order.paused else "may buy again"
    names = f": {', '.join(agent.name for agent in wanted)}" if wanted else ""
    noun = "agent" if len(wanted) == 1 else "agents"
    return Noticed("warn" if order.paused else "good", f"{len(wanted)} {noun} {state}{names}")

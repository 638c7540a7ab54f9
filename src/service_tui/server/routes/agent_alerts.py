"""Routes of alerts on agents: set, list and remove, for the operator."""

from typing import Final

from service_tui.engine.notify.agent_alerts import AgentAlert
from service_tui.engine.notify_events import AgentAlertSet
from service_tui.engine.world import World
from service_tui.server.http.access import check_role
from service_tui.server.http.refusals import invalid_items, sent_micros
from service_tui.server.http.service import RequestContext, Routes
from service_tui.terms import AGENT_SILENT_MAX, AgentAlertAction, AgentAlertKind, PersonRole
from service_tui.units import Micros, decimal
from service_tui.wire.alerts import RemovedBody
from service_tui.wire.base import moment
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_ALERTS,
    DESK_DELETE_AGENT_ALERT,
    DESK_SET_AGENT_ALERT,
)
from service_tui.wire.fleet import AgentAlertBody, AgentAlertRequest, AgentAlertsBody

BOUNDS: Final = {
    AgentAlertKind.SILENT: (1.0, float(AGENT_SILENT_MAX), "minutes, 1 to 1,440"),
    AgentAlertKind.DRAWDOWN: (0.001, 1.0, "a fraction of the peak, 0.001 to 1"),
    AgentAlertKind.MOVE: (0.001, 1.0, "a fraction of a price, 0.001 to 1"),
    AgentAlertKind.ERRORS: (1.0, 1_000.0, "a whole number, 1 to 1,000"),
}
"""Limits of the kinds that do not count money. # ours."""


def alert_body(world: World, alert: AgentAlert) -> AgentAlertBody:
    """An alert as it is."""
    placed, has_fired = alert.placed, alert.fired_at is not None
    return AgentAlertBody(
        id=placed.alert_id,
        agent_id=placed.agent_id,
        agent_name=world.agents[placed.agent_id].settings.name,
        kind=placed.kind,
        limit=decimal(placed.limit),
        minutes=placed.minutes,
        action=placed.action,
        skill_slug=placed.skill_slug,
        created_at=moment(placed.at),
        is_beyond=alert.is_beyond,
        fired_count=alert.fired_count,
        last_fired_at=None if alert.fired_at is None else moment(alert.fired_at),
        last_value=decimal(alert.value) if has_fired else None,
        last_market_id=alert.market_id,
        last_question=world.question_of(alert.market_id) if alert.market_id else "",
    )


async def list_alerts(request: RequestContext) -> AgentAlertsBody:
    """The alerts on all agents, oldest first."""
    world = request.world
    rows = tuple(alert_body(world, one) for one in world.agent_alerts.by_id.values())
    return AgentAlertsBody(alerts=rows)


async def set_alert(request: RequestContext) -> AgentAlertBody:
    """Set an alert on an agent. One whose limit is reached already fires at the next tick.

    Raises:
        Denied: 422 for a limit or a window that the kind has not, 403 for a trader who would halt.
    """
    agent = request.world.agent(request.path["agent_id"])
    sent = request.body_as(AgentAlertRequest)
    if sent.action is AgentAlertAction.HALT:
        # As the halt itself: it stops agents of others.
        check_role(request.operator, PersonRole.SUPERVISOR)
    wanted = AgentAlertSet(
        "",
        agent.agent_id,
        request.now,
        sent.kind,
        _limit_of(sent),
        _minutes_of(sent),
        sent.action,
        _skill_of(sent),
        request.service.own_agent(request.person),
    )
    request.service.world_store.check_whole()
    event = request.world.agent_alerts.request(wanted)
    await request.write(request.world.note(event))
    return alert_body(request.world, request.world.agent_alerts.by_id[event.alert_id])


def _limit_of(sent: AgentAlertRequest) -> Micros:
    limit = sent_micros(("body", "limit"), sent.limit)
    low, high, why = BOUNDS.get(sent.kind, (0.0, float("inf"), ""))
    is_whole = sent.kind is not AgentAlertKind.ERRORS or float(sent.limit).is_integer()
    if not (low <= sent.limit <= high and is_whole):
        raise invalid_items([(("body", "limit"), why, "range")])
    return limit


def _minutes_of(sent: AgentAlertRequest) -> int:
    if sent.kind.has_window is (sent.minutes is not None):
        return sent.minutes or 0
    why = "this kind has no window" if sent.minutes else "this kind counts within so many minutes"
    raise invalid_items([(("body", "minutes"), why, "window")])


def _skill_of(sent: AgentAlertRequest) -> str:
    if sent.skill_slug and sent.kind is not AgentAlertKind.ERRORS:
        raise invalid_items([(("body", "skill_slug"), "errors alone are of a skill", "skill")])
    return sent.skill_slug


async def delete(request: RequestContext) -> RemovedBody:
    """Remove an alert on an agent; what it has done stays."""
    world, alert_id = request.world, request.path["alert_id"]
    request.service.world_store.check_whole()
    event = world.agent_alerts.delete(request.path["agent_id"], alert_id, request.now)
    await request.write(world.note(event))
    return RemovedBody(success=True, id=alert_id, message="the alert is removed")


ROUTES: Final[Routes] = {
    DESK_AGENT_ALERTS: list_alerts,
    DESK_SET_AGENT_ALERT: set_alert,
    DESK_DELETE_AGENT_ALERT: delete,
}

"""Monitors and risk alerts of the calling agent: set, list, delete, acknowledge."""

from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.book import Times
from service_tui.engine.events import Event
from service_tui.engine.thresholds import (
    Spot,
    ThresholdRequest,
    acknowledge,
    delete_monitor,
    set_monitor,
)
from service_tui.server.http.refusals import invalid_items
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.risk import alert_body, monitor_body
from service_tui.terms import THRESHOLDS, AlertStatus, Side
from service_tui.wire.endpoints.fleet import DESK_DELETE_MONITOR, DESK_SET_MONITOR
from service_tui.wire.endpoints.public import (
    DELETE_MONITOR,
    END_RISK_ALERT,
    MONITORS,
    RISK_ALERTS,
    SET_MONITOR,
)
from service_tui.wire.monitors import (
    MonitorQuery,
    MonitorRemovedBody,
    MonitorRequest,
    MonitorsBody,
    MonitorSetBody,
    RiskAlertEndedBody,
    RiskAlertQuery,
    RiskAlertsBody,
    RiskAlertsQuery,
)

_SIDES: Final = {side.value: side for side in Side}


def times_of(request: RequestContext) -> Times:
    """Wall time and the tape's."""
    return request.now, request.world.world_at


def _agent_of(request: RequestContext) -> Agent:
    """The agent that the path of an operator names; else the calling one."""
    named = request.path.get("agent_id")
    return request.agent if named is None else request.world.agent(named)


async def _commit(request: RequestContext, event: Event) -> None:
    """Write down what was applied, and which operator asked for it."""
    named = () if request.act is None else (request.act,)
    await request.service.world_store.commit((event, *named))


async def write(request: RequestContext) -> MonitorSetBody:
    """Watch a side that the agent holds; what is not sent stays as an earlier monitor has it."""
    sent, agent = request.body_as(MonitorRequest), _agent_of(request)
    request.service.world_store.check_whole()
    thresholds = ThresholdRequest(
        Spot(request.path["market_id"], sent.side, sent.venue),
        {
            kind.name: getattr(sent, kind.name)
            for kind in THRESHOLDS
            if kind.name in sent.model_fields_set
        },
    )
    event, monitor = set_monitor(request.world, agent, thresholds, request.now)
    body = monitor_body(request.world, monitor, times_of(request))
    await _commit(request, event)
    message = f"{event.side.value.upper()} of {event.market_id} on {event.venue.value} is watched"
    return MonitorSetBody.model_construct(
        **dict(body), success=True, message=message, warnings=sent.warnings()
    )


async def delete(request: RequestContext) -> MonitorRemovedBody:
    """Remove the monitor of a side; the position stays."""
    query, agent = request.query_as(MonitorQuery), _agent_of(request)
    request.service.world_store.check_whole()
    spot = Spot(request.path["market_id"], query.side, query.venue)
    event = delete_monitor(request.world, agent, spot, request.now)
    await _commit(request, event)
    return MonitorRemovedBody(
        success=True,
        market_id=event.market_id,
        side=event.side,
        venue=event.venue,
        message=f"{event.side.value.upper()} of {event.market_id} is watched no more",
    )


async def read(request: RequestContext) -> MonitorsBody:
    """All active monitors of the agent, oldest first."""
    found = request.world.risk.monitors_of(request.agent.agent_id)
    rows = tuple(monitor_body(request.world, one, times_of(request)) for one in found)
    return MonitorsBody(monitors=rows, settings=rows, count=len(rows))


async def read_alerts(request: RequestContext) -> RiskAlertsBody:
    """Breaches that wait for their exit, oldest first."""
    world, agent_id = request.world, request.agent.agent_id
    risk, times = world.risk, times_of(request)
    waiting = [alert for alert in risk.alerts_of(agent_id) if request.now < alert.expires_at]
    past = risk.history_of(agent_id) if request.query_as(RiskAlertsQuery).include_history else ()
    return RiskAlertsBody(
        risk_alerts=tuple(alert_body(world, alert, times) for alert in waiting),
        count=len(waiting),
        history=tuple(alert_body(world, alert, times) for alert in past),
    )


async def end_alert(request: RequestContext) -> RiskAlertEndedBody:
    """Acknowledge an alert: executed where its shares were sold, else dismissed.

    Returns:
        How it ended.

    Raises:
        Denied: 422 for a side that is neither yes nor no.
    """
    side = _SIDES.get(request.path["side"])
    if side is None:
        raise invalid_items([(("path", "side"), "the side is yes or no", "enum")])
    query, world_store = request.query_as(RiskAlertQuery), request.service.world_store
    world_store.check_whole()
    spot = Spot(request.path["market_id"], side, query.venue)
    event, alert = acknowledge(
        request.world, request.agent, spot, request.now, alert_id=query.alert_id
    )
    await world_store.commit((event,))
    sold = event.status is AlertStatus.EXECUTED
    return RiskAlertEndedBody(
        success=True,
        market_id=event.market_id,
        side=side,
        venue=alert.breach.venue,
        id=event.alert_id,
        status=event.status.value,
        message="the exit was made" if sold else "nothing was sold for it: dismissed",
    )


ROUTES: Final[Routes] = {
    SET_MONITOR: write,
    DESK_SET_MONITOR: write,
    DESK_DELETE_MONITOR: delete,
    DELETE_MONITOR: delete,
    MONITORS: read,
    RISK_ALERTS: read_alerts,
    END_RISK_ALERT: end_alert,
}

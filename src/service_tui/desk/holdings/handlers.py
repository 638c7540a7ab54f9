"""Handlers of the operator's limits on exposure, and of the stops of what agents hold."""

from contextlib import suppress
from http import HTTPStatus
from typing import Final

from service_tui.client.errors import NotFoundError, RefusedError, ServiceError
from service_tui.desk.commands.agents import AgentSide, SetExposureLimit, SetHeldStops
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import failed_text
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.registry import Handlers
from service_tui.desk.slices.topics import Topic
from service_tui.terms import PUBLISHED_THRESHOLDS
from service_tui.units import decimal
from service_tui.wire.endpoints.fleet import DESK_DELETE_MONITOR, DESK_SET_LIMIT, DESK_SET_MONITOR
from service_tui.wire.limits import ExposureLimitRequest
from service_tui.wire.monitors import MonitorQuery, SentMonitorRequest


async def set_limit(order: SetExposureLimit, ports: Ports) -> None:
    """Set a limit at the service, or take it off; it is shown with the next reading."""
    if ports.state().service.read_only:
        ports.emit(Noticed("warn", f"{order.describe()}: {READ_ONLY}"))
        return
    body = ExposureLimitRequest(
        group=order.group,
        key=order.key,
        venue=order.venue,
        cost_max=None if order.cost_max is None else decimal(order.cost_max),
        refuses=order.refuses,
    )
    try:
        await ports.client.call(DESK_SET_LIMIT, body=body)
    except ServiceError as error:
        ports.emit(Noticed("bad", failed_text(order, error)))
    else:
        ports.emit(Noticed("good", order.describe()))
    ports.refresh(Topic.HOLDINGS)


async def set_stops(order: SetHeldStops, ports: Ports) -> None:
    """Change stops at the service, one by one; a refusal does not stop the others."""
    if ports.state().service.read_only:
        ports.emit(Noticed("warn", f"{order.describe()}: {READ_ONLY}"))
        return
    whys = [why for side in order.sides if (why := await _set_stop(order, side, ports))]
    if whys:
        more = f" (and {len(whys) - 1} more)" if len(whys) > 1 else ""
        text = f"{len(whys)} of {len(order.sides)} not set: {whys[0]}{more}"
        ports.emit(Noticed("bad", text))
    else:
        ports.emit(Noticed("good", order.describe()))
    ports.refresh(Topic.HOLDINGS)


async def _set_stop(order: SetHeldStops, one: AgentSide, ports: Ports) -> str:
    """Change one stop, or take off what would watch nothing.

    Returns:
        Why the service did not; empty if it did.
    """
    try:
        try:
            await _change_stop(order, one, ports)
        except RefusedError as error:
            # The service refuses a monitor that watches nothing, and names no code for it.
            if error.status != HTTPStatus.BAD_REQUEST or any(dict(order.terms).values()):
                raise
            await _take_off(one, ports)
    except RefusedError as error:
        return f"{error.error}; {error.fix}" if error.fix else error.error
    except (ServiceError, ValueError) as error:
        return str(error)
    return ""


async def _change_stop(order: SetHeldStops, one: AgentSide, ports: Ports) -> None:
    terms = dict(order.terms)
    if len(terms) == PUBLISHED_THRESHOLDS and not any(terms.values()):
        await _take_off(one, ports)
        return
    body = {"side": one.side, "venue": one.venue, **terms}
    path = {"agent_id": one.agent_id, "market_id": one.market_id}
    sent = SentMonitorRequest.model_validate(body)
    await ports.client.call(DESK_SET_MONITOR, body=sent, path=path)


async def _take_off(one: AgentSide, ports: Ports) -> None:
    path = {"agent_id": one.agent_id, "market_id": one.market_id}
    query = MonitorQuery(side=one.side, venue=one.venue)
    # Where nobody watched it, there is nothing to take off.
    with suppress(NotFoundError):
        await ports.client.call(DESK_DELETE_MONITOR, path=path, query=query)


HANDLERS: Final[Handlers] = {SetExposureLimit: set_limit, SetHeldStops: set_stops}

"""Handler of the operator's limits on exposure."""

from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.commands.agents import SetExposureLimit
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import failed_text
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.registry import Handlers
from service_tui.desk.slices.topics import Topic
from service_tui.units import decimal
from service_tui.wire.endpoints.fleet import DESK_SET_LIMIT
from service_tui.wire.limits import ExposureLimitRequest


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


HANDLERS: Final[Handlers] = {SetExposureLimit: set_limit}

"""Calls above the rate that are paid for."""

from starlette.datastructures import Headers

from service_tui.loading import imported
from service_tui.server.http import payments
from service_tui.server.http.access import Access, Caller
from service_tui.server.http.refusals import Denied
from service_tui.server.http.service import ETHEREUM, Service
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.payment import PAID_HEADER, PAYMENT_HEADER


async def admitted(
    service: Service, access: Access, asked: tuple[Endpoint[WireModel], Caller], headers: Headers
) -> dict[str, str]:
    """Count a call; one above the rate passes where it is paid for.

    Returns:
        Headers for the answer: of a paid call its receipt.

    Raises:
        Denied: 429 above the rate, 402 where the payment is not taken.
    """
    endpoint, caller = asked
    try:
        access.admit(service, endpoint, caller)
    except Denied as said:
        text = headers.get(PAYMENT_HEADER)
        if text is None or caller.agent is None:
            raise
        await imported(ETHEREUM)
        url = f"{service.address}{caller.path}"
        service.keeper.check_whole()
        agent = service.world.agents[caller.agent.agent_id]
        try:
            paid = payments.taken(service.world, agent, text, (url, service.clock.now()))
        except payments.PaymentRefused as refused:
            raise Denied(402, payments.refusal_body(str(refused), url), said.headers) from refused
        await service.keeper.commit(service.world.note(paid))
        return {PAID_HEADER: payments.receipt(paid)}
    return {}

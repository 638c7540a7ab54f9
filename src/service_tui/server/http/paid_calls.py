"""Calls above the rate that are paid for."""

from starlette.datastructures import Headers

from service_tui.engine.chain_events import CallPaid
from service_tui.loading import imported
from service_tui.server.http import payments
from service_tui.server.http.access import Access, Caller
from service_tui.server.http.refusals import Denied
from service_tui.server.http.service import ETHEREUM, Service
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.payment import PAID_HEADER, PAY_PRICE, PAYMENT_HEADER


async def admitted(
    service: Service, access: Access, call: tuple[Endpoint[WireModel], Caller], headers: Headers
) -> dict[str, str]:
    """Count a call; one above the rate passes where it is paid for.

    Returns:
        Headers for the answer: of a paid call its receipt.

    Raises:
        Denied: 429 above the rate, 402 where the payment is not taken.
    """
    endpoint, caller = call
    if endpoint.price:
        access.admit(service, endpoint, caller)
        # Before the work: what is not paid for costs the service nothing.
        await _verified(service, (caller, _payment_of(service, call, headers)), endpoint.price, {})
        return {}
    try:
        access.admit(service, endpoint, caller)
    except Denied as throttled:
        if headers.get(PAYMENT_HEADER) is None or caller.agent is None:
            raise
        return await _take(service, (caller, headers[PAYMENT_HEADER]), PAY_PRICE, throttled.headers)
    return {}


async def charged(
    service: Service, call: tuple[Endpoint[WireModel], Caller], headers: Headers
) -> dict[str, str]:
    """Take the payment of a call that is never free, once its answer is there.

    Returns:
        The receipt's header, none for a call that is free.

    Raises:
        Denied: 402 where the payment is not taken; then the answer is not given either.
    """
    endpoint, caller = call
    if not endpoint.price:
        return {}
    payment = (caller, _payment_of(service, call, headers))
    return await _take(service, payment, endpoint.price, {})


def _payment_of(
    service: Service, call: tuple[Endpoint[WireModel], Caller], headers: Headers
) -> str:
    """The payment that came with a call.

    Raises:
        Denied: 402 with the offer where none came.
    """
    endpoint, caller = call
    text = headers.get(PAYMENT_HEADER)
    if text is None:
        url = f"{service.address}{caller.path}"
        why = f"this call is paid for: sign the offer and send it as {PAYMENT_HEADER}"
        raise Denied(402, payments.refusal_body(why, url, endpoint.price))
    return text


async def _take(
    service: Service, payment: tuple[Caller, str], price: int, refusal_headers: dict[str, str]
) -> dict[str, str]:
    """Take a payment and write it down.

    Returns:
        The receipt's header.

    Raises:
        Denied: 402 where it is not taken.
    """
    paid = await _verified(service, payment, price, refusal_headers)
    await service.world_store.commit(service.world.note(paid))
    return {PAID_HEADER: payments.receipt(paid)}


async def _verified(
    service: Service, payment: tuple[Caller, str], price: int, refusal_headers: dict[str, str]
) -> CallPaid:
    """The event of a payment that may be taken, not yet applied.

    Raises:
        Denied: 402 where it may not.
    """
    caller, text = payment
    if caller.agent is None:
        raise TypeError("a call without a key is not paid for")
    await imported(ETHEREUM)
    url = f"{service.address}{caller.path}"
    service.world_store.check_whole()
    agent = service.world.agents[caller.agent.agent_id]
    try:
        call = (url, service.clock.now())
        return payments.checked_payment(service.world, agent, text, call, price=price)
    except payments.PaymentRefused as refused:
        body = payments.refusal_body(str(refused), url, price)
        raise Denied(402, body, refusal_headers) from refused

"""CancelOrders: orders that rest are taken off their books.

Knows ports. Must not know widgets.
Used by desk.works. A cancel takes risk away: it passes while halted, and one that is repeated finds
nothing left to cancel. What it does not know, the list that is read anew tells.
"""

from typing import Final

from service_tui.client.errors import NotFoundError, OutcomeUnknownError, ServiceError
from service_tui.desk.commands_orders import CancelOrders
from service_tui.desk.facts import Noticed, OrderGone
from service_tui.desk.ports import Ports
from service_tui.desk.records import Topic
from service_tui.desk.translate import amount
from service_tui.units import decimal
from service_tui.wire.endpoints import CANCEL_ORDER

TOUCHED: Final = (Topic.POSITIONS, Topic.ACCOUNT, Topic.REDEMPTIONS, Topic.WALLET)
"""What an order that was met, or gave back what it kept, has changed."""

READ_ONLY: Final = "this desk is read-only: it cancels nothing"


async def cancel(command: CancelOrders, ports: Ports) -> None:
    """Cancel one by one, and say how each went; one that is gone stops no other."""
    if ports.state().service.read_only:
        ports.say(Noticed("warn", READ_ONLY))
        return
    words = {order.order_id: order.in_words() for order in ports.state().orders}
    for order_id in command.order_ids:
        tone, said = await _cancel(order_id, ports)
        what = words.get(order_id, command.what or order_id)
        ports.say(Noticed(tone, f"cancel {what}: {said}"))
    for topic in (Topic.ORDERS, Topic.TRADES, *TOUCHED):
        ports.poke(topic)


async def _cancel(order_id: str, ports: Ports) -> tuple[str, str]:
    try:
        answer = (await ports.client.call(CANCEL_ORDER, path={"order_id": order_id})).answer
    except NotFoundError:
        return "warn", "it rests no more: it was filled, or had ended"
    except OutcomeUnknownError as error:
        return "bad", f"sent, no answer: {error}; the list is read anew"
    except (ServiceError, ValueError) as error:
        said = error.sentence if isinstance(error, ServiceError) else str(error)
        return "bad", said
    if not answer.success:
        return "bad", answer.message or "refused without a reason"
    back = decimal(amount(answer.returned_usdc))
    ports.say(OrderGone(order_id))
    return "good", f"done, {back:,.2f} came back" if back else "done"

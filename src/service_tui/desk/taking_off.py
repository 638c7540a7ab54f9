"""Taking orders that rest off their books: by a person's word, and before an exit sells.

Knows ports and open orders. Must not know widgets, nor why an exit sells.
Used by the handlers of open orders and of alerts, and by the exit of everything. A cancel takes
risk away: it passes while halted, and one that is repeated finds nothing left to cancel.
"""

from typing import Final

from service_tui.client.errors import NotFoundError, OutcomeUnknownError, ServiceError
from service_tui.desk.facts import Noticed, OrderGone
from service_tui.desk.ports import Ports
from service_tui.desk.translate import amount
from service_tui.terms import Action
from service_tui.units import decimal
from service_tui.wire.endpoints import CANCEL_ORDER

GONE: Final = "it rests no more: it was filled, or had ended"


async def take_off(order_id: str, ports: Ports) -> tuple[str, str]:
    """Cancel one order; tone and words say how that went."""
    try:
        answer = (await ports.client.call(CANCEL_ORDER, path={"order_id": order_id})).answer
    except NotFoundError:
        return "warn", GONE
    except OutcomeUnknownError as error:
        return "bad", f"sent, no answer: {error}; the list is read anew"
    except (ServiceError, ValueError) as error:
        return "bad", str(error)
    if not answer.success:
        return "bad", answer.message or "refused without a reason"
    ports.say(OrderGone(order_id))
    back = decimal(amount(answer.returned_usdc))
    return "good", f"done, {back:,.2f} came back" if back else "done"


async def free_shares(holding: str, ports: Ports) -> None:
    """Cancel the open sales of a position, so that an exit can sell what stands in them.

    What is not cancelled is said; the exit is tried all the same, and the venue has the last word.
    """
    for order in ports.state().orders:
        if (order.holding, order.action) == (holding, Action.SELL):
            tone, said = await take_off(order.order_id, ports)
            ports.say(Noticed(tone, f"cancel {order.in_words()}, as the exit goes first: {said}"))

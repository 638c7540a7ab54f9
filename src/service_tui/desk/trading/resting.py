"""CancelOrders: orders that rest are taken off their books.

A cancel takes risk away: it passes while halted, and one that is repeated finds nothing left to
cancel. What it does not know, the list that is read anew tells.
"""

from typing import Final

from service_tui.desk.commands.trading import CancelOrders
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.slices.records import Topic
from service_tui.desk.trading.taking_off import take_off

TOUCHED: Final = (Topic.POSITIONS, Topic.ACCOUNT, Topic.REDEMPTIONS, Topic.WALLET)
"""What an order that was met, or gave back what it kept, has changed."""

READ_ONLY: Final = "this desk is read-only: it cancels nothing"


async def cancel(command: CancelOrders, ports: Ports) -> None:
    """Cancel one by one, and say how each went; one that is gone stops no other."""
    if ports.state().service.read_only:
        ports.say(Noticed("warn", READ_ONLY))
        return
    words = {order.order_id: order.describe() for order in ports.state().orders}
    for order_id in command.order_ids:
        tone, said = await take_off(order_id, ports)
        what = words.get(order_id, command.what or order_id)
        ports.say(Noticed(tone, f"cancel {what}: {said}"))
    for topic in (Topic.ORDERS, Topic.TRADES, *TOUCHED):
        ports.poke(topic)

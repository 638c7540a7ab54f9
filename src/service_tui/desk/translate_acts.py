"""What agents did beside their trades, from the stream as lines of the action log.

Knows wire and facts. Must not know the client, the state or time.
Used by desk.listening.
"""

from collections.abc import Iterator

from service_tui.desk.facts import Acted
from service_tui.desk.records_log import Deed
from service_tui.wire.events import EventBody, EventKind


def acts_of(body: EventBody) -> Iterator[Acted]:
    """What an event says of an agent; a fill is told as a trade, and not here."""
    if body.order is not None and body.fill is None:
        order = body.order
        if order.state == "claimed":
            # No order at all: a position was redeemed, its money told by the event before.
            words = f"redeemed the position in {order.question or order.market_id}"
            yield Acted(order.agent_name, Deed.RESULT, order.market_id, words)
        else:
            words = f"{order.state}: {order.shares:.2f} shares of {order.market_id}"
            yield Acted(order.agent_name, Deed.ORDER, order.order_id, words)
    if body.agent is not None:
        agent = body.agent
        new = body.kind == EventKind.AGENT_REGISTERED
        stands = [agent.status.value, agent.plan.value, *agent.changed]
        words = f"{agent.name} {'registered' if new else 'changed'}: {', '.join(stands)}"
        yield Acted(agent.name, Deed.AGENT, body.kind, words)
    if body.risk_alert is not None:
        alert = body.risk_alert
        at = f"{alert.side.value} {alert.market_id} at {alert.price:.4f}"
        words = f"alert {alert.id} {alert.state}: {alert.exit_reason}, {at}"
        yield Acted(alert.agent_name, Deed.RISK, "alert", words)
    if body.monitor is not None:
        monitor = body.monitor
        words = f"monitor {monitor.state}: {monitor.side.value} {monitor.market_id}"
        yield Acted(monitor.agent_name, Deed.RISK, "monitor", words)
    if body.experiment is not None:
        tried = body.experiment
        words = f"experiment {tried.experiment_number}: {tried.state}"
        yield Acted(tried.agent_name, Deed.RESULT, tried.skill_slug, words)

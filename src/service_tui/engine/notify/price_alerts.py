"""Price alerts of agents: one-shot conditions on the price of a side."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.market import Market
from service_tui.engine.errors import PriceAlertNotFound, TooManyPriceAlerts
from service_tui.engine.notify_events import (
    PriceAlertArmed,
    PriceAlertDeleted,
    PriceAlertSet,
    PriceAlertTriggered,
)
from service_tui.terms import PRICE_ALERTS_MAX, AlertCondition, Side
from service_tui.units import Timestamp

TRIGGERED_KEPT: Final = 1_000
"""Triggered alerts that are remembered, of all agents together. # ours: a week of a busy desk."""

Happened = PriceAlertArmed | PriceAlertTriggered


@dataclass(slots=True)
class PriceAlert:
    """One alert. `is_armed` once the price may cross; `triggered_at` is None while it waits."""

    placed: PriceAlertSet
    is_armed: bool
    triggered_at: Timestamp | None = None
    triggered_price: float | None = None

    def next_event(self, price: float, at: Timestamp) -> Happened | None:
        """The event that a price brings, None where it changes nothing."""
        placed = self.placed
        condition, threshold = placed.condition, placed.threshold
        if condition.fires(threshold, price, is_armed=self.is_armed):
            return PriceAlertTriggered(placed.alert_id, placed.agent_id, at, round(price, 6))
        if self.is_armed or condition.is_beyond(threshold, price):
            return None
        return PriceAlertArmed(placed.alert_id, at)


class PriceAlertBook:
    """All price alerts of a world, changed by `apply` alone."""

    def __init__(self) -> None:
        self.count = 0
        self.waiting: dict[str, PriceAlert] = {}
        self.triggered: deque[PriceAlert] = deque(maxlen=TRIGGERED_KEPT)

    def request(  # noqa: PLR0913  (the parts of an alert)
        self,
        agent: Agent,
        market: Market,
        *,
        side: Side,
        condition: AlertCondition,
        threshold: float,
        webhook_url: str,
        at: Timestamp,
    ) -> PriceAlertSet:
        """The event of a new alert, not yet applied.

        Raises:
            TooManyPriceAlerts: the agent has as many as it may.
        """
        if len(self.of(agent.agent_id)) >= PRICE_ALERTS_MAX:
            raise TooManyPriceAlerts(f"the agent has {PRICE_ALERTS_MAX} price alerts already")
        return PriceAlertSet(
            f"pa{self.count + 1}",
            agent.agent_id,
            at,
            market.market_id,
            side,
            condition,
            threshold,
            round(market.price_of(side), 6),
            webhook_url,
        )

    def of(self, agent_id: str) -> list[PriceAlert]:
        """The agent's alerts that wait, oldest first."""
        return [one for one in self.waiting.values() if one.placed.agent_id == agent_id]

    def triggered_of(self, agent_id: str, since: Timestamp) -> list[PriceAlert]:
        """The agent's alerts triggered since a moment, newest first."""
        return [
            one
            for one in reversed(self.triggered)
            if one.placed.agent_id == agent_id and (one.triggered_at or 0.0) >= since
        ]

    def delete(self, agent_id: str, alert_id: str, at: Timestamp) -> PriceAlertDeleted:
        """The event that removes an alert, not yet applied.

        Raises:
            PriceAlertNotFound: the agent has no such alert.
        """
        alert = self.waiting.get(alert_id)
        if alert is None or alert.placed.agent_id != agent_id:
            raise PriceAlertNotFound(f"price alert not found: {alert_id}")
        return PriceAlertDeleted(alert_id, at)

    def due(self, markets: Mapping[str, Market], at: Timestamp) -> list[Happened]:
        """What the prices of now bring, not yet applied."""
        events = [
            alert.next_event(markets[alert.placed.market_id].price_of(alert.placed.side), at)
            for alert in self.waiting.values()
            if alert.placed.market_id in markets
        ]
        return [event for event in events if event is not None]

    def apply(self, event: PriceAlertSet | PriceAlertDeleted | Happened) -> None:
        """Change the alerts by something that happened."""
        match event:
            case PriceAlertSet():
                self.count += 1
                # Only a crossing has to wait for a price on the near side.
                is_beyond = event.condition.is_beyond(event.threshold, event.price)
                is_armed = not (event.condition.is_crossing and is_beyond)
                self.waiting[event.alert_id] = PriceAlert(event, is_armed)
            case PriceAlertArmed():
                self.waiting[event.alert_id].is_armed = True
            case PriceAlertTriggered():
                alert = self.waiting.pop(event.alert_id)
                alert.triggered_at, alert.triggered_price = event.at, event.price
                self.triggered.append(alert)
            case PriceAlertDeleted():
                del self.waiting[event.alert_id]

    def end_market(self, market_id: str) -> None:
        """Drop the alerts of a market that has resolved: its price moves no more."""
        self.waiting = {
            key: alert for key, alert in self.waiting.items() if alert.placed.market_id != market_id
        }

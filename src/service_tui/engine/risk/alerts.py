"""Risk alerts: breaches that wait for their exit, and their ends.

Source: spec, "Risk alert lifecycle".
"""

from bisect import insort
from dataclasses import dataclass
from typing import Final, NamedTuple

from service_tui.engine.events import Breached
from service_tui.engine.risk.monitors import MonitoredSide
from service_tui.terms import AlertStatus, ExitReason
from service_tui.units import Micros, Timestamp, sum_of

ALERT_S: Final = 3_600.0
"""Life of an alert, wall time from its breach. Source: spec, "Limits"."""

ENDED_KEPT: Final = 100
"""Ended alerts that are remembered of each agent. # ours: weeks of a busy one, and bounded."""


SOURCES: Final = {reason: f"risk:{reason.value}" for reason in ExitReason}
"""Trade sources of exits. # ours: the spec names none."""


class Sale(NamedTuple):
    """Shares of a held side that were sold; `money` after the fee."""

    trade_id: str
    at: Timestamp
    shares: Micros
    money: Micros
    realized: Micros
    by_service: bool = False


@dataclass(slots=True)
class RiskAlert:
    """One breach and what became of it. `sold`, `proceeds` and `realized` are of its exit.

    `is_acknowledged` once whoever sells has said so; only the end counts. `by_service` says who
    sold last, None while nobody has.
    """

    breach: Breached
    status: AlertStatus = AlertStatus.PENDING
    ended_at: Timestamp | None = None
    sold: Micros = Micros(0)
    proceeds: Micros = Micros(0)
    realized: Micros = Micros(0)
    trade_id: str = ""
    is_acknowledged: bool = False
    by_service: bool | None = None

    @property
    def watched(self) -> MonitoredSide:
        """What it is about."""
        breach = self.breach
        return MonitoredSide(breach.agent_id, breach.venue, breach.market_id, breach.side)

    @property
    def expires_at(self) -> Timestamp:
        """When it dies, wall time."""
        return Timestamp(self.breach.at + ALERT_S)

    def left(self) -> Micros:
        """Shares that its exit has still to sell."""
        return self.breach.shares - self.sold

    def take(self, sale: Sale) -> Sale:
        """Count as much of a sale as its exit has still to sell.

        Returns:
            What is left of the sale.
        """
        taken = Micros(min(sale.shares, self.left()))
        if taken <= 0:
            return sale
        money = Micros(sale.money * taken // sale.shares)
        realized = Micros(sale.realized * taken // sale.shares)
        self.sold += taken
        self.proceeds += money
        self.realized += realized
        self.trade_id = sale.trade_id
        self.by_service = sale.by_service
        return sale._replace(
            shares=sale.shares - taken, money=sale.money - money, realized=sale.realized - realized
        )


def _end_of(alert: RiskAlert) -> tuple[float, int]:
    return alert.ended_at or 0.0, int(alert.breach.alert_id[1:])


class Alerts:
    """Alerts that wait, oldest first, and the last of those that ended."""

    __slots__ = ("_by_side", "ended", "pending")

    def __init__(self) -> None:
        self.pending: dict[str, RiskAlert] = {}
        self.ended: dict[str, list[RiskAlert]] = {}
        self._by_side: dict[MonitoredSide, list[RiskAlert]] = {}

    def add(self, alert: RiskAlert) -> None:
        """Let an alert wait."""
        self.pending[alert.breach.alert_id] = alert
        self._by_side.setdefault(alert.watched, []).append(alert)

    def of(self, agent_id: str) -> list[RiskAlert]:
        """The alerts of an agent that wait, oldest first."""
        return [one for one in self.pending.values() if one.breach.agent_id == agent_id]

    def left_of(self, watched: MonitoredSide) -> Micros:
        """Shares of a side that pending alerts have still to sell."""
        return sum_of(alert.left() for alert in self._by_side.get(watched, ()))

    def history(self, agent_id: str) -> list[RiskAlert]:
        """The alerts of an agent that ended, newest first."""
        return self.ended.get(agent_id, [])[::-1]

    def end(self, alert: RiskAlert, status: AlertStatus, at: Timestamp) -> None:
        """Let an alert wait no more."""
        del self.pending[alert.breach.alert_id]
        waiting = self._by_side[alert.watched]
        waiting.remove(alert)
        if not waiting:
            del self._by_side[alert.watched]
        alert.status, alert.ended_at = status, at
        self.remember(alert)

    def remember(self, alert: RiskAlert) -> None:
        """Keep an alert that has ended; the oldest gives way."""
        # By time, as sales of different markets are not counted in the order of their making.
        own = self.ended.setdefault(alert.breach.agent_id, [])
        insort(own, alert, key=_end_of)
        del own[:-ENDED_KEPT]

    def count_sale(self, watched: MonitoredSide, sale: Sale, *, is_last: bool) -> None:
        """Count a sale for the alerts of its side, the oldest first.

        `is_last` means that nothing is held any more: whoever sold it, no exit is left to make.
        """
        for alert in list(self._by_side.get(watched, ())):
            sale = alert.take(sale)
            if alert.left() <= 0 or (is_last and alert.sold):
                self.end(alert, AlertStatus.EXECUTED, sale.at)
            elif is_last:
                self.end(alert, AlertStatus.RESOLVED, sale.at)

    def drop_market(self, market_id: str, at: Timestamp) -> None:
        """The outcome has come before the exit."""
        for alert in list(self.pending.values()):
            if alert.breach.market_id == market_id:
                self.end(alert, AlertStatus.RESOLVED, at)

"""Alerts on agents: conditions at which the operator is notified or an agent is paused."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from service_tui.engine.errors import AgentAlertNotFound, TooManyAgentAlerts
from service_tui.engine.notify_events import (
    AgentAlertArmed,
    AgentAlertDeleted,
    AgentAlertEvent,
    AgentAlertFired,
    AgentAlertSet,
    AgentHeard,
    OrderErred,
)
from service_tui.terms import AGENT_ALERT_MINUTES_MAX, AGENT_ALERTS_MAX, AgentAlertKind
from service_tui.units import Micros, Timestamp

MINUTE_S: Final = 60.0

ERRORS_KEPT: Final = 1_000
"""Errors that are remembered, of all watched agents together. # ours: more is one agent in a loop,
which has fired long before."""

AWAY_S: Final = 60.0
"""A longer gap is a time in which no agent could call."""

ARMS_AT: Final = (9, 10)
"""# ours: an alert fires again once what it watches is a tenth back: at its limit to and fro, a
drawdown would fire at every tick."""


@dataclass(slots=True)
class AgentAlert:
    """One alert. `is_beyond` from its firing until it can fire again.

    `fired_at`, `value` and `market_id` are of the last firing.
    """

    placed: AgentAlertSet
    is_beyond: bool = False
    fired_count: int = 0
    fired_at: Timestamp | None = None
    value: Micros = Micros(0)
    market_id: str = ""

    def has_turned(self, value: Micros) -> bool:
        """True where a value makes it fire, or lets it fire again."""
        if not self.is_beyond:
            return value >= self.placed.limit
        part, whole = ARMS_AT
        return value * whole <= self.placed.limit * part


class AgentAlertBook:
    """All alerts on agents of a world, and what they count; changed by `apply` alone.

    `heard` is when each watched agent called last, as far as it is on disk; `calls` is the same in
    memory. `here_since` is when the service came back after an absence.
    """

    def __init__(self) -> None:
        self.count = 0
        self.by_id: dict[str, AgentAlert] = {}
        self.heard: dict[str, Timestamp] = {}
        self.calls: dict[str, Timestamp] = {}
        self.errors: deque[OrderErred] = deque(maxlen=ERRORS_KEPT)
        self.here_since = Timestamp(0.0)

    def of(self, agent_id: str) -> list[AgentAlert]:
        """The alerts on an agent, oldest first."""
        return [one for one in self.by_id.values() if one.placed.agent_id == agent_id]

    def request(self, wanted: AgentAlertSet) -> AgentAlertSet:
        """The event of a new alert with its id, not yet applied.

        Raises:
            TooManyAgentAlerts: the agent has as many as it may.
        """
        if len(self.of(wanted.agent_id)) >= AGENT_ALERTS_MAX:
            raise TooManyAgentAlerts(f"the agent has {AGENT_ALERTS_MAX} alerts already")
        return wanted._replace(alert_id=f"aa{self.count + 1}")

    def delete(self, agent_id: str, alert_id: str, at: Timestamp) -> AgentAlertDeleted:
        """The event that removes an alert, not yet applied.

        Raises:
            AgentAlertNotFound: the agent has no such alert.
        """
        alert = self.by_id.get(alert_id)
        if alert is None or alert.placed.agent_id != agent_id:
            raise AgentAlertNotFound(f"alert not found: {alert_id}")
        return AgentAlertDeleted(alert_id, at)

    def erred(
        self, agent_id: str, skill_slug: str, code: str, at: Timestamp
    ) -> tuple[OrderErred, ...]:
        """The event of a refused order, not yet applied; none if no alert counts errors."""
        counts = any(
            one.placed.kind is AgentAlertKind.ERRORS and one.placed.skill_slug in {"", skill_slug}
            for one in self.of(agent_id)
        )
        return (OrderErred(agent_id, at, skill_slug, code),) if counts else ()

    def hear(self, agent_id: str, at: Timestamp) -> None:
        """Note a call of an agent, in memory; `unwritten` gives what has to be written down."""
        self.calls[agent_id] = at

    def unwritten(self) -> list[AgentHeard]:
        """Calls of agents whose silence is watched, not yet applied: once a minute at most."""
        watched = {
            one.placed.agent_id
            for one in self.by_id.values()
            if one.placed.kind is AgentAlertKind.SILENT
        }
        return [
            AgentHeard(agent_id, at)
            for agent_id, at in self.calls.items()
            if agent_id in watched and at - self.heard.get(agent_id, 0.0) >= MINUTE_S
        ]

    def silence(self, placed: AgentAlertSet, at: Timestamp) -> float:
        """Seconds since an agent called, or since anybody could have noticed.

        An agent that was silent before the alert was set is silent; where no call of it is known,
        its silence counts from there.
        """
        heard = max(self.heard.get(placed.agent_id, 0.0), self.calls.get(placed.agent_id, 0.0))
        return max(0.0, at - max(heard or placed.at, self.here_since))

    def errors_of(self, placed: AgentAlertSet, at: Timestamp) -> int:
        """Refused orders that an alert counts, within its window."""
        return sum(
            one.agent_id == placed.agent_id
            and placed.skill_slug in {"", one.skill_slug}
            and one.at >= placed.at
            and at - one.at < placed.minutes * MINUTE_S
            for one in self.errors
        )

    def cross(self, before: Timestamp, at: Timestamp) -> None:
        """Count a gap in which the service was not there as no silence of any agent."""
        if at - before > AWAY_S:
            self.here_since = at

    def apply(self, event: AgentAlertEvent) -> None:
        """Change the alerts by something that happened."""
        match event:
            case AgentAlertSet():
                self.count += 1
                self.by_id[event.alert_id] = AgentAlert(event)
            case AgentAlertFired():
                alert = self.by_id[event.alert_id]
                alert.is_beyond, alert.fired_count = True, alert.fired_count + 1
                alert.fired_at, alert.value = event.at, event.value
                alert.market_id = event.market_id
            case AgentAlertArmed():
                self.by_id[event.alert_id].is_beyond = False
            case AgentAlertDeleted():
                del self.by_id[event.alert_id]
            case AgentHeard():
                self.heard[event.agent_id] = event.at
            case OrderErred():
                self.errors.append(event)
                self._forget(event.at)

    def _forget(self, at: Timestamp) -> None:
        since = at - AGENT_ALERT_MINUTES_MAX * MINUTE_S
        while self.errors and self.errors[0].at < since:
            self.errors.popleft()


def greatest_move(prices: Iterable[float], now: float) -> float:
    """How far a price is from the farthest of those before; 0 without any."""
    return max((abs(now - price) for price in prices), default=0.0)

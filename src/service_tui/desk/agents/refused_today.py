"""Agents whose trades the person refuses until midnight UTC. Stored as preferences."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from service_tui.desk.buy_limits import DAY_S, service_now
from service_tui.desk.commands.agents import RefuseTrade
from service_tui.desk.slices.supervision import approval_text
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

if TYPE_CHECKING:
    # The console reads the rule: it must not load the service and the database for it.
    from service_tui.desk.ports import Ports

RULE: Final = "refused."
"""Prefix of the preference of an agent; its value is a day since 1970, UTC."""

REASON: Final = "refused for today"
"""Reason given to the agent."""

_PERIOD_S: Final = 2.0


def rule_of(agent_id: str, state: DeskState, now: Timestamp) -> tuple[str, str]:
    """Name and value of the preference that refuses an agent's trades for today."""
    return f"{RULE}{agent_id}", f"{_day(state, now)}"


def refused_today(state: DeskState, now: Timestamp) -> tuple[str, ...]:
    """Ids of the agents whose trades are refused today."""
    today = f"{_day(state, now)}"
    return tuple(
        name.removeprefix(RULE)
        for name, value in sorted(state.preferences.items())
        if name.startswith(RULE) and value == today
    )


def _day(state: DeskState, now: Timestamp) -> int:
    return int(service_now(state, now) // DAY_S)


async def refuse_for_today(
    ports: "Ports", refuse: Callable[[RefuseTrade], Awaitable[None]]
) -> None:
    """Refuse the waiting trades of those agents, each once, for ever.

    A trade whose refusal fails expires unanswered: its agent is refused all the same.
    """
    tried: set[str] = set()
    while True:
        state = ports.state()
        refused = refused_today(state, ports.now())
        waiting = {one.pending_id for one in state.supervision.pending_trades}
        tried &= waiting
        for trade in state.supervision.pending_trades if refused and not state.from_cache else ():
            if trade.agent_id in refused and trade.pending_id not in tried:
                tried.add(trade.pending_id)
                await refuse(RefuseTrade(trade.pending_id, approval_text(trade), REASON))
        await ports.clock.sleep(_PERIOD_S)

"""The operator's halt as state: since when no agent may buy."""

from dataclasses import dataclass
from typing import Final

from service_tui.engine.agents.agents import AgentSettings
from service_tui.engine.errors import Refusal, TradingHalted, TradingPaused
from service_tui.units import Timestamp

BY_OPERATOR: Final = "wait for the operator to resume; selling stays possible"


@dataclass(slots=True)
class HaltState:
    """`since` is when the operator halted all buys, wall time; None while they are allowed."""

    since: Timestamp | None = None


def is_stopped(settings: AgentSettings, halt: HaltState) -> bool:
    """Whether an agent's entries are refused, for whatever reason: the wire calls it paused."""
    return settings.is_paused or halt.since is not None


def no_entry(settings: AgentSettings, halt: HaltState) -> Refusal:
    """Why an agent may not enter while everything is halted, or it alone is paused."""
    if halt.since is not None:
        return TradingHalted(
            "trading is halted by the operator: entries of every agent are blocked"
        )
    message = "trading is paused: entries are blocked"
    return TradingPaused(message, BY_OPERATOR if settings.operator_paused else None)

"""What became known of leashes, waiting trades, skills and their runs. Frozen values.

Knows records of the fleet. Must not know where a fact came from.
Used by pollers, handlers and the supervisor (which say them) and by desk.reduce_fleet.
"""

from dataclasses import dataclass

from service_tui.desk.records_fleet import (
    AgentDetailView,
    AgentNeedView,
    HeldView,
    LeashView,
    LogTailView,
    SkillRunView,
    SkillView,
)
from service_tui.units import Timestamp


@dataclass(frozen=True, slots=True)
class LeashesSeen:
    """The service told how free each agent is."""

    leashes: tuple[LeashView, ...]


@dataclass(frozen=True, slots=True)
class HeldSeen:
    """The service told which trades wait, and how the last ones were decided."""

    held: tuple[HeldView, ...]
    decided: tuple[HeldView, ...]


@dataclass(frozen=True, slots=True)
class AgentDetailSeen:
    """What the agent in focus traded, and what it came to; None: no agent is in focus."""

    detail: AgentDetailView | None


@dataclass(frozen=True, slots=True)
class SkillsSeen:
    """Which skills are installed."""

    skills: tuple[SkillView, ...]


@dataclass(frozen=True, slots=True)
class SkillRunChanged:
    """A skill's run began, went on or ended."""

    run: SkillRunView


@dataclass(frozen=True, slots=True)
class SkillRunGone:
    """A run that had ended is not remembered any longer."""

    run_id: str


@dataclass(frozen=True, slots=True)
class LogTailSeen:
    """The end of a run's output; None: nobody looks at one."""

    tail: LogTailView | None


@dataclass(frozen=True, slots=True)
class PastsSeen:
    """What every agent traded lately was read, at wall time `at`."""

    pasts: tuple[AgentDetailView, ...]
    at: Timestamp


@dataclass(frozen=True, slots=True)
class AgentNeedsSeen:
    """The service told what the other agents wait for."""

    needs: tuple[AgentNeedView, ...]


FleetFact = (
    LeashesSeen
    | HeldSeen
    | AgentDetailSeen
    | SkillsSeen
    | SkillRunChanged
    | SkillRunGone
    | LogTailSeen
    | PastsSeen
    | AgentNeedsSeen
)
"""Every fact of the fleet."""

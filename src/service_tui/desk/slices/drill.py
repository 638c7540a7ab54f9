"""A drill as shown to the person: what it is, how far it has come, and its result."""

from dataclasses import dataclass
from enum import StrEnum

from service_tui.units import Micros, Timestamp


class DrillPhase(StrEnum):
    """State of a drill. `ENDING`: its result is being worked out."""

    BRIEFING = "briefing"
    RUNNING = "running"
    ENDING = "ending"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class DrillLine:
    """One line of what happened, `at_s` seconds after the start; `who` is `you` for the person."""

    at_s: float
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class DrillResult:
    """The result of one run.

    `yours`, `best` and `worst` are the same figure, in `currency`, after the person's course, the
    best one and the worst one that the scenario lists. `score` is 100 for the best and 0 for the
    worst; None for a run that was left early. `figure` names what was measured.
    """

    run: str
    name: str
    title: str
    ended_at: Timestamp
    minutes: int
    played_s: float
    figure: str
    currency: str
    yours: Micros
    best: Micros
    worst: Micros
    score: int | None
    lines: tuple[DrillLine, ...] = ()
    best_lines: tuple[DrillLine, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def cost(self) -> Micros:
        """What the person's course cost against the best one; below 0 where it was better."""
        return Micros(self.best - self.yours)


@dataclass(frozen=True, slots=True)
class DrillView:
    """The drill that this console plays; `began_at` is wall time, None before the start."""

    name: str
    title: str
    brief: str
    minutes: int
    phase: DrillPhase = DrillPhase.BRIEFING
    began_at: Timestamp | None = None
    result: DrillResult | None = None
    kept: str = ""

    def elapsed_s(self, now: Timestamp) -> float:
        """Seconds since the start, at most the whole length; 0 before it."""
        if self.began_at is None:
            return 0.0
        return min(self.minutes * 60.0, max(0.0, now - self.began_at))

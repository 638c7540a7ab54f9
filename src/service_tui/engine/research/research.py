"""Experiments that agents posted, and the state of their sessions.

A state is derived from the results each time it is requested: nothing here can disagree with them.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from service_tui.engine.events import ExperimentLogged, SessionBegun
from service_tui.experiments import CAP_DEFAULT, Result, SeriesState, best_of, standing
from service_tui.terms import Direction, ExperimentStatus

KEPT: Final = 5_000
"""Results of an agent in memory and in each snapshot; older ones stay in the journal."""

SESSIONS_KEPT: Final = 100
"""Skills of an agent whose newest beginning is in memory. # ours: nobody works at more."""


@dataclass(frozen=True, slots=True)
class SessionStanding:
    """State of the current segment of a skill.

    `last` is its newest result, or how it began where there is none; None where neither is known.

    `last_number` counts over all segments. `best_number` is that of the best kept result.
    """

    skill: str
    segment: int
    last_number: int
    last: ExperimentLogged | SessionBegun | None
    cap: int
    standing: SeriesState
    best_number: int | None


class Research:
    """Every experiment of every agent."""

    __slots__ = ("begun", "by_agent", "count")

    def __init__(self) -> None:
        self.by_agent: dict[str, deque[ExperimentLogged]] = {}
        self.begun: dict[str, dict[str, SessionBegun]] = {}
        self.count = 0

    # -- readings --------------------------------------------------------------------------

    def experiments(self, agent_id: str, skill: str | None = None) -> list[ExperimentLogged]:
        """An agent's results, newest first."""
        found = self.by_agent.get(agent_id, ())
        return [one for one in reversed(found) if skill is None or one.skill == skill]

    def skills(self, agent_id: str) -> list[str]:
        """Skills on which an agent began a session or posted results, the newest first."""
        begun = self.begun.get(agent_id, {}).values()
        rows = sorted((*begun, *self.experiments(agent_id)), key=lambda one: one.at, reverse=True)
        return list(dict.fromkeys(one.skill for one in rows))

    def state(self, agent_id: str, skill: str) -> SessionStanding:
        """The state of an agent's session on a skill; a fresh one if there is no result."""
        mine = self.experiments(agent_id, skill)[::-1]
        begun = self.begun.get(agent_id, {}).get(skill)
        segment = max((one.segment for one in (*mine, *((begun,) if begun else ()))), default=0)
        current = [one for one in mine if one.segment == segment]
        last = current[-1] if current else begun
        direction = last.direction if last is not None else Direction.HIGHER
        cap = last.cap if last is not None else CAP_DEFAULT
        found = standing(_results(current), cap=cap, direction=direction)
        best = found.best_index
        return SessionStanding(
            skill=skill,
            segment=segment,
            last_number=max((one.number for one in mine), default=0),
            last=last,
            cap=cap,
            standing=found,
            best_number=None if best is None else current[best].number,
        )

    def same(self, experiment: ExperimentLogged) -> ExperimentLogged | None:
        """The result that this one repeats, None where it is new.

        A reference identifies it; without one two results with equal fields are the same.

        Returns:
            The result that is kept already.
        """
        for one in reversed(self.by_agent.get(experiment.agent_id, ())):
            if one.skill != experiment.skill or one.ref != experiment.ref:
                continue
            if experiment.ref or one._replace(
                at=experiment.at, experiment_id=experiment.experiment_id
            ) == (experiment):
                return one
        return None

    def best_before(self, experiment: ExperimentLogged) -> float | None:
        """The best kept metric of a result's segment, of those that were posted before it."""
        earlier: list[ExperimentLogged] = []
        for one in self.by_agent.get(experiment.agent_id, ()):
            if one.experiment_id == experiment.experiment_id:
                break
            if (one.skill, one.segment) == (experiment.skill, experiment.segment):
                earlier.append(one)
        best = best_of(_results(earlier), experiment.direction)
        return None if best is None else earlier[best].metric

    def new_bests(self, agent_id: str) -> set[str]:
        """Ids of the results that were the best of their segment when they were posted."""
        best: dict[tuple[str, int], float] = {}
        found: set[str] = set()
        for one in self.by_agent.get(agent_id, ()):
            if one.status is not ExperimentStatus.KEEP or one.metric is None:
                continue
            place = one.skill, one.segment
            if place not in best or one.direction.is_better(one.metric, best[place]):
                best[place] = one.metric
                found.add(one.experiment_id)
        return found

    # -- changes ---------------------------------------------------------------------------

    def apply(self, event: ExperimentLogged) -> None:
        """Keep a result."""
        self.count += 1
        self.by_agent.setdefault(event.agent_id, deque(maxlen=KEPT)).append(event)

    def begin(self, event: SessionBegun) -> None:
        """Begin a session: its state is fresh until the first result."""
        self.by_agent.setdefault(event.agent_id, deque(maxlen=KEPT))
        begun = self.begun.setdefault(event.agent_id, {})
        # Put at the end, so that the first is the one that began longest ago.
        begun.pop(event.skill, None)
        begun[event.skill] = event
        if len(begun) > SESSIONS_KEPT:
            del begun[next(iter(begun))]


def _results(rows: list[ExperimentLogged]) -> list[Result]:
    return [Result(one.status, one.metric) for one in rows]

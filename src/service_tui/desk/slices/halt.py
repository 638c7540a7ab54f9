"""The halt as shown to the operator: acknowledgements and progress of the exits."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeGuard

from service_tui.units import Timestamp


class AckState(StrEnum):
    """State of one acknowledgement; a failed one is retried until it is done."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AckView:
    """One who has to know of the halt. `what` is true once it is done.

    `detail` is what was answered, or why it failed; `tries` counts the failures in a row.
    """

    name: str
    what: str
    state: AckState = AckState.WAITING
    detail: str = ""
    tries: int = 0


@dataclass(frozen=True, slots=True)
class ExitAllView:
    """The sale of everything: `holdings` are row keys as they were confirmed.

    `tickets` are the orders so far, in their order; `skipped` counts what was gone by its turn.
    """

    holdings: tuple[str, ...]
    tickets: tuple[str, ...] = ()
    skipped: int = 0
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class HaltedAgent:
    """An agent of a skill of this desk. `was_paused` before the halt; None: not known yet.

    `is_unsaid`: the service answered without a word on it. It is left as one that was paused.
    """

    agent_id: str
    name: str
    was_paused: bool | None = None
    is_unsaid: bool = False


@dataclass(frozen=True, slots=True)
class HaltView:
    """This desk's own halt. `was_paused`: the service had paused the agent before, and stays so.

    `agents` are those of skills, at a service that keeps no halt itself: each is paused by its key.
    """

    since: Timestamp
    acks: tuple[AckView, ...] = ()
    exits: ExitAllView | None = None
    was_paused: bool = False
    is_resuming: bool = False
    agents: tuple[HaltedAgent, ...] = ()

    @property
    def missing(self) -> int:
        """Acknowledgements that are not in."""
        return sum(ack.state is not AckState.DONE for ack in self.acks)


HALT: Final = "halt"
"""Preference under which it is kept."""


@dataclass(frozen=True, slots=True)
class KeptHalt:
    """The latest halt or resume stored in one database, at `at`."""

    on: bool
    at: Timestamp
    was_paused: bool = False
    agents: tuple[HaltedAgent, ...] = ()

    def as_text(self) -> str:
        """JSON text for storage."""
        agents = [[one.agent_id, one.name, one.was_paused, one.is_unsaid] for one in self.agents]
        fields = {"on": self.on, "at": self.at, "was_paused": self.was_paused, "agents": agents}
        return json.dumps(fields)


def kept_halt(text: str | None) -> KeptHalt | None:
    """The halt that a text holds; None where nothing was written.

    Returns:
        What was kept. Text that cannot be read counts as a halt: only a readable end is one.
    """
    if text is None:
        return None
    try:
        fields = json.loads(text)
        on, at, was_paused = fields["on"] is not False, float(fields["at"]), fields["was_paused"]
        agents = tuple(_agents(fields.get("agents")))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        on, at, was_paused, agents = True, 0.0, False, ()
    if not math.isfinite(at):
        on, at = True, 0.0
    return KeptHalt(on, Timestamp(at), was_paused is True, agents)


def _agents(value: object) -> Iterator[HaltedAgent]:
    """The agents of skills that a halt has paused, or was about to; halts of before name none."""
    for row in value if _is_list(value) else ():
        match row:
            # A halt of an older program has no list of unknown pauses.
            case [str(agent_id), str(name), bool() | None as was_paused]:
                yield HaltedAgent(agent_id, name, was_paused)
            case [str(agent_id), str(name), bool() | None as was_paused, bool() as is_unsaid]:
                yield HaltedAgent(agent_id, name, was_paused, is_unsaid=is_unsaid)
            case _:
                continue


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def newest(halts: Iterable[KeptHalt | None]) -> HaltView | None:
    """The latest halt among those stored in several databases of one operator.

    The last word counts, so that a RESUME in one console ends what another one, since gone, began;
    at the same moment the halt counts.

    Returns:
        The halt, not acknowledged by any source; None if none is on.
    """
    kept = max(
        (one for one in halts if one is not None), key=lambda one: (one.at, one.on), default=None
    )
    if kept is None or not kept.on:
        return None
    return HaltView(since=kept.at, was_paused=kept.was_paused, agents=kept.agents)

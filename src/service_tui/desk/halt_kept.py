"""The halt as it lies on disk: whether it holds, since when, in one line of text.

Knows json and records. Must import nothing heavy: the first paint shows the halt.
Used by opening (before anything may trade), by halting (which writes it), and by wiring.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeGuard

from service_tui.desk.records_halt import HaltedAgent, HaltView
from service_tui.units import Timestamp

HALT: Final = "halt"
"""Preference under which it is kept."""


@dataclass(frozen=True, slots=True)
class KeptHalt:
    """The last word on the halt in one database. `at` is when it was said."""

    on: bool
    at: Timestamp
    was_paused: bool = False
    agents: tuple[HaltedAgent, ...] = ()

    def as_text(self) -> str:
        """What is written."""
        agents = [[one.agent_id, one.name, one.was_paused, one.is_unsaid] for one in self.agents]
        said = {"on": self.on, "at": self.at, "was_paused": self.was_paused, "agents": agents}
        return json.dumps(said)


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


def _agents(found: object) -> Iterator[HaltedAgent]:
    """The agents of skills that a halt has paused, or was about to; halts of before name none."""
    for row in found if _is_list(found) else ():
        match row:
            # A halt of an older program says nothing of what was unsaid.
            case [str(agent_id), str(name), bool() | None as was_paused]:
                yield HaltedAgent(agent_id, name, was_paused)
            case [str(agent_id), str(name), bool() | None as was_paused, bool() as is_unsaid]:
                yield HaltedAgent(agent_id, name, was_paused, is_unsaid=is_unsaid)
            case _:
                continue


def _is_list(found: object) -> TypeGuard[list[object]]:
    return isinstance(found, list)


def newest(found: Iterable[KeptHalt | None]) -> HaltView | None:
    """The halt that holds, of what several databases of one operator say.

    The last word counts, so that a RESUME in one console ends what another one, since gone, began;
    at the same moment the halt counts.

    Returns:
        The halt, nobody told of it yet; None where none holds.
    """
    kept = max(
        (one for one in found if one is not None), key=lambda one: (one.at, one.on), default=None
    )
    if kept is None or not kept.on:
        return None
    return HaltView(since=kept.at, was_paused=kept.was_paused, agents=kept.agents)

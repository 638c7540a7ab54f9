"""The halt as an operator sees it: who has acknowledged it, and how far the exits have come.

Knows units. Must not know wire, network, time or Textual.
Used by desk.halting (which makes them), desk.state, and the console's bars and dialogs.
"""

from dataclasses import dataclass
from enum import StrEnum

from service_tui.units import Timestamp


class AckState(StrEnum):
    """How far one acknowledgement has come; what failed is tried again until it is done."""

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

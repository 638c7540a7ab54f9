"""Each agent's state in a glyph and a word, as one strip for the header. Pure.

The longest form that fits is shown: every agent by name, then those that want a look by name and
the others counted, then all counted; where nothing fits, nothing is shown.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.fleet import SkillRunState
from service_tui.desk.state import DeskState
from service_tui.terms import AgentStatus

NAME_MAX: Final = 14
"""Letters of a name that tell agents apart."""

_GAP: Final = "  "

_RUNS: Final = {
    SkillRunState.CRASHED: ("✗", "crashed", "loss"),
    SkillRunState.BACKING_OFF: ("…", "backing off", "warn"),
    SkillRunState.SUSPENDED: ("■", "held", "warn"),
    SkillRunState.STOPPING: ("…", "stopping", "muted"),
    SkillRunState.STARTING: ("▶", "starting", "profit"),
    SkillRunState.RUNNING: ("▶", "running", "profit"),
    SkillRunState.RESTING: ("▶", "resting", "profit"),
    SkillRunState.DETACHED: ("▶", "detached", "accent"),
}
"""What a skill's run makes of its agent, the gravest first; one that has ended makes nothing."""

_STATUSES: Final = {
    AgentStatus.SUSPENDED: ("■", "suspended", "breach"),
    AgentStatus.BROKE: ("✗", "broke", "loss"),
    AgentStatus.UNCLAIMED: ("○", "unclaimed", "muted"),
}

_ACTIVE: Final = ("●", "active", "profit")
_CALM: Final = frozenset({
    "active",
    "running",
    "resting",
    "starting",
    "unclaimed",
    "detached",
    "retired",
})
"""Words of agents that want no look."""


@dataclass(frozen=True, slots=True)
class AgentStanding:
    """How an agent stands: a glyph, a word, and the tone of both."""

    name: str
    glyph: str
    word: str
    tone: str

    @property
    def is_calm(self) -> bool:
        """True when nobody need look."""
        return self.word in _CALM


_RETIRED: Final = ("□", "retired", "muted")


def standings(state: DeskState) -> tuple[AgentStanding, ...]:
    """Every agent but the person's own, those that want a look first; else in their order."""
    if state.fleet is None:
        return ()
    asking = {held.agent_id for held in state.supervision.held}
    found = [_standing(one, state, asking) for one in state.fleet.agents if not one.is_own]
    return tuple(sorted(found, key=lambda one: one.is_calm))


def _standing(agent: AgentView, state: DeskState, asking: set[str]) -> AgentStanding:
    """What its operator did goes first, then who waits, then what has fallen."""
    name = formats.plain(agent.name, NAME_MAX).plain
    if agent.suspended:
        return AgentStanding(
            name, *(_RETIRED if agent.retired else _STATUSES[AgentStatus.SUSPENDED])
        )
    states = {run.state for run in state.supervision.runs_of(agent.agent_id)}
    if agent.agent_id in asking:
        # What it asked before its end waits on; it itself runs no more.
        has_ended = bool(states) and not any(one.is_alive for one in states)
        return AgentStanding(name, "?", "stopped, asked" if has_ended else "asks", "warn")
    run = next((said for one, said in _RUNS.items() if one in states), None)
    if run is not None and run[1] not in _CALM:
        return AgentStanding(name, *run)
    if agent.paused:
        return AgentStanding(name, "‖", "paused", "warn")
    return AgentStanding(name, *(_STATUSES.get(agent.status) or run or _ACTIVE))


def strip(agents: Sequence[AgentStanding], width: int) -> Text | None:
    """The strip in at most `width` cells; None where not even the shortest form fits."""
    if not agents:
        return None
    return next((form for form in _forms(agents) if form.cell_len <= width), None)


def _forms(agents: Sequence[AgentStanding]) -> Iterator[Text]:
    """The same strip, longest first."""
    calm = [one for one in agents if one.is_calm]
    grave = [one for one in agents if not one.is_calm]
    yield _joined([_named(one) for one in agents])
    if grave:
        yield _joined([*(_named(one) for one in grave), *_counted(calm)])
    yield _joined(_counted(agents))
    yield _joined([
        Text(f"{text.plain[0]}{text.plain[2:].split()[0]}", text.style) for text in _counted(agents)
    ])


def _named(one: AgentStanding) -> Text:
    return Text.assemble((one.glyph, one.tone), f" {one.name} ", (one.word, one.tone))


def _counted(agents: Sequence[AgentStanding]) -> list[Text]:
    """How many stand alike, as glyph, number and word."""
    counts = Counter((one.glyph, one.word, one.tone) for one in agents)
    return [Text(f"{glyph} {count} {word}", tone) for (glyph, word, tone), count in counts.items()]


def _joined(parts: Sequence[Text]) -> Text:
    return Text(_GAP).join(parts)

"""Each agent's state as a glyph and a word, in one strip for the header. Pure.

The longest form that fits is shown: every agent by name, then agents that need attention by name
and the others counted, then all counted; without room, nothing is shown.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.supervision import SkillRunState
from service_tui.desk.state import DeskState
from service_tui.terms import AgentStatus, counted

NAME_MAX: Final = 14
"""Letters of a name that distinguish agents."""

_GAP: Final = "  "

_HALTED: Final = ("‖", "halted", "warn")
_PAUSED: Final = ("‖", "paused", "warn")

_RUNS: Final = {
    SkillRunState.CRASHED: ("✗", "crashed", "loss"),
    SkillRunState.BACKING_OFF: ("…", "retrying", "warn"),
    SkillRunState.SUSPENDED: _HALTED,
    SkillRunState.STOPPING: ("…", "stopping", "muted"),
    SkillRunState.STARTING: ("▶", "starting", "profit"),
    SkillRunState.RUNNING: ("▶", "running", "profit"),
    SkillRunState.RESTING: ("▶", "resting", "profit"),
    SkillRunState.DETACHED: ("▶", "detached", "accent"),
}
"""The agent's state by the state of its skill's run, the gravest first; an ended run has none."""

_STATUSES: Final = {
    AgentStatus.SUSPENDED: ("■", "suspended", "breach"),
    AgentStatus.BROKE: ("✗", "broke", "loss"),
}

_ACTIVE: Final = ("●", "active", "profit")
ASKS: Final = "needs approval"
"""The word of an agent whose trade waits for the person."""

_INCONSPICUOUS: Final = frozenset({
    "active",
    "running",
    "resting",
    "starting",
    "detached",
    "retired",
})
"""States of agents that need no attention."""


@dataclass(frozen=True, slots=True)
class AgentStanding:
    """State of an agent: a glyph, a word, and their tone."""

    name: str
    glyph: str
    word: str
    tone: str

    @property
    def is_inconspicuous(self) -> bool:
        """True if the agent needs no attention."""
        return self.word in _INCONSPICUOUS


_RETIRED: Final = ("□", "retired", "muted")


def standings(state: DeskState) -> tuple[AgentStanding, ...]:
    """Every agent but the person's own; those that need attention first, else in their order."""
    if state.fleet is None:
        return ()
    waiting = Counter(trade.agent_id for trade in state.supervision.pending_trades)
    agents_shown = [
        _standing(agent, state, waiting) for agent in state.fleet.agents if not agent.is_own
    ]
    return tuple(sorted(agents_shown, key=lambda one: one.is_inconspicuous))


def _standing(agent: AgentView, state: DeskState, waiting: Mapping[str, int]) -> AgentStanding:
    """As the row of the agent: suspended, failed, halted, paused, then trades to be approved."""
    name = formats.plain(agent.name, NAME_MAX).plain
    if agent.suspended:
        return AgentStanding(
            name, *(_RETIRED if agent.retired else _STATUSES[AgentStatus.SUSPENDED])
        )
    states = {run.state for run in state.supervision.runs_of(agent.agent_id)}
    run = next((text for one, text in _RUNS.items() if one in states), None)
    if run is not None and run[1] not in _INCONSPICUOUS:
        return AgentStanding(name, *run)
    is_broke = agent.status is AgentStatus.BROKE
    stopped = _HALTED if state.halted_since is not None and not is_broke else _PAUSED
    if stopped is _HALTED or agent.paused:
        return AgentStanding(name, *stopped)
    if agent.agent_id in waiting:
        # Its trades from before its end still wait; it itself runs no more.
        has_ended = bool(states) and not any(one.is_alive for one in states)
        count = waiting[agent.agent_id]
        ended = f"stopped, {counted(count, 'approval')}"
        return AgentStanding(name, "?", ended if has_ended else ASKS, "warn")
    return AgentStanding(name, *(_STATUSES.get(agent.status) or run or _ACTIVE))


def strip(agents: Sequence[AgentStanding], width: int) -> Text | None:
    """The strip in at most `width` cells; None if the shortest form does not fit."""
    if not agents:
        return None
    return next((form for form in _forms(agents) if form.cell_len <= width), None)


def _forms(agents: Sequence[AgentStanding]) -> Iterator[Text]:
    """The forms of the strip, longest first."""
    calm = [agent for agent in agents if agent.is_inconspicuous]
    grave = [agent for agent in agents if not agent.is_inconspicuous]
    yield _joined([_named(agent) for agent in agents])
    if grave:
        yield _joined([*(_named(one) for one in grave), *_counted(calm)])
    yield _joined(_counted(agents))
    yield _joined([*map(_without_noun, _counted(grave)), *_counted(calm)])
    yield _joined([*map(_without_noun, _counted(grave)), *map(_bare, _counted(calm))])
    short = [_bare(text) for text in _counted(agents)]
    yield _joined(short)
    yield Text(" ").join(short)


def _without_noun(counts: Text) -> Text:
    """A number with its last word: `? 2 ask`."""
    glyph, number, *words = counts.plain.split()
    return Text(" ".join((glyph, number, *words[-1:])), counts.style)


def _bare(counts: Text) -> Text:
    """A number with its glyph alone: `?2`."""
    glyph, number, *_ = counts.plain.split()
    return Text(f"{glyph}{number}", counts.style)


def _named(standing: AgentStanding) -> Text:
    return Text.assemble(
        (standing.glyph, standing.tone), f" {standing.name} ", (standing.word, standing.tone)
    )


def _counted(agents: Sequence[AgentStanding]) -> list[Text]:
    """The number of agents in each state, as glyph, number and word."""
    counts = Counter((agent.glyph, agent.word, agent.tone) for agent in agents)
    return [
        Text(f"{glyph} {_number(count, word)}", tone)
        for (glyph, word, tone), count in counts.items()
    ]


def _number(count: int, word: str) -> str:
    """So many agents in a state."""
    if word == ASKS:
        return f"{counted(count, 'agent')} {'asks' if count == 1 else 'ask'}"
    return f"{count} {word}"


def _joined(parts: Sequence[Text]) -> Text:
    return Text(_GAP).join(parts)

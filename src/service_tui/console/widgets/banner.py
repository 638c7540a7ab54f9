"""The line for lasting conditions: halted, offline, paused, cached, refused; hidden without one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.keys import cap
from service_tui.console.reasons import reason_text
from service_tui.console.team_text import HALT_CALL
from service_tui.console.widgets.bar import Bar
from service_tui.console.widgets.top_bar import stale_topic
from service_tui.desk.persistent_banners import REAL_MONEY, persistent_banners
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import counted
from service_tui.units import Timestamp

SLOW_OPENING_S: Final = 2.0
"""A longer wait shows its duration. Source: ux, "Manners"."""

PROBLEM_MAX: Final = 200
HALTER_MAX: Final = 24
"""Letters of a service's failure message; the line itself is cut at its width."""

OPTIONAL: Final = frozenset({Topic.ORDERS, Topic.REACTOR, Topic.RESEARCH, Topic.DETAIL})
"""Topics that a service or a plan may lack; their own screens show it."""

HALTED: Final = "halted"
"""The tone graver than all others."""


@dataclass(frozen=True, slots=True)
class LastingCondition:
    """A lasting condition: `word` where room is short, `sentence` where it is the only one."""

    tone: str
    word: str
    sentence: str


class Banner(Bar):
    """One line, shown only during a lasting condition; the gravest in full, others in a word."""

    def __init__(self) -> None:
        super().__init__(id="banner")
        self._conditions: tuple[LastingCondition, ...] = ()

    def show(self, conditions: tuple[LastingCondition, ...]) -> None:
        """Show these conditions, the gravest first."""
        if conditions != self._conditions:
            self._conditions = conditions
            self.set_class(bool(conditions), "-on")
            self.refresh()

    def drawn(self, width: int, height: int) -> Text:
        """The line: the gravest is cut to make room for the words of the others."""
        del height
        if not self._conditions:
            return Text()
        first, *others = self._conditions
        tail = Text.assemble(
            *(part for agent in others for part in ("  ", (agent.word, agent.tone)))
        )
        line = Text.assemble((f"{first.word.upper()} ", f"bold {first.tone}"), first.sentence)
        if first.word == HALTED:
            # From edge to edge: it must not be overlooked.
            line.append(" " * max(0, width - tail.cell_len - line.cell_len))
            line.stylize(f"bold reverse {first.tone}")
        line.truncate(max(1, width - tail.cell_len), overflow="ellipsis")
        line.append_text(tail)
        return line


def lasting_conditions(
    state: DeskState, now: Timestamp, *, started_at: Timestamp, closed: str
) -> tuple[LastingCondition, ...]:
    """The lasting conditions, the gravest first.

    Args:
        state: the newest.
        now: wall time.
        started_at: when the console began to open the desk.
        closed: why the desk could not be opened; empty while it can.

    Returns:
        Each condition once; empty in normal operation.
    """
    result: list[LastingCondition] = [*_halt(state)]
    if closed:
        why = formats.plain(closed, 300).plain
        result.append(
            LastingCondition("loss", "desk closed", f"{why}. Showing {_known(state, now)}.")
        )
    else:
        result.extend(_connection(state, now, started_at))
    if state.service.read_only:
        result.append(LastingCondition("warn", "read-only", "no orders from this console"))
    paused = state.limits is not None and state.limits.paused and not state.from_cache
    if paused and state.halted_since is None:
        result.append(
            LastingCondition("warn", "paused", "trading paused: buys refused, sales allowed")
        )
    result.extend(_breaker(state, now))
    result.extend(
        LastingCondition("live" if word == REAL_MONEY else "warn", word, reason_text(why))
        for word, why in persistent_banners(state)
    )
    if state.service.phase is Phase.ONLINE:
        result.extend(_old(state, now))
    return tuple(result)


def _old(state: DeskState, now: Timestamp) -> Iterator[LastingCondition]:
    """Topics that are stale, or never loaded because their path fails, and why."""
    failures = state.service.failures
    stale = stale_topic(state, now)
    if stale is not None:
        topic, age = stale
        text = f"{topic.value} {formats.duration(age)} old; {cap('app.refresh')} refreshes"
        why = formats.plain(failures.get(topic, ""), PROBLEM_MAX).plain
        yield LastingCondition("stale", "stale", f"{text}: {why}" if why else text)
    for topic, problem in failures.items():
        if topic not in state.seen and topic not in OPTIONAL and not state.from_cache:
            why = formats.plain(problem, PROBLEM_MAX).plain
            yield LastingCondition("warn", "not loaded", f"{topic.value} not loaded: {why}")
            return


def _breaker(state: DeskState, now: Timestamp) -> Iterator[LastingCondition]:
    """The reactor's circuit breaker, while it blocks signals."""
    reactor = state.reactor
    if reactor.is_enabled and reactor.breaker.is_paused(now) and not state.from_cache:
        left = reactor.breaker.left_s(now)
        again = f" for {formats.duration(left)}" if left is not None else ""
        shows = f"{cap('app.reactor')} shows details"
        text = f"reactor paused after failures{again}: signals skipped; {shows}"
        yield LastingCondition("warn", "breaker", text)


def _halter(state: DeskState) -> str:
    """Who halted the service, as far as it is known."""
    acts = () if state.team is None else state.team.acts
    halts = (act.person for act in acts if act.action == HALT_CALL)
    name = next(halts, "")
    return formats.plain(name, HALTER_MAX).plain if name else "another program"


def _halt(state: DeskState) -> Iterator[LastingCondition]:
    """The condition of a halt."""
    halt = state.halt
    if halt is None:
        if state.halted_since is not None:
            key = cap("app.halt")
            text = f"service halted by {_halter(state)}: no buys possible; {key} halts here too"
            yield LastingCondition("loss", HALTED, text)
        return
    if halt.is_resuming:
        text = "resuming; buys still blocked"
    elif halt.exits is not None and not halt.exits.is_over:
        text = f"selling positions, buys blocked; {cap('app.halt')} shows progress"
    elif halt.missing or not halt.acks:
        missing = counted(halt.missing, "acknowledgement") if halt.missing else "acknowledgements"
        text = f"buys blocked on this desk; {missing} missing, {cap('app.halt')} shows which"
    else:
        text = (
            f"all sources halted, no buys; {cap('app.halt')} shows details and sells all, "
            f"{cap('app.resume')} resumes"
        )
    yield LastingCondition("loss", HALTED, text)


def _connection(state: DeskState, now: Timestamp, started_at: Timestamp) -> list[LastingCondition]:
    service = state.service
    if service.phase is Phase.UNAUTHORIZED:
        text = "the service rejects this API key: check blanks, prefix and host"
        return [LastingCondition("loss", "key refused", text)]
    if service.phase is Phase.OFFLINE:
        since = service.last_ok_at
        lost = f"for {formats.duration(now - since)}" if since is not None else "since the start"
        why = formats.plain(service.problem, PROBLEM_MAX).plain or "no answer"
        text = f"{lost}: {why}. Retrying every few seconds; {cap('app.refresh')} retries now"
        return [LastingCondition("loss", "offline", text)]
    waited = now - started_at
    elapsed = f", {formats.duration(waited)} so far" if waited > SLOW_OPENING_S else ""
    if state.from_cache:
        return [
            LastingCondition(
                "stale", "cached", f"showing {_known(state, now)}; connecting{elapsed}"
            )
        ]
    if service.phase is Phase.CONNECTING:
        text = f"waiting for the first answers{elapsed}"
        return [LastingCondition("muted", "connecting", text)]
    return []


def _known(state: DeskState, now: Timestamp) -> str:
    """The content of the cache, by its age."""
    known_at = max(state.seen.values(), default=state.service.last_ok_at)
    if known_at is None:
        known = "data from the last session"
        return known if state.markets else "no data yet"
    return f"data from {formats.age(known_at, now)} ago"

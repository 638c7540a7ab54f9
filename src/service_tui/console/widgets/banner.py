"""The line for lasting conditions: halted, offline, paused, cached, refused; hidden without one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.keys import cap
from service_tui.console.reasons import reason_text
from service_tui.console.widgets.bar import Bar
from service_tui.console.widgets.top_bar import stale_topic
from service_tui.desk.lasting import REAL_MONEY, lasting_text
from service_tui.desk.slices.records import Phase, Topic
from service_tui.desk.state import DeskState
from service_tui.terms import counted
from service_tui.units import Timestamp

SLOW_OPENING_S: Final = 2.0
"""A longer wait shows its duration. Source: ux, "Manners"."""

PROBLEM_MAX: Final = 200
"""Letters of a service's failure message; the line itself is cut at its width."""

OPTIONAL: Final = frozenset({Topic.ORDERS, Topic.REACTOR, Topic.RESEARCH, Topic.DETAIL})
"""Topics that a service or a plan may lack; their own screens show it."""

HALTED: Final = "halted"
"""The tone graver than all others."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """A lasting condition: `word` where room is short, `sentence` where it is the only one."""

    tone: str
    word: str
    sentence: str


class Banner(Bar):
    """One line, shown only during a lasting condition; the gravest in full, others in a word."""

    def __init__(self) -> None:
        super().__init__(id="banner")
        self._lasting: tuple[Lasting, ...] = ()

    def show(self, lasting: tuple[Lasting, ...]) -> None:
        """Show these conditions, the gravest first."""
        if lasting != self._lasting:
            self._lasting = lasting
            self.set_class(bool(lasting), "-on")
            self.refresh()

    def drawn(self, width: int, height: int) -> Text:
        """The line: the gravest is cut to make room for the words of the others."""
        del height
        if not self._lasting:
            return Text()
        first, *others = self._lasting
        tail = Text.assemble(*(part for each in others for part in ("  ", (each.word, each.tone))))
        line = Text.assemble((f"{first.word.upper()} ", f"bold {first.tone}"), first.sentence)
        if first.word == HALTED:
            # From edge to edge: it must not be overlooked.
            line.append(" " * max(0, width - tail.cell_len - line.cell_len))
            line.stylize(f"bold reverse {first.tone}")
        line.truncate(max(1, width - tail.cell_len), overflow="ellipsis")
        line.append_text(tail)
        return line


def lasting_things(
    state: DeskState, now: Timestamp, *, started_at: Timestamp, closed: str
) -> tuple[Lasting, ...]:
    """The lasting conditions, the gravest first.

    Args:
        state: the newest.
        now: wall time.
        started_at: when the console began to open the desk.
        closed: why the desk could not be opened; empty while it can.

    Returns:
        Each condition once; empty in normal operation.
    """
    found: list[Lasting] = [*_halt(state)]
    if closed:
        why = formats.plain(closed, 300).plain
        found.append(Lasting("loss", "desk closed", f"{why}. Shown: {_known(state, now)}."))
    else:
        found.extend(_connection(state, now, started_at))
    if state.service.read_only:
        found.append(Lasting("warn", "read-only", "nothing can be ordered from this console"))
    paused = state.limits is not None and state.limits.paused and not state.from_cache
    if paused and state.halted_since is None:
        found.append(
            Lasting("warn", "paused", "trading is paused: buys are refused, sales still pass")
        )
    found.extend(_breaker(state, now))
    found.extend(
        Lasting("live" if word == REAL_MONEY else "warn", word, reason_text(why))
        for word, why in lasting_text(state)
    )
    if state.service.phase is Phase.ONLINE:
        found.extend(_old(state, now))
    return tuple(found)


def _old(state: DeskState, now: Timestamp) -> Iterator[Lasting]:
    """Topics that are stale, or never loaded because their path fails, and why."""
    failures = state.service.failures
    stale = stale_topic(state, now)
    if stale is not None:
        topic, age = stale
        said = f"{named(topic)} {formats.duration(age)} old; {cap('app.refresh')} asks now"
        why = formats.plain(failures.get(topic, ""), PROBLEM_MAX).plain
        yield Lasting("stale", "stale", f"{said}: {why}" if why else said)
    for topic, problem in failures.items():
        if topic not in state.seen and topic not in OPTIONAL and not state.from_cache:
            why = formats.plain(problem, PROBLEM_MAX).plain
            yield Lasting("warn", "not read", f"{named(topic)} not read: {why}")
            return


def named(topic: Topic) -> str:
    """A topic as the subject of a sentence, with its verb."""
    one = not topic.value.endswith("s")
    return f"the {topic.value} {'is' if one else 'are'}"


def _breaker(state: DeskState, now: Timestamp) -> Iterator[Lasting]:
    """The reactor's circuit breaker, while it blocks signals."""
    reactor = state.reactor
    if reactor.is_enabled and reactor.breaker.is_paused(now) and not state.from_cache:
        left = reactor.breaker.left_s(now)
        again = f" for {formats.duration(left)}" if left is not None else ""
        shows = f"{cap('app.reactor')} shows it"
        said = f"the reactor is paused after failures{again}: signals are skipped; {shows}"
        yield Lasting("warn", "breaker", said)


def _halt(state: DeskState) -> Iterator[Lasting]:
    """The condition of a halt."""
    halt = state.halt
    if halt is None:
        if state.halted_since is not None:
            key = cap("app.halt")
            said = f"the service was halted from elsewhere: no entry passes; {key} shows more"
            yield Lasting("loss", HALTED, said)
        return
    if halt.is_resuming:
        said = "being resumed; no entry passes yet"
    elif halt.exits is not None and not halt.exits.is_over:
        said = f"positions are being sold, no entry passes; {cap('app.halt')} shows how far"
    elif halt.missing or not halt.acks:
        missing = counted(halt.missing, "acknowledgement") if halt.missing else "acknowledgements"
        said = f"no entry leaves this desk; {missing} missing, {cap('app.halt')} shows which"
    else:
        said = f"no entry passes, everybody has acknowledged it; {cap('app.halt')} exits or resumes"
    yield Lasting("loss", HALTED, said)


def _connection(state: DeskState, now: Timestamp, started_at: Timestamp) -> list[Lasting]:
    service = state.service
    if service.phase is Phase.UNAUTHORIZED:
        said = "the service refuses this key: check it for blanks, its prefix and its host"
        return [Lasting("loss", "key refused", said)]
    if service.phase is Phase.OFFLINE:
        since = service.last_ok_at
        lost = f"for {formats.duration(now - since)}" if since is not None else "from the start"
        why = formats.plain(service.problem, PROBLEM_MAX).plain or "no answer"
        said = f"{lost}: {why}. It is tried again every few seconds; {cap('app.refresh')} tries now"
        return [Lasting("loss", "offline", said)]
    waited = now - started_at
    elapsed = f", {formats.duration(waited)} so far" if waited > SLOW_OPENING_S else ""
    if state.from_cache:
        return [Lasting("stale", "cached", f"shown is {_known(state, now)}; connecting{elapsed}")]
    if service.phase is Phase.CONNECTING:
        said = f"the first answers take a moment{elapsed}"
        return [Lasting("muted", "connecting", said)]
    return []


def _known(state: DeskState, now: Timestamp) -> str:
    """The content of the cache, by its age."""
    known_at = max(state.seen.values(), default=state.service.last_ok_at)
    if known_at is None:
        known = "what was known when the console was last closed"
        return known if state.markets else "nothing yet"
    return f"what was known {formats.age(known_at, now)} ago"

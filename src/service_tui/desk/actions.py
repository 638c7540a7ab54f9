"""What goes into the action log: each order of the person, and what each agent did.

Knows commands, facts and the log. Must not know widgets. Secrets never come here: an order says
itself in words that hold none.
Used by desk.desk, which tells it of every command and every fact.
"""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from service_tui.clock import Clock
from service_tui.desk.commands import (
    AskQuote,
    Command,
    Forget,
    Refresh,
    SetPreference,
    SetStar,
    WatchMarket,
)
from service_tui.desk.commands_fleet import WatchAgent
from service_tui.desk.facts import Fact, FillsHeard, Noticed, TicketChanged
from service_tui.desk.facts_fleet import HeldSeen, SkillRunChanged
from service_tui.desk.state import DeskState
from service_tui.storage.action_log import FILE, ActionLog, Entry
from service_tui.units import decimal

log = logging.getLogger(__name__)

WRITE_S: Final = 0.5
WAITING_MAX: Final = 5_000
"""Entries that wait for a disk that refuses; more are counted, and the count is written."""

_READINGS: Final = (
    AskQuote, Forget, Refresh, SetPreference, SetStar, WatchAgent, WatchMarket,
)  # fmt: skip
"""What changes nothing but the screen."""


class Actions:
    """Collects what is done, and writes it down in the background."""

    def __init__(self, data_dir: Path, clock: Clock) -> None:
        self._log = ActionLog(data_dir / FILE)
        self._clock = clock
        self._waiting: list[Entry] = []
        self._lost = 0

    def ordered(self, command: Command) -> None:
        """The person, or somebody in the person's name, ordered something."""
        if not isinstance(command, _READINGS):
            self._take("person", "order", command.kind, command.in_words())

    def heard(self, before: DeskState, fact: Fact) -> None:
        """Something became known; `before` is the state that does not know it yet."""
        for who, what, kind, words in _told(before, fact):
            self._take(who, what, kind, words)

    def _take(self, who: str, what: str, kind: str, words: str) -> None:
        if len(self._waiting) >= WAITING_MAX:
            self._lost += 1
            return
        at = round(self._clock.now(), 3)
        text = words[:4_000].encode("utf-8", "replace").decode()
        self._waiting.append({"at": at, "who": who, "what": what, "kind": kind, "words": text})

    async def run(self) -> None:
        """Write what waits, again and again."""
        while True:
            await self._clock.sleep(WRITE_S)
            await self.write()

    async def write(self) -> None:
        """Write what waits; on a disk that refuses it waits on."""
        entries, self._waiting = self._waiting, []
        if self._lost:
            entries.append({"what": "lost", "count": self._lost})
        try:
            await asyncio.to_thread(self._log.append, entries)
        except OSError as error:
            log.warning("the action log is not written: %s", error)
            self._waiting = [one for one in entries if one["what"] != "lost"] + self._waiting
        else:
            self._lost = 0


Told = tuple[str, str, str, str]
"""Who, what (order, result, trade, decision, run), its kind, and the words."""


def _told(before: DeskState, fact: Fact) -> Iterator[Told]:
    match fact:
        case TicketChanged():
            ticket = fact.ticket
            if not ticket.in_flight:
                said = f"{ticket.what}: {ticket.state.value}: {ticket.outcome}"
                yield "person", "result", ticket.kind, said
        case Noticed():
            yield "desk", "result", fact.kind.value, fact.text
        case FillsHeard():
            yield from _trades(before, fact)
        case HeldSeen():
            yield from _decisions(before, fact)
        case SkillRunChanged():
            yield from _runs(before, fact)
        case _:
            return


def _trades(before: DeskState, fact: FillsHeard) -> Iterator[Told]:
    known = {fill.seq for fill in before.fills}
    for fill in fact.fills:
        if fill.seq not in known:
            what = f"{fill.action.value} {fill.side.value} {fill.market_id}"
            words = f"{what} for {decimal(fill.money):.2f} at {fill.price:.4f}"
            yield fill.agent_name, "trade", fill.source, words


def _decisions(before: DeskState, fact: HeldSeen) -> Iterator[Told]:
    waited = {held.held_id for held in before.supervision.held}
    for held in fact.held:
        if held.held_id not in waited:
            yield held.agent_name, "asks", held.skill_slug, f"{held.held_id}: {held.reasoning}"
    for held in fact.decided:
        if held.held_id in waited:
            words = f"{held.held_id}: {held.status.value}: {held.reason}"
            yield held.agent_name, "decision", held.skill_slug, words


def _runs(before: DeskState, fact: SkillRunChanged) -> Iterator[Told]:
    run = fact.run
    states = {one.run_id: one.state for one in before.supervision.runs}
    if states.get(run.run_id) is not run.state:
        yield run.agent_name, "run", run.skill_slug, f"{run.state.value} {run.why}".strip()

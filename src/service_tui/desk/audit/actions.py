"""Writes the action log: each command of the operator and each action of an agent.

Secrets never get here: commands describe themselves without any.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from service_tui.clock import Clock
from service_tui.desk.changes import Changed
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import (
    NoteConfirmed,
    ReadDay,
    ReadLog,
    WatchAgent,
    WatchHoldings,
)
from service_tui.desk.commands.research import ReadEvaluations
from service_tui.desk.commands.settings import (
    Forget,
    Refresh,
    SetPreference,
    SetStar,
    WatchMarket,
)
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.facts import Acted, Fact, FillsReceived, Noticed
from service_tui.desk.reasons import Reason
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.log import ActionView, LogEvent, LogView
from service_tui.desk.slices.supervision import (
    PendingTradesSeen,
    PendingTradeView,
    SkillRunState,
    SkillRunView,
)
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.state import DeskState
from service_tui.storage.action_log import (
    FILE,
    ActionLog,
    Entry,
    LogCheck,
    LogEntry,
    newest,
    verify,
)
from service_tui.terms import MARKET_ENDED, MONEY_OF, Action, PendingStatus, venue_marked
from service_tui.units import Timestamp, decimal

log = logging.getLogger(__name__)

WRITE_S: Final = 0.5
WAITING_MAX: Final = 5_000
"""Entries that wait for a disk that refuses; more are counted, and the count is written."""

_READINGS: Final = (
    RequestQuote, Forget, ReadDay, ReadEvaluations, ReadLog, Refresh, SetPreference, SetStar,
    WatchAgent, WatchHoldings, WatchMarket,
)  # fmt: skip
"""What changes nothing but the screen."""

SHOWN_MAX: Final = 1_000
"""Entries that the screen has, the newest; the file has all."""

_LOOKED_BACK: Final = 20
"""Number of tickets that are searched for the one that a notice repeats."""

_BAD: Final = frozenset({"bad", "warn"})
"""Tones of a notice about a refusal or failure."""


class Actions:
    """Collects what is done, and writes it down in the background.

    Args:
        data_dir: where the log lies.
        clock: when.
        emit: shows the log's entries in the state once the log was opened.
        beside: another process holds the directory, and writes down what agents do.
    """

    def __init__(
        self, data_dir: Path, clock: Clock, emit: Callable[[Fact], None], *, beside: bool = False
    ) -> None:
        self._beside = beside
        self._foreign_runs = set[str]()
        self._path = data_dir / FILE
        self._log = ActionLog(self._path)
        self._clock = clock
        self._emit = emit
        self._waiting: list[Entry] = []
        self._due = asyncio.Event()
        self._lost = 0
        self._view: LogView | None = None
        self._writing = asyncio.Lock()

    def on_command(self, command: Command) -> None:
        """Log a command of the operator, or of a program on the operator's behalf."""
        if isinstance(command, NoteConfirmed):
            self._take("person", LogEvent.CONFIRMED, command.kind, command.what)
        elif not isinstance(command, _READINGS):
            market_id = getattr(command, "market_id", "")
            question = getattr(command, "question", "")
            named = (market_id, question) if market_id and question else None
            self._take("person", LogEvent.INTENT, command.kind, command.describe(), market=named)

    def on_fact(self, before: DeskState, fact: Fact) -> None:
        """Something became known; `before` is the state that does not know it yet."""
        if self._beside and self._is_of_holder(before, fact):
            return
        for actor, event, kind, text in _rows_of(before, fact):
            self._take(actor, event, kind, text, market=_market_in(text, before))

    def _is_of_holder(self, before: DeskState, fact: Fact) -> bool:
        """True for what the process that holds the directory writes down itself."""
        if isinstance(fact, Changed) and isinstance(fact.row, SkillRunView):
            run = fact.row
            is_new = all(one.run_id != run.run_id for one in before.supervision.runs)
            if is_new and run.state is not SkillRunState.STARTING:
                # It ran before this desk knew it: another process has started it.
                self._foreign_runs.add(run.run_id)
            return run.run_id in self._foreign_runs
        return isinstance(fact, FillsReceived | PendingTradesSeen)

    def _take(
        self,
        actor: str,
        event: LogEvent,
        kind: str,
        full_text: str,
        *,
        market: tuple[str, str] | None = None,
    ) -> None:
        if len(self._waiting) >= WAITING_MAX:
            self._lost += 1
            self._due.set()
            return
        at = round(self._clock.now(), 3)
        text = full_text[:4_000].encode("utf-8", "replace").decode()
        entry = {"at": at, "who": actor, "what": event.value, "kind": kind, "words": text}
        if market is not None:
            entry |= {"market": market[0], "question": market[1]}
        self._waiting.append(entry)
        self._due.set()

    async def run(self) -> None:
        """Write what waits, soon after it came, again and again."""
        while True:
            await self._due.wait()
            await self._clock.sleep(WRITE_S)
            self._due.clear()
            await self.write()

    async def write(self) -> None:
        """Write what waits; on a disk that refuses it waits on."""
        async with self._writing:
            entries, self._waiting = self._waiting, []
            if self._lost:
                entries.append({"what": LogEvent.LOST.value, "count": self._lost})
            if not entries:
                return
            try:
                lines = await asyncio.to_thread(self._log.append, entries)
            except OSError as error:
                log.warning("action log not written: %s", error)
                kept = [one for one in entries if one["what"] != LogEvent.LOST.value]
                self._waiting = kept + self._waiting
                self._due.set()
            else:
                self._lost = 0
                self._show(lines)

    async def read(self) -> None:
        """Load the newest entries and the result of verifying the whole chain."""
        await self.write()
        async with self._writing:
            verdict, lines = await asyncio.to_thread(_looked, self._path)
        self._view = LogView(
            entries=tuple(_view(line) for line in lines),
            count=max(verdict.count, lines[0].number if lines else 0),
            verified=verdict.count,
            last_hash=verdict.last_hash,
            problem=verdict.problem,
            checked_at=self._clock.now(),
        )
        self._emit(Changed(self._view))

    def _show(self, lines: tuple[LogEntry, ...]) -> None:
        """Put new entries before those on screen, if the log was opened."""
        if self._view is None:
            return
        new = tuple(_view(line) for line in reversed(lines))
        entries = (*new, *self._view.entries)[:SHOWN_MAX]
        self._view = replace(self._view, entries=entries, count=lines[-1].number)
        self._emit(Changed(self._view))


def _looked(path: Path) -> tuple[LogCheck, tuple[LogEntry, ...]]:
    """Result of reading the log file; one that cannot be read yields a problem."""
    try:
        return verify(path), newest(path, SHOWN_MAX)
    except FileNotFoundError:
        return LogCheck(0, ""), ()
    except OSError as error:
        return LogCheck(0, "", f"unreadable: {error.strerror}"), ()


def _view(line: LogEntry) -> ActionView:
    """An entry as it is shown; what an older or a foreign line lacks is empty."""
    entry = line.entry
    at = entry.get("at")
    names = ("who", "what", "kind", "words", "market", "question")
    texts = {name: str(entry.get(name, "")) for name in names}
    if not texts["words"] and "count" in entry:
        texts["words"] = f"{entry['count']} entries not written: the disk refused them"
    when = Timestamp(float(at)) if isinstance(at, int | float) else Timestamp(0.0)
    return ActionView(number=line.number, hash=line.hash, at=when, **texts)


LogRow = tuple[str, LogEvent, str, str]
"""Who, what, of which kind, and the words."""

_ENDS: Final = {
    TicketState.REFUSED: LogEvent.REFUSAL,
    TicketState.FAILED: LogEvent.REFUSAL,
    TicketState.UNKNOWN: LogEvent.UNKNOWN,
}


def _market_in(text: str, state: DeskState) -> tuple[str, str] | None:
    """Market whose id occurs in a text, with its question, if known."""
    tokens = (token.strip(".,:;()") for token in text.split())
    markets = (state.markets[token] for token in tokens if token in state.markets)
    market = next(markets, None)
    return None if market is None else (market.market_id, market.question)


def _repeats_ticket(state: DeskState, notice: Noticed) -> bool:
    """True if a notice repeats the end of a ticket."""
    return any(
        one.outcome and notice.text.startswith(f"{one.what}: {one.outcome}")
        for one in state.tickets[:_LOOKED_BACK]
    )


def _rows_of(before: DeskState, fact: Fact) -> Iterator[LogRow]:
    match fact:
        case Changed(row=TicketView() as ticket):
            yield from _ending(before, ticket)
        case Noticed() if _repeats_ticket(before, fact):
            # The end of its ticket was logged a moment before.
            return
        case Noticed():
            # An answer without a ticket: what a person ordered and no money moved for.
            event = LogEvent.REFUSAL if fact.tone in _BAD else LogEvent.RESULT
            yield "desk", event, fact.kind.value, Reason(fact.text, fact.fix).plain()
        case FillsReceived():
            yield from _trades(before, fact)
        case PendingTradesSeen():
            yield from _decisions(before, fact)
        case Changed(row=SkillRunView() as run):
            yield from _runs(before, run)
        case Acted():
            yield fact.actor, fact.event, fact.kind, fact.text
        case _:
            return


def _ending(before: DeskState, ticket: TicketView) -> Iterator[LogRow]:
    """Log row of a ticket that ended or whose end is unknown; each once."""
    known = next((one for one in before.tickets if one.ticket_id == ticket.ticket_id), None)
    if ticket.state in {TicketState.QUEUED, TicketState.SENT}:
        return
    if known is None or (known.state, known.outcome) != (ticket.state, ticket.outcome):
        text = f"{ticket.what}: {ticket.state.value}: {ticket.outcome}"
        yield "person", _ENDS.get(ticket.state, LogEvent.RESULT), ticket.kind, text


def _trades(before: DeskState, fact: FillsReceived) -> Iterator[LogRow]:
    known = {fill.seq for fill in before.fills}
    for fill in fact.fills:
        if fill.seq not in known:
            yield fill.agent_name, LogEvent.TRADE, fill.skill or fill.source, _trade_text(fill)


def _trade_text(fill: FillView) -> str:
    """What was traded, in the past tense, and the market at the end."""
    deed = "bought" if fill.action is Action.BUY else "sold"
    shares = f"{decimal(fill.shares):,.2f} {fill.side.value.upper()}"
    text = f"{deed} {shares} at {fill.price:.4f} for {decimal(fill.money):,.2f}"
    return f"{venue_marked(text, fill.venue, f' {MONEY_OF[fill.venue]}')}: {fill.market_id}"


def _decisions(before: DeskState, fact: PendingTradesSeen) -> Iterator[LogRow]:
    waited = {trade.pending_id for trade in before.supervision.pending_trades}
    for trade in fact.pending_trades:
        if trade.pending_id not in waited:
            yield trade.agent_name, LogEvent.APPROVAL, trade.skill_slug, trade.reasoning
    for trade in fact.decided:
        if trade.pending_id in waited:
            yield trade.agent_name, LogEvent.DECISION, trade.skill_slug, _decision_text(trade)


def _decision_text(trade: PendingTradeView) -> str:
    """The decision on a request, and its reason; none for a request that timed out."""
    status, reason = trade.status, trade.reason
    if status is PendingStatus.EXPIRED:
        return f"request lapsed: {reason}" if reason == MARKET_ENDED else "request expired"
    return f"request {reason if reason.startswith(status.value) else f'{status.value}: {reason}'}"


def _runs(before: DeskState, run: SkillRunView) -> Iterator[LogRow]:
    """Log rows of a skill's run: its state and its reports, refusals included; each once."""
    known = next((one for one in before.supervision.runs if one.run_id == run.run_id), None)
    if known is None or known.state is not run.state:
        yield run.agent_name, LogEvent.RUN, run.skill_slug, f"{run.state.value} {run.why}".strip()
    if run.report and (known is None or known.report != run.report):
        yield run.agent_name, LogEvent.RESULT, run.skill_slug, run.report

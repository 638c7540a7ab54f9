"""The desk: its state, a stream of changes to it, and `submit`, which takes every command."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from service_tui.client.errors import ServiceError
from service_tui.desk.briefing.heartbeat import watch_briefing
from service_tui.desk.changes import Changed, changed
from service_tui.desk.command import Command
from service_tui.desk.command_router import CommandRouter
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.facts import (
    Fact,
    LookedUp,
    Noticed,
    WorldSeen,
)
from service_tui.desk.feed.event_stream import EventStreamConsumer
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.feed.pollers import (
    READINGS,
    is_quiet,
    mark_equity,
    periods_of,
    poll,
    topics_of,
)
from service_tui.desk.gate import is_entry
from service_tui.desk.halt.halting import Halting
from service_tui.desk.ports import DeskContext, Memory, Ports
from service_tui.desk.reactor.reactor_desk import ReactorDesk
from service_tui.desk.reading_failures import is_refusal, show_trouble
from service_tui.desk.reduce import reduce
from service_tui.desk.research.files import FileWatch
from service_tui.desk.restarting import fault_text, keep_running
from service_tui.desk.risk.exits import Exits
from service_tui.desk.risk.price_alerts import PriceWatch
from service_tui.desk.slices.risk import AlertsSeen
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.supervision import Supervision
from service_tui.desk.tickets import (
    Ticket,
    is_waited_for,
    never_left,
    row_of,
    state_after_fault,
)
from service_tui.desk.trading.held_tokens import keep_held
from service_tui.desk.trading.lookup import is_overdue, reconcile
from service_tui.desk.wallet.wallet_desk import WalletDesk
from service_tui.storage.blotter import Blotter
from service_tui.storage.chain_runs import ChainRuns
from service_tui.storage.db.database import Database
from service_tui.storage.kept_tokens import KeptTokens
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import HEALTH

log = logging.getLogger(__name__)

Loop: TypeAlias = Callable[[], Awaitable[None]]

INBOX_MAX: Final = 64
IN_FLIGHT_MAX: Final = 8
DRAIN_S: Final = 2.0
"""How long a close waits for commands in flight. Source: decisions, "Deadlines"."""

SEND_WITHIN_S: Final = 10.0
"""ours: an order that has waited longer for its turn is not what the person sees any more."""

HELD_BACK_S: Final = 60.0
"""ours: so long no buy is placed while what an earlier run left unknown cannot be looked up."""

PROBE_S: Final = 4.0
RECONCILE_S: Final = 10.0
RECONCILE_OLD_S: Final = 60.0
SAVE_S: Final = 10.0
MARK_S: Final = 1.0
"""How often an offline service is probed, unknown trades are looked up (those past their horizon
more seldom), the state is cached, and the mark of a halt is looked for. Source: failures, F-01 and
F-08."""


def is_back(before: Phase, after: Phase) -> bool:
    """Whether a service that was away, or refused the key, answers again."""
    return before in {Phase.OFFLINE, Phase.UNAUTHORIZED} and after is Phase.ONLINE


def unknown_of(
    tickets: Iterable[TicketView], now: Timestamp, *, with_old: bool
) -> list[TicketView]:
    """The orders to look up, in their order; those past their horizon only `with_old`."""
    return [
        ticket
        for ticket in tickets
        if ticket.state is TicketState.UNKNOWN and (with_old or not is_overdue(ticket, now))
    ]


def held_back_text(left_s: float) -> str:
    """Why buys wait for the orders of an earlier run; empty once the time for it is over."""
    if left_s <= 0:
        return ""
    return f"earlier order still being looked up: buys are possible in {left_s:.0f} s at the latest"


class Desk:
    """The running desk: holds the state, carries out commands.

    `opening.open_desk` makes and runs it. `folder` is that of its database.
    """

    def __init__(
        self, initial: DeskState, context: DeskContext, blotter: Blotter, memory: Memory
    ) -> None:
        self._state = initial
        self.folder: Path = context.database.path.parent
        self._changed = asyncio.Event()
        self._inbox: asyncio.Queue[Ticket] = asyncio.Queue(INBOX_MAX)
        self._refreshes = {topic: asyncio.Event() for topic in Topic}
        self._slots = asyncio.Semaphore(IN_FLIGHT_MAX)
        self._settled = asyncio.Event()
        self._closing = False
        self._running: dict[str, Ticket] = {}
        self._watched = PollerMemory(wants_holdings=False)
        self._memory = memory
        self._clock = context.clock
        self._new_id = context.new_id
        self._rng = context.rng
        self._began = context.clock.monotonic()
        self._listen = context.listen
        self._exits_only = context.exits_only
        self._count = 0
        self._tickets: dict[str, Ticket] = {}
        self.ports = Ports(
            client=context.client,
            blotter=blotter,
            clock=context.clock,
            new_id=context.new_id,
            state=lambda: self._state,
            emit=self._emit,
            refresh=self._refresh,
            tokens=KeptTokens(context.database, context.blotters),
            renew=context.renew,
            vault=context.vault,
            policy=context.policy,
            notes=context.notes,
        )
        self._exits = Exits(self.ports, executes=context.executes)
        self._prices = PriceWatch(PriceAlerts(context.database), self.ports)
        self._reactor = ReactorDesk(
            self.ports,
            context.database,
            self._watched.reactor,
            executes=context.executes,
            held_back=self._unsettled,
        )
        signs = context.executes and context.signs
        self._wallet = WalletDesk(self.ports, ChainRuns(context.database), memory, executes=signs)
        context.client.last_word = self.ports.gate.last_word
        context.client.troubled = partial(show_trouble, self.ports)
        self._supervision = Supervision(context, self.ports, self._watched)
        self._halting = Halting(
            self.ports, memory, context.rng, self._either, agents=self._supervision.halted
        )
        self._registry = CommandRouter(
            ports=self.ports,
            memory=memory,
            watched=self._watched,
            exits=self._exits,
            prices=self._prices,
            reactor=self._reactor,
            wallet=self._wallet,
            supervision=self._supervision,
            halting=self._halting,
            submit=self.submit,
            refresh_all=self._refresh_all,
        ).registry()

    # -- the three doors -------------------------------------------------------------------

    @property
    def state(self) -> DeskState:
        """The newest state."""
        return self._state

    async def changes(self) -> AsyncIterator[DeskState]:
        """Newer states as they arrive; a slow reader gets the latest and skips the others."""
        shown: DeskState | None = None
        while True:
            if self._state is shown:
                changed = self._changed
                await changed.wait()
            shown = self._state
            yield shown

    def submit(self, command: Command) -> Ticket:
        """Accept a command; never blocks, never raises.

        Returns:
            The ticket. Too many commands under way or a closing desk fail it at once: nothing
            was sent.
        """
        if isinstance(command, Halt):
            # Before anything else, and without a step of the loop: from here on nothing enters.
            self._halting.halt()
            self._end_entries()
        self._supervision.actions.on_command(command)
        self._count += 1
        view = row_of(command, self._new_id(), self._clock.now())
        ticket = Ticket(command, view)
        if isinstance(command, Halt):
            ticket.update(replace(view, state=TicketState.DONE))
            return ticket
        if why := self.ports.gate.why_not(command):
            self._fail(ticket, why)
            return ticket
        if self._closing or self._inbox.qsize() + len(self._running) >= INBOX_MAX:
            why = "the desk is closing" if self._closing else "too many commands at once"
            self._fail(ticket, why)
            return ticket
        self._inbox.put_nowait(ticket)
        if command.is_ticketed:
            self._tickets[view.ticket_id] = ticket
            self._emit(Changed(view))
        return ticket

    def hold(self, database: Database | None) -> None:
        """This program holds the data directory from now on, or no longer: who signs is this desk.

        Args:
            database: the directory's own, in which lies what earlier holders have signed.
        """
        self._wallet.sign_with(None if database is None else ChainRuns(database))
        if database is not None:
            self._supervision.hold()

    async def write_log(self) -> None:
        """Write what waits for the action log."""
        await self._supervision.actions.write()

    # -- running ---------------------------------------------------------------------------

    async def run(self) -> None:
        """Poll and carry out commands until `close`, in one TaskGroup."""
        topics = (Topic.BRIEFING,) if self._exits_only else topics_of(self._state.service)
        async with asyncio.TaskGroup() as tasks:
            for topic in topics:
                tasks.create_task(
                    poll(topic, self.ports, self._watched, rest=self._rest, rng=self._rng)
                )
            tasks.create_task(self._dispatch(tasks))
            for name, loop in self._loops():
                tasks.create_task(keep_running(name, loop, self.ports))

    def _loops(self) -> Iterator[tuple[str, Loop]]:
        """Background loops beside the pollers, each with its name."""
        yield "halting", self._halting.run
        yield "the mark of a halt", self._watch_mark
        yield "looking up unknown orders", self._reconcile
        yield "asking for the service", self._probe
        yield "keeping the state", self._save
        yield "the equity curve", partial(mark_equity, self.ports)
        if not self._exits_only:
            yield "price alerts of the service", partial(self._prices.follow, self._either)
            yield from (("supervision", loop) for loop in self._supervision.loops())
        yield "keeping the tokens of positions", partial(keep_held, self.ports)
        yield "exits", self._exits.run
        yield "price alerts", self._prices.run
        yield "the wallet", self._wallet.run
        yield "the briefing", partial(watch_briefing, self.ports)
        yield from (("the reactor", loop) for loop in self._reactor.loops())
        if self._listen is not None:
            consumer = EventStreamConsumer(self._listen, self.ports, self._rng)
            yield from (
                ("the stream", loop)
                for loop in (
                    consumer.run,
                    consumer.refresh_touched,
                    consumer.emit_fills,
                    consumer.emit_registered,
                )
            )
        if (notes := self.ports.notes) is not None and not self._exits_only:
            yield "research files", FileWatch(notes, self.ports).run

    async def close(self) -> None:
        """Accept nothing more, wait (bounded) for commands in flight, store the last state."""
        self._closing = True
        self._exits.close()
        self._reactor.close()
        self._wallet.close()
        await self._supervision.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                while self._is_busy():  # noqa: ASYNC110  (bounded, at the end)
                    await asyncio.sleep(0.01)
        await self._wallet.rest()
        await self._reactor.flush()
        await self._supervision.actions.write()
        await self._memory.save(self._state)

    def _is_busy(self) -> bool:
        """True while work is in flight that closing should wait for; quotes do not count."""
        return (
            not self._inbox.empty()
            or self._exits.is_busy
            or self._reactor.is_busy
            or self._wallet.is_busy
            or any(is_waited_for(ticket.command) for ticket in self._running.values())
        )

    async def _dispatch(self, tasks: asyncio.TaskGroup) -> None:
        """Run each command in a task of its own, so that a slow one blocks no other."""
        quoting: asyncio.Task[None] | None = None
        while True:
            ticket = await self._inbox.get()
            self._running[ticket.view.ticket_id] = ticket
            task = tasks.create_task(self._fenced(ticket))
            task.add_done_callback(partial(self._ended, ticket))
            if isinstance(ticket.command, RequestQuote):
                # Only the newest question matters, and one that changes nothing may be dropped.
                if quoting is not None:
                    quoting.cancel()
                quoting = task

    async def _fenced(self, ticket: Ticket) -> None:
        """Carry a command out; a fault ends this one alone. What may have left stays unknown."""
        try:
            await self._carry_out(ticket)
        except Exception as error:  # noqa: BLE001  (an answer from outside must not end the desk)
            problem = fault_text(error)
            log.error("%s: %s", ticket.view.what, problem)  # noqa: TRY400  (no value of a traceback)
            before = ticket.view.state
            after = state_after_fault(ticket.command, before)
            if after is not before and after is TicketState.FAILED:
                self._fail(ticket, problem)
                return
            if after is not before:
                self._emit(Changed(replace(ticket.view, state=after, outcome=problem)))
            self._emit(Noticed("bad", f"{ticket.view.what}: {problem}"))

    async def _carry_out(self, ticket: Ticket) -> None:
        if not ticket.command.is_ticketed:
            await self._registry.carry_out(ticket)
            return
        came_at = self._clock.monotonic()
        if ticket.view.state is not TicketState.QUEUED:
            return
        if is_entry(ticket.command):
            # What was left unknown by an earlier run is looked up before anything buys.
            await self._either(self._settled, min(SEND_WITHIN_S, max(0.0, self._held_back_s())))
        async with self._slots:
            if ticket.view.state is not TicketState.QUEUED:
                # A halt has ended it while it waited.
                return
            why = self._held_back(ticket.command)
            ticket.has_begun = True
            if why:
                self._fail(ticket, why)
            elif self._clock.monotonic() - came_at > SEND_WITHIN_S:
                self._fail(ticket, "waited too long behind earlier orders")
            else:
                await self._registry.carry_out(ticket)

    def _end_entries(self) -> None:
        """End the entries that wait for their turn: the person sees at once that they do not go."""
        for ticket in list(self._tickets.values()):
            why = self.ports.gate.why_not(ticket.command)
            if why and not ticket.has_begun and ticket.view.state is TicketState.QUEUED:
                self._fail(ticket, why)

    def _held_back(self, command: Command) -> str:
        """Hold a buy back for a while, never a sale: that brings money.

        Returns:
            Reason why it is not placed; empty if it may be. Notices name what is then at risk.
        """
        if self._settled.is_set() or not is_entry(command):
            return ""
        if why := self._unsettled():
            return why
        for ticket in self._state.tickets:
            if ticket.state is TicketState.UNKNOWN:
                text = f"{ticket.what} is still unknown: its amount stays reserved"
                self._emit(Noticed("warn", text))
        return ""

    def _unsettled(self) -> str:
        """Reason why buys are blocked until unknown orders of an earlier run are looked up.

        Else empty.
        """
        return "" if self._settled.is_set() else held_back_text(self._held_back_s())

    def _held_back_s(self) -> float:
        """Seconds for which buys are still held back at most."""
        return self._began + HELD_BACK_S - self._clock.monotonic()

    def _ended(self, ticket: Ticket, _: object) -> None:
        """Release everyone who waits for a command whose task ended."""
        self._running.pop(ticket.view.ticket_id, None)
        if ticket.command.is_ticketed and ticket.view.state is TicketState.QUEUED:
            self._fail(ticket, "the desk was closed")
        ticket.end()

    def _fail(self, ticket: Ticket, why: str) -> None:
        """End a command that never left."""
        halted = bool(self.ports.gate.why_not(ticket.command))
        view = never_left(ticket.view, why, self._clock.now(), halted=halted)
        ticket.update(view)
        if ticket.command.is_ticketed:
            self._emit(Changed(view))
        self._emit(Noticed("bad", f"{view.what}: {view.outcome}"))

    # -- state -----------------------------------------------------------------------------

    def _emit(self, fact: Fact) -> None:
        """The one place where the state changes."""
        before = self._state
        self._supervision.actions.on_fact(before, fact)
        self._state = reduce(before, fact)
        for news in self._prices.look(before, self._state):
            self._state = reduce(self._state, news)
        self._keep_pace(before)
        self._wallet.on_fact(fact)
        if isinstance(fact, AlertsSeen):
            self._exits.take(fact.waiting)
        self._reactor.on_fact(before, self._state, fact)
        if is_back(before.service.phase, self._state.service.phase):
            # Requests that still pause from the outage may be retried as well.
            self._refresh_all()
            self._halting.retry_now()
        if isinstance(fact, WorldSeen):
            self._halting.on_world()
            self._end_entries()
        ticket = changed(fact, TicketView)
        if ticket is not None and ticket.ticket_id in self._tickets:
            self._tickets[ticket.ticket_id].update(ticket)
            if not ticket.in_flight:
                del self._tickets[ticket.ticket_id]
        if ticket is not None and ticket.kind == ExitAlert.kind:
            self._exits.wake()
        self._changed.set()
        self._changed = asyncio.Event()

    # -- pace ------------------------------------------------------------------------------

    def _keep_pace(self, before: DeskState) -> None:
        """Poll rarely while a paused world's events tell all, and at once when they do not."""
        quiet = is_quiet(self._state)
        if quiet != is_quiet(before):
            self._state = replace(self._state, polls=periods_of(self._state))
            if not quiet:
                self._refresh_all()

    def _refresh(self, topic: Topic) -> None:
        self._refreshes[topic].set()

    def _refresh_all(self) -> None:
        for topic in READINGS:
            self._refresh(topic)
        self._prices.wake()

    async def _rest(self, topic: Topic, seconds: float) -> None:
        """Wait so long, or until the topic is refreshed."""
        refreshed = self._refreshes[topic]
        await self._either(refreshed, seconds)
        refreshed.clear()

    async def _either(self, event: asyncio.Event, seconds: float) -> None:
        """Wait for an event, but only so long."""
        waits = {
            asyncio.ensure_future(event.wait()),
            asyncio.ensure_future(self._clock.sleep(seconds)),
        }
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _probe(self) -> None:
        """Check the service's health while it is away; refresh everything once it is back."""
        while True:
            await self._clock.sleep(PROBE_S)
            service = self._state.service
            # Where every path refuses, its health means nothing: they are polled at their own pace.
            if service.phase is not Phase.OFFLINE or is_refusal(service.problem_status):
                continue
            with suppress(ServiceError):
                # Not longer than a pause: a service that swallowed the last probe may be back.
                await self.ports.client.call(HEALTH, deadline_s=PROBE_S)
                self._refresh_all()

    async def _reconcile(self) -> None:
        """Look up unknown orders, those of an earlier run first; trading waits for that."""
        old_at = self._clock.monotonic()
        while True:
            now, with_old = self._clock.now(), self._clock.monotonic() >= old_at
            unknown = unknown_of(self._state.tickets, now, with_old=with_old)
            problem = ""
            try:
                if unknown:
                    await reconcile(unknown, self.ports)
                self._settled.set()
                if with_old:
                    old_at = self._clock.monotonic() + RECONCILE_OLD_S
            except ServiceError as error:
                problem = str(error)
                log.info("unknown trades stay unknown: %s", error)
            if problem != self._state.service.lookup_problem:
                self._emit(LookedUp(problem))
            await self._clock.sleep(RECONCILE_S)

    async def _watch_mark(self) -> None:
        """Halt once another program has marked the directory, as it could not reach this desk."""
        seen: float | None = None
        while True:
            await self._clock.sleep(MARK_S)
            marked = await asyncio.to_thread(self._memory.marked_halt)
            if marked != seen and marked is not None and self._state.halt is None:
                self._halting.halt()
            seen = marked

    async def _save(self) -> None:
        """Keep the cache near the present, so that a cold start shows something recent."""
        saved: DeskState | None = None
        while True:
            await self._clock.sleep(SAVE_S)
            await self._memory.back_up()
            if self._state is not saved:
                saved = self._state
                await self._memory.save(saved)

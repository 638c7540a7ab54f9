"""Halts a desk: closes its gate at once, then requests an acknowledgement from every source.

Two things open the gate again: the operator types RESUME here and every source has been resumed, or
the service reports that another console of the same operator has ended the halt.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Final

from service_tui.client.errors import ReadOnlyError, RefusedError, ServiceError
from service_tui.client.retry import next_delay
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.halt import RESUME_WORD, Resume
from service_tui.desk.facts import Noticed
from service_tui.desk.halt import handlers as steps
from service_tui.desk.halt.handlers import HaltStep, StepCall
from service_tui.desk.halt.skills import SkillAgents, SkillPauses
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.slices.halt import AckState, AckView, HaltView, KeptHalt
from service_tui.desk.slices.notices import NoticeKind
from service_tui.storage.errors import StorageError
from service_tui.units import Timestamp

log = logging.getLogger(__name__)

_HALT: Final = NoticeKind.HALT

WaitFor = Callable[[asyncio.Event, float], Awaitable[None]]
"""Waits for an event, at most so many seconds."""


STEPS: Final = (
    HaltStep("skills", "local skills paused", steps.stop_what_runs),
    HaltStep(
        "service",
        "service refuses the buys of every agent",
        steps.halt_service,
        embedded_only=True,
    ),
    HaltStep("pause", "agent of this desk paused by the service", steps.pause_agent),
    HaltStep("orders", "no open buys of this desk's agent", steps.cancel_buys),
)
GATE: Final = AckView("gate", "buys blocked on this desk", AckState.DONE)
KEPT: Final = AckView("kept", "halt kept over a restart")

AFTER_S: Final = 0.001
"""The end of a halt is stored with a time at least this much later than that of the halt."""

READ_ONLY: Final = "this desk is read-only: halt from a writable console"
UNDER_WAY: Final = "selling positions: buys stay blocked until done"


class OvertakenError(Exception):
    """A new halt began while the last one was being ended."""


class Halting:
    """The halt of one desk. `halt` is the only thing that must not wait, and does not."""

    def __init__(
        self,
        ports: Ports,
        memory: Memory,
        rng: random.Random,
        wait_for: WaitFor,
        *,
        agents: SkillAgents,
    ) -> None:
        self._ports = ports
        self._skills = SkillPauses(ports, agents, self._keep)
        self._memory = memory
        self._rng = rng
        self._wait_for = wait_for
        self._requested = asyncio.Event()
        self._retry = asyncio.Event()
        self._maybe_over = asyncio.Event()
        self._lock = asyncio.Lock()
        self._round = 0
        if ports.state().halt is not None:
            # Stored by an earlier run: halting every source again is harmless.
            self.halt()

    # -- halting ---------------------------------------------------------------------------

    def halt(self) -> None:
        """Close the gate now, then request acknowledgement from every source."""
        self._ports.gate.close()
        known = self._ports.state().halt
        if known is not None and known.missing and not known.is_resuming:
            # Requests are under way: retry failed ones at once, not after their pause.
            self.retry_now()
            return
        self._begin(known or self._new())

    def on_world(self) -> None:
        """Follow the service's own halt: it closes this desk's gate as well.

        A service that has acknowledged this desk's halt and is not halted any more was resumed from
        another console of the same operator; that is looked up before anything opens here.
        """
        world = self._ports.state().world
        service_halted = world is not None and world.halted_at is not None
        self._ports.gate.on_service_halt(service_halted=service_halted)
        if world is not None and not service_halted and self._may_be_over():
            self._maybe_over.set()

    def retry_now(self) -> None:
        """Retry every failed acknowledgement without waiting for its pause."""
        self._retry.set()
        self._retry = asyncio.Event()

    async def run(self) -> None:
        """Request acknowledgements until all have arrived, and watch for an end from elsewhere."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._request_halts())
            tasks.create_task(self._follow())

    async def _request_halts(self) -> None:
        while True:
            await self._requested.wait()
            self._requested.clear()
            async with self._lock, asyncio.TaskGroup() as tasks:
                tasks.create_task(self._until_done("kept", self._keep, self._round))
                halt = self._ports.state().halt
                for step in () if halt is None else self._steps(halt):
                    tasks.create_task(self._until_done(step.name, step.carry_out, self._round))

    def _new(self) -> HaltView:
        state = self._ports.state()
        # While the service is halted, its pause is not the agent's own.
        is_own = state.world is None or state.world.halted_at is None
        was_paused = is_own and state.limits is not None and state.limits.paused
        return HaltView(since=state.halted_since or self._ports.now(), was_paused=was_paused)

    def _begin(self, halt: HaltView) -> None:
        """Request every acknowledgement from the beginning."""
        self._round += 1
        begun = replace(halt, agents=self._skills.named(halt.agents))
        rows = (GATE, KEPT, *(AckView(step.name, step.description) for step in self._steps(begun)))
        self._ports.emit(Changed(replace(begun, acks=rows, is_resuming=False)))
        self._requested.set()
        self.retry_now()

    def _steps(self, halt: HaltView) -> tuple[HaltStep, ...]:
        embedded = self._ports.state().service.embedded
        usual = tuple(step for step in STEPS if embedded or not step.embedded_only)
        return (*usual, *self._skills.steps(halt.agents))

    async def _until_done(self, name: str, carry_out: StepCall, number: int) -> None:
        """Repeat one step with growing pauses until it is done or the round is over."""
        tries = 0
        while number == self._round:
            state, tries = AckState.FAILED, tries + 1
            try:
                text = await carry_out(self._ports)
                state, tries = AckState.DONE, 0
            except steps.NotYetError as wait:
                state, text = AckState.WAITING, str(wait)
            except ReadOnlyError:
                self._acknowledge(name, number, AckView(name, "", state, READ_ONLY, tries))
                return
            except (ServiceError, StorageError, steps.NotDoneError) as error:
                text = _halt_text(error)
                log.info("the halt is not acknowledged (%s): %s", name, text)
            self._acknowledge(name, number, AckView(name, "", state, text, tries))
            if state is AckState.DONE:
                return
            if number == self._round:
                await self._wait_for(self._retry, next_delay(tries, self._rng))

    def _acknowledge(self, name: str, number: int, ack: AckView) -> None:
        halt = self._ports.state().halt
        if halt is None or number != self._round:
            return
        rows = tuple(replace(ack, what=row.what) if row.name == name else row for row in halt.acks)
        acknowledged = replace(halt, acks=rows)
        self._ports.emit(Changed(acknowledged))
        if halt.missing and not acknowledged.missing:
            self._ports.emit(Noticed("good", "halted: all sources acknowledged", _HALT))

    async def _keep(self, ports: Ports) -> str:
        """Store the halt on disk, so that the next start is halted before anything may trade."""
        halt = ports.state().halt
        if halt is None:
            return ""
        return await self._memory.keep_halt(
            KeptHalt(on=True, at=halt.since, was_paused=halt.was_paused, agents=halt.agents)
        )

    # -- resumed elsewhere -----------------------------------------------------------------

    def _may_be_over(self) -> bool:
        """True if another console may have ended this halt: every source had acknowledged it."""
        halt, service = self._ports.state().halt, self._ports.state().service
        if halt is None or not service.embedded or service.read_only:
            return False
        is_selling = halt.exits is not None and not halt.exits.is_over
        return not (halt.missing or halt.is_resuming or is_selling)

    async def _follow(self) -> None:
        """End the halt here once the service reports that its operator has ended it.

        The state may be older than the halt: only an answer to a request that was sent after
        the service had acknowledged it counts.
        """
        while True:
            await self._maybe_over.wait()
            self._maybe_over.clear()
            number = self._round
            try:
                # Requested without the lock: a new halt need not wait for this answer.
                if self._may_be_over() and not await steps.service_is_halted(self._ports):
                    await self._end_here(number)
            except OvertakenError:
                log.info("it was halted again while its end elsewhere was looked up")
            except (ServiceError, StorageError) as error:
                log.info("cannot check whether the halt was ended elsewhere: %s", error)

    async def _end_here(self, number: int) -> None:
        async with self._lock:
            self._check(number)
            if self._may_be_over():
                await self._open(self._ports.state().halt, number)
                text = "resumed from another console: buys allowed"
                self._ports.emit(Noticed("good", text, _HALT))

    # -- resuming --------------------------------------------------------------------------

    async def resume(self, order: Resume) -> None:
        """End the halt: every source, then the disk, last the gate. A failure leaves it halted."""
        state = self._ports.state()
        objection = self._objection(order)
        if objection:
            self._ports.emit(Noticed("warn", objection))
            return
        known = state.halt
        if known is not None:
            self._ports.emit(Changed(replace(known, is_resuming=True)))
        # Requests of the halt end first: nothing may overtake the end.
        self._round += 1
        number = self._round
        self.retry_now()
        try:
            async with self._lock:
                await self._undo_steps(known, number)
        except OvertakenError:
            self._ports.emit(Noticed("warn", "not resumed: halted again", _HALT))
        except (ServiceError, StorageError, steps.NotDoneError) as error:
            text = f"not resumed, still halted: {_halt_text(error)}"
            self._ports.emit(Noticed("bad", text, _HALT))
            if number == self._round and known is not None:
                # Sources that have resumed already are halted again.
                self._begin(self._ports.state().halt or known)

    def _objection(self, order: Resume) -> str:
        """Reason why the halt is not ended; empty if it may be."""
        state = self._ports.state()
        if order.word != RESUME_WORD:
            return f"not resumed: type the word {RESUME_WORD}"
        if state.halted_since is None:
            return "not halted"
        if state.halt is not None and state.halt.is_resuming:
            return "already resuming"
        exits = None if state.halt is None else state.halt.exits
        return "" if exits is None or exits.is_over else UNDER_WAY

    async def _undo_steps(self, known: HaltView | None, number: int) -> None:
        """Undo every step; buys pass only after the last one, which opens the gate."""
        ports, service = self._ports, self._ports.state().service
        was_paused = known is not None and known.was_paused
        # A read-only desk has requested nothing, so that nothing is undone.
        if not service.read_only and not was_paused:
            await steps.lift_pause(ports)
            self._check(number)
        if not service.read_only and service.embedded:
            await steps.resume_service(ports)
            self._check(number)
        left = await self._skills.lift(partial(self._check, number))
        self._check(number)
        await self._open(known, number)
        ports.emit(Noticed("good", "resumed: buys allowed", _HALT))
        if was_paused:
            text = "trading was paused at the service before the halt and still is: see Settings"
            ports.emit(Noticed("warn", text))
        for text in left:
            ports.emit(Noticed("warn", text))

    async def _open(self, known: HaltView | None, number: int) -> None:
        """The last two steps: store the end of the halt, then open the gate."""
        since = Timestamp(0.0) if known is None else known.since
        # Later than the halt, even if the clock was set back: the newest record counts.
        at = max(self._ports.now(), Timestamp(since + AFTER_S))
        await self._memory.keep_halt(KeptHalt(on=False, at=at))
        self._check(number)
        self._ports.gate.open()
        self._ports.emit(Removed(HaltView))

    def _check(self, number: int) -> None:
        if number != self._round:
            raise OvertakenError


def _halt_text(error: Exception) -> str:
    fix = error.fix if isinstance(error, RefusedError) else ""
    return f"{error}; {fix}" if fix else str(error)

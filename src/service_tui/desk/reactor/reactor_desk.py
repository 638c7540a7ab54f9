"""Runs the reactor on the desk: mirrors signals, stores them and the person's choices."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from service_tui.clock import Clock
from service_tui.desk.changes import changed
from service_tui.desk.commands.reactor import DismissSignal, MirrorAllFrom, MirrorSignal
from service_tui.desk.facts import AccountSeen, Fact
from service_tui.desk.ports import Ports
from service_tui.desk.reactor import handlers as reactor
from service_tui.desk.reactor.mirroring import Mirrors
from service_tui.desk.reactor.poll import ReactorWatch
from service_tui.desk.reactor.stored import row_of
from service_tui.desk.registry import OwnHandlers
from service_tui.desk.slices.reactor import MIRROR, SignalsSeen, SignalView
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.storage.db.database import Database
from service_tui.storage.errors import StorageError
from service_tui.storage.reactor import StoredReactor

log = logging.getLogger(__name__)

WRITE_AFTER_S: Final = 0.3


class ReactorDesk:
    """Follows every change of the state, and handles every command about the reactor."""

    def __init__(
        self,
        ports: Ports,
        database: Database,
        watch: ReactorWatch,
        *,
        executes: bool,
        held_back: Callable[[], str],
    ) -> None:
        """Bind to a desk.

        Args:
            ports: the outside.
            database: where signals and choices are kept.
            watch: what the poller remembers.
            executes: whether `auto` is carried out here.
            held_back: why no buy is placed at this moment; empty when one may be.
        """
        self._ports = ports
        self._watch = watch
        self._stored = StoredReactor(database)
        self._log = SignalLog(self._stored, ports.clock)
        self._mirrors = Mirrors(ports, executes=executes, held_back=held_back)

    @property
    def is_busy(self) -> bool:
        """True while an order is in flight that closing should wait for."""
        return self._mirrors.is_busy

    def on_fact(self, before: DeskState, after: DeskState, fact: Fact) -> None:
        """Follow a change of the state that has just happened."""
        if before.reactor.signals is not after.reactor.signals:
            self._log.look(before.reactor.signals, after.reactor.signals)
        ticket = changed(fact, TicketView)
        if isinstance(fact, SignalsSeen):
            self._mirrors.take(fact)
        elif ticket is not None and ticket.kind == MIRROR:
            self._mirrors.on_ticket(ticket)
        elif isinstance(fact, AccountSeen) and _plan_changed(before, after):
            # What was barred may not be any more, and the other way round.
            self._ports.refresh(Topic.REACTOR)

    def handlers(self) -> OwnHandlers:
        """What carries out the commands about the reactor."""
        return {
            MirrorSignal: self._mirrors.mirror,
            MirrorAllFrom: self._mirrors.mirror_all,
            DismissSignal: self._mirrors.dismiss,
            **dict.fromkeys(reactor.SETTINGS, self._change),
        }

    async def _change(self, command: reactor.Setting) -> None:
        await reactor.change(command, self._stored, self._watch, self._ports)

    def loops(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """Background loops of the reactor."""
        return self._mirrors.run, self._log.run

    def close(self) -> None:
        """Begin no further mirror."""
        self._mirrors.close()

    async def flush(self) -> None:
        """Write what is not written yet."""
        await self._log.flush()


def _plan_changed(before: DeskState, after: DeskState) -> bool:
    old, new = before.account, after.account
    return old is not None and new is not None and old.plan is not new.plan


class SignalLog:
    """Stores signals in the background: no caller waits for it."""

    def __init__(self, stored: StoredReactor, clock: Clock) -> None:
        self._stored = stored
        self._clock = clock
        self._changed: dict[str, SignalView] = {}
        self._awake = asyncio.Event()

    def look(self, before: Iterable[SignalView], after: Iterable[SignalView]) -> None:
        """Note what has changed but for a price that moves on."""
        same = {id(one) for one in before}
        changed = [one for one in after if id(one) not in same]
        old = {one.signal_id: one for one in before} if changed else {}
        for one in changed:
            known = old.get(one.signal_id)
            if known is None or _kept(known) != _kept(one):
                self._changed[one.signal_id] = one
        if self._changed:
            self._awake.set()

    async def run(self) -> None:
        """Store changed signals; runs for ever."""
        while True:
            await self._awake.wait()
            self._awake.clear()
            # A commit under way would hold up the intent of the mirror that follows.
            await self._clock.sleep(WRITE_AFTER_S)
            await self.flush()

    async def flush(self) -> None:
        """Write what waits; a disk that fails loses statistics, and no trade."""
        changed, self._changed = self._changed, {}
        if not changed:
            return
        try:
            await self._stored.put([row_of(one) for one in changed.values()])
        except (StorageError, UnicodeError) as error:
            log.warning("signals not stored: %s", error)


def _kept(signal: SignalView) -> tuple[object, ...]:
    """Fields of a signal that justify a write; its price counts once the outcome is final."""
    price = signal.price_now
    is_final = price is not None and not 0 < price < 1
    return (
        signal.state,
        signal.detail,
        signal.label,
        signal.amount,
        signal.ticket_id,
        signal.shares,
        signal.cost,
        signal.sold,
        signal.proceeds,
        price if is_final else None,
    )

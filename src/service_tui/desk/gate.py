"""The gate that a halt closes: then no order that opens or enlarges a position is sent."""

import logging
from typing import Protocol

from service_tui.desk.command import Command
from service_tui.desk.commands.agents import ApproveTrade
from service_tui.desk.commands.reactor import MirrorAllFrom, MirrorSignal
from service_tui.desk.commands.trading import BuySet, PlaceTrade
from service_tui.desk.reasons import HALTED
from service_tui.terms import Action
from service_tui.wire.base import WireModel
from service_tui.wire.batch import BatchRequest
from service_tui.wire.fleet import ApproveRequest
from service_tui.wire.trades import TradeRequest

log = logging.getLogger(__name__)


class Stoppable(Protocol):
    """A process that may trade on its own and that the halt suspends: a skill."""

    @property
    def name(self) -> str:
        """Name for the operator."""
        ...

    def suspend(self) -> None:
        """Suspend at once, without waiting; raises OSError if that fails."""
        ...

    def go_on(self) -> None:
        """Resume; raises OSError if that fails."""
        ...


def is_entry(command: Command) -> bool:
    """True if commands of this type may open or enlarge a position."""
    match command:
        case PlaceTrade():
            return command.action is Action.BUY
        case MirrorSignal() | MirrorAllFrom() | BuySet():
            return True
        case ApproveTrade():
            return True
        case _:
            return False


def enters(body: WireModel | None) -> bool:
    """True if a request body may open or enlarge a position, whatever sends it."""
    match body:
        case TradeRequest():
            return body.action is Action.BUY and not body.is_quote
        case BatchRequest():
            return not body.is_quote
        case ApproveRequest():
            # It sends another's order out, a buy as a rule.
            return True
        case _:
            return False


class Gate:
    """Blocks entries while this desk's own halt or the service's is on."""

    def __init__(self) -> None:
        self._is_halted = False
        self._service_halted = False
        self._running: dict[str, Stoppable] = {}
        self._loose: dict[str, str] = {}

    @property
    def is_closed(self) -> bool:
        """True while entries are blocked."""
        return self._is_halted or self._service_halted

    @property
    def loose(self) -> dict[str, str]:
        """Processes that could not be suspended: reasons by name."""
        return dict(self._loose)

    @property
    def suspended_count(self) -> int:
        """Number of suspended processes."""
        return len(self._running) - len(self._loose) if self.is_closed else 0

    def close(self) -> None:
        """Block entries and suspend skills."""
        self._is_halted = True
        self.suspend()

    def open(self) -> None:
        """The halt of this desk and of its service is over."""
        self._is_halted = self._service_halted = False
        self._go_on()

    def on_service_halt(self, *, service_halted: bool) -> None:
        """Follow the service's own halt, which another console may have begun."""
        if service_halted == self._service_halted:
            return
        self._service_halted = service_halted
        if self.is_closed:
            self.suspend()
        else:
            self._go_on()

    def why_not(self, command: Command) -> str:
        """Reason why a command is blocked; empty if it is not."""
        return HALTED.text if self.is_closed and is_entry(command) else ""

    def last_word(self, body: WireModel | None) -> str:
        """Reason why a request must not be sent, checked right before; empty if it may."""
        return HALTED.text if self.is_closed and enters(body) else ""

    def watch(self, running: Stoppable) -> None:
        """Suspend this process with every halt from now on; one process a name."""
        self._running[running.name] = running
        if self.is_closed:
            self._suspend(running)

    def release(self, name: str) -> None:
        """Forget a process that ended."""
        self._running.pop(name, None)
        self._loose.pop(name, None)

    def suspend(self) -> None:
        """Suspend every process; failures are listed in `loose` and can be retried."""
        for running in self._running.values():
            self._suspend(running)

    def _suspend(self, running: Stoppable) -> None:
        self._loose.pop(running.name, None)
        try:
            running.suspend()
        except OSError as error:
            log.warning("%s was not suspended: %s", running.name, error)
            self._loose[running.name] = error.strerror or type(error).__name__

    def _go_on(self) -> None:
        self._loose.clear()
        for running in self._running.values():
            try:
                running.go_on()
            except OSError as error:
                log.warning("%s does not go on: %s", running.name, error)

"""The gate that a halt closes: from then on nothing that opens or enlarges a position leaves."""

import logging
from typing import Protocol

from service_tui.desk.command import Command
from service_tui.desk.commands.agents import ApproveHeld
from service_tui.desk.commands.reactor import MirrorAllFrom, MirrorSignal
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reasons import HALTED
from service_tui.terms import Action
from service_tui.wire.base import WireModel
from service_tui.wire.batch import BatchRequest
from service_tui.wire.fleet import ApproveRequest
from service_tui.wire.trades import TradeRequest

log = logging.getLogger(__name__)


class Stoppable(Protocol):
    """Something that runs for this desk and may trade by itself: a skill's process."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    def suspend(self) -> None:
        """Stand still at once, without waiting; an OSError says that it does not."""
        ...

    def go_on(self) -> None:
        """Run on; an OSError says that it does not."""
        ...


def is_entry(command: Command) -> bool:
    """Whether a command may open or enlarge a position, by its kind."""
    match command:
        case PlaceTrade():
            return command.action is Action.BUY
        case MirrorSignal() | MirrorAllFrom():
            return True
        case ApproveHeld():
            return True
        case _:
            return False


def enters(body: WireModel | None) -> bool:
    """The same of a body that is about to leave, whichever command or poller it comes from."""
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
    """Closed by this desk's own halt, or while the service says that its operator halted it."""

    def __init__(self) -> None:
        self._is_halted = False
        self._service_halted = False
        self._running: dict[str, Stoppable] = {}
        self._loose: dict[str, str] = {}

    @property
    def is_closed(self) -> bool:
        """Whether no entry may leave."""
        return self._is_halted or self._service_halted

    @property
    def loose(self) -> dict[str, str]:
        """What runs on although it was to stand still, and why, by name."""
        return dict(self._loose)

    @property
    def suspended_count(self) -> int:
        """How many things of this desk stand still."""
        return len(self._running) - len(self._loose) if self.is_closed else 0

    def close(self) -> None:
        """Halt: nothing enters from now on, and what runs for this desk stands still."""
        self._is_halted = True
        self.suspend()

    def open(self) -> None:
        """The halt of this desk and of its service is over."""
        self._is_halted = self._service_halted = False
        self._go_on()

    def on_service_halt(self, *, service_halted: bool) -> None:
        """What the service says of its own halt, which may be another console's."""
        if service_halted == self._service_halted:
            return
        self._service_halted = service_halted
        if self.is_closed:
            self.suspend()
        else:
            self._go_on()

    def why_not(self, command: Command) -> str:
        """Why a command may not go on; empty when it may."""
        return HALTED.text if self.is_closed and is_entry(command) else ""

    def last_word(self, body: WireModel | None) -> str:
        """Why what is about to leave must not; empty when it may."""
        return HALTED.text if self.is_closed and enters(body) else ""

    def watch(self, running: Stoppable) -> None:
        """Have something stand still with the desk from now on; one name, one thing."""
        self._running[running.name] = running
        if self.is_closed:
            self._suspend(running)

    def release(self, name: str) -> None:
        """It has ended."""
        self._running.pop(name, None)
        self._loose.pop(name, None)

    def suspend(self) -> None:
        """Have everything stand still; what does not is named, and can be tried again."""
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

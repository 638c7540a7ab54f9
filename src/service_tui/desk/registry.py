"""Maps a command's type to the function that carries it out; there is no other dispatch."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from service_tui.desk.command import Command
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.tickets import Ticket

Given = TypeVar("Given", bound=Command)
Done: TypeAlias = Awaitable[None] | None
"""What carrying out comes to: something to wait for, or nothing where it is done at once."""


Handlers: TypeAlias = Mapping[type[Command], Callable[[Any, Ports], Done]]
"""What carries out the commands of a noun, by their types: a command of that type, the ports."""

TicketHandlers: TypeAlias = Mapping[type[Command], Callable[[TicketView, Any, Ports], Done]]
"""The same for those that update the command's own ticket."""

MemoryHandlers: TypeAlias = Mapping[type[Command], Callable[[Any, Memory, Ports], Done]]
"""The same for those that keep something over a restart."""

OwnHandlers: TypeAlias = Mapping[type[Command], Callable[[Any], Done]]
"""The same, of an object that has its own ports."""


class Registry:
    """The functions by the type of their command; each type has one."""

    def __init__(self) -> None:
        self._functions: dict[type[Command], Callable[[Ticket], Done]] = {}

    @property
    def kinds(self) -> Iterable[type[Command]]:
        """The types of commands that are carried out."""
        return self._functions

    def on(self, kind: type[Given], function: Callable[[Given], Done]) -> None:
        """Carry out commands of this type with a function of the command alone."""
        self._take(kind, lambda ticket: function(cast("Given", ticket.command)))

    def on_ticket(self, kind: type[Given], function: Callable[[TicketView, Given], Done]) -> None:
        """Register a function that updates the command's own ticket."""
        self._take(kind, lambda ticket: function(ticket.view, cast("Given", ticket.command)))

    def take(self, handlers: Mapping[type[Command], Callable[..., Done]], *given: object) -> None:
        """Carry out the commands of a table, with what its functions want beside the command."""
        for kind, function in handlers.items():
            self.on(kind, _with(function, given))

    def take_on_tickets(self, handlers: TicketHandlers, ports: Ports) -> None:
        """Carry out the commands of a table whose functions update the command's own ticket."""
        for kind, function in handlers.items():
            self.on_ticket(kind, _on_ticket(function, ports))

    def _take(self, kind: type[Command], function: Callable[[Ticket], Done]) -> None:
        if kind in self._functions:
            raise ValueError(f"{kind.__name__} is carried out already")
        self._functions[kind] = function

    async def carry_out(self, ticket: Ticket) -> None:
        """Carry out a ticket's command."""
        done = self._functions[type(ticket.command)](ticket)
        if done is not None:
            await done


def _with(function: Callable[..., Done], given: tuple[object, ...]) -> Callable[[Command], Done]:
    return lambda command: function(command, *given)


def _on_ticket(
    function: Callable[[TicketView, Any, Ports], Done], ports: Ports
) -> Callable[[TicketView, Command], Done]:
    return lambda view, command: function(view, command, ports)

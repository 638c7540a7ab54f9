"""Maps each command to its handler."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from service_tui.desk.agents import handlers as agents
from service_tui.desk.changes import Removed
from service_tui.desk.command import Command
from service_tui.desk.commands.halt import ExitAll, Halt, Resume
from service_tui.desk.commands.risk import (
    ExitAlert,
    RemovePriceAlert,
    SetPriceAlert,
)
from service_tui.desk.commands.settings import (
    Forget,
    Refresh,
    WatchMarket,
)
from service_tui.desk.commands.trading import BuySet
from service_tui.desk.drill import handlers as drill
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.halt.exit_all import exit_all
from service_tui.desk.halt.halting import Halting
from service_tui.desk.holdings import handlers as holdings
from service_tui.desk.own_command_runs import OwnCommandRuns
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.reactor.reactor_desk import ReactorDesk
from service_tui.desk.registry import Handlers, OwnHandlers, Registry, TicketHandlers
from service_tui.desk.research import handlers as research
from service_tui.desk.risk import handlers as monitors
from service_tui.desk.risk.exits import Exits
from service_tui.desk.risk.price_alerts import PriceWatch
from service_tui.desk.settings import handlers as settings
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.supervision import Supervision
from service_tui.desk.tickets import Ticket
from service_tui.desk.trading import handlers as trades
from service_tui.desk.trading.buy_set import buy_set
from service_tui.desk.wallet.wallet_desk import WalletDesk
from service_tui.desk.webhooks import handlers as webhooks

TABLES: Final[tuple[Handlers, ...]] = (
    trades.HANDLERS,
    agents.HANDLERS,
    holdings.HANDLERS,
    monitors.HANDLERS,
    settings.HANDLERS,
    research.HANDLERS,
    webhooks.HANDLERS,
    drill.HANDLERS,
)
TICKET_TABLES: Final[tuple[TicketHandlers, ...]] = (
    trades.TICKET_HANDLERS,
    settings.TICKET_HANDLERS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRouter:
    """Objects that carry out commands, by noun; `registry` maps every command to one."""

    ports: Ports
    memory: Memory
    watched: PollerMemory
    exits: Exits
    prices: PriceWatch
    reactor: ReactorDesk
    wallet: WalletDesk
    supervision: Supervision
    halting: Halting
    submit: Callable[[Command], Ticket]
    refresh_all: Callable[[], None]

    def registry(self) -> Registry:
        """Every command with what carries it out."""
        registry, ports = Registry(), self.ports
        for handlers in TABLES:
            registry.take(handlers, ports)
        for handlers in TICKET_TABLES:
            registry.take_on_tickets(handlers, ports)
        registry.take(settings.MEMORY_HANDLERS, self.memory, ports)
        for own in (self.reactor, self.wallet, self.supervision, OwnCommandRuns(ports)):
            registry.take(own.handlers())
        registry.take(self._own())
        return registry

    def _own(self) -> OwnHandlers:
        """Commands whose function needs more than the ports."""
        ports = self.ports
        return {
            Forget: lambda _: ports.emit(Removed(RevealedView)),
            ExitAlert: self.exits.exit_now,
            SetPriceAlert: self.prices.set,
            RemovePriceAlert: self.prices.remove,
            WatchMarket: self._watch,
            Refresh: lambda _: self._refresh(),
            Resume: self.halting.resume,
            ExitAll: lambda order: exit_all(order, ports, self.submit),
            BuySet: lambda order: buy_set(order, ports, self.submit),
            # Done when it was given.
            Halt: lambda _: None,
        }

    def _watch(self, order: WatchMarket) -> None:
        self.watched.market_id, self.watched.span_s = order.market_id, order.span_s
        self.watched.beside_id = order.beside_id
        self.ports.refresh(Topic.DETAIL)

    def _refresh(self) -> None:
        self.ports.client.try_refused()
        self.refresh_all()

"""Maps each command to its handler."""

from collections.abc import Callable
from dataclasses import dataclass

from service_tui.desk.agents import handlers as agents
from service_tui.desk.changes import Removed
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import Govern
from service_tui.desk.commands.buy_limits import SetBuyLimit, SetDefaults, SetPaused
from service_tui.desk.commands.halt import ExitAll, Halt, Resume
from service_tui.desk.commands.research import (
    EndSession,
    ResetSession,
    RunBacktest,
    ShowDiff,
    StartSession,
)
from service_tui.desk.commands.risk import (
    ExitAlert,
    RemoveMonitor,
    RemovePriceAlert,
    SetMonitor,
    SetMonitors,
    SetPriceAlert,
)
from service_tui.desk.commands.settings import (
    Forget,
    Refresh,
    SetPreference,
    SetSpeed,
    SetStar,
    WatchMarket,
)
from service_tui.desk.commands.trading import CancelOrders, GiveUp, PlaceTrade, RequestQuote
from service_tui.desk.drill import handlers as drill
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.halt.exit_all import exit_all
from service_tui.desk.halt.halting import Halting
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.reactor.reactor_desk import ReactorDesk
from service_tui.desk.registry import Registry
from service_tui.desk.research import handlers as research
from service_tui.desk.risk import handlers as monitors
from service_tui.desk.risk import price_alerts
from service_tui.desk.risk.exits import Exits
from service_tui.desk.settings import handlers as settings
from service_tui.desk.settings import limits
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.supervision import Supervision
from service_tui.desk.tickets import Ticket
from service_tui.desk.trading import cancel_orders as orders
from service_tui.desk.trading import handlers as trades
from service_tui.desk.trading.lookup import give_up
from service_tui.desk.wallet.wallet_desk import WalletDesk
from service_tui.desk.webhooks import handlers as webhooks
from service_tui.storage.price_alerts import PriceAlerts


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRouter:
    """Objects that carry out commands, by noun; `registry` maps every command to one."""

    ports: Ports
    memory: Memory
    watched: PollerMemory
    exits: Exits
    price_alerts: PriceAlerts
    reactor: ReactorDesk
    wallet: WalletDesk
    supervision: Supervision
    halting: Halting
    submit: Callable[[Command], Ticket]
    refresh_all: Callable[[], None]

    def registry(self) -> Registry:
        """Every command with what carries it out."""
        ports, memory, on = self.ports, self.memory, (registry := Registry()).on
        registry.on_ticket(PlaceTrade, lambda view, order: trades.place_trade(view, order, ports))
        on(RequestQuote, lambda request: trades.request_quote(request, ports))
        on(GiveUp, lambda given: give_up(given, ports))
        on(CancelOrders, lambda order: orders.cancel(order, ports))
        on(Govern, lambda order: agents.govern(order, ports))
        on(Forget, lambda _: ports.emit(Removed(RevealedView)))
        on(SetMonitor, lambda order: monitors.set_monitor(order, ports))
        on(SetMonitors, lambda order: monitors.set_monitors(order, ports))
        on(RemoveMonitor, lambda order: monitors.remove_monitor(order, ports))
        on(ExitAlert, self.exits.exit_now)
        on(SetPriceAlert, lambda it: price_alerts.set_price_alert(it, self.price_alerts, ports))
        on(
            RemovePriceAlert,
            lambda it: price_alerts.remove_price_alert(it, self.price_alerts, ports),
        )
        registry.on_ticket(SetSpeed, lambda view, pace: settings.set_speed(view, pace, ports))
        on(WatchMarket, self._watch)
        on(SetStar, lambda star: settings.set_star(star, memory, ports))
        on(SetPreference, lambda one: settings.set_preference(one, memory, ports))
        on(SetBuyLimit, lambda order: limits.set_buy_limit(order, memory, ports))
        on(SetDefaults, lambda order: limits.set_defaults(order, ports))
        on(SetPaused, lambda order: limits.set_paused(order, ports))
        on(RunBacktest, lambda order: research.run_backtest(order, ports))
        on(StartSession, lambda order: research.start_session(order, ports))
        on(EndSession, lambda order: research.turn_session(order, ports))
        on(ResetSession, lambda order: research.turn_session(order, ports))
        on(ShowDiff, lambda order: research.show_diff(order, ports))
        on(Refresh, lambda _: self._refresh())
        on(Resume, self.halting.resume)
        on(ExitAll, lambda order: exit_all(order, ports, self.submit))
        # Done when it was given.
        on(Halt, lambda _: None)
        webhooks.register(registry, ports)
        drill.register(registry, ports)
        self.reactor.register(registry)
        self.wallet.register(registry)
        self.supervision.register(registry)
        return registry

    def _watch(self, order: WatchMarket) -> None:
        self.watched.market_id, self.watched.span_s = order.market_id, order.span_s
        self.ports.refresh(Topic.DETAIL)

    def _refresh(self) -> None:
        self.ports.client.try_refused()
        self.refresh_all()

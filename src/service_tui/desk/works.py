"""Which handler carries out which command.

Knows the commands and the handlers by name. Must not know HTTP, widgets,
or when a command's turn is.
Used by desk, which gives each command a task of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass

from service_tui.desk.commands import (
    AskQuote,
    Command,
    EndSession,
    ExitAlert,
    ExitAll,
    Forget,
    GiveUp,
    Govern,
    Halt,
    PlaceTrade,
    Refresh,
    RemoveMonitor,
    RemovePriceAlert,
    ResetSession,
    Resume,
    RunBacktest,
    SetDefaults,
    SetMonitor,
    SetMonitors,
    SetPaused,
    SetPreference,
    SetPriceAlert,
    SetRail,
    SetSpeed,
    SetStar,
    ShowDiff,
    StartSession,
    WatchMarket,
)
from service_tui.desk.commands_fleet import FleetCommand
from service_tui.desk.commands_orders import CancelOrders
from service_tui.desk.commands_reactor import ReactorCommand
from service_tui.desk.exit_all import exit_all
from service_tui.desk.facts import Revealed
from service_tui.desk.halting import Halting
from service_tui.desk.handlers import (
    agents,
    monitors,
    orders,
    price_alerts,
    rails,
    research,
    settings,
    trades,
)
from service_tui.desk.handlers.alerts import Exits
from service_tui.desk.lookup import give_up
from service_tui.desk.polling import Watched
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.reactor_work import ReactorWork
from service_tui.desk.records import Topic
from service_tui.desk.supervision import Supervision
from service_tui.desk.tickets import Ticket
from service_tui.desk.wallet_desk import WalletDesk
from service_tui.storage.price_alerts import PriceAlerts


@dataclass(frozen=True, slots=True, kw_only=True)
class Works:
    """All that carries something out, by the noun of what is carried out."""

    ports: Ports
    memory: Memory
    watched: Watched
    exits: Exits
    price_alerts: PriceAlerts
    reactor: ReactorWork
    wallet: WalletDesk
    supervision: Supervision
    halting: Halting
    submit: Callable[[Command], Ticket]
    poke_all: Callable[[], None]

    async def carry_out(self, ticket: Ticket) -> None:  # noqa: C901, PLR0912, PLR0915  (one line a kind)
        """Give a command to whom it is for."""
        if isinstance(ticket.command, ReactorCommand):
            await self.reactor.handle(ticket.command)
            return
        if isinstance(ticket.command, FleetCommand):
            await self.supervision.handle(ticket.command)
            return
        match ticket.command:
            case PlaceTrade() as order:
                await trades.place_trade(ticket.view, order, self.ports)
            case AskQuote() as question:
                await trades.ask_quote(question, self.ports)
            case GiveUp() as given:
                await give_up(given, self.ports)
            case Govern() as governed:
                await agents.govern(governed, self.ports)
            case CancelOrders() as cancelled:
                await orders.cancel(cancelled, self.ports)
            case Forget():
                self.ports.say(Revealed(None))
            case SetMonitor() as thresholds:
                await monitors.set_monitor(thresholds, self.ports)
            case SetMonitors() as bulk:
                await monitors.set_monitors(bulk, self.ports)
            case RemoveMonitor() as removed:
                await monitors.remove_monitor(removed, self.ports)
            case ExitAlert() as wanted:
                self.exits.ask(wanted)
            case SetPriceAlert() as told:
                await price_alerts.set_price_alert(told, self.price_alerts, self.ports)
            case RemovePriceAlert() as untold:
                await price_alerts.remove_price_alert(untold, self.price_alerts, self.ports)
            case SetSpeed() as pace:
                await settings.set_speed(ticket.view, pace, self.ports)
            case WatchMarket() as watch:
                self.watched.market_id, self.watched.span_s = watch.market_id, watch.span_s
                self.ports.poke(Topic.DETAIL)
            case SetStar() as star:
                await settings.set_star(star, self.memory, self.ports)
            case SetPreference() as preference:
                await settings.set_preference(preference, self.memory, self.ports)
            case SetRail() | SetDefaults() | SetPaused() as rail:
                await rails.change(rail, self.memory, self.ports)
            case RunBacktest() as backtest:
                await research.run_backtest(backtest, self.ports)
            case StartSession() as begun:
                await research.start_session(begun, self.ports)
            case EndSession() | ResetSession() as turned:
                await research.turn_session(turned, self.ports)
            case ShowDiff() as shown:
                await research.show_diff(shown, self.ports)
            case Refresh():
                self.ports.client.try_refused()
                self.poke_all()
            case Resume() as resumed:
                await self.halting.resume(resumed)
            case ExitAll() as exits:
                await exit_all(exits, self.ports, self.submit)
            case Halt():
                # Done when it was given.
                pass
            case _ as other:
                await self.wallet.handle(other)

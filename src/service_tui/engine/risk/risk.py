"""The state of all monitors and alerts, updated with every trade.

A trade costs no more than a line in a list: monitors take in what was traded when somebody next
looks, in the order in which it happened, which comes to the same as if they had at once. Whatever
else they depend on, settings and outcomes, comes through here and lets them look first.
"""

from dataclasses import replace
from typing import Any, Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm import lmsr
from service_tui.engine.books.venues import Traded, Venues
from service_tui.engine.events import (
    AlertEnded,
    Breached,
    Fill,
    MonitorDeleted,
    MonitorSet,
    Note,
    PeakRaised,
    RiskEvent,
)
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.risk.alerts import SOURCES, Alerts, RiskAlert, Sale
from service_tui.engine.risk.monitors import Monitor, MonitoredSide, Monitors
from service_tui.terms import THRESHOLDS, Action, Side, Venue, WalletKind
from service_tui.units import Micros, Timestamp

UNSEEN_MAX: Final = 512
"""Trades that may wait to be taken in: only a world whose tape stands still comes to so many."""

_HAIR: Final = 1.0 - 1e-12
"""Keeps the rounding of doubles on the side of a look too many."""

_EXITS: Final = frozenset(SOURCES.values())
_NONE: Final = Micros(0)
_NOTHING: Final = SidePosition()


def is_of_service(venue: Venue, wallet: WalletKind) -> bool:
    """Whether the service itself exits: on sim always, elsewhere where it holds the wallet."""
    # Source: decisions, "Who exits"; spec, "Wallet types".
    return venue is Venue.SIM or wallet is WalletKind.MANAGED


class Risk:
    """Every monitor and every alert of the world."""

    __slots__ = ("_agents", "_venues", "alert_count", "alerts", "filled", "monitors")

    def __init__(self, agents: dict[str, Agent], venues: Venues) -> None:
        self._agents = agents
        self._venues = venues
        # Fills on sim that no monitor has seen yet; those of the venues wait there.
        self.filled: list[Fill] = []
        self.monitors = Monitors()
        self.alerts = Alerts()
        self.alert_count = 0

    # -- readings --------------------------------------------------------------------------

    def position_of(self, watched: MonitoredSide) -> SidePosition:
        """What is held of a side now; an empty one where nothing is."""
        position: Position | None
        if watched.venue is Venue.SIM:
            position = self._agents[watched.agent_id].positions.get(watched.market_id)
        else:
            account = self._venues.account(watched.agent_id, watched.venue)
            holding = account.holdings.get(watched.market_id)
            position = None if holding is None else holding.position
        return _NOTHING if position is None else position.on(watched.side)

    def monitors_of(self, agent_id: str) -> list[Monitor]:
        """An agent's monitors as they are now."""
        self.settle()
        return self.monitors.of(agent_id)

    def alerts_of(self, agent_id: str) -> list[RiskAlert]:
        """An agent's alerts that wait, oldest first."""
        self.settle()
        return self.alerts.of(agent_id)

    def history_of(self, agent_id: str) -> list[RiskAlert]:
        """An agent's alerts that ended, newest first."""
        self.settle()
        return self.alerts.history(agent_id)

    # -- what was traded -------------------------------------------------------------------

    def settle(self) -> None:
        """Apply the trades since the last reading."""
        filled, traded = self.filled, self._venues.traded
        if filled:
            runs: dict[tuple[str, str, Side], list[Fill]] = {}
            for fill in filled:
                runs.setdefault((fill.agent_id, fill.market_id, fill.side), []).append(fill)
            filled.clear()
            for (agent_id, market_id, side), run in runs.items():
                self._take_run(MonitoredSide(agent_id, Venue.SIM, market_id, side), run)
        if traded:
            moved = dict.fromkeys([self._take_trade(one) for one in traded])
            traded.clear()
            for watched in moved:
                self._put_up(watched)

    def _take_run(self, watched: MonitoredSide, run: list[Fill]) -> None:
        """Take in the fills of one side: what counts for a monitor is what came since it was flat.

        What was left after each is reckoned back from what is held now.
        """
        now = self.position_of(watched).shares
        if not now and not self.alerts.pending:
            self.monitors.drop(watched)
            return
        lefts = [now]
        for fill in reversed(run):
            is_buy = fill.action is Action.BUY
            lefts.append(lefts[-1] + (-fill.shares if is_buy else fill.shares))
        lefts.reverse()
        if self.alerts.pending:
            for fill, left in zip(run, lefts[1:], strict=True):
                if fill.action is Action.SELL:
                    sale = Sale(
                        fill.trade_id,
                        fill.at,
                        fill.shares,
                        fill.money,
                        fill.realized,
                        self._is_own_exit(watched, fill.note),
                    )
                    self.alerts.count_sale(watched, sale, is_last=not left)
        if not all(lefts[1:]):
            self.monitors.drop(watched)
            run = run[len(run) - lefts[::-1].index(_NONE) :]
        for fill in (one for one in run if one.action is Action.BUY):
            self._enrol(watched, fill.note, fill.at)
        self._put_up(watched)

    def _take_trade(self, one: Traded) -> MonitoredSide:
        event = one.event
        watched = MonitoredSide(event.agent_id, one.venue, event.market_id, one.side)
        if one.action is Action.BUY:
            self._enrol(watched, one.note, event.at)
            return watched
        by_service = self._is_own_exit(watched, one.note)
        sale = Sale(event.order_id, event.at, event.shares, one.money, event.realized, by_service)
        self.alerts.count_sale(watched, sale, is_last=not one.left)
        if not one.left:
            self.monitors.drop(watched)
        return watched

    def _is_own_exit(self, watched: MonitoredSide, note: Note) -> bool:
        """Whether the service itself made a sale: an exit where it is the one that exits."""
        wallet = self._agents[watched.agent_id].settings.wallet
        return note.source in _EXITS and is_of_service(watched.venue, wallet)

    def _enrol(self, watched: MonitoredSide, note: Note, at: Timestamp) -> None:
        """Every successful buy enrols a monitor. Source: spec, "Risk monitor settings"."""
        if note.has_exits:
            self._attach(watched, note, at)
            return
        settings = self._agents[watched.agent_id].settings
        stop, take = settings.stop_loss_pct, settings.take_profit_pct
        # ours: one that is there already keeps its thresholds, whoever set them.
        if (
            settings.auto_risk_monitor_enabled
            and (stop is not None or take is not None)
            and self.monitors.get(watched) is None
        ):
            self.monitors.add(Monitor(watched, stop, take, automatic=True, set_at=at))

    def _attach(self, watched: MonitoredSide, note: Note, at: Timestamp) -> None:
        """Set the thresholds that came with a buy; what it does not name stays.

        The first monitor of a side takes the agent's defaults for what the buy does not name.
        Source: decisions, "Changing a monitor".
        """
        # ours: who names a stop with an order wants that one, also where a monitor is there.
        settings = self._agents[watched.agent_id].settings
        stop, take = settings.stop_loss_pct, settings.take_profit_pct
        if not settings.auto_risk_monitor_enabled:
            # ours: then a buy takes no default, neither with thresholds of its own.
            stop = take = None
        known = self.monitors.get(watched) or Monitor(
            watched, stop, take, automatic=False, set_at=at
        )
        if note.stop_loss_pct is not None:
            known = replace(known, stop_loss_pct=note.stop_loss_pct)
        if note.take_profit_pct is not None:
            known = replace(known, take_profit_pct=note.take_profit_pct)
        self.monitors.add(
            replace(
                known,
                automatic=False,
                set_at=at,
                entry=0.0,
                reference=0.0,
                turn=0,
                reach=None,
            )
        )

    def _put_up(self, watched: MonitoredSide) -> None:
        """Let a monitor follow the average cost of what it watches."""
        monitor = self.monitors.get(watched)
        if monitor is None:
            return
        if not self.position_of(watched).shares:
            self.monitors.drop(watched)
            return
        self.put_back(monitor, only_moved=True)

    def put_back(self, monitor: Monitor, *, only_moved: bool = False) -> None:
        """Put a monitor on its rungs again, from which it was taken, or for the first time.

        Args:
            monitor: the monitor.
            only_moved: leave one that is there already and whose rungs stay where they are.
        """
        position = self.position_of(monitor.watched)
        entry, reference = position.average_entry(), position.reference()
        if entry is None or reference is None:
            return
        reach = self._reach_of(monitor)
        levels = entry, reference, reach
        if only_moved and levels == (monitor.entry, monitor.reference, monitor.reach):
            return
        ladder = self.monitors.ladder_of(monitor.watched)
        ladder.put(monitor, entry, reach, reference=reference)

    def _reach_of(self, monitor: Monitor) -> float | None:
        """The price of its side at which a target may be met, a hair low; None without a target."""
        # On sim the price at which selling all of it brings as much; on a book the target itself.
        if monitor.take_profit_pct is None:
            return None
        watched = monitor.watched
        position = self.position_of(watched)
        proceeds = position.cost * (1.0 + monitor.take_profit_pct)
        if watched.venue is Venue.SIM:
            b = self._venues.markets[watched.market_id].b
            return _HAIR * lmsr.price_for_proceeds(proceeds, shares=int(position.shares), b=int(b))
        return _HAIR * proceeds / position.shares

    # -- events ----------------------------------------------------------------------------

    def apply(self, event: RiskEvent) -> None:
        """Apply an event. Never refuses and checks nothing."""
        self.settle()
        match event:
            case MonitorSet():
                watched = MonitoredSide(event.agent_id, event.venue, event.market_id, event.side)
                terms: dict[str, Any] = {
                    kind.name: getattr(event, kind.name) for kind in THRESHOLDS
                }
                self.monitors.add(
                    Monitor(watched, **terms, automatic=False, set_at=event.at, peak=event.peak)
                )
                self._put_up(watched)
            case PeakRaised():
                watched = MonitoredSide(event.agent_id, event.venue, event.market_id, event.side)
                if (known := self.monitors.get(watched)) is not None:
                    known.peak = event.peak
                    self.put_back(known)
            case MonitorDeleted():
                self.monitors.drop(
                    MonitoredSide(event.agent_id, event.venue, event.market_id, event.side)
                )
            case Breached():
                alert = RiskAlert(event)
                self.alert_count += 1
                self.monitors.drop(alert.watched)
                self.alerts.add(alert)
            case AlertEnded():
                self._apply_end(event)

    def _apply_end(self, event: AlertEnded) -> None:
        alert = self.alerts.pending.get(event.alert_id)
        if alert is not None:
            self.alerts.end(alert, event.status, event.at)
        for one in self.alerts.ended.get(event.agent_id, ()):
            if one.breach.alert_id == event.alert_id:
                one.is_acknowledged = True

    def automatic_of(self, agent: Agent) -> list[Monitor]:
        """The monitors that turning the automatic off would remove."""
        return [one for one in self.monitors_of(agent.agent_id) if one.automatic]

    def take_settings(self, agent: Agent) -> None:
        """An agent has new settings; without the automatic its monitors go, not those by hand.

        Source: decisions, "Stop and target prices".
        """
        if not agent.settings.auto_risk_monitor_enabled:
            for monitor in self.automatic_of(agent):
                self.monitors.drop(monitor.watched)

    def take_outcome(self, market_id: str, at: Timestamp) -> None:
        """A market is over: nothing of it can be sold any more."""
        self.settle()
        self.monitors.drop_market(market_id)
        self.alerts.drop_market(market_id, at)

"""A reference that looks at every monitor at every tick, and a driver of random operations."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from kit.engine.guarded import (
    AT,
    EXTERNAL,
    HOUR,
    NO,
    OFF,
    YES,
    joined,
    new_world,
    of,
    open_markets,
    replayed,
    stop_and_target,
    text_of,
)
from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.exchange import Order
from service_tui.engine.errors import (
    AlertNotFound,
    MonitorNotFound,
    Refusal,
)
from service_tui.engine.events import AlertEnded, Breached, Event, Fill
from service_tui.engine.thresholds import (
    Spot,
    ThresholdRequest,
    acknowledge,
    delete_monitor,
    set_monitor,
)
from service_tui.engine.tick import advance, resolution_of
from service_tui.engine.world import World
from service_tui.terms import (
    Action,
    AlertStatus,
    ExitReason,
    Side,
    WalletKind,
)
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp

# -- the reference -------------------------------------------------------------------------

Key = tuple[str, str, Side]


@dataclass
class Waiting:
    """An alert of the reference."""

    key: Key
    at: float
    shares: int
    sold: int = 0
    status: str = "pending"
    ended_at: float = 0.0
    acknowledged: bool = False


@dataclass
class Reference:
    """The spec's tables in plain words: everything is looked at, every time."""

    monitors: dict[Key, tuple[float | None, float | None, bool]] = field(default_factory=dict)
    alerts: list[Waiting] = field(default_factory=list)

    def bought(self, agent: Agent, key: Key) -> None:
        settings = agent.settings
        thresholds = settings.stop_loss_pct, settings.take_profit_pct
        if settings.auto_risk_monitor_enabled and any(thresholds) and key not in self.monitors:
            self.monitors[key] = (*thresholds, True)

    def sold(self, key: Key, shares: int, left: int, at: float) -> None:
        for alert in self.pending(key):
            taken = min(shares, alert.shares - alert.sold)
            alert.sold += taken
            shares -= taken
            if alert.sold == alert.shares or (not left and alert.sold):
                alert.status, alert.ended_at = "executed", at
            elif not left:
                alert.status, alert.ended_at = "resolved", at
        if not left:
            self.monitors.pop(key, None)

    def pending(self, key: Key | None = None) -> list[Waiting]:
        return [one for one in self.alerts if one.status == "pending" and key in {None, one.key}]

    def expired(self, at: float) -> list[Waiting]:
        found = [one for one in self.pending() if at >= one.at + HOUR]
        for one in found:
            one.status, one.ended_at = "expired", at
        return found

    def crossed(self, world: World) -> dict[Key, ExitReason]:
        """Every monitor against the price of now."""
        found: dict[Key, ExitReason] = {}
        for key, (stop, take, _) in self.monitors.items():
            name, market_id, side = key
            held = world.agents[name].positions[market_id].on(side)
            market = world.markets[market_id]
            price = market.price() if side is YES else 1.0 - market.price()
            entry = held.cost / held.shares
            brings = market.exit_value(side, held.shares) / held.shares
            if take is not None and brings >= entry * (1.0 + take):
                found[key] = ExitReason.TAKE_PROFIT
            # On sim a buy lifts the mark above what it paid: its stop is measured from that.
            start = held.reference()
            assert start == pytest.approx(entry, abs=1e-3 / max(1, held.shares / ONE))
            if stop is not None and price <= start * (1.0 - stop):
                found[key] = ExitReason.STOP_LOSS
        return found

    def acknowledged(self, name: str, market_id: str, side: Side, at: float) -> Waiting | None:
        mine = [one for one in self.alerts if one.key == (name, market_id, side)]
        told = [
            one
            for one in mine
            if one.status == "executed" and not one.acknowledged and at < one.at + HOUR
        ]
        told.sort(key=lambda one: one.ended_at)
        found = next(iter([*told, *(one for one in mine if one.status == "pending")]), None)
        if found is not None:
            if found.status == "pending":
                found.status = "executed" if found.sold else "dismissed"
                found.ended_at = at
            found.acknowledged = True
        return found


class Driver:  # noqa: PLR0904  (an act each)
    """Random operations on a world whose tape stands still, and on the reference."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.world = new_world("ada", "bea", "cyd", "dan", speed=0, cash=100_000)
        for name in ("bea", "dan"):
            self.world.change(self.world.agents[name], EXTERNAL, AT)
        self.world.change(self.world.agents["dan"], {"take_profit_pct": 0.1}, AT)
        joined(self.world, "mover", 1_000_000, **OFF)
        self.names = ("ada", "bea", "cyd", "dan")
        self.markets = [one.market_id for one in open_markets(self.world)[:24]]
        self.reference = Reference()
        self.start = text_of(self.world)
        self.events: list[Event] = []
        self.counts: Counter[str] = Counter()

    def run(self, count: int) -> None:
        acts = {
            self.tick: 22, self.push: 22, self.buy: 18, self.sell: 12, self.set: 8,
            self.delete: 4, self.acknowledge: 5, self.settings: 4, self.restart: 0.15,
            self.resolve: 0.4,
        }  # fmt: skip
        chosen = self.rng.choices(list(acts), list(acts.values()), k=count)
        for number, act in enumerate(chosen):
            self.counts[act.__name__] += 1
            try:
                act()
            except Refusal as refusal:
                self.counts[refusal.code] += 1
            if number % 50 == 0:
                self.compare()
        self.compare()

    # -- operations

    def spot(self) -> tuple[str, str, Side]:
        rng = self.rng
        return rng.choice(self.names), rng.choice(self.markets), rng.choice((YES, NO))

    def did(self, *events: Event) -> None:
        self.events += events

    def at(self) -> Timestamp:
        return self.world.at

    def push(self) -> None:
        # Most of the time where something is watched, so that it comes to breaches.
        keys = sorted(self.reference.monitors)
        watched = self.rng.choice(keys)[1] if keys and self.rng.random() < 0.8 else None
        market_id = watched or self.rng.choice(self.markets)
        mover = self.world.agents["mover"]
        side = self.rng.choice((YES, NO))
        held = mover.positions.get(market_id)
        if held is not None and held.shares(side) and self.rng.random() < 0.6:
            order = Order(mover, market_id, side, Action.SELL, held.shares(side))
        else:
            size = Micros(self.rng.randrange(500, 30_000) * 10_000)
            order = Order(mover, market_id, side, Action.BUY, size)
        self.did(self.world.place(order, self.at()))

    def buy(self) -> None:
        name, market_id, side = self.spot()
        size = Micros(self.rng.randrange(100, 5_000) * 10_000)
        agent = self.world.agents[name]
        fill = self.world.place(Order(agent, market_id, side, Action.BUY, size), self.at())
        self.did(fill)
        self.reference.bought(agent, (name, market_id, side))

    def sell(self) -> None:
        name, market_id, side = self.spot()
        agent = self.world.agents[name]
        if self.rng.random() < 0.8 and agent.positions:
            market_id = self.rng.choice(sorted(agent.positions))
        position = agent.positions.get(market_id)
        held = 0 if position is None else position.shares(side)
        part = self.rng.choice((1.0, 1.0, 0.5, 0.1))
        size = Micros(held if part == 1.0 else int(held * part) // SHARE_QUANTUM * SHARE_QUANTUM)
        fill = self.world.place(Order(agent, market_id, side, Action.SELL, size), self.at())
        self.did(fill)
        self.reference.sold((name, market_id, side), fill.shares, held - fill.shares, self.at())

    def set(self) -> None:
        name, market_id, side = self.spot()
        agent = self.world.agents[name]
        held = [(one, s) for one, p in agent.positions.items() for s in Side if p.shares(s)]
        if held and self.rng.random() < 0.9:
            market_id, side = self.rng.choice(sorted(held))
        stop = self.rng.choice((None, 0.02, 0.1, 0.5, 1.0))
        take = self.rng.choice((0.01, 0.05, 0.3, 9.0) if stop is None else (None, 0.02, 0.2))
        wanted = ThresholdRequest(Spot(market_id, side), stop_and_target(stop, take))
        event, _ = set_monitor(self.world, agent, wanted, self.at())
        self.did(event)
        assert (market_id, side) in held
        self.reference.monitors[name, market_id, side] = (stop, take, False)

    def delete(self) -> None:
        name, market_id, side = self.spot()
        keys = sorted(self.reference.monitors)
        if keys and self.rng.random() < 0.7:
            name, market_id, side = self.rng.choice(keys)
        known = self.reference.monitors.pop((name, market_id, side), None)
        try:
            agent = self.world.agents[name]
            self.did(delete_monitor(self.world, agent, Spot(market_id, side), self.at()))
        except MonitorNotFound:
            assert known is None
            raise
        assert known is not None

    def acknowledge(self) -> None:
        name, market_id, side = self.spot()
        waiting = self.reference.pending()
        if waiting and self.rng.random() < 0.7:
            name, market_id, side = self.rng.choice(waiting).key
        meant = self.reference.acknowledged(name, market_id, side, self.at())
        try:
            agent = self.world.agents[name]
            event, _ = acknowledge(self.world, agent, Spot(market_id, side), self.at())
        except AlertNotFound:
            assert meant is None
            raise
        self.did(event)
        assert meant is not None
        assert event.status.value == meant.status

    def settings(self) -> None:
        rng, name = self.rng, self.rng.choice(self.names)
        changes: dict[str, object] = rng.choice((
            {"auto_risk_monitor_enabled": False},
            {"auto_risk_monitor_enabled": True},
            {"auto_risk_monitor_enabled": True},
            {"stop_loss_pct": rng.choice((None, 0.05, 0.2))},
            {"take_profit_pct": rng.choice((None, 0.05))},
            {"trading_paused": rng.random() < 0.3},
            {"suspended": rng.random() < 0.3},
            {"wallet": rng.choice(list(WalletKind))},
        ))
        self.did(*self.world.change(self.world.agents[name], changes, self.at()))
        if changes.get("auto_risk_monitor_enabled") is False:
            gone = [k for k, (_, _, auto) in self.reference.monitors.items() if auto]
            for key in gone:
                if key[0] == name:
                    del self.reference.monitors[key]

    def restart(self) -> None:
        """Killed, and read back from the snapshot and the journal."""
        again = replayed(self.start, self.events)
        again.at = max(again.at, self.world.at)
        assert text_of(again) == text_of(self.world)
        self.world, self.start, self.events = again, text_of(again), []

    def resolve(self) -> None:
        if len(self.markets) <= 6:
            return
        waiting = [one.key[1] for one in self.reference.pending()]
        if not waiting:
            return
        market_id = self.rng.choice(waiting)
        self.markets.remove(market_id)
        event = resolution_of(self.world.markets[market_id], self.world.agents, self.at())
        self.world.apply(event)
        self.did(event)
        for key in [one for one in self.reference.monitors if one[1] == market_id]:
            del self.reference.monitors[key]
        for alert in self.reference.pending():
            if alert.key[1] == market_id:
                alert.status, alert.ended_at = "resolved", self.at()

    def tick(self) -> None:
        """The tick of the engine against a full scan of before."""
        world, reference = self.world, self.reference
        step = self.rng.choice((1.0,) * 12 + (60.0, 900.0, 3_000.0, 40_000.0))
        at = Timestamp(world.at + step)
        expired = reference.expired(at)
        crossed = reference.crossed(world)
        managed = {name for name in self.names if not self.is_external(name)}
        held = {key: world.agents[key[0]].positions[key[1]].shares(key[2]) for key in crossed}
        retried = reference.pending()
        events = advance(world, at)
        self.did(*events)
        # No breach is missed, none is told twice, each says what was held.
        breaches = of(events, Breached)
        assert {(b.agent_id, b.market_id, b.side): b.reason for b in breaches} == crossed
        assert len(breaches) == len(crossed)
        ends = [one for one in of(events, AlertEnded) if one.status is AlertStatus.EXPIRED]
        assert len(ends) == len(expired)
        for breach in breaches:
            key = (breach.agent_id, breach.market_id, breach.side)
            assert (breach.shares, breach.at) == (held[key], at)
            del reference.monitors[key]
            reference.alerts.append(Waiting(key, at, breach.shares))
            self.counts[f"{breach.reason.value} {'m' if key[0] in managed else 'e'}"] += 1
        # Exits: whatever wallet is linked, once each, of everything that was held.
        due = Counter(iter(crossed))
        due.update(one.key for one in retried)
        exits = of(events, Fill)
        assert Counter((f.agent_id, f.market_id, f.side) for f in exits) <= due
        for fill in exits:
            key = (fill.agent_id, fill.market_id, fill.side)
            left = world.agents[key[0]].positions[key[1]].shares(key[2])
            assert fill.note.source.startswith("risk:")
            due[key] -= 1
            reference.sold(key, fill.shares, left, at)
        for key in +due:
            # Only what the market does not take waits on.
            name, market_id, side = key
            shares = world.agents[name].positions[market_id].shares(side)
            with pytest.raises(Refusal):
                world.quote(Order(world.agents[name], market_id, side, Action.SELL, shares))

    def is_external(self, name: str) -> bool:
        return self.world.agents[name].settings.wallet is WalletKind.EXTERNAL

    # -- comparison

    def compare(self) -> None:
        risk = self.world.risk
        for name in self.names:
            found = {
                (name, one.watched.market_id, one.watched.side): (
                    one.stop_loss_pct, one.take_profit_pct, one.automatic,
                )
                for one in risk.monitors_of(name)
            }  # fmt: skip
            assert found == {k: v for k, v in self.reference.monitors.items() if k[0] == name}
            waiting = [
                (one.breach.market_id, one.breach.side, one.breach.at, one.sold)
                for one in risk.alerts_of(name)
            ]
            mine = [one for one in self.reference.pending() if one.key[0] == name]
            assert sorted(waiting) == sorted((*w.key[1:], w.at, w.sold) for w in mine)
            ended = Counter(
                (one.breach.market_id, one.breach.side, one.breach.at, one.status.value)
                for one in risk.history_of(name)
            )
            told = Counter(
                (*w.key[1:], w.at, w.status)
                for w in self.reference.alerts
                if w.status != "pending" and w.key[0] == name
            )
            assert ended <= told
            assert ended.total() == min(100, told.total())
        assert all(one.sold <= one.breach.shares for one in self._all())

    def _all(self) -> Iterator[object]:
        risk = self.world.risk
        for name in self.names:
            yield from risk.alerts_of(name)
            yield from risk.history_of(name)

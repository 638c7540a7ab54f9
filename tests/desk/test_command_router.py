"""Which function carries out which command, and with what it is called."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from service_tui.desk import command_router
from service_tui.desk.changes import Removed
from service_tui.desk.command_router import CommandRouter
from service_tui.desk.commands import buy_limits as of_limits
from service_tui.desk.commands import halt as of_halt
from service_tui.desk.commands import research as of_research
from service_tui.desk.commands import risk as of_risk
from service_tui.desk.commands import settings as of_settings
from service_tui.desk.commands import trading as of_trading
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.registry import Registry
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.buy_limits import BuyLimit, RiskDefaults
from service_tui.desk.slices.risk import Condition, Thresholds
from service_tui.desk.slices.topics import Topic
from service_tui.desk.tickets import Ticket
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros

STATE = sample_state(6)
BUY = of_trading.PlaceTrade("m", Side.YES, Action.BUY, Venue.SIM, Micros(ONE))
GUARD = of_risk.SetMonitor("m", Side.NO, Venue.SIM, Thresholds(0.1, 0.5))
ROUTES: list[tuple[Any, str, tuple[str, ...]]] = [
    (BUY, "trades.place_trade", ("view", "order", "ports")),
    (of_trading.RequestQuote(1, BUY), "trades.request_quote", ("order", "ports")),
    (of_trading.GiveUp("t"), "give_up", ("order", "ports")),
    (of_trading.CancelOrders(("a",)), "orders.cancel", ("order", "ports")),
    (Govern(AgentAct.CODE, "a", "heron"), "agents.govern", ("order", "ports")),
    (GUARD, "monitors.set_monitor", ("order", "ports")),
    (of_risk.SetMonitors((GUARD,)), "monitors.set_monitors", ("order", "ports")),
    (of_risk.RemoveMonitor("m", Side.NO, Venue.SIM), "monitors.remove_monitor", ("order", "ports")),
    (of_risk.ExitAlert("a"), "exits.exit_now", ("order",)),
    (of_risk.SetPriceAlert("m", Side.NO, Condition.BELOW, 0.2), "price_alerts.set_price_alert",
     ("order", "alerts", "ports")),
    (of_risk.RemovePriceAlert("p"), "price_alerts.remove_price_alert",
     ("order", "alerts", "ports")),
    (of_settings.SetSpeed(10), "settings.set_speed", ("view", "order", "ports")),
    (of_settings.SetStar("m", on=True), "settings.set_star", ("order", "memory", "ports")),
    (of_settings.SetPreference("a", "b"), "settings.set_preference", ("order", "memory", "ports")),
    (of_limits.SetBuyLimit(BuyLimit.DESK_DAY, None), "limits.set_buy_limit",
     ("order", "memory", "ports")),
    (of_limits.SetDefaults(RiskDefaults(None, None, auto_monitor=True)), "limits.set_defaults",
     ("order", "ports")),
    (of_limits.SetPaused(paused=True), "limits.set_paused", ("order", "ports")),
    (of_research.RunBacktest(1, "ebb"), "research.run_backtest", ("order", "ports")),
    (of_research.StartSession("a", "ebb", "pnl"), "research.start_session", ("order", "ports")),
    (of_research.EndSession("ebb"), "research.turn_session", ("order", "ports")),
    (of_research.ResetSession("ebb"), "research.turn_session", ("order", "ports")),
    (of_research.ShowDiff("k", "c"), "research.show_diff", ("order", "ports")),
    (of_halt.Resume("RESUME"), "halting.resume", ("order",)),
    (of_halt.ExitAll(("a",)), "exit_all", ("order", "ports", "submit")),
    (of_halt.Halt(), "", ()),
]  # fmt: skip


class Work:
    """A router whose functions only note what they are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.on = Offline(STATE)
        self.heard: list[tuple[str, tuple[object, ...]]] = []
        self.watched = PollerMemory()
        self.refreshed: list[str] = []
        client = self.on.ports.client
        client.try_refused = lambda: self.refreshed.append("keys")  # type: ignore[method-assign]
        self.given = {
            "ports": self.on.ports, "memory": object(), "alerts": object(), "submit": object(),
        }  # fmt: skip
        for name in {name for _, name, _ in ROUTES if name} - {"exits.exit_now", "halting.resume"}:
            room, _, function = name.rpartition(".")
            where = getattr(command_router, room) if room else command_router
            monkeypatch.setattr(where, function, self.noting(name))
        self.registered: list[str] = []
        parts = {name: self.part(name) for name in ("reactor", "wallet", "supervision")}
        for room in (command_router.webhooks, command_router.drill):
            monkeypatch.setattr(room, "register", lambda *_: self.registered.append("room"))
        self.registry: Registry = CommandRouter(
            ports=self.on.ports,
            memory=cast("Any", self.given["memory"]),
            watched=self.watched,
            exits=cast("Any", SimpleNamespace(exit_now=self.noting("exits.exit_now"))),
            price_alerts=cast("Any", self.given["alerts"]),
            halting=cast("Any", SimpleNamespace(resume=self.noting("halting.resume"))),
            submit=cast("Any", self.given["submit"]),
            refresh_all=lambda: self.refreshed.append("all"),
            **cast("Any", parts),
        ).registry()

    def part(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(register=lambda _: self.registered.append(name))

    def noting(self, name: str) -> Any:
        return lambda *given: self.heard.append((name, given))

    async def give(self, order: Any) -> None:
        await self.registry.carry_out(Ticket(order, STATE.tickets[0]))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    return Work(monkeypatch)


@pytest.mark.parametrize(
    ("order", "name", "names"), ROUTES, ids=[type(order).__name__ for order, _, _ in ROUTES]
)
async def test_a_command_is_carried_out_by_its_own_function(
    work: Work, order: Any, name: str, names: tuple[str, ...]
) -> None:
    await work.give(order)
    values = {**work.given, "order": order, "view": STATE.tickets[0]}
    wanted = [(name, tuple(values[one] for one in names))] if name else []
    assert work.heard == wanted


def test_every_noun_registers_its_own_commands(work: Work) -> None:
    assert work.registered == ["room", "room", "reactor", "wallet", "supervision"]
    ours = {type(order) for order, _, _ in ROUTES}
    others = {of_settings.Forget, of_settings.WatchMarket, of_settings.Refresh}
    assert set(work.registry.kinds) == ours | others


async def test_a_secret_that_was_seen_is_forgotten(work: Work) -> None:
    await work.give(of_settings.Forget())
    assert work.on.facts == [Removed(RevealedView)]


async def test_the_market_in_focus_is_read_at_once(work: Work) -> None:
    await work.give(of_settings.WatchMarket("m-7", 3_600))
    assert (work.watched.market_id, work.watched.span_s) == ("m-7", 3_600)
    assert work.on.woken == [Topic.DETAIL]
    await work.give(of_settings.WatchMarket(None))
    assert (work.watched.market_id, work.watched.span_s) == (None, 0)


async def test_reading_all_anew_tries_refused_keys_first(work: Work) -> None:
    await work.give(of_settings.Refresh())
    assert work.refreshed == ["keys", "all"]

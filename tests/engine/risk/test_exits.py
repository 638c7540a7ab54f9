"""Monitors, alerts and exits, one by one and against a full scan."""

import json
import math
from collections import Counter
from contextlib import suppress
from random import Random
from typing import Any, Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kit.engine.falling import sink
from kit.engine.full_scan import Driver
from kit.engine.guarded import (
    HOUR,
    NO,
    OFF,
    YES,
    buy,
    new_world,
    of,
    open_markets,
    push,
    read_back,
    replayed,
    sell,
    stop_and_target,
    text_of,
    tick,
)
from kit.engine.topics import TOPICS
from kit.examples import examples
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Market
from service_tui.engine.books.liquidity import PRICE_HIGH, PRICE_LOW, REFRESH_S
from service_tui.engine.books.orders import ORDER_MIN, VenueOrder, place, with_remainder
from service_tui.engine.codec import snapshot
from service_tui.engine.errors import (
    MarketNotFound,
    MarketNotOpen,
    MonitorNotFound,
    PositionNotFound,
    Refusal,
    TimeStopPast,
    TrailingStopTooWide,
)
from service_tui.engine.events import (
    AlertEnded,
    Breached,
    Event,
    Fill,
    Note,
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    PeakRaised,
)
from service_tui.engine.exits import reason_of
from service_tui.engine.risk.alerts import Alerts, RiskAlert, Sale
from service_tui.engine.risk.monitors import MonitoredSide, prices_at
from service_tui.engine.tape.belief import belief
from service_tui.engine.thresholds import (
    Spot,
    ThresholdRequest,
    acknowledge,
    delete_monitor,
    set_monitor,
)
from service_tui.engine.tick import STEP_S, advance, resolution_of
from service_tui.engine.world import World
from service_tui.server.projections.risk import alert_body
from service_tui.terms import (
    Action,
    AlertStatus,
    ExitReason,
    OrderType,
    Side,
    Venue,
    WalletKind,
)
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_random_operations_never_part_from_a_full_scan(seed: int) -> None:
    driver = Driver(seed)
    driver.run(6_000)
    counts = driver.counts
    # The run means something.
    for name in ("stop_loss m", "stop_loss e", "take_profit m", "take_profit e"):
        assert counts[name] > 20, counts
    statuses = Counter(one.status for one in driver.reference.alerts)
    # On sim the service sells at once, whatever wallet is linked; those that wait are below.
    assert set(statuses) >= {"executed"}, statuses
    assert driver.world.ledger.total() == 0
    driver.restart()
    driver.compare()


ACTS = (
    *("tick",) * 5, *("push",) * 5, *("buy",) * 4, *("sell",) * 3, *("set",) * 2, "delete",
    "acknowledge", "settings", "restart", "resolve",
)  # fmt: skip


class Guarding(RuleBasedStateMachine):
    """The same operations in any order, chosen so that a divergence shrinks to a few of them."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver(3)

    @rule(act=st.sampled_from(ACTS), chance=st.randoms(use_true_random=False))
    def act(self, act: str, chance: Random) -> None:
        self.driver.rng = chance
        with suppress(Refusal):
            getattr(self.driver, act)()

    @invariant()
    def comes_to_the_same_as_a_full_scan(self) -> None:
        self.driver.compare()
        assert self.driver.world.ledger.total() == 0


TestGuarding = pytest.mark.slow(Guarding.TestCase)
TestGuarding.settings = examples(8, stateful_step_count=60)


# -- one by one ----------------------------------------------------------------------------


RICH: Final[dict[str, object]] = {
    "claimed": True,
    "real_trading_enabled": True,
    "max_trade": Micros(1_000 * ONE),
    "day_spend_max": Micros(10_000 * ONE),
}


def order_on(
    world: World, market: Market, action: Action, size: float, **more: object
) -> list[Event]:
    order = VenueOrder(
        world.agents["ada"], market.market_id, YES, action, Micros(round(size * ONE)),
        market.listing.home, **more,
    )  # fmt: skip
    return place(world.venues, order, (world.at, world.world_at))


HAIR: Final = 0.0001
"""A stop so near that it is reached by any fall of the middle of a book."""


def waiting() -> tuple[World, Market]:
    """A world in which the next tick crosses a stop on a real venue; the wallet is ada's own."""
    world = new_world(speed=0, wallet=WalletKind.EXTERNAL, **RICH)
    market = open_markets(world, Venue.SOL, 12 * HOUR)[0]
    order_on(world, market, Action.BUY, 10)
    spot = Spot(market.market_id, YES)
    set_monitor(
        world, world.agents["ada"], ThresholdRequest(spot, stop_and_target(HAIR, None)), world.at
    )
    sink(world, market.market_id)
    return world, market


def of_ada(market: Market) -> MonitoredSide:
    return MonitoredSide("ada", market.listing.home, market.market_id, YES)


def watched(
    world: World, side: Side = YES, *, stop: float | None = 0.05, take: float | None = None
) -> Market:
    """A market with a position of ada under one monitor, set by hand."""
    world.change(world.agents["ada"], OFF, world.at)
    market = open_markets(world, Venue.SIM, 7_200.0)[0]
    buy(world, "ada", market, 20, side)
    spot = Spot(market.market_id, side)
    set_monitor(
        world, world.agents["ada"], ThresholdRequest(spot, stop_and_target(stop, take)), world.at
    )
    return market


@pytest.mark.parametrize("side", [YES, NO])
def test_a_managed_wallet_is_sold_within_the_tick_and_says_why(side: Side) -> None:
    world = new_world(speed=0)
    market = watched(world, side)
    held = world.agents["ada"].positions[market.market_id].on(side)
    cost, shares, entry = held.cost, held.shares, held.average_entry() or 0.0
    cash = world.cash(world.agents["ada"])
    assert tick(world) == []
    push(world, market, side.other)
    price = market.price_of(side)
    breach, fill = tick(world)
    assert isinstance(breach, Breached)
    assert isinstance(fill, Fill)
    assert (breach.reason, breach.shares, breach.side) == (ExitReason.STOP_LOSS, shares, side)
    assert breach.level == entry * (1.0 - 0.05)
    assert breach.price == pytest.approx(price, abs=1e-12)
    assert breach.price <= breach.level
    assert (fill.shares, fill.action, fill.note.source) == (shares, Action.SELL, "risk:stop_loss")
    assert "stop-loss 5.0%" in fill.note.reasoning
    assert world.cash(world.agents["ada"]) == cash + fill.money
    assert fill.realized == fill.money - cost
    (alert,) = world.risk.history_of("ada")
    assert alert.status is AlertStatus.EXECUTED
    assert (alert.proceeds, alert.realized) == (fill.money, fill.realized)
    assert alert.trade_id == fill.trade_id
    assert world.risk.monitors_of("ada") == []
    assert tick(world) == []


def test_a_threshold_is_reached_when_the_price_touches_it() -> None:
    world = new_world(speed=0)
    market = watched(world, stop=None, take=0.02)
    (monitor,) = world.risk.monitors_of("ada")
    ladder = world.risk.monitors.ladder_of(monitor.watched)
    reach = monitor.reach or 0.0
    assert not ladder.is_reached(prices_at(reach * (1.0 - 1e-15)))
    assert ladder.is_reached(prices_at(reach))
    assert market.price() < reach


def test_what_holds_up_orders_does_not_hold_up_an_exit() -> None:
    world = new_world(speed=0)
    market = watched(world)
    world.change(world.agents["ada"], {"suspended": True, "trading_paused": True}, world.at)
    push(world, market, NO)
    assert [type(one) for one in tick(world)] == [Breached, Fill]


def test_an_external_wallet_waits_an_hour_and_no_longer() -> None:
    world, market = waiting()
    (breach,) = tick(world)
    assert tick(world, HOUR - 1.0) == []
    assert len(world.risk.alerts_of("ada")) == 1
    (ended,) = tick(world)
    assert isinstance(breach, Breached)
    assert ended == AlertEnded(
        breach.alert_id, "ada", Timestamp(breach.at + HOUR), market.market_id, AlertStatus.EXPIRED
    )
    assert world.risk.position_of(of_ada(market)).shares == breach.shares
    assert [one.status for one in world.risk.history_of("ada")] == [AlertStatus.EXPIRED]


def test_a_later_breach_of_the_same_side_is_another_alert() -> None:
    world, market = waiting()
    tick(world)
    order_on(world, market, Action.BUY, 5)
    set_monitor(
        world,
        world.agents["ada"],
        ThresholdRequest(Spot(market.market_id, YES), stop_and_target(HAIR, None)),
        world.at,
    )
    sink(world, market.market_id)
    tick(world)
    first, second = world.risk.alerts_of("ada")
    # The client sells for the first one, and says so; then for the other.
    order_on(world, market, Action.SELL, first.breach.shares / ONE)
    event, meant = acknowledge(world, world.agents["ada"], Spot(market.market_id, YES), world.at)
    assert (meant is first, event.status) == (True, AlertStatus.EXECUTED)
    assert world.risk.alerts_of("ada") == [second]
    left = world.risk.position_of(of_ada(market)).shares
    order_on(world, market, Action.SELL, left / ONE)
    assert world.risk.alerts_of("ada") == []
    assert second.status is AlertStatus.EXECUTED
    assert second.sold == left == second.breach.shares


def alert(number: int, shares: int) -> RiskAlert:
    at = Timestamp(0.0)
    return RiskAlert(
        Breached(
            f"a{number}", "ada", at, at, Venue.SIM, "m", YES, ExitReason.STOP_LOSS,
            10.0, 0.45, 0.5, 0.44, Micros(shares),
        )
    )  # fmt: skip


def test_an_alert_waits_until_its_last_share_is_sold() -> None:
    alerts, one = Alerts(), alert(1, 30)
    alerts.add(one)
    for shares, is_waiting in ((29, True), (1, False)):
        sale = Sale("t1", Timestamp(8.0), Micros(shares), Micros(shares), Micros(0))
        alerts.count_sale(one.watched, sale, is_last=False)
        assert (alerts.of("ada") == [one]) is is_waiting
    assert (one.sold, one.status, alerts.history("ada")) == (30, AlertStatus.EXECUTED, [one])


def test_a_sale_is_shared_out_among_the_alerts_of_its_side_the_oldest_first() -> None:
    alerts, three = Alerts(), [alert(1, 30), alert(2, 50), alert(3, 40)]
    for one in three:
        alerts.add(one)
    side = three[0].watched
    sale = Sale("t1", Timestamp(8.0), Micros(60), Micros(90), Micros(-12))
    alerts.count_sale(side, sale, is_last=False)
    assert [(one.sold, one.proceeds, one.realized) for one in three] == [
        (30, 45, -6), (30, 45, -6), (0, 0, 0)
    ]  # fmt: skip
    assert alerts.of("ada") == three[1:]
    # Nothing is held any more: one was sold for in part, the other has no exit left to make.
    sale = Sale("t2", Timestamp(9.0), Micros(5), Micros(10), Micros(1))
    alerts.count_sale(side, sale, is_last=True)
    assert [(one.sold, one.proceeds, one.realized, one.trade_id) for one in three] == [
        (30, 45, -6, "t1"), (35, 55, -5, "t2"), (0, 0, 0, "")
    ]  # fmt: skip
    executed, resolved = AlertStatus.EXECUTED, AlertStatus.RESOLVED
    assert [one.status for one in three] == [executed, executed, resolved]
    assert alerts.of("ada") == []


def test_alerts_are_remembered_by_the_time_of_their_end_and_then_by_number() -> None:
    alerts = Alerts()
    for number, at in ((4, 9.0), (10, 8.0), (2, 8.0), (3, 7.0)):
        alerts.add(one := alert(number, 1))
        alerts.end(one, AlertStatus.EXPIRED, Timestamp(at))
    assert [one.breach.alert_id for one in alerts.history("ada")] == ["a4", "a10", "a2", "a3"]


def test_alerts_that_ended_are_listed_newest_first() -> None:
    world, market = waiting()
    for _ in range(3):
        tick(world, HOUR)
        tick(world, HOUR)
        ask = ThresholdRequest(Spot(market.market_id, YES), stop_and_target(HAIR, None))
        set_monitor(world, world.agents["ada"], ask, world.at)
        sink(world, market.market_id)
    ended = [one.ended_at or 0.0 for one in world.risk.history_of("ada")]
    assert len(set(ended)) == len(ended) == 3
    assert ended == sorted(ended, reverse=True)


def test_a_wallet_that_becomes_managed_is_sold_at_the_next_tick() -> None:
    world, _ = waiting()
    assert [type(one) for one in tick(world)] == [Breached]
    world.change(world.agents["ada"], {"wallet": WalletKind.MANAGED}, world.at)
    assert [type(one) for one in tick(world)] == [OrderPlaced]


@pytest.mark.parametrize("wallet", list(WalletKind))
def test_on_sim_the_service_exits_whatever_wallet_is_linked(wallet: WalletKind) -> None:
    world = new_world(speed=0, wallet=wallet)
    market = watched(world)
    push(world, market, NO)
    assert [type(one) for one in tick(world)] == [Breached, Fill]
    assert world.risk.alerts_of("ada") == []


def test_the_outcome_ends_what_waits() -> None:
    world, market = waiting()
    tick(world)
    world.apply(resolution_of(market, world.venues, world.at))
    assert world.risk.alerts_of("ada") == []
    assert [one.status for one in world.risk.history_of("ada")] == [AlertStatus.RESOLVED]


def test_a_monitor_follows_the_average_cost_and_goes_with_the_last_share() -> None:
    world = new_world(speed=0)
    market = open_markets(world, Venue.SIM)[0]
    first = buy(world, "ada", market, 20)
    (monitor,) = world.risk.monitors_of("ada")
    assert monitor.entry == 20 * ONE / first.shares
    push(world, market, YES, 100)
    second = buy(world, "ada", market, 20)
    (again,) = world.risk.monitors_of("ada")
    assert again is monitor
    assert again.entry == 40 * ONE / (first.shares + second.shares)
    sell(world, "ada", market, first.shares)
    assert len(world.risk.monitors_of("ada")) == 1
    sell(world, "ada", market, second.shares)
    assert world.risk.monitors_of("ada") == []
    # Bought again: what was set by hand before is not set any more.
    buy(world, "ada", market, 20)
    set_monitor(
        world,
        world.agents["ada"],
        ThresholdRequest(Spot(market.market_id, YES), stop_and_target(0.5, None)),
        world.at,
    )
    sell(world, "ada", market, world.agents["ada"].positions[market.market_id].yes.shares)
    buy(world, "ada", market, 20)
    (fresh,) = world.risk.monitors_of("ada")
    assert (fresh.automatic, fresh.stop_loss_pct) == (True, 0.20)


def test_turning_the_automatic_off_keeps_what_was_set_by_hand() -> None:
    world = new_world(speed=0)
    first, second = open_markets(world, Venue.SIM)[:2]
    for market in (first, second):
        buy(world, "ada", market)
    agent = world.agents["ada"]
    set_monitor(
        world,
        agent,
        ThresholdRequest(Spot(first.market_id, YES), stop_and_target(0.3, 0.4)),
        world.at,
    )
    assert [one.watched.market_id for one in world.risk.automatic_of(agent)] == [second.market_id]
    world.change(agent, OFF, world.at)
    (kept,) = world.risk.monitors_of("ada")
    assert (kept.watched.market_id, kept.automatic) == (first.market_id, False)


def test_what_cannot_be_watched_is_refused_with_what_to_do() -> None:
    world = new_world(speed=0)
    agent, (market, other) = world.agents["ada"], open_markets(world, Venue.SIM)[:2]
    buy(world, "ada", market)
    for spot, kind in (
        (Spot("nowhere", YES), MarketNotFound),
        (Spot(market.market_id, NO), PositionNotFound),
        (Spot(other.market_id, YES), PositionNotFound),
        (Spot(market.market_id, YES, Venue.EVM), PositionNotFound),
    ):
        with pytest.raises(kind) as caught:
            set_monitor(world, agent, ThresholdRequest(spot, stop_and_target(0.5, None)), world.at)
        assert caught.value.fix
    world.apply(resolution_of(market, world.venues, world.at))
    with pytest.raises(MarketNotOpen):
        set_monitor(
            world,
            agent,
            ThresholdRequest(Spot(market.market_id, YES), stop_and_target(0.5, None)),
            world.at,
        )
    with pytest.raises(MonitorNotFound):
        delete_monitor(world, agent, Spot(market.market_id, YES), world.at)


# -- order books ---------------------------------------------------------------------------


@pytest.mark.parametrize("venue", [Venue.EVM, Venue.SOL])
def test_on_a_book_the_mid_decides_and_the_exit_takes_what_there_is(venue: Venue) -> None:
    world = new_world(**RICH)
    market = open_markets(world, venue, 12 * HOUR)[0]
    times = (world.at, world.world_at)
    (placed,) = order_on(world, market, Action.BUY, 40)
    assert isinstance(placed, OrderPlaced)
    (monitor,) = world.risk.monitors_of("ada")
    assert (monitor.watched.venue, monitor.automatic) == (venue, True)
    assert monitor.entry == (placed.money + placed.fee) / placed.shares
    # Half of the shares are promised to an order that rests: the exit takes them back.
    half = placed.shares // 2 // SHARE_QUANTUM * SHARE_QUANTUM / ONE
    order_on(world, market, Action.SELL, half, order_type=OrderType.GTC, price=Micros(990_000))
    mid = world.venues.book(market.market_id).mid(times)
    assert monitor.reference == pytest.approx(min(monitor.entry, mid), abs=1e-6)
    wanted = ThresholdRequest(Spot(market.market_id, YES), stop_and_target(HAIR, None))
    event, _ = set_monitor(world, world.agents["ada"], wanted, world.at)
    assert event.venue is venue
    assert not of(tick(world, 0.1), Breached)
    sink(world, market.market_id)
    events = tick(world, 0.1)
    (breach,) = of(events, Breached)
    assert breach.venue is venue
    assert len(of(events, OrderEnded)) == 1
    (sale,) = of(events, OrderPlaced)
    assert (sale.order_type, sale.action) == (OrderType.FAK, Action.SELL)
    assert sale.note.source == "risk:stop_loss"
    for _ in range(40):
        if not world.risk.alerts_of("ada"):
            break
        tick(world, 4.0)
    (alert,) = world.risk.history_of("ada")
    assert (alert.status, alert.sold) == (AlertStatus.EXECUTED, breach.shares)
    assert world.ledger.total() == 0


@pytest.mark.parametrize("wallet", list(WalletKind))
def test_an_alert_over_a_remainder_ends_and_says_so(wallet: WalletKind) -> None:
    world = new_world(speed=0, wallet=wallet, **RICH)
    market = open_markets(world, Venue.EVM, 12 * HOUR)[0]
    order_on(world, market, Action.BUY, 10)
    shares = world.risk.position_of(of_ada(market)).shares
    # A sale that a book cannot take whole leaves such a remainder; the tape shows the same.
    position = world.venues.account("ada", Venue.EVM).holdings[market.market_id].position
    position.sell(YES, Micros(shares - 1_420), Micros(0))
    set_monitor(
        world,
        world.agents["ada"],
        ThresholdRequest(Spot(market.market_id, YES), stop_and_target(HAIR, None)),
        world.at,
    )
    sink(world, market.market_id)
    breach, ended = tick(world)
    assert isinstance(breach, Breached)
    assert isinstance(ended, AlertEnded)
    assert ended.status is AlertStatus.REMAINDER
    assert world.risk.alerts_of("ada") == []
    (alert,) = world.risk.history_of("ada")
    assert "below the venue's least order of 5" in (
        alert_body(world, alert, (world.at, world.at)).error or ""
    )


def test_a_sale_takes_along_what_no_order_could_sell() -> None:
    for left in (10, 1_420, 4_999_990):
        world = new_world(speed=0, **RICH)
        market = open_markets(world, Venue.EVM, 12 * HOUR)[0]
        order_on(world, market, Action.BUY, 10)
        shares = world.risk.position_of(of_ada(market)).shares
        # ours: of a signed size only what a signature cannot name.
        own = VenueOrder(
            world.agents["ada"], market.market_id, YES, Action.SELL, Micros(shares - left),
            Venue.EVM, signed=True,
        )  # fmt: skip
        assert with_remainder(world.venues, own).size == shares - (0 if left < 10_000 else left)
        sold = order_on(world, market, Action.SELL, (shares - left) / ONE, order_type=OrderType.FOK)
        assert isinstance(sold[0], OrderPlaced)
        assert sold[0].shares == shares
        assert world.risk.position_of(of_ada(market)).shares == 0
        assert world.risk.monitors_of("ada") == []


@pytest.mark.parametrize("left", [10, 50, 1_420, 19_990])
def test_a_remainder_whose_fee_would_eat_it_is_sold_with_the_rest(left: int) -> None:
    world = new_world(speed=0, **RICH)
    market = open_markets(world, Venue.SOL, 12 * HOUR)[0]
    held = of_ada(market)._replace(venue=Venue.SOL)
    order_on(world, market, Action.BUY, 10)
    shares = world.risk.position_of(held).shares
    order_on(world, market, Action.SELL, (shares - left) / ONE, order_type=OrderType.FOK)
    assert world.risk.position_of(held).shares == 0
    # At any price there is, the least order brings more than its fee.
    least = ORDER_MIN[Venue.SOL]
    for price in (PRICE_LOW, 500_000, PRICE_HIGH):
        fee = 10 * math.ceil(least * 0.07 * price * (ONE - price) / ONE / ONE / 10)
        assert least * price // ONE > fee


@pytest.mark.parametrize("side", [YES, NO])
@pytest.mark.parametrize("dollars", [5, 20, 400])
def test_a_target_is_measured_by_what_selling_all_of_it_brings(dollars: int, side: Side) -> None:
    world = new_world(speed=0)
    market = open_markets(world, Venue.SIM, 7_200.0)[0]
    bought = buy(world, "ada", market, dollars, side)
    agent, spot = world.agents["ada"], Spot(market.market_id, side)
    set_monitor(world, agent, ThresholdRequest(spot, stop_and_target(None, 1e-6)), world.at)
    # Its own impact has lifted the price above what was paid.
    assert market.price_of(side) > bought.money / bought.shares
    assert tick(world) == []
    set_monitor(world, agent, ThresholdRequest(spot, stop_and_target(None, 0.03)), world.at)
    push(world, market, side, 1)
    while market.exit_value(side, bought.shares) < bought.money * 1.03:
        assert tick(world) == []
        buy(world, "mover", market, 20, side)
    breach, fill = tick(world)
    assert isinstance(breach, Breached)
    assert breach.reason is ExitReason.TAKE_PROFIT
    assert isinstance(fill, Fill)
    assert fill.money >= bought.money * 1.03 - 1
    assert breach.price == pytest.approx(fill.money / fill.shares, abs=1e-6)


# -- while nobody was there ----------------------------------------------------------------


def guarded(wallet: WalletKind) -> tuple[World, str, list[Event]]:
    """A world with twelve watched positions, as it was before a night."""
    world = new_world(wallet=wallet, stop_loss_pct=0.1, take_profit_pct=0.15)
    for market in open_markets(world, Venue.SIM, 4 * HOUR)[:12]:
        buy(world, "ada", market, 30)
    return world, text_of(world), []


@pytest.mark.slow
@pytest.mark.parametrize("wallet", list(WalletKind))
def test_a_night_is_walked_along_and_each_breach_has_its_own_time(wallet: WalletKind) -> None:
    world, before, _ = guarded(wallet)
    began, starts = world.at, world.world_at
    levels = {
        one.watched.market_id: (one.stop_price() or 0.0, one.reach or 0.0)
        for one in world.risk.monitors_of("ada")
    }
    end = Timestamp(began + 8 * HOUR)
    events = advance(world, end)
    breaches = {one.market_id: one for one in of(events, Breached)}
    expected: dict[str, float] = {}
    for market_id, (stop, target) in levels.items():
        listing = world.markets[market_id].listing
        step = 1
        while (then := Timestamp(starts + step * STEP_S)) <= min(
            world.world_at, listing.resolves_at - 1e-6
        ):
            if not stop < belief(listing, then) < target:
                expected[market_id] = then
                break
            step += 1
    assert len(expected) > 3
    assert {key: one.world_at for key, one in breaches.items()} == pytest.approx(expected)
    assert all(one.at - began == pytest.approx(one.world_at - starts) for one in breaches.values())
    ended = {one.breach.market_id: one.status for one in world.risk.history_of("ada")}
    # Sold there and then, as the service that never sleeps would have, whatever wallet is linked.
    sales = {one.market_id: one.at for one in of(events, Fill)}
    assert sales == {key: one.at for key, one in breaches.items()}
    assert set(ended.values()) == {AlertStatus.EXECUTED}
    assert world.meanwhile is not None
    assert text_of(replayed(before, events)) == text_of(world)


@pytest.mark.slow
@pytest.mark.parametrize(("minutes", "waits"), [(59, True), (61, False)])
def test_an_alert_of_a_closed_hour_has_what_is_left_of_it(minutes: int, waits: bool) -> None:  # noqa: FBT001
    world = new_world(wallet=WalletKind.EXTERNAL, stop_loss_pct=0.1, **RICH)
    for market in open_markets(world, Venue.SOL, 9 * HOUR)[:12]:
        order_on(world, market, Action.BUY, 10)
    before = text_of(world)
    breach = of(advance(world, Timestamp(world.at + 8 * HOUR)), Breached)[0]
    again = read_back(before)
    advance(again, Timestamp(breach.at + minutes * 60.0))
    alerts = {one.breach.market_id: one.breach.at for one in again.risk.alerts_of("ada")}
    assert (breach.market_id in alerts) is waits
    if waits:
        assert alerts[breach.market_id] == pytest.approx(breach.at)


def test_a_snapshot_from_before_there_were_monitors_has_none() -> None:
    world = new_world(speed=0)
    market = open_markets(world)[0]
    buy(world, "ada", market)
    fields = json.loads(text_of(world))
    del fields["risk"], fields["agents"][0]["settings"]["wallet"]
    read = snapshot.world_of(fields, TOPICS)
    assert read.risk.monitors_of("ada") == []
    assert read.agents["ada"].settings.wallet is WalletKind.MANAGED
    # What is bought from now on is watched.
    buy(read, "ada", read.markets[market.market_id])
    assert len(read.risk.monitors_of("ada")) == 1


# -- trailing stops and time stops -----------------------------------------------------------


def _trailing(world: World, market: Market, **terms: float) -> Event:
    """A position of ada with these thresholds alone."""
    buy(world, "ada", market)
    spot = Spot(market.market_id, YES)
    request = ThresholdRequest(spot, {"stop_loss_pct": None, **terms})
    return set_monitor(world, world.agents["ada"], request, world.at)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("terms", [{"trailing_stop_pct": 0.05}, {"trailing_stop_points": 0.03}])
def test_a_trailing_stop_never_moves_down_and_sells_at_the_first_mark_at_or_below_it(
    seed: int, terms: dict[str, float]
) -> None:
    rng, world = Random(seed), new_world("ada", speed=0, **OFF)
    market = open_markets(world)[0]
    _trailing(world, market, **terms)
    (monitor,) = world.risk.monitors_of("ada")
    peak = market.price()
    assert monitor.peak == peak
    for _ in range(60):
        push(world, market, rng.choice((YES, NO)), rng.uniform(20, 150))
        mark, before = market.price(), monitor.trail_price() or 0.0
        did = tick(world)
        peak = max(peak, mark)
        level = peak * 0.95 if "trailing_stop_pct" in terms else peak - 0.03
        if mark <= level:
            (breach,) = of(did, Breached)
            assert (breach.reason, breach.price) == (ExitReason.TRAILING_STOP, mark)
            assert math.isclose(breach.level, level)
            distance = "5.0%" if "trailing_stop_pct" in terms else "3 pt"
            assert reason_of(breach).startswith(f"trailing stop {distance}: YES fell to ")
            assert of(did, Fill)[0].note.source == "risk:trailing_stop"
            break
        assert not of(did, Breached)
        assert monitor.peak == peak
        after = monitor.trail_price()
        assert after is not None
        assert after >= before
        # What it has seen survives a restart.
        assert text_of(read_back(text_of(world))) == text_of(world)
    else:
        pytest.fail("the mark never fell far enough")


def test_the_higher_one_of_stop_and_trailing_stop_sells_and_is_named() -> None:
    world = new_world("ada", speed=0, **OFF)
    market = open_markets(world)[0]
    buy(world, "ada", market)
    request = ThresholdRequest(
        Spot(market.market_id, YES), stop_and_target(0.02, None) | {"trailing_stop_pct": 0.5}
    )
    set_monitor(world, world.agents["ada"], request, world.at)
    push(world, market, NO, 300)
    (breach,) = of(tick(world), Breached)
    assert (breach.reason, breach.threshold_pct) == (ExitReason.STOP_LOSS, 0.02)


def test_a_monitor_that_trails_already_keeps_its_peak_when_it_is_changed() -> None:
    world = new_world("ada", speed=0, **OFF)
    market = open_markets(world)[0]
    _trailing(world, market, trailing_stop_pct=0.5)
    push(world, market, YES, 300)
    high = market.price()
    assert [one.peak for one in of(tick(world), PeakRaised)] == [high]
    push(world, market, NO, 100)
    assert market.price() < high
    spot, agent = Spot(market.market_id, YES), world.agents["ada"]
    set_monitor(world, agent, ThresholdRequest(spot, {"trailing_stop_points": 0.4}), world.at)
    (monitor,) = world.risk.monitors_of("ada")
    assert (monitor.peak, monitor.trailing_stop_pct, monitor.trailing_stop_points) == (
        high,
        None,
        0.4,
    )
    assert monitor.stop_loss_pct is None


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0, 1])
def test_a_time_stop_sells_once_at_its_moment(speed: int) -> None:
    world = new_world("ada", speed=speed, **OFF)
    market = open_markets(world, life_s=HOUR)[0]
    at = Timestamp(world.at + 90)
    _trailing(world, market, exit_at=at)
    while world.at < at - 1:
        assert not of(tick(world), Breached)
    did = tick(world)
    (breach,) = of(did, Breached)
    assert (breach.reason, breach.at) == (ExitReason.TIME_STOP, at)
    (fill,) = [one for one in of(did, Fill) if one.agent_id == "ada"]
    assert (fill.shares, fill.note.source) == (breach.shares, "risk:time_stop")
    assert not world.risk.monitors_of("ada")
    assert not of(tick(world), Breached)


def test_a_time_stop_of_the_night_sells_at_its_moment_and_no_later() -> None:
    world = new_world("ada", **OFF)
    market = open_markets(world, life_s=3 * HOUR)[0]
    _trailing(world, market, exit_at=Timestamp(world.at + HOUR))
    due = world.at + HOUR
    (breach,) = of(tick(world, 2 * HOUR), Breached)
    assert due <= breach.at < due + 0.1
    assert breach.reason is ExitReason.TIME_STOP


def test_a_trailing_stop_below_zero_is_refused_and_changes_nothing() -> None:
    world = new_world("ada", speed=0, **OFF)
    market = open_markets(world)[0]
    buy(world, "ada", market)
    agent, spot, mark = world.agents["ada"], Spot(market.market_id, YES), market.price()
    for points in (mark, 0.99):
        request = ThresholdRequest(
            spot, stop_and_target(None, None) | {"trailing_stop_points": points}
        )
        with pytest.raises(TrailingStopTooWide, match="below 0"):
            set_monitor(world, agent, request, world.at)
    assert not world.risk.monitors_of("ada")
    _trailing(world, market, trailing_stop_points=mark / 2)
    # What the monitor has already is not judged again.
    set_monitor(world, agent, ThresholdRequest(spot, stop_and_target(0.5, None)), world.at)
    assert world.risk.monitors_of("ada")[0].trailing_stop_points == mark / 2


@pytest.mark.slow
def test_a_trailing_stop_follows_the_prices_of_a_night() -> None:
    """The mark rises and falls again while nobody is there: the peak of the night counts."""
    found = 0
    for number in range(12):
        world = new_world("ada", **OFF)
        market = open_markets(world, life_s=8 * HOUR)[number % 6]
        _trailing(world, market, trailing_stop_points=0.02)
        start, text = world.risk.monitors_of("ada")[0].peak, text_of(world)
        events = tick(world, 7 * HOUR)
        peaks = [one.peak for one in of(events, PeakRaised)]
        assert peaks == sorted(peaks)
        for breach in of(events, Breached):
            assert breach.price <= breach.level < max([start, *peaks])
            assert math.isclose(breach.level, max([start, *peaks]) - 0.02)
            found += bool(peaks)
        # The journal alone makes the same monitors and alerts again.
        again = replayed(text, events)
        assert snapshot.risk_fields(again.risk) == snapshot.risk_fields(world.risk)
    assert found


def test_a_time_stop_of_the_past_and_a_monitor_of_nothing_are_refused() -> None:
    world = new_world("ada", speed=0, **OFF)
    market = open_markets(world)[0]
    with pytest.raises(TimeStopPast):
        _trailing(world, market, exit_at=world.at)
    assert not world.risk.monitors_of("ada")


def test_monitors_of_an_earlier_version_open_without_a_trailing_stop() -> None:
    world = new_world("ada", speed=0)
    market = open_markets(world)[0]
    buy(world, "ada", market)
    fields = snapshot.fields_of(world)
    (row,) = fields["risk"]["monitors"]
    assert len(row) == 8, "a plain monitor is written as it always was"
    (monitor,) = read_back(text_of(world)).risk.monitors_of("ada")
    assert (monitor.trail_distance, monitor.exit_at, monitor.floor()) == (
        None, None, (monitor.stop_price(), ExitReason.STOP_LOSS),
    )  # fmt: skip


# -- a stop and a target that come with a buy ----------------------------------------------------


def test_a_buy_sets_the_monitor_that_it_names_and_keeps_a_trailing_stop() -> None:
    world = new_world("ada", speed=0)
    market = open_markets(world)[0]
    agent = world.agents["ada"]
    note = Note(stop_loss_pct=0.1, take_profit_pct=0.4)
    world.place(
        Order(agent, market.market_id, YES, Action.BUY, Micros(20 * ONE), note=note), world.at
    )
    (monitor,) = world.risk.monitors_of("ada")
    assert (monitor.stop_loss_pct, monitor.take_profit_pct) == (0.1, 0.4)
    assert not monitor.automatic
    spot = Spot(market.market_id, YES)
    set_monitor(world, agent, ThresholdRequest(spot, {"trailing_stop_pct": 0.3}), world.at)
    note = Note(stop_loss_pct=0.25)
    world.place(
        Order(agent, market.market_id, YES, Action.BUY, Micros(5 * ONE), note=note), world.at
    )
    (monitor,) = world.risk.monitors_of("ada")
    assert (monitor.stop_loss_pct, monitor.take_profit_pct, monitor.trailing_stop_pct) == (
        0.25,
        0.4,
        0.3,
    )
    # One without leaves it as it is.
    buy(world, "ada", market)
    assert world.risk.monitors_of("ada")[0].stop_loss_pct == 0.25
    assert text_of(read_back(text_of(world))) == text_of(world)


@pytest.mark.parametrize(
    ("settings", "note", "thresholds"),
    [
        ({}, Note(take_profit_pct=0.4), (0.2, 0.4)),
        ({"take_profit_pct": 0.9}, Note(stop_loss_pct=0.1), (0.1, 0.9)),
        ({"stop_loss_pct": None}, Note(take_profit_pct=0.4), (None, 0.4)),
        ({"auto_risk_monitor_enabled": False}, Note(take_profit_pct=0.4), (None, 0.4)),
    ],
)
def test_a_buy_takes_the_default_of_what_it_does_not_name(
    settings: dict[str, Any], note: Note, thresholds: tuple[float | None, float | None]
) -> None:
    world = new_world("ada", speed=0, **settings)
    market, agent = open_markets(world)[0], world.agents["ada"]
    world.place(
        Order(agent, market.market_id, YES, Action.BUY, Micros(20 * ONE), note=note), world.at
    )
    (monitor,) = world.risk.monitors_of("ada")
    assert (monitor.stop_loss_pct, monitor.take_profit_pct) == thresholds


def test_a_buy_with_a_stop_is_watched_where_the_automatic_is_off() -> None:
    world = new_world("ada", speed=0, **OFF)
    market = open_markets(world)[0]
    order = Order(world.agents["ada"], market.market_id, YES, Action.BUY, Micros(20 * ONE))
    world.place(order, world.at)
    assert not world.risk.monitors_of("ada")
    world.place(order._replace(note=Note(stop_loss_pct=0.05)), world.at)
    push(world, market, NO, 400)
    did = tick(world)
    assert [(one.reason, one.threshold_pct) for one in of(did, Breached)] == [
        (ExitReason.STOP_LOSS, 0.05)
    ]
    (fill,) = [one for one in of(did, Fill) if one.agent_id == "ada"]
    assert fill.action is Action.SELL


@pytest.mark.slow
def test_an_order_that_rests_sets_its_stop_with_its_first_fill_alone() -> None:
    world = new_world(**RICH)
    market = open_markets(world, Venue.EVM, 12 * HOUR)[0]
    times = (world.at, world.world_at)
    bid = world.venues.book(market.market_id).best(times, bids=True)
    assert bid is not None
    note = Note(stop_loss_pct=0.3, take_profit_pct=0.5)
    (placed,) = order_on(
        world, market, Action.BUY, 400, order_type=OrderType.GTC, price=bid.price, note=note
    )
    assert isinstance(placed, OrderPlaced)
    assert not placed.shares
    assert not world.risk.monitors_of("ada")
    fills = 0
    for _ in range(2_000):
        did = of(tick(world, REFRESH_S), OrderFilled)
        fills += len(did)
        if did and fills == len(did):
            (monitor,) = world.risk.monitors_of("ada")
            assert (monitor.stop_loss_pct, monitor.take_profit_pct) == (0.3, 0.5)
            spot = Spot(market.market_id, YES)
            set_monitor(
                world,
                world.agents["ada"],
                ThresholdRequest(spot, stop_and_target(0.9, None)),
                world.at,
            )
        if fills > 1:
            break
    assert fills > 1, "one fill proves nothing about the second"
    (monitor,) = world.risk.monitors_of("ada")
    assert (monitor.stop_loss_pct, monitor.take_profit_pct) == (0.9, None)


@pytest.mark.parametrize("size", [10, 100])
def test_a_default_stop_sells_no_fresh_buy_whose_price_did_not_fall(size: int) -> None:
    """Neither a wide spread nor what the buy took from the book counts as a fall."""
    world = new_world(
        *(f"a{number}" for number in range(40)),
        speed=1,
        **RICH | {"auto_risk_monitor_enabled": True},
    )
    found: dict[MonitoredSide, float] = {}
    books = [one for one in world.markets.values() if one.listing.home is not Venue.SIM]
    for number, market in enumerate(books):
        for side in Side:
            agent = world.agents[f"a{2 * number % 40 + (side is YES)}"]
            home = market.listing.home
            mid = world.venues.book(market.market_id).mid((world.at, world.world_at))
            order = VenueOrder(
                agent, market.market_id, side, Action.BUY, Micros(size * ONE), home
            )  # fmt: skip
            try:
                place(world.venues, order, (world.at, world.world_at))
            except Refusal:
                continue
            watched_side = MonitoredSide(agent.agent_id, home, market.market_id, side)
            found[watched_side] = mid if side is YES else 1.0 - mid
    assert len(found) > 80
    breaches = [one for _ in range(5) for one in of(tick(world), Breached)]
    for one in breaches:
        place_of = MonitoredSide(one.agent_id, one.venue, one.market_id, one.side)
        assert one.price <= 0.8 * found[place_of] + 1e-9
    assert len(breaches) < len(found) / 50

"""Trades that no monitor has seen yet come first, whatever else happens to monitors and alerts."""

import math
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.amm.exchange import Order
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.events import (
    AlertEnded,
    Breached,
    Fill,
    MarketResolved,
    MonitorDeleted,
    MonitorSet,
    Note,
    OrderPlaced,
    PeakRaised,
)
from service_tui.engine.exit_values import exit_value, met_at, prices_of
from service_tui.engine.exits import watch
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.risk.alerts import ENDED_KEPT
from service_tui.engine.risk.monitors import Monitor, MonitoredSide
from service_tui.engine.risk.risk import Risk
from service_tui.engine.world import World
from service_tui.outcome import YES as ENDED_YES
from service_tui.terms import Action, AlertStatus, ExitReason, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL
SIM, EVM = Venue.SIM, Venue.EVM
WATCHED = MonitoredSide("ada", SIM, "m1", YES)


def trading(**changes: object) -> World:
    world = bare_world("ada", "bea", **changes)
    listed(world)
    return world


def bought(world: World, **note: Any) -> Fill:
    order = Order(world.agents["ada"], "m1", YES, BUY, Micros(20 * ONE), note=Note(**note))
    return world.place(order, AT)


def sold(world: World, shares: int) -> Fill:
    order = Order(world.agents["ada"], "m1", YES, SELL, Micros(shares))
    return world.place(order, Timestamp(AT + 5))


def monitor_set(**terms: Any) -> MonitorSet:
    known: dict[str, Any] = {"stop_loss_pct": None, "take_profit_pct": None}
    return MonitorSet("ada", AT, SIM, "m1", YES, **(known | terms))


def breached(number: int = 1, shares: int = 10 * ONE, **fields: Any) -> Breached:
    known: dict[str, Any] = {
        "alert_id": f"a{number}", "agent_id": "ada", "at": AT, "world_at": AT, "venue": SIM,
        "market_id": "m1", "side": YES, "reason": ExitReason.STOP_LOSS, "threshold_pct": 0.2,
        "level": 0.3, "entry": 0.4, "price": 0.3, "shares": Micros(shares),
    }  # fmt: skip
    return Breached(**(known | fields))


def only(risk: Risk) -> Monitor:
    (found,) = risk.monitors_of("ada")
    return found


# -- what came first -----------------------------------------------------------------------


def test_a_monitor_that_is_set_after_a_buy_stands_against_what_the_buy_named() -> None:
    world = trading()
    bought(world, stop_loss_pct=0.1, take_profit_pct=0.9)
    world.apply(monitor_set(stop_loss_pct=0.3))
    found = only(world.risk)
    assert (found.stop_loss_pct, found.take_profit_pct, found.automatic) == (0.3, None, False)
    assert found.entry == world.agents["ada"].positions["m1"].yes.average_entry()


def test_a_monitor_that_is_deleted_after_a_buy_stays_away() -> None:
    world = trading()
    bought(world)
    world.apply(MonitorDeleted("ada", AT, SIM, "m1", YES))
    assert world.risk.monitors_of("ada") == []


def test_an_outcome_after_a_sale_does_not_make_it_undone() -> None:
    world = trading()
    shares = int(bought(world).shares)
    world.apply(breached(shares=shares))
    fill = sold(world, shares)
    world.apply(MarketResolved("m1", Timestamp(AT + 9), AT, ENDED_YES, (), Micros(0)))
    (alert,) = world.risk.history_of("ada")
    assert (alert.status, alert.ended_at) == (AlertStatus.EXECUTED, fill.at)
    assert (alert.sold, alert.proceeds, alert.trade_id) == (shares, fill.money, fill.trade_id)
    assert world.risk.alerts_of("ada") == []


def test_an_outcome_ends_what_is_watched_and_what_waits() -> None:
    world = trading()
    bought(world)
    world.apply(breached())
    world.apply(monitor_set(stop_loss_pct=0.5))
    world.apply(MarketResolved("m1", Timestamp(AT + 9), AT, ENDED_YES, (), Micros(0)))
    assert world.risk.monitors_of("ada") == []
    (alert,) = world.risk.history_of("ada")
    assert (alert.status, alert.ended_at) == (AlertStatus.RESOLVED, AT + 9)


def test_settings_bind_what_is_bought_after_them_alone() -> None:
    world = trading(stop_loss_pct=0.2)
    bought(world)
    world.change(world.agents["ada"], {"stop_loss_pct": 0.4}, AT)
    assert only(world.risk).stop_loss_pct == 0.2
    world.change(world.agents["ada"], {"auto_risk_monitor_enabled": False}, AT)
    bought(world)
    assert world.risk.monitors_of("ada") == []


# -- events --------------------------------------------------------------------------------


@pytest.mark.parametrize("terms", [{"stop_loss_pct": 0.2}, {"exit_at": Timestamp(AT + 9)}])
def test_what_is_not_held_is_not_watched_whatever_the_journal_says(terms: dict[str, Any]) -> None:
    world = trading()
    world.apply(monitor_set(**terms))
    assert world.risk.monitors_of("ada") == []
    assert (world.risk.monitors.ladders, world.risk.monitors.timed) == ({}, {})


def test_a_peak_moves_the_trailing_stop_that_it_is_of() -> None:
    world = trading(auto_risk_monitor_enabled=False)
    bought(world)
    world.apply(monitor_set(trailing_stop_points=0.1, peak=0.45))
    world.apply(PeakRaised("ada", AT, SIM, "m1", NO, 0.9))
    assert only(world.risk).trail_price() == pytest.approx(0.35)
    world.apply(PeakRaised("ada", AT, SIM, "m1", YES, 0.6))
    found = only(world.risk)
    assert (found.peak, found.trail_price()) == (0.6, pytest.approx(0.5))
    # It stands on its rung: the price of now is below it.
    (event, *_) = watch(world, (AT, AT))
    assert isinstance(event, Breached)
    assert event.reason is ExitReason.TRAILING_STOP


def test_alerts_are_numbered_each_by_one() -> None:
    world = trading()
    bought(world)
    world.apply(breached(1))
    assert (world.risk.alert_count, world.risk.monitors_of("ada")) == (1, [])
    world.apply(breached(2, side=NO))
    assert world.risk.alert_count == 2
    assert [one.breach.alert_id for one in world.risk.alerts_of("ada")] == ["a1", "a2"]
    world.apply(AlertEnded("a1", "ada", Timestamp(AT + 3), "m1", AlertStatus.DISMISSED))
    assert [one.breach.alert_id for one in world.risk.alerts_of("ada")] == ["a2"]
    (ended,) = world.risk.history_of("ada")
    assert (ended.status, ended.ended_at, ended.is_acknowledged) == (
        AlertStatus.DISMISSED,
        AT + 3,
        True,
    )


def test_of_two_buys_and_a_sale_of_all_only_what_came_after_it_is_watched() -> None:
    world = trading(auto_risk_monitor_enabled=False)
    first = bought(world, stop_loss_pct=0.1)
    sold(world, int(first.shares))
    bought(world, take_profit_pct=0.7)
    # A part that is sold since takes nothing off.
    sold(world, int(world.agents["ada"].positions["m1"].shares(YES)) // 20 * 10)
    found = only(world.risk)
    assert (found.stop_loss_pct, found.take_profit_pct) == (None, 0.7)


def test_a_sale_that_names_thresholds_sets_none() -> None:
    world = trading(auto_risk_monitor_enabled=False)
    fill = bought(world)
    order = Order(
        world.agents["ada"], "m1", YES, SELL, Micros(int(fill.shares) // 20 * 10),
        note=Note(stop_loss_pct=0.1),
    )  # fmt: skip
    world.place(order, AT)
    assert world.risk.monitors_of("ada") == []


@pytest.mark.parametrize(
    ("stop", "take", "watched"),
    [(0.2, None, True), (None, 0.7, True), (0.2, 0.7, True), (None, None, False)],
)
def test_a_buy_is_watched_by_the_defaults_of_its_agent(
    *, stop: float | None, take: float | None, watched: bool
) -> None:
    world = trading(stop_loss_pct=stop, take_profit_pct=take)
    order = Order(world.agents["ada"], "m1", YES, BUY, Micros(20 * ONE))
    world.place(order, Timestamp(AT + 4))
    found = [
        (one.stop_loss_pct, one.take_profit_pct, one.automatic, one.set_at)
        for one in world.risk.monitors_of("ada")
    ]
    assert found == ([(stop, take, True, AT + 4)] if watched else [])


def test_a_buy_that_names_a_threshold_changes_that_one_alone() -> None:
    world = trading(stop_loss_pct=0.2)
    bought(world)
    world.apply(monitor_set(stop_loss_pct=0.3, trailing_stop_points=0.1, peak=0.5))
    order = Order(world.agents["ada"], "m1", YES, BUY, Micros(ONE), note=Note(take_profit_pct=0.6))
    world.place(order, Timestamp(AT + 4))
    found = only(world.risk)
    assert (found.stop_loss_pct, found.take_profit_pct, found.trailing_stop_points) == (
        0.3,
        0.6,
        0.1,
    )
    assert (found.automatic, found.set_at, found.peak) == (False, AT + 4, 0.5)


def test_an_alert_counts_sales_until_it_is_done_or_nothing_is_left() -> None:
    world = trading()
    shares = int(bought(world).shares)
    bought(world)
    world.apply(breached(1, shares=3 * ONE))
    world.apply(breached(2, shares=shares * 9))
    sold(world, 2 * ONE)
    assert [one.sold for one in world.risk.alerts_of("ada")] == [2 * ONE, 0]
    sold(world, 2 * ONE)
    # One more share was left to sell for the first, and the other goes to the second.
    (second,) = world.risk.alerts_of("ada")
    assert (second.breach.alert_id, second.sold) == ("a2", ONE)
    left = world.agents["ada"].positions["m1"].shares(YES)
    last = sold(world, int(left))
    assert world.risk.alerts_of("ada") == []
    newest, first = world.risk.history_of("ada")
    assert (first.status, first.sold) == (AlertStatus.EXECUTED, 3 * ONE)
    assert (newest.status, newest.trade_id) == (AlertStatus.EXECUTED, last.trade_id)
    assert newest.sold == ONE + left


def test_ended_alerts_are_bounded_the_newest_stay() -> None:
    world = trading()
    for number in range(1, ENDED_KEPT + 3):
        world.apply(breached(number))
        ended_at = Timestamp(AT + number)
        world.apply(AlertEnded(f"a{number}", "ada", ended_at, "m1", AlertStatus.DISMISSED))
    found = [one.breach.alert_id for one in world.risk.history_of("ada")]
    assert len(found) == ENDED_KEPT
    assert (found[0], found[-1]) == (f"a{ENDED_KEPT + 2}", "a3")


# -- on a venue ----------------------------------------------------------------------------

EVM_MARKET = "10000000-0000-4000-8000-000000000001"


def placed(action: Action, shares: int, money: int, **fields: Any) -> OrderPlaced:
    known: dict[str, Any] = {
        "order_id": "o1", "agent_id": "ada", "venue": EVM, "market_id": EVM_MARKET, "side": YES,
        "action": action, "order_type": OrderType.FAK, "size": Micros(money * ONE),
        "price": Micros(500_000), "requested": Micros(shares * ONE),
        "shares": Micros(shares * ONE), "money": Micros(money * ONE), "fee": Micros(100_000),
        "rests": Micros(0), "reserved": Micros(0), "price_before": 0.4, "price_after": 0.5,
        "at": Timestamp(AT + 3), "world_at": AT, "realized": Micros(0),
        "expires_at": Timestamp(0.0), "number": 5, "taken": (), "note": Note(),
    }  # fmt: skip
    return OrderPlaced(**(known | fields))


def on_venue(**changes: object) -> World:
    world = bare_world("ada", claimed=True, **changes)
    listed(world, EVM_MARKET, home=EVM)
    return world


def test_a_buy_on_a_venue_is_watched_from_its_cost_with_the_fee() -> None:
    world = on_venue(stop_loss_pct=0.2, take_profit_pct=0.5)
    world.apply(placed(BUY, 40, 16))
    found = only(world.risk)
    assert found.watched == MonitoredSide("ada", EVM, EVM_MARKET, YES)
    assert (found.set_at, found.automatic) == (AT + 3, True)
    assert found.entry == pytest.approx(16.1 / 40)
    # On a book a target may be met at the target itself, a hair low.
    assert found.reach == pytest.approx(found.entry * 1.5)
    assert (found.reach or 1.0) < found.entry * 1.5
    world.apply(placed(BUY, 40, 24, order_id="o2", note=Note(stop_loss_pct=0.3)))
    changed = only(world.risk)
    assert (changed.stop_loss_pct, changed.take_profit_pct) == (0.3, 0.5)
    assert changed.entry == pytest.approx(40.2 / 80)


def test_a_sale_on_a_venue_counts_for_its_alert_and_the_last_share_ends_both() -> None:
    world = on_venue()
    world.apply(placed(BUY, 40, 16))
    world.apply(breached(1, 100 * ONE, venue=EVM, market_id=EVM_MARKET))
    world.apply(placed(BUY, 10, 4, order_id="o2"))
    world.apply(placed(SELL, 30, 9, order_id="o3", at=Timestamp(AT + 7), realized=Micros(-3 * ONE)))
    (alert,) = world.risk.alerts_of("ada")
    assert (alert.sold, alert.proceeds, alert.realized) == (30 * ONE, 8_900_000, -3 * ONE)
    assert alert.trade_id == "o3"
    assert only(world.risk).entry == pytest.approx(20.2 / 50)
    world.apply(placed(SELL, 20, 6, order_id="o4", at=Timestamp(AT + 9)))
    assert (world.risk.monitors_of("ada"), world.risk.alerts_of("ada")) == ([], [])
    (ended,) = world.risk.history_of("ada")
    assert (ended.status, ended.ended_at, ended.sold) == (
        AlertStatus.EXECUTED,
        AT + 9,
        50 * ONE,
    )
    assert (ended.proceeds, ended.trade_id) == (8_900_000 + 5_900_000, "o4")


def test_on_sim_a_target_is_looked_at_where_a_sale_of_all_brings_it() -> None:
    world = trading()
    bought(world, take_profit_pct=0.25)
    found = only(world.risk)
    position, market = world.agents["ada"].positions["m1"].yes, world.markets["m1"]
    assert found.reach is not None
    # To sell moves the price: the one from which it brings the target lies above that.
    assert found.reach > found.entry * 1.25
    for price, is_met in ((found.reach - 0.001, False), (found.reach + 0.001, True)):
        market.yes = Micros(market.no + round(market.b * math.log(price / (1 - price))))
        brought = market.exit_value(YES, position.shares)
        assert (int(brought) >= position.cost * 1.25) is is_met


# -- several markets -----------------------------------------------------------------------


def held(world: World, market_id: str, **fields: Any) -> Monitor:
    """10 shares of YES at 50 cents, where the price is 40."""
    listed(world, market_id)
    position = Position("ada", market_id)
    position.yes = SidePosition(Micros(10 * ONE), Micros(5 * ONE), opened_at=AT)
    world.agents["ada"].positions[market_id] = position
    market = world.markets[market_id]
    market.move(YES, Micros(10 * ONE))
    world.ledger.transfer("agent:ada", market.account, Micros(5 * ONE))
    known: dict[str, Any] = {"stop_loss_pct": None, "take_profit_pct": None}
    watched = MonitoredSide("ada", SIM, market_id, YES)
    one = Monitor(watched, **(known | fields), automatic=False, set_at=AT)
    world.risk.monitors.add(one)
    world.risk.put_back(one)
    return one


@pytest.mark.parametrize(
    ("quiet", "loud"),
    [
        ({"stop_loss_pct": 0.9}, {"stop_loss_pct": 0.1}),
        ({"take_profit_pct": 0.9}, {"stop_loss_pct": 0.1}),
        ({"exit_at": Timestamp(AT + 1)}, {"exit_at": AT}),
    ],
)
def test_a_quiet_monitor_does_not_hide_a_loud_one(
    quiet: dict[str, Any], loud: dict[str, Any]
) -> None:
    world = bare_world()
    for market_id, terms in (("m1", quiet), ("m2", loud), ("m3", quiet), ("m4", loud)):
        held(world, market_id, **terms)
    found = [one.market_id for one in watch(world, (AT, AT)) if isinstance(one, Breached)]
    assert found == ["m2", "m4"]
    assert {one.watched.market_id for one in world.risk.monitors_of("ada")} == {"m1", "m3"}


def test_breaches_of_one_look_are_numbered_by_whom_they_watch() -> None:
    world = bare_world("ada", "bea")
    for market_id in ("m3", "m1", "m2"):
        held(world, market_id, stop_loss_pct=0.1)
    found = [one for one in watch(world, (AT, AT)) if isinstance(one, Breached)]
    assert [(one.alert_id, one.market_id) for one in found] == [
        ("a1", "m1"), ("a2", "m2"), ("a3", "m3"),
    ]  # fmt: skip


def test_a_closed_market_does_not_hide_an_open_one() -> None:
    world = bare_world()
    held(world, "m1", stop_loss_pct=0.1)
    world.markets["m1"].resolved_at = AT
    held(world, "m2", stop_loss_pct=0.1)
    found = [one.market_id for one in watch(world, (AT, AT)) if isinstance(one, Breached)]
    assert found == ["m2"]


@pytest.mark.parametrize(
    "terms", [{"stop_loss_pct": 0.1}, {"trailing_stop_points": 0.05, "peak": 0.9}]
)
def test_all_monitors_of_a_market_that_are_reached_are_breached_in_one_look(
    terms: dict[str, Any],
) -> None:
    world = bare_world("ada", "bea", "cyd")
    one = held(world, "m1", take_profit_pct=0.1)
    # A target that no sale meets is asked for first, and is only put back.
    one.reach = 0.0
    for name in ("bea", "cyd"):
        watched = one.watched._replace(agent_id=name)
        position = Position(name, "m1")
        position.yes = SidePosition(Micros(10 * ONE), Micros(5 * ONE), opened_at=AT)
        world.agents[name].positions["m1"] = position
        known: dict[str, Any] = {"stop_loss_pct": None, "take_profit_pct": None}
        other = Monitor(watched, **(known | terms), automatic=False, set_at=AT)
        world.risk.monitors.add(other)
        world.risk.put_back(other)
    found = [one.agent_id for one in watch(world, (AT, AT)) if isinstance(one, Breached)]
    assert found == ["bea", "cyd"]
    assert world.risk.monitors_of("ada") == [one]


# -- what a sale brings --------------------------------------------------------------------


def test_what_is_closed_or_forgotten_on_a_venue_brings_nothing() -> None:
    world = bare_world("ada", claimed=True)
    listed(world, "10000000-0000-4000-8000-000000000001", home=EVM)
    market = next(iter(world.markets.values()))
    watched = MonitoredSide("ada", EVM, market.market_id, YES)
    position = Position("ada", market.market_id)
    position.yes = SidePosition(Micros(20 * ONE), Micros(4 * ONE), opened_at=AT)
    holding = VenuePosition(
        Position("ada", market.market_id), "Q?", "politics", market.listing.resolves_at
    )
    holdings = {market.market_id: holding}
    world.venues.accounts["ada", EVM] = VenueAccount("ada", EVM, holdings=holdings)
    holding.position = position
    one = Monitor(watched, None, 0.01, automatic=False, set_at=AT, entry=0.1)
    now, closed = (AT, AT), (AT, Timestamp(AT + HOUR))
    value = exit_value(world, watched, now)
    assert met_at(world, one, now) == value / (20 * ONE) > 0.101
    assert exit_value(world, watched, closed) == 0
    assert (met_at(world, one, closed), prices_of(world, EVM, market.market_id, closed)) == (
        None,
        None,
    )
    del world.markets[market.market_id]
    assert exit_value(world, watched, now) == 0

"""Monitors that are set, changed and deleted, and alerts that are acknowledged."""

from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.errors import (
    AlertNotFound,
    MarketNotFound,
    MarketNotOpen,
    MonitorNotFound,
    NothingWatched,
    PositionNotFound,
    TimeStopPast,
    TrailingStopTooWide,
)
from service_tui.engine.events import AlertEnded, Breached, MonitorDeleted, MonitorSet
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.risk.alerts import Sale
from service_tui.engine.risk.monitors import MonitoredSide
from service_tui.engine.thresholds import (
    Spot,
    ThresholdRequest,
    acknowledge,
    delete_monitor,
    set_monitor,
)
from service_tui.engine.world import World
from service_tui.terms import AlertStatus, ExitReason, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

MARKET = "10000000-0000-4000-8000-000000000001"
YES, NO, SIM, EVM = Side.YES, Side.NO, Venue.SIM, Venue.EVM


def holding(*venues: Venue, stop: float | None = 0.2) -> World:
    """Ada holds NO of one market on these venues."""
    world = bare_world("ada", "bea", stop_loss_pct=stop)
    listed(world, MARKET, home=EVM)
    for venue in venues:
        position = Position("ada", MARKET)
        position.no = SidePosition(Micros(10 * ONE), Micros(5 * ONE), opened_at=AT)
        if venue is SIM:
            world.agents["ada"].positions[MARKET] = position
        else:
            found = VenuePosition(position, "Q?", "c", Timestamp(AT + HOUR))
            account = VenueAccount("ada", venue, holdings={MARKET: found})
            world.venues.accounts["ada", venue] = account
    return world


def setting(world: World, spot: Spot | None = None, **terms: float | None) -> MonitorSet:
    request = ThresholdRequest(spot or Spot(MARKET, NO), terms)
    event, monitor = set_monitor(world, world.agents["ada"], request, AT)
    assert monitor.watched.venue is event.venue
    return event


def test_a_first_monitor_takes_the_agents_own_stop_beside_what_is_sent() -> None:
    assert setting(holding(SIM), take_profit_pct=0.5) == MonitorSet(
        "ada", AT, SIM, MARKET, NO, stop_loss_pct=0.2, take_profit_pct=0.5
    )


def test_a_later_monitor_keeps_what_is_not_sent() -> None:
    world = holding(SIM)
    setting(world, stop_loss_pct=0.1, take_profit_pct=0.5, exit_at=AT + 90)
    event = setting(world, take_profit_pct=None)
    assert (event.stop_loss_pct, event.take_profit_pct, event.exit_at) == (0.1, None, AT + 90)


def test_a_stop_may_be_removed_where_something_else_is_watched() -> None:
    event = setting(holding(SIM), stop_loss_pct=None, take_profit_pct=0.5)
    assert (event.stop_loss_pct, event.take_profit_pct) == (None, 0.5)


@pytest.mark.parametrize(
    "terms", [{"stop_loss_pct": None}, {"stop_loss_pct": None, "exit_at": None}]
)
def test_a_monitor_without_a_threshold_is_none(terms: dict[str, Any]) -> None:
    with pytest.raises(NothingWatched) as refused:
        setting(holding(SIM), **terms)
    assert f"DELETE /api/sdk/positions/{MARKET}/monitor?side=no" in str(refused.value.fix)
    with pytest.raises(NothingWatched):
        setting(holding(SIM, stop=None))


def test_there_is_one_trailing_stop_of_either_kind() -> None:
    world = holding(SIM)
    first = setting(world, trailing_stop_pct=0.1)
    assert (first.trailing_stop_pct, first.trailing_stop_points) == (0.1, None)
    second = setting(world, trailing_stop_points=0.05)
    assert (second.trailing_stop_pct, second.trailing_stop_points) == (None, 0.05)
    third = setting(world, trailing_stop_pct=0.2, trailing_stop_points=0.3)
    assert (third.trailing_stop_pct, third.trailing_stop_points) == (0.2, None)
    # To remove the one that is not there changes nothing.
    kept = setting(world, trailing_stop_points=None)
    assert (kept.trailing_stop_pct, kept.trailing_stop_points) == (0.2, None)


def test_a_trailing_stop_starts_from_the_highest_mark_of_its_side() -> None:
    world = holding(SIM)
    mark = 1.0 - world.markets[MARKET].price()
    assert setting(world, trailing_stop_pct=0.1).peak == mark
    monitor = world.risk.monitors.get(MonitoredSide("ada", SIM, MARKET, NO))
    assert monitor is not None
    monitor.peak = 0.9
    assert setting(world, trailing_stop_pct=0.2).peak == 0.9
    monitor = world.risk.monitors.get(MonitoredSide("ada", SIM, MARKET, NO))
    assert monitor is not None
    monitor.peak = 0.1
    assert setting(world, trailing_stop_pct=0.3).peak == mark
    assert setting(world, trailing_stop_pct=None).peak == 0.0


def test_points_reach_from_the_peak_to_above_nothing() -> None:
    world = holding(SIM)
    mark = 1.0 - world.markets[MARKET].price()
    with pytest.raises(TrailingStopTooWide, match="reaches below 0"):
        setting(world, trailing_stop_points=mark)
    assert world.risk.monitors_of("ada") == []
    assert setting(world, trailing_stop_points=mark - 1e-6).trailing_stop_points == mark - 1e-6


@pytest.mark.parametrize("after_s", [-1.0, 0.0])
def test_a_time_stop_lies_in_the_future(after_s: float) -> None:
    with pytest.raises(TimeStopPast):
        setting(holding(SIM), exit_at=AT + after_s)
    assert setting(holding(SIM), exit_at=AT + 0.5).exit_at == AT + 0.5


@pytest.mark.parametrize(
    ("held", "asked", "found"),
    [
        ((SIM,), None, SIM),
        ((EVM,), None, EVM),
        ((SIM, EVM), None, EVM),
        ((SIM, EVM), SIM, SIM),
        ((SIM, EVM), EVM, EVM),
    ],
)
def test_a_side_is_watched_where_it_is_held_the_real_venue_first(
    held: tuple[Venue, ...], asked: Venue | None, found: Venue
) -> None:
    world = holding(*held)
    assert setting(world, Spot(MARKET, NO, asked), stop_loss_pct=0.3).venue is found
    assert [one.watched.venue for one in world.risk.monitors_of("ada")] == [found]


@pytest.mark.parametrize(
    ("spot", "where"), [(Spot(MARKET, YES), MARKET), (Spot(MARKET, NO, EVM), "on evm_venue")]
)
def test_what_is_not_held_is_not_watched(spot: Spot, where: str) -> None:
    with pytest.raises(PositionNotFound) as refused:
        setting(holding(SIM), spot, stop_loss_pct=0.3)
    assert refused.value.error.endswith(where)


def test_a_market_that_is_over_or_not_there_is_not_watched() -> None:
    world = holding(SIM)
    with pytest.raises(MarketNotFound):
        setting(world, Spot("m9", NO), stop_loss_pct=0.3)
    world.world_at = Timestamp(AT + HOUR)
    with pytest.raises(MarketNotOpen):
        setting(world, stop_loss_pct=0.3)


def test_a_monitor_is_deleted_where_it_is_the_real_venue_first() -> None:
    world = holding(SIM, EVM)
    for venue in (SIM, EVM):
        setting(world, Spot(MARKET, NO, venue), stop_loss_pct=0.3)
    agent = world.agents["ada"]
    for spot in (Spot(MARKET, YES), Spot("m9", NO), Spot(MARKET, NO, Venue.SOL)):
        with pytest.raises(MonitorNotFound):
            delete_monitor(world, agent, spot, AT)
    first = delete_monitor(world, agent, Spot(MARKET, NO), AT)
    assert first == MonitorDeleted("ada", AT, EVM, MARKET, NO)
    second = delete_monitor(world, agent, Spot(MARKET, NO), AT)
    assert second.venue is SIM
    assert world.risk.monitors_of("ada") == []


def test_of_two_monitors_the_one_of_the_named_venue_is_deleted() -> None:
    world = holding(SIM, EVM)
    for venue in (SIM, EVM):
        setting(world, Spot(MARKET, NO, venue), stop_loss_pct=0.3)
    delete_monitor(world, world.agents["ada"], Spot(MARKET, NO, SIM), AT)
    assert [one.watched.venue for one in world.risk.monitors_of("ada")] == [EVM]


# -- alerts --------------------------------------------------------------------------------


def breached(world: World, alert_id: str, at_s: float = -10, **fields: Any) -> MonitoredSide:
    known: dict[str, Any] = {
        "agent_id": "ada", "venue": SIM, "market_id": MARKET, "side": NO,
        "reason": ExitReason.STOP_LOSS, "threshold_pct": 0.2, "level": 0.4, "entry": 0.5,
        "price": 0.39, "shares": Micros(10 * ONE),
    }  # fmt: skip
    event = Breached(alert_id=alert_id, at=Timestamp(AT + at_s), world_at=AT, **(known | fields))
    world.risk.apply(event)
    return MonitoredSide(event.agent_id, event.venue, event.market_id, event.side)


def sold(world: World, watched: MonitoredSide, shares: int, *, is_last: bool = False) -> None:
    sale = Sale("t1", Timestamp(AT - 5), Micros(shares * ONE), Micros(ONE), Micros(0))
    world.risk.alerts.count_sale(watched, sale, is_last=is_last)


def dealt_with(
    world: World, spot: Spot | None = None, alert_id: str | None = None, at_s: float = 0
) -> tuple[str, AlertStatus]:
    event, alert = acknowledge(
        world,
        world.agents["ada"],
        spot or Spot(MARKET, NO),
        Timestamp(AT + at_s),
        alert_id=alert_id,
    )
    assert event == AlertEnded(
        alert.breach.alert_id, "ada", Timestamp(AT + at_s), MARKET, event.status
    )
    return event.alert_id, event.status


def test_an_alert_of_which_nothing_was_sold_is_dismissed_and_the_oldest_first() -> None:
    world = holding(SIM)
    breached(world, "a2", -10)
    breached(world, "a3", -9)
    assert dealt_with(world) == ("a2", AlertStatus.DISMISSED)
    assert dealt_with(world) == ("a3", AlertStatus.DISMISSED)
    with pytest.raises(AlertNotFound):
        dealt_with(world)


def test_an_alert_of_which_a_part_was_sold_is_executed() -> None:
    world = holding(SIM)
    sold(world, breached(world, "a2"), 4)
    assert dealt_with(world) == ("a2", AlertStatus.EXECUTED)


def test_an_exit_that_was_seen_already_comes_before_what_waits_and_once() -> None:
    world = holding(SIM)
    sold(world, breached(world, "a1", -20), 10)
    breached(world, "a2")
    assert dealt_with(world) == ("a1", AlertStatus.EXECUTED)
    assert dealt_with(world) == ("a2", AlertStatus.DISMISSED)


@pytest.mark.parametrize(("at_s", "meant"), [(3_579.9, "a1"), (3_580.0, "a2")])
def test_an_exit_is_acknowledged_within_the_hour_of_its_breach(*, at_s: float, meant: str) -> None:
    world = holding(SIM)
    sold(world, breached(world, "a1", -20), 10)
    breached(world, "a2", -10)
    assert dealt_with(world, at_s=at_s)[0] == meant


@pytest.mark.parametrize(
    ("fields", "spot", "alert_id"),
    [
        ({"side": YES}, None, None),
        ({"market_id": "m2"}, None, None),
        ({"agent_id": "bea"}, None, None),
        ({"venue": EVM}, Spot(MARKET, NO, SIM), None),
        ({}, None, "a2"),
    ],
)
def test_only_the_alert_that_is_meant_is_dealt_with(
    fields: dict[str, Any], spot: Spot | None, alert_id: str | None
) -> None:
    world = holding(SIM)
    breached(world, "a1", -20, **fields)
    breached(world, "a2", -10)
    assert dealt_with(world, spot, alert_id)[0] == "a2"
    assert "a1" in world.risk.alerts.pending


def test_what_was_resolved_or_expired_is_not_dealt_with() -> None:
    world = holding(SIM)
    breached(world, "a1")
    alert = world.risk.alerts.pending["a1"]
    world.risk.alerts.end(alert, AlertStatus.EXPIRED, AT)
    with pytest.raises(AlertNotFound, match="nothing waits for NO"):
        dealt_with(world)


def test_the_hour_0_is_one_of_the_past() -> None:
    with pytest.raises(TimeStopPast):
        setting(holding(SIM), exit_at=0.0)

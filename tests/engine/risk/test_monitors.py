"""The ladder of a market: which monitors prices reach, and what is left of one that goes."""

from collections.abc import Iterable
from typing import Any, Final

import pytest

from kit.engine.bare import AT
from service_tui.engine.risk.monitors import (
    SWEEP_MIN,
    Crossed,
    Ladder,
    Monitor,
    MonitoredSide,
    Monitors,
    Prices,
    prices_at,
)
from service_tui.terms import ExitReason, Side, Venue
from service_tui.units import Timestamp

YES, NO = Side.YES, Side.NO
SIM, EVM, SOL = Venue.SIM, Venue.EVM, Venue.SOL
STOP, TAKE, TRAIL = ExitReason.STOP_LOSS, ExitReason.TAKE_PROFIT, ExitReason.TRAILING_STOP

# All levels are sums of halves, so that a double holds them exactly.
ENTRY: Final = 0.5


def monitor(name: str = "ada", side: Side = YES, **fields: Any) -> Monitor:
    known: dict[str, Any] = {
        "stop_loss_pct": None, "take_profit_pct": None, "automatic": False, "set_at": AT,
    }  # fmt: skip
    watched = MonitoredSide(name, fields.pop("venue", SIM), fields.pop("market_id", "m1"), side)
    return Monitor(watched, **(known | fields))


def ladder_of(*monitors: Monitor) -> Ladder:
    ladder = Ladder()
    for one in monitors:
        ladder.monitors[one.watched] = one
        put(ladder, one)
    return ladder


def put(ladder: Ladder, one: Monitor, entry: float = ENTRY) -> None:
    take = one.take_profit_pct
    ladder.put(one, entry, None if take is None else entry * (1.0 + take))


def names(found: Iterable[Crossed]) -> list[str]:
    return [one.monitor.watched.agent_id for one in found]


# -- prices --------------------------------------------------------------------------------


def test_on_sim_each_side_is_sold_at_its_mark() -> None:
    prices = prices_at(0.25)
    assert prices == Prices(0.25, 0.25, 0.75)
    assert (prices.mark_of(YES), prices.mark_of(NO)) == (0.25, 0.75)


def test_a_mark_is_that_of_the_book_and_not_the_best_price() -> None:
    prices = Prices(0.25, 0.125, 0.5)
    assert (prices.mark_of(YES), prices.mark_of(NO)) == (0.25, 0.75)


# -- what prices reach ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "fields", "mark", "crossed"),
    [
        # At 25 % of 0.5 a stop is at 0.375, and a target at 0.625, of its own side.
        (YES, {"stop_loss_pct": 0.25}, 0.375, (STOP, 0.375, 0.375)),
        (YES, {"stop_loss_pct": 0.25}, 0.376, None),
        (YES, {"stop_loss_pct": 0.25}, 0.25, (STOP, 0.375, 0.25)),
        (NO, {"stop_loss_pct": 0.25}, 0.625, (STOP, 0.375, 0.375)),
        (NO, {"stop_loss_pct": 0.25}, 0.624, None),
        (NO, {"stop_loss_pct": 0.25}, 0.75, (STOP, 0.375, 0.25)),
        (YES, {"take_profit_pct": 0.25}, 0.625, (TAKE, 0.625, 0.625)),
        (YES, {"take_profit_pct": 0.25}, 0.624, None),
        (YES, {"take_profit_pct": 0.25}, 0.75, (TAKE, 0.625, 0.75)),
        (NO, {"take_profit_pct": 0.25}, 0.375, (TAKE, 0.625, 0.625)),
        (NO, {"take_profit_pct": 0.25}, 0.376, None),
        (NO, {"take_profit_pct": 0.25}, 0.25, (TAKE, 0.625, 0.75)),
        (YES, {"trailing_stop_points": 0.25, "peak": 0.75}, 0.5, (TRAIL, 0.5, 0.5)),
        (YES, {"trailing_stop_points": 0.25, "peak": 0.75}, 0.501, None),
        (NO, {"trailing_stop_pct": 0.5, "peak": 0.75}, 0.625, (TRAIL, 0.375, 0.375)),
        (NO, {"trailing_stop_pct": 0.5, "peak": 0.75}, 0.624, None),
        # The higher one of both is reached first, and named.
        (
            YES,
            {"stop_loss_pct": 0.5, "trailing_stop_points": 0.25, "peak": 0.75},
            0.5,
            (TRAIL, 0.5, 0.5),
        ),
        (
            YES,
            {"stop_loss_pct": 0.25, "trailing_stop_points": 0.25, "peak": 0.5},
            0.375,
            (STOP, 0.375, 0.375),
        ),
    ],
)
def test_a_level_is_reached_when_a_price_touches_it(
    side: Side, fields: dict[str, Any], mark: float, crossed: tuple[object, ...] | None
) -> None:
    one = monitor(side=side, **fields)
    ladder = ladder_of(one)
    assert ladder.is_reached(prices_at(mark)) is (crossed is not None)
    found = [(it.reason, it.level, it.price) for it in ladder.reached(prices_at(mark))]
    assert found == ([] if crossed is None else [crossed])


@pytest.mark.parametrize(
    ("prices", "reached"),
    [
        (Prices(0.5, 0.624, 0.624), []),
        (Prices(0.5, 0.625, 0.0), ["yes"]),
        (Prices(0.5, 0.0, 0.625), ["no"]),
        # Nobody buys at the mark: a mark beyond a target meets none.
        (Prices(0.75, 0.5, 0.25), []),
    ],
)
def test_a_target_is_met_by_the_best_price_of_its_side(prices: Prices, reached: list[str]) -> None:
    ladder = ladder_of(
        monitor("yes", YES, take_profit_pct=0.25), monitor("no", NO, take_profit_pct=0.25)
    )
    assert ladder.is_reached(prices) is bool(reached)
    assert names(ladder.reached(prices)) == reached


@pytest.mark.parametrize(
    ("prices", "reached"),
    [
        # Somebody buys at the level, or below it, and the mark is above: no stop is reached.
        (Prices(0.5, 0.375, 0.375), []),
        (Prices(0.376, 0.2, 0.2), []),
        (Prices(0.375, 0.2, 0.2), [("yes", 0.375)]),
        (Prices(0.375, 0.6, 0.6), [("yes", 0.375)]),
        (Prices(0.25, 0.375, 0.6), [("yes", 0.25)]),
        (Prices(0.624, 0.2, 0.2), []),
        (Prices(0.625, 0.6, 0.6), [("no", 0.375)]),
        (Prices(0.75, 0.6, 0.375), [("no", 0.25)]),
    ],
)
def test_a_stop_is_reached_by_the_mark_of_its_side(
    prices: Prices, reached: list[tuple[str, float]]
) -> None:
    ladder = ladder_of(
        monitor("yes", YES, stop_loss_pct=0.25), monitor("no", NO, stop_loss_pct=0.25)
    )
    assert ladder.is_reached(prices) is bool(reached)
    found = [(one.monitor.watched.agent_id, one.price) for one in ladder.reached(prices)]
    assert found == reached


@pytest.mark.parametrize(("name", "mark"), [("stop_loss_pct", 0.25), ("take_profit_pct", 0.75)])
def test_a_void_rung_between_others_is_passed_over(name: str, mark: float) -> None:
    near, moved, far = (
        monitor(who, YES, **{name: much}) for who, much in (("a", 0.125), ("b", 0.25), ("c", 0.375))
    )
    ladder = ladder_of(near, moved, far)
    put(ladder, moved, 0.03125 if name == "stop_loss_pct" else 0.9375)
    assert names(ladder.reached(prices_at(mark))) == ["a", "c"]


def test_all_that_is_reached_is_found_once_and_the_rest_stays() -> None:
    stops = {"near": 0.125, "far": 0.5, "same": 0.125, "mid": 0.25}
    ladder = ladder_of(
        *(monitor(name, stop_loss_pct=stop) for name, stop in stops.items()),
        monitor("both", stop_loss_pct=0.25, take_profit_pct=-0.5),
        monitor("other", NO, stop_loss_pct=0.125),
    )
    found = ladder.reached(prices_at(0.375))
    assert sorted(names(found)) == ["both", "mid", "near", "same"]
    assert {one.reason for one in found} == {STOP}
    # Those are off their rungs, and the next level is that of who is left.
    assert ladder.reached(prices_at(0.375)) == []
    assert not ladder.is_reached(prices_at(0.251))
    assert names(ladder.reached(prices_at(0.25))) == ["far"]
    assert names(ladder.reached(prices_at(0.5625))) == ["other"]


def test_of_several_targets_the_lowest_is_reached_first() -> None:
    takes = {"far": 0.5, "near": 0.125, "mid": 0.25}
    ladder = ladder_of(*(monitor(name, take_profit_pct=take) for name, take in takes.items()))
    assert names(ladder.reached(prices_at(0.625))) == ["near", "mid"]
    assert names(ladder.reached(prices_at(0.75))) == ["far"]


# -- rungs of before -----------------------------------------------------------------------


def test_a_monitor_that_is_put_anew_stands_on_its_new_rungs_alone() -> None:
    one = monitor(stop_loss_pct=0.5, take_profit_pct=0.25)
    ladder = ladder_of(one)
    assert ladder.is_reached(prices_at(0.625))
    put(ladder, one, 0.75)
    assert (one.entry, one.reach) == (0.75, 0.9375)
    # The old target is void; the new stop is higher than the old one.
    assert not ladder.is_reached(prices_at(0.625))
    assert ladder.reached(prices_at(0.625)) == []
    (crossed,) = ladder.reached(prices_at(0.375))
    assert (crossed.reason, crossed.level) == (STOP, 0.375)
    put(ladder, one, ENTRY)
    assert ladder.reached(prices_at(0.3)) == []
    assert names(ladder.reached(prices_at(0.25))) == ["ada"]


def test_a_monitor_that_is_dropped_is_reached_no_more() -> None:
    one, other = monitor(stop_loss_pct=0.25), monitor("bea", stop_loss_pct=0.5)
    ladder = ladder_of(one, other)
    assert ladder.is_reached(prices_at(0.375))
    ladder.drop(one)
    assert not ladder.is_reached(prices_at(0.375))
    assert names(ladder.reached(prices_at(0.25))) == ["bea"]
    assert list(ladder.monitors) == [other.watched]


@pytest.mark.parametrize("others", [0, SWEEP_MIN + 6])
def test_a_monitor_that_changes_often_is_still_reached_and_so_is_its_neighbour(
    others: int,
) -> None:
    still = [monitor(f"still{number}", stop_loss_pct=0.75) for number in range(others)]
    one, quiet = monitor(stop_loss_pct=0.25), monitor("bea", stop_loss_pct=0.5)
    ladder = ladder_of(*still, one, quiet)
    for step in range(3 * SWEEP_MIN):
        put(ladder, one, ENTRY - step / 2_048)
        # Of what is void no more is kept than of what stands, once there is more than a little.
        rungs = len(ladder._stops[YES])
        assert rungs <= max(SWEEP_MIN, 2 * len(ladder.monitors)) + 1
    moved = one.entry * 0.75
    assert not ladder.is_reached(prices_at(moved + 0.001))
    assert names(ladder.reached(prices_at(moved))) == ["ada"]
    assert names(ladder.reached(prices_at(0.25))) == ["bea"]
    assert len(ladder.reached(prices_at(0.125))) == others


# -- who is watched where ------------------------------------------------------------------


def all_ids(monitors: Monitors) -> list[str]:
    return [one.watched.market_id for one in monitors]


def test_a_monitor_is_found_by_its_side_its_owner_and_its_market() -> None:
    monitors = Monitors()
    late = monitor(set_at=Timestamp(AT + 9), exit_at=AT)
    early = monitor(market_id="m2", trailing_stop_pct=0.5)
    other = monitor("bea", venue=EVM, trailing_stop_points=0.25)
    for one in (late, early, other):
        monitors.add(one)
    assert monitors.get(late.watched) is late
    assert monitors.get(late.watched._replace(side=NO)) is None
    assert monitors.of("ada") == [early, late]
    assert monitors.of("cyd") == []
    # Those of one moment stand by what they watch.
    twins = [monitor("dan", NO, set_at=AT), monitor("dan", market_id="m0", set_at=AT)]
    for one in twins:
        monitors.add(one)
    assert monitors.of("dan") == twins[::-1]
    for one in twins:
        monitors.drop(one.watched)
    assert set(monitors.ladders) == {(SIM, "m1"), (SIM, "m2"), (EVM, "m1")}
    assert monitors.ladder_of(other.watched) is monitors.ladders[EVM, "m1"]
    assert monitors.timed == {late.watched: late}
    followers = {where: list(one.followers) for where, one in monitors.ladders.items()}
    assert followers == {
        (SIM, "m1"): [], (SIM, "m2"): [early.watched], (EVM, "m1"): [other.watched]
    }  # fmt: skip


def test_one_that_replaces_another_leaves_nothing_of_it() -> None:
    monitors = Monitors()
    first = monitor(trailing_stop_pct=0.5, exit_at=AT)
    monitors.add(first)
    put(monitors.ladder_of(first.watched), first)
    second = monitor(stop_loss_pct=0.25)
    neighbour = monitor(side=NO, exit_at=AT)
    monitors.add(neighbour)
    monitors.add(second)
    ladder = monitors.ladder_of(second.watched)
    assert list(ladder.monitors.values()) == [neighbour, second]
    assert (ladder.followers, monitors.timed) == ({}, {neighbour.watched: neighbour})
    assert list(monitors) == [neighbour, second]


def test_a_market_whose_last_monitor_goes_has_no_ladder() -> None:
    monitors = Monitors()
    both = [monitor(stop_loss_pct=0.25, trailing_stop_pct=0.5), monitor("bea", exit_at=AT)]
    for one in both:
        monitors.add(one)
    assert monitors.drop(both[0].watched) is both[0]
    assert monitors.drop(both[0].watched) is None
    assert monitors.drop(monitor("cyd").watched) is None
    ladder = monitors.ladder_of(both[1].watched)
    assert (list(ladder.monitors), ladder.followers) == ([both[1].watched], {})
    assert monitors.drop(both[1].watched) is both[1]
    assert (monitors.ladders, monitors.timed, list(monitors)) == ({}, {}, [])


def test_the_end_of_a_market_ends_its_monitors_on_every_venue() -> None:
    monitors = Monitors()
    for venue in Venue:
        for name, side in (("ada", YES), ("ada", NO), ("bea", YES)):
            monitors.add(monitor(name, side, venue=venue, exit_at=AT))
    kept = monitor(market_id="m2", exit_at=AT)
    monitors.add(kept)
    monitors.drop_market("m1")
    assert list(monitors) == [kept]
    assert (list(monitors.ladders), list(monitors.timed)) == ([(SIM, "m2")], [kept.watched])
    monitors.drop_market("m9")
    assert list(monitors) == [kept]


# -- levels --------------------------------------------------------------------------------


def test_levels_are_measured_from_the_average_cost_and_the_peak() -> None:
    one = monitor(stop_loss_pct=0.25, take_profit_pct=0.5, entry=0.5, reference=0.5, peak=0.75)
    assert (one.stop_price(), one.target_price(), one.trail_price()) == (0.375, 0.75, None)
    assert one.floor() == (0.375, STOP)
    assert [one.distance(reason) for reason in (STOP, TAKE, TRAIL)] == [0.25, 0.5, 0.0]
    points = monitor(trailing_stop_points=0.25, peak=0.75)
    assert (points.trail_price(), points.trail_price(0.5)) == (0.5, 0.25)
    assert (points.floor(), points.floor(0.5)) == ((0.5, TRAIL), (0.25, TRAIL))
    assert (points.stop_price(), points.target_price()) == (None, None)
    share = monitor(trailing_stop_pct=0.25, peak=0.5)
    assert (share.trail_price(), share.trail_distance) == (0.375, 0.25)
    assert [points.distance(reason) for reason in ExitReason] == [
        0.25 if reason is TRAIL else 0.0 for reason in ExitReason
    ]
    assert monitor().floor() is None
    # A target is measured from what was paid, a stop from the lower mark after the buy.
    wide = monitor(stop_loss_pct=0.25, take_profit_pct=0.5, entry=0.5, reference=0.4)
    assert (wide.stop_price(), wide.target_price()) == (pytest.approx(0.3), 0.75)


def test_a_target_of_no_is_met_by_its_own_best_price_alone() -> None:
    target = monitor("ada", NO, take_profit_pct=0.25)
    # The mark is beyond it, and what is bid for YES says nothing of it.
    assert ladder_of(target).reached(Prices(0.25, 0.125, 0.5)) == []
    (crossed,) = ladder_of(target).reached(Prices(0.25, 0.125, 0.625))
    assert (crossed.reason, crossed.price) == (TAKE, 0.625)

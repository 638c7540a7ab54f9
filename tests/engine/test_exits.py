"""What an exit clears away, what is too little to sell, and what an alert sells."""

from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine import exits
from service_tui.engine.amm.exchange import Order
from service_tui.engine.books.book import Resting
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.events import AlertEnded, Breached, OrderEnded, OrderPlaced, PeakRaised
from service_tui.engine.exits import (
    exit_order,
    is_remainder,
    on_venue,
    raised,
    reason_of,
    watch,
)
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.risk.monitors import Ladder, Monitor, MonitoredSide
from service_tui.engine.world import World
from service_tui.terms import Action, AlertStatus, ExitReason, OrderType, Side, Venue, WalletKind
from service_tui.units import ONE, Micros, Timestamp

MARKET = "10000000-0000-4000-8000-000000000001"
YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL
SIM, EVM, SOL = Venue.SIM, Venue.EVM, Venue.SOL
WORLD_AT = Timestamp(AT + 6)
TIMES = (AT, WORLD_AT)
"""Wall time, and the tape's, which is another one."""


def holding(venue: Venue, shares: int = 10 * ONE, side: Side = YES) -> World:
    world = bare_world("ada", "bea", claimed=True, real_trading_enabled=True)
    world.world_at = WORLD_AT
    listed(world, MARKET, home=venue)
    position = Position("ada", MARKET)
    held = SidePosition(Micros(shares), Micros(shares // 2), opened_at=AT)
    if side is YES:
        position.yes = held
    else:
        position.no = held
    if venue is SIM:
        world.agents["ada"].positions[MARKET] = position
        world.markets[MARKET].move(side, Micros(shares))
        if shares:
            world.ledger.transfer("agent:ada", world.markets[MARKET].account, Micros(shares))
    else:
        found = VenuePosition(position, "Held?", "politics", Timestamp(AT + HOUR))
        account = VenueAccount("ada", venue, holdings={MARKET: found})
        world.venues.accounts["ada", venue] = account
    return world


def breach(venue: Venue, **fields: Any) -> Breached:
    known: dict[str, Any] = {
        "alert_id": "a5", "agent_id": "ada", "at": Timestamp(AT - 9), "world_at": AT,
        "venue": venue, "market_id": MARKET, "side": YES, "reason": ExitReason.STOP_LOSS,
        "threshold_pct": 0.2, "level": 0.24, "entry": 0.3, "price": 0.23,
        "shares": Micros(10 * ONE),
    }  # fmt: skip
    return Breached(**(known | fields))


# -- what is too little --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("venue", "shares", "too_little"),
    [
        (EVM, 0, False),
        (EVM, 1, True),
        (EVM, 5 * ONE - 1, True),
        (EVM, 5 * ONE, False),
        (SOL, 19_999, True),
        (SOL, 20_000, False),
        (SIM, 0, False),
        (SIM, 1, True),
        (SIM, ONE, False),
    ],
)
def test_what_no_order_sells_is_a_remainder(*, venue: Venue, shares: int, too_little: bool) -> None:
    world = holding(venue, shares)
    watched = MonitoredSide("ada", venue, MARKET, YES)
    assert is_remainder(world, watched) is too_little


def test_a_market_that_is_forgotten_leaves_no_remainder() -> None:
    world = holding(SIM, 1)
    del world.markets[MARKET]
    assert not is_remainder(world, MonitoredSide("ada", SIM, MARKET, YES))


@pytest.mark.parametrize(
    ("sold", "status"), [(0, AlertStatus.REMAINDER), (1, AlertStatus.EXECUTED)]
)
def test_an_alert_over_a_remainder_ends_without_an_order(sold: int, status: AlertStatus) -> None:
    world = holding(EVM, ONE)
    world.risk.apply(breach(EVM))
    world.risk.alerts.pending["a5"].sold = Micros(sold)
    assert watch(world, TIMES) == [AlertEnded("a5", "ada", AT, MARKET, status)]


# -- the order -----------------------------------------------------------------------------


@pytest.mark.parametrize(("held", "sold", "size"), [(10, 3, 7), (4, 3, 4), (10, 0, 10)])
def test_an_exit_sells_what_is_left_of_it_and_no_more_than_is_held(
    held: int, sold: int, size: int
) -> None:
    world = holding(SIM, held * ONE)
    alert = RiskAlert(breach(SIM), sold=Micros(sold * ONE))
    agent = world.agents["ada"]
    agent.change({"suspended": True, "claimed": False, "real_trading_enabled": False})
    order = exit_order(world, alert)
    assert (order.market_id, order.side, order.action) == (MARKET, YES, SELL)
    assert order.size == size * ONE
    assert (order.note.source, order.note.reasoning) == (
        "risk:stop_loss",
        reason_of(alert.breach),
    )
    # A guard works for an agent that is held up; its settings themselves stay.
    told = order.agent.settings
    assert (told.suspended, told.claimed, told.real_trading_enabled) == (False, True, True)
    assert agent.settings.suspended


def test_an_exit_on_a_venue_takes_what_there_is_at_whatever_price() -> None:
    world = holding(EVM)
    order = Order(world.agents["ada"], MARKET, NO, SELL, Micros(7), unlimited=True)
    found = on_venue(EVM, order)
    assert (found.agent, found.market_id, found.side) == (order.agent, MARKET, NO)
    assert (found.action, found.size, found.venue) == (SELL, 7, EVM)
    assert (found.order_type, found.price, found.unlimited) == (OrderType.FAK, None, True)
    assert found.note == order.note


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {},
            "stop-loss 20.0%: YES fell to 0.2300, at or below 0.2400 (entry 0.3000)",
        ),
        (
            {"reason": ExitReason.TAKE_PROFIT, "side": NO, "price": 0.61, "level": 0.6},
            "take-profit 20.0%: NO sells for 0.6100 a share, at or above 0.6000 (entry 0.3000)",
        ),
        (
            {"reason": ExitReason.TRAILING_STOP, "in_points": True, "threshold_pct": 0.055},
            "trailing stop 5.5 pt: YES fell to 0.2300, at or below 0.2400 (entry 0.3000)",
        ),
        ({"reason": ExitReason.TIME_STOP}, "time stop: YES at 0.2300 (entry 0.3000)"),
    ],
)
def test_an_exit_says_why_in_plain_english(fields: dict[str, Any], text: str) -> None:
    assert reason_of(breach(SIM, **fields)) == text


# -- what is in the way --------------------------------------------------------------------


def resting(world: World, order_id: str, agent_id: str, kind: tuple[Side, Action]) -> None:
    """An order far from the market, so that nobody meets it."""
    side, action = kind
    price = Micros(10_000 if action is BUY else 990_000)
    # What a buy keeps was taken from its owner's money.
    reserved = Micros(50_000 if action is BUY else 0)
    if reserved:
        world.ledger.transfer(f"agent:{agent_id}:evm_venue", "orders:evm_venue", reserved)
    world.venues.book(MARKET).orders[order_id] = Resting(
        order_id, agent_id, EVM, MARKET, side, action, OrderType.GTC, price,
        Micros(5 * ONE), Micros(5 * ONE), reserved, AT, AT,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("side", "left"),
    [
        # A sale of YES meets bids for YES, among which offers of NO stand.
        (YES, {"ada buys NO", "bea sells YES", "bea buys YES"}),
        (NO, {"ada buys YES", "bea sells YES", "bea buys YES"}),
    ],
)
def test_an_exit_cancels_the_agents_own_orders_of_the_side_and_in_its_way(
    side: Side, left: set[str]
) -> None:
    world = holding(EVM, side=side)
    for agent_id, one, action in (
        ("ada", YES, BUY),
        ("ada", NO, BUY),
        ("ada", side, SELL),
        ("bea", YES, SELL),
        ("bea", YES, BUY),
    ):
        name = f"{agent_id} {action.value}s {one.value.upper()}"
        resting(world, name, agent_id, (one, action))
    world.risk.apply(breach(EVM, side=side))
    events = watch(world, TIMES)
    assert set(world.venues.book(MARKET).orders) == left
    ended = {one.order_id for one in events if isinstance(one, OrderEnded)}
    assert ended == {"ada buys YES", "ada buys NO", f"ada sells {side.value.upper()}"} - left
    (sale,) = (one for one in events if isinstance(one, OrderPlaced))
    assert (sale.agent_id, sale.side, sale.action, sale.shares) == ("ada", side, SELL, 10 * ONE)


def test_a_sale_of_the_other_side_that_stands_among_the_bids_is_in_the_way() -> None:
    world = holding(EVM)
    resting(world, "o1", "ada", (NO, SELL))
    world.risk.apply(breach(EVM))
    ended = [one.order_id for one in watch(world, TIMES) if isinstance(one, OrderEnded)]
    assert ended == ["o1"]


def test_a_wallet_of_its_own_is_not_sold_for() -> None:
    world = holding(EVM)
    world.agents["ada"].change({"wallet": WalletKind.EXTERNAL})
    resting(world, "o1", "ada", (YES, SELL))
    world.risk.apply(breach(EVM))
    assert watch(world, TIMES) == []
    assert set(world.venues.book(MARKET).orders) == {"o1"}


# -- time ----------------------------------------------------------------------------------


def monitor(**fields: Any) -> Monitor:
    known: dict[str, Any] = {
        "stop_loss_pct": None, "take_profit_pct": None, "automatic": False, "set_at": AT,
        "entry": 0.5,
    }  # fmt: skip
    return Monitor(MonitoredSide("ada", SIM, MARKET, YES), **(known | fields))


@pytest.mark.parametrize(("exit_s", "sells"), [(1, False), (0, True), (-1, True)])
def test_a_time_stop_sells_at_its_hour_of_the_wall_clock(*, exit_s: float, sells: bool) -> None:
    world = holding(SIM)
    world.risk.monitors.add(monitor(exit_at=Timestamp(AT + exit_s)))
    price = world.markets[MARKET].price()
    events = watch(world, TIMES)
    assert bool(events) is sells
    if sells:
        breached, fill = events
        assert breached == breach(
            SIM,
            alert_id="a1",
            at=AT,
            world_at=WORLD_AT,
            reason=ExitReason.TIME_STOP,
            threshold_pct=0.0,
            level=price,
            entry=0.5,
            price=price,
        )
        assert (fill.at, world.agents["ada"].open_positions()) == (AT, [])


def test_a_monitor_whose_stop_and_hour_come_together_is_breached_once() -> None:
    world = holding(SIM)
    one = monitor(stop_loss_pct=0.01, exit_at=AT, entry=0.9)
    world.risk.monitors.add(one)
    world.risk.put_back(one)
    reasons = [event.reason for event in watch(world, TIMES) if isinstance(event, Breached)]
    assert reasons == [ExitReason.STOP_LOSS]


def test_an_alert_dies_an_hour_after_its_breach_and_sells_nothing_then() -> None:
    world = holding(SIM)
    world.risk.apply(breach(SIM, at=Timestamp(AT - 3_600)))
    assert watch(world, TIMES) == [AlertEnded("a5", "ada", AT, MARKET, AlertStatus.EXPIRED)]
    assert world.agents["ada"].open_positions()


def test_an_alert_ends_with_its_market() -> None:
    world = holding(SIM)
    closed = Timestamp(AT + HOUR)
    world.world_at = closed
    world.risk.apply(breach(SIM))
    ended = AlertEnded("a5", "ada", AT, MARKET, AlertStatus.RESOLVED)
    assert watch(world, (AT, closed)) == [ended]


@pytest.mark.parametrize(("mark", "rises"), [(0.4, False), (0.41, True), (0.39, False)])
def test_a_peak_rises_with_a_higher_mark_only(*, mark: float, rises: bool) -> None:
    ladder = Ladder()
    one = monitor(trailing_stop_pct=0.1, peak=0.4)
    ladder.followers[one.watched] = one
    found = list(raised(ladder, {YES: mark, NO: 0.99}, AT))
    expected = [PeakRaised("ada", AT, SIM, MARKET, YES, mark)]
    assert found == (expected if rises else [])


def armed(world: World, **fields: Any) -> Monitor:
    """A monitor that stands on its ladder, as one that a person has set."""
    one = monitor(**fields)
    world.risk.monitors.add(one)
    world.risk.put_back(one)
    return one


def test_a_tick_raises_the_peak_first_and_measures_the_trailing_stop_by_it() -> None:
    world = holding(SIM)
    price = world.markets[MARKET].price()
    one = armed(world, trailing_stop_points=0.05, peak=price - 0.01)
    assert watch(world, TIMES) == [PeakRaised("ada", AT, SIM, MARKET, YES, price)]
    assert one.peak == price
    assert watch(world, TIMES) == []


@pytest.mark.parametrize(
    ("fields", "in_points", "threshold"),
    [({"trailing_stop_points": 0.05}, True, 0.05), ({"trailing_stop_pct": 0.06}, False, 0.06)],
)
def test_a_trailing_stop_is_breached_as_it_was_set(
    *, fields: dict[str, float], in_points: bool, threshold: float
) -> None:
    world = holding(SIM)
    armed(world, peak=0.9, **fields)
    breached, _ = watch(world, TIMES)
    assert isinstance(breached, Breached)
    assert (breached.reason, breached.in_points) == (ExitReason.TRAILING_STOP, in_points)
    assert breached.threshold_pct == threshold
    assert breached.level == pytest.approx(0.9 - 0.05 if in_points else 0.9 * 0.94)


def test_a_target_is_met_by_what_a_sale_brings_and_not_by_the_price() -> None:
    world = holding(SIM, 1_000 * ONE)
    market = world.markets[MARKET]
    price, value = market.price(), market.exit_value(YES, Micros(1_000 * ONE)) / (1_000 * ONE)
    assert value < price
    between = (price + value) / 2
    world.agents["ada"].positions[MARKET].yes.cost = Micros(250 * ONE)
    one = armed(world, take_profit_pct=between / 0.25 - 1)
    assert watch(world, TIMES) == []
    # It stands on its ladder as before, and is met once a sale brings as much.
    one.take_profit_pct = value / 0.25 - 1 - 1e-9
    world.risk.put_back(one)
    breached, fill = watch(world, TIMES)
    assert isinstance(breached, Breached)
    assert (breached.reason, breached.price) == (ExitReason.TAKE_PROFIT, value)
    assert fill.money == market_money(value)


def test_a_target_that_a_sale_does_not_meet_yet_is_asked_again_at_each_tick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = holding(SIM, 1_000 * ONE)
    value = world.markets[MARKET].exit_value(YES, Micros(1_000 * ONE)) / (1_000 * ONE)
    world.agents["ada"].positions[MARKET].yes.cost = Micros(250 * ONE)
    one = armed(world, take_profit_pct=value / 0.25 - 1 - 1e-9)
    answers: list[float | None] = [None, None, value]
    monkeypatch.setattr(exits, "met_at", lambda *_: answers.pop(0))
    assert [watch(world, TIMES) for _ in range(2)] == [[], []]
    breached, _ = watch(world, TIMES)
    assert isinstance(breached, Breached)
    assert (breached.reason, breached.entry, answers) == (ExitReason.TAKE_PROFIT, one.entry, [])


def market_money(value: float) -> int:
    return round(value * 1_000 * ONE)


def test_the_service_sells_on_sim_for_any_wallet() -> None:
    world = holding(SIM)
    world.agents["ada"].change({"wallet": WalletKind.EXTERNAL})
    world.risk.apply(breach(SIM))
    assert len(watch(world, TIMES)) == 1
    assert world.agents["ada"].open_positions() == []


def test_nothing_is_watched_in_a_market_that_is_closed() -> None:
    world = holding(SIM)
    closed = Timestamp(AT + HOUR)
    armed(world, stop_loss_pct=0.01, entry=0.9, exit_at=AT, trailing_stop_pct=0.1)
    assert watch(world, (AT, closed)) == []

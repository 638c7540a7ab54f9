"""What one move of the tape brings, and where a gap halts on the way."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.amm.market import Market
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.events import (
    Breached,
    CrowdTrade,
    Event,
    MarketListed,
    MarketResolved,
    Payout,
    PeakRaised,
    Settlement,
    SpeedSet,
    Ticked,
)
from service_tui.engine.exit_values import book_prices
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.risk.monitors import Monitor, MonitoredSide
from service_tui.engine.tape.feed import Resolution, Tape
from service_tui.engine.tape.topics import Topics
from service_tui.engine.tick import (
    AWAY_MIN_S,
    CROWD_NAME,
    STEP_MAX_S,
    STEP_S,
    Author,
    advance,
    change_speed,
    next_stop,
    play,
    resolution_of,
)
from service_tui.engine.world import World
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import VOID, Outcome
from service_tui.outcome import YES as ENDED_YES
from service_tui.terms import Action, ExitReason, Side, Venue, WalletKind
from service_tui.units import ONE, Micros, Timestamp

MARKET: Final = f"{0xA:032x}"
OTHER: Final = f"{0xB:032x}"
YES, NO, SIM, EVM = Side.YES, Side.NO, Venue.SIM, Venue.EVM
NEW: Final = [f"{0xF0 + number:032x}" for number in range(8)]
GAP_S: Final = 1_200.0


def later(by_s: float) -> Timestamp:
    return Timestamp(AT + by_s)


def end(gap_s: float = GAP_S, pace: float = 1.0) -> tuple[Timestamp, Timestamp]:
    return later(gap_s), later(gap_s * pace)


def monitored(world: World, market_id: str = MARKET, side: Side = YES, **fields: Any) -> Monitor:
    known: dict[str, Any] = {"stop_loss_pct": None, "take_profit_pct": None}
    watched = MonitoredSide("ada", SIM, market_id, side)
    one = Monitor(watched, automatic=False, set_at=AT, **(known | fields))
    position = world.agents["ada"].positions.setdefault(market_id, Position("ada", market_id))
    held = position.on(side)
    held.shares, held.cost, held.opened_at = Micros(10 * ONE), Micros(4 * ONE), AT
    world.risk.monitors.add(one)
    world.risk.put_back(one)
    return one


@pytest.fixture
def world() -> World:
    world = bare_world(auto_risk_monitor_enabled=False)
    listed(world, MARKET)
    return world


def no_wallets(*_: object) -> tuple[Settlement, ...]:
    return ()


def no_crowd(*_: object) -> tuple[CrowdTrade, ...]:
    return ()


QUIET: Final = Author(crowd=no_crowd, wallets=no_wallets)


def falling(by_s: float = 0.0001) -> Author:
    """The crowd believes of each question less from second to second."""
    return QUIET._replace(belief=lambda _, at: 0.4 - (at - AT) * by_s)


# Up to 0.46 at 600 seconds, then down.
RISING: Final = QUIET._replace(belief=lambda _, at: 0.46 - 0.0001 * abs(at - AT - 600))


# -- where a gap halts ---------------------------------------------------------------------


def test_a_gap_halts_at_the_first_step_that_reaches_a_stop(world: World) -> None:
    author = falling()
    listed(world, OTHER)
    # At 0.4 on average: a tenth below that is reached after 400 seconds, a fifth after 800.
    monitored(world, MARKET, stop_loss_pct=0.2)
    assert next_stop(world, end(), author) == (later(840), later(840))
    monitored(world, OTHER, stop_loss_pct=0.1)
    assert next_stop(world, end(), author) == (later(420), later(420))
    # Of the wall clock's time as much has passed as of the tape's.
    assert next_stop(world, end(pace=0.5), author) == (later(840), later(420))


@pytest.mark.parametrize("state", ["decided", "closed"])
def test_a_market_that_is_not_open_halts_no_gap(world: World, state: str) -> None:
    author = falling()
    ends = later(-1) if state == "closed" else later(HOUR)
    market = listed(world, MARKET, resolves_at=ends)
    market.resolved_at = AT if state == "decided" else None
    monitored(world, stop_loss_pct=0.1)
    assert next_stop(world, end(), author) == end()


def test_no_price_is_looked_at_after_the_end_of_a_market(world: World) -> None:
    author = falling()
    listed(world, MARKET, resolves_at=later(420))
    monitored(world, stop_loss_pct=0.1)
    assert next_stop(world, end(), author) == end()
    listed(world, MARKET, resolves_at=later(421))
    assert next_stop(world, end(), author) == (later(420), later(420))


def test_a_short_gap_and_one_without_a_breach_are_crossed_at_once(world: World) -> None:
    author = falling(by_s=0.01)
    monitored(world, stop_loss_pct=0.5)
    assert next_stop(world, end(STEP_S), author) == end(STEP_S)
    assert next_stop(world, end(STEP_S + 1), author) == end(STEP_S)
    author = falling(by_s=0)
    assert next_stop(world, end(), author) == end()


@pytest.mark.parametrize(
    ("side", "by_s", "fields", "halt_s"),
    [
        (YES, 0.0001, {"trailing_stop_points": 0.05, "peak": 0.4}, 540),
        (YES, -0.0001, {"trailing_stop_points": 0.05}, None),
        (NO, -0.0001, {"trailing_stop_points": 0.05, "peak": 0.6}, 540),
        (YES, -0.0001, {"take_profit_pct": 0.1}, 420),
        (NO, -0.0001, {"stop_loss_pct": 0.1}, None),
    ],
)
def test_each_kind_of_level_halts_a_gap(
    world: World, *, side: Side, by_s: float,
    fields: dict[str, Any], halt_s: float | None,
) -> None:  # fmt: skip
    author = falling(by_s=by_s)
    monitored(world, side=side, **fields)
    found = next_stop(world, end(), author)
    assert found == (end() if halt_s is None else (later(halt_s), later(halt_s)))


def test_a_trailing_stop_is_measured_from_the_peak_on_the_way(world: World) -> None:
    one = monitored(world, trailing_stop_points=0.05, peak=0.35)
    # 0.05 below the peak after 1 100 seconds.
    assert next_stop(world, end(), RISING) == (later(1_140), later(1_140))
    assert one.peak == 0.35


@pytest.mark.parametrize(
    ("exit_s", "pace", "halt_s"),
    [(600, 1.0, 600.001), (600, 0.5, 300.001), (1_200, 1.0, None), (0, 1.0, None)],
)
def test_a_gap_halts_a_hair_after_a_time_stop(
    world: World, exit_s: float, pace: float, halt_s: float | None
) -> None:
    monitored(world, exit_at=later(exit_s))
    at, world_at = next_stop(world, end(pace=pace))
    if halt_s is None:
        assert (at, world_at) == end(pace=pace)
        return
    assert world_at == pytest.approx(later(halt_s), abs=1e-5)
    assert later(exit_s) < at < later(exit_s + 0.01)


@pytest.mark.parametrize("wallet_sells", [True, False])
def test_a_pending_exit_of_the_service_is_tried_again_a_step_later(
    world: World, *, wallet_sells: bool
) -> None:
    venue = SIM if wallet_sells else EVM
    if not wallet_sells:
        world.agents["ada"].change({"wallet": WalletKind.EXTERNAL})
    world.risk.apply(
        Breached(
            "a5", "ada", AT, AT, venue, MARKET, YES, ExitReason.STOP_LOSS, 0.2, 0.24, 0.3, 0.23,
            Micros(ONE),
        )
    )  # fmt: skip
    expected = (later(STEP_S), later(STEP_S)) if wallet_sells else end()
    assert next_stop(world, end()) == expected


# -- resolutions ---------------------------------------------------------------------------


def side_of(shares: int, cost: int, realized: int, opened_s: float) -> SidePosition:
    opened = later(opened_s) if opened_s else Timestamp(0.0)
    amounts = (Micros(count * ONE) for count in (shares, cost, realized))
    return SidePosition(*amounts, opened_at=opened)


@pytest.mark.parametrize(
    ("outcome", "crowd"),
    # At a part of 1 of all that was sold: 20 and 24, less the 4 and 4.2 of ada.
    [(ENDED_YES, 40), (ENDED_NO, 33), (Outcome.at(0.4), 35.8), (VOID, 0)],
)
def test_a_resolution_names_every_side_that_was_ever_bought(outcome: Outcome, crowd: float) -> None:
    world = bare_world("ada", "bea", "cyd")
    market = listed(world, MARKET)
    market.move(YES, Micros(50 * ONE))
    market.move(NO, Micros(40 * ONE))
    ada, bea = world.agents["ada"], world.agents["bea"]
    ada.positions[MARKET] = Position("ada", MARKET, side_of(10, 4, 1, -60), side_of(7, 3, 2, -50))
    ada.sources[MARKET] = ("sdk:x", "sdk:y")
    # Sold again: it is in the resolution with nothing. The other side was never bought.
    bea.positions[MARKET] = Position("bea", MARKET, no=side_of(0, 0, 5, -40))
    position = Position("ada", MARKET, side_of(3, 2, 6, -30))
    holding = VenuePosition(position, "Q?", "politics", AT, sources=("sdk:z",))
    world.venues.accounts["ada", EVM] = VenueAccount("ada", EVM, holdings={MARKET: holding})
    world.venues.accounts["bea", EVM] = VenueAccount("bea", EVM)

    def paid(name: str, side: Side, amounts: tuple[int, ...], opened_s: float, *by: str) -> Payout:
        shares, cost, realized = (Micros(count * ONE) for count in amounts)
        worth = outcome.paid(side, shares, cost)
        return Payout(name, side, shares, cost, worth, realized, later(opened_s), by)

    ended = Resolution(later(77), outcome)
    assert resolution_of(market, world.venues, later(80), ended) == MarketResolved(
        MARKET, later(80), later(77), outcome,
        (
            paid("ada", YES, (10, 4, 1), -60, "sdk:x", "sdk:y"),
            paid("ada", NO, (7, 3, 2), -50, "sdk:x", "sdk:y"),
            paid("bea", NO, (0, 0, 5), -40),
        ),
        Micros(round(crowd * ONE)),
        ((EVM, paid("ada", YES, (3, 2, 6), -30, "sdk:z")),),
    )  # fmt: skip


# -- moves ---------------------------------------------------------------------------------


class TapeOf(Tape):
    """A tape that lists what a test says."""

    def __init__(self, *listings: Any) -> None:
        super().__init__(0, Topics({}))
        self.listings = listings

    def listings_at(self, _: Timestamp) -> Any:
        return self.listings

    def resolved_count(self, *_: Timestamp) -> int:
        return 0


def kinds(events: list[Event]) -> list[str]:
    return [type(one).__name__ for one in events]


@pytest.fixture
def taped(world: World) -> World:
    world.tape = TapeOf()
    return world


def of(events: list[Event], kind: type[Any]) -> list[Any]:
    return [one for one in events if isinstance(one, kind)]


@pytest.mark.parametrize(
    ("gap_s", "speed", "moved_s", "closed"),
    [
        (1.0, 1, 1.0, False),
        (1.0, 60, 60.0, False),
        (STEP_MAX_S, 60, 300.0, False),
        (STEP_MAX_S + 1, 60, 6.0, True),
        (30.0, 1, 30.0, True),
    ],
)
def test_the_tape_runs_at_its_speed_and_over_a_gap_at_most_at_one(
    taped: World, *, gap_s: float, speed: int, moved_s: float, closed: bool
) -> None:
    taped.speed = speed
    (ticked,) = of(advance(taped, later(gap_s), QUIET), Ticked)
    assert (ticked.at, ticked.world_at) == (later(gap_s), later(moved_s))
    assert ticked.closed is closed
    assert (taped.at, taped.world_at) == (later(gap_s), later(moved_s))


@pytest.mark.parametrize("gap_s", [0.0, -1.0])
def test_time_that_does_not_pass_brings_nothing(taped: World, gap_s: float) -> None:
    assert advance(taped, later(gap_s), QUIET) == []
    assert taped.at == AT


@pytest.mark.parametrize("gap_s", [1.0, 600.0])
def test_while_the_tape_stands_still_the_wall_clock_goes_on(taped: World, gap_s: float) -> None:
    taped.speed = 0
    assert of(advance(taped, later(gap_s), QUIET), Ticked) == []
    assert (taped.at, taped.world_at) == (later(gap_s), AT)


def test_a_time_stop_sells_also_while_the_tape_stands_still(taped: World) -> None:
    market = taped.markets[MARKET]
    market.move(YES, Micros(10 * ONE))
    taped.ledger.transfer("agent:ada", market.account, Micros(10 * ONE))
    monitored(taped, exit_at=later(1))
    taped.speed = 0
    assert kinds(advance(taped, later(1), QUIET)) == ["Breached", "Fill"]


@pytest.mark.parametrize(("gap_s", "is_told"), [(AWAY_MIN_S, False), (AWAY_MIN_S + 1, True)])
def test_who_was_away_is_told_of_it(taped: World, gap_s: float, *, is_told: bool) -> None:
    advance(taped, later(gap_s), QUIET)
    meanwhile = taped.meanwhile
    assert (meanwhile is not None) is is_told
    if meanwhile is not None:
        assert (meanwhile.closed_at, meanwhile.opened_at) == (AT, later(gap_s))
        assert meanwhile.equity_before == {"ada": 10_000 * ONE}


def test_a_new_speed_counts_from_now_on(taped: World) -> None:
    taped.speed = 2
    *_, last = change_speed(taped, 60, later(2))
    assert last == SpeedSet(later(2), later(4), 60)
    assert (taped.speed, taped.world_at) == (60, later(4))


def test_what_is_due_resolves_in_order_and_what_is_new_is_listed(taped: World) -> None:
    market = taped.markets.pop(MARKET).listing
    for name, due_s in ((NEW[1], 2.0), (NEW[3], 1.0), (NEW[2], 1.0), (NEW[4], 3.1)):
        listed(taped, name, resolves_at=later(0.5), resolved_at=later(due_s))
    done = listed(taped, NEW[5], resolved_at=later(1))
    done.resolved_at = AT
    news = [
        market,
        listed(bare_world(), NEW[1]).listing,
        listed(bare_world(), NEW[6], resolves_at=later(3)).listing,
        listed(bare_world(), NEW[7], resolves_at=later(3.01)).listing,
    ]
    taped.tape = TapeOf(*news)
    taped.at = later(-1)
    taped.world_at = later(-1)
    events = advance(taped, later(3), QUIET)
    assert [one.market_id for one in of(events, MarketResolved)] == [NEW[2], NEW[3], NEW[1]]
    found = [(one.at, one.world_at, one.listing.market_id) for one in of(events, MarketListed)]
    assert found == [(later(3), later(3), MARKET), (later(3), later(3), NEW[7])]


def test_a_peak_inside_a_gap_is_kept_although_the_price_falls_again(taped: World) -> None:
    up = monitored(taped, trailing_stop_points=0.3, peak=0.35)
    down = monitored(taped, side=NO, trailing_stop_points=0.3, peak=0.55)
    events = of(advance(taped, later(GAP_S), RISING), PeakRaised)
    raised = [(one.at, round(one.peak, 6)) for one in events if one.side is YES]
    assert raised == [(later(GAP_S), 0.46)]
    assert up.peak == pytest.approx(0.46)
    # The lowest price of YES on the way is the highest of NO.
    assert 1.0 - (0.46 - 0.0001 * 540) - 1e-9 <= down.peak < 0.601


def test_a_scripted_move_brings_each_price_and_lists_nothing(taped: World) -> None:
    closed = listed(taped, OTHER, resolves_at=AT)
    taped.tape = TapeOf(listed(bare_world(), NEW[6]).listing)
    events = play(taped, (later(5), later(3)), {MARKET: 0.55, OTHER: 0.9})
    (ticked,) = of(events, Ticked)
    assert (ticked.at, ticked.world_at, ticked.closed, ticked.settled) == (
        later(5), later(3), False, (),
    )  # fmt: skip
    assert [(one.market_id, one.side, one.trader) for one in ticked.trades] == [
        (MARKET, YES, CROWD_NAME)
    ]
    market: Market = taped.markets[MARKET]
    assert market.price() == pytest.approx(0.55, abs=1e-4)
    assert closed.price() == pytest.approx(0.4)
    assert of(events, MarketListed) == []
    assert isinstance(ticked.trades[0], CrowdTrade)


def test_a_scripted_move_brings_the_trades_of_wallets(taped: World) -> None:
    settled = Settlement(
        "0x1", "0xAb", "Ann", EVM, MARKET, 3, 4, YES, Action.BUY, Micros(10 * ONE), 0.5,
        Micros(0),
    )  # fmt: skip
    (ticked,) = of(play(taped, (later(5), later(3)), {}, (settled,)), Ticked)
    assert (ticked.trades, ticked.settled) == ((), (settled,))
    assert [one for one, _ in taped.reactor.recent.values()] == [settled]


# -- what else a move brings ---------------------------------------------------------------


@pytest.mark.parametrize(("gap_s", "trades"), [(3.0, True), (30.0, False)])
def test_crowd_and_wallets_trade_in_a_step_and_not_over_a_gap(
    taped: World, gap_s: float, *, trades: bool
) -> None:
    asked: list[Any] = []
    trade = CrowdTrade(MARKET, YES, Micros(ONE), Micros(ONE), "pippin")

    def crowd(seed: int, _: object, span: object) -> tuple[CrowdTrade, ...]:
        asked.append((seed, span))
        return (trade,)

    def wallets(_: object, span: object, crowd: Any) -> tuple[Settlement, ...]:
        asked.append((*crowd, span))
        return ()

    taped.tick_count, taped.speed = 12, 2
    (ticked,) = of(advance(taped, later(gap_s), Author(crowd=crowd, wallets=wallets)), Ticked)
    span = (12, AT, later(6))
    assert asked == ([(7, span), (trade, span)] if trades else [])
    assert (trade in ticked.trades) is trades


def test_a_scripted_move_resolves_what_is_due(taped: World) -> None:
    listed(taped, OTHER, resolves_at=later(5), resolved_at=later(6))
    (resolved,) = of(play(taped, (later(3), later(6)), {}), MarketResolved)
    assert (resolved.market_id, resolved.at, resolved.world_at) == (OTHER, later(3), later(6))


def test_the_first_move_of_a_world_lists_although_no_time_has_passed(taped: World) -> None:
    taped.markets.clear()
    taped.tape = TapeOf(listed(bare_world(), NEW[1]).listing)
    taped.speed = 0
    (found, ticked) = advance(taped, AT, QUIET)
    assert isinstance(found, MarketListed)
    assert isinstance(ticked, Ticked)
    assert ticked.closed


# -- books, and a tape that is not at the wall clock's time --------------------------------


def on_book(world: World, cost: int, **fields: Any) -> Monitor:
    watched = MonitoredSide("ada", EVM, MARKET, YES)
    known: dict[str, Any] = {"stop_loss_pct": None, "take_profit_pct": None}
    one = Monitor(watched, automatic=False, set_at=AT, **(known | fields))
    sides = SidePosition(Micros(10 * ONE), Micros(cost), opened_at=later(-9))
    holding = VenuePosition(Position("ada", MARKET, sides), "Q?", "politics", later(HOUR))
    world.venues.accounts["ada", EVM] = VenueAccount("ada", EVM, holdings={MARKET: holding})
    world.risk.monitors.add(one)
    world.risk.put_back(one)
    return one


@pytest.mark.parametrize(
    ("fields", "halt_s"),
    [
        ({"stop_loss_pct": 0.02}, 240),
        # The best price reaches the target at once, what a sale brings only later.
        ({"take_profit_pct": 0.02}, 360),
        ({"stop_loss_pct": 0.9}, GAP_S),
    ],
)
def test_a_book_halts_a_gap_at_a_stop_or_when_a_sale_brings_the_target(
    fields: dict[str, Any], halt_s: float
) -> None:
    world = bare_world(auto_risk_monitor_enabled=False)
    listed(world, MARKET, home=EVM)
    world.at = later(-50)
    cost = 4_000_000 if "stop_loss_pct" in fields else 3_800_000
    monitor = on_book(world, cost, **fields)
    at, world_at = next_stop(world, (later(GAP_S - 50), later(GAP_S)))
    assert (at, world_at) == (later(halt_s - 50), later(halt_s))
    prices = book_prices(world, MARKET, (later(-50), later(halt_s)))
    floor = monitor.floor()
    if floor is not None:
        assert (prices.mark <= floor[0]) is (halt_s < GAP_S)


def test_the_earliest_time_stop_halts_a_gap_by_the_tapes_own_time(world: World) -> None:
    listed(world, OTHER)
    world.world_at = later(-500)
    for market_id, side, exit_s in ((MARKET, YES, 900), (MARKET, NO, 600), (OTHER, YES, 700)):
        monitored(world, market_id, side, exit_at=later(exit_s))
    at, world_at = next_stop(world, (later(GAP_S), later(GAP_S - 500)))
    assert world_at == pytest.approx(later(100.001), abs=1e-5)
    assert later(600) < at < later(600.01)

"""What one move of the tape brings, and where a gap halts on the way."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine import tick as room
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
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.risk.monitors import Monitor, MonitoredSide, Prices
from service_tui.engine.tick import (
    AWAY_MIN_S,
    CROWD_NAME,
    STEP_MAX_S,
    STEP_S,
    advance,
    change_speed,
    next_stop,
    play,
    resolution_of,
)
from service_tui.engine.world import World
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


def falling(monkeypatch: pytest.MonkeyPatch, *, by_s: float = 0.0001, start: float = 0.4) -> None:
    """What the crowd believes of each question: less from second to second."""
    monkeypatch.setattr(room, "belief", lambda _, at: start - (at - AT) * by_s)


# -- where a gap halts ---------------------------------------------------------------------


def test_a_gap_halts_at_the_first_step_that_reaches_a_stop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    falling(monkeypatch)
    listed(world, OTHER)
    # At 0.4 on average: a tenth below that is reached after 400 seconds, a fifth after 800.
    monitored(world, MARKET, stop_loss_pct=0.2)
    assert next_stop(world, end()) == (later(840), later(840))
    monitored(world, OTHER, stop_loss_pct=0.1)
    assert next_stop(world, end()) == (later(420), later(420))
    # Of the wall clock's time as much has passed as of the tape's.
    assert next_stop(world, end(pace=0.5)) == (later(840), later(420))


@pytest.mark.parametrize("state", ["decided", "closed"])
def test_a_market_that_is_not_open_halts_no_gap(
    world: World, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    falling(monkeypatch)
    ends = later(-1) if state == "closed" else later(HOUR)
    market = listed(world, MARKET, resolves_at=ends)
    market.resolved_at = AT if state == "decided" else None
    monitored(world, stop_loss_pct=0.1)
    assert next_stop(world, end()) == end()


def test_no_price_is_looked_at_after_the_end_of_a_market(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    falling(monkeypatch)
    listed(world, MARKET, resolves_at=later(420))
    monitored(world, stop_loss_pct=0.1)
    assert next_stop(world, end()) == end()
    listed(world, MARKET, resolves_at=later(421))
    assert next_stop(world, end()) == (later(420), later(420))


def test_a_short_gap_and_one_without_a_breach_are_crossed_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    falling(monkeypatch, by_s=0.01)
    monitored(world, stop_loss_pct=0.5)
    assert next_stop(world, end(STEP_S)) == end(STEP_S)
    assert next_stop(world, end(STEP_S + 1)) == end(STEP_S)
    falling(monkeypatch, by_s=0)
    assert next_stop(world, end()) == end()


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
    world: World, monkeypatch: pytest.MonkeyPatch, *, side: Side, by_s: float,
    fields: dict[str, Any], halt_s: float | None,
) -> None:  # fmt: skip
    falling(monkeypatch, by_s=by_s)
    monitored(world, side=side, **fields)
    found = next_stop(world, end())
    assert found == (end() if halt_s is None else (later(halt_s), later(halt_s)))


def test_a_trailing_stop_is_measured_from_the_peak_on_the_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Up to 0.46 at 600 seconds, then down: 0.05 below that after 1 100.
    monkeypatch.setattr(room, "belief", lambda _, at: 0.46 - 0.0001 * abs(at - AT - 600))
    one = monitored(world, trailing_stop_points=0.05, peak=0.35)
    assert next_stop(world, end()) == (later(1_140), later(1_140))
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


@pytest.mark.parametrize("outcome", [True, False])
def test_a_resolution_names_every_side_that_was_ever_bought(*, outcome: bool) -> None:
    world = bare_world("ada", "bea", "cyd")
    market = listed(world, MARKET, outcome=outcome, resolved_at=later(77))
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
        worth = shares if (side is YES) is outcome else Micros(0)
        return Payout(name, side, shares, cost, worth, realized, later(opened_s), by)

    assert resolution_of(market, world.venues, later(80)) == MarketResolved(
        MARKET, later(80), later(77), outcome,
        (
            paid("ada", YES, (10, 4, 1), -60, "sdk:x", "sdk:y"),
            paid("ada", NO, (7, 3, 2), -50, "sdk:x", "sdk:y"),
            paid("bea", NO, (0, 0, 5), -40),
        ),
        Micros((40 if outcome else 33) * ONE),
        ((EVM, paid("ada", YES, (3, 2, 6), -30, "sdk:z")),),
    )  # fmt: skip


# -- moves ---------------------------------------------------------------------------------


class Tape:
    """A tape that lists what a test says."""

    def __init__(self, *listings: Any) -> None:
        self.listings = listings

    def listings_at(self, _: Timestamp) -> Any:
        return self.listings

    def resolved_count(self, *_: Timestamp) -> int:
        return 0


def kinds(events: list[Event]) -> list[str]:
    return [type(one).__name__ for one in events]


@pytest.fixture
def taped(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(world, "tape", Tape())
    monkeypatch.setattr(room, "trades_of_wallets", lambda *_: ())
    monkeypatch.setattr(room, "crowd_trades", lambda *_: [])
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
    (ticked,) = of(advance(taped, later(gap_s)), Ticked)
    assert (ticked.at, ticked.world_at) == (later(gap_s), later(moved_s))
    assert ticked.closed is closed
    assert (taped.at, taped.world_at) == (later(gap_s), later(moved_s))


@pytest.mark.parametrize("gap_s", [0.0, -1.0])
def test_time_that_does_not_pass_brings_nothing(taped: World, gap_s: float) -> None:
    assert advance(taped, later(gap_s)) == []
    assert taped.at == AT


@pytest.mark.parametrize("gap_s", [1.0, 600.0])
def test_while_the_tape_stands_still_the_wall_clock_goes_on(taped: World, gap_s: float) -> None:
    taped.speed = 0
    assert of(advance(taped, later(gap_s)), Ticked) == []
    assert (taped.at, taped.world_at) == (later(gap_s), AT)


def test_a_time_stop_sells_also_while_the_tape_stands_still(taped: World) -> None:
    market = taped.markets[MARKET]
    market.move(YES, Micros(10 * ONE))
    taped.ledger.transfer("agent:ada", market.account, Micros(10 * ONE))
    monitored(taped, exit_at=later(1))
    taped.speed = 0
    assert kinds(advance(taped, later(1))) == ["Breached", "Fill"]


@pytest.mark.parametrize(("gap_s", "is_told"), [(AWAY_MIN_S, False), (AWAY_MIN_S + 1, True)])
def test_who_was_away_is_told_of_it(taped: World, gap_s: float, *, is_told: bool) -> None:
    advance(taped, later(gap_s))
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
    taped.tape = Tape(*news)  # type: ignore[assignment]
    taped.at = later(-1)
    taped.world_at = later(-1)
    events = advance(taped, later(3))
    assert [one.market_id for one in of(events, MarketResolved)] == [NEW[2], NEW[3], NEW[1]]
    found = [(one.at, one.world_at, one.listing.market_id) for one in of(events, MarketListed)]
    assert found == [(later(3), later(3), MARKET), (later(3), later(3), NEW[7])]


def test_a_peak_inside_a_gap_is_kept_although_the_price_falls_again(
    taped: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "belief", lambda _, at: 0.46 - 0.0001 * abs(at - AT - 600))
    up = monitored(taped, trailing_stop_points=0.3, peak=0.35)
    down = monitored(taped, side=NO, trailing_stop_points=0.3, peak=0.55)
    events = of(advance(taped, later(GAP_S)), PeakRaised)
    raised = [(one.at, round(one.peak, 6)) for one in events if one.side is YES]
    assert raised == [(later(GAP_S), 0.46)]
    assert up.peak == pytest.approx(0.46)
    # The lowest price of YES on the way is the highest of NO.
    assert 1.0 - (0.46 - 0.0001 * 540) - 1e-9 <= down.peak < 0.601


def test_a_scripted_move_brings_each_price_and_lists_nothing(taped: World) -> None:
    closed = listed(taped, OTHER, resolves_at=AT)
    taped.tape = Tape(listed(bare_world(), NEW[6]).listing)  # type: ignore[assignment]
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

BROUGHT: Final = {
    "end_due": "ended", "redeem_managed": "redeemed", "produce_blocks": "blocks",
    "match_due": "matched", "watch": "watched",
}  # fmt: skip


@pytest.fixture
def asked(taped: World, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What each part of a move was asked, in order; each brings one event."""
    found: list[tuple[Any, ...]] = []

    def part(name: str, brings: Any) -> Any:
        def ask(*given: Any) -> Any:
            found.append((name, *given))
            return brings

        return ask

    for name, event in BROUGHT.items():
        monkeypatch.setattr(room, name, part(name, [event]))
    monkeypatch.setattr(room, "crowd_trades", part("crowd_trades", []))
    monkeypatch.setattr(room, "corrections", part("corrections", []))
    monkeypatch.setattr(room, "trades_of_wallets", part("trades_of_wallets", ()))
    monkeypatch.setattr(type(taped.pending_trades), "due", part("pending", ["pending"]))
    monkeypatch.setattr(type(taped.price_alerts), "due", part("alerts", []))
    taped.tick_count, taped.speed = 12, 2
    return found


def after_a_move(world: World, times: tuple[Timestamp, Timestamp]) -> list[tuple[Any, ...]]:
    return [
        ("match_due", world.venues, times),
        ("redeem_managed", world.venues, times),
        ("produce_blocks", world.chain, world.venues, times),
        ("alerts", world.price_alerts, world.markets, times[0]),
        ("watch", world, times),
    ]


def test_each_part_of_a_step_gets_its_own_of_both_times(
    taped: World, asked: list[tuple[Any, ...]]
) -> None:
    times, span = (later(3), later(6)), (12, AT, later(6))
    events = advance(taped, later(3))
    assert asked == [
        ("end_due", taped.venues, times),
        ("pending", taped.pending_trades, later(3)),
        ("crowd_trades", 7, taped.markets, span),
        ("trades_of_wallets", taped.wallet_context, span, []),
        *after_a_move(taped, times),
    ]
    told = [one if isinstance(one, str) else type(one).__name__ for one in events]
    assert told == ["ended", "pending", "Ticked", "matched", "redeemed", "blocks", "watched"]


def test_over_a_gap_the_crowd_corrects_and_no_wallet_trades(
    taped: World, asked: list[tuple[Any, ...]]
) -> None:
    advance(taped, later(30))
    times = (later(30), later(30))
    assert [name for name, *_ in asked][:3] == ["end_due", "pending", "corrections"]
    assert asked[2][2] == later(30)
    assert asked[3:] == after_a_move(taped, times)


def test_while_the_tape_stands_still_orders_end_and_the_chain_goes_on(
    taped: World, asked: list[tuple[Any, ...]]
) -> None:
    taped.speed, taped.world_at = 0, later(100)
    assert advance(taped, later(3)) == ["ended", "pending", "redeemed", "blocks", "watched"]
    times = (later(3), later(100))
    assert asked == [
        ("end_due", taped.venues, times),
        ("redeem_managed", taped.venues, times),
        ("produce_blocks", taped.chain, taped.venues, times),
        ("watch", taped, times),
        ("pending", taped.pending_trades, later(3)),
    ]


def test_a_scripted_move_brings_all_that_a_step_brings(
    taped: World, asked: list[tuple[Any, ...]]
) -> None:
    times = (later(3), later(6))
    listed(taped, OTHER, resolves_at=later(5), resolved_at=later(6))
    events = play(taped, times, {})
    assert asked == [
        ("end_due", taped.venues, times),
        ("pending", taped.pending_trades, later(3)),
        *after_a_move(taped, times),
    ]
    (resolved,) = of(events, MarketResolved)
    assert (resolved.market_id, resolved.at, resolved.world_at) == (OTHER, later(3), later(6))


def test_the_first_move_of_a_world_lists_although_no_time_has_passed(taped: World) -> None:
    taped.markets.clear()
    taped.tape = Tape(listed(bare_world(), NEW[1]).listing)  # type: ignore[assignment]
    taped.speed = 0
    (found, ticked) = advance(taped, AT)
    assert isinstance(found, MarketListed)
    assert isinstance(ticked, Ticked)
    assert ticked.closed


# -- books, and a tape that is not at the wall clock's time --------------------------------


def on_book(world: World, **fields: Any) -> None:
    watched = MonitoredSide("ada", EVM, MARKET, YES)
    known: dict[str, Any] = {"stop_loss_pct": None, "take_profit_pct": None}
    one = Monitor(watched, automatic=False, set_at=AT, **(known | fields))
    held = Position("ada", MARKET, side_of(10, 4, 0, -9))
    holding = VenuePosition(held, "Q?", "politics", later(HOUR))
    world.venues.accounts["ada", EVM] = VenueAccount("ada", EVM, holdings={MARKET: holding})
    world.risk.monitors.add(one)
    world.risk.monitors.ladder_of(watched).put(one, 0.4, 0.44 if one.take_profit_pct else None)


@pytest.mark.parametrize(
    ("fields", "met_s", "halt_s"),
    [
        ({"stop_loss_pct": 0.1}, None, 420),
        ({"take_profit_pct": 0.1}, None, None),
        # Its best price reaches the target at once, what a sale brings only later.
        ({"take_profit_pct": 0.1}, 300, 300),
        ({"take_profit_pct": 0.1, "stop_loss_pct": 0.1}, None, 420),
    ],
)
def test_a_book_halts_a_gap_at_a_stop_or_when_a_sale_brings_the_target(
    monkeypatch: pytest.MonkeyPatch, *, fields: Any, met_s: float | None, halt_s: float | None
) -> None:
    world = bare_world(auto_risk_monitor_enabled=False)
    listed(world, MARKET, home=EVM)
    world.at = later(-50)

    def prices(_: World, market_id: str, times: tuple[Timestamp, Timestamp]) -> Prices:
        assert (market_id, times[0]) == (MARKET, later(-50))
        return Prices(0.4 - (times[1] - AT) * 0.0001, 0.5, 0.5)

    def met(_: World, __: Monitor, times: tuple[Timestamp, Timestamp]) -> float | None:
        return 0.5 if met_s is not None and times[1] >= later(met_s) else None

    monkeypatch.setattr(room, "book_prices", prices)
    monkeypatch.setattr(room, "met_at", met)
    on_book(world, **fields)
    at, world_at = next_stop(world, (later(GAP_S - 50), later(GAP_S)))
    expected = GAP_S if halt_s is None else halt_s
    assert (at, world_at) == (later(expected - 50), later(expected))


def test_the_earliest_time_stop_halts_a_gap_by_the_tapes_own_time(world: World) -> None:
    listed(world, OTHER)
    world.world_at = later(-500)
    for market_id, side, exit_s in ((MARKET, YES, 900), (MARKET, NO, 600), (OTHER, YES, 700)):
        monitored(world, market_id, side, exit_at=later(exit_s))
    at, world_at = next_stop(world, (later(GAP_S), later(GAP_S - 500)))
    assert world_at == pytest.approx(later(100.001), abs=1e-5)
    assert later(600) < at < later(600.01)


def test_a_sale_that_is_not_yet_seen_moves_its_stop_before_a_gap_is_crossed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled: list[str] = []
    monkeypatch.setattr(type(world.risk), "settle", lambda _: settled.append("settled"))
    next_stop(world, end())
    assert settled == ["settled"]


def test_the_peak_of_each_side_on_the_way_is_the_best_of_its_own_price(
    taped: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitored(taped, side=NO, trailing_stop_points=0.3, peak=0.5)
    asked: list[object] = []
    told: list[object] = []

    def path(_: World, where: tuple[Venue, Market], span: object) -> Any:
        asked.append((where[0], where[1].market_id, span))
        return [(later(1), Prices(mark, mark, 1 - mark)) for mark in (0.4, 0.7, 0.25)]

    def raised(_: object, highest: object, at: Timestamp) -> list[Event]:
        told.append((highest, at))
        return []

    monkeypatch.setattr(room, "_path", path)
    monkeypatch.setattr(room, "raised", raised)
    assert room._peaks_on_the_way(taped, (later(7), later(70))) == []
    assert asked == [(SIM, MARKET, (taped.world_at, later(70)))]
    assert told == [({YES: 0.7, NO: 0.75}, later(7))]

"""The world: agents, events, counts and keys."""

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.engine.begun import world_of
from kit.engine.made import experiment, session
from kit.engine.topics import TOPICS
from kit.engine.traders import FIRST_CASH, Crowd, open_markets, registration
from kit.engine.whole import whole
from kit.examples import DEPTH
from service_tui.engine import world as world_room
from service_tui.engine.agents.agents import Agent, AgentSettings, ClosedPosition
from service_tui.engine.amm.exchange import Order, open_shares
from service_tui.engine.amm.market import Market
from service_tui.engine.books.venues import GRANT, VenueAccount, VenuePosition
from service_tui.engine.chain_events import CHAIN_KINDS, WalletLinked
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.errors import (
    AgentNotFound,
    MakerBoundError,
    MarketNotFound,
    MarketNotOpen,
    Refusal,
)
from service_tui.engine.events import (
    AgentRegistered,
    BreakerReset,
    ClientSeen,
    CrowdTrade,
    Event,
    ExposureLimitSet,
    Fill,
    HaltSet,
    KeyRotated,
    LeashSet,
    MarketListed,
    MarketResolved,
    Note,
    OperatorActed,
    Payout,
    PendingEnded,
    PlanSet,
    Reacted,
    ReactorChanged,
    SignalDismissed,
    SpeedSet,
    Ticked,
    TradeFailed,
    TradePending,
    kind_of,
)
from service_tui.engine.limits import DAY_S, day_of
from service_tui.engine.listing import NewsReport
from service_tui.engine.notify_events import NOTIFY_KINDS, PriceAlertSet, WebhookSet, WebhookTried
from service_tui.engine.position import Position
from service_tui.engine.reactor.wallet_records import WalletPosition, WalletRecord
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.engine.risk.risk import UNSEEN_MAX
from service_tui.engine.tape.absence import count_unseen
from service_tui.engine.tape.belief import belief, first_beliefs
from service_tui.engine.tape.feed import Tape
from service_tui.engine.tick import advance, change_speed
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import (
    CLOSED_KEPT,
    CROWD,
    ISSUER,
    LOSS_SLACK,
    MAKERS,
    PREFILL,
    RESOLVED_KEPT,
    World,
)
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import YES as ENDED_YES
from service_tui.outcome import Outcome
from service_tui.terms import (
    Action,
    LeashMode,
    LimitGroup,
    MarketStatus,
    PendingStatus,
    Plan,
    Side,
    Venue,
)
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp

SEED: Final = 7
OPERATIONS: Final = 100_000 if DEPTH > 1 else 40_000
HOUR_S: Final = 3_600.0
NIGHT_S: Final = 8 * HOUR_S
TAPE: Final = Tape(SEED, TOPICS)
YES: Final = Side.YES


def new_world(speed: int = 1) -> World:
    world = world_of(SEED, AT)
    advance(world, AT)
    if speed != 1:
        change_speed(world, speed, AT)
    return world


def joined(world: World, name: str = "ada", plan: Plan = Plan.ELITE) -> Agent:
    world.register(registration(world, name, plan))
    return world.agents[name]


def next_to_end(world: World, *, outcome: bool | None = None) -> Market:
    return min(
        (one for one in open_markets(world) if outcome in {None, one.listing.outcome}),
        key=lambda one: one.listing.resolved_at,
    )


def buy(
    world: World, agent: Agent, market: Market, *, dollars: float = 20, side: Side = YES
) -> Fill:
    size = Micros(round(dollars * ONE))
    return world.place(Order(agent, market.market_id, side, Action.BUY, size), world.at)


def sell(world: World, agent: Agent, market: Market, shares: Micros) -> Fill:
    return world.place(Order(agent, market.market_id, YES, Action.SELL, shares), world.at)


def go_to(world: World, world_at: float) -> list[Event]:
    """Let a world at 1x come to a moment of its tape, as if the desk had been closed."""
    return advance(world, Timestamp(world.at + world_at - world.world_at))


def text_of(world: World) -> str:
    return codec.dumps(snapshot.fields_of(world))


def read_back(text: str) -> World:
    return snapshot.world_of(json.loads(text), TOPICS)


def replayed(text: str, events: list[Event]) -> World:
    world = read_back(text)
    for event in events:
        world.apply(codec.decode(kind_of(event), codec.encode(event)))
    return world


def books_balance(world: World) -> bool:
    """Every micro and every share is where it belongs, and no maker is beyond its bound."""
    for market in world.markets.values():
        if market.resolved_at is not None:
            continue
        taken = world.ledger.balance(market.account)
        for side in Side:
            assert 0 <= open_shares(world.agents, market.market_id, side) <= market.sold(side)
            assert taken - market.sold(side) >= -market.worst_loss() - LOSS_SLACK
    for agent in world.agents.values():
        held = [(one, world.markets[key].price()) for key, one in agent.positions.items()]
        unrealized = sum(position.unrealized(price) for position, price in held)
        assert world.equity(agent) == FIRST_CASH + agent.realized + unrealized
    return world.ledger.total() == 0


# -- agents --------------------------------------------------------------------------------


def test_a_new_agent_has_exactly_ten_thousand() -> None:
    world = new_world()
    agent = joined(world)
    assert world.cash(agent) == world.equity(agent) == 10_000 * ONE
    assert world.ledger.balance(ISSUER) == -10_000 * ONE
    assert world.by_key_hash("hash of ada") is agent
    assert world.by_key_hash("hash of nobody") is None


def test_an_unknown_market_is_named() -> None:
    with pytest.raises(MarketNotFound, match="market not found: nowhere"):
        new_world().market("nowhere")


# -- the tape ------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_seed_makes_the_same_world() -> None:
    def played(seed: int) -> str:
        world = World(seed, AT, TOPICS)
        world.tape = Tape(seed, TOPICS)
        advance(world, AT)
        agent = joined(world)
        for second in range(1, 16):
            advance(world, Timestamp(AT + second))
            buy(world, agent, open_markets(world)[second])
        return text_of(world)

    assert played(11) == played(11)
    assert played(11) != played(12)


@pytest.mark.slow
def test_sixty_markets_of_all_categories_are_open_after_any_span() -> None:
    world = new_world(speed=60)
    rng = random.Random(3)
    for _ in range(24):
        span_s = rng.choice((0.2, 1.0, 5.0, 300.0, HOUR_S, DAY_S, 9 * DAY_S))
        advance(world, Timestamp(world.at + span_s))
        found = open_markets(world)
        assert len(found) >= 60
        assert {one.listing.category for one in found} == set(TOPICS.table)
        assert len({one.listing.question for one in found}) == len(found)
    assert world.ledger.total() == 0


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0, 1, 10, 60])
def test_the_speed_moves_the_tape_and_nothing_else(speed: int) -> None:
    world = new_world(speed)
    before = text_of(world)
    for second in range(1, 31):
        events = advance(world, Timestamp(AT + second))
        assert bool(events) is bool(speed)
    assert world.world_at - AT == pytest.approx(30 * speed)
    assert world.at == AT + 30
    if speed == 0:
        world.at = AT
        assert text_of(world) == before


def test_a_new_speed_counts_from_now_on() -> None:
    world = new_world(speed=60)
    advance(world, Timestamp(AT + 2))
    events = change_speed(world, 10, Timestamp(AT + 3))
    assert isinstance(events[-1], SpeedSet)
    assert world.world_at == AT + 180
    advance(world, Timestamp(AT + 4))
    assert world.world_at == AT + 190


@pytest.mark.parametrize(("speed", "pace"), [(0, 0), (1, 1), (10, 1), (60, 1)])
def test_while_nobody_is_there_the_tape_runs_at_most_at_1x(speed: int, pace: int) -> None:
    world = new_world(speed)
    advance(world, Timestamp(AT + NIGHT_S))
    assert world.world_at == AT + pace * NIGHT_S


def test_a_paused_world_stays_as_it_is_over_a_night() -> None:
    world = new_world(speed=0)
    prices = [market.price() for market in world.markets.values()]
    assert advance(world, Timestamp(AT + NIGHT_S)) == []
    assert [market.price() for market in world.markets.values()] == prices
    assert world.meanwhile is None


def test_time_that_passed_in_a_pause_does_not_run_after_a_crash() -> None:
    world = new_world(speed=0)
    text = text_of(world)
    advance(world, Timestamp(AT + HOUR_S))
    events = change_speed(world, 1, Timestamp(AT + HOUR_S))
    again = replayed(text, events)
    for one in (world, again):
        advance(one, Timestamp(AT + HOUR_S + 2))
        assert one.world_at == AT + 2


def test_a_clock_that_was_set_back_moves_nothing() -> None:
    world = new_world()
    advance(world, Timestamp(AT + 3))
    before = text_of(world)
    assert advance(world, Timestamp(AT + 1)) == []
    assert advance(world, Timestamp(AT + 3)) == []
    assert text_of(world) == before


def calls_of(work: Callable[[], object]) -> int:
    """How many functions of ours a piece of work calls."""
    count = 0

    def counted(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_night_is_crossed_in_one_move() -> None:
    world = new_world()
    standing = len(world.markets)
    events = advance(world, Timestamp(AT + NIGHT_S))
    kinds = Counter(map(kind_of, events))
    assert kinds["crowd"] == 1
    assert kinds["resolved"] <= standing
    assert kinds["listed"] <= len(world.markets)
    tick = events[-1]
    assert isinstance(tick, Ticked)
    assert tick.closed
    assert len(tick.trades) <= len(open_markets(world))
    assert world.world_at == AT + NIGHT_S


@pytest.mark.slow
def test_a_year_costs_no_more_than_a_night(monkeypatch: pytest.MonkeyPatch) -> None:
    # The plain one: what another test drew is not kept for this count.
    monkeypatch.setattr(world_room, "first_beliefs", first_beliefs)

    def crossing(span_s: float) -> int:
        world = new_world()
        world.tape = Tape(SEED, TOPICS)
        return calls_of(lambda: advance(world, Timestamp(AT + span_s)))

    assert crossing(365 * DAY_S) < 2 * crossing(NIGHT_S)


def test_the_world_tells_what_happened_meanwhile() -> None:
    world = new_world()
    agent = joined(world)
    market = next_to_end(world)
    buy(world, agent, market)
    before = world.exit_equity(agent)
    assert world.meanwhile is None
    events = advance(world, Timestamp(AT + NIGHT_S))
    gone = world.meanwhile
    assert gone is not None
    assert (gone.closed_at, gone.opened_at) == (AT, AT + NIGHT_S)
    assert gone.resolved == tuple(one for one in events if isinstance(one, MarketResolved))
    assert market.market_id in {one.market_id for one in gone.resolved}
    assert gone.resolved_count == TAPE.resolved_count(AT, world.world_at)
    assert gone.resolved_count >= len(gone.resolved)
    assert gone.listed_count == sum(isinstance(one, MarketListed) for one in events)
    assert gone.equity_before == {"ada": before}


def test_after_the_night_the_crowd_has_brought_prices_to_the_belief() -> None:
    world = new_world()
    advance(world, Timestamp(AT + NIGHT_S))
    for market in open_markets(world):
        known = belief(market.listing, world.world_at)
        assert market.price() == pytest.approx(known, abs=1e-3)


# -- resolution ----------------------------------------------------------------------------


def test_a_market_goes_from_active_to_closed_to_resolved() -> None:
    world = new_world()
    agent = joined(world)
    market = next_to_end(world)
    listing = market.listing
    shares = buy(world, agent, market).shares

    go_to(world, listing.resolves_at - 1)
    assert market.status(world.world_at) is MarketStatus.ACTIVE

    go_to(world, listing.resolves_at)
    assert market.status(world.world_at) is MarketStatus.CLOSED
    assert (market.outcome, market.resolved_at) == (None, None)
    for act in (lambda: buy(world, agent, market), lambda: sell(world, agent, market, shares)):
        with pytest.raises(MarketNotOpen):
            act()
    assert books_balance(world)

    go_to(world, listing.resolved_at - 0.5)
    assert (market.outcome, market.resolved_at) == (None, None)

    go_to(world, listing.resolved_at)
    assert market.status(world.world_at) is MarketStatus.RESOLVED
    assert market.outcome == (ENDED_YES if listing.outcome else ENDED_NO)
    assert market.resolved_at == listing.resolved_at >= listing.resolves_at
    with pytest.raises(MarketNotOpen, match="resolved"):
        buy(world, agent, market)


@pytest.mark.parametrize("outcome", [ENDED_YES, ENDED_NO])
def test_a_winning_share_pays_one_at_once_and_a_losing_one_nothing(outcome: Outcome) -> None:
    world = new_world()
    agent, other = joined(world), joined(world, "bea")
    # Or the loser would be sold before the end.
    world.change(agent, {"auto_risk_monitor_enabled": False}, world.at)
    market = next_to_end(world, outcome=outcome == ENDED_YES)
    fills = {side: buy(world, agent, market, dollars=30, side=side) for side in Side}
    third = fills[YES].shares // SHARE_QUANTUM // 3 * SHARE_QUANTUM
    sold = sell(world, agent, market, Micros(third))
    held = {
        Side.YES: fills[Side.YES].shares - sold.shares,
        Side.NO: fills[Side.NO].shares,
    }
    cost = {side: agent.positions[market.market_id].cost(side) for side in Side}
    cash, other_cash = world.cash(agent), world.cash(other)

    events = go_to(world, market.listing.resolved_at)
    paid = next(
        one
        for one in events
        if isinstance(one, MarketResolved) and one.market_id == market.market_id
    )
    winner = outcome.winner
    assert winner is not None
    assert paid.outcome == outcome
    assert world.cash(agent) == cash + held[winner]
    assert world.cash(other) == other_cash
    assert market.market_id not in agent.positions
    assert {one.side: one.payout for one in agent.closed} == {
        winner: held[winner],
        winner.other: 0,
    }
    for closed in agent.closed:
        before = sold.realized if closed.side is Side.YES else 0
        assert closed.shares == held[closed.side]
        assert closed.realized == closed.payout - cost[closed.side] + before
        assert closed.outcome == outcome
    assert agent.realized == world.cash(agent) - FIRST_CASH
    assert agent.win_count + agent.loss_count == 3
    assert world.equity(agent) == world.cash(agent)
    assert books_balance(world)


def test_an_agent_remembers_so_many_closed_positions_and_every_sum() -> None:
    world = new_world()
    agent = joined(world)
    buy(world, agent, next_to_end(world))
    go_to(world, min(one.listing.resolved_at for one in world.markets.values()) + 1)
    (first,) = agent.closed
    agent.closed[:] = [replace(first, market_id=f"old-{count}") for count in range(CLOSED_KEPT)]
    market = next_to_end(world)
    realized = agent.realized
    buy(world, agent, market)
    go_to(world, market.listing.resolved_at)
    assert len(agent.closed) == CLOSED_KEPT
    assert agent.closed[0].market_id == "old-1"
    assert agent.closed[-1].market_id == market.market_id
    assert agent.realized == realized + agent.closed[-1].realized


def test_a_position_sold_whole_before_the_end_pays_nothing_and_counts_once() -> None:
    world = new_world()
    agent = joined(world)
    market = next_to_end(world)
    sold = sell(world, agent, market, buy(world, agent, market).shares)
    counts = (agent.win_count, agent.loss_count)
    cash = world.cash(agent)
    go_to(world, market.listing.resolved_at)
    assert world.cash(agent) == cash
    assert (agent.win_count, agent.loss_count) == counts
    assert [one.realized for one in agent.closed] == [sold.realized]
    assert agent.realized == sold.realized


def test_the_makers_account_is_empty_after_the_resolution() -> None:
    world = new_world()
    market = next_to_end(world)
    buy(world, joined(world), market, dollars=200)
    go_to(world, market.listing.resolved_at)
    assert world.ledger.balance(market.account) == 0
    assert world.ledger.total() == 0


def test_a_maker_that_lost_more_than_it_can_stops_the_world() -> None:
    world = new_world()
    market = next_to_end(world)
    event = MarketResolved(
        market.market_id, AT, AT, outcome=ENDED_YES, payouts=(), crowd_payout=10**12
    )
    with pytest.raises(MakerBoundError, match=market.market_id):
        world.apply(event)


@pytest.mark.slow
def test_old_resolved_markets_are_forgotten_and_their_questions_are_not() -> None:
    world = new_world()
    agent = joined(world)
    market = next_to_end(world)
    buy(world, agent, market)
    for _ in range(12):
        advance(world, Timestamp(world.at + HOUR_S))
    resolved = [one for one in world.markets.values() if one.resolved_at is not None]
    assert len(resolved) == RESOLVED_KEPT
    assert market.market_id not in world.markets
    assert world.question_of(market.market_id) == market.listing.question
    assert world.question_of("nowhere") == ""
    assert agent.sources == {}


@pytest.mark.slow
def test_the_day_begins_with_the_equity_of_its_first_tick() -> None:
    world = new_world()
    agent = joined(world)
    buy(
        world, agent, max(open_markets(world), key=lambda one: one.listing.resolves_at), dollars=400
    )
    assert agent.day_equity == FIRST_CASH
    midnight = Timestamp((day_of(AT) + 1) * DAY_S)
    advance(world, Timestamp(midnight - 1))
    assert agent.day_equity == FIRST_CASH
    before = world.exit_equity(agent)
    advance(world, midnight)
    assert (agent.equity_day, agent.day_equity) == (day_of(midnight), before)
    assert before != FIRST_CASH


# -- books and replay ----------------------------------------------------------------------


@pytest.mark.slow
def test_the_ledger_sums_to_zero_over_many_thousand_operations() -> None:
    world = new_world(speed=60)
    crowd = Crowd(world, seed=5)
    crowd.gather()
    for count in range(OPERATIONS):
        crowd.operate()
        if count % 5_000 == 0:
            assert books_balance(world)
    assert books_balance(world)
    assert {name: world.cash(agent) for name, agent in world.agents.items()} == crowd.cash
    # The run means something: most orders passed, and many markets were settled.
    assert crowd.refused < 0.4 * OPERATIONS
    assert world.trade_count > 0.6 * OPERATIONS
    assert world.resolved_count > 0.005 * OPERATIONS
    assert sum(len(agent.closed) for agent in world.agents.values()) > 0.005 * OPERATIONS
    assert len(world.agents) > 4
    names = {name.partition(":")[0] for name in world.ledger.balances()}
    assert names == {ISSUER, CROWD, MAKERS, "maker", "agent"}


def leashed(world: World) -> list[Event]:
    leash = LeashSet("ada", world.at, "", LeashMode.ASK, Micros(0), Micros(9 * ONE), 30)
    events = world.note(leash)
    events += [world.pending_trades.let_wait(pending_trade_of("ada", world.at)) for _ in range(2)]
    events += world.pending_trades.end([
        PendingEnded("h1", world.at, PendingStatus.REFUSED, "too thin")
    ])
    return events + world.note(leash._replace(mode=None))


def pending_trade_of(agent_id: str, at: Timestamp) -> TradePending:
    size = Micros(5 * ONE)
    return TradePending(
        "", agent_id, at, at, Venue.SIM, "m", YES, Action.BUY, size, None, None, None, Note()
    )


@pytest.mark.slow
def test_a_replay_of_the_journal_makes_the_same_world_from_any_moment_on() -> None:  # noqa: PLR0915
    world = new_world(speed=60)
    start = text_of(world)
    crowd = Crowd(world, seed=6)
    events = crowd.gather()
    moments = [(0, start)]
    for count in range(1, 2_001):
        events += crowd.operate()
        if count == 1_200:
            events += change_speed(world, 0, Timestamp(world.at + 1))
            events += change_speed(world, 10, Timestamp(world.at + 700))
            events += world.change(world.agents["ada"], {"plan": Plan.FREE}, world.at)
            events += world.decide(KeyRotated("ada", world.at, "another hash"))
            events += world.decide(PlanSet(world.at, Plan.ELITE))
            events += world.note(ClientSeen("ada", world.at, "0.26.0"))
            limit = ExposureLimitSet(
                world.at, LimitGroup.CATEGORY, "weather", Venue.SIM, Micros(10**12)
            )
            events += world.decide(limit)
            events += world.decide(HaltSet(world.at, halted=True))
            events += world.decide(HaltSet(world.at, halted=False))
            events += world.decide(OperatorActed("ada", world.at, "POST /halt", "", "{}"))
            events += world.note(TradeFailed("ada", world.at, "m", YES, "no liquidity"))
            followed = tuple(address_of(SEED, wallet) for wallet in ROSTER)
            chosen = {"wallets": followed, "enabled": True, "daily_cap": Micros(900 * ONE)}
            events += world.note(ReactorChanged("ada", world.at, chosen))
            events += world.note(experiment(1, world.at))
            events += world.note(session(world.at))
            events += leashed(world)
        if count > 1_200 and count % 50 == 0 and (waiting := world.reactor.recent):
            events += world.note(SignalDismissed("ada", world.at, next(iter(waiting))))
            events += world.note(Reacted("ada", world.at, "0x12", "failed", {"reason": "late"}))
            if count % 350 == 0:
                events += world.note(BreakerReset("ada", world.at))
        if count % 500 == 0:
            moments.append((len(events), text_of(world)))
    venue_kinds = {"order", "order_fill", "order_end", "redeemed"}  # test_venues replays these
    by_hand = {"monitor", "monitor_end", "peak", "alert_end"}  # test_exits replays these
    on_chain = {*CHAIN_KINDS, "claimed"}  # test_redemption replays these
    notified = set(NOTIFY_KINDS)  # test_notify replays these
    there = set(codec.KINDS) - venue_kinds - by_hand - on_chain - notified
    assert {kind_of(event) for event in events} == there
    assert text_of(world) == moments[-1][1]
    # Killed after any of these rows, and started again from any snapshot before it.
    spans = [(moments[0], moments[-1]), *pairwise(moments)]
    for (since, text), (until, wanted) in spans:
        assert text_of(replayed(text, events[since:until])) == wanted


@pytest.mark.slow
def test_a_replayed_world_trades_on_as_the_one_that_was_not_stopped() -> None:
    world = new_world(speed=10)
    agent = joined(world)
    start = text_of(world)
    events: list[Event] = [buy(world, agent, market) for market in open_markets(world)[:20]]
    for second in range(1, 30):
        events += advance(world, Timestamp(AT + second))
    again = replayed(start, events)
    for one in (world, again):
        for second in range(30, 50):
            advance(one, Timestamp(AT + second))
            with suppress(Refusal):
                buy(one, one.agents["ada"], open_markets(one)[second % 50])
    assert text_of(again) == text_of(world)


def test_a_fresh_world_has_counted_nothing() -> None:
    world = World(7, AT, TOPICS)
    counts = (world.tick_count, world.trade_count, world.listed_count, world.resolved_count)
    assert counts == (0, 0, 0, 0)
    assert (world.topics, world.speed, world.plan, world.meanwhile) == (TOPICS, 1, None, None)
    assert (world.at, world.world_at) == (AT, AT)
    assert world.halt is world.exchange.halt is world.venues.halt
    assert world.reactor.mirrors is world.venues.mirrors
    assert world.chain.ledger is world.ledger is world.venues.ledger


def test_trades_are_numbered_in_the_order_of_their_making() -> None:
    world = bare_world()
    market, agent = listed(world, start_price=0.5), world.agents["ada"]
    order = Order(agent, market.market_id, Side.YES, Action.BUY, Micros(5 * ONE))
    fills = [world.place(order, AT) for _ in range(3)]
    assert [one.trade_id for one in fills] == ["t1", "t2", "t3"]
    assert world.trade_count == 3
    # Read back from the journal they count as well.
    world.apply(fills[0]._replace(trade_id="t4"))
    assert world.place(order, AT).trade_id == "t5"


def test_what_was_traded_is_kept_for_the_monitors_up_to_a_bound() -> None:
    world = bare_world(auto_risk_monitor_enabled=False)
    market, agent = listed(world), world.agents["ada"]
    order = Order(agent, market.market_id, Side.YES, Action.BUY, Micros(100_000))
    for _ in range(UNSEEN_MAX):
        world.place(order, AT)
    assert len(world.risk.filled) == UNSEEN_MAX
    world.place(order, AT)
    assert world.risk.filled == []


def test_equity_is_cash_and_what_is_held_at_the_price_of_now() -> None:
    world = bare_world()
    agent = world.agents["ada"]
    for name, price in (("m1", 0.5), ("m2", 0.25)):
        listed(world, name, start_price=price)
    first = agent.positions["m1"] = Position("ada", "m1")
    first.yes.shares, first.no.shares = Micros(4 * ONE), Micros(6 * ONE)
    second = agent.positions["m2"] = Position("ada", "m2")
    second.no.shares = Micros(8 * ONE)
    made = first.mark_value(world.markets["m1"].price()) + second.mark_value(
        world.markets["m2"].price()
    )
    assert made == pytest.approx(11 * ONE, abs=2)
    assert world.equity(agent) == 10_000 * ONE + made


@pytest.mark.parametrize("by_journal", [False, True])
def test_the_first_event_of_a_day_notes_the_equity_before_it(*, by_journal: bool) -> None:
    world = bare_world("ada", "bea")
    market, agent = listed(world, resolves_at=AT + 9 * 86_400), world.agents["ada"]
    midnight = Timestamp((AT // 86_400 + 1) * 86_400)
    order = Order(agent, market.market_id, Side.YES, Action.BUY, Micros(50 * ONE))
    world.place(order, AT)
    noted = agent.day_equity
    world.place(order, Timestamp(midnight - 1))
    assert agent.day_equity == noted == 10_000 * ONE
    before = world.exit_equity(agent)
    fill = world.exchange.check(order, "t3", (midnight, AT))
    if by_journal:
        world.apply(fill)
    else:
        world.place(order, midnight)
    assert (agent.equity_day, agent.day_equity) == (int(midnight // 86_400), before)
    assert world.agents["bea"].equity_day == int(midnight // 86_400)
    assert world.exit_equity(agent) != before


def test_news_are_those_of_markets_that_go_on_the_newest_first() -> None:
    world = bare_world()
    for name, times in (("m1", (-30.0, -10.0, 5.0)), ("m2", (-20.0,)), ("m3", (-15.0,))):
        reports = tuple(NewsReport(Timestamp(AT + one), 0.1, f"{name} {one}") for one in times)
        # The tape draws a market's prices by the digits of its id.
        listed(world, f"10000000-0000-4000-8000-0000000000{name[1:]:>02}", news=reports)
    last = next(reversed(world.markets.values()))
    last.resolved_at = AT

    def headlines(since: float, limit: int = 9) -> list[str]:
        return [one.headline for one in world.news(Timestamp(AT + since), limit)]

    assert headlines(-60) == ["m1 -10.0", "m2 -20.0", "m1 -30.0"]
    assert headlines(-60, 2) == ["m1 -10.0", "m2 -20.0"]
    assert headlines(-30) == ["m1 -10.0", "m2 -20.0"]


def test_who_and_what_is_not_there_is_named() -> None:
    world = bare_world()
    with pytest.raises(MarketNotFound, match="m9"):
        world.market("m9")
    with pytest.raises(AgentNotFound, match="bea"):
        world.agent("bea")
    assert world.agent("ada") is world.agents["ada"]
    assert world.market(listed(world).market_id) is world.markets["m1"]


def test_a_new_key_opens_and_the_old_one_no_more() -> None:
    world = bare_world("ada", "bea")
    world.apply(KeyRotated("ada", AT, "h new"))
    assert world.by_key_hash("h new") is world.agents["ada"]
    assert world.by_key_hash("h ada") is None
    assert world.by_key_hash("h bea") is world.agents["bea"]
    assert world.agents["ada"].key_hash == "h new"


def payout(agent_id: str, side: Side, **micros: int) -> Payout:
    return Payout(
        agent_id=agent_id, side=side, shares=Micros(micros["shares"]), cost=Micros(micros["cost"]),
        payout=Micros(micros["payout"]), realized_before=Micros(micros["before"]),
        opened_at=Timestamp(AT - 9), sources=("news",),
    )  # fmt: skip


def test_an_outcome_pays_counts_and_closes_each_side() -> None:
    world = bare_world("ada", "bea")
    market = listed(world, b=Micros(50 * ONE))
    for name in ("ada", "bea"):
        world.agents[name].positions["m1"] = Position(name, "m1")
        world.agents[name].sources["m1"] = ("news",)
    paid = (
        payout("ada", Side.YES, shares=9 * ONE, cost=4 * ONE, payout=9 * ONE, before=700),
        payout("ada", Side.NO, shares=3 * ONE, cost=2 * ONE, payout=0, before=0),
        payout("bea", Side.YES, shares=5 * ONE, cost=5 * ONE, payout=5 * ONE, before=0),
    )
    world_at = Timestamp(AT + 60)
    world.apply(MarketResolved("m1", AT, world_at, ENDED_YES, paid, Micros(2 * ONE)))
    ada, bea = world.agents["ada"], world.agents["bea"]
    assert (world.cash(ada), world.cash(bea)) == (10_009 * ONE, 10_005 * ONE)
    assert (ada.realized, ada.win_count, ada.loss_count) == (3 * ONE, 1, 1)
    # Neither won nor lost: it brought what it had cost.
    assert (bea.realized, bea.win_count, bea.loss_count) == (0, 0, 0)
    assert ada.closed[0] == ClosedPosition(
        market_id="m1", question="Does m1 end well?", category="politics", side=Side.YES,
        shares=Micros(9 * ONE), cost=Micros(4 * ONE), payout=Micros(9 * ONE),
        realized=Micros(5 * ONE + 700), outcome=ENDED_YES, opened_at=Timestamp(AT - 9),
        resolved_at=world_at, sources=("news",),
    )  # fmt: skip
    assert [one.side for one in ada.closed] == [Side.YES, Side.NO]
    assert (ada.positions, ada.sources, bea.positions) == ({}, {}, {})
    assert (market.outcome, market.resolved_at) == (ENDED_YES, world_at)
    assert (world.resolved_count, world.ended) == (1, {"m1": market})
    # What the maker paid came from all makers, and the crowd has its part.
    balance = world.ledger.balance
    assert (balance(market.account), balance(CROWD), balance(MAKERS)) == (0, 2 * ONE, -16 * ONE)


def test_a_maker_that_earned_gives_it_to_all_makers() -> None:
    world = bare_world()
    market = listed(world)
    world.ledger.transfer("agent:ada", market.account, Micros(3 * ONE))
    world.apply(MarketResolved("m1", AT, AT, ENDED_YES, (), Micros(0)))
    assert (world.ledger.balance(market.account), world.ledger.balance(MAKERS)) == (0, 3 * ONE)


@pytest.mark.parametrize(("more", "stops"), [(9, False), (12, True)])
def test_a_maker_may_lose_its_bound_and_a_hair(*, more: int, stops: bool) -> None:
    world = bare_world()
    market = listed(world)
    loss = Micros(int(market.worst_loss()) + more)
    event = MarketResolved("m1", AT, AT, ENDED_YES, (), loss)
    if stops:
        with pytest.raises(MakerBoundError, match="m1: the maker lost"):
            world.apply(event)
    else:
        world.apply(event)
        assert world.ledger.balance(MAKERS) == -loss


def test_a_halt_lasts_until_it_is_lifted() -> None:
    world = bare_world()
    world.apply(HaltSet(AT, halted=True))
    assert world.halt.since == AT
    world.apply(HaltSet(Timestamp(AT + 5), halted=False))
    assert world.halt.since is None


# -- the tape ------------------------------------------------------------------------------


def move(world: World, *trades: CrowdTrade, closed: bool = False) -> Timestamp:
    world_at = Timestamp(world.world_at + 2)
    world.apply(Ticked(Timestamp(AT + 1), world_at, trades, closed))
    return world_at


def test_a_tick_moves_money_and_prices_and_is_told_on_the_tape() -> None:
    world = bare_world()
    market, quiet = listed(world), listed(world, "m2")
    crowd = CrowdTrade("m1", Side.NO, Micros(9 * ONE), Micros(5 * ONE), "pippin")
    world_at = move(world, crowd, crowd._replace(side=Side.YES, trader="merry"))
    assert (world.at, world.world_at, world.tick_count) == (AT + 1, world_at, 1)
    assert world.ledger.balance(CROWD) == -10 * ONE
    assert world.ledger.balance(market.account) == 10 * ONE
    assert (market.sold(Side.YES), market.sold(Side.NO)) == (9 * ONE, 9 * ONE)
    assert market.volume_24h(world_at) == 10 * ONE
    first, second = market.tape
    assert first[:5] == (world_at, "pippin", Side.NO, "buy", 9 * ONE)
    assert second == (
        world_at, "merry", Side.YES, "buy", 9 * ONE, pytest.approx(market.price()),
    )  # fmt: skip
    assert first[5] > 1 - market.price()
    assert [list(one.recent) for one in (market, quiet)] == [
        [(world_at, round(market.price(), 4))],
        [(world_at, 0.4)],
    ]
    assert (len(quiet.tape), quiet.volume_24h(world_at)) == (0, 0)


def test_a_gap_is_on_no_tape_and_its_hours_count_as_they_are_on_average() -> None:
    world = bare_world()
    # The tape draws a market's turnover by the digits of its id.
    ids = [f"{number}0000000-0000-4000-8000-000000000001" for number in (1, 2)]
    market, over = (listed(world, one) for one in ids)
    over.resolved_at = AT
    crowd = CrowdTrade(ids[0], Side.NO, Micros(9 * ONE), Micros(5 * ONE), "pippin")
    world_at = move(world, crowd, closed=True)
    assert (market.sold(Side.NO), len(market.tape)) == (9 * ONE, 0)
    expected = listed(bare_world(), ids[0])
    count_unseen([expected], world_at)
    assert market.volume_24h(world_at) == expected.volume_24h(world_at) > 0
    # What has an outcome has no price any more.
    assert (len(market.recent), len(over.recent)) == (1, 0)


def test_a_market_is_listed_with_the_prices_and_trades_of_before() -> None:
    world = bare_world("ada", "bea")
    listing = listed(bare_world(), "10000000-0000-4000-8000-000000000001").listing
    crowd = CrowdTrade(listing.market_id, Side.YES, Micros(7 * ONE), Micros(3 * ONE), "pippin")
    world.apply(MarketListed(Timestamp(AT + 5), AT, listing, (crowd,), "bea"))
    market = world.markets[listing.market_id]
    assert (market.listed_at, market.listing, world.listed_count) == (AT + 5, listing, 1)
    assert market.sold(Side.YES) == 7 * ONE
    assert (world.ledger.balance(market.account), world.ledger.balance(CROWD)) == (
        3 * ONE,
        -3 * ONE,
    )
    assert len(market.samples) == PREFILL
    assert all(listing.opens_at <= at <= AT for at, _ in market.samples)
    imports = {name: agent.imports_today(AT) for name, agent in world.agents.items()}
    assert imports == {"ada": 0, "bea": 1}
    # One that opens at this moment has no past, and one by nobody counts for nobody.
    fresh = listed(bare_world(), "m2", opens_at=AT).listing
    world.apply(MarketListed(AT, AT, fresh))
    assert (world.markets["m2"].samples, world.listed_count) == ([], 2)
    assert world.agents["bea"].imports_today(AT) == 1


# -- agents and commands -------------------------------------------------------------------


def test_an_agent_begins_as_it_was_registered_with_its_first_cash() -> None:
    world = World(7, AT, TOPICS)
    at, cash = Timestamp(AT + 9), Micros(70 * ONE)
    event = AgentRegistered("zoe", at, "Zoë", "knows", "h zoe", "reef-1", Plan.PRO, cash)
    assert world.register(event) == [event]
    agent = world.agent("zoe")
    assert agent == Agent(
        "zoe", at, "knows", "h zoe", "reef-1", AgentSettings("Zoë", Plan.PRO), "agent:zoe",
        equity_day=int(at // 86_400), day_equity=cash, marks=agent.marks, peak=cash,
    )  # fmt: skip
    assert agent.marks.all() == [(at, cash, cash)]
    assert (world.cash(agent), world.equity(agent), world.ledger.balance(ISSUER)) == (
        cash,
        cash,
        -cash,
    )
    assert world.by_key_hash("h zoe") is agent
    for venue in (Venue.EVM, Venue.SOL):
        assert world.venues.cash("zoe", venue) == GRANT
    assert world.venues.cash("zoe", Venue.SIM) == 0


def test_each_kind_of_event_reaches_what_it_changes() -> None:
    world = bare_world("ada", "bea")
    listed(world)
    skill, alert = experiment(), whole(PriceAlertSet)
    webhook, held = whole(WebhookSet), whole(TradePending)._replace(agent_id="ada")
    events: list[Event] = [
        PlanSet(AT, Plan.FREE),
        skill,
        ReactorChanged("bea", AT, {"wallets": ("0xAb",)}),
        WalletLinked("ada", AT, "0x" + "Ab" * 20, 5),
        held,
        webhook,
        WebhookTried(webhook.webhook_id, AT, "d1", "e", 5, "gone"),
        alert,
        ClientSeen("bea", AT, "0.9"),
        TradeFailed("ada", AT, "m1", Side.NO, "too late"),
        OperatorActed("zoë", AT, "halt"),
    ]
    assert world.did(events) == events
    assert world.plan is Plan.FREE
    assert world.research.experiments("ada") == [skill]
    assert world.reactor.state("bea").config.wallets == ("0xAb",)
    assert world.chain.wallet_of("ada") is not None
    assert world.pending_trades.waiting == {held.pending_id: held}
    assert world.webhooks.by_id[webhook.webhook_id].failures == 1
    assert [one.placed for one in world.price_alerts.waiting.values()] == [alert]
    assert world.agents["bea"].sdk_version == "0.9"
    assert world.agents["ada"].failed == {"m1:no": AT}


def test_a_new_speed_counts_from_its_moment_and_no_clock_goes_back() -> None:
    world = bare_world()
    world.apply(SpeedSet(Timestamp(AT + 5), AT, 60))
    assert (world.speed, world.at, world.world_at) == (60, AT + 5, AT)
    world.apply(SpeedSet(Timestamp(AT - 5), AT, 1))
    assert (world.speed, world.at) == (1, AT + 5)


@pytest.mark.parametrize("by_journal", [False, True])
def test_a_mirror_on_sim_counts_however_it_comes(*, by_journal: bool) -> None:
    world = bare_world()
    market, agent = listed(world), world.agents["ada"]
    for note in (Note(), Note(signal_data={"tx_hash": "0x1"})):
        order = Order(agent, market.market_id, Side.YES, Action.BUY, Micros(20 * ONE), note=note)
        if by_journal:
            world.apply(world.exchange.check(order, "t1", (AT, AT)))
        else:
            world.place(order, AT)
    assert world.reactor.mirrors.spent_today("ada", Venue.SIM, AT) == 20 * ONE
    assert world.reactor.mirrors.done == {"ada": {"0x1": 20 * ONE}}


def held_on_venue(world: World, market_id: str) -> tuple[VenueAccount, VenuePosition]:
    ends = world.markets[market_id].listing.resolves_at
    holding = VenuePosition(Position("ada", market_id), "Q?", "politics", ends)
    account = VenueAccount("ada", Venue.EVM, holdings={market_id: holding})
    world.venues.accounts["ada", Venue.EVM] = account
    return account, holding


def test_ticks_are_counted_and_end_the_windows_of_what_is_held_on_venues() -> None:
    world = bare_world()
    market = listed(world, home=Venue.EVM, resolves_at=Timestamp(AT + 3))
    _, holding = held_on_venue(world, market.market_id)
    move(world)
    assert (world.tick_count, holding.state) == (1, PositionState.ACTIVE)
    move(world)
    assert (world.tick_count, holding.state) == (2, PositionState.AWAITING)


def test_an_outcome_reaches_venues_wallets_and_alerts() -> None:
    world = bare_world()
    market = listed(world, home=Venue.EVM)
    account, holding = held_on_venue(world, "m1")
    holding.position.yes.shares = Micros(4 * ONE)
    record = world.reactor.records.by_address["0xAb"] = WalletRecord()
    record.held["m1"] = WalletPosition(yes=Micros(4 * ONE), yes_cost=Micros(ONE))
    world.apply(whole(PriceAlertSet)._replace(market_id="m1"))
    world.apply(MarketResolved("m1", AT, AT, ENDED_YES, (), Micros(0)))
    assert (holding.payout(), account.win_count) == (4 * ONE, 1)
    assert (record.realized, record.held) == (3 * ONE, {})
    assert world.price_alerts.waiting == {}
    assert world.ended == {"m1": market}


def test_outcomes_add_up_and_an_agent_keeps_so_many_of_them() -> None:
    world = bare_world("ada", "bea")
    lost = payout("ada", Side.YES, shares=3, cost=2, payout=0, before=0)
    world.agents["ada"].closed = [whole(ClosedPosition)] * CLOSED_KEPT
    for market_id in ("m1", "m2"):
        listed(world, market_id)
        event = MarketResolved(market_id, AT, AT, ENDED_NO, (lost,), Micros(0))
        world.apply(event)
    ada = world.agents["ada"]
    assert (ada.loss_count, ada.win_count, ada.realized) == (2, 0, -4)
    assert len(ada.closed) == CLOSED_KEPT
    assert [one.market_id for one in ada.closed[-2:]] == ["m1", "m2"]
    assert (ada.closed[-1].shares, ada.closed[-1].payout) == (3, 0)


# -- what is forgotten ---------------------------------------------------------------------


def test_so_many_resolved_markets_stay_and_the_oldest_go() -> None:
    world = bare_world()
    for number in range(RESOLVED_KEPT):
        listed(world, f"old{number:03}").resolved_at = Timestamp(AT - 1_000 + number)
    listed(world, "open")
    listed(world, "last")
    world.apply(MarketResolved("last", AT, AT, ENDED_YES, (), Micros(0)))
    assert len(world.markets) == RESOLVED_KEPT + 1
    assert {"open", "last", "old001", f"old{RESOLVED_KEPT - 1}"} <= set(world.markets)
    assert "old000" not in world.markets
    # With exactly so many none has to go.
    del world.markets["old001"]
    listed(world, "next")
    world.apply(MarketResolved("next", AT, AT, ENDED_YES, (), Micros(0)))
    assert "old002" in world.markets


def test_the_question_of_a_forgotten_market_is_that_of_its_closed_position() -> None:
    world = bare_world("ada", "bea")
    listed(world, "m1", question="Open?")
    closed = ClosedPosition(
        "m2", "Old?", "politics", Side.YES, Micros(1), Micros(1), Micros(1), Micros(0),
        outcome=ENDED_YES, opened_at=AT, resolved_at=AT,
    )  # fmt: skip
    world.agents["ada"].closed = [closed]
    world.agents["bea"].closed = [replace(closed, market_id="m3", question="Older?")]
    asked = {key: world.question_of(key) for key in ("m1", "m2", "m3", "m4")}
    assert asked == {"m1": "Open?", "m2": "Old?", "m3": "Older?", "m4": ""}

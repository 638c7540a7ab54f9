"""The reactor at each of its bounds, in a world of a few made markets."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from service_tui.engine.agents.mirrors import TX_KEY
from service_tui.engine.amm.exchange import Order
from service_tui.engine.errors import DaySpend, SignalNotFound
from service_tui.engine.events import (
    BreakerReset,
    Note,
    Reacted,
    ReactorChanged,
    Settlement,
    SignalDismissed,
)
from service_tui.engine.reactor.reactor import (
    FAILED,
    MIRRORED,
    RECENT_MAX,
    RESET,
    Breaker,
    Pause,
    Reactor,
    ReactorConfig,
    ReactorState,
    Signal,
    When,
    mirror_amount,
    price_bound,
    signal_id_of,
)
from service_tui.engine.world import World
from service_tui.terms import (
    BREAKER_S,
    FAILURES_MAX,
    MIRROR_PRICE_MAX,
    SIGNAL_TTL_MAX_S,
    Action,
    Side,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp

ANN: Final = "0xAnn"
SIM, EVM, SOL = Venue.SIM, Venue.EVM, Venue.SOL
BUY = Settlement(
    "0x1", ANN, "Ann", EVM, "m1", 4, 11, Side.NO, Action.BUY, Micros(100 * ONE), 0.4, Micros(0)
)


def later(by_s: float) -> Timestamp:
    return Timestamp(AT + by_s)


@pytest.fixture
def world() -> World:
    world = bare_world("ada", "bea")
    listed(world, "m1", home=EVM)
    return world


def follow(world: World, agent_id: str = "ada", **changes: Any) -> None:
    chosen = {"wallets": (ANN, "0xBen"), "enabled": True} | changes
    world.reactor.apply(ReactorChanged(agent_id, AT, chosen))


def pending(world: World, by_s: float = 0, **more: Any) -> list[Signal]:
    agent = world.agents[more.pop("agent", "ada")]
    when = When(later(by_s), AT, more.pop("ttl_s", 60.0))
    return world.reactor.pending(agent, world.markets, when, **more)


def failed(world: World, count: int, by_s: float = 0, decision: str = FAILED) -> None:
    for _ in range(count):
        world.reactor.apply(Reacted("ada", later(by_s), "0x1", decision, {}))


def test_a_signal_has_each_field_of_its_own(world: World) -> None:
    follow(world, mirror_fraction=0.25)
    world.reactor.note(BUY, later(3))
    market = world.markets["m1"]
    assert pending(world, 5) == [
        Signal("0x1", BUY, market.listing, SIM, Micros(10 * ONE), later(3), later(63))
    ]
    assert pending(world, 5, agent="bea") == []


@pytest.mark.parametrize(
    ("by_s", "waits"), [(3, True), (62.9, True), (63, False), (-56.9, True), (-57, False)]
)
def test_a_signal_waits_for_less_than_its_life(world: World, by_s: float, *, waits: bool) -> None:
    follow(world)
    world.reactor.note(BUY, later(3))
    assert bool(pending(world, by_s)) is waits


@pytest.mark.parametrize(
    ("config", "home", "is_followed"),
    [
        ({}, SOL, True),
        ({"venue": EVM}, EVM, True),
        ({"venue": EVM}, SOL, False),
        ({"venue": SOL}, EVM, False),
        ({"enabled": False}, EVM, False),
        ({"wallets": ()}, EVM, False),
        ({"min_size": Micros(100 * ONE)}, EVM, True),
        ({"min_size": Micros(100 * ONE + 1)}, EVM, False),
    ],
)
def test_what_some_agent_would_mirror_is_followed(
    world: World, config: dict[str, Any], home: Venue, *, is_followed: bool
) -> None:
    follow(world, "bea", enabled=False)
    follow(world, **config)
    assert world.reactor.follows(BUY, home) is is_followed
    assert not world.reactor.follows(BUY._replace(action=Action.SELL), home)


def test_a_name_means_one_signal_or_all_of_a_transaction(world: World) -> None:
    reactor = world.reactor
    legs = [BUY._replace(tx_hash="0xab", leg=leg) for leg in (0, 1)]
    for one in (*legs, BUY):
        assert reactor.note(one, AT)
        assert not reactor.note(one, AT)
    ids = [signal_id_of(one) for one in legs]
    assert reactor.ids_of("0xAB") == ids
    assert reactor.ids_of("0X1".lower()) == ["0x1"]
    assert len(set(ids)) == 2
    assert all(one.startswith("0xab:maker:") and "0xann" in one for one in ids)
    with pytest.raises(SignalNotFound, match="0x2"):
        reactor.ids_of("0x2")


def test_what_is_remembered_is_bounded_by_number_and_by_age(world: World) -> None:
    reactor = world.reactor
    for number in range(RECENT_MAX + 1):
        reactor.note(BUY._replace(tx_hash=f"0x{number}"), AT)
    assert (len(reactor.recent), "0x0" in reactor.recent) == (RECENT_MAX, False)
    reactor.note(BUY._replace(tx_hash="new"), later(SIGNAL_TTL_MAX_S - 0.1))
    assert len(reactor.recent) == RECENT_MAX
    reactor.note(BUY._replace(tx_hash="newer"), later(SIGNAL_TTL_MAX_S))
    assert list(reactor.recent) == ["new", "newer"]


# -- the breaker ---------------------------------------------------------------------------


def test_the_breaker_opens_at_the_last_failure_and_counts_what_it_holds_back(
    world: World,
) -> None:
    follow(world)
    failed(world, FAILURES_MAX - 1)
    assert world.reactor.breaker("ada", AT) == Breaker(FAILURES_MAX - 1, 0)
    failed(world, 1, 7)
    world.reactor.note(BUY, later(8))
    world.reactor.note(BUY._replace(tx_hash="0x2", wallet="0xCyd"), later(8))
    assert world.reactor.breaker("ada", later(9)) == Breaker(
        FAILURES_MAX, 1, later(7), later(7 + BREAKER_S)
    )
    assert pending(world, 9) == []
    assert world.reactor.breaker("bea", later(9)) == Breaker(0, 0)


@pytest.mark.parametrize(
    ("by_s", "is_open"),
    [(0, True), (BREAKER_S - 1, True), (BREAKER_S, False), (1 - BREAKER_S, True),
     (-BREAKER_S, False)],
)  # fmt: skip
def test_the_breaker_is_open_for_an_hour(world: World, by_s: float, *, is_open: bool) -> None:
    failed(world, FAILURES_MAX)
    breaker = world.reactor.breaker("ada", later(by_s))
    assert (breaker.paused_at is not None) is is_open
    assert breaker.failures == (FAILURES_MAX if is_open else 0)
    found = world.reactor.reactions("ada", later(by_s), 3)
    assert [one.decision for one in found] == [FAILED if is_open else RESET, FAILED, FAILED]
    assert found[0].at == (AT if is_open else later(BREAKER_S))
    assert {one.agent_id for one in found} == {"ada"}


def test_a_breaker_whose_hour_is_over_still_says_what_it_held_back(world: World) -> None:
    follow(world)
    failed(world, FAILURES_MAX)
    for number in range(3):
        world.reactor.note(BUY._replace(tx_hash=f"0x{number}"), later(1))
    breaker = world.reactor.breaker("ada", later(1))
    assert (breaker.failures, breaker.skipped, breaker.resets_at) == (
        FAILURES_MAX,
        3,
        later(BREAKER_S),
    )
    assert world.reactor.breaker("ada", later(BREAKER_S)) == Breaker(0, 3)


def test_a_fill_of_the_maker_is_named_by_its_market_its_side_and_its_leg() -> None:
    assert signal_id_of(BUY) == "0x1"
    maker = BUY._replace(leg=0)
    others = [
        maker, maker._replace(market_id="m2"), maker._replace(side=Side.YES),
        maker._replace(leg=1), maker._replace(wallet="0xBen"), maker._replace(tx_hash="0x2"),
    ]  # fmt: skip
    assert len({signal_id_of(one) for one in others}) == len(others)
    # What it cost and by which name it is known make no other signal of it.
    same = maker._replace(label="B", price=0.9, shares=Micros(1), slot=9, number=9, cost=Micros(5))
    assert signal_id_of(same) == signal_id_of(maker)
    tx_hash, *_, wallet, token = signal_id_of(maker).split(":")
    assert (tx_hash, wallet, token.isdecimal()) == ("0x1", ANN.lower(), True)


def test_what_was_dismissed_stays_so_when_another_one_is(world: World) -> None:
    follow(world)
    for number in range(3):
        world.reactor.note(BUY._replace(tx_hash=f"0x{number}"), AT)
    for number in range(2):
        world.reactor.apply(SignalDismissed("ada", later(number), f"0x{number}"))
    assert [one.signal_id for one in pending(world, 5)] == ["0x2"]
    assert world.reactor.state("ada").gone == {"0x0": AT, "0x1": later(1)}


def test_a_reset_of_a_breaker_that_is_closed_begins_the_count_anew_alone(world: World) -> None:
    failed(world, FAILURES_MAX - 1)
    rows = world.reactor.reactions("ada", AT, 9)
    assert [one.decision for one in rows] == [FAILED] * (FAILURES_MAX - 1)
    world.reactor.apply(BreakerReset("ada", later(1)))
    assert world.reactor.reactions("ada", later(2), 9) == rows
    assert world.reactor.breaker("ada", later(2)) == Breaker(0, 0)
    failed(world, FAILURES_MAX - 1, 3)
    assert world.reactor.breaker("ada", later(4)).paused_at is None


def test_nothing_waits_while_the_breaker_is_open_nor_in_a_closed_question(world: World) -> None:
    follow(world)
    world.reactor.note(BUY, AT)
    agent, ends = world.agents["ada"], world.markets["m1"].listing.resolves_at
    found = [
        len(world.reactor.pending(agent, world.markets, When(AT, Timestamp(at), 60.0)))
        for at in (ends - 1, ends)
    ]
    assert found == [1, 0]
    failed(world, FAILURES_MAX, 1)
    assert pending(world, 2) == []


def test_a_cap_that_is_lowered_below_what_was_spent_leaves_nothing(world: World) -> None:
    follow(world, venue=EVM)
    note = Note(signal_data={TX_KEY: "0x9"})
    world.venues.mirrors.count(("ada", EVM), AT, Micros(30 * ONE), note)
    assert world.reactor.cap_left("ada", AT) == 70 * ONE
    follow(world, daily_cap=Micros(20 * ONE))
    assert world.reactor.cap_left("ada", AT) == 0
    assert world.reactor.cap_left("ada", later(86_400)) == 20 * ONE


def test_a_success_begins_the_count_anew_but_closes_no_breaker(world: World) -> None:
    failed(world, FAILURES_MAX - 1)
    failed(world, 1, decision=MIRRORED)
    assert world.reactor.breaker("ada", AT).failures == 0
    failed(world, FAILURES_MAX)
    failed(world, 1, decision=MIRRORED)
    failed(world, 1)
    assert world.reactor.breaker("ada", AT).failures == FAILURES_MAX


def test_a_reset_by_hand_closes_at_its_own_time(world: World) -> None:
    failed(world, FAILURES_MAX)
    world.reactor.apply(BreakerReset("ada", later(50)))
    state = world.reactor.state("ada")
    assert (state.paused_at, state.failures, state.pauses) == (None, 0, [(AT, later(50))])
    assert state.reactions[-1] == Reacted("ada", later(50), "", RESET, {})
    # Where none was open only the count begins anew.
    failed(world, 2)
    world.reactor.apply(BreakerReset("ada", later(60)))
    assert (state.failures, state.pauses) == (0, [(AT, later(50))])


@pytest.mark.parametrize(
    ("age_s", "is_kept"), [(SIGNAL_TTL_MAX_S - 1, True), (SIGNAL_TTL_MAX_S, False)]
)
def test_a_pause_is_kept_while_a_signal_of_it_could_wait(
    world: World, age_s: float, *, is_kept: bool
) -> None:
    failed(world, FAILURES_MAX)
    world.reactor.apply(BreakerReset("ada", later(1)))
    failed(world, FAILURES_MAX, 2)
    world.reactor.apply(BreakerReset("ada", later(1 + age_s)))
    pauses: list[Pause] = [(later(2), later(1 + age_s))]
    expected = [(AT, later(1)), *pauses] if is_kept else pauses
    assert world.reactor.state("ada").pauses == expected


@pytest.mark.parametrize(("seen_s", "waits"), [(9, True), (10, False), (19, False), (20, True)])
def test_what_came_while_the_breaker_was_open_is_lost(
    world: World, seen_s: float, *, waits: bool
) -> None:
    follow(world)
    failed(world, FAILURES_MAX, 10)
    world.reactor.note(BUY, later(seen_s))
    world.reactor.apply(BreakerReset("ada", later(20)))
    assert bool(pending(world, 25)) is waits


def test_what_was_dismissed_waits_for_nobody_and_is_forgotten_with_its_signal(
    world: World,
) -> None:
    follow(world)
    follow(world, "bea")
    reactor = world.reactor
    reactor.note(BUY, AT)
    reactor.apply(SignalDismissed("ada", later(1), "0x1"))
    assert (pending(world), len(pending(world, agent="bea"))) == ([], 1)
    reactor.recent.clear()
    reactor.apply(SignalDismissed("ada", later(2), "0x2"))
    assert reactor.state("ada").gone == {"0x2": later(2)}


# -- amounts -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("price", "buffer", "bound"),
    [(0.4, 0.02, 0.408), (0.4, 0.0, 0.4), (0.99, 0.5, MIRROR_PRICE_MAX), (1 / 3, 0.1, 0.366667)],
)
def test_a_mirror_pays_a_little_more_than_the_wallet(
    price: float, buffer: float, bound: float
) -> None:
    assert price_bound(ReactorConfig(price_buffer=buffer), BUY._replace(price=price)) == bound


@pytest.mark.parametrize(
    ("config", "left", "amount"),
    [
        ({"mirror_fraction": 0.5}, 99, 20.0),
        ({"mirror_fraction": 0.5, "max_size": Micros(30 * ONE)}, 99, 12.0),
        ({"mirror_fraction": 0.5}, 7, 7.0),
        ({"mirror_fraction": 0.0}, 99, 0.0),
        ({"mirror_fraction": 1.0, "venue": EVM}, 99, 25.0),
        ({"mirror_fraction": 0.05, "venue": EVM}, 99, 0.0),
        ({"mirror_fraction": 0.052, "venue": EVM}, 99, 2.08),
        ({"mirror_fraction": 0.1}, 99, 4.0),
    ],
)
def test_a_mirror_spends_the_least_of_its_bounds(
    config: dict[str, Any], left: int, amount: float
) -> None:
    agent = bare_world(max_trade=Micros(25 * ONE)).agents["ada"]
    found = mirror_amount(ReactorConfig(**config), BUY, agent, Micros(left * ONE))
    assert found == round(amount * ONE)


def test_who_has_set_nothing_has_a_reactor_that_follows_nothing() -> None:
    reactor: Reactor = bare_world().reactor
    assert reactor.state("ada") == ReactorState()
    assert reactor.states == {}
    assert (reactor.spent_today("ada", AT), reactor.cap_left("ada", AT)) == (0, 100 * ONE)


MIRROR: Final = Note(signal_data={TX_KEY: "0x1"})


@pytest.mark.parametrize(
    ("changes", "config", "is_refused"),
    [
        ({}, {}, True),
        ({"size": Micros(5 * ONE)}, {}, False),
        ({"note": Note()}, {}, False),
        ({"action": Action.SELL}, {}, False),
        ({"venue": EVM}, {}, False),
        ({}, {"venue": EVM}, False),
        ({"venue": EVM}, {"venue": EVM}, True),
    ],
)
def test_only_a_mirror_is_held_within_the_cap_of_its_venue(
    world: World, changes: dict[str, Any], config: dict[str, Any], *, is_refused: bool
) -> None:
    order = Order(world.agents["ada"], "m1", Side.YES, Action.BUY, Micros(5 * ONE + 1), note=MIRROR)
    world.reactor.check_cap(order, AT)
    follow(world, daily_cap=Micros(5 * ONE), **config)
    if is_refused:
        with pytest.raises(DaySpend, match=r"5\.00"):
            world.reactor.check_cap(order._replace(**changes), AT)
    else:
        world.reactor.check_cap(order._replace(**changes), AT)
    world.reactor.check_cap(order._replace(agent=world.agents["bea"]), AT)


@pytest.mark.parametrize("leg", [0, 1])
def test_a_fill_of_the_maker_waits_for_who_asks_for_it(world: World, leg: int) -> None:
    follow(world)
    world.reactor.note(BUY._replace(leg=leg), AT)
    assert (len(pending(world)), len(pending(world, maker=True))) == (0, 1)


def test_a_signal_waits_only_where_its_question_is_open_and_on_the_mirrors_venue(
    world: World,
) -> None:
    follow(world, mirror_fraction=0.5, venue=SOL)
    world.reactor.note(BUY, AT)
    world.reactor.note(BUY._replace(tx_hash="0x2", market_id="m2"), AT)
    assert pending(world) == []
    follow(world, venue=EVM)
    assert [one.settled.market_id for one in pending(world)] == ["m1"]
    world.markets["m1"].resolved_at = AT
    assert pending(world) == []


@pytest.mark.parametrize("key", ["0x1", "signal"])
def test_what_is_mirrored_already_shows_what_it_has_cost(world: World, key: str) -> None:
    follow(world)
    leg = BUY._replace(leg=2)
    world.reactor.note(leg, AT)
    name = signal_id_of(leg) if key == "signal" else key
    world.reactor.mirrors.done["ada"] = {name: Micros(77)}
    assert [one.amount for one in pending(world, maker=True)] == [77]


def test_nothing_is_counted_as_held_back_while_the_breaker_is_closed(world: World) -> None:
    follow(world)
    world.reactor.note(BUY, AT)
    assert world.reactor.breaker("ada", AT) == Breaker(0, 0)


def test_an_hour_that_is_over_is_put_down_before_what_comes_next(world: World) -> None:
    follow(world)
    failed(world, FAILURES_MAX)
    world.reactor.note(BUY, later(BREAKER_S - 1))
    world.reactor.note(BUY._replace(tx_hash="0x2"), later(BREAKER_S))
    # What came within the hour waits no more, although nothing has happened since.
    assert [one.signal_id for one in pending(world, BREAKER_S + 1)] == ["0x2"]
    failed(world, 1, BREAKER_S + 5)
    state = world.reactor.state("ada")
    assert (state.failures, state.pauses) == (1, [(AT, later(BREAKER_S))])
    assert [one.decision for one in state.reactions[-2:]] == [RESET, FAILED]

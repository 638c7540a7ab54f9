"""The reactor against a naive reference: what was told, what was done, and all from there."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kit.engine.topics import TOPICS
from kit.examples import examples
from service_tui.engine.agents.mirrors import MirrorReserves
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Market
from service_tui.engine.books.orders import VenueOrder, place
from service_tui.engine.books.resting import cancel_all
from service_tui.engine.codec.events import decode, dumps, encode
from service_tui.engine.codec.reactor import reactor_fields, restore_reactor
from service_tui.engine.codec.snapshot import fields_of, world_of
from service_tui.engine.errors import DaySpend, SignalNotFound
from service_tui.engine.events import (
    AgentRegistered,
    BreakerReset,
    Event,
    Note,
    Reacted,
    ReactorChanged,
    ReactorEvent,
    Settlement,
    SignalDismissed,
    Ticked,
    kind_of,
)
from service_tui.engine.reactor.reactor import (
    REACTIONS_KEPT,
    Breaker,
    Reactor,
    Signal,
    When,
    price_bound,
    signal_id_of,
)
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.terms import Action, OrderType, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
SEED: Final = 7
HOUR_S: Final = 3_600.0
TTL_S: Final = 60.0
DAY_S: Final = 86_400
WALLETS: Final = tuple(f"0x{number:040x}" for number in range(1, 5))
CENT: Final = 10_000


def settlement(market: Market, count: int, **fields: object) -> Settlement:
    one = Settlement(
        tx_hash=f"0x{count:064x}",
        wallet=WALLETS[0],
        label="Ann",
        venue=Venue.SIM,
        market_id=market.market_id,
        slot=market.listing.slot,
        number=market.listing.number,
        side=Side.YES,
        action=Action.BUY,
        shares=Micros(100 * ONE),
        price=0.4,
        cost=Micros(0),
    )
    return one._replace(**fields)  # pyright: ignore[reportArgumentType]


@dataclass
class Stand:
    """A world with one agent, whose tape stands still while wall time passes."""

    world: World = field(default_factory=lambda: World(SEED, AT, TOPICS))
    now: float = AT
    count: int = 0
    events: list[Event] = field(default_factory=list[Event])

    def __post_init__(self) -> None:
        advance(self.world, AT)
        agent = AgentRegistered(
            "ada", AT, "ada", "", "hash", "reef", Plan.PRO, Micros(10_000 * ONE)
        )
        self.world.register(agent)
        self.world.change(
            self.world.agents["ada"], {"real_trading_enabled": True, "claimed": True}, AT
        )
        self.start = dumps(fields_of(self.world))

    def market(self, home: Venue = Venue.EVM, nth: int = 0) -> Market:
        found = [
            one
            for one in self.world.markets.values()
            if one.listing.home is home and one.listing.resolves_at > AT + DAY_S
        ]
        return found[nth]

    def do(self, event: Event) -> None:
        self.world.apply(event)
        self.events.append(event)

    def tell(self, *settled: Settlement) -> None:
        self.do(Ticked(Timestamp(self.now), self.world.world_at, (), settled=settled))

    def new(self, market: Market, **fields: object) -> Settlement:
        self.count += 1
        return settlement(market, self.count, **fields)

    def follow(self, **changes: object) -> None:
        chosen = {"wallets": WALLETS[:2], "enabled": True} | changes
        self.do(ReactorChanged("ada", Timestamp(self.now), chosen))

    def react(self, decision: str) -> None:
        self.do(Reacted("ada", Timestamp(self.now), "0x12", decision, {}))

    def pending(self, *, maker: bool = False, ttl_s: float = TTL_S) -> list[Signal]:
        when = When(Timestamp(self.now), self.world.world_at, ttl_s)
        agent = self.world.agents["ada"]
        return self.world.reactor.pending(agent, self.world.markets, when, maker=maker)

    def is_paused(self) -> bool:
        return self.world.reactor.breaker("ada", Timestamp(self.now)).paused_at is not None


@pytest.fixture
def stand() -> Stand:
    return Stand()


# -- sizing --------------------------------------------------------------------------------


def amount_of(stand: Stand, one: Settlement, **changes: object) -> float | None:
    stand.follow(**changes)
    stand.tell(one)
    found = stand.pending()
    return found[0].amount / ONE if found else None


SIZES: Final[dict[str, tuple[dict[str, object], dict[str, object], float | None]]] = {
    "a fraction of the source": ({}, {"mirror_fraction": 0.25}, 10.0),
    "all of the source": ({}, {"mirror_fraction": 1.0}, 40.0),
    "nothing of the source": ({}, {"mirror_fraction": 0.0}, None),
    "at most max_size": ({}, {"mirror_fraction": 1.0, "max_size": Micros(30 * ONE)}, 12.0),
    "no size at all": ({}, {"max_size": Micros(0)}, None),
    "cut to the cap": ({}, {"mirror_fraction": 1.0, "daily_cap": Micros(7 * ONE)}, 7.0),
    "no cap left": ({}, {"daily_cap": Micros(0)}, None),
    "whole cents": ({"price": 0.333333}, {"mirror_fraction": 0.1}, 3.33),
    "below a cent": ({"shares": Micros(ONE // 10)}, {"mirror_fraction": 0.1}, None),
    "500 $SIM at most": (
        {"shares": Micros(9_000 * ONE)},
        {
            "mirror_fraction": 1.0,
            "max_size": Micros(9_000 * ONE),
            "daily_cap": Micros(9_000 * ONE),
        },
        500.0,
    ),
    "100 USDC at most on a real venue, as any trade": (
        {"shares": Micros(9_000 * ONE)},
        {
            "mirror_fraction": 1.0,
            "max_size": Micros(9_000 * ONE),
            "daily_cap": Micros(9_000 * ONE),
            "venue": Venue.EVM,
        },
        100.0,
    ),
    # 5 shares at the bound of 0.4 x 1.02 are 2.04.
    "the least of the EVM venue": (
        {"shares": Micros(51 * ONE)},
        {"mirror_fraction": 0.1, "venue": Venue.EVM},
        2.04,
    ),
    "below the least of the EVM venue": (
        {"shares": Micros(50 * ONE)},
        {"mirror_fraction": 0.1, "venue": Venue.EVM},
        None,
    ),
    "no book on that venue": ({}, {"venue": Venue.SOL}, None),
    "exactly min_size": ({}, {"min_size": Micros(100 * ONE), "mirror_fraction": 1.0}, 40.0),
    "below min_size": ({}, {"min_size": Micros(100 * ONE + 1)}, None),
    "a sale": ({"action": Action.SELL}, {}, None),
    "somebody else": ({"wallet": WALLETS[3]}, {}, None),
    "switched off": ({}, {"enabled": False}, None),
    "an empty watchlist": ({}, {"wallets": ()}, None),
}


@pytest.mark.parametrize("name", SIZES)
def test_what_a_mirror_spends(stand: Stand, name: str) -> None:
    fields, changes, wanted = SIZES[name]
    one = stand.new(stand.market(), **fields)
    found = amount_of(stand, one, **changes)
    assert found == (wanted if wanted is None else pytest.approx(wanted))


def test_each_amount_that_waits_keeps_within_what_is_left_of_the_cap(stand: Stand) -> None:
    stand.follow(mirror_fraction=0.5, daily_cap=Micros(45 * ONE))
    stand.tell(*(stand.new(stand.market()) for _ in range(4)))
    first = stand.pending()
    # The formula that the screen shows gives each of them, however many wait.
    assert [one.amount / ONE for one in first] == [20.0] * 4
    stand.do(SignalDismissed("ada", Timestamp(stand.now), first[0].signal_id))
    assert [one.amount / ONE for one in stand.pending()] == [20.0] * 3
    assert stand.pending()[0].signal_id == first[1].signal_id


def test_a_change_of_the_config_counts_at_the_next_look(stand: Stand) -> None:
    stand.follow(mirror_fraction=0.5)
    stand.tell(stand.new(stand.market()))
    assert [one.amount / ONE for one in stand.pending()] == [20.0]
    stand.follow(mirror_fraction=0.25)
    assert [one.amount / ONE for one in stand.pending()] == [10.0]
    stand.follow(wallets=WALLETS[2:])
    assert stand.pending() == []
    stand.follow()
    stand.follow(enabled=False)
    assert stand.pending() == []


@pytest.mark.parametrize(("price", "buffer", "bound"), [
    (0.4, 0.02, 0.408), (0.4, 0.0, 0.4), (0.5, 0.2, 0.6), (0.99, 0.2, 0.999),
])  # fmt: skip
def test_the_bound_of_a_price(stand: Stand, price: float, buffer: float, bound: float) -> None:
    stand.follow(price_buffer=buffer)
    config = stand.world.reactor.state("ada").config
    one = settlement(stand.market(), 1, price=price)
    assert price_bound(config, one) == pytest.approx(bound)


# -- signals -------------------------------------------------------------------------------


def test_a_clock_that_is_set_back_keeps_no_signal_for_longer(stand: Stand) -> None:
    stand.follow()
    stand.tell(stand.new(stand.market()))
    stand.now -= 61
    assert stand.pending() == []


def test_only_who_understands_it_gets_fills_of_the_maker(stand: Stand) -> None:
    stand.follow()
    market = stand.market()
    legs = [stand.new(market)._replace(tx_hash="0x" + "a" * 64, leg=leg) for leg in (0, 1)]
    stand.tell(*legs)
    assert stand.pending() == []
    found = stand.pending(maker=True)
    token = int(sha256(f"{market.market_id}:yes".encode()).hexdigest(), 16)
    assert [one.signal_id for one in found] == [
        f"0x{'a' * 64}:maker:{leg}:{WALLETS[0]}:{token}" for leg in (0, 1)
    ]
    # By the hash both are taken out, by its id one.
    reactor = stand.world.reactor
    assert reactor.ids_of("0X" + "A" * 64) == [one.signal_id for one in found]
    assert reactor.ids_of(found[1].signal_id.upper()) == [found[1].signal_id]
    with pytest.raises(SignalNotFound, match="0xb"):
        reactor.ids_of("0xb")


def test_a_question_that_is_not_listed_or_not_open_brings_no_signal(stand: Stand) -> None:
    stand.follow()
    stand.tell(stand.new(stand.market(), market_id="nowhere"))
    assert stand.pending() == []
    market = stand.market()
    stand.tell(stand.new(market))
    when = When(Timestamp(stand.now), market.listing.resolves_at)
    assert stand.world.reactor.pending(stand.world.agents["ada"], stand.world.markets, when) == []


def test_200_signals_are_told_in_order_and_none_is_lost(stand: Stand) -> None:
    stand.follow(daily_cap=Micros(10**6 * ONE))
    told = [stand.new(stand.market(nth=count % 5)) for count in range(200)]
    stand.tell(*told)
    assert [one.settled for one in stand.pending()] == told


# -- the day's cap -------------------------------------------------------------------------


def mirror_note(signal: Signal) -> Note:
    one = signal.settled
    return Note(
        source="sdk:copytrading:reactor",
        signal_data={"tx_hash": one.tx_hash, "signal_id": signal.signal_id},
    )


@pytest.mark.slow
def test_what_a_mirror_costs_counts_against_the_cap_and_survives(stand: Stand) -> None:
    stand.follow(mirror_fraction=0.5, daily_cap=Micros(30 * ONE))
    market = stand.market()
    stand.tell(stand.new(market), stand.new(market))
    first, second = stand.pending()
    # Both wait: neither has spent anything of the day.
    assert (first.amount, second.amount) == (20 * ONE, 20 * ONE)
    order = Order(
        stand.world.agents["ada"], market.market_id, Side.YES, Action.BUY, Micros(12 * ONE),
        note=mirror_note(first),
    )  # fmt: skip
    stand.events.append(stand.world.place(order, Timestamp(stand.now)))
    # Mirrored, and not taken out yet: it shows its cost; the other one gets what is left.
    assert [one.amount / ONE for one in stand.pending()] == [12.0, 18.0]
    assert stand.world.reactor.spent_today("ada", Timestamp(stand.now)) == 12 * ONE
    assert dumps(fields_of(replayed(stand))) == dumps(fields_of(stand.world))
    stand.now += DAY_S
    assert stand.world.reactor.spent_today("ada", Timestamp(stand.now)) == 0


def test_mirrors_together_keep_within_the_cap(stand: Stand) -> None:
    stand.follow(mirror_fraction=0.5, daily_cap=Micros(30 * ONE))
    agent, market = stand.world.agents["ada"], stand.market()
    stand.tell(stand.new(market), stand.new(market))
    first, second = stand.pending()

    def order(signal: Signal, size: int, note: Note | None = None) -> Order:
        return Order(
            agent, market.market_id, Side.YES, Action.BUY, Micros(size * ONE),
            note=note or mirror_note(signal),
        )  # fmt: skip

    now, reactor = Timestamp(stand.now), stand.world.reactor
    reactor.check_cap(order(first, 20), now)
    stand.world.place(order(first, 20), now)
    with pytest.raises(DaySpend):
        reactor.check_cap(order(second, 20), now)
    reactor.check_cap(order(second, 10), now)
    # What mirrors nothing is bound by other limits.
    reactor.check_cap(order(second, 20, Note(source="desk")), now)


def test_trades_that_mirror_nothing_leave_the_cap_alone(stand: Stand) -> None:
    stand.follow()
    agent, market = stand.world.agents["ada"], stand.market()
    for action, note in (
        (Action.BUY, Note(signal_data={"edge": 0.1})),
        (Action.SELL, Note(signal_data={"tx_hash": "0x12"})),
    ):
        size = Micros(10 * ONE) if action is Action.BUY else Micros(ONE)
        order = Order(agent, market.market_id, Side.YES, action, size, note=note)
        stand.world.place(order, Timestamp(stand.now))
    assert stand.world.reactor.spent_today("ada", Timestamp(stand.now)) == 0


def test_a_resting_mirror_reserves_and_gives_back_what_it_never_spent(stand: Stand) -> None:
    stand.follow(venue=Venue.EVM, mirror_fraction=1.0)
    market = stand.market()
    stand.tell(stand.new(market))
    (signal,) = stand.pending()
    bid = next(stand.world.venues.book(market.market_id).levels(stand.world.world_at, bids=True))
    order = VenueOrder(
        agent=stand.world.agents["ada"], market_id=market.market_id, side=Side.YES,
        action=Action.BUY, size=Micros(20 * ONE), venue=Venue.EVM, order_type=OrderType.GTC,
        price=bid.price, note=mirror_note(signal),
    )  # fmt: skip
    times = (Timestamp(stand.now), stand.world.world_at)
    stand.events += place(stand.world.venues, order, times)
    spent = stand.world.reactor.spent_today("ada", times[0])
    assert 19 * ONE < spent <= 20 * ONE
    (resting,) = stand.world.venues.orders("ada")
    stand.events += cancel_all(stand.world.venues, [resting], times)
    assert stand.world.reactor.spent_today("ada", times[0]) == 0
    assert dumps(fields_of(replayed(stand))) == dumps(fields_of(stand.world))


def replayed(stand: Stand) -> World:
    world = world_of(json.loads(stand.start), TOPICS)
    for event in stand.events:
        world.apply(decode(kind_of(event), encode(event)))
    return world


# -- the circuit breaker -------------------------------------------------------------------


@pytest.mark.parametrize("by_hand", [True, False])
def test_after_a_reset_the_newest_five_are_not_all_failures(stand: Stand, *, by_hand: bool) -> None:
    stand.follow()
    for _ in range(5):
        stand.react("failed")
    stand.now += 10.0 if by_hand else HOUR_S
    if by_hand:
        stand.do(BreakerReset("ada", Timestamp(stand.now)))

    def newest() -> list[str]:
        found = stand.world.reactor.reactions("ada", Timestamp(stand.now), 5)
        return [one.decision for one in found]

    assert newest() == ["reset", "failed", "failed", "failed", "failed"]
    stand.react("failed")
    assert newest() == ["failed", "reset", "failed", "failed", "failed"]
    assert not stand.is_paused()
    assert stand.world.reactor.breaker("ada", Timestamp(stand.now)).failures == 1


def test_the_reactions_that_are_kept_are_bounded(stand: Stand) -> None:
    for _ in range(REACTIONS_KEPT + 9):
        stand.react("mirrored")
    found = stand.world.reactor.reactions("ada", Timestamp(stand.now), 1_000)
    assert len(found) == REACTIONS_KEPT


def test_a_clock_that_is_set_back_far_does_not_hold_the_breaker_open(stand: Stand) -> None:
    for _ in range(5):
        stand.react("failed")
    stand.now -= 10.0
    assert stand.is_paused()
    stand.now -= 2 * HOUR_S
    assert not stand.is_paused()


def test_another_agents_failures_are_its_own(stand: Stand) -> None:
    stand.follow()
    stand.tell(stand.new(stand.market()))
    for _ in range(5):
        stand.do(Reacted("bob", Timestamp(stand.now), "0x12", "failed", {}))
    assert stand.world.reactor.breaker("bob", Timestamp(stand.now)).paused_at == AT
    assert len(stand.pending()) == 1


def test_a_snapshot_from_before_the_reactor_still_reads() -> None:
    fields = json.loads(dumps(fields_of(Stand().world)))
    del fields["reactor"]
    again = world_of(fields, TOPICS)
    assert again.reactor.state("ada").config.enabled is False
    assert again.reactor.recent == {}


# -- all of it, in any order, against a naive reference -------------------------------------

Done = tuple[float, str]


def naive_pause(done: list[Done], now: float) -> tuple[bool, list[tuple[float, float]]]:
    """Whether the breaker is open, and every span in which it was: from the whole history."""
    failures, opened, spans = 0, math.nan, list[tuple[float, float]]()
    for at, what in [*done, (now, "look")]:
        if not math.isnan(opened) and at >= opened + HOUR_S:
            spans.append((opened, opened + HOUR_S))
            failures, opened = 0, math.nan
        if what == "reset":
            if not math.isnan(opened):
                spans.append((opened, at))
            failures, opened = 0, math.nan
        elif what == "mirrored" and math.isnan(opened):
            failures = 0
        elif what == "failed" and math.isnan(opened):
            failures += 1
            if failures == 5:
                opened = at
    return not math.isnan(opened), spans


@cache
def shared() -> Stand:
    return Stand()


class Light:
    """A reactor by itself, over the markets and the agent of a world that never changes."""

    def __init__(self) -> None:
        self.world = shared().world
        self.reactor = Reactor(MirrorReserves())
        self.now: float = AT
        self.count = 0

    def do(self, event: ReactorEvent) -> None:
        self.reactor.apply(event)

    def tell(self, one: Settlement) -> None:
        self.reactor.note(one, Timestamp(self.now))

    def new(self, nth: int, **fields: object) -> Settlement:
        self.count += 1
        return settlement(shared().market(nth=nth), self.count, **fields)

    def pending(self) -> list[Signal]:
        when = When(Timestamp(self.now), self.world.world_at)
        agent = self.world.agents["ada"]
        return self.reactor.pending(agent, self.world.markets, when, maker=True)

    def breaker(self) -> Breaker:
        return self.reactor.breaker("ada", Timestamp(self.now))

    def start_again(self) -> None:
        text = dumps(reactor_fields(self.reactor))
        self.reactor = Reactor(MirrorReserves())
        restore_reactor(self.reactor, json.loads(text))
        assert dumps(reactor_fields(self.reactor)) == text


class Reactions(RuleBasedStateMachine):  # noqa: PLR0904  (its rules)
    """Signals, decisions, resets, spending, restarts and time in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.stand = Light()
        self.told: list[tuple[Settlement, float]] = []
        self.gone: set[str] = set()
        self.done: list[Done] = []
        self.config: dict[str, object] = {}
        self.spent: dict[tuple[int, Venue], int] = {}
        self.costs: dict[str, int] = {}

    @initialize()
    def begin(self) -> None:
        self.change(wallets=WALLETS[:2], enabled=True)

    def change(self, **changes: object) -> None:
        self.config |= changes
        self.stand.do(ReactorChanged("ada", Timestamp(self.stand.now), changes))

    @rule(
        wallet=st.sampled_from(WALLETS),
        action=st.sampled_from(Action),
        shares=st.integers(1, 400),
        price=st.sampled_from((0.05, 0.333333, 0.5, 0.97)),
        leg=st.sampled_from((-1, -1, 0, 1)),
        nth=st.integers(0, 3),
    )
    def told_one(  # noqa: PLR0917  (the figures of a settlement)
        self, wallet: str, action: Action, shares: int, price: float, leg: int, nth: int
    ) -> None:
        one = self.stand.new(
            nth, wallet=wallet, action=action,
            shares=Micros(shares * ONE), price=price, leg=leg,
        )  # fmt: skip
        self.told.append((one, self.stand.now))
        self.stand.tell(one)

    @precondition(lambda self: self.told)
    @rule(nth=st.integers(0, 50))
    def told_again(self, nth: int) -> None:
        recent = [one for one, at in self.told if self.stand.now - at < TTL_S]
        if recent:
            self.stand.tell(recent[nth % len(recent)])
            self.stand.now += 40.0

    @rule(
        sizes=st.lists(st.integers(20, 400), min_size=2, max_size=6),
        price=st.sampled_from((0.05, 0.333333, 0.5, 0.97)),
        seconds=st.sampled_from((0.5, 11.0)),
    )
    def told_many(self, sizes: list[int], price: float, seconds: float) -> None:
        for nth, shares in enumerate(sizes):
            self.told_one(WALLETS[1], Action.BUY, shares, price, -1, nth % 4)
            self.stand.now += seconds

    @rule(seconds=st.sampled_from((0.5, 2.0, 7.0, 31.0, 59.5)))
    def time_passes(self, seconds: float) -> None:
        self.stand.now += seconds

    @rule(seconds=st.sampled_from((600.0, HOUR_S, 40_000.0)))
    def much_time_passes(self, seconds: float) -> None:
        self.stand.now += seconds

    @precondition(lambda self: self.stand.breaker().resets_at)
    @rule(before_s=st.sampled_from((70.0, 20.0, 0.0)))
    def the_pause_nears_its_end(self, before_s: float) -> None:
        resets_at = self.stand.breaker().resets_at
        assert resets_at is not None
        self.stand.now = max(self.stand.now, resets_at - before_s)

    @rule(decision=st.sampled_from(("failed", "failed", "failed", "mirrored", "skipped_filter")))
    def reacts(self, decision: str) -> None:
        self.done.append((self.stand.now, decision))
        self.stand.do(Reacted("ada", Timestamp(self.stand.now), "0x12", decision, {}))

    @rule()
    def fails_five_times(self) -> None:
        for _ in range(5):
            self.reacts("failed")

    @rule()
    def is_reset(self) -> None:
        self.done.append((self.stand.now, "reset"))
        self.stand.do(BreakerReset("ada", Timestamp(self.stand.now)))

    @rule(seconds=st.sampled_from((0.5, 9.0)))
    def fails_five_times_and_is_reset(self, seconds: float) -> None:
        self.fails_five_times()
        self.told_many([100, 100], 0.5, seconds)
        self.is_reset()

    @rule(nth=st.integers(0, 5))
    def dismisses(self, nth: int) -> None:
        if found := self.stand.pending():
            name = found[nth % len(found)].signal_id
            self.gone.add(name)
            self.stand.do(SignalDismissed("ada", Timestamp(self.stand.now), name))

    @rule(nth=st.integers(0, 5))
    def mirrors(self, nth: int) -> None:
        found = [one for one in self.stand.pending() if one.signal_id not in self.costs]
        if not found:
            return
        signal = found[nth % len(found)]
        self.costs[signal.signal_id] = signal.amount
        key = int(self.stand.now // DAY_S), signal.venue
        self.spent[key] = self.spent.get(key, 0) + signal.amount
        # The day's book of mirrors is told of a buy as the exchange tells it; prices play no part.
        self.stand.reactor.mirrors.count(
            ("ada", signal.venue), Timestamp(self.stand.now), signal.amount, mirror_note(signal)
        )

    @rule(
        changes=st.fixed_dictionaries(
            {},
            optional={
                "enabled": st.booleans(),
                "wallets": st.sampled_from((WALLETS, WALLETS[:1], WALLETS[1:3], ())),
                "min_size": st.sampled_from((Micros(0), Micros(50 * ONE))),
                "max_size": st.sampled_from((Micros(20 * ONE), Micros(300 * ONE))),
                "mirror_fraction": st.sampled_from((0.0, 0.013, 0.5, 1.0)),
                "daily_cap": st.sampled_from((Micros(0), Micros(33 * ONE), Micros(900 * ONE))),
                "venue": st.sampled_from((Venue.SIM, Venue.EVM)),
            },
        )
    )
    def chooses(self, changes: dict[str, object]) -> None:
        self.change(**changes)

    @rule()
    def is_killed_and_starts_again(self) -> None:
        self.stand.start_again()

    # -- the reference -----------------------------------------------------------------

    def expected(self) -> list[str]:
        """Identities of what must wait, the day's cap aside."""
        now = self.stand.now
        paused, spans = naive_pause(self.done, now)
        if paused or not self.config.get("enabled"):
            return []
        found: dict[str, None] = {}
        wallets = self.config["wallets"]
        assert isinstance(wallets, tuple)
        least = self.config.get("min_size", 0)
        assert isinstance(least, int)
        for one, at in self.told:
            if (
                now - at < TTL_S
                and one.wallet in wallets
                and one.action is Action.BUY
                and one.shares >= least
                and signal_id_of(one) not in self.gone
                and not any(since <= at < until for since, until in spans)
            ):
                found[signal_id_of(one)] = None
        return list(found)

    @invariant()
    def what_waits_is_what_the_reference_says(self) -> None:
        found = self.stand.pending()
        names = [one.signal_id for one in found]
        wanted = self.expected()
        assert len(set(names)) == len(names)
        # In the order of their coming; only for want of money or size may one be missing.
        assert names == [name for name in wanted if name in set(names)]
        for name in set(wanted) - set(names):
            assert self.has_no_room_for(name)

    def has_no_room_for(self, name: str) -> bool:
        one = next(one for one, _ in self.told if signal_id_of(one) == name)
        wanted, left = self.wanted(one), self.left()
        least = CENT
        if self.config.get("venue") is Venue.EVM:
            least = math.floor(5 * ONE * min(0.999, one.price * 1.02))
        return wanted < least + CENT or left < least + CENT

    def wanted(self, one: Settlement) -> float:
        fraction = self.config.get("mirror_fraction", 0.1)
        most = self.config.get("max_size", 100 * ONE)
        assert isinstance(fraction, float)
        assert isinstance(most, int)
        return min(one.shares * fraction, most) * one.price

    def left(self) -> int:
        cap = self.config.get("daily_cap", 100 * ONE)
        venue = self.config.get("venue", Venue.SIM)
        assert isinstance(cap, int)
        assert isinstance(venue, Venue)
        return max(0, cap - self.spent.get((int(self.stand.now // DAY_S), venue), 0))

    @invariant()
    def nothing_is_larger_than_it_may_be(self) -> None:
        fresh = [one for one in self.stand.pending() if one.signal_id not in self.costs]
        for one in fresh:
            assert one.amount <= self.left()
            assert one.amount % CENT == 0
            limit = 500 * ONE if one.venue is Venue.SIM else 100 * ONE
            assert 0 < one.amount <= min(self.wanted(one.settled), limit) + 1

    @invariant()
    def the_breaker_stands_as_the_reference_says(self) -> None:
        found = self.stand.breaker()
        assert (found.paused_at is not None) is naive_pause(self.done, self.stand.now)[0]


Reactions.TestCase.settings = examples(37, stateful_step_count=50)
TestReactions = pytest.mark.slow(Reactions.TestCase)

Made = Callable[[Stand], ReactorEvent]
CHANGES: Final[dict[str, Made]] = {
    "config": lambda stand: ReactorChanged("ada", Timestamp(stand.now), {"enabled": False}),
    "reset": lambda stand: BreakerReset("ada", Timestamp(stand.now)),
    "reaction": lambda stand: Reacted("ada", Timestamp(stand.now), "0x1", "failed", {"a": 0.5}),
    "dismissed": lambda stand: SignalDismissed("ada", Timestamp(stand.now), "0x1"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_an_event_that_a_replay_makes_again(stand: Stand, name: str) -> None:
    stand.follow()
    stand.tell(stand.new(stand.market()))
    for _ in range(5):
        stand.react("failed")
    stand.now += 4_000
    stand.do(CHANGES[name](stand))
    assert dumps(fields_of(replayed(stand))) == dumps(fields_of(stand.world))

"""The named wallets: addresses, trades and skill."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Final

import pytest

from kit.engine.bare import bare_world, listed
from kit.engine.topics import TOPICS
from service_tui.addresses import checked_address
from service_tui.engine.amm.exchange import Order
from service_tui.engine.chain.chain import managed_address
from service_tui.engine.codec.events import decode, dumps, encode
from service_tui.engine.codec.snapshot import fields_of, world_of
from service_tui.engine.errors import PriceBeyondLimit
from service_tui.engine.events import (
    AgentRegistered,
    Event,
    MarketListed,
    ReactorChanged,
    Settlement,
    Ticked,
    kind_of,
)
from service_tui.engine.reactor.reactor import price_bound, signal_id_of
from service_tui.engine.reactor.wallets import ROSTER, SourceWallet, address_of, opinion
from service_tui.engine.tick import advance, change_speed
from service_tui.engine.world import World
from service_tui.terms import Action, MarketStatus, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
SEED: Final = 7
BACKROOM: Final = next(one for one in ROSTER if one.discount)
TURNING: Final = [one for one in ROSTER if one.turns > 1]


def new_world(speed: int = 1, seed: int = SEED) -> World:
    world = World(seed, AT, TOPICS)
    advance(world, AT)
    if speed > 1:
        change_speed(world, speed, AT)
    world.register(
        AgentRegistered("ada", AT, "ada", "", "hash", "reef", Plan.ELITE, Micros(10_000 * ONE))
    )
    return world


def lived(world: World, seconds: int, first: int = 1) -> list[Event]:
    events: list[Event] = []
    for second in range(first, first + seconds):
        events += advance(world, Timestamp(AT + second))
    return events


def settled_in(events: Sequence[Event]) -> list[Settlement]:
    return [one for event in events if isinstance(event, Ticked) for one in event.settled]


@cache
def a_long_run() -> tuple[World, list[Event]]:
    world = new_world(speed=60)
    return world, lived(world, 700)


def test_there_are_fifteen_to_twenty_wallets_with_addresses_of_their_own() -> None:
    assert 15 <= len(ROSTER) <= 20
    found = [address_of(SEED, wallet) for wallet in ROSTER]
    assert len(set(found)) == len({wallet.label for wallet in ROSTER}) == len(ROSTER)
    assert [checked_address(one) for one in found] == found
    assert not set(found) & {address_of(SEED + 1, wallet) for wallet in ROSTER}


def test_some_are_good_some_are_poor_and_a_few_change_their_mind() -> None:
    assert sum(one.skill >= 0.65 for one in ROSTER) >= 4
    assert sum(one.skill <= 0.4 for one in ROSTER) >= 4
    assert 2 <= len(TURNING) <= 4
    assert {one.venue for one in ROSTER} == {Venue.EVM, Venue.SIM}


@pytest.mark.slow
def test_an_opinion_is_as_often_right_as_the_wallet_is_good_and_stays() -> None:
    tape = new_world().tape
    listings = [tape.listing_of(slot, number) for slot in range(60) for number in range(1, 25)]
    for wallet in (one for one in ROSTER if one.turns == 1):
        right = 0
        for listing in listings:
            early, late = (
                opinion(SEED, wallet, listing, Timestamp(listing.opens_at + share * life_s))
                for life_s in [listing.resolves_at - listing.opens_at]
                for share in (0.1, 0.9)
            )
            assert early is late
            right += early is (Side.YES if listing.outcome else Side.NO)
        assert abs(right / len(listings) - wallet.skill) < 0.04, wallet.label


def test_who_is_always_right_knows_the_outcome_and_who_never_is_takes_the_other_side() -> None:
    for outcome, winner in ((True, Side.YES), (False, Side.NO)):
        listing = listed(bare_world(), f"{0xA:032x}", outcome=outcome).listing
        length_s = listing.resolves_at - listing.opens_at
        for skill, side in ((1.0, winner), (0.0, winner.other)):
            still = SourceWallet("Ann", Venue.SIM, skill, 9.0, (1.0, 2.0))
            turning = still._replace(turns=4)
            for share, turned in ((0.0, False), (0.24, False), (0.25, True), (0.5, False)):
                at = Timestamp(listing.opens_at + share * length_s)
                assert opinion(SEED, still, listing, at) is side
                assert opinion(SEED, turning, listing, at) is (side.other if turned else side)


def test_an_address_is_that_of_a_name_in_a_world_and_checksummed() -> None:
    ann = SourceWallet("Ann", Venue.SIM, 0.5, 9.0, (1.0, 2.0))
    found = {address_of(SEED, ann), address_of(SEED + 1, ann), address_of(SEED, BACKROOM)}
    assert len(found) == 3
    assert all(checked_address(one) == one for one in found)
    # The records of a world that was written down are by these.
    assert address_of(SEED, ann) == "0x617BDD8d1243d9c884C2e004eB69D6913226aF31"


@pytest.mark.parametrize("wallet", TURNING, ids=lambda one: one.label)
def test_who_turns_has_the_opposite_opinion_in_the_next_part_of_a_life(
    wallet: SourceWallet,
) -> None:
    listing = new_world().tape.listing_of(3, 9)
    part_s = (listing.resolves_at - listing.opens_at) / wallet.turns
    sides = [
        opinion(SEED, wallet, listing, Timestamp(listing.opens_at + (part + 0.5) * part_s))
        for part in range(wallet.turns)
    ]
    assert sides == [sides[part % 2] for part in range(wallet.turns)]
    assert sides[0] is not sides[1]


@pytest.mark.slow
def test_all_of_them_trade_and_most_of_them_sell_now_and_then() -> None:
    settled = settled_in(a_long_run()[1])
    buys = {one.label for one in settled if one.action is Action.BUY}
    sales = {one.label for one in settled if one.action is Action.SELL}
    assert buys == {one.label for one in ROSTER}
    assert sales >= {one.label for one in TURNING}
    assert len(sales) > 12


@pytest.mark.slow
def test_what_they_trade_is_well_formed() -> None:
    settled = settled_in(a_long_run()[1])
    assert len(settled) > 1_500
    for one in settled:
        assert len(one.tx_hash) == 66
        assert int(one.tx_hash, 16)
        assert checked_address(one.wallet) == one.wallet
        assert one.shares > 0
        assert 0 < one.price < 1
        assert (one.cost != 0) is (one.venue is Venue.SIM and one.label != BACKROOM.label)


@pytest.mark.slow
def test_a_transaction_is_one_trade_of_one_wallet() -> None:
    settled = settled_in(a_long_run()[1])
    told = Counter(signal_id_of(one) for one in settled)
    # The chain tells some twice, and never more often.
    assert set(told.values()) == {1, 2}
    by_id = {signal_id_of(one): one for one in settled}
    assert len(by_id) == len(told)
    for tx_hash, count in Counter(one.tx_hash for one in by_id.values()).items():
        legs = sorted(one.leg for one in by_id.values() if one.tx_hash == tx_hash)
        assert legs == ([-1] if count == 1 and legs == [-1] else list(range(count)))


def test_some_bids_had_to_wait_and_were_filled_in_parts() -> None:
    parts = [one for one in settled_in(a_long_run()[1]) if one.leg >= 0]
    assert parts
    for one in parts:
        head, word, leg, wallet, token = signal_id_of(one).split(":")
        assert (head, word, leg, wallet) == (one.tx_hash, "maker", str(one.leg), wallet.lower())
        assert token.isdecimal()
    assert {one.venue for one in parts} == {Venue.EVM}


@pytest.mark.slow
def test_the_same_seed_brings_the_same_trades_and_another_one_others() -> None:
    first, again, other = (
        settled_in(lived(new_world(60, seed), 40)) for seed in (SEED, SEED, SEED + 1)
    )
    assert first == again
    assert {one.tx_hash for one in first}.isdisjoint(one.tx_hash for one in other)


@pytest.mark.slow
def test_a_move_of_the_tape_is_one_row_and_a_replay_makes_the_same_world() -> None:
    world = new_world(60)
    start = dumps(fields_of(world))
    events = lived(world, 120)
    ticks = [event for event in events if isinstance(event, Ticked)]
    assert len(ticks) == 120
    again = world_of(json.loads(start), TOPICS)
    for event in events:
        again.apply(decode(kind_of(event), encode(event)))
    assert dumps(fields_of(again)) == dumps(fields_of(world))
    # Both go on alike, so nothing of the wallets is left out of the snapshot.
    assert lived(world_of(json.loads(dumps(fields_of(world))), TOPICS), 20, 121) == lived(
        again, 20, 121
    )


def test_no_money_and_no_share_comes_from_nowhere() -> None:
    world, _ = a_long_run()
    assert world.ledger.total() == 0
    for market in world.markets.values():
        if market.resolved_at is None:
            assert market.sold(Side.YES) >= 0
            assert market.sold(Side.NO) >= 0
    held = world.reactor.records
    for wallet in ROSTER:
        record = held.of(address_of(SEED, wallet))
        for one in record.held.values():
            assert min(one.yes, one.no, one.yes_cost, one.no_cost) >= 0


@pytest.mark.slow
def test_the_record_of_a_wallet_shows_its_skill_in_the_end() -> None:
    world, events = a_long_run()
    gains: dict[str, list[float]] = {}
    for one in settled_in(events):
        listing = world.tape.listing_of(one.slot, one.number)
        won = (one.side is Side.YES) == listing.outcome
        if one.action is Action.BUY:
            gains.setdefault(one.label, []).append(won - one.price)
    means = {
        kind: [
            sum(gains[one.label]) / len(gains[one.label])
            for one in ROSTER
            if low <= one.skill <= high and one.turns == 1 and not one.discount
        ]
        for kind, low, high in (("good", 0.65, 1.0), ("poor", 0.0, 0.4))
    }
    assert sum(means["good"]) / len(means["good"]) > 0.08
    assert sum(means["poor"]) / len(means["poor"]) < -0.05


@pytest.mark.slow
def test_every_mirror_of_the_backroom_fails_even_with_the_widest_buffer() -> None:
    world = new_world(10)
    widest = {"price_buffer": 0.2}
    world.note(ReactorChanged("ada", AT, widest))
    config = world.reactor.state("ada").config
    waiting: list[tuple[int, Settlement]] = []
    tried = 0
    for second in range(1, 700):
        events = advance(world, Timestamp(AT + second))
        waiting = [(at, one) for at, one in waiting if second - at < 60]
        waiting += [(second, one) for one in settled_in(events) if one.label == BACKROOM.label]
        if second % 6:
            continue
        for _, one in waiting:
            order = Order(
                world.agents["ada"], one.market_id, one.side, Action.BUY, Micros(ONE),
                price_limit=price_bound(config, one),
            )  # fmt: skip
            with pytest.raises(PriceBeyondLimit):
                world.place(order, world.at)
            tried += 1
    assert tried > 25
    # Nor could it rest anywhere: what it trades has no order book.
    assert {world.markets[one.market_id].listing.home for _, one in waiting} <= {Venue.SIM}


@pytest.mark.slow
def test_most_mirrors_of_the_others_pass_at_once() -> None:
    world = new_world(10)
    world.note(ReactorChanged("ada", AT, {"price_buffer": 0.02}))
    config = world.reactor.state("ada").config
    outcomes: Counter[bool] = Counter()
    for second in range(1, 400):
        for one in settled_in(advance(world, Timestamp(AT + second))):
            if one.venue is Venue.SIM and one.action is Action.BUY and one.label != BACKROOM.label:
                quote = world.markets[one.market_id].quote_buy(one.side, Micros(ONE // 2))
                outcomes[quote.price_after <= price_bound(config, one)] += 1
    assert outcomes[True] > 8 * outcomes[False] > 0


@pytest.mark.slow
def test_a_question_that_a_followed_wallet_enters_is_listed_at_its_price() -> None:
    world = new_world(60)
    followed = tuple(address_of(SEED, wallet) for wallet in ROSTER)
    world.note(ReactorChanged("ada", AT, {"wallets": followed, "enabled": True}))
    events = lived(world, 80)
    imported = [
        event for event in events if isinstance(event, MarketListed) and event.listing.slot >= 1_000
    ]
    assert imported
    wanted = {one.market_id for one in settled_in(events) if one.action is Action.BUY}
    for event in imported:
        assert event.listing.market_id in wanted
        assert event.charged_to == ""
        assert event.opening
    assert world.agents["ada"].imports_today(world.at) == 0
    # Without anybody who follows nothing is listed that nobody asked for.
    alone = lived(new_world(60), 80)
    assert not [
        event for event in alone if isinstance(event, MarketListed) and event.listing.slot >= 1_000
    ]


def test_nobody_trades_while_the_desk_is_closed_or_the_tape_stands_still() -> None:
    world = new_world()
    closed = advance(world, Timestamp(AT + 7_200))
    assert settled_in(closed) == []
    change_speed(world, 0, world.at)
    assert settled_in([*advance(world, Timestamp(AT + 7_201))]) == []


@pytest.mark.slow
def test_what_is_traded_is_open_for_a_while() -> None:
    world = new_world(60)
    for second in range(1, 120):
        for one in settled_in(advance(world, Timestamp(AT + second))):
            market = world.markets.get(one.market_id)
            assert market is None or market.status(world.world_at) is MarketStatus.ACTIVE


def test_the_address_of_a_managed_wallet_is_worked_out_once() -> None:
    first = managed_address("an-agent-of-this-test")
    assert managed_address("an-agent-of-this-test") is first

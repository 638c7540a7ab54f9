"""Markets on sim that end in every way: no micro is made or lost, and each side gets its part."""

import json
import random

import pytest

from kit.engine.ends import ENDS, mixed
from kit.engine.topics import TOPICS
from kit.engine.venues import new_world
from service_tui.engine.amm.exchange import Order
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.errors import Refusal
from service_tui.engine.events import Event, Fill, MarketResolved, kind_of
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.outcome import Outcome
from service_tui.terms import Action, MarketStatus, Side
from service_tui.units import ONE, Micros, Timestamp, sum_of

HOUR_S = 3_600.0


def trades_in(world: World, rng: random.Random) -> list[Event]:
    """Buys of both sides in many markets, some of which are sold again in part."""
    made: list[Event] = []

    def place(order: Order) -> Fill | None:
        try:
            fill = world.place(order, world.at)
        except Refusal:
            return None
        made.append(fill)
        return fill

    places = [
        (agent, market.market_id, side)
        for agent in world.agents.values()
        for market in world.markets.values()
        if market.status(world.world_at) is MarketStatus.ACTIVE and rng.random() < 1 / 2
        for side in Side
    ]
    for agent, market_id, side in places:
        size = Micros(rng.randrange(1, 60) * ONE)
        bought = place(Order(agent, market_id, side, Action.BUY, size, unlimited=True))
        if bought is not None and rng.random() < 1 / 2:
            part = Micros(int(bought.shares) // 30 * 10)
            place(Order(agent, market_id, side, Action.SELL, part))
    return made


def check_paid(world: World, event: MarketResolved) -> None:
    outcome = event.outcome
    for one in event.payouts:
        assert one.payout == outcome.paid(one.side, one.shares, one.cost)
    assert event.crowd_payout >= 0
    assert world.ledger.balance(f"maker:{event.market_id}") == 0
    market = world.markets[event.market_id]
    if not outcome.is_void:
        paid = sum_of(one.payout for one in event.payouts) + event.crowd_payout
        sold = [outcome.paid(side, market.sold(side), Micros(0)) for side in Side]
        assert paid == sum_of(sold)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_end_keeps_every_micro_and_a_replay_makes_the_same_world(seed: int) -> None:
    world = mixed(new_world("ada", "bea"))
    text, rng = codec.dumps(snapshot.fields_of(world)), random.Random(seed)
    events: list[Event] = []
    ends: list[Outcome] = []
    for _ in range(12):
        events += trades_in(world, rng)
        happened = advance(world, Timestamp(world.at + rng.choice((2.0, HOUR_S, 6 * HOUR_S))))
        events += happened
        assert world.ledger.total() == 0
        for event in happened:
            if isinstance(event, MarketResolved):
                ends.append(event.outcome)
                check_paid(world, event)
        for agent in world.agents.values():
            # What came in and went out is what was made, and what the open shares cost.
            open_cost = sum_of(one.total_cost() for one in agent.positions.values())
            assert world.cash(agent) + open_cost - agent.realized == 10_000 * ONE
    assert set(ends) == set(ENDS)
    again = snapshot.world_of(json.loads(text), TOPICS)
    for event in events:
        again.apply(codec.decode(kind_of(event), codec.encode(event)))
    assert codec.dumps(snapshot.fields_of(again)) == codec.dumps(snapshot.fields_of(world))

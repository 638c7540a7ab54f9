"""The halt of the world: which orders pass, and restarts."""

import json
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Market
from service_tui.engine.batch import LegRefused, place_all
from service_tui.engine.books.orders import VenueOrder, executable, place
from service_tui.engine.books.venues import GRANT
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.errors import TradingHalted, TradingPaused
from service_tui.engine.events import (
    AgentRegistered,
    Event,
    HaltSet,
    OrderEnded,
    OrderPlaced,
    kind_of,
)
from service_tui.engine.halting import halt, resume
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.terms import Action, MarketStatus, OrderEnd, OrderType, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
SPEND: Final = Micros(20 * ONE)


def new_world() -> World:
    world = World(7, AT, TOPICS)
    advance(world, AT)
    for name in ("ada", "eve"):
        cash = Micros(10_000 * ONE)
        world.register(
            AgentRegistered(name, AT, name, "", f"hash {name}", f"reef-{name}", Plan.ELITE, cash)
        )
        world.change(world.agents[name], {"claimed": True, "real_trading_enabled": True}, AT)
    return world


def market_of(world: World, home: Venue) -> Market:
    return next(
        one
        for one in world.markets.values()
        if one.status(world.world_at) is MarketStatus.ACTIVE
        and one.listing.home is home
        and one.listing.resolves_at > world.world_at + 3_600
    )


def order(agent: Agent, market: Market, action: Action = Action.BUY, size: int = SPEND) -> Order:
    return Order(agent, market.market_id, Side.YES, action, Micros(size))


def rest(
    world: World, name: str, market: Market, action: Action = Action.BUY, *, size: int = SPEND
) -> OrderPlaced:
    """A GTC order that rests: it asks for more than anybody gives."""
    times = (world.at, world.world_at)
    other = Action.SELL if action is Action.BUY else Action.BUY
    price = executable(world.venues.book(market.market_id), Side.YES, other, times)
    events = place(
        world.venues,
        VenueOrder(
            world.agents[name], market.market_id, Side.YES, action, Micros(size),
            market.listing.home, OrderType.GTC, price,
        ),
        times,
    )  # fmt: skip
    placed = events[0]
    assert isinstance(placed, OrderPlaced)
    assert placed.rests
    return placed


def text_of(world: World) -> str:
    return codec.dumps(snapshot.fields_of(world))


@pytest.mark.slow
def test_entries_of_every_agent_are_refused_while_halted_and_sales_pass() -> None:
    world = new_world()
    market = market_of(world, Venue.SIM)
    shares = world.place(order(world.agents["eve"], market), AT).shares
    halt(world, AT)
    for agent in world.agents.values():
        before = text_of(world)
        with pytest.raises(TradingHalted) as refused:
            world.place(order(agent, market), AT)
        assert (refused.value.code, bool(refused.value.fix)) == ("TRADING_HALTED", True)
        assert text_of(world) == before
    sold = shares // 10 * 10
    assert world.place(order(world.agents["eve"], market, Action.SELL, sold), AT).shares == sold
    resume(world, AT)
    assert world.place(order(world.agents["ada"], market), AT).shares


def test_an_agent_that_comes_while_halted_may_not_enter_either() -> None:
    world = new_world()
    halt(world, AT)
    cash = Micros(10_000 * ONE)
    world.register(AgentRegistered("new", AT, "new", "", "h", "reef-n", Plan.FREE, cash))
    with pytest.raises(TradingHalted):
        world.place(order(world.agents["new"], market_of(world, Venue.SIM)), AT)


def test_no_leg_of_an_atomic_batch_is_carried_out_while_halted() -> None:
    world = new_world()
    halt(world, AT)
    legs = [order(world.agents["ada"], market_of(world, Venue.SIM))] * 2
    with pytest.raises(LegRefused) as refused:
        place_all(world, legs, AT, slippage_max=1.0)
    assert (refused.value.leg, refused.value.refusal.code) == (0, "TRADING_HALTED")


def test_a_quote_changes_nothing_and_passes_while_halted() -> None:
    world = new_world()
    halt(world, AT)
    assert world.quote(order(world.agents["ada"], market_of(world, Venue.SIM))).shares


def test_resting_buys_of_every_agent_are_cancelled_and_resting_sales_stay() -> None:
    world = new_world()
    market = market_of(world, Venue.EVM)
    taken = place(
        world.venues,
        VenueOrder(
            world.agents["ada"], market.market_id, Side.YES, Action.BUY, Micros(30 * ONE), Venue.EVM
        ),
        (world.at, world.world_at),
    )[0]
    assert isinstance(taken, OrderPlaced)
    sale = rest(world, "ada", market, Action.SELL, size=taken.shares // 10 * 10)
    other = market_of(world, Venue.SOL)
    buys = {
        rest(world, "ada", other).order_id,
        rest(world, "eve", other).order_id,
    }
    events = halt(world, AT)
    ended = [one for one in events if isinstance(one, OrderEnded)]
    assert {one.order_id for one in ended} == buys
    assert {one.reason for one in ended} == {OrderEnd.CANCELLED}
    assert {(one.at, one.world_at) for one in ended} == {(AT, world.world_at)}
    assert world.venues.cash("eve", Venue.SOL) == GRANT
    assert [one.order_id for one in world.venues.orders("ada")] == [sale.order_id]
    assert world.ledger.total() == 0
    with pytest.raises(TradingHalted):
        rest(world, "eve", other)


def test_halting_twice_and_resuming_twice_leave_no_second_trace() -> None:
    world = new_world()
    later = Timestamp(AT + 9)
    assert halt(world, AT) == [HaltSet(AT, halted=True)]
    assert halt(world, later) == []
    assert world.halt.since == AT
    assert resume(world, later) == [HaltSet(later, halted=False)]
    assert resume(world, later) == []


@pytest.mark.parametrize("way", ["snapshot", "journal"])
def test_the_halt_is_there_again_after_a_restart(way: str) -> None:
    world = new_world()
    rest(world, "eve", market_of(world, Venue.SOL))
    before = text_of(world)
    events: list[Event] = halt(world, AT)
    if way == "snapshot":
        again = snapshot.world_of(json.loads(text_of(world)), TOPICS)
    else:
        again = snapshot.world_of(json.loads(before), TOPICS)
        for event in events:
            again.apply(codec.decode(kind_of(event), codec.encode(event)))
    assert text_of(again) == text_of(world)
    assert again.halt.since == AT
    for agent in again.agents.values():
        with pytest.raises(TradingHalted):
            again.place(order(agent, market_of(again, Venue.SIM)), AT)


def test_a_snapshot_of_before_there_was_a_halt_is_read_as_running() -> None:
    world = new_world()
    fields = json.loads(text_of(world))
    assert "halted_at" not in fields
    for agent in fields["agents"]:
        del agent["settings"]["operator_paused"]
    again = snapshot.world_of(fields, TOPICS)
    assert again.halt.since is None
    assert not again.agents["ada"].settings.is_paused


def test_the_operators_pause_binds_whatever_the_agent_says_itself() -> None:
    world = new_world()
    ada, market = world.agents["ada"], market_of(world, Venue.SIM)
    world.change(ada, {"operator_paused": True}, AT)
    world.change(ada, {"trading_paused": False}, AT)
    with pytest.raises(TradingPaused) as refused:
        world.place(order(ada, market), AT)
    assert "operator" in refused.value.fix
    assert world.place(order(world.agents["eve"], market), AT).shares

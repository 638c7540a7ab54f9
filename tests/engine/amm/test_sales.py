"""What binds an order besides its price: leashes, remainders, volumes and samples of a market."""

from dataclasses import replace
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.agents.leash import Leash
from service_tui.engine.amm.exchange import Order, open_shares
from service_tui.engine.amm.market import SAMPLES_MAX
from service_tui.engine.errors import (
    BelowMinimum,
    Cooldown,
    InsufficientShares,
    LeashBudget,
    LeashObserves,
    MarketNotOpen,
    NeedsApproval,
    TradeTooLarge,
)
from service_tui.engine.events import NO_NOTE, Fill, Note
from service_tui.engine.position import Position
from service_tui.engine.world import World
from service_tui.terms import Action, LeashMode, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

BUY, SELL = Action.BUY, Action.SELL


@pytest.fixture
def world() -> World:
    world = bare_world("ada")
    listed(world, "m1")
    return world


def order(world: World, action: Action, size: int, **more: Any) -> Order:
    given: dict[str, Any] = {"note": NO_NOTE, **more}
    return Order(
        world.agents["ada"], "m1", Side.YES, action, Micros(size), venue=Venue.SIM, **given
    )


def place(world: World, action: Action, size: int, **more: Any) -> Fill:
    return world.place(order(world, action, size, **more), AT)


def held(world: World) -> int:
    return world.agents["ada"].positions["m1"].shares(Side.YES)


def test_an_agent_on_a_leash_trades_what_that_allows(world: World) -> None:
    leashes = world.agents["ada"].leashes
    leashes[""] = Leash(LeashMode.ASK, Micros(5 * ONE), None, 60)

    place(world, BUY, 4 * ONE)
    with pytest.raises(NeedsApproval):
        place(world, BUY, 6 * ONE)
    place(world, BUY, 6 * ONE, approved=True)

    leashes[""] = Leash(LeashMode.OBSERVE, Micros(0), None, 60)
    with pytest.raises(LeashObserves):
        place(world, BUY, ONE)


@pytest.mark.parametrize("size", [0, -ONE])
def test_a_buy_is_of_some_money(world: World, size: int) -> None:
    with pytest.raises(TradeTooLarge):
        place(world, BUY, size)


@pytest.mark.parametrize(("price", "takes_all"), [(0.02, True), (0.4, False)])
def test_what_a_sale_would_leave_for_nothing_is_sold_with_it(
    price: float, *, takes_all: bool
) -> None:
    world = bare_world("ada")
    listed(world, "m1", start_price=price)
    place(world, BUY, ONE)
    had = held(world)

    fill = place(world, SELL, had - 10)

    assert fill.shares == (had if takes_all else had - 10)
    assert held(world) == had - fill.shares


def test_every_trade_counts_for_its_agent_and_is_told_on_the_tape(world: World) -> None:
    world.world_at = later = Timestamp(AT + HOUR / 2)
    agent, market = world.agents["ada"], world.markets["m1"]
    bought = [
        place(world, BUY, 20 * ONE, note=Note("why", source, "dips"))
        for source in ("sdk:p", "sdk:q", "sdk:p", "")
    ]
    assert agent.sources == {"m1": ("sdk:p", "sdk:q")}
    assert (agent.trades_count, agent.last_trade_at) == (4, AT)
    assert (agent.buys_today(AT), agent.spent_today(AT)) == (4, 80 * ONE)
    assert agent.skills_today(AT) == {"dips": 80 * ONE}
    assert market.sold(Side.YES) == sum(one.shares for one in bought) == held(world)
    assert world.cash(agent) == 9_920 * ONE
    assert world.ledger.balance(market.account) == 80 * ONE
    assert market.volume_24h(later) == 80 * ONE
    # The first shares were the cheapest: to sell all at once wins, and then a part of less loses.
    sales = [place(world, SELL, int(bought[0].shares)) for _ in range(3)]
    results = [one.realized for one in sales]
    assert agent.realized == sum(results)
    assert agent.win_count == sum(one > 0 for one in results)
    assert agent.loss_count == sum(one < 0 for one in results)
    assert agent.win_count + agent.loss_count > 1
    assert agent.trades_count == 7
    position = agent.positions["m1"].yes
    assert position.realized == agent.realized
    assert position.cost == 80 * ONE - sum(one.money - one.realized for one in sales)
    assert (agent.buys_today(AT), agent.spent_today(AT)) == (4, 80 * ONE)
    assert [row[3] for row in market.tape] == ["buy"] * 4 + ["sell"] * 3
    assert market.tape[0] == (
        later, "ada", Side.YES, "buy", bought[0].shares, bought[0].price_after,
    )  # fmt: skip
    assert market.tape[-1][4:] == (sales[-1].shares, sales[-1].price_after)
    assert {(one.at, one.world_at) for one in (*bought, *sales)} == {(AT, later)}
    assert [one.trade_id for one in sales] == ["t5", "t6", "t7"]


def test_losses_add_up_sale_by_sale(world: World) -> None:
    agent, market = world.agents["ada"], world.markets["m1"]
    shares = int(place(world, BUY, 100 * ONE).shares)
    # The crowd buys the other side: the price falls.
    market.move(Side.NO, Micros(3_000 * ONE))
    world.ledger.transfer("crowd", market.account, Micros(1_500 * ONE))
    sales = [place(world, SELL, shares // 40 * 10) for _ in range(3)]
    assert all(one.realized < 0 for one in sales)
    assert (agent.win_count, agent.loss_count) == (0, 3)
    assert agent.realized == sum(one.realized for one in sales)


def test_pauses_between_buys_are_of_the_wall_clock_and_not_of_the_tape(world: World) -> None:
    world.agents["ada"].change({"plan": Plan.FREE})
    place(world, BUY, ONE)
    # At 60 times the pace half an hour of the tape has passed.
    world.world_at = Timestamp(AT + HOUR / 2)
    with pytest.raises(Cooldown):
        world.place(order(world, BUY, ONE), Timestamp(AT + 30))
    assert world.place(order(world, BUY, ONE), Timestamp(AT + 120)).shares


def test_a_leash_binds_the_skill_that_trades_and_its_money_of_today(world: World) -> None:
    agent = world.agents["ada"]
    agent.leashes = {"dips": Leash(LeashMode.AUTO, Micros(0), Micros(10 * ONE), 60)}
    dips, news = (Note(skill_slug=slug) for slug in ("dips", "news"))
    place(world, BUY, 8 * ONE, note=dips)
    place(world, BUY, 8 * ONE, note=news)
    with pytest.raises(LeashBudget):
        place(world, BUY, 3 * ONE, note=dips)
    place(world, BUY, 2 * ONE, note=dips)
    # Tomorrow there is as much again.
    tomorrow = Timestamp(AT + 86_400)
    world.markets["m1"].listing = replace(
        world.markets["m1"].listing, resolves_at=Timestamp(tomorrow + HOUR)
    )
    assert world.place(order(world, BUY, 3 * ONE, note=dips), tomorrow).shares


def test_open_shares_are_those_of_all_agents_and_of_one_side() -> None:
    world = bare_world("ada", "bea", "cyd")
    for market_id in ("m1", "m2"):
        listed(world, market_id)
    for name, market_id, yes, no in (("ada", "m1", 3, 5), ("bea", "m1", 4, 0), ("bea", "m2", 9, 9)):
        position = Position(name, market_id)
        position.yes.shares, position.no.shares = Micros(yes), Micros(no)
        world.agents[name].positions[market_id] = position
    found = [open_shares(world.agents, "m1", side) for side in (Side.YES, Side.NO)]
    assert found == [7, 5]
    assert open_shares(world.agents, "m9", Side.YES) == 0


@pytest.mark.parametrize("size", [0, -10])
def test_a_sale_of_nothing_takes_no_remainder_along(size: int) -> None:
    world = bare_world("ada")
    listed(world, "m1", start_price=0.02)
    place(world, BUY, ONE)
    position = world.agents["ada"].positions["m1"]
    position.yes.shares = left = Micros(10)

    with pytest.raises(InsufficientShares):
        place(world, SELL, size)
    assert position.yes.shares == left


def test_a_market_with_its_outcome_takes_no_order_at_any_time(world: World) -> None:
    market = world.markets["m1"]
    market.resolved_at = AT
    assert world.world_at < market.listing.resolves_at

    for action in (BUY, SELL):
        with pytest.raises(MarketNotOpen):
            place(world, action, ONE)
        with pytest.raises(MarketNotOpen):
            world.quote(order(world, action, ONE))


@pytest.mark.parametrize("size", [0, -10])
def test_a_sale_is_of_shares_that_are_held(world: World, size: int) -> None:
    place(world, BUY, 10 * ONE)
    had = held(world)

    for wrong in (size, had + 10):
        with pytest.raises(InsufficientShares):
            place(world, SELL, wrong)
    with pytest.raises(BelowMinimum):
        place(world, SELL, 10_001)
    assert place(world, SELL, had).shares == had


def test_a_sale_that_brings_a_gain_is_a_win_and_else_a_loss(world: World) -> None:
    agent = world.agents["ada"]
    place(world, BUY, 10 * ONE)
    place(world, SELL, held(world))
    assert (agent.win_count, agent.loss_count) == (0, 1)

    place(world, BUY, 10 * ONE)
    world.markets["m1"].move(Side.YES, Micros(50 * ONE))
    place(world, SELL, held(world))
    assert (agent.win_count, agent.loss_count) == (1, 1)


def test_a_price_is_kept_once_a_step_and_each_tick_for_a_while(world: World) -> None:
    market = listed(
        world, "long", opens_at=Timestamp(0.0), resolves_at=Timestamp(SAMPLES_MAX * 1_000.0)
    )
    assert market.sample_step_s == 1_000.0
    assert listed(world, "short").sample_step_s < 3 * HOUR

    for world_at in (1_000.0, 1_500.0, 1_999.0, 2_000.0, 2_100.0):
        market.sample(Timestamp(world_at))

    assert [at for at, _ in market.samples] == [1_000.0, 2_000.0]
    assert [at for at, _ in market.recent] == [1_000.0, 1_500.0, 1_999.0, 2_000.0, 2_100.0]


def test_the_volume_of_a_day_leaves_out_what_is_older(world: World) -> None:
    market = listed(world, "m2")
    now = AT + HOUR / 2
    for hours, money in ((24.0, 1), (23.0, 10), (1.0, 100), (0.0, 1_000)):
        market.count_volume(Timestamp(now - hours * HOUR), Micros(money))

    assert market.volume_24h(Timestamp(now)) == 1_110
    assert market.volume_24h(Timestamp(now + 23 * HOUR)) == 1_000
    assert market.volume_24h(Timestamp(now + 24 * HOUR)) == 0


def test_what_is_worth_nothing_brings_nothing(world: World) -> None:
    market = listed(world, "m3")

    assert market.exit_value(Side.YES, Micros(0)) == 0
    assert market.exit_value(Side.YES, Micros(1)) == 0
    assert market.exit_value(Side.YES, Micros(10 * ONE)) > 0
    with pytest.raises(BelowMinimum):
        market.quote_sell(Side.YES, Micros(1))
    with pytest.raises(BelowMinimum):
        market.quote_buy(Side.YES, Micros(1))
    assert market.quote_sell(Side.YES, Micros(4)).money == 1

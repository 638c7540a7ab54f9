"""The limits of an agent: cooldown, amounts, and daily counts."""

import json
from collections.abc import Callable
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine import errors
from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.limits import check_real_spend
from service_tui.engine.amm.exchange import Order
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of, world_of
from service_tui.engine.events import AgentRegistered, ClientSeen, Fill, TradeFailed
from service_tui.engine.limits import FAILED_COOLDOWN_S
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.terms import Action, Plan, Side
from service_tui.units import ONE, Micros, Timestamp

NOON: Final = Timestamp(20_000 * 86_400.0 + 43_200.0)


def later(seconds: float) -> Timestamp:
    return Timestamp(NOON + seconds)


def world_with(plan: Plan = Plan.FREE) -> World:
    world = World(7, NOON, TOPICS)
    advance(world, NOON)
    cash = Micros(10_000 * ONE)
    world.register(AgentRegistered("ada", NOON, "ada", "", "hash", "reef-1", plan, cash))
    return world


def order_of(world: World, *, index: int = 0, side: Side = Side.YES, free: bool = False) -> Order:
    market_id = list(world.markets)[index]
    return Order(world.agents["ada"], market_id, side, Action.BUY, Micros(5 * ONE), unlimited=free)


def refusal_of(check: Callable[[], object]) -> errors.LimitReached:
    with pytest.raises(errors.LimitReached) as refusal:
        check()
    assert refusal.value.fix not in {"", "see the error"}
    return refusal.value


def buy(world: World, at: Timestamp, order: Order) -> Fill:
    return world.place(order, at)


def test_the_cooldown_survives_a_restart_and_no_clock_locks_anybody_out() -> None:
    world = world_with()
    buy(world, NOON, order_of(world))
    again = world_of(json.loads(dumps(fields_of(world))), TOPICS)
    refusal_of(lambda: buy(again, later(60), order_of(again)))
    # The machine's clock was set back by an hour.
    assert buy(again, later(-3_600), order_of(again))


def test_without_limits_nothing_binds_by_time_but_amounts_do() -> None:
    world = world_with()
    agent = world.agents["ada"]
    for _ in range(60):
        buy(world, NOON, order_of(world, free=True)._replace(size=Micros(ONE)))
    assert agent.buys_today(NOON) == 60
    assert refusal_of(lambda: buy(world, NOON, order_of(world))).code == "DAILY_TRADES"
    too_large = order_of(world, free=True)._replace(size=Micros(501 * ONE))
    assert refusal_of(lambda: buy(world, NOON, too_large)).code == "TRADE_TOO_LARGE"


def failed(world: World, at: Timestamp, side: Side = Side.YES) -> Agent:
    world.note(TradeFailed("ada", at, "m", side, "no liquidity"))
    return world.agents["ada"]


def test_failures_are_forgotten_when_they_bind_no_more_and_survive_a_restart() -> None:
    world = world_with()
    failed(world, NOON)
    failed(world, later(1_000), Side.NO)
    again = world_of(json.loads(dumps(fields_of(world))), TOPICS)
    assert again.agents["ada"].failed == {"m:yes": NOON, "m:no": later(1_000)}
    assert set(failed(again, later(FAILED_COOLDOWN_S)).failed) == {"m:no", "m:yes"}
    assert set(failed(again, later(9_000)).failed) == {"m:yes"}


def test_real_venues_take_a_hundred_a_trade_and_five_hundred_a_day() -> None:
    agent = world_with(Plan.ELITE).agents["ada"]

    def may(dollars: float, spent: float = 0) -> None:
        check_real_spend(agent, Micros(round(dollars * ONE)), Micros(round(spent * ONE)))

    may(100)
    for wrong in (100.01, 0, -1):
        assert refusal_of(lambda one=wrong: may(one)).code == "TRADE_TOO_LARGE"
    may(5, 495)
    refusal = refusal_of(lambda: may(5.01, 495))
    assert refusal.code == "DAILY_LIMIT"
    assert refusal.error == "Daily limit reached: $500.00, $495.00 spent"
    agent.change({"max_trade": Micros(20 * ONE), "day_spend_max": Micros(600 * ONE)})
    may(20)
    assert refusal_of(lambda: may(20.01)).code == "TRADE_TOO_LARGE"


def test_the_version_of_the_client_is_kept() -> None:
    world = world_with()
    world.note(ClientSeen("ada", later(5), "0.26.0"))
    agent = world_of(json.loads(dumps(fields_of(world))), TOPICS).agents["ada"]
    assert (agent.sdk_version, agent.sdk_seen_at) == ("0.26.0", later(5))

"""The daily budget of a skill."""

import json
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from kit.engine.venues import books_balance, gap_price, joined, market_of, new_world, put, times
from service_tui.engine.amm.exchange import Order
from service_tui.engine.books.resting import cancel
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of, world_of
from service_tui.engine.errors import MarketTooLarge, SkillSpend
from service_tui.engine.events import Note, OrderPlaced
from service_tui.engine.world import World
from service_tui.terms import Action, OrderType, Side
from service_tui.units import ONE, Micros, Timestamp

GULL: Final = Note(skill_slug="gull")


def bought(world: World, dollars: int, *, at: float | None = None, note: Note = GULL) -> None:
    market_id = next(iter(world.markets))
    agent = world.agents["ada"]
    order = Order(agent, market_id, Side.YES, Action.BUY, Micros(dollars * ONE), note=note)
    world.place(order, world.at if at is None else Timestamp(at))


def with_budget(dollars: int | None = 20) -> World:
    world = new_world("ada")
    budget = None if dollars is None else Micros(dollars * ONE)
    world.change(world.agents["ada"], {"skill_day_max": budget}, world.at)
    return world


def spent(world: World, at: float | None = None) -> dict[str, int]:
    return world.agents["ada"].skills_today(world.at if at is None else Timestamp(at))


def test_what_a_skill_spent_survives_a_restart_and_old_snapshots_know_nothing_of_it() -> None:
    world = with_budget()
    bought(world, 15)
    kept = json.loads(dumps(fields_of(world)))
    again = world_of(kept, TOPICS)
    assert spent(again) == {"gull": 15 * ONE}
    with pytest.raises(SkillSpend):
        bought(again, 6)
    for agent in kept["agents"]:
        del agent["skills_day"], agent["skills_spent"], agent["settings"]["skill_day_max"]
    old = world_of(kept, TOPICS)
    assert spent(old) == {}
    assert old.agents["ada"].settings.skill_day_max is None


def test_a_resting_buy_counts_whole_until_it_is_taken_back() -> None:
    world = new_world("ada")
    joined(world, "bea")
    world.change(world.agents["ada"], {"skill_day_max": Micros(20 * ONE)}, world.at)
    market = market_of(world)
    fields = {"order_type": OrderType.GTC, "price": gap_price(world, market), "note": GULL}
    (placed, *_) = put(world, "ada", market, size=15.0, **fields)
    assert isinstance(placed, OrderPlaced)
    with pytest.raises(SkillSpend):
        put(world, "ada", market, size=15.0, **fields)
    cancel(world.venues, world.agents["ada"], times(world), order_id=placed.order_id)
    assert spent(world) == {"gull": 0}
    put(world, "ada", market, size=15.0, **fields)
    books_balance(world)


def test_open_buys_count_against_the_most_of_one_position() -> None:
    world = new_world("ada")
    world.change(world.agents["ada"], {"max_position": Micros(20 * ONE)}, world.at)
    market = market_of(world)
    fields = {"order_type": OrderType.GTC, "price": gap_price(world, market)}
    put(world, "ada", market, size=15.0, **fields)
    with pytest.raises(MarketTooLarge):
        put(world, "ada", market, size=15.0, **fields)

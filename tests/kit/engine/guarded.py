"""A small world whose positions are watched: agents, trades, prices pushed about."""

import json
from typing import Final, TypeVar

from kit.engine.begun import world_of
from kit.engine.topics import TOPICS
from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Market
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.events import AgentRegistered, Event, Fill, kind_of
from service_tui.engine.tick import advance, change_speed
from service_tui.engine.world import World
from service_tui.terms import (
    Action,
    MarketStatus,
    Plan,
    Side,
    Venue,
    WalletKind,
)
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
HOUR: Final = 3_600.0
YES, NO = Side.YES, Side.NO
OFF: Final[dict[str, object]] = {"auto_risk_monitor_enabled": False}
EXTERNAL: Final[dict[str, object]] = {"wallet": WalletKind.EXTERNAL}


def new_world(*names: str, speed: int = 1, cash: int = 10_000, **changes: object) -> World:
    world = world_of(7, AT)
    advance(world, AT)
    for name in names or ("ada",):
        joined(world, name, cash, **changes)
    change_speed(world, speed, AT)
    return world


def joined(world: World, name: str, cash: int = 10_000, **changes: object) -> Agent:
    world.register(
        AgentRegistered(
            name, world.at, name, "", f"h {name}", f"c {name}", Plan.ELITE, Micros(cash * ONE)
        )
    )
    if changes:
        world.change(world.agents[name], changes, world.at)
    return world.agents[name]


def open_markets(world: World, venue: Venue | None = None, life_s: float = 0.0) -> list[Market]:
    found = [
        one
        for one in world.markets.values()
        if one.status(world.world_at) is MarketStatus.ACTIVE
        and venue in {None, one.listing.home}
        and one.listing.resolves_at > world.world_at + life_s
    ]
    return sorted(found, key=lambda one: abs(one.price() - 0.5))


def buy(  # noqa: PLR0917
    world: World, name: str, market: Market, dollars: float = 20, side: Side = YES
) -> Fill:
    size = Micros(round(dollars * ONE))
    order = Order(world.agents[name], market.market_id, side, Action.BUY, size)
    return world.place(order, world.at)


def sell(  # noqa: PLR0917
    world: World, name: str, market: Market, shares: Micros, side: Side = YES
) -> Fill:
    order = Order(world.agents[name], market.market_id, side, Action.SELL, shares)
    return world.place(order, world.at)


def push(world: World, market: Market, side: Side, dollars: float = 400) -> Fill:
    """Move a price: somebody rich who watches nothing buys."""
    if "mover" not in world.agents:
        joined(world, "mover", 1_000_000, **OFF)
    world.agents["mover"].positions.pop(market.market_id, None)
    return buy(world, "mover", market, dollars, side)


def tick(world: World, seconds: float = 1.0) -> list[Event]:
    return advance(world, Timestamp(world.at + seconds))


Kind = TypeVar("Kind")


def of(events: list[Event], kind: type[Kind]) -> list[Kind]:
    return [one for one in events if isinstance(one, kind)]


def text_of(world: World) -> str:
    return codec.dumps(snapshot.fields_of(world))


def read_back(text: str) -> World:
    return snapshot.world_of(json.loads(text), TOPICS)


def replayed(text: str, events: list[Event]) -> World:
    world = read_back(text)
    for event in events:
        world.apply(codec.decode(kind_of(event), codec.encode(event)))
    return world


def stop_and_target(stop: float | None, target: float | None) -> dict[str, float | None]:
    return {"stop_loss_pct": stop, "take_profit_pct": target}

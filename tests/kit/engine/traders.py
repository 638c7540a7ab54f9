"""Random traders on a world, by the engine's own commands."""

import random
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Market
from service_tui.engine.errors import Refusal
from service_tui.engine.events import AgentRegistered, Event, Fill, MarketResolved
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.terms import Action, MarketStatus, Plan, Side
from service_tui.units import ONE, Micros, Timestamp

FIRST_CASH: Final = 10_000 * ONE


def registration(world: World, name: str, plan: Plan = Plan.ELITE) -> AgentRegistered:
    return AgentRegistered(
        name, world.at, name, "", f"hash of {name}", f"reef-{name}", plan, Micros(FIRST_CASH)
    )


def open_markets(world: World) -> list[Market]:
    return [
        market
        for market in world.markets.values()
        if market.status(world.world_at) is MarketStatus.ACTIVE
    ]


class Crowd:
    """Random traders: each call is one operation on a world, and its events."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = random.Random(seed)
        self.cash: dict[str, int] = {}
        self.refused = 0
        self.open = open_markets(world)

    def gather(self) -> list[Event]:
        return [event for name in ("ada", "bea", "cyd", "dan") for event in self.register(name)]

    def register(self, name: str) -> list[Event]:
        self.cash[name] = FIRST_CASH
        return self.world.register(registration(self.world, name))

    def operate(self) -> list[Event]:
        draw = self.rng.random()
        if draw < 0.0012:
            return self.advance()
        if draw < 0.00125:
            return self.register(f"agent{len(self.cash)}")
        agent = self.rng.choice(list(self.world.agents.values()))
        return self.trade(agent, sells=draw < 0.5)

    def advance(self) -> list[Event]:
        span_s = self.rng.choice((0.5, 1.0, 2.0, 4.0, 4.0, 400.0))
        events = advance(self.world, Timestamp(self.world.at + span_s))
        for event in events:
            for paid in event.payouts if isinstance(event, MarketResolved) else ():
                self.cash[paid.agent_id] += paid.payout
            if isinstance(event, Fill):
                # An exit of the service.
                self.cash[event.agent_id] += event.money
        self.open = open_markets(self.world)
        return events

    def trade(self, agent: Agent, *, sells: bool) -> list[Event]:
        rng = self.rng
        side = Side.YES if rng.random() < 0.5 else Side.NO
        if sells and agent.positions:
            market_id = rng.choice(list(agent.positions))
            held = agent.positions[market_id].shares(side)
            size = held if rng.random() < 0.5 else held // 20 * 10
            order = Order(agent, market_id, side, Action.SELL, Micros(size))
        else:
            market_id = rng.choice(self.open).market_id
            size = rng.randrange(1, 4_000) * 10_000
            order = Order(agent, market_id, side, Action.BUY, Micros(size))
        try:
            fill = self.world.place(order, self.world.at)
        except Refusal:
            self.refused += 1
            return []
        came = fill.money if fill.action is Action.SELL else -fill.money
        self.cash[agent.agent_id] += came
        return [fill]

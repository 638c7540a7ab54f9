"""Demo agents: a new offline world begins with three, so that there is something to supervise.

They trade play money on small budgets while the console that holds the world is open, by the same
calls, limits and approvals as any other agent, and they are named as demos everywhere.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from service_tui.app.demo_ideas import DemoIdea, closing_favourite, first_new, momentum, news
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.clock import Clock
from service_tui.credentials.api_keys import DeskKeys
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.desk import Desk
from service_tui.desk.slices.agents import DEMO_AGENTS
from service_tui.desk.state import DeskState
from service_tui.server.embedded import BASE_URL, Sim
from service_tui.terms import LeashMode
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.desk import DESK_NEW_KEY
from service_tui.wire.endpoints.fleet import DESK_SET_LEASH
from service_tui.wire.endpoints.public import PLACE_TRADE, REGISTER
from service_tui.wire.fleet import LeashRequest
from service_tui.wire.trades import TradeRequest

log = logging.getLogger(__name__)

LOOK_S: Final = 1.0
"""How often the desk is looked at until it has markets."""

AMOUNT: Final = 5.0
"""Money of one buy."""

PREFIX: Final = "demo-"


@dataclass(frozen=True, slots=True)
class DemoAgent:
    """One demo agent: its permissions, when it looks first, and how often then, in seconds."""

    name: str
    about: str
    ideas: Callable[[DeskState], Iterator[DemoIdea]]
    mode: LeashMode
    budget: float
    first_s: float
    every_s: float


def _momentum(state: DeskState) -> Iterator[DemoIdea]:
    return momentum(tuple(state.markets.values()))


def _closing(state: DeskState) -> Iterator[DemoIdea]:
    world = state.world
    return closing_favourite(tuple(state.markets.values()), world.now) if world else iter(())


def _news(state: DeskState) -> Iterator[DemoIdea]:
    return news(state.news, state.markets, state.world.now) if state.world else iter(())


DEMOS: Final = (
    DemoAgent(
        f"{PREFIX}news",
        "Demo: buys in the direction of headlines, and asks you before each buy.",
        _news, LeashMode.ASK, 60.0, first_s=8.0, every_s=40.0,
    ),
    DemoAgent(
        f"{PREFIX}momentum",
        "Demo: goes along with the largest moves of the day, within its daily budget.",
        _momentum, LeashMode.AUTO, 50.0, first_s=4.0, every_s=70.0,
    ),
    DemoAgent(
        f"{PREFIX}favourite",
        "Demo: buys clear favourites shortly before the end, within its daily budget.",
        _closing, LeashMode.AUTO, 50.0, first_s=15.0, every_s=110.0,
    ),
)  # fmt: skip


class DemoDesk:
    """The demo agents of one world.

    Args:
        sim: the embedded service.
        desk: what knows its markets, and keeps which agents are demos.
        operator: calls with the operator's key.
        means: time, and what spreads their looks.
    """

    def __init__(
        self, sim: Sim, desk: Desk, operator: Client, means: tuple[Clock, random.Random]
    ) -> None:
        self._sim = sim
        self._desk = desk
        self._operator = operator
        self._clock, self._rng = means

    async def work(self, *, is_new: bool) -> None:
        """Let them trade, in a new world once they are registered.

        What fails is logged and ends them: a demo ends nothing else.
        """
        try:
            while not self._is_ready():
                await self._clock.sleep(LOOK_S)
            if is_new:
                ids = [await self._registered(demo) for demo in DEMOS]
                self._desk.submit(SetPreference(DEMO_AGENTS, ",".join(ids)))
            else:
                ids = list(self._desk.state.demo_agents)
            async with asyncio.TaskGroup() as tasks:
                for demo, agent_id in self._known(ids):
                    tasks.create_task(self._trade(demo, agent_id))
        except* Exception as errors:  # noqa: BLE001 - a demo ends nothing else
            log.warning(
                "the demo agents stopped: %s", [type(one).__name__ for one in errors.exceptions]
            )

    def _is_ready(self) -> bool:
        state = self._desk.state
        return bool(state.markets and state.world and not state.from_cache)

    def _known(self, ids: list[str]) -> Iterator[tuple[DemoAgent, str]]:
        """The demo agents that are not retired, with their ids."""
        agents = self._sim.service.world.agents
        by_name = {agents[one].settings.name: one for one in ids if one in agents}
        for demo in DEMOS:
            agent_id = by_name.get(demo.name, "")
            if agent_id and not agents[agent_id].settings.retired:
                yield demo, agent_id

    async def _registered(self, demo: DemoAgent) -> str:
        """Register a demo agent with its permissions; returns its id."""
        request = RegisterRequest(name=demo.name, description=demo.about)
        agent_id = (await self._operator.call(REGISTER, body=request)).answer.agent_id
        leash = LeashRequest(mode=demo.mode, daily_budget=demo.budget)
        await self._operator.call(DESK_SET_LEASH, path={"agent_id": agent_id}, body=leash)
        return agent_id

    async def _trade(self, demo: DemoAgent, agent_id: str) -> None:
        """Look and buy again and again, until the agent is retired."""
        # Nobody but this task ever has the key, so none is kept: each start gets another one.
        reply = await self._operator.call(DESK_NEW_KEY, path={"agent_id": agent_id})
        api_keys = ApiKeys(ApiKey(reply.answer.api_key, BASE_URL))
        agent, clock, rng = self._sim.service.world.agents[agent_id], self._clock, self._rng
        # What was refused since the start: the agent asks for something else then.
        refused = set[str]()
        async with Client(self._sim.transport, BASE_URL, api_keys, clock=clock, rng=rng) as client:
            await clock.sleep(demo.first_s)
            while not agent.settings.retired:
                is_barred = agent.settings.suspended or agent.settings.is_paused
                if not (is_barred or self._desk.state.halted_since):
                    await self._look(client, demo, agent_id, refused)
                await clock.sleep(demo.every_s * rng.uniform(0.7, 1.3))

    async def _look(
        self, client: Client, demo: DemoAgent, agent_id: str, refused: set[str]
    ) -> None:
        """Buy the best new idea, if there is one; no second one while a request waits.

        A market in which it is refused is added to `refused`.
        """
        state = self._desk.state
        if any(trade.agent_id == agent_id for trade in state.supervision.pending_trades):
            return
        taken = refused.union(self._sim.service.world.agents[agent_id].positions)
        idea = first_new(demo.ideas(state), state.markets, taken)
        if idea is None:
            return
        request = TradeRequest(
            market_id=idea.market_id,
            side=idea.side,
            amount=AMOUNT,
            reasoning=idea.reason,
            source=f"demo:{demo.name.removeprefix(PREFIX)}",
            signal_data={
                "edge": round(idea.edge, 4),
                "confidence": idea.confidence,
                "signal_source": idea.seen_in,
            },
        )
        try:
            reply = await client.call(PLACE_TRADE, body=request)
            if reply.answer.error_code:
                refused.add(idea.market_id)
        except ServiceError as error:
            refused.add(idea.market_id)
            log.info("%s: %s", demo.name, error)


@asynccontextmanager
async def demo_agents(
    sim: Sim, desk: Desk, api_keys: DeskKeys, means: tuple[Clock, random.Random]
) -> AsyncGenerator[None]:
    """The demo agents of a world at work while the context lasts.

    Args:
        sim: the embedded service.
        desk: the desk on it.
        api_keys: the operator's, and whether the world has just begun: only then they are
            registered.
        means: time, and what spreads their looks.
    """
    clock, rng = means
    operator = ApiKeys(operator=ApiKey(api_keys.operator, BASE_URL))
    async with (
        Client(sim.transport, BASE_URL, operator, clock=clock, rng=rng) as client,
        asyncio.TaskGroup() as tasks,
    ):
        demos = DemoDesk(sim, desk, client, means)
        work = tasks.create_task(demos.work(is_new=api_keys.is_first))
        try:
            yield
        finally:
            work.cancel()

"""Surroundings of tests: a whole embedded service and a desk on it, in manual time."""

import itertools
import os
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kit.engine.many import recorded_world
from kit.engine.topics import TOPICS
from kit.service.where import ON_POSTGRES
from service_tui.app.histories import history_of, topics_for
from service_tui.app.options import Options
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.clock import ManualClock
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext, Listen
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.state import DeskState
from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.market import Market
from service_tui.engine.world import World
from service_tui.server.embedded import BASE_URL, Sim, SimSettings, open_sim
from service_tui.server.webhooks.courier import MemorySecrets, SecretStore
from service_tui.server.webhooks.post import Parcel, Post
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.opening import open_database
from service_tui.storage.world_database import WorldDatabase
from service_tui.terms import Mode, Plan, Venue
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.public import REGISTER

OPERATOR = "op_test_key_of_the_operator"
SEED = 7
ANSWER_S = 60.0
"""For an answer over a real socket: a machine with other work gives one late."""


@asynccontextmanager
async def open_directory(path: Path, clock: ManualClock) -> AsyncGenerator[Database]:
    lock = DataDirLock.acquire(path, pid=1, now=clock.now())
    database = open_database(path, now=clock.now(), lock=lock)
    try:
        yield database
    finally:
        database.close(clock.now())
        lock.release()


@asynccontextmanager
async def open_world(path: Path, database: Database) -> AsyncGenerator[WorldDatabase]:
    """Where a stage's world lies: in its directory, or in PostgreSQL if `ON_POSTGRES` is set."""
    if not os.environ.get(ON_POSTGRES):
        yield database
        return
    # Imported here: no other test waits for the driver and a server.
    from kit.service.postgres import leading, place_of  # noqa: PLC0415

    with leading(place_of(path), path) as shared:
        yield shared


@dataclass
class Stage:
    """An embedded service with one agent, and clients to talk to it."""

    sim: Sim
    client: Client
    clock: ManualClock
    database: Database
    key: str
    agent_id: str
    at_rest: WorldDatabase
    """Where the world is written down."""

    @property
    def world(self) -> World:
        return self.sim.service.world

    @property
    def agent(self) -> Agent:
        return self.world.agents[self.agent_id]

    def open_markets(self) -> list[Market]:
        return [
            market
            for market in self.world.markets.values()
            if market.status(self.world.world_at).value == "active"
        ]


def client_of(sim: Sim, clock: ManualClock, api: str | None) -> Client:
    api_keys = ApiKeys(
        ApiKey(api, BASE_URL) if api is not None else None,
        ApiKey(OPERATOR, BASE_URL),
    )
    return Client(sim.transport, BASE_URL, api_keys, clock=clock, rng=random.Random(1))


async def nowhere(url: str, parcel: Parcel, secret: str, *, allows_loopback: bool) -> str:
    """A post that reaches nobody: no test looks a name up."""
    del url, parcel, secret, allows_loopback
    return "no network in tests"


@dataclass
class WebhookParts:
    """How a stage's service reaches webhooks, and where it keeps their secrets."""

    post: Post = nowhere
    secrets: SecretStore = field(default_factory=MemorySecrets)


@asynccontextmanager
async def open_stage(  # noqa: PLR0913  (each has its default)
    path: Path,
    clock: ManualClock | None = None,
    *,
    key: str | None = None,
    agent_id: str = "",
    plan: Plan = Plan.PRO,
    speed: int | None = None,
    webhooks: WebhookParts | None = None,
    ends_with_snapshot: bool = False,
    recorded: Options | None = None,
    agents_max: int | None = None,
) -> AsyncGenerator[Stage]:
    """A service in a directory, in manual time.

    It ends without its last snapshot, which is a fifth of what it costs to open and close one:
    whoever opens the directory again replays what happened, as after a kill. With `recorded` its
    world runs on a history.
    """
    clock = clock or ManualClock()
    recorded = recorded or recorded_world()
    webhooks = webhooks or WebhookParts()
    settings = SimSettings(
        seed=SEED,
        topics=TOPICS if recorded is None else topics_for(recorded.data_dir),
        history=None if recorded is None else history_of(recorded),
        plan=plan,
        speed=speed,
        operator_key=OPERATOR,
        agents_max=agents_max,
        webhook_post=webhooks.post,
        webhook_secrets=webhooks.secrets,
    )
    async with (
        open_directory(path, clock) as database,
        open_world(path, database) as at_rest,
        open_sim(at_rest, clock, settings) as sim,
    ):
        if key is None:
            async with client_of(sim, clock, None) as nobody:
                reply = await nobody.call(REGISTER, body=RegisterRequest(name="tester"))
            key, agent_id = reply.answer.api_key, reply.answer.agent_id
        sim.service.operator_agent = agent_id
        async with client_of(sim, clock, key) as client:
            yield Stage(sim, client, clock, database, key, agent_id, at_rest)
            if not ends_with_snapshot:
                store = sim.service.world_store
                store._snapshot_seq = store._seq


def first_state(*, read_only: bool = False) -> DeskState:
    return DeskState(
        service=ServiceView(
            label="embedded",
            mode=Mode.SIM,
            venue=Venue.SIM,
            embedded=True,
            phase=Phase.CONNECTING,
            read_only=read_only,
        )
    )


@asynccontextmanager
async def open_test_desk(
    stage: Stage,
    initial: DeskState | None = None,
    *,
    listen: Listen | None = None,
    renew: Callable[[], bool] = lambda: False,
    named: str = "id",
    blotters: tuple[Path, ...] = (),
) -> AsyncGenerator[Desk]:
    """A desk on the stage; of several on one directory each is `named` for itself."""
    ids = (
        f"{named}{count:06d}-{random.Random(count).getrandbits(64):x}"
        for count in itertools.count()
    )
    around = DeskContext(
        stage.client,
        stage.database,
        stage.clock,
        lambda: next(ids),
        random.Random(2),
        listen,
        renew,
        blotters=lambda: blotters,
    )
    async with open_desk(initial or first_state(), around) as desk:
        yield desk


async def until(
    desk: Desk,
    is_so: Callable[[DeskState], object],
    clock: ManualClock,
    *,
    step_s: float = 0.5,
    tries: int = 80,
) -> DeskState:
    """Let manual time pass until the desk's state is as wanted."""
    for _ in range(tries):
        if is_so(desk.state):
            return desk.state
        await clock.advance(step_s)
    raise AssertionError("the desk never came to the wanted state")

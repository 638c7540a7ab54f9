"""Opens the service of a data directory, with its world advanced to now."""

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import Final

from service_tui.clock import Clock
from service_tui.engine.tape.history import HistoryStart
from service_tui.engine.tape.topics import Topics
from service_tui.engine.tick import change_speed
from service_tui.engine.world import World
from service_tui.server.http.access import new_key
from service_tui.server.http.idempotency import Repeats, recall
from service_tui.server.http.people.invitation_book import InvitationBook
from service_tui.server.http.people.roster import Roster
from service_tui.server.http.service import EMBEDDED_HOST, Service
from service_tui.server.past.backfill import backfill
from service_tui.server.webhooks.courier import Courier, MemorySecrets, SecretStore
from service_tui.server.webhooks.post import Post
from service_tui.server.world_store import WorldStore, begin, restore
from service_tui.signing.book import ExchangeVersion
from service_tui.skills.package import BUNDLED
from service_tui.storage.answers import Answers
from service_tui.storage.errors import OtherWorldError
from service_tui.storage.invitations import read_invitations
from service_tui.storage.people import read_people
from service_tui.storage.world_database import WorldDatabase
from service_tui.terms import INVENTED_SPEED_MAX, SIGNAL_TTL_S, Plan

SKILLS: Final = "skills"
"""Where skills are installed, below the data directory, beside those that come with the program."""

WarmWorld = tuple[World, int]
"""A world, and the row of the journal up to which everything is in it."""

BASE_URL: Final = f"http://{EMBEDDED_HOST}"
"""Where the console believes the app to be; requests never leave the process."""


@dataclass(frozen=True, slots=True)
class SimSettings:
    """How an embedded service is set up. `seed` counts only for a new world.

    `topics` are what its markets are about; a world that exists goes on with the same ones. With a
    `history` a new world runs on it, and no other world is opened.
    `agents_max` is the most agents of the world, None: as many as the plan allows each account.
    `operator_hash` is that of the operator's key where the key itself is another process's.
    `plan` is that of new agents in this run; None takes the one that was chosen last, else Pro.
    Without `limits` nobody waits for rates, daily counts or cooldowns; amounts keep their bounds.
    `signal_ttl_s` is the life of a reactor signal, above 0 and at most SIGNAL_TTL_MAX_S. `exchange`
    is the generation of the EVM venue that is simulated. `loopback_webhooks` lets the webhooks of
    every agent reach this machine; those of the operator's own agent always may. `webhook_post`
    sends them, by HTTP where it is None. `is_scripted`: somebody else moves the tape, move by move.
    `is_on_network`: other machines reach it. With `needs_invitation` an agent registers by an
    invitation alone. `world_name` is what the world is called. `address` is the base of the links
    that it gives out, known before anybody can call.
    """

    seed: int
    topics: Topics = field(repr=False)
    history: HistoryStart | None = None
    plan: Plan | None = None
    speed: int | None = None
    operator_key: str = field(default="", repr=False)
    operator_hash: str = ""
    limits: bool = True
    agents_max: int | None = None
    signal_ttl_s: float = SIGNAL_TTL_S
    exchange: ExchangeVersion = ExchangeVersion.V1
    webhook_secrets: SecretStore = field(default_factory=MemorySecrets, repr=False)
    loopback_webhooks: bool = False
    webhook_post: Post | None = None
    is_scripted: bool = False
    is_on_network: bool = False
    needs_invitation: bool = False
    world_name: str = ""
    address: str = BASE_URL


def new_id() -> str:
    """128 random bits as text."""
    return secrets.token_hex(16)


async def service_of(
    database: WorldDatabase,
    clock: Clock,
    settings: SimSettings,
    *,
    is_brief: bool = False,
    warm: WarmWorld | None = None,
) -> Service:
    """The service of a data directory; its world has caught up with the time that it missed.

    Args:
        database: where the world lies; a new one begins where there is none.
        clock: time.
        settings: how it is set up.
        is_brief: it is closed again at once, and takes no snapshot.
        warm: the world as the database has it, where this process has it in memory already.

    Returns:
        The service.
    """
    now = clock.now()
    found = warm or await asyncio.to_thread(restore, database, settings.topics)
    if found is None:
        world = World(settings.seed, now, settings.topics, history=settings.history)
        world_store = await begin(database, world)
    else:
        world, seq = found
        _check_same(world.history, settings.history)
        world_store = WorldStore(
            database, world, await backfill(database, world, seq), is_brief=is_brief
        )
    if not settings.is_scripted:
        if settings.speed is not None:
            _check_speed(world_store.world, settings.speed)
            await world_store.commit(change_speed(world_store.world, settings.speed, now))
        await world_store.advance(now)
    service = service_on(world_store, database, clock, settings)
    world_store.events.followers.append(service.courier.take)
    service.repeats = await asyncio.to_thread(recall, database, now)
    await read_who_operates(service, database)
    return service


def _check_same(found: HistoryStart | None, asked: HistoryStart | None) -> None:
    """Refuse to open a world on another history than the requested one."""
    if asked is None or (found is not None and found[:2] == asked[:2]):
        return
    has = "an invented world" if found is None else f"a world on the history {found.name}"
    raise OtherWorldError(
        f"this data directory holds {has}, and has one world alone: give the history {asked.name}"
        " a directory of its own, with --data-dir DIR"
    )


def _check_speed(world: World, speed: int) -> None:
    if world.history is None and speed > INVENTED_SPEED_MAX:
        raise OtherWorldError(f"an invented world runs at {INVENTED_SPEED_MAX}x at most: --speed")


async def read_who_operates(service: Service, database: WorldDatabase) -> None:
    """Read people and invitations again: they are stored in tables, not as events."""
    service.people = Roster(await asyncio.to_thread(read_people, database))
    service.invitations = InvitationBook(await asyncio.to_thread(read_invitations, database))


def service_on(
    world_store: WorldStore, database: WorldDatabase, clock: Clock, settings: SimSettings
) -> Service:
    """What the handlers use of a world, without memory of what was answered before."""
    service: Service

    def allows_loopback(agent_id: str) -> bool:
        # On a network whoever has the key of the operator's own agent need not sit here.
        is_own = agent_id == service.operator_agent and not settings.is_on_network
        return settings.loopback_webhooks or is_own

    courier = Courier(
        world_store,
        clock,
        secrets=settings.webhook_secrets,
        post=settings.webhook_post,
        allows_loopback=allows_loopback,
    )
    service = Service(
        world_store=world_store,
        clock=clock,
        new_key=new_key,
        new_id=new_id,
        address=settings.address,
        plan=settings.plan or world_store.world.plan or Plan.PRO,
        repeats=Repeats(Answers(database), []),
        limits=settings.limits,
        agents_max=settings.agents_max,
        signal_ttl_s=settings.signal_ttl_s,
        exchange=settings.exchange,
        skill_folders=(database.path.parent / SKILLS, BUNDLED),
        courier=courier,
        is_scripted=settings.is_scripted,
        needs_invitation=settings.needs_invitation,
        world_name=settings.world_name,
    )
    return service

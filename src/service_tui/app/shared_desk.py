"""A process of a shared desk: leads its world, or follows the leader and answers reads."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from starlette.applications import Starlette
from starlette.types import ASGIApp

from service_tui.app.access_log import logged, random_id
from service_tui.app.edge import Edge
from service_tui.app.network import entrance_on, leader_tls
from service_tui.app.ops import ProcessFigures, Role, ops_port
from service_tui.app.options import Options
from service_tui.app.ownership import sim_settings
from service_tui.app.signals import ends_within
from service_tui.clock import Clock, SystemClock
from service_tui.credentials.api_keys import DeskKeys, desk_keys
from service_tui.server.embedded import open_sim
from service_tui.server.events.stream import STATE, OpenStreams
from service_tui.server.following import FollowingCopy, caught_up, open_copy
from service_tui.server.http.access import hash_of
from service_tui.server.http.entrance import LOCAL, Entrance
from service_tui.server.http.loopback import address_of, listen
from service_tui.server.http.service import Service
from service_tui.server.startup import WarmWorld
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import SameAddressError, StorageError
from service_tui.storage.journal import JournalStore
from service_tui.storage.shared.connection import WorldPlace
from service_tui.storage.shared.database import SharedDatabase
from service_tui.storage.shared.feed import JournalFeed
from service_tui.storage.shared.leadership import (
    BEAT_S,
    OPERATORS_MAX,
    SILENT_S,
    Leader,
    Leadership,
)
from service_tui.storage.shared.schema import ensure
from service_tui.storage.shared.sharing import (
    SharedConnections,
    connections_needed,
    shortage_of,
)

log = logging.getLogger(__name__)

TRY_S: Final = 0.3
"""How often a process that stands by tries to take the lead."""

DRAIN_S: Final = 1.0
"""ours: how long a process that ends still answers, so that no connection in use is cut."""

AGAIN_S: Final = 1.0
"""How long it waits where the database does not answer."""

FIRST_S: Final = 1.0
"""A lead that ended within so long failed before it served anybody."""

ALONE_S: Final = 10.0
"""A world that nobody has led for so long is led by a process that leads its share already."""

WORLD_FILE: Final = "world"
"""In whose folder a process keeps what is its own: skills, and rows that cannot be read."""

Notify = Callable[[str], None]
"""Shows the person at the terminal one line."""


@dataclass(frozen=True, slots=True)
class ServedWorld:
    """One world as a process serves it.

    `listener` is where it answers, whoever leads; `figures` is what it counts of itself, and
    `api_keys` are the operator's. `shared` are connections of all worlds of the process.
    """

    world: WorldPlace
    listener: socket.socket
    figures: ProcessFigures
    api_keys: DeskKeys
    shared: SharedConnections | None = None


class SharedProcess:
    """One process on one world.

    Args:
        options: of the start; their folder is this world's own.
        at: the world and where it is served.
        clock: time.
        notify: shows the person what this process does now.
    """

    def __init__(self, options: Options, at: ServedWorld, clock: Clock, notify: Notify) -> None:
        self._options = options
        self._place = at.world
        self._listener = at.listener
        self._clock = clock
        self._notify = notify
        self._figures = at.figures
        self._entrance = entrance_at(options, at.listener)
        self._api_keys = at.api_keys
        self._leadership = Leadership(at.world, holder_name(), clock.monotonic, shared=at.shared)
        self._shared = at.shared
        self._hands_over = False
        self._no_copy = ""
        self.has_room: Callable[[], bool] = lambda: True
        """Whether this process may lead one world more."""

        self._leader: Leader | None = None
        self._same_since: float | None = None
        self._has_told = False
        self._trouble = ""
        self._address = self._entrance.address or address_of(at.listener)
        self._link = self._entrance.link or self._address
        self._operator = hash_of(at.api_keys.operator)
        self._edge = Edge(self._target, leader_tls(options))
        self._warm: WarmWorld | None = None

    async def run(self, ending: asyncio.Event) -> None:
        """Follow and lead by turns until the end, and answer all the while.

        Raises:
            StorageError: another process is reached at the same address as this one.
        """
        async with aclosing(self._edge), self._answering():
            try:
                while not ending.is_set():
                    await self._turn(ending)
                # A call on a connection that is just being closed would end without an answer.
                self._edge.end()
                await self._clock.sleep(DRAIN_S)
            finally:
                await asyncio.to_thread(self._leadership.close)

    @property
    def leads(self) -> bool:
        """True while this process has the lead of the world."""
        return self._leadership.epoch is not None

    def hand_over(self) -> None:
        """End the lead soon, for another process."""
        self._hands_over = True

    async def _turn(self, ending: asyncio.Event) -> None:
        if await self._stand_by(ending):
            begun = self._clock.monotonic()
            await self._lead(ending)
            await ends_within(ending, pause_after(self._clock.monotonic() - begun))

    def _answering(self) -> AbstractAsyncContextManager[str]:
        """Keep the port open as long as this process lives, whether it leads or not."""
        app = Starlette()
        setattr(app.state, STATE, OpenStreams())
        return listen(
            app,
            listener=self._listener.dup(),
            around=self._around,
            entrance=self._entrance,
        )

    def _around(self, _: ASGIApp) -> ASGIApp:
        """What answers at the port: the edge, counted, and logged where that is wanted."""
        measured = self._figures.measured(self._edge)
        if not self._options.access_log:
            return measured
        return logged(measured, self._clock.monotonic, random_id)

    async def _stand_by(self, ending: asyncio.Event) -> bool:
        """Follow the leader until there is none.

        Returns:
            True once this process has the lead, False at the end.
        """
        if await self._took_lead():
            return True
        async with self._following():
            while not await ends_within(ending, AGAIN_S if self._trouble else TRY_S):
                if await self._took_lead():
                    return True
        return False

    @asynccontextmanager
    async def _following(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(self._follow())
            try:
                yield
            finally:
                following.cancel()

    async def _follow(self) -> None:
        """Keep a copy of the world that follows its leader, and answer reads from it."""
        while True:
            try:
                await self._follow_once()
            except* StorageError as ended:
                # Reads are forwarded meanwhile. The same trouble is logged once, until it is over.
                before, self._no_copy = self._no_copy, str(ended.exceptions[0])
                if self._no_copy != before:
                    log.warning("no copy of %s: %s", self._place, self._no_copy)
            await self._clock.sleep(AGAIN_S)

    async def _follow_once(self) -> None:
        """Keep a copy until it is of no use any more, or until this process leads.

        Raises:
            StorageError: the database does not answer, or the copy has fallen too far behind.
        """
        leader = self._leader
        if leader is None or not leader.operator_hashes:
            return
        self._warm = None
        settings = replace(
            sim_settings(self._options, self._api_keys),
            operator_hash=leader.operator_hashes[0],
            address=self._address,
        )
        feed = JournalFeed(self._place)
        path = self._options.data_dir / WORLD_FILE
        database = SharedDatabase(self._place, None, path, self._shared)
        try:
            await asyncio.to_thread(feed.open)
            async with open_copy(database, feed, self._clock, settings) as copy:
                copy.service.owner_hashes = frozenset(leader.operator_hashes)
                await self._answer_from(copy)
        finally:
            database.close()
            feed.close()

    async def _answer_from(self, copy: FollowingCopy) -> None:
        """Answer reads from a copy while it follows."""
        self._no_copy = ""
        self._edge.copy = copy
        self._figures.follow(copy)
        try:
            await copy.follow()
        except asyncio.CancelledError:
            self._warm = copy.store.hand_over()
            raise
        finally:
            self._edge.copy = None
            self._figures.follow(None)

    def _target(self) -> str | None:
        """Where the leader answers; None for one that is about to be replaced."""
        return answers_at(self._leader)

    async def _took_lead(self) -> bool:
        """Try to take the lead, and look who has it otherwise."""
        try:
            if self._may_try() and await asyncio.to_thread(self._leadership.try_lead) is not None:
                self._report_trouble("")
                return True
            leader = await asyncio.to_thread(self._leadership.leader)
            if leader is not None:
                self._check_address(leader)
                await self._bring_key(leader)
            if leader is not None and leader.silent_s > SILENT_S:
                await asyncio.to_thread(self._leadership.end_silent)
        except SameAddressError:
            raise
        except StorageError as error:
            self._leader = None
            self._figures.turn(Role.WAITING)
            self._report_trouble(str(error))
            return False
        self._report_trouble("")
        if leader is not None and (self._leader is None or self._leader.epoch != leader.epoch):
            self._edge.leader_changed()
            self._notify(f"standing by for {self._place}: {leader.holder} leads it")
        self._leader = leader
        has_leader = self._target() is not None
        self._figures.turn(Role.STANDING_BY if has_leader else Role.STARTING)
        return False

    def _check_address(self, leader: Leader) -> None:
        """Refuse to go on beside a leader that is reached where this process is.

        What it were to forward there would come back. A leader of before, in whose place this
        process was started, falls silent meanwhile.

        Raises:
            SameAddressError: there is such a leader.
        """
        now = self._clock.monotonic()
        if answers_at(leader) != self._link:
            self._same_since = None
        elif self._same_since is None:
            self._same_since = now
        elif now - self._same_since > SILENT_S + AGAIN_S:
            raise SameAddressError(
                f"{leader.holder} leads {self._place}, and says that it is reached at "
                f"{self._link}, as this process does"
            )

    async def _bring_key(self, leader: Leader) -> None:
        """Have the operator's key of this process open the world, once."""
        if not leader.operator_hashes or self._operator in leader.operator_hashes:
            return
        kept = await asyncio.to_thread(self._leadership.add_operator, self._operator)
        if self._operator not in kept and not self._has_told:
            self._has_told = True
            self._notify(
                f"the operator's key of this folder opens nothing in {self._place}: "
                f"{OPERATORS_MAX} others do; copy keys.json of another process"
            )

    def _may_try(self) -> bool:
        return may_lead(self._leader, has_room=self.has_room())

    def _is_certain(self) -> bool:
        """True while it is certain that this process leads."""
        try:
            self._leadership.check()
        except StorageError:
            return False
        return True

    def _report_trouble(self, trouble: str) -> None:
        """Report a trouble once, and once that it is over."""
        if trouble != self._trouble:
            self._notify(f"waiting: {trouble}" if trouble else "the database answers again")
            log.warning("%s", trouble or "the database answers again")
            self._trouble = trouble

    async def _lead(self, ending: asyncio.Event) -> None:
        """Serve the world until the end, or until another process leads it."""
        self._leader, self._hands_over = None, False
        self._edge.take_lead()
        try:
            async with asyncio.TaskGroup() as tasks:
                # From the first moment on: a long journal takes its time to be read.
                beating = tasks.create_task(beat(self._leadership, self._clock))
                async with self._serving() as service:
                    epoch, address = self._leadership.epoch, self._address
                    self._notify(f"leading {self._place} (epoch {epoch}), answering at {address}")
                    await self._over(ending, service)
                beating.cancel()
        except* StorageError as ended:
            # What was not committed was not answered.
            why = "; ".join(str(error) for error in ended.exceptions)
            log.warning("the lead of %s ended: %s", self._place, why)
            self._notify(f"the lead ended: {why}")
        finally:
            self._edge.lead(None)
            self._figures.turn(Role.STARTING)
            await asyncio.to_thread(self._leadership.close)

    async def _over(self, ending: asyncio.Event, service: Service) -> None:
        """Wait for the end, or until another process is to lead."""
        while not self._hands_over and not await ends_within(ending, TRY_S):
            # A process that follows may have brought its own since.
            service.owner_hashes = frozenset(self._leadership.operator_hashes)

    @asynccontextmanager
    async def _serving(self) -> AsyncGenerator[Service]:
        """The service of the world, open to callers."""
        warm, self._warm = self._warm, None
        leadership, options = self._leadership, self._options
        operators = await asyncio.to_thread(leadership.add_operator, self._operator)
        settings = replace(
            sim_settings(options, self._api_keys),
            operator_hash=operators[0],
            address=self._address,
        )
        path = options.data_dir / WORLD_FILE
        database = SharedDatabase(self._place, leadership, path, self._shared)
        try:
            await asyncio.to_thread(database.open)
            if warm is not None:
                warm = await caught_up(database, warm)
            async with open_sim(database, self._clock, settings, warm=warm) as sim:
                sim.service.owner_hashes = frozenset(operators)
                sim.service.leader, sim.service.epoch = holder_name(), leadership.epoch or 0
                store = sim.service.world_store
                last = JournalStore(database).last_seq
                self._edge.lead(sim.app, lambda: store.seq, partial(asyncio.to_thread, last))
                try:
                    self._figures.lead(sim, leadership.epoch or 0, self._is_certain)
                    await asyncio.to_thread(leadership.publish, self._link)
                    yield sim.service
                finally:
                    self._edge.lead(None)
        finally:
            await asyncio.to_thread(database.close)


def answers_at(leader: Leader | None) -> str | None:
    """Where a leader answers; None without one, and for one that is about to be replaced."""
    return None if leader is None or leader.silent_s > SILENT_S else leader.address


def may_lead(leader: Leader | None, *, has_room: bool) -> bool:
    """True if this process has room for a world, or this one has had no leader for long."""
    return has_room or (leader is not None and leader.silent_s > ALONE_S)


def pause_after(led_s: float) -> float:
    """How many seconds a process waits after a lead of so many, before it tries again.

    # ours: whatever ended a lead in its first second ends the next one as well, and each lead is
    # an epoch, a reading of the journal and two lines for the person.
    """
    return AGAIN_S if led_s < FIRST_S else 0.0


def entrance_at(options: Options, listener: socket.socket) -> Entrance:
    """What the service has to know of the port of this process."""
    if not options.is_on_network:
        return LOCAL
    return entrance_on(options, listener.getsockname()[1])


def holder_name() -> str:
    """This process, as the others are shown it."""
    return f"{socket.gethostname()}, process {os.getpid()}"


async def beat(leadership: Leadership, clock: Clock) -> None:
    """Show that this process works, for as long as it leads.

    Raises:
        StorageError: the lead is lost, or the database does not answer.
    """
    while True:
        await asyncio.to_thread(leadership.beat)
        await clock.sleep(BEAT_S)


async def report_shortage(place: WorldPlace, worlds: int, notify: Notify) -> None:
    """Warn of a server with fewer connections than a process on so many worlds may need."""
    shortage = await asyncio.to_thread(shortage_of, place, connections_needed(worlds))
    if shortage:
        log.warning("%s", shortage)
        notify(shortage)


async def run_shared(
    options: Options, listener: socket.socket, ending: asyncio.Event, notify: Notify
) -> None:
    """Be one process of a shared desk until the end.

    Args:
        options: of the start; they name the database and the world.
        listener: where this process answers.
        ending: set by a signal.
        notify: shows the person what this process does now.

    Raises:
        StorageError: no such database, no right, or the data directory is another process's.
    """
    clock = SystemClock()
    place = WorldPlace(options.database or "", options.world)
    lock = DataDirLock.acquire(options.data_dir, pid=os.getpid(), now=clock.now())
    try:
        if await asyncio.to_thread(ensure, place):
            notify(f"made the tables of {place}")
        await report_shortage(place, 1, notify)
        port = entrance_at(options, listener).address or address_of(listener)
        notify(f"answering at {port}, whoever leads")
        figures = ProcessFigures(clock.monotonic)
        ops = ops_port({place.world: figures}, options.ops_port, options.ops_host)
        async with ops as address:
            if address:
                notify(f"health and figures at {address}")
            at = ServedWorld(place, listener, figures, desk_keys(options.data_dir))
            await SharedProcess(options, at, clock, notify).run(ending)
    finally:
        lock.release()

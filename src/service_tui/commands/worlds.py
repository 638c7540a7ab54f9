"""One process that serves several worlds of a database, and leads its share of them."""

import asyncio
import logging
import os
import secrets
import socket
from contextlib import ExitStack
from dataclasses import replace
from typing import Final

from service_tui.app.network import host_of_port
from service_tui.app.ops import ProcessFigures, ops_port
from service_tui.app.options import Options
from service_tui.app.shared_desk import (
    Notify,
    ServedWorld,
    SharedProcess,
    holder_name,
    report_shortage,
)
from service_tui.app.signals import ends_within
from service_tui.clock import SystemClock
from service_tui.credentials.api_keys import desk_keys
from service_tui.server.http.loopback import address_of, bind_named
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import StorageError
from service_tui.storage.shared.connection import WorldPlace
from service_tui.storage.shared.roll import Roll
from service_tui.storage.shared.schema import ensure, worlds_in
from service_tui.storage.shared.sharing import SharedConnections

log = logging.getLogger(__name__)

ALL: Final = "all"
"""Stands for every world that the database has when the process starts."""

WORLDS: Final = "worlds"
"""The folder below the data directory with one for each world."""

CALL_S: Final = 0.7
"""How often a process shows that it is there, and looks whether it leads more than its share."""


def share_of(worlds: int, processes: int) -> int:
    """How many of so many worlds one of so many processes leads at most."""
    return -(-worlds // max(processes, 1))


class Share:
    """What a process leads, and may lead.

    # ours: at most the worlds by the processes that are there, rounded up. A process below that
    takes what is free; one above it hands over, one world after the other.
    """

    def __init__(self, roll: Roll, processes: list[SharedProcess]) -> None:
        self._roll = roll
        self._processes = processes
        self._most = len(processes)
        self._trouble = ""
        for process in processes:
            process.has_room = self._has_room

    def _has_room(self) -> bool:
        return len(self._led()) < self._most

    def _led(self) -> list[SharedProcess]:
        return [process for process in self._processes if process.leads]

    async def keep(self, ending: asyncio.Event) -> None:
        """Lead no more than the share until the end."""
        try:
            while not await ends_within(ending, CALL_S):
                await self._balance()
        finally:
            await asyncio.to_thread(self._roll.close)

    async def _balance(self) -> None:
        try:
            there = await asyncio.to_thread(self._roll.call)
        except StorageError as error:
            if str(error) != self._trouble:
                log.warning("how many processes are there is not known: %s", error)
            self._trouble = str(error)
            return
        self._trouble = ""
        self._most = share_of(len(self._processes), there)
        led = self._led()
        if len(led) > self._most:
            led[-1].hand_over()


def places_of(options: Options) -> list[WorldPlace]:
    """The worlds that a process is to serve, in the order of their ports. Blocks.

    Raises:
        StorageError: there is none, or a name is none.
    """
    url, wanted = options.database or "", options.worlds or ""
    if wanted == ALL:
        # In the order of their making: a new one moves no port.
        names = worlds_in(WorldPlace(url, options.world), by_age=True)
    else:
        names = tuple(dict.fromkeys(name.strip() for name in wanted.split(",")))
    if not names:
        raise StorageError("the database has no world; 'db migrate --world NAME' makes one")
    return [WorldPlace(url, name) for name in names]


async def run_worlds(
    options: Options, listener: socket.socket, ending: asyncio.Event, notify: Notify
) -> None:
    """Be one process for several worlds until the end.

    Args:
        options: of the start; they name the database and the worlds.
        listener: where the first world answers; each further one has the next port.
        ending: set by a signal.
        notify: shows the person what this process does now.

    Raises:
        StorageError: no such database or world, no right, or the directory is another process's.
        PortTakenError: a port is used by another program.
    """
    clock = SystemClock()
    with ExitStack() as opened:
        lock = DataDirLock.acquire(options.data_dir, pid=os.getpid(), now=clock.now())
        opened.callback(lock.release)
        places = await asyncio.to_thread(places_of, options)
        await report_shortage(places[0], len(places), notify)
        shared = SharedConnections(places[0])
        opened.callback(shared.close)
        api_keys = desk_keys(options.data_dir)
        figures: dict[str, ProcessFigures] = {}
        processes: list[SharedProcess] = []
        for number, place in enumerate(places):
            await asyncio.to_thread(ensure, place)
            port = listener if number == 0 else opened.enter_context(_next(options, number))
            notify(f"answering for {place} at {address_of(port)}, whoever leads")
            folder = options.data_dir / WORLDS / place.world
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            own = replace(options, data_dir=folder, world=place.world)
            figures[place.world] = ProcessFigures(clock.monotonic)
            at = ServedWorld(place, port, figures[place.world], api_keys, shared)
            processes.append(SharedProcess(own, at, clock, notify))
        share = Share(Roll(places[0], f"{holder_name()}, {secrets.token_hex(4)}"), processes)
        ops = ops_port(figures, options.ops_port, options.ops_host)
        async with ops as address, asyncio.TaskGroup() as tasks:
            if address:
                notify(f"health and figures at {address}")
            for process in processes:
                tasks.create_task(process.run(ending))
            tasks.create_task(share.keep(ending))


def _next(options: Options, number: int) -> socket.socket:
    """The port of a further world: the next one, or any where the first one is any."""
    host = host_of_port(options)
    return bind_named(options.listen + number if options.listen else 0, "--port", host)

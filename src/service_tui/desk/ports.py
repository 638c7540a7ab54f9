"""What a handler or poller may use of the outside, as plain values and protocols."""

import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from service_tui.client.client import Client
from service_tui.clock import Clock
from service_tui.desk.facts import Fact
from service_tui.desk.gate import Gate
from service_tui.desk.slices.halt import KeptHalt
from service_tui.desk.slices.records import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.vault import Vault
from service_tui.signing.policy import SigningPolicy
from service_tui.storage.blotter import Blotter
from service_tui.storage.db.database import Database
from service_tui.units import Timestamp
from service_tui.wire.events import EventBody


class Memory(Protocol):
    """What stays on this machine between two starts."""

    async def save(self, state: DeskState) -> None:
        """Keep the state for a cold start; a failing disk is no error here."""
        ...

    async def prefer(self, name: str, value: str) -> None:
        """Keep one preference."""
        ...

    async def keep_halt(self, kept: KeptHalt) -> None:
        """Keep the halt, or its end, over a restart; fails with StorageError."""
        ...

    async def back_up(self) -> None:
        """Copy everything once a day; a failing disk is no error here."""
        ...


Listen = Callable[[int | None], AsyncGenerator[EventBody]]
"""Opens the stream of events, after the one with this number; ends, or fails as a call does."""

IdSource = Callable[[], str]
"""Fresh random text, 128 bits or more."""


@dataclass(frozen=True, slots=True)
class DeskContext:
    """What a desk is opened with. Without `listen` everything is polled.

    `renew` gives the client the keys as they lie now where they are kept, and says whether they
    are others than before.
    `executes`: this desk carries out the exits of alerts, because it holds the data directory.
    `halts` are what the databases of the same operator's other consoles say of a halt.
    `exits_only`: it does nothing else, as nobody looks: only the briefing is asked for, and nothing
    is remembered but the blotter. `signs`: what is signed is this desk's as well, and not that of
    another one in this program. `vault` holds the wallet's key, `policy` says what may be signed.
    `notes` is the data directory in which sessions of autoresearch say where they work. `held_in`
    is the directory that another program holds, beside which this desk stands.
    """

    client: Client
    database: Database
    clock: Clock
    new_id: IdSource
    rng: random.Random
    listen: Listen | None = None
    renew: Callable[[], bool] = lambda: False
    executes: bool = True
    halts: tuple[KeptHalt, ...] = ()
    exits_only: bool = False
    signs: bool = True
    vault: Vault = field(default_factory=Vault)
    policy: SigningPolicy = field(default_factory=SigningPolicy)
    notes: Path | None = None
    held_in: Path | None = None


@dataclass(frozen=True, slots=True)
class Ports:
    """The desk's surroundings.

    `new_id` gives fresh random text. `state` reads the newest state. `say` takes a fact at once.
    `poke` asks a poller to look now. `renew` takes the keys anew, and says whether they changed.
    `gate` is closed while no entry may leave. `vault` signs, under the `policy`.
    `notes` is where sessions say where they work.
    """

    client: Client
    blotter: Blotter
    clock: Clock
    new_id: IdSource
    state: Callable[[], DeskState]
    say: Callable[[Fact], None]
    poke: Callable[[Topic], None]
    renew: Callable[[], bool] = lambda: False
    gate: Gate = field(default_factory=Gate)
    vault: Vault = field(default_factory=Vault)
    policy: SigningPolicy = field(default_factory=SigningPolicy)
    notes: Path | None = None

    def now(self) -> Timestamp:
        """Wall time."""
        return self.clock.now()

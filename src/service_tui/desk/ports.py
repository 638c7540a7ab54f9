"""Dependencies: `DeskContext` opens a desk, `Ports` is what its handlers and pollers use.

`open_desk` takes a `DeskContext` from `app`. The desk makes one `Ports` of it and hands that to
every handler and poller.
"""

import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from service_tui.client.client import Client
from service_tui.clock import Clock
from service_tui.desk.facts import Fact
from service_tui.desk.gate import Gate
from service_tui.desk.shown_marks import ShownMarks
from service_tui.desk.slices.halt import KeptHalt
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.vault import Vault
from service_tui.signing.policy import SigningPolicy
from service_tui.storage.blotter import Blotter
from service_tui.storage.db.database import Database
from service_tui.storage.kept_tokens import Holding, KeptToken
from service_tui.units import Timestamp
from service_tui.wire.events import EventBody


class Memory(Protocol):
    """Storage on this machine between two starts."""

    async def save(self, state: DeskState) -> None:
        """Store the state for the next start; a failing disk is no error here."""
        ...

    async def prefer(self, name: str, value: str) -> None:
        """Keep one preference."""
        ...

    async def keep_halt(self, kept: KeptHalt) -> str:
        """Keep the halt, or its end, over a restart; fails with StorageError.

        Returns:
            How it is kept, where it is not as usual.
        """
        ...

    def marked_halt(self) -> float | None:
        """Since when a program has marked the directory as halted; None without a mark. Blocks."""
        ...

    async def back_up(self) -> None:
        """Copy everything once a day; a failing disk is no error here."""
        ...


class TokenStore(Protocol):
    """Outcome tokens of positions, kept since their buys; fails with StorageError."""

    async def keep(self, kept: KeptToken) -> None:
        """Keep a token; one that was kept before stays, unless it was only listed."""
        ...

    def find(self, holding: Holding) -> KeptToken | None:
        """The token that was bought, else kept first; None without one. Blocks."""
        ...

    def find_token(self, token: str, wallet: str) -> KeptToken | None:
        """Under what a wallet's token was bought, else kept first; None without one. Blocks."""
        ...


Listen = Callable[[int | None], AsyncGenerator[EventBody]]
"""Opens the stream of events, after the one with this number; ends, or fails as a call does."""

IdSource = Callable[[], str]
"""Fresh random text, 128 bits or more."""


@dataclass(frozen=True, slots=True)
class DeskContext:
    """Everything that `open_desk` needs from the program around it: I/O, keys and roles.

    Attributes:
        client: calls the service.
        database: this desk's SQLite file.
        clock: time and sleep.
        new_id: fresh random text.
        rng: jitter of the pauses between polls.
        listen: opens the event stream; without it everything is polled.
        renew: reloads the client's keys from where they are kept; True if they changed.
        executes: this desk carries out the exits of alerts, because its program owns the data
            directory.
        halts: halts that are stored in the databases of the same operator's other consoles.
        exits_only: no console is attached: poll only the briefing, carry out exits, and store
            nothing but the blotter.
        signs: this desk signs transactions; False if another desk of this program does.
        vault: holds the wallet's key.
        policy: decides what may be signed.
        notes: data directory in which autoresearch sessions register; None without one.
        holder_dir: data directory that another program owns and that this desk only reads.
        blotters: returns the databases of the other consoles of this directory: their commands are
            listed, and the tokens that they keep bind here.
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
    holder_dir: Path | None = None
    blotters: Callable[[], tuple[Path, ...]] = tuple


@dataclass(frozen=True, slots=True)
class Ports:
    """The part of the running desk that command handlers and pollers use.

    Attributes:
        client: calls the service.
        blotter: stores tickets.
        clock: time and sleep.
        new_id: fresh random text.
        state: returns the newest state.
        emit: applies a fact to the state at once.
        refresh: wakes the poller of a topic.
        tokens: keeps the outcome tokens of positions, which bind what is signed later.
        renew: reloads the client's keys; True if they changed.
        gate: closed while no entry may be sent.
        marks: what was shown in the last minutes binds sales that nobody confirmed.
        vault: signs, as far as `policy` allows.
        policy: decides what may be signed.
        notes: data directory in which autoresearch sessions register; None without one.
    """

    client: Client
    blotter: Blotter
    clock: Clock
    new_id: IdSource
    state: Callable[[], DeskState]
    emit: Callable[[Fact], None]
    refresh: Callable[[Topic], None]
    tokens: TokenStore
    renew: Callable[[], bool] = lambda: False
    gate: Gate = field(default_factory=Gate)
    marks: ShownMarks = field(default_factory=ShownMarks)
    vault: Vault = field(default_factory=Vault)
    policy: SigningPolicy = field(default_factory=SigningPolicy)
    notes: Path | None = None

    def now(self) -> Timestamp:
        """Wall time."""
        return self.clock.now()

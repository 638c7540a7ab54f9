"""A desk whose wallet is its own, and a position that has won on the simulated venue."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from kit.clock import leap
from kit.desk.faults import reading_seldom
from kit.service.line import line_to
from kit.service.prepared import Story, open_prepared
from kit.service.stage import Stage, first_state, until
from kit.service.wallets import KEYS, External, market_on_chain, operate, ready, winner_of
from service_tui.client.client import Client
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.vault import Vault
from service_tui.engine.amm.market import Market
from service_tui.signing.policy import SigningPolicy
from service_tui.signing.signer import LocalSigner, Signer
from service_tui.storage.db.database import Database
from service_tui.terms import Side, Venue
from service_tui.wire.endpoints.desk import SET_SPEED

AMOUNT = 40.0


class CountingSigner:
    """Signs as its key does, and counts."""

    def __init__(self, key: str = KEYS[0]) -> None:
        self._own = LocalSigner(key)
        self.count = 0

    @property
    def address(self) -> str:
        return self._own.address

    def sign(self, digest: bytes) -> bytes:
        self.count += 1
        return self._own.sign(digest)


@dataclass(frozen=True)
class Won:
    """A won position, not yet redeemed."""

    own: External
    market: Market
    side: Side

    @property
    def key(self) -> str:
        return f"{self.market.market_id}:{self.side.value}"


async def hold(stage: Stage, own: External, *, lost: bool = False) -> Won:
    """Buy a side of the market that resolves first."""
    market = market_on_chain(stage, soon=True)
    side = winner_of(market)
    side = side.other if lost else side
    bought = await own.buy(market, AMOUNT, side=side.value)
    assert bought["success"], bought
    return Won(own, market, side)


async def settle(stage: Stage, *held: Won) -> None:
    """Let the tape run until the oracle has settled these markets."""
    last = max(one.market.listing.resolved_at for one in held)
    while stage.world.world_at <= last:
        await leap(stage.clock, 60.0)
        await stage.sim.service.world_store.advance(stage.clock.now())
    await stage.database.write(lambda _: None)
    # What follows needs no tape, and each of its minutes would cost an hour of it.
    await operate(stage, SET_SPEED, json={"speed": 0})


@dataclass(frozen=True)
class Ending:
    """A settled position as a story leaves it."""

    market_id: str
    side: Side


async def _settled(stage: Stage, *, lost: bool) -> Ending:
    held = await hold(stage, await ready(stage), lost=lost)
    await settle(stage, held)
    return Ending(held.market.market_id, held.side)


WON: Final = Story(partial(_settled, lost=False), speed=60)
LOST: Final = Story(partial(_settled, lost=True), speed=60)


@asynccontextmanager
async def settled(path: Path, *, lost: bool = False) -> AsyncGenerator[tuple[Stage, Won]]:
    """A stage whose external wallet holds a settled position; the tape stands still."""
    async with open_prepared(path, LOST if lost else WON) as (stage, ending):
        own = External(line_to(stage), LocalSigner(KEYS[0]))
        yield stage, Won(own, stage.world.market(ending.market_id), ending.side)


@asynccontextmanager
async def open_wallet_desk(  # noqa: PLR0913  (each has its default)
    stage: Stage,
    signer: Signer | None = None,
    *,
    client: Client | None = None,
    policy: SigningPolicy | None = None,
    initial: DeskState | None = None,
    executes: bool = True,
    beside: Database | None = None,
    others: tuple[Path, ...] = (),
) -> AsyncGenerator[Desk]:
    """A desk that signs; one with a database `beside` the stage's is another console on it.

    `others` are the databases of further consoles.
    """
    around = DeskContext(
        client or stage.client,
        beside or stage.database,
        stage.clock,
        lambda: f"{random.getrandbits(128):032x}",
        random.Random(2),
        vault=Vault(None, signer),
        policy=policy or SigningPolicy(),
        executes=executes,
        blotters=lambda: (*((stage.database.path,) if beside is not None else ()), *others),
    )
    with reading_seldom():
        async with open_desk(initial or first_state(), around) as desk:
            yield desk


async def known(desk: Desk, stage: Stage) -> DeskState:
    """The desk once it has read the queue and the wallet."""
    topics = {Topic.REDEMPTIONS, Topic.WALLET, Topic.ACCOUNT}
    return await until(desk, lambda state: topics <= set(state.seen), stage.clock)


def balance(stage: Stage) -> int:
    """Play USDC of the agent on the EVM venue, micros."""
    return stage.world.venues.cash(stage.agent_id, Venue.EVM)

"""A desk that follows wallets of an embedded service, behind a line that may break."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from kit.desk.faults import Line, breaking, reading_seldom, ready, until
from kit.service.stage import SEED, Stage, open_stage, open_test_desk
from service_tui.desk.commands.reactor import SetWalletPolicy
from service_tui.desk.desk import Desk
from service_tui.desk.slices.reactor import Policy, ReactorConfigView, SignalState, SignalView
from service_tui.desk.state import DeskState
from service_tui.engine.amm.market import Market
from service_tui.engine.events import Settlement, Ticked
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.terms import Action, Plan, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import PATCH_REACTOR
from service_tui.wire.reactor import ReactorConfigPatch

ANN = address_of(SEED, ROSTER[0])
BOB = address_of(SEED, ROSTER[9])
PENDING = "/api/sdk/reactor/pending"
REACTIONS = "/api/sdk/reactor/reactions"


def traded(stage: Stage) -> list[Market]:
    """Markets near even odds that stay open, the best first."""
    found = sorted(stage.open_markets(), key=lambda one: abs(one.price() - 0.5))
    return [one for one in found if one.listing.resolves_at > stage.world.world_at + 7_200][:20]


async def settle(
    stage: Stage, count: int = 1, markets: Sequence[Market] = (), **fields: object
) -> list[str]:
    """Source trades of a followed wallet in these or any good markets, as the tape tells them.

    Returns:
        Their hashes.
    """
    world, markets = stage.world, markets or traded(stage)
    told: list[Settlement] = []
    for place in range(count):
        market = markets[place % len(markets)]
        number = len(world.reactor.recent) + len(told) + 1
        one = Settlement(
            tx_hash=f"0x{number:064x}",
            wallet=ANN,
            label=ROSTER[0].label,
            venue=Venue.EVM,
            market_id=market.market_id,
            slot=market.listing.slot,
            number=market.listing.number,
            side=Side.YES,
            action=Action.BUY,
            shares=Micros(40 * ONE),
            price=round(market.price(), 6),
            cost=Micros(0),
        )
        told.append(one._replace(**fields))  # pyright: ignore[reportArgumentType]
    event = Ticked(stage.clock.now(), world.world_at, (), settled=tuple(told))
    world.apply(event)
    await stage.sim.service.world_store.commit([event])
    return [one.tx_hash for one in told]


async def configure(stage: Stage, **fields: Any) -> None:
    """What the desk's agent follows, as another client of it would set it."""
    said: dict[str, Any] = {
        "wallets": (ANN, BOB),
        "enabled": True,
        "mirror_fraction": 0.5,
        "max_size": 100.0,
        "daily_cap": 100.0,
        "price_buffer": 0.1,
    }
    await stage.client.call(PATCH_REACTOR, body=ReactorConfigPatch(**(said | fields)))


@asynccontextmanager
async def following(
    path: Path, *, plan: Plan = Plan.PRO, policy: Policy | None = None, **fields: Any
) -> AsyncGenerator[tuple[Desk, Stage, Line]]:
    """A desk whose agent follows two wallets, and which has heard everything once."""
    async with open_stage(path, speed=0, plan=plan) as whole:
        stage, line = breaking(whole)
        if plan is not Plan.FREE:
            await configure(stage, **fields)
        async with AsyncExitStack() as opened:
            opened.enter_context(reading_seldom())
            desk = await opened.enter_async_context(open_test_desk(stage))
            await until(desk, lambda s: ready(s) and is_read(s), stage)
            if policy is not None:
                await choose(desk, stage, policy)
            yield desk, stage, line


def is_read(state: DeskState) -> bool:
    return state.reactor.config is not None or bool(state.reactor.barred)


def config_of(state: DeskState) -> ReactorConfigView:
    """The config, which was read."""
    config = state.reactor.config
    assert config is not None
    return config


async def choose(desk: Desk, stage: Stage, policy: Policy, wallet: str = ANN) -> None:
    desk.submit(SetWalletPolicy(wallet, policy))
    await until(desk, lambda s: s.reactor.policy_of(wallet) is policy, stage)


def signals(state: DeskState, *states: SignalState) -> list[SignalView]:
    """Signals in any of these states, newest first."""
    return [one for one in state.reactor.signals if not states or one.state in states]


def has(state: SignalState, count: int = 1) -> Callable[[DeskState], bool]:
    """Whether so many signals have come to a state."""
    return lambda s: len(signals(s, state)) >= count


def bought(line: Line) -> list[dict[str, Any]]:
    """Bodies of the mirrors that were sent."""
    return [one for one in line.orders() if "tx_hash" in one["signal_data"]]


def deleted(line: Line) -> list[str]:
    """Names of the signals that were taken out."""
    return [
        one.url.path.removeprefix(f"{PENDING}/")
        for one in line.sent
        if one.method == "DELETE" and one.url.path.startswith(PENDING)
    ]


def is_mirror(request: httpx.Request) -> bool:
    return request.method == "POST" and b'"tx_hash"' in request.content and is_trade(request)


def is_trade(request: httpx.Request) -> bool:
    return request.url.path == "/api/sdk/trade" and b'"dry_run":true' not in request.content


def is_deletion(request: httpx.Request) -> bool:
    return request.method == "DELETE" and request.url.path.startswith(PENDING)


def is_report(request: httpx.Request) -> bool:
    return request.method == "POST" and request.url.path == REACTIONS


async def decisions(stage: Stage) -> list[str]:
    """What the service was told of signals, oldest first."""
    state = stage.world.reactor.state(stage.agent_id)
    return [one.decision for one in state.reactions]

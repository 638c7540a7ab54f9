"""A desk with an open order on the EVM venue."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kit.desk.faults import Dated, Fault, Line, breaking, until
from kit.desk.live_orders import live, placed
from kit.desk.redeeming import CountingSigner, known, open_wallet_desk
from kit.service.stage import Stage, open_stage
from kit.service.wallets import market_on_chain, ready
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.desk import Desk
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.engine.amm.market import Market
from service_tui.engine.books.resting import Part, meet
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros


@dataclass
class Work:
    """A live desk whose wallet signs for itself, a market on the chain, and the line between."""

    desk: Desk
    stage: Stage
    line: Line
    signer: CountingSigner
    market: Market

    def tick(self) -> int:
        return int(self.desk.state.markets[self.market.market_id].tick)

    def below(self, ticks: int = 1) -> float:
        """A price that no seller meets now: so many ticks below the best bid."""
        world = self.stage.world
        book = world.venues.book(self.market.market_id)
        best = book.best((world.at, world.world_at), bids=True)
        assert best is not None
        return (best.price - ticks * self.tick()) / ONE

    def order(self, price: float, spend: int = 30, **other: object) -> PlaceTrade:
        given = PlaceTrade(
            self.market.market_id,
            Side.YES,
            Action.BUY,
            Venue.EVM,
            Micros(spend * ONE),
            price=price,
            confirmed=True,
            rests=True,
        )
        return replace(given, **other)  # type: ignore[arg-type]

    async def rest(self, price: float, **other: object) -> None:
        state, words = await placed(self.desk, self.stage, self.order(price, **other))
        assert state is TicketState.DONE, words
        assert "open at" in words

    async def until(self, is_so: Callable[[DeskState], object]) -> DeskState:
        return await until(self.desk, is_so, self.stage)

    async def met(self, shares: int) -> None:
        """Have the resting order met by somebody, as when quotes cross it."""
        world = self.stage.world
        (resting,) = world.venues.orders(self.stage.agent_id)
        money = Micros(shares * resting.price)
        part = Part(Micros(shares * ONE), money)
        events = meet(world.venues, resting, part, (self.stage.clock.now(), world.world_at))
        await self.stage.sim.service.world_store.commit(events)

    async def met_whole(self) -> None:
        """Have all that is left of the resting order met."""
        world = self.stage.world
        (resting,) = world.venues.orders(self.stage.agent_id)
        part = Part(resting.left, Micros(resting.left * resting.price // ONE))
        events = meet(world.venues, resting, part, (self.stage.clock.now(), world.world_at))
        await self.stage.sim.service.world_store.commit(events)


@asynccontextmanager
async def work(path: Path, fault: Fault | None = None) -> AsyncGenerator[Work]:
    async with open_stage(path, speed=0) as whole:
        await ready(whole)
        (stage, line), signer = breaking(whole, fault), CountingSigner()
        line.inner = Dated(line.inner, whole.clock)
        async with open_wallet_desk(stage, signer) as desk:
            await live(desk, stage)
            await known(desk, stage)
            yield Work(desk, stage, line, signer, market_on_chain(stage))


async def owned(on: Work, spend: int = 30) -> int:
    """Buy at once; how many shares are held then."""
    now = replace(on.order(0.5, spend), rests=False, price=None)
    state, words = await placed(on.desk, on.stage, now)
    assert state is TicketState.DONE, words
    key = f"{on.market.market_id}:yes"
    seen = await on.until(lambda s: s.redemption.row(key) and s.position(now.holding))
    row = seen.redemption.row(key)
    assert row is not None
    return row.shares


def above(on: Work) -> float:
    """A price at which nobody buys now."""
    world = on.stage.world
    book = world.venues.book(on.market.market_id)
    best = book.best((world.at, world.world_at), bids=False)
    assert best is not None
    return (best.price + 2 * on.tick()) / ONE


async def sell_at(on: Work, shares: int) -> PlaceTrade:
    order = replace(
        on.order(above(on)), action=Action.SELL, amount=Micros(0), shares=Micros(shares)
    )
    state, words = await placed(on.desk, on.stage, order)
    assert state is TicketState.DONE, words
    await on.until(lambda s: s.orders)
    return order

"""Open sales that stand in the way of an exit: cancelled for it, and for no other reason."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.faults import Dated, breaking, until
from kit.desk.live_orders import live, placed
from kit.desk.redeeming import CountingSigner, known, open_wallet_desk
from kit.desk.resting_orders import Work, above, owned, sell_at, work
from kit.service.line import sink_on
from kit.service.stage import Stage, first_state, open_stage
from kit.service.wallets import market_on_chain, operate, ready
from service_tui.desk.commands.halt import ExitAll, Halt
from service_tui.desk.commands.wallet import SetLive
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.risk import AlertState
from service_tui.desk.slices.tickets import TicketState
from service_tui.engine.amm.market import Market
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros
from service_tui.wire.endpoints.desk import SET_SPEED
from service_tui.wire.endpoints.public import SET_MONITOR
from service_tui.wire.monitors import MonitorRequest

pytestmark = pytest.mark.slow


def on_sale(stage: Stage, venue: Venue) -> Market:
    """A market of the venue in which somebody sells now."""
    world = stage.world
    when = (world.at, world.world_at)
    return next(
        one
        for one in stage.open_markets()
        if one.listing.home is venue
        and world.venues.book(one.market_id).best(when, bids=False) is not None
    )


@asynccontextmanager
async def breached(path: Path, venue: Venue) -> AsyncGenerator[Work]:
    """A position wholly in an open sale, whose stop is about to be passed; its desk is closed."""
    async with open_stage(path, speed=0) as whole:
        await ready(whole)
        (stage, line), signer = breaking(whole), CountingSigner()
        line.inner = Dated(line.inner, whole.clock)
        async with open_wallet_desk(stage, signer) as desk:
            await live(desk, stage)
            await known(desk, stage)
            on = Work(desk, stage, line, signer, market_on_chain(stage))
            if venue is Venue.SOL:
                on.market = on_sale(stage, venue)
            now = replace(on.order(0.5, 20), rests=False, price=None, venue=venue)
            state, words = await placed(desk, stage, now)
            assert state is TicketState.DONE, words
            seen = await on.until(lambda s: s.position(now.holding))
            shares = seen.position(now.holding).shares // 10_000 * 10_000
            await on.until(lambda s: any(row.shares for row in s.redemption.rows))
            sale = on.order(above(on), venue=venue)
            sale = replace(sale, action=Action.SELL, amount=Micros(0), shares=Micros(shares))
            state, words = await placed(desk, stage, sale)
            assert state is TicketState.DONE, words
            await on.until(lambda s: s.orders)
            await stage.client.call(
                SET_MONITOR,
                path={"market_id": on.market.market_id},
                body=MonitorRequest(side=Side.YES, stop_loss_pct=0.0001, venue=venue),
            )
            await sink_on(stage, on.market.market_id)
        await operate(stage, SET_SPEED, json={"speed": 1})
        yield on


async def test_a_desk_that_nobody_looks_at_cancels_what_stands_in_its_exits_way(
    tmp_path: Path,
) -> None:
    async with breached(tmp_path, Venue.SOL) as on:
        around = DeskContext(
            on.stage.client,
            on.stage.database,
            on.stage.clock,
            lambda: f"{random.getrandbits(128):032x}",
            random.Random(2),
            exits_only=True,
        )
        async with open_desk(first_state(), around) as desk:
            sold = {AlertState.EXECUTED, AlertState.ENDED}
            await until(desk, lambda s: any(one.state in sold for one in s.risk.alerts), on.stage)
        assert not on.stage.world.venues.orders(on.stage.agent_id)


async def test_an_exit_that_cannot_be_signed_leaves_the_open_sale_alone(tmp_path: Path) -> None:
    async with breached(tmp_path, Venue.EVM) as on:
        async with open_wallet_desk(on.stage) as desk:
            failed = {AlertState.FAILED}
            await until(desk, lambda s: any(one.state in failed for one in s.risk.alerts), on.stage)
            await on.stage.clock.advance(60)
            assert any("locked" in one.detail for one in desk.state.risk.alerts)
        assert on.stage.world.venues.orders(on.stage.agent_id)


async def test_an_exit_of_everything_that_is_refused_here_leaves_the_open_sale_alone(
    tmp_path: Path,
) -> None:
    async with work(tmp_path) as on:
        await sell_at(on, await owned(on) // 10_000 * 10_000)
        on.desk.submit(Halt())
        await on.until(lambda s: s.halt is not None and not s.halt.missing)
        on.desk.submit(SetLive(on=False))
        await on.until(lambda s: not s.wallet.live)
        on.desk.submit(ExitAll((on.order(0.5).holding,)))
        state = await on.until(lambda s: s.halt and s.halt.exits and s.halt.exits.is_over)
        assert state.tickets[0].state is TicketState.REFUSED
        assert on.stage.world.venues.orders(on.stage.agent_id)


async def test_an_exit_of_everything_sells_what_a_half_met_sale_has_left(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await sell_at(on, await owned(on) // 10_000 * 10_000)
        key = on.order(0.5).holding
        on.desk.submit(Halt())
        await on.until(lambda s: s.halt is not None and not s.halt.missing)
        await on.met(10)
        on.desk.submit(ExitAll((key,)))
        state = await on.until(lambda s: s.halt and s.halt.exits and s.halt.exits.is_over)
        assert state.tickets[0].state is TicketState.DONE, state.tickets[0].outcome
        await on.until(lambda s: s.position(key) is None or s.position(key).shares < 10_000)

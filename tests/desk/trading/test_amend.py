"""An open order is amended: cancelled for certain, and only then placed anew."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import Fault, said
from kit.desk.live_orders import placed
from kit.desk.redeeming import balance
from kit.desk.resting_orders import Work, work
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.trading.preflight import preflight
from service_tui.units import ONE, Micros

pytestmark = pytest.mark.slow

REFUSED = {"success": False, "order_id": "x", "message": "the book is busy"}


async def amended(on: Work, **other: Any) -> PlaceTrade:
    state = await on.until(lambda s: s.orders)
    (order,) = state.orders
    filled = {"replaces": order.order_id, "filled_before": order.filled}
    return on.order(on.below(2), spend=20, **(filled | other))


async def test_an_amended_order_stands_once_at_its_new_price_and_size(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        cash = balance(on.stage)
        await on.rest(on.below())
        old = (await on.until(lambda s: s.orders)).orders[0]
        order = await amended(on)
        state, words = await placed(on.desk, on.stage, order)
        assert state is TicketState.DONE, words
        seen = await on.until(lambda s: s.orders and s.orders[0].order_id != old.order_id)
        (new,) = seen.orders
        assert new.price == order.price
        (resting,) = on.stage.world.venues.orders(on.stage.agent_id)
        assert balance(on.stage) == cash - new.money
        assert resting.left == new.shares
        assert len(on.line.orders()) == 2


async def test_what_the_old_order_reserves_is_free_for_the_new_one(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        order = await amended(on)
        wallet = replace(on.desk.state.wallet, usdc=Micros(35 * ONE))
        state, now = replace(on.desk.state, wallet=wallet), on.stage.clock.now()
        assert preflight(state, order, now) is None
        another = preflight(state, replace(order, replaces=""), now)
        assert another is not None
        assert "open buys" in another.text


async def test_nothing_is_placed_for_an_order_that_filled_further(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        order = await amended(on)
        await on.met(12)
        state, words = await placed(on.desk, on.stage, order)
        assert state is TicketState.REFUSED
        assert "12.00 more shares filled" in words
        assert not on.stage.world.venues.orders(on.stage.agent_id)
        assert len(on.line.orders()) == 1


async def test_nothing_is_placed_for_an_order_that_is_gone(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        order = await amended(on)
        await on.met_whole()
        state, words = await placed(on.desk, on.stage, order)
        assert state is TicketState.REFUSED, words
        assert len(on.line.orders()) == 1


async def test_a_hopeless_new_order_leaves_the_old_one_as_it_is(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        order = replace(await amended(on), amount=Micros(10_000 * ONE))
        state, _ = await placed(on.desk, on.stage, order)
        assert state is TicketState.REFUSED
        assert len(on.stage.world.venues.orders(on.stage.agent_id)) == 1
        assert len(on.line.orders()) == 1


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.NO_LINE, Fault.HTML, REFUSED])
async def test_nothing_is_placed_unless_the_cancellation_is_certain(
    tmp_path: Path, fault: Fault | dict[str, Any]
) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        order = await amended(on)
        broken = said(fault) if isinstance(fault, dict) else fault
        on.line.fault = lambda request: broken if request.method == "DELETE" else None
        state, words = await placed(on.desk, on.stage, order)
        assert state is TicketState.REFUSED, words
        assert "not cancelled" in words
        assert len(on.line.orders()) == 1


async def test_nothing_is_placed_while_the_fills_of_the_old_order_are_unknown(
    tmp_path: Path,
) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        order = await amended(on)
        on.line.fault = lambda request: Fault.FAILED if "market_id" in request.url.params else None
        state, words = await placed(on.desk, on.stage, order)
        assert state is TicketState.REFUSED, words
        assert "its fills cannot be read" in words
        assert not on.stage.world.venues.orders(on.stage.agent_id)
        assert len(on.line.orders()) == 1

"""A set bought leg by leg: what is said of a whole one, and what is held of a broken one."""

from pathlib import Path

import httpx
import pytest

from kit.desk.faults import Fault, at_work, buy, is_order, said, until
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.trading import BuySet
from service_tui.desk.slices.tickets import TicketState
from service_tui.engine.amm.market import Market
from service_tui.terms import Action
from service_tui.units import ONE

pytestmark = pytest.mark.slow


def set_of(markets: list[Market], amount: int = 25 * ONE) -> BuySet:
    legs = [buy(one, amount, question=f"Leg {place}?") for place, one in enumerate(markets)]
    return BuySet("Which of three", tuple(legs))


async def test_every_leg_is_an_order_of_its_own_and_the_whole_set_is_told(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        order = set_of(stage.open_markets()[:3])
        await desk.submit(order).wait()
        text = desk.state.notices[-1].text
        assert text.startswith("set of Which of three: all 3 legs bought. Leg 0? (")
        assert [one["market_id"] for one in line.orders()] == [leg.market_id for leg in order.legs]
        state = await until(desk, lambda s: len(s.positions) == 3, stage)
        assert sum(ticket.kind == "trade" for ticket in state.tickets) == 3
        for ticket in state.tickets:
            assert ticket.outcome.partition(" (average")[0] in text


@pytest.mark.parametrize(
    ("fault", "how"),
    [
        (
            said({"success": False, "error": "market is closed"}),
            "only 1 of 3 legs bought. Refused: Leg 1?: market is closed",
        ),
        (Fault.LOST, "at least 1 of 3 legs bought. Unknown: see the orders: Leg 1?"),
    ],
)
async def test_the_first_leg_that_is_not_bought_ends_the_set_and_nothing_is_sent_again(
    tmp_path: Path, fault: httpx.Response | Fault, how: str
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        order = set_of(stage.open_markets()[:3])
        second = order.legs[1].market_id
        line.fault = lambda one: fault if is_order(one) and second in one.content.decode() else None
        desk.submit(order)
        state = await until(desk, lambda s: s.notices and "Not sent" in s.notices[-1].text, stage)
        text = state.notices[-1].text
        assert how in text
        assert "Bought: Leg 0? (bought " in text
        assert "Not sent: Leg 2?" in text
        ids = [one["market_id"] for one in line.orders()]
        assert ids.count(second) <= 1
        assert order.legs[2].market_id not in ids


async def test_a_first_leg_without_an_answer_is_not_called_not_bought(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda one: Fault.LOST if is_order(one) else None
        desk.submit(set_of(stage.open_markets()[:3]))
        state = await until(desk, lambda s: s.notices and "Not sent" in s.notices[-1].text, stage)
        text = state.notices[-1].text
        assert "at least 0 of 3 legs bought. Unknown: see the orders: Leg 0?" in text
        assert "Nothing was bought" not in text


async def test_under_a_halt_nothing_of_a_set_is_sent(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(Halt())
        await until(desk, lambda s: s.halt is not None, stage)
        ticket = desk.submit(set_of(stage.open_markets()[:2]))
        assert (await ticket.wait()).state is TicketState.REFUSED
        assert "trading is halted" in desk.state.notices[-1].text
        assert not [one for one in line.orders() if one["action"] == Action.BUY]
        assert all(one.state is not TicketState.DONE for one in desk.state.tickets)


async def test_money_that_runs_out_stops_the_set_before_the_leg_it_is_missing_for(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        await until(desk, lambda s: s.account is not None, stage)
        most = int(desk.state.limits.max_trade)
        markets = stage.open_markets()
        count = int(desk.state.account.cash) // most + 1
        await desk.submit(set_of(markets[:count], most)).wait()
        text = desk.state.notices[-1].text
        assert f"only {count - 1} of {count} legs bought" in text
        assert "Refused: Leg 20?: " in text

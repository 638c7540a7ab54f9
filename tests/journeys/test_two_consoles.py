"""Two desks of one data directory: one holds it and serves, the other is attached over loopback."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from kit.desk.attached import desk_at, until
from kit.desk.faults import buy, ready
from kit.service.stage import ANSWER_S
from service_tui.clock import ManualClock
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.terms import AgentStatus
from service_tui.units import ONE

SDK = "/api/sdk"
AT_ONCE_S = 1.0


@pytest.mark.slow
async def test_a_trade_of_an_agent_reaches_both_consoles_at_once(tmp_path: Path) -> None:
    clock = ManualClock()
    async with desk_at(tmp_path, clock) as holder:
        state = await until(holder, clock, lambda s: ready(s) and s.listening and s.service.address)
        address = state.service.address
        async with (
            desk_at(tmp_path, clock) as guest,
            httpx.AsyncClient(base_url=address, timeout=ANSWER_S) as http,
        ):
            await until(guest, clock, lambda s: ready(s) and s.listening and s.service.attached)

            async def both(is_so: Callable[[DeskState], object]) -> None:
                for desk in (holder, guest):
                    await until(desk, clock, is_so, AT_ONCE_S)

            # An agent comes, and both see it.
            made = (await http.post(f"{SDK}/agents/register", json={"name": "heron"})).json()
            http.headers["Authorization"] = f"Bearer {made['api_key']}"
            await both(lambda s: s.fleet and len(s.fleet.agents) == 2)

            # It trades, and both see that, with the price it leaves behind.
            market = next(view for view in state.markets.values() if view.is_open)
            order = {"market_id": market.market_id, "side": "yes", "amount": 150.0}
            assert (await http.post(f"{SDK}/trade", json=order)).json()["success"]
            await both(lambda s: s.fills and s.fills[0].agent_name == "heron")
            for desk in (holder, guest):
                assert desk.state.markets[market.market_id].price > market.price
                assert desk.state.positions == ()
            await both(lambda s: s.fleet.agents[1].trades_count == 1)

            # The person buys in the attached console; the other one shows the position.
            ticket = await asyncio.wait_for(guest.submit(buy(market)).wait(), ANSWER_S)
            assert ticket.state is TicketState.DONE
            await both(lambda s: s.positions and s.account.cash == 9_975 * ONE)
            assert len(guest.state.tickets) == 1
            assert holder.state.tickets == ()

            # The agent is claimed and paused in one console; the other one shows it, and it binds.
            agent_id = made["agent_id"]
            guest.submit(Govern(AgentAct.CLAIM, agent_id, "heron"))
            await both(lambda s: s.fleet.agents[1].status is AgentStatus.ACTIVE)
            holder.submit(Govern(AgentAct.PAUSE, agent_id, "heron"))
            await both(lambda s: s.fleet.agents[1].paused)
            refused = (await http.post(f"{SDK}/trade", json=order)).json()
            assert not refused["success"]

            # It gets another key in one console, which alone shows it; the old key is dead.
            holder.submit(Govern(AgentAct.NEW_KEY, agent_id, "heron"))
            shown = await until(holder, clock, lambda s: s.revealed, AT_ONCE_S)
            assert guest.state.revealed is None
            assert (await http.get(f"{SDK}/agents/me")).status_code == 401
            http.headers["Authorization"] = f"Bearer {shown.revealed.secret}"
            assert (await http.get(f"{SDK}/agents/me")).json()["agent_id"] == agent_id

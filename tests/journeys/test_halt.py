"""F9 while trades are in flight, over a restart, with an agent on the line, from two consoles."""

import asyncio
from pathlib import Path

import httpx
import pytest
from textual import events

from kit.console.walk import Walk, walking
from kit.desk.attached import desk_at, until
from kit.desk.faults import buy
from kit.desk.faults import ready as known
from kit.service.stage import ANSWER_S
from service_tui.app.halts import kept_halts
from service_tui.clock import ManualClock
from service_tui.console.forms.halt import HaltPanel
from service_tui.console.forms.typed_word import TypedWord
from service_tui.desk.commands.halt import Halt, Resume
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.tickets import TicketState
from service_tui.units import ONE

pytestmark = pytest.mark.slow

SDK = "/api/sdk"
BUYS = 40


async def type_word(walk: Walk, key: str, word: str) -> None:
    """Ask for something that only a typed word confirms, and type it."""
    await walk.pilot.press(key)
    for _ in range(200):
        dialog = walk.app.screen
        if isinstance(dialog, TypedWord) and dialog.is_armed:
            break
        await walk.pilot.pause(0.05)
    await walk.pilot.press(*word, "enter")
    await walk.pilot.pause()


async def test_a_halt_in_the_middle_of_trades_and_all_that_follows(tmp_path: Path) -> None:
    clock = ManualClock()
    async with walking(tmp_path, clock, size=(120, 40)) as walk:
        await walk.until(known)
        desk = walk.desk
        desk.submit(SetPreference("welcome", "seen"))
        await walk.pilot.press("escape")
        markets = [one for one in desk.state.markets.values() if one.is_open][:BUYS]
        tickets = [desk.submit(buy(market, 5 * ONE)) for market in markets]
        # Some have been filled, the others are on their way or wait for their turn.
        for _ in range(200_000):
            if any(one.view.state is TicketState.DONE for one in tickets):
                break
            await asyncio.sleep(0)
        key = events.Key("f9", None)
        key.set_sender(walk.app)
        walk.app.post_message(key)
        assert desk.ports.gate.is_closed
        sent = sum(one.view.state in {TicketState.SENT, TicketState.DONE} for one in tickets)
        waiting = [one for one in tickets if one.view.state is TicketState.REFUSED]
        assert waiting
        await walk.until(lambda s: s.halt and not s.halt.missing and s.in_flight == 0)
        done = sum(one.view.state is TicketState.DONE for one in tickets)
        assert 0 < done <= sent < BUYS
        state = await walk.until(
            lambda s: s.account.trades_count == done and len(s.positions) == done
        )
        assert isinstance(walk.app.screen, HaltPanel)
        assert "buys blocked on this desk" in walk.text
        # Nothing leaves later either, whatever is tried.
        late = desk.submit(buy(markets[0]))
        assert late.view.state is TicketState.REFUSED
        assert state.account.trades_count == done
    assert (kept_halts(tmp_path)[0]).on
    async with walking(tmp_path, clock, size=(120, 40), chance=6) as walk:
        # In the first frame, before any desk is open.
        assert "HALTED" in walk.text
        await walk.until(lambda s: known(s) and s.halt and s.halt.acks and not s.halt.missing)
        desk = walk.desk
        assert desk.ports.gate.is_closed
        await walk.pilot.press("f9")
        await type_word(walk, "x", "EXIT")
        state = await walk.until(
            lambda s: s.halt.exits and s.halt.exits.is_over and not s.positions
        )
        assert len(state.halt.exits.tickets) == done
        assert desk.submit(buy(markets[0])).view.state is TicketState.REFUSED
        await type_word(walk, "R", "RESUME")
        await walk.until(lambda s: s.halted_since is None and not s.limits.paused)
        assert not isinstance(walk.app.screen, HaltPanel)
        ticket = desk.submit(buy(markets[0]))
        await walk.until(lambda _: ticket.view.state is TicketState.DONE)
    assert not kept_halts(tmp_path)[0].on


async def test_an_attached_console_halts_everybody_and_the_word_in_the_other_one_ends_it(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    async with desk_at(tmp_path, clock) as holder:
        state = await until(holder, clock, lambda s: known(s) and s.listening and s.service.address)
        address = state.service.address
        async with httpx.AsyncClient(base_url=address, timeout=ANSWER_S) as http:
            made = (await http.post(f"{SDK}/agents/register", json={"name": "heron"})).json()
            http.headers["Authorization"] = f"Bearer {made['api_key']}"
            market = next(view for view in state.markets.values() if view.is_open)
            order = {"market_id": market.market_id, "side": "yes", "amount": 50.0}
            bought = (await http.post(f"{SDK}/trade", json=order)).json()
            async with desk_at(tmp_path, clock) as guest:
                await until(guest, clock, lambda s: known(s) and s.service.attached)
                guest.submit(Halt())
                assert guest.ports.gate.is_closed
                await until(guest, clock, lambda s: not s.halt.missing)
                # The other console hears of it within a second, and sends nothing either.
                await until(holder, clock, lambda s: s.halted_since, 1.0)
                assert holder.state.halt is None
                assert holder.ports.gate.is_closed
                refused = (await http.post(f"{SDK}/trade", json=order)).json()
                assert refused["error_code"] == "TRADING_HALTED"
                sale = {**order, "action": "sell", "amount": 0, "shares": bought["shares_bought"]}
                assert (await http.post(f"{SDK}/trade", json=sale)).json()["success"]
                # The word in one console ends the halt in the one that began it, too.
                assert [kept.on for kept in kept_halts(tmp_path)] == [True]
                holder.submit(Resume("RESUME"))
                await until(guest, clock, lambda s: s.halted_since is None)
                assert not guest.ports.gate.is_closed
                guest.submit(Halt())
                await until(guest, clock, lambda s: not s.halt.missing)
                await until(holder, clock, lambda s: s.halted_since)
            holder.submit(Resume("RESUME"))
            await until(holder, clock, lambda s: s.halted_since is None)
            assert (await http.post(f"{SDK}/trade", json=order)).json()["success"]
        # The last word of all consoles of the directory counts: the guest's halt is over too.
        assert sorted(kept.on for kept in kept_halts(tmp_path)) == [False, True]
        async with desk_at(tmp_path, clock) as guest:
            await until(guest, clock, known)
            assert guest.state.halt is None
            assert not guest.ports.gate.is_closed


async def test_a_halt_of_a_console_that_is_gone_holds_for_the_next_desk_of_the_directory(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    async with desk_at(tmp_path, clock) as holder:
        await until(holder, clock, lambda s: known(s) and s.service.address)
        async with desk_at(tmp_path, clock) as guest:
            await until(guest, clock, lambda s: known(s) and s.service.attached)
            await holder.close()
            guest.submit(Halt())
            await until(guest, clock, lambda s: s.halt.acks[1].state.value == "done")
    async with desk_at(tmp_path, clock) as desk:
        assert desk.ports.gate.is_closed
        assert desk.state.halt is not None
        await until(desk, clock, lambda s: not s.halt.missing)

"""A stop is reached on an external wallet: the alert, the exit, the end of the monitor, the row."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.widgets import Input

from kit.console.walk import Walk, walking
from service_tui.clock import ManualClock
from service_tui.console.exit_estimate import exit_at
from service_tui.console.needs import needs
from service_tui.desk.commands.settings import SetSpeed
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.risk import AlertState, MonitorView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue, WalletKind
from service_tui.units import ONE, Micros
from service_tui.wire.desk import DeskAgentPatch
from service_tui.wire.endpoints.desk import DESK_CLAIM, DESK_PATCH_AGENT
from service_tui.wire.endpoints.public import PATCH_SETTINGS, PLACE_TRADE, SET_MONITOR
from service_tui.wire.monitors import MonitorRequest
from service_tui.wire.settings import SettingsPatch
from service_tui.wire.trades import TradeRequest

pytestmark = pytest.mark.slow


@asynccontextmanager
async def console(
    path: Path, clock: ManualClock, *, listen: int | None = None
) -> AsyncGenerator[Walk]:
    """A console whose desk is open and knows its markets, on the list of them."""
    async with walking(path, clock, first="markets", listen=listen) as walk:
        await walk.until(
            lambda s: walk.is_open and not s.from_cache and s.limits and len(s.markets) > 60
        )
        await walk.pilot.press("escape")
        yield walk


def buy(state: DeskState, market_id: str, side: Side, amount: int) -> PlaceTrade:
    return PlaceTrade(
        market_id,
        side,
        Action.BUY,
        Venue.SIM,
        amount=Micros(amount * ONE),
        question=state.markets[market_id].question,
    )


async def guarded_position(walk: Walk, venue: Venue = Venue.SIM) -> MonitorView:
    """Link an outside wallet, buy, and wait for the monitor that comes with it."""
    state, desk = walk.state, walk.desk
    assert state.account is not None
    market = next(
        one
        for one in state.markets.values()
        if one.is_open
        and venue in one.venues
        and 0.4 < one.price < 0.6
        and (one.resolves_at or 0) - clock_time(state) > 100_000
    )
    await desk.ports.client.call(
        DESK_PATCH_AGENT,
        path={"agent_id": state.account.agent_id},
        body=DeskAgentPatch(wallet=WalletKind.EXTERNAL),
    )
    if venue is Venue.SIM:
        desk.submit(buy(state, market.market_id, Side.YES, 25))
    else:
        agent_id = {"agent_id": state.account.agent_id}
        await desk.ports.client.call(DESK_CLAIM, path=agent_id)
        allowed = SettingsPatch(sdk_real_trading_enabled=True)
        await desk.ports.client.call(PATCH_SETTINGS, body=allowed)
        order = TradeRequest(market_id=market.market_id, side=Side.YES, amount=10, venue=venue)
        bought = await desk.ports.client.call(PLACE_TRADE, body=order)
        assert bought.answer.success, bought.answer.error
    state = await walk.until(lambda s: s.risk.monitors)
    return state.risk.monitors[0]


def clock_time(state: DeskState) -> float:
    return 0.0 if state.world is None else state.world.now


async def test_a_breach_is_seen_exited_once_and_leaves_a_row(tmp_path: Path) -> None:
    clock = ManualClock()
    async with console(tmp_path, clock) as walk:
        # A buy is guarded by itself, and the person moves its stop closer.
        guarded = await guarded_position(walk)
        state, desk = walk.state, walk.desk
        market = state.markets[guarded.market_id]
        assert (guarded.automatic, guarded.stop_loss_pct) == (True, 0.2)
        found = exit_at(guarded, guarded.mark, market)
        assert found is not None
        assert guarded.exit_value is not None
        assert abs(found.brings - guarded.exit_value) < 0.001 * ONE
        await walk.press("3")
        assert market.question[:15] in walk.text
        assert "-20%" in walk.text
        await walk.press("e")
        walk.app.screen.query_one("#stop-percent", Input).value = "4"
        await walk.press("enter")
        state = await walk.until(lambda s: s.risk.monitors[0].stop_loss_pct == 0.04)
        assert not state.risk.monitors[0].automatic

        # The price falls through the stop: somebody, here the person, buys the other side.
        desk.submit(buy(state, market.market_id, Side.NO, 300))
        await walk.until(lambda s: s.risk.alerts)
        state = await walk.until(
            lambda s: (
                s.risk.monitor(guarded.key) is None
                and s.position(guarded.key) is None
                and any(alert.state is AlertState.EXECUTED for alert in s.risk.alerts)
            )
        )
        # On sim the service exits, whatever wallet is linked: the desk sends nothing.
        assert [ticket for ticket in state.tickets if ticket.kind == "exit"] == []
        assert [alert.state for alert in state.risk.alerts] == [AlertState.EXECUTED]

        # What happened stands in the alerts, in the history, and in the blotter.
        await walk.press("o")
        assert "stop loss" in walk.text
        assert "✓ executed" in walk.text
        state = await walk.until(lambda s: s.risk.exits)
        assert state.risk.exits[0].proceeds > 0
        assert state.risk.exits[0].shares == guarded.shares
        await walk.press("o")
        assert "proceeds $" in walk.text
        assert "stop loss" in walk.text


@pytest.mark.parametrize("minutes", [59, 61])
async def test_a_breach_before_a_closed_hour_is_exited_in_its_hour_only(
    minutes: int, tmp_path: Path
) -> None:
    clock = ManualClock()
    async with console(tmp_path, clock) as walk:
        guarded = await guarded_position(walk, Venue.SOL)
        desk = walk.desk
        # As if the console closed in this very moment: it begins no exit any more.
        desk._exits.close()
        # So near that any fall of the middle of the book reaches it.
        hair = MonitorRequest(side=Side.YES, stop_loss_pct=0.0001)
        path = {"market_id": guarded.market_id}
        await desk.ports.client.call(SET_MONITOR, path=path, body=hair)
        desk.submit(SetSpeed(1))
        await walk.press("3")
        state = await walk.until(lambda s: s.risk.open_alerts)
        desk.submit(SetSpeed(0))
        await walk.until(lambda s: s.world.speed == 0)
        alert = state.risk.open_alerts[0]
        assert alert.state is AlertState.PENDING
        assert state.risk.exits == ()
        await walk.press("o")
        assert "◷ pending" in walk.text
        assert "1 alert to be sold" in walk.text
        breached_at = alert.breached_at
    await clock.advance(breached_at + minutes * 60 - clock.now())
    async with console(tmp_path, clock) as walk:
        wanted = AlertState.EXECUTED if minutes < 60 else AlertState.EXPIRED
        state = await walk.until(
            lambda s: any(one.state is wanted for one in s.risk.alerts) and not s.from_cache
        )
        await walk.press("3", "o")
        assert f"{wanted.value}" in walk.text
        exits = [ticket for ticket in state.tickets if ticket.kind == "exit"]
        if minutes < 60:
            await walk.until(lambda s: s.risk.exits)
            assert [ticket.state for ticket in exits] == [TicketState.DONE]
        else:
            assert exits == []
            assert state.risk.exits == ()
            await walk.press("0")
            assert "expired" in walk.text
            said = [need.note for need in needs(walk.state, clock.now())]
            assert any("nothing sold" in note for note in said)

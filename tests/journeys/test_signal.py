"""A wallet is followed, its signal mirrored by a key; the position and the row tell it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kit.console.walk import Walk, walking
from service_tui.clock import ManualClock
from service_tui.console.forms.confirm import Confirm
from service_tui.console.screens.reactor.forms import FollowForm
from service_tui.console.screens.reactor.screen import ReactorScreen
from service_tui.desk.slices.reactor import SignalState, SignalView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState

HOUR_S = 3_600.0


def front(walk: Walk) -> ReactorScreen:
    screen = walk.app.front
    assert isinstance(screen, ReactorScreen)
    return screen


async def confirm(walk: Walk, key: str) -> None:
    asked = walk.app.screen
    assert isinstance(asked, Confirm)
    for _ in range(500):
        if asked.is_armed:
            break
        await walk.pilot.pause(0.02)
    await walk.press(key)
    assert walk.app.screen is not asked


async def follow(walk: Walk, name: str) -> str:
    """Follow a known wallet by its name.

    Returns:
        Its address.
    """
    await walk.press("n")
    assert isinstance(walk.app.screen, FollowForm)
    await walk.press(*name.replace(" ", ""), "backspace")
    found = next(one for one in walk.state.reactor.known.values() if one.label == name)
    await walk.press("enter")
    await walk.until(lambda s: s.reactor.config and found.address in s.reactor.config.wallets)
    return found.address


@asynccontextmanager
async def console(path: Path, clock: ManualClock) -> AsyncGenerator[Walk]:
    """A console whose desk knows its wallets, on the screen of the reactor."""
    async with walking(path, clock, first="reactor", speed=60, pace_s=0.15) as walk:
        await walk.until(
            lambda s: (
                walk.is_open
                and not s.from_cache
                and s.limits
                and s.reactor.config
                and s.reactor.known
                and len(s.markets) > 60
            )
        )
        await walk.pilot.press("escape")
        yield walk


def of(state: DeskState, *states: SignalState) -> list[SignalView]:
    return [one for one in state.reactor.signals if one.state in states]


def can_be_mirrored(state: DeskState) -> list[SignalView]:
    """Signals that wait in markets which stay open for a while, at a price that still holds."""
    now = 0.0 if state.world is None else state.world.now
    return [
        one
        for one in state.reactor.waiting
        if not one.is_too_dear
        and (market := state.markets.get(one.market_id)) is not None
        and (market.resolves_at or 0.0) - now > HOUR_S
    ]


@pytest.mark.slow
async def test_a_signal_is_mirrored_by_a_key(tmp_path: Path) -> None:
    clock = ManualClock()
    async with console(tmp_path, clock) as walk:
        # Nothing is watched; a wallet is followed by its name, and the reactor is switched on.
        assert "No wallet followed" in walk.text
        wallet = await follow(walk, "Windvane")
        await walk.press("H")
        await confirm(walk, "y")
        await walk.until(lambda s: s.reactor.is_enabled)
        assert "● running" in walk.text

        # Its signal arrives, with what mirroring it would bring; one key mirrors it.
        state = await walk.until(can_be_mirrored)
        signal = can_be_mirrored(state)[0]
        assert signal.wallet == wallet
        front(walk).focus_row(signal.signal_id)
        await walk.until(lambda _: front(walk).signal_pane.preview.is_seen(signal, walk.app.now))
        assert "f mirrors, d dismisses" in walk.text
        await walk.press("f")
        state = await walk.until(lambda s: of(s, SignalState.MIRRORED))
        (done,) = of(state, SignalState.MIRRORED)
        assert done.signal_id == signal.signal_id
        assert done.fill_price is not None
        assert done.fill_price <= done.price_max + 1e-6
        assert "✓ mirrored" in walk.text

        # The position is there, the signal is gone from the service, the row says how it ended.
        holding = f"{signal.market_id}:{signal.side.value}"
        state = await walk.until(lambda s: s.position(holding))
        assert signal.signal_id not in [one.signal_id for one in state.reactor.waiting]
        mirrors = [ticket for ticket in state.tickets if ticket.kind == "mirror"]
        assert [ticket.state for ticket in mirrors] == [TicketState.DONE]
        await walk.press("1")
        assert signal.question[:20] in walk.text
        await walk.press("9")
        assert "mirror" in walk.text

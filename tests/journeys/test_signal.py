"""A wallet is followed, its signal mirrored by a key; five failures open the breaker."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kit.console.walk import Walk, walking
from service_tui.clock import ManualClock
from service_tui.console.forms.confirm import Confirm
from service_tui.console.screens.reactor.forms import ChoosePolicy, FollowForm
from service_tui.console.screens.reactor.screen import ReactorScreen
from service_tui.desk.commands.reactor import SetReactorConfig
from service_tui.desk.slices.reactor import Policy, SignalState, SignalView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros

HOUR_S = 3_600.0


def front(walk: Walk) -> ReactorScreen:
    screen = walk.app.front
    assert isinstance(screen, ReactorScreen)
    return screen


async def confirm(walk: Walk, key: str) -> None:
    asked = walk.app.screen
    assert isinstance(asked, Confirm | ChoosePolicy)
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
async def console(path: Path, clock: ManualClock, speed: int = 60) -> AsyncGenerator[Walk]:
    """A console whose desk knows its wallets, on the screen of the reactor."""
    async with walking(path, clock, first="reactor", speed=speed, pace_s=0.15) as walk:
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
async def test_a_signal_is_mirrored_by_a_key_and_a_breaker_runs_again_after_its_hour(
    tmp_path: Path,
) -> None:
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

        # A wallet whose every mirror fails is put on auto: five failures open the breaker.
        await walk.press("4")
        backroom = await follow(walk, "Backroom")
        walk.desk.submit(SetReactorConfig(max_size=Micros(20 * ONE)))
        await walk.press("o")
        front(walk).focus_row(backroom)
        await walk.press("l")
        assert "auto mirrors without asking you" in walk.text
        await confirm(walk, "2")
        await walk.until(lambda s: s.reactor.policy_of(backroom) is Policy.AUTO)
        await walk.press("o")
        state = await walk.until(lambda s: s.reactor.breaker.is_paused(walk.app.now), step_s=2.0)
        assert len(of(state, SignalState.FAILED)) >= 5
        assert "5 failures in a row" in walk.text
        assert "■ paused" in walk.text
        assert "✗ failed" in walk.text

        # While it is open signals are skipped.
        state = await walk.until(
            lambda s: s.reactor.breaker.skipped and not s.reactor.waiting, step_s=2.0
        )
        breaker = state.reactor.breaker
        resets_at = breaker.resets_at
        assert breaker.paused_at is not None
        assert resets_at is not None
        assert resets_at == breaker.paused_at + HOUR_S
        # The world rests while nobody looks.
        await walk.press("2", "p")
        await walk.until(lambda s: s.world and s.world.speed == 0)

    # Nearly an hour later, after a restart, it is open still; then it runs again by itself.
    await clock.advance(resets_at - clock.now() - 60.0)
    async with console(tmp_path, clock, speed=0) as walk:
        assert walk.state.reactor.breaker.is_paused(walk.app.now)
        assert "■ breaker open" in walk.text
        await walk.until(lambda s: not s.reactor.breaker.is_paused(walk.app.now), step_s=2.0)
        await walk.rest()
        assert clock.now() >= resets_at
        assert "● running" in walk.text
        # A signal that was skipped meanwhile keeps its reason; the banner is gone.
        assert "■ breaker open" not in walk.text

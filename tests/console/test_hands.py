"""Buy, exit, stop, approve, mirror and halt: by keys alone, then by the mouse alone.

As quickly as a person can: nothing is lost and nothing is hit by mistake.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from textual import events

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import sample_state
from kit.samples.fleet import leash_of, pending_trade_of, sample_supervision
from kit.samples.reactor import reactor_state
from service_tui.console import key_queue
from service_tui.console.forms import trade_form
from service_tui.console.forms.approval import ApprovalForm
from service_tui.console.forms.halt import HaltPanel
from service_tui.console.forms.monitor_form import MonitorForm
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.keys import with_keys
from service_tui.console.screens.reactor import mirror
from service_tui.console.screens.reactor.mirror import EARLY, MIRRORS_WHEN_QUOTED, MirrorForm
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import ApproveTrade
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.reactor import MirrorSignal
from service_tui.desk.commands.risk import SetMonitor
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.state import DeskState
from service_tui.terms import Action
from service_tui.units import ONE, Micros

SIZES = [(80, 24), (160, 50)]

SAMPLE = seen_before(reactor_state())
STATE = replace(
    SAMPLE,
    supervision=replace(
        sample_supervision(),
        leashes=(leash_of(budget=None),),
        pending_trades=(pending_trade_of("h1"),),
    ),
)
BARE = STATE.positions[6]


KEYS = {
    "buy": ("b", "2", "5", "enter"),
    "exit": ("x", "f4", "enter"),
    "stop": ("m", "enter"),
    "stop, own distance": ("m", "3", "0", "enter"),
    "approve": ("ampersand", "enter"),
    "mirror": ("f", "enter"),
    "halt": ("f9",),
    "find one of 5,000": ("slash", "z", "a", "n", "enter"),
}
"""Keys of each main job, pressed where its object is in front."""

MOST = {
    "buy": 4, "exit": 3, "stop": 3, "stop, own distance": 4, "approve": 4, "mirror": 2, "halt": 1,
    "find one of 5,000": 5,
}  # fmt: skip
"""Keys that each job may take at most."""


def affordable(state: DeskState) -> DeskState:
    signals = tuple(replace(one, price_max=0.99) for one in state.reactor.signals)
    return replace(state, reactor=replace(state.reactor, signals=signals))


def typed(seen: Running, *keys: str) -> None:
    """Keys as a terminal sends them: all at once, nobody waits between two."""
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else None)
        event.set_sender(seen.app)
        seen.app.post_message(event)


async def go(seen: Running, digit: str) -> None:
    """Click on a screen's digit in the last line."""
    found = re.search(rf"(?<=[ ]){digit}(?= )", seen.lines[-1])
    assert found is not None
    before = seen.app.front
    await seen.pilot.click(offset=(found.start(), len(seen.lines) - 1))
    await seen.until(lambda: seen.app.front is not before)


def given(seen: Running, kind: type[Command]) -> list[Command]:
    return [one for one in seen.doors.submitted if isinstance(one, kind)]


async def answered(seen: Running) -> None:
    """The quotes of all that was asked arrive."""
    await seen.until(lambda: bool(given(seen, RequestQuote)))
    for ask in given(seen, RequestQuote):
        assert isinstance(ask, RequestQuote)
        quote = QuoteView(
            request_id=ask.request_id,
            ok=True,
            shares=Micros(10 * ONE),
            money=ask.order.amount or Micros(5 * ONE),
            average=0.5,
            price_before=0.5,
            price_after=0.501,
        )
        await seen.bring(replace(seen.doors.state, quote=quote))


async def buy_by_keys(seen: Running) -> None:
    typed(seen, "2", *KEYS["buy"])
    await seen.until(lambda: "sends once quoted" in seen.text)


async def buy_by_mouse(seen: Running) -> None:
    await go(seen, "2")
    await seen.click("b buy")
    await seen.click("F2")
    await seen.click("buy YES for")
    await seen.until(lambda: "sends once quoted" in seen.text)


async def exit_by_keys(seen: Running) -> None:
    typed(seen, "1", *KEYS["exit"])
    await seen.until(lambda: "sends once quoted" in seen.text)


async def exit_by_mouse(seen: Running) -> None:
    await seen.click("x sell")
    await seen.click("F4")
    await seen.until(lambda: isinstance(seen.app.screen, TradeForm))
    door = seen.app.screen.query_one("#ticket-place")
    await seen.pilot.click(door)
    await seen.until(lambda: "sends once quoted" in seen.text)


async def stop_by_keys(seen: Running) -> None:
    seen.app.front.focus_row(BARE.key)
    typed(seen, *KEYS["stop, own distance"])


async def usual_stop_by_keys(seen: Running) -> None:
    seen.app.front.focus_row(BARE.key)
    typed(seen, *KEYS["stop"])


async def stop_by_mouse(seen: Running) -> None:
    await seen.click(BARE.question[:18])
    assert seen.app.front.current_row() == BARE.key
    # A click on the screen in front lists all of its keys.
    await seen.click("1 port")
    await seen.click("Stop, target")
    await seen.until(lambda: isinstance(seen.app.screen, MonitorForm))
    await seen.pilot.click("#form-set")


async def approve_by_keys(seen: Running) -> None:
    typed(seen, *KEYS["approve"])


async def approve_by_mouse(seen: Running) -> None:
    await seen.click("& 1 approval" if seen.app.size.width > 80 else "&1")
    await seen.until(lambda: isinstance(seen.app.screen, ApprovalForm))
    await seen.pilot.click("#form-set")


async def mirror_by_keys(seen: Running) -> None:
    preview, send = KEYS["mirror"]
    typed(seen, "4", preview)
    await seen.until(lambda: isinstance(seen.app.screen, MirrorForm))
    form = seen.app.screen
    assert isinstance(form, MirrorForm)
    # A key that is typed ahead is kept and shown, or refused with its reason: then it is pressed
    # again.
    typed(seen, send)
    await seen.until(lambda: EARLY in hint(seen) or with_keys(MIRRORS_WHEN_QUOTED) in hint(seen))
    if EARLY in hint(seen):
        await seen.until(lambda: form.is_armed)
        typed(seen, send)
        await seen.until(lambda: with_keys(MIRRORS_WHEN_QUOTED) in hint(seen))


def hint(seen: Running) -> str:
    return " ".join(str(seen.app.screen.query_one("#form-hint", TextBlock).render()).split())


async def mirror_by_mouse(seen: Running) -> None:
    await go(seen, "4")
    await seen.click("f mirror")
    await seen.until(lambda: isinstance(seen.app.screen, MirrorForm))
    form = seen.app.screen
    assert isinstance(form, MirrorForm)
    await seen.until(lambda: form.is_armed)
    await seen.pilot.click("#form-set")
    await seen.until(lambda: with_keys(MIRRORS_WHEN_QUOTED) in hint(seen))


async def halt_by_keys(seen: Running) -> None:
    typed(seen, "2", "b", *KEYS["halt"])


async def halt_by_mouse(seen: Running) -> None:
    await seen.click("F9 halt")


Journey = Callable[[Running], Awaitable[None]]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("journey", [buy_by_keys, buy_by_mouse])
async def test_a_buy(journey: Journey, size: tuple[int, int]) -> None:
    async with running(STATE, first="portfolio", size=size) as seen:
        await journey(seen)
        assert given(seen, PlaceTrade) == []
        await answered(seen)
        await seen.until(lambda: bool(given(seen, PlaceTrade)))
        (order,) = given(seen, PlaceTrade)
        assert isinstance(order, PlaceTrade)
        assert order.action is Action.BUY
        assert order.market_id == seen.app.front.current_row()
        assert len(seen.app.screen_stack) == 1


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("journey", [exit_by_keys, exit_by_mouse])
async def test_an_exit(journey: Journey, size: tuple[int, int]) -> None:
    async with running(STATE, first="portfolio", size=size) as seen:
        row = seen.app.front.current_row()
        await journey(seen)
        assert given(seen, PlaceTrade) == []
        await answered(seen)
        await seen.until(lambda: bool(given(seen, PlaceTrade)))
        (order,) = given(seen, PlaceTrade)
        assert isinstance(order, PlaceTrade)
        held = next(one for one in STATE.positions if one.key == row)
        assert (order.action, order.holding) == (Action.SELL, row)
        assert order.shares == held.shares


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("journey", [stop_by_keys, usual_stop_by_keys, stop_by_mouse])
async def test_a_stop(journey: Journey, size: tuple[int, int]) -> None:
    async with running(STATE, first="portfolio", size=size) as seen:
        await journey(seen)
        await seen.until(lambda: bool(given(seen, SetMonitor)))
        (order,) = given(seen, SetMonitor)
        assert isinstance(order, SetMonitor)
        assert (order.market_id, order.side) == (BARE.market_id, BARE.side)
        assert order.thresholds.stop_loss_pct == (0.3 if journey is stop_by_keys else 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("journey", [approve_by_keys, approve_by_mouse])
async def test_an_approval(journey: Journey, size: tuple[int, int]) -> None:
    async with running(STATE, first="portfolio", size=size) as seen:
        await journey(seen)
        await seen.until(lambda: bool(given(seen, ApproveTrade)))
        (order,) = given(seen, ApproveTrade)
        assert isinstance(order, ApproveTrade)
        assert (order.pending_id, order.amount) == ("h1", None)
        assert "wait" not in seen.lines[0]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("journey", [mirror_by_keys, mirror_by_mouse])
async def test_a_mirror(journey: Journey, size: tuple[int, int]) -> None:
    async with running(affordable(STATE), first="portfolio", size=size) as seen:
        await journey(seen)
        assert given(seen, MirrorSignal) == []
        row = seen.app.front.current_row()
        await answered(seen)
        await seen.until(lambda: bool(given(seen, MirrorSignal)))
        (order,) = given(seen, MirrorSignal)
        assert isinstance(order, MirrorSignal)
        assert row is not None
        assert order.signal_id in row


@pytest.mark.slow
@pytest.mark.parametrize("key", ["enter", "x"])
async def test_a_key_right_behind_a_ticket_that_closed_itself_falls_on_nothing(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests_s = 60.0
    # However long the machine takes from the end of the dialog to the key.
    monkeypatch.setattr(key_queue, "REST_S", rests_s)
    async with running(STATE, first="portfolio", size=(80, 24)) as seen:
        await buy_by_keys(seen)
        await answered(seen)
        await seen.until(lambda: bool(given(seen, PlaceTrade)))
        typed(seen, key)
        await seen.until(lambda: any(trade_form.SENT in one for one in seen.toasts))
        assert len(seen.app.screen_stack) == 1
        await seen.pilot.pause(rests_s)
        typed(seen, "b")
        await seen.until(lambda: len(seen.app.screen_stack) > 1)


@pytest.mark.slow
async def test_a_key_right_behind_a_mirror_that_closed_itself_falls_on_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # However long the machine takes from the end of the dialog to the key.
    monkeypatch.setattr(key_queue, "REST_S", 60.0)
    async with running(affordable(STATE), first="portfolio", size=(80, 24)) as seen:
        await mirror_by_keys(seen)
        await answered(seen)
        await seen.until(lambda: bool(given(seen, MirrorSignal)))
        typed(seen, "enter")
        await seen.until(lambda: any(mirror.SENT in one for one in seen.toasts))
        assert len(seen.app.screen_stack) == 1
        assert len(given(seen, MirrorSignal)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("journey", [halt_by_keys, halt_by_mouse])
async def test_a_halt(journey: Journey, size: tuple[int, int]) -> None:
    async with running(STATE, first="portfolio", size=size) as seen:
        await journey(seen)
        await seen.until(lambda: isinstance(seen.app.screen, HaltPanel))
        assert len(given(seen, Halt)) == 1
        assert given(seen, PlaceTrade) == []


def among_5_000() -> tuple[DeskState, str]:
    state = sample_state(5_000)
    market = replace(list(state.markets.values())[4_321], question="Will Zanzibar have rain?")
    markets = {**state.markets, market.market_id: market}
    return seen_before(replace(state, markets=markets)), market.market_id


@pytest.mark.slow
async def test_one_of_5_000_markets_is_found() -> None:
    state, wanted = among_5_000()
    async with running(state, first="markets", size=(120, 40)) as seen:
        assert seen.app.front.current_row() != wanted
        typed(seen, *KEYS["find one of 5,000"])
        await seen.until(lambda: seen.app.front.current_row() == wanted)
        await seen.until(lambda: "Zanzibar" in seen.text)


@pytest.mark.slow
async def test_one_of_5_000_markets_is_found_with_the_mouse_and_three_letters() -> None:
    state, wanted = among_5_000()
    async with running(state, first="portfolio", size=(120, 40)) as seen:
        await go(seen, "2")
        await seen.click("/ find")
        typed(seen, "z", "a", "n")
        await seen.click("Zanzibar have rain")
        await seen.until(lambda: seen.app.front.current_row() == wanted)


def test_no_main_job_takes_more_keys_than_it_may() -> None:
    assert {job: len(keys) for job, keys in KEYS.items() if len(keys) > MOST[job]} == {}

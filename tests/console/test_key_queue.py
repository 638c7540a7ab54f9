"""The order of keys typed ahead, and keys of other keyboard layouts."""

import asyncio
from dataclasses import replace

import pytest
from textual import events
from textual.widgets import Input

from kit.console.doors import Running, running, seen_before
from kit.console.idle import wait_for_idle
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import leash_of, pending_trade_of, sample_supervision
from kit.samples.guarded import guarded_state
from service_tui.console import key_queue
from service_tui.console.forms.approval import ApprovalForm
from service_tui.console.forms.monitor_draft import Change
from service_tui.console.forms.monitor_form import MonitorForm
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.key_queue import BEHIND, foreign_letter_hint, gone_text
from service_tui.console.shell.terminal import KeyParser
from service_tui.console.widgets.dialog import TOGETHER_S
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.commands.agents import ApproveTrade
from service_tui.desk.commands.risk import RemoveMonitor, SetPriceAlert
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.risk import MonitorState
from service_tui.units import ONE, Micros

STATE = seen_before(sample_state())


def typed(seen: Running, *keys: str) -> None:
    """Keys as a terminal sends them: all at once, nobody waits between two."""
    for key in keys:
        name = {" ": "space", ".": "full_stop"}.get(key, key)
        event = events.Key(name, key if len(key) == 1 else None)
        event.set_sender(seen.app)
        seen.app.post_message(event)


async def settled(seen: Running) -> None:
    for _ in range(400):
        await wait_for_idle()
        if seen.app.pressed_at is None:
            await seen.pilot.pause()
            return
    raise AssertionError("the keys never came to an end")


@pytest.mark.slow
async def test_what_is_typed_while_a_ticket_opens_arrives_whole_and_in_order() -> None:
    async with running(STATE, first="portfolio") as seen:
        typed(seen, "2", "b", "1", "2", "5")
        await settled(seen)
        assert seen.app.front.name_in_keys == "markets"
        assert isinstance(seen.app.screen, TradeForm)
        assert seen.app.screen.query_one("#ticket-amount", Input).value == "125"


@pytest.mark.slow
async def test_a_whole_order_in_one_breath_waits_for_its_quote() -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, "b", "f5", "f3", "enter")
        await settled(seen)
        assert isinstance(seen.app.screen, TradeForm)
        assert "NO" in seen.app.screen.side.name
        assert not any(isinstance(one, PlaceTrade) for one in seen.doors.submitted)


@pytest.mark.slow
async def test_the_end_overtakes_what_was_typed() -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, *"jjjjj", "ctrl+q")
        await seen.pilot.pause(0.2)
        assert seen.app.return_code == 0


@pytest.mark.slow
async def test_pasted_text_keeps_its_place_among_the_keys() -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, "b", "1")
        paste = events.Paste("2")
        paste.set_sender(seen.app)
        seen.app.post_message(paste)
        typed(seen, "3")
        await settled(seen)
        assert seen.app.screen.query_one("#ticket-amount", Input).value == "123"


@pytest.mark.slow
@pytest.mark.parametrize("leaves", ["enter", "down", "escape"])
async def test_the_key_right_behind_the_one_that_leaves_the_search_is_not_typed_into_it(
    leaves: str,
) -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, "slash", "r", "i", leaves, "b")
        await settled(seen)
        assert isinstance(seen.app.screen, TradeForm)
        line = seen.app.front.query_one("#filter-typed", Input)
        assert line.value == ("" if leaves == "escape" else "ri")


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b1", ["escape", "1"]),
        ("\x1bj", ["escape", "j"]),
        ("\x1bW", ["escape", "W"]),
        ("\x1b&", ["escape", "ampersand"]),
        ("\x1b:", ["escape", "colon"]),
        ("\x1b\r", ["escape", "enter"]),
        ("\x1b\x1b2", ["escape", "escape", "2"]),
        ("\x1bOP", ["f1"]),
        ("\x1b[A", ["up"]),
        ("\x1b\x7f", ["ctrl+w"]),
        ("\x1bb", ["escape", "b"]),
        ("\x1bf", ["escape", "f"]),
        ("\x1b\t", ["escape", "tab"]),
        ("\x1b[1;5D", ["ctrl+left"]),
    ],
)
def test_an_escape_and_the_key_behind_it_are_two_keys(sent: str, keys: list[str]) -> None:
    parser = KeyParser()
    assert [one.key for one in parser.feed(sent) if isinstance(one, events.Key)] == keys


@pytest.mark.parametrize("letter", ["ф", "ㅂ", "é"])
async def test_a_letter_of_another_layout_is_told_once_and_only_outside_of_text(
    letter: str,
) -> None:
    async with running(STATE) as seen:
        await seen.press("2", "/", letter)
        assert isinstance(seen.app.focused, Input)
        assert (seen.app.focused.value, seen.toasts) == (letter, [])
        await seen.press("escape", "escape", letter, letter, "1", letter)
        await settled(seen)
        assert seen.toasts == [f"! {letter} is no key here: switch the keyboard to Latin letters"]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["0", "ampersand", "minus"])
async def test_a_key_of_the_screens_is_answered_while_a_dialog_is_in_front(key: str) -> None:
    async with running(STATE) as seen:
        await seen.press("W", key)
        await settled(seen)
        assert "Wallet" in seen.text
        assert seen.toasts == ["! esc closes this first"]


@pytest.mark.parametrize("character", [None, "a", "1", "~", "\x1b", "€", "⏎", ""])
def test_of_keys_that_are_no_foreign_letters_nothing_is_told(character: str | None) -> None:
    assert foreign_letter_hint(character) == ""


@pytest.mark.slow
async def test_what_was_typed_for_a_row_that_has_gone_falls_nowhere() -> None:
    async with running(STATE) as seen:
        await seen.press("1")
        table = seen.app.front.query_one(RecordTable)
        held = table.selected()
        assert held is not None
        rest = tuple(one for one in STATE.positions if one.key != held.key)
        seen.doors.bring(replace(STATE, positions=rest))
        await seen.until(lambda: len(table.order) == len(rest))
        typed(seen, "x", "5", "0", "enter")
        await settled(seen)
        # One answer is shown, for the key or for those behind it.
        assert len(seen.toasts) == 1
        assert seen.toasts[0] in {f"! {gone_text('x')}", f"! {BEHIND}"}
        assert seen.app.front.name_in_keys == "portfolio"
        assert len(seen.app.screen_stack) == 1


def arrive(seen: Running, sent: str) -> None:
    """Bytes of a terminal, read in one go."""
    for key in KeyParser().feed(sent):
        key.set_sender(seen.app)
        seen.app.post_message(key)


@pytest.mark.slow
async def test_an_escape_and_a_b_that_arrive_together_both_work_inside_a_line_of_text() -> None:
    async with running(STATE) as seen:
        await seen.press("2")
        arrive(seen, "\x1bb")
        await settled(seen)
        first = seen.app.screen
        assert isinstance(first, TradeForm)
        assert isinstance(seen.app.focused, Input)
        # An empty ticket is left by the escape, and the letter opens the next one.
        arrive(seen, "\x1bb")
        await settled(seen)
        assert isinstance(seen.app.screen, TradeForm)
        assert seen.app.screen is not first
        typed(seen, "2", "5")
        arrive(seen, "\x1b0")
        await settled(seen)
        # With an amount the escape asks, and the figure behind it keeps the ticket as it is.
        assert seen.app.screen.query_one("#ticket-amount", Input).value == "25"
        assert "discards this ticket" not in seen.text
        await seen.pilot.pause(TOGETHER_S)
        typed(seen, "0")
        await settled(seen)
        assert seen.app.screen.query_one("#ticket-amount", Input).value == "250"


@pytest.mark.slow
@pytest.mark.parametrize("sent", ["\x1b1", "\x1b12", "\x1bx"])
async def test_keys_that_arrive_with_an_escape_change_no_amount(sent: str) -> None:
    async with running(STATE, first="markets", size=(80, 24)) as seen:
        typed(seen, "b", "2", "5")
        await settled(seen)
        form = seen.app.screen
        assert isinstance(form, TradeForm)
        arrive(seen, sent)
        await settled(seen)
        assert seen.app.screen is form
        assert form.query_one("#ticket-amount", Input).value == "25"
        assert "buy YES for 25.00" in seen.text
        assert "discards this ticket" not in seen.text


@pytest.mark.slow
async def test_a_key_that_arrives_with_an_escape_changes_no_line_of_a_form() -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, "a", "0", ".", "7")
        await settled(seen)
        form = seen.app.screen
        arrive(seen, "\x1b5")
        await settled(seen)
        assert seen.app.screen is form
        assert isinstance(seen.app.focused, Input)
        assert seen.app.focused.value == "0.7"
        assert "again" not in seen.text


def asked(seen: Running) -> list[RequestQuote]:
    return [one for one in seen.doors.submitted if isinstance(one, RequestQuote)]


@pytest.mark.slow
async def test_an_enter_right_behind_an_escape_keeps_a_filled_ticket_and_places_nothing() -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, "b", "2", "5")
        await settled(seen)
        wanted = Micros(25 * ONE)
        await seen.until(lambda: any(ask.order.amount == wanted for ask in asked(seen)))
        ask = asked(seen)[-1]
        quote = QuoteView(
            ask.request_id,
            ok=True,
            shares=Micros(50 * ONE),
            money=ask.order.amount,
            average=0.5,
            price_before=0.5,
            price_after=0.5,
        )
        await seen.bring(replace(STATE, quote=quote))
        form = seen.app.screen
        assert isinstance(form, TradeForm)
        for _ in range(3):
            arrive(seen, "\x1b\r")
            await settled(seen)
            assert seen.app.screen is form
            assert form.query_one("#ticket-amount", Input).value == "25"
        assert not any(isinstance(one, PlaceTrade) for one in seen.doors.submitted)
        # It was an order that could be placed all the while.
        await seen.pilot.pause(TOGETHER_S)
        typed(seen, "enter")
        await seen.until(lambda: any(isinstance(one, PlaceTrade) for one in seen.doors.submitted))


@pytest.mark.slow
async def test_an_enter_right_behind_an_escape_keeps_a_filled_form_and_sets_nothing() -> None:
    state = seen_before(guarded_state())
    async with running(state, first="portfolio") as seen:
        watched = MonitorState.WATCHING
        monitor = next(one for one in state.risk.monitors if one.state is watched)
        form = MonitorForm(state, NOW, monitor)
        returned: list[Change | None] = []
        seen.app.push_screen(form, returned.append)
        await seen.pilot.pause()
        typed(seen, "3", "1")
        await settled(seen)
        for _ in range(3):
            arrive(seen, "\x1b\r")
            await settled(seen)
            assert (seen.app.screen is form, returned) == (True, [])
        await seen.pilot.pause(TOGETHER_S)
        typed(seen, "enter")
        await seen.until(lambda: len(returned) == 1)


@pytest.mark.slow
async def test_an_enter_right_behind_an_escape_approves_nothing() -> None:
    supervision = replace(
        sample_supervision(), leashes=(leash_of(budget=None),), pending_trades=(pending_trade_of(),)
    )
    async with running(replace(STATE, supervision=supervision), first="portfolio") as seen:
        typed(seen, "ampersand", "5")
        await settled(seen)
        form = seen.app.screen
        assert isinstance(form, ApprovalForm)
        for _ in range(3):
            arrive(seen, "\x1b\r")
            await settled(seen)
            assert seen.app.screen is form
        assert not any(isinstance(one, ApproveTrade) for one in seen.doors.submitted)
        await seen.pilot.pause(TOGETHER_S)
        typed(seen, "enter")
        await seen.until(lambda: any(isinstance(one, ApproveTrade) for one in seen.doors.submitted))


@pytest.mark.slow
async def test_a_key_right_behind_an_enter_is_not_part_of_the_value_that_is_set() -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, "a", "0", ".", "7", "0", "enter", "3")
        await settled(seen)
        (alert,) = [one for one in seen.doors.submitted if isinstance(one, SetPriceAlert)]
        assert alert.threshold == 0.70
        assert seen.app.front.name_in_keys == "monitors"


@pytest.mark.slow
async def test_a_second_enter_behind_a_command_is_kept_or_refused_aloud() -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, "colon", *"buy yes 20", "enter", "enter")
        await settled(seen)
        assert isinstance(seen.app.screen, TradeForm)
        await seen.until(lambda: "sends once quoted" in seen.text)


@pytest.mark.slow
async def test_the_key_behind_one_that_closes_a_dialog_is_not_held_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As if a key waited for ever: nothing here may need the end of that.
    monkeypatch.setattr(key_queue, "SETTLE_S", 3_600.0)
    async with running(STATE, first="markets") as seen:
        begun = asyncio.get_running_loop().time()
        for opens in (("b",), ("question_mark",), ("a", "5", "escape")):
            typed(seen, *opens, "escape", "j")
            await settled(seen)
            assert len(seen.app.screen_stack) == 1
        assert asyncio.get_running_loop().time() - begun < key_queue.SETTLE_S


@pytest.mark.slow
async def test_a_key_that_comes_while_the_console_ends_is_no_fault() -> None:
    async with running(STATE, first="markets") as seen:
        typed(seen, "b", "1")
    key = events.Key("x", "x")
    key.set_sender(seen.app)
    await seen.app.on_event(key)
    assert not seen.app.screen_stack
    assert seen.app.return_code in {None, 0}


async def test_a_row_that_a_reading_left_out_and_the_next_brought_back_takes_keys_at_once() -> None:
    whole = seen_before(guarded_state())
    one = replace(whole, risk=replace(whole.risk, monitors=whole.risk.monitors[:1]))
    none = replace(whole, risk=replace(whole.risk, monitors=()), positions=())
    async with running(one, first="markets") as seen:
        await seen.press("3")
        await seen.bring(none)
        await seen.bring(one)
        typed(seen, "d")
        await settled(seen)
        assert seen.toasts == []
        assert [type(order) for order in seen.doors.submitted] == [RemoveMonitor]


async def test_a_row_that_took_the_place_of_one_that_went_is_seen_first() -> None:
    whole = seen_before(guarded_state())
    first, second = (replace(whole, risk=replace(whole.risk, monitors=(row,)), positions=())
                     for row in whole.risk.monitors[:2])  # fmt: skip
    none = replace(whole, risk=replace(whole.risk, monitors=()), positions=())
    async with running(first, first="markets") as seen:
        await seen.press("3")
        await seen.bring(none)
        await seen.bring(second)
        typed(seen, "d")
        await settled(seen)
        assert seen.doors.submitted == []


@pytest.mark.slow
async def test_a_key_whose_row_has_gone_is_named() -> None:
    async with running(STATE) as seen:
        await seen.press("1")
        table = seen.app.front.query_one(RecordTable)
        held = table.selected()
        assert held is not None
        rest = tuple(one for one in STATE.positions if one.key != held.key)
        seen.doors.bring(replace(STATE, positions=rest))
        await seen.until(lambda: len(table.order) == len(rest))
        await seen.press("x")
        assert seen.toasts == [
            "! The list has just changed: nothing sent. Press x again for this row."
        ]


def test_a_click_on_a_row_that_has_gone_names_no_key() -> None:
    assert gone_text("") == "The list has just changed: nothing sent. Choose again for this row."

"""F9: from anywhere, before anything else, and what stands on the screen then."""

import asyncio
import re
from dataclasses import replace

import pytest
from textual import events
from textual.command import CommandPalette
from textual.screen import Screen
from textual.widgets import Input

from kit.console.doors import RecordingDoors, Running, running, seen_before
from kit.console.opened import opened
from kit.console.snapshot import assert_snapshot
from kit.console.textual_private import post
from kit.samples.desk import NOW, sample_state
from service_tui.console.closed_desk import DeskClosedError
from service_tui.console.fields import FieldError
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.halt import EXIT_WORD, HaltPanel, resume_text, why_no_exits
from service_tui.console.forms.halt_text import LISTED_MAX, exits_question, halt_text, sold_and_kept
from service_tui.console.forms.order_draft import Draft, read_order
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.needs import needs
from service_tui.console.widgets.banner import lasting_conditions
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.console.widgets.top_bar import TopBar
from service_tui.desk.commands.halt import RESUME_WORD, ExitAll, Halt, Resume
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.halt.exit_all import sale_of
from service_tui.desk.slices.halt import AckState, AckView, ExitAllView, HaltView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp

STATE = seen_before(sample_state())
ACKS = (
    AckView("gate", "buys blocked on this desk", AckState.DONE),
    AckView("service", "service refuses the buys of every agent"),
    AckView(
        "pause", "agent of this desk paused by the service", AckState.FAILED,
        "embedded cannot be reached: no [red]route[/] to host", 3,
    ),
)  # fmt: skip
HALTED = replace(STATE, halt=HaltView(Timestamp(NOW - 12), ACKS))
DONE = replace(
    STATE,
    halt=HaltView(Timestamp(NOW - 12), tuple(replace(ack, state=AckState.DONE) for ack in ACKS)),
)
ELSEWHERE = replace(STATE, world=replace(STATE.world, halted_at=Timestamp(NOW - 90)))


def halts(seen: Running) -> int:
    return sum(isinstance(one, Halt) for one in seen.doors.submitted)


def arrives(seen: Running, *keys: str) -> None:
    """Keys as a terminal sends them: all at once, nobody waits between two."""
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else None)
        event.set_sender(seen.app)
        seen.app.post_message(event)


def top_bar(seen: Running) -> TopBar:
    return seen.app.screen_stack[0].query_one(TopBar)


# -- the key ------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_gate_is_told_before_one_step_of_the_loop_has_passed() -> None:
    async with running(STATE, first="markets") as seen:
        steps = 0
        loop = asyncio.get_running_loop()
        arrives(seen, "f9")
        while not halts(seen):
            steps += 1
            await asyncio.sleep(0)
        assert steps == 0
        assert loop.is_running()


@pytest.mark.slow
async def test_a_key_from_the_terminals_thread_needs_two_steps() -> None:
    async with running(STATE, first="markets") as seen:
        event = events.Key("f9", None)
        event.set_sender(seen.app)
        # As the driver does it, whose thread reads the keyboard.
        asyncio.get_running_loop().create_task(post(seen.app, event))
        steps = 0
        while not halts(seen):
            steps += 1
            await asyncio.sleep(0)
        assert steps <= 2


@pytest.mark.slow
async def test_it_halts_while_the_queue_still_deals_with_other_keys() -> None:
    async with running(STATE, first="markets") as seen:
        arrives(seen, *"bnjjj125", "f9", "enter", "enter")
        assert halts(seen) == 1
        await seen.until(lambda: isinstance(seen.app.screen, HaltPanel))
        await seen.until(lambda: not seen.app._is_busy and not seen.app._typed)
        # Neither do the keys before it go on, nor do those after it close what it opened.
        assert isinstance(seen.app.screen, HaltPanel)
        assert not any(isinstance(one, PlaceTrade) for one in seen.doors.submitted)


@pytest.mark.slow
async def test_it_halts_from_inside_an_input_or_a_dialog() -> None:
    sent = TicketView("t-9", "trade", "m", "buy", TicketState.SENT, NOW)
    # The filter comes last: with what is typed into it the rows are others.
    inside = {
        "ticket": ("b", "1"), "palette": ("ctrl+p", "a"), "command": ("colon", "a"),
        "help": ("question_mark",), "welcome": ("f12",), "leaving": ("ctrl+q",),
        "filter": ("slash", "a"),
    }  # fmt: skip
    kinds = {"ticket": TradeForm, "palette": CommandPalette, "leaving": Confirm}
    async with running(replace(STATE, tickets=(sent,)), first="markets") as seen:
        for count, (where, keys) in enumerate(inside.items(), start=1):
            await seen.press(*keys)
            kind = kinds.get(where, Screen)
            await seen.until(lambda kind=kind: isinstance(seen.app.screen, kind))
            assert (len(seen.app.screen_stack) == 1) == (where == "filter"), where
            below = seen.app.screen
            typed = [line.value for line in below.query(Input)]
            await seen.press("f9")
            await seen.until(lambda: isinstance(seen.app.screen, HaltPanel))
            assert halts(seen) == count, where
            # What was typed stands there still.
            assert [line.value for line in below.query(Input)] == typed, where
            while len(seen.app.screen_stack) > 1:
                seen.app.pop_screen()
                await seen.pilot.pause()


@pytest.mark.slow
async def test_an_exclamation_mark_halts_too_but_not_inside_an_input() -> None:
    async with running(STATE, first="markets") as seen:
        await seen.press("slash", "exclamation_mark")
        assert halts(seen) == 0
        await seen.press("escape", "exclamation_mark")
        await seen.until(lambda: isinstance(seen.app.screen, HaltPanel))
        assert halts(seen) == 1


@pytest.mark.slow
async def test_it_asks_nothing_and_a_second_press_opens_no_second_panel() -> None:
    async with running(STATE) as seen:
        await seen.press("f9")
        await seen.press("f9")
        assert halts(seen) == 2
        assert sum(isinstance(one, HaltPanel) for one in seen.app.screen_stack) == 1
        await seen.press("escape")
        assert not isinstance(seen.app.screen, HaltPanel)
        await seen.press("f9")
        assert isinstance(seen.app.screen, HaltPanel)


@pytest.mark.slow
async def test_a_desk_that_is_still_opening_is_halted_before_anything_else() -> None:
    async with running(STATE, prepare=lambda doors: doors.may_open.clear(), waits=False) as seen:
        await seen.press("z", "f9")
        assert "HALTED" in seen.text
        seen.doors.may_open.set()
        await seen.until(lambda: bool(seen.doors.submitted))
        assert isinstance(seen.doors.submitted[0], Halt)
        assert any(isinstance(one, SetPreference) for one in seen.doors.submitted)


@pytest.mark.slow
async def test_a_desk_that_is_closed_says_that_nothing_leaves_from_here() -> None:
    def refuse(doors: RecordingDoors) -> None:
        doors.refuses = DeskClosedError("it is held by another", "close that one")

    async with running(STATE, prepare=refuse, waits=False) as seen:
        await seen.until(lambda: "DESK CLOSED" in seen.text)
        await seen.press("f9")
        assert "not sent. " in seen.toasts[-1]
        assert not isinstance(seen.app.screen, HaltPanel)


# -- what stands on the screen ------------------------------------------------------------------


@pytest.mark.slow
async def test_banner_and_top_bar_say_it_at_once_on_every_screen() -> None:
    async with running(STATE, size=(132, 40)) as seen:
        arrives(seen, "f9")
        # The desk has said nothing yet: its doors only record.
        assert seen.doors.state.halt is None
        await seen.until(lambda: isinstance(seen.app.screen, HaltPanel))
        await seen.press("escape")
        for key in "0127890":
            await seen.press(key)
            assert seen.lines[0].lstrip().startswith("HALTED")
            assert any("buys blocked on this desk" in row for row in seen.lines[:4])
            assert top_bar(seen).has_class("-halted")
        await seen.bring(DONE)
        banner = next(row for row in seen.lines[:4] if "all sources halted" in row)
        assert "F9 shows details and sells all, R resumes" in banner
        await seen.bring(replace(STATE, tickets=()))
        assert not any("HALTED" in row for row in seen.lines)
        assert not top_bar(seen).has_class("-halted")


@pytest.mark.slow
async def test_the_smallest_window_still_says_that_it_is_halted() -> None:
    async with running(HALTED, size=(50, 14)) as seen:
        await seen.until(lambda: "HALTED" in seen.lines[0])
        for key in "0123456789":
            await seen.press(key)
            assert "F9" in seen.lines[-1]
            assert "?" in seen.lines[-1]
            assert re.search(rf" {key}[ !]", seen.lines[-1])


def test_the_halt_comes_before_everything_else_that_lasts() -> None:
    paused = replace(HALTED, limits=replace(HALTED.limits, paused=True))
    found = lasting_conditions(paused, NOW, started_at=NOW, closed="gone")
    assert [one.word for one in found] == ["halted", "desk closed"]
    for state, words in (
        (HALTED, "2 acknowledgements missing"),
        (DONE, "all sources halted"),
        (ELSEWHERE, "halted by another program"),
        (replace(DONE, halt=replace(DONE.halt, is_resuming=True)), "resuming"),
        (replace(DONE, halt=replace(DONE.halt, exits=ExitAllView(("a",)))), "selling positions"),
    ):
        assert words in lasting_conditions(state, NOW, started_at=NOW, closed="")[0].sentence


def test_what_needs_me_begins_with_the_halt_instead_of_the_pause() -> None:
    paused = replace(HALTED, limits=replace(HALTED.limits, paused=True))
    words = [need.word for need in needs(paused, NOW)]
    assert "halted" in words
    assert "paused" not in words


def test_a_ticket_says_that_buys_wait_for_the_word_and_sales_pass() -> None:
    held = next(one for one in STATE.positions if one.status.value == "active")
    market = STATE.markets[held.market_id]
    buy = Draft(market, Side.YES, Action.BUY, "25", "")
    with pytest.raises(FieldError, match="Trading is halted"):
        read_order(HALTED, buy, NOW)
    sale = Draft(market, held.side, Action.SELL, "1", "")
    assert read_order(HALTED, sale, NOW).action is Action.SELL


def test_each_acknowledgement_is_a_line_with_its_state_and_its_trouble() -> None:
    lines = halt_text(HALTED, NOW).plain.splitlines()
    assert "HALTED  for 12s" in lines[0]
    assert lines[2] == " ✓ buys blocked on this desk"
    assert lines[3] == " ◌ service refuses the buys of every agent  waiting"
    assert lines[4] == " ✗ agent of this desk paused by the service  failed 3x, retrying"
    assert lines[5] == "     embedded cannot be reached: no [red]route[/] to host"


def test_a_halt_of_another_day_tells_its_day() -> None:
    assert HALTED.halt is not None
    old = replace(HALTED, halt=replace(HALTED.halt, since=Timestamp(NOW - 86_400)))
    assert "since 14 Jan 08:00:00" in halt_text(old, NOW).plain
    assert "since 07:59:48" in halt_text(HALTED, NOW).plain


@pytest.mark.parametrize("state", [HALTED, DONE, ELSEWHERE])
def test_the_halt_says_whom_it_does_not_reach(state: DeskState) -> None:
    said = halt_text(state, NOW).plain
    assert "Agents not run by this desk" in said


@pytest.mark.slow
@pytest.mark.parametrize("width", [132, 80])
async def test_picture_of_the_panel(width: int) -> None:
    async with running(HALTED, first="portfolio", size=(width, 40)) as seen:
        await seen.press("f9")
        await seen.until(lambda: isinstance(seen.app.screen, HaltPanel))
        await assert_snapshot(seen.pilot, f"halt_{width}", themes=("night", "paper", "contrast"))


# -- resuming -----------------------------------------------------------------------------------


async def asked(seen: Running, key: str) -> TypedWord:
    await seen.press("f9")
    await seen.until(lambda: isinstance(seen.app.screen, HaltPanel))
    await seen.press(key)
    await seen.until(lambda: isinstance(seen.app.screen, TypedWord))
    await seen.until(lambda: seen.app.screen.is_armed)
    return seen.app.screen


@pytest.mark.slow
async def test_resuming_needs_the_word() -> None:
    async with running(DONE) as seen:
        await asked(seen, "R")
        for typed in ("", "resume", "RESUM"):
            seen.app.screen.query_one(Input).value = typed
            await seen.press("enter")
            assert isinstance(seen.app.screen, TypedWord)
        assert not any(isinstance(one, Resume) for one in seen.doors.submitted)
        seen.app.screen.query_one(Input).value = ""
        await seen.press(*"RESUME", "enter")
        assert seen.doors.submitted[-1] == Resume("RESUME")
        # The panel stays until the desk says that it is over.
        assert isinstance(seen.app.screen, HaltPanel)
        await seen.bring(STATE)
        await seen.until(lambda: not isinstance(seen.app.screen, HaltPanel))


@pytest.mark.slow
async def test_leaving_the_question_resumes_nothing() -> None:
    async with running(DONE) as seen:
        await asked(seen, "R")
        await seen.press(*"RESUME", "escape")
        assert isinstance(seen.app.screen, HaltPanel)
        assert not any(isinstance(one, Resume) for one in seen.doors.submitted)


@pytest.mark.slow
async def test_it_halts_also_while_the_word_is_typed() -> None:
    async with running(DONE) as seen:
        await asked(seen, "R")
        await seen.press(*"RES", "f9")
        assert halts(seen) == 2
        assert isinstance(seen.app.screen, TypedWord)


@pytest.mark.slow
async def test_the_key_that_resumes_works_on_every_screen() -> None:
    async with running(DONE, first="markets") as seen:
        await seen.press("R")
        assert isinstance(seen.app.screen, TypedWord)
        await seen.press(*"RESUME", "enter")
        await seen.until(lambda: any(isinstance(one, Resume) for one in seen.doors.submitted))
    async with running(STATE, first="markets") as seen:
        await seen.press("R")
        assert not isinstance(seen.app.screen, TypedWord)
        assert any("the desk is not halted: F9 halts" in toast for toast in seen.toasts)


@pytest.mark.slow
async def test_the_question_tells_which_acknowledgements_are_missing() -> None:
    async with running(HALTED) as seen:
        await asked(seen, "R")
        assert "Halt: 2 acknowledgements missing" in seen.text
        await seen.bring(DONE)
        await seen.until(lambda: "missing" not in seen.text)
        assert isinstance(seen.app.screen, TypedWord)


# -- exits --------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_everything_is_sold_only_after_its_own_word() -> None:
    async with running(DONE, size=(132, 40)) as seen:
        await asked(seen, "x")
        assert "Sell all positions?" in seen.text
        assert not any(isinstance(one, ExitAll) for one in seen.doors.submitted)
        await seen.press(*"RESUME", "enter")
        assert isinstance(seen.app.screen, TypedWord)
        seen.app.screen.query_one(Input).value = ""
        await seen.press(*EXIT_WORD, "enter")
        keys = tuple(held.key for held in DONE.positions)
        assert seen.doors.submitted[-1] == ExitAll(keys)


def test_the_question_lists_what_is_sold_and_what_it_brings() -> None:
    first, second, *_ = DONE.positions
    odd = replace(second, exit_value=None, question="[@click=app.quit]odd[/")
    said = exits_question(DONE, (replace(first, exit_value=Micros(12_340_000)), odd)).plain
    assert "Sale value now about 12.34" in said
    assert "plus 1 of unknown sale value" in said
    assert "[@click=app.quit]odd[/" in said
    assert "Buys stay blocked" in said


@pytest.mark.slow
async def test_the_progress_is_shown_and_nothing_is_sold_twice_meanwhile() -> None:
    tickets = tuple(
        TicketView(
            f"x-{place}", "trade", held.market_id, "sell all YES", state, NOW, outcome=outcome
        )
        for place, (held, (state, outcome)) in enumerate(
            zip(
                DONE.positions,
                [(TicketState.DONE, "sold"), (TicketState.UNKNOWN, "no answer"),
                 (TicketState.SENT, "")],
                strict=False,
            )
        )
    )  # fmt: skip
    exits = ExitAllView(
        tuple(held.key for held in DONE.positions[:5]),
        tuple(ticket.ticket_id for ticket in tickets),
        skipped=1,
    )
    state = replace(DONE, tickets=tickets, halt=replace(DONE.halt, exits=exits))
    said = halt_text(state, NOW).plain
    assert "Sales: 1 of 4 sold, 1 unknown, 1 pending, 1 queued" in said
    assert "Selling positions. Buys stay blocked" in said
    async with running(state) as seen:
        await seen.press("f9")
        await seen.until(lambda: isinstance(seen.app.screen, HaltPanel))
        await seen.press("x")
        assert seen.toasts[-1].endswith("sales already running")


@pytest.mark.slow
async def test_a_halt_from_elsewhere_sells_nothing_here() -> None:
    async with running(ELSEWHERE) as seen:
        await seen.until(lambda: "HALTED" in seen.text)
        panel = HaltPanel(ELSEWHERE, NOW)
        await seen.app.push_screen(panel)
        await seen.press("x")
        assert "press F9 first" in seen.toasts[-1]


def test_real_positions_are_sold_as_well_or_named_as_not_sold() -> None:
    real = replace(DONE.positions[0], venue=Venue.EVM, question="for real money")
    off = replace(DONE, on_venues=(real,), wallet=replace(DONE.wallet, live=False))
    sold, kept = sold_and_kept(off)
    assert (sold, kept) == (DONE.positions, (real,))
    said = exits_question(off, sold).plain
    assert "NOT sold, simulated money, 1 on evm" in said
    attached = replace(off, service=replace(off.service, embedded=False))
    assert "NOT sold, real money, 1 on evm" in exits_question(attached, sold).plain
    assert "LIVE is off" in said
    on = replace(off, wallet=replace(off.wallet, live=True))
    sold, kept = sold_and_kept(on)
    assert (sold, kept) == ((*DONE.positions, real), ())
    said = exits_question(on, sold).plain
    assert "7 on sim (SIM), simulated money 1 on evm_venue. " in said
    # Two kinds of money are never added.
    assert re.search(r"value now about [\d.,]+ \$SIM and [\d.,]+ USDC\.e, before fees", said)
    assert "open sales" not in said
    assert "NOT sold" not in said
    assert sale_of(real).confirmed
    assert not sale_of(DONE.positions[0]).confirmed


HELD = STATE.positions[0]
ON_VENUE = {"positions": (), "on_venues": (replace(HELD, venue=Venue.EVM),)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"halt": None}, "this desk is not halted"),
        ({"service": replace(STATE.service, read_only=True)}, "this desk is read-only: no sales"),
        ({"positions": ()}, "no open positions"),
        (
            {"positions": (), "seen": {one: NOW for one in Topic if one is not Topic.POSITIONS}},
            "positions not loaded yet",
        ),
        (
            {**ON_VENUE, "wallet": replace(STATE.wallet, live=False)},
            "live positions cannot be sold now: LIVE is off or the market is closed",
        ),
        ({**ON_VENUE, "wallet": replace(STATE.wallet, live=True)}, ""),
        ({}, ""),
    ],
)
def test_what_cannot_be_sold_now_says_why(changes: dict[str, object], said: str) -> None:
    state = replace(HALTED, **{"seen": dict.fromkeys(Topic, NOW), **changes})
    why = why_no_exits(state)
    assert why.startswith(said)
    assert bool(why) is bool(said)


@pytest.mark.slow
async def test_the_panel_gives_each_order_after_its_own_word_and_is_left_once() -> None:
    state = replace(HALTED, seen=dict.fromkeys(Topic, NOW))
    async with opened(HaltPanel(state, NOW), state) as t:
        sold, _ = sold_and_kept(state)
        await t.press("x")
        assert isinstance(t.app.screen, TypedWord)
        # Only what the question listed is sold, whatever comes meanwhile.
        t.dialog.take(replace(state, positions=state.positions[:1]), NOW)
        await t.press("escape")
        assert t.app.given == []
        await t.bring(state)
        for key, word in (("x", EXIT_WORD), ("R", RESUME_WORD)):
            await t.press(key)
            await t.pilot.pause(2 * ARMED_AFTER_S)
            await t.press(*word, "enter")
        assert t.app.given == [ExitAll(tuple(one.key for one in sold)), Resume(RESUME_WORD)]
        await t.bring(replace(state, positions=()))
        assert t.is_off("halt-exit")
        await t.press("x")
        assert t.app.said[-1] == "no open positions"
        await t.bring(replace(state, halt=None))
        await t.press("escape")
        assert t.returned == [None]
    async with opened(HaltPanel(state, NOW), state) as t:
        await t.click("halt-close")
        t.dialog.take(replace(state, halt=None), NOW)
        assert (t.returned, t.app.given) == ([None], [])


def test_a_resumption_counts_what_is_missing_and_nothing_without_a_halt_of_this_desk() -> None:
    assert "missing" not in resume_text(replace(STATE, halt=None)).plain
    assert "Halt: 2 acknowledgements missing." in resume_text(HALTED).plain
    assert "missing" not in resume_text(DONE).plain


def test_of_many_positions_the_question_lists_some_and_counts_the_rest() -> None:
    for count in (LISTED_MAX, LISTED_MAX + 3):
        held = tuple(
            replace(HELD, market_id=f"m-{place}", question=f"Question {place}?")
            for place in range(count)
        )
        body = exits_question(STATE, held).plain
        assert body.count("Question ") == LISTED_MAX
        assert ("   and 3 more" in body) is (count > LISTED_MAX)
        assert f"Sells {count} positions in full" in body

"""Numbered rows of the plain console: a number means the row as it was printed."""

import asyncio
import io
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Any

import pytest

from kit.command_line import typed
from kit.samples.desk import NOW
from kit.samples.filled import filled
from kit.samples.fleet import fleet_state, held_of
from kit.samples.guarded import guarded_state
from kit.samples.reactor import reactor_state
from service_tui.cli.plain_rows import (
    READ_S,
    REAL,
    RENEWED_S,
    ROW_COMMANDS,
    PlainRows,
)
from service_tui.commands.plain import newest
from service_tui.console.questions import short_question
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import ApproveHeld, RefuseHeld
from service_tui.desk.commands.reactor import DismissSignal, MirrorSignal
from service_tui.desk.commands.risk import RemoveMonitor, SetMonitor
from service_tui.desk.slices.notices import Notice
from service_tui.desk.slices.reactor import SignalState
from service_tui.desk.slices.supervision import HeldView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.tickets import Ticket
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp


class Still:
    """A desk that keeps what it is given and calls it done."""

    def __init__(self, state: DeskState) -> None:
        self.state = state
        self.given: list[Command] = []
        self.ports = self
        self.end: dict[str, Any] = {"state": TicketState.DONE}

    def now(self) -> Timestamp:
        return NOW

    def refresh(self, topic: Topic) -> None:
        seen = {**self.state.seen, topic: NOW}
        self.state = replace(self.state, seen=seen)

    async def changes(self) -> AsyncGenerator[DeskState]:
        yield self.state
        await asyncio.Event().wait()

    def submit(self, command: Command) -> Ticket:
        self.given.append(command)
        view = TicketView("t", command.kind, "", command.describe(), TicketState.QUEUED, NOW)
        ticket = Ticket(command, view)
        ticket.update(replace(view, **self.end))
        return ticket


def whole() -> DeskState:
    return replace(
        guarded_state(),
        supervision=fleet_state().supervision,
        reactor=reactor_state().reactor,
    )


async def said(desk: Still, rows: PlainRows, line: str) -> list[str]:
    return list(await rows.answer(desk, line.split()))  # type: ignore[arg-type]


async def test_an_approval_is_shown_asked_for_and_given(monkeypatch: pytest.MonkeyPatch) -> None:
    desk, rows = Still(whole()), PlainRows()
    listed = await said(desk, rows, "approvals")
    assert len(listed) == len(desk.state.supervision.held) > 1
    assert listed[0].startswith("1  Will it rain at dawn? YES, buy 25.00 $SIM for heron; price")
    typed(monkeypatch, "no\n")
    assert await said(desk, rows, "approve 1") == ["nothing was sent"]
    typed(monkeypatch, "y\n")
    assert "done" in (await said(desk, rows, "approve 1"))[0]
    await said(desk, rows, "refuse 2 too thin")
    first, second, *_ = desk.state.supervision.held
    approved, refused = desk.given
    assert isinstance(approved, ApproveHeld)
    assert approved.held_id == first.held_id
    assert isinstance(refused, RefuseHeld)
    assert (refused.held_id, refused.reason) == (second.held_id, "too thin")


async def test_a_number_means_the_row_that_was_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    desk, rows = Still(whole()), PlainRows()
    assert await said(desk, rows, "refuse 1") == ["no such number: approvals lists them"]
    await said(desk, rows, "approvals")
    first, *others = desk.state.supervision.held
    newer = held_of("h-new", agent_name="newcomer")
    supervision = replace(desk.state.supervision, held=(newer, first, *others))
    desk.state = replace(desk.state, supervision=supervision)
    await said(desk, rows, "refuse 1")
    assert [one.held_id for one in desk.given if isinstance(one, RefuseHeld)] == [first.held_id]
    # One that was decided meanwhile is not replaced by its neighbour, nor while the person reads.
    gone = replace(supervision, held=(newer, *others))
    desk.state = replace(desk.state, supervision=gone)
    assert "waits no more" in (await said(desk, rows, "refuse 1"))[0]
    assert len(desk.given) == 1
    await said(desk, rows, "approvals")

    class Slow(io.StringIO):
        def readline(self, *_: object) -> str:  # type: ignore[override]
            desk.state = replace(desk.state, supervision=replace(gone, held=()))
            return "y\n"

    typed(monkeypatch, Slow())
    assert "waits no more" in (await said(desk, rows, "approve 1"))[0]
    assert len(desk.given) == 1


async def test_thresholds_of_a_monitor_are_changed_one_at_a_time() -> None:
    desk, rows = Still(whole()), PlainRows()
    await said(desk, rows, "monitors")
    one = desk.state.risk.monitors[0]
    await said(desk, rows, "stop 1 15")
    await said(desk, rows, "target 1 50")
    stop, target = desk.given
    assert isinstance(stop, SetMonitor)
    assert isinstance(target, SetMonitor)
    assert stop.thresholds == replace(one.thresholds, stop_loss_pct=0.15)
    assert target.thresholds == replace(one.thresholds, take_profit_pct=0.5)
    for line in ("stop 1", "stop 1 -5", "stop 1 200", "stop 1 much", "stop x 5", "stop 99 5"):
        said_of = await said(desk, rows, line)
        assert len(desk.given) == 2, line
        assert said_of, line
    bare = replace(
        one, take_profit_pct=None, trailing_stop_pct=None, trailing_stop_points=None, exit_at=None
    )
    desk.state = replace(desk.state, risk=replace(desk.state.risk, monitors=(bare,)))
    await said(desk, rows, "stop 1 off")
    assert isinstance(desk.given[-1], RemoveMonitor)


async def test_positions_are_numbered_with_the_question_first_and_fit_a_terminal() -> None:
    desk, rows = Still(whole()), PlainRows()
    listed = await said(desk, rows, "positions")
    assert len(listed) == len(desk.state.positions) > 1
    for place, (held, text) in enumerate(zip(desk.state.positions, listed, strict=True), 1):
        whole_text = " ".join(text.split())
        assert whole_text.startswith(f"{place} {short_question(held.question)} ")
        assert f"{held.side.value.upper()}, {held.shares / ONE:,.2f} shares" in whole_text
        assert held.market_id not in text
        assert max(map(len, text.split("\n"))) <= 80


async def test_a_result_that_is_a_notice_is_not_printed_again() -> None:
    class Noticing(Still):
        def submit(self, command: Command) -> Ticket:
            view = TicketView("t", command.kind, "", command.describe(), TicketState.QUEUED, NOW)
            ticket = Ticket(command, view)
            if self.notices:
                notice = Notice(newest(self.state) + 1, "good", command.describe())
                self.state = replace(self.state, notices=(*self.state.notices, notice))
            ticket.end()
            return ticket

        notices = True

    desk, rows = Noticing(whole()), PlainRows()
    await said(desk, rows, "monitors")
    assert await said(desk, rows, "stop 1 15") == []
    desk.notices = False
    (line,) = await said(desk, rows, "stop 1 16")
    assert line.endswith(": accepted")


async def test_a_signal_is_mirrored_or_dismissed(monkeypatch: pytest.MonkeyPatch) -> None:
    desk, rows = Still(whole()), PlainRows()
    pending = [one for one in desk.state.reactor.signals if one.state is SignalState.PENDING]
    assert len(await said(desk, rows, "signals")) == len(pending)
    typed(monkeypatch, "y\n")
    await said(desk, rows, "mirror 1")
    await said(desk, rows, "dismiss 2")
    mirrored, dismissed = desk.given
    assert isinstance(mirrored, MirrorSignal)
    assert isinstance(dismissed, DismissSignal)
    assert mirrored.signal_id == pending[0].signal_id
    assert dismissed.signal_id == pending[1].signal_id


async def test_real_money_is_left_to_the_screens() -> None:
    state = whole()
    real = held_of("h-real", venue=Venue.EVM)
    signal = replace(state.reactor.signals[0], venue=Venue.EVM, state=SignalState.PENDING)
    state = replace(
        state,
        service=replace(state.service, embedded=False),
        supervision=replace(state.supervision, held=(real,)),
        reactor=replace(state.reactor, signals=(signal,)),
    )
    desk, rows = Still(state), PlainRows()
    await said(desk, rows, "approvals")
    await said(desk, rows, "signals")
    assert await said(desk, rows, "approve 1") == [REAL]
    assert await said(desk, rows, "mirror 1") == [REAL]
    assert desk.given == []


async def test_amounts_are_masked_and_hostile_text_is_inert() -> None:
    state = whole()
    hostile = held_of("h", agent_name="[/red]\x1b[2J", reasoning="buy 25.00 now\n\x1b]0;x")
    state = replace(
        state,
        preferences={"privacy": "on"},
        supervision=replace(state.supervision, held=(hostile,)),
    )
    (line,) = await said(Still(state), PlainRows(), "approvals")
    assert "25.00" not in line
    assert line.replace("\n", "").isprintable()


async def test_an_empty_list_says_so_and_further_words_are_refused() -> None:
    desk, rows = Still(DeskState(whole().service)), PlainRows()
    empty = Still(replace(desk.state, seen={Topic.POSITIONS: NOW}))
    assert await said(empty, rows, "positions") == ["no positions"]
    for name in ("approvals", "monitors", "signals"):
        assert await said(desk, rows, name) == [f"no {name}"]
        assert "too many words" in (await said(desk, rows, f"{name} now"))[0]
    for name in ROW_COMMANDS:
        assert "the number in the list of" in (await said(desk, rows, name))[0]


async def test_each_kind_of_row_says_all_of_itself() -> None:
    state = whole()
    held = filled(
        HeldView, 3, agent_name="heron", action=Action.SELL, side=Side.NO, question="Is it so?",
        shares=Micros(12 * ONE), amount=Micros(99 * ONE), price=0.31, average=0.7,
        reasoning="", created_at=NOW, expires_at=Timestamp(NOW + 120), venue=Venue.EVM,
    )  # fmt: skip
    buy = replace(held, action=Action.BUY, reasoning="it pays")
    supervision = replace(state.supervision, held=(held, buy))
    desk, rows = Still(replace(state, supervision=supervision)), PlainRows()
    sale, bought = (" ".join(one.split()) for one in await said(desk, rows, "approvals"))
    assert sale == (
        "1 Is it so? NO, sell 12.00 shares for heron; price 0.310; 2m 00s left; no reason given"
    )
    assert bought == (
        "2 Is it so? NO, buy 99.00 USDC.e for heron; price 0.310; 2m 00s left; it pays"
    )


async def test_an_end_is_told_by_its_outcome_and_else_by_its_state() -> None:
    desk, rows = Still(whole()), PlainRows()
    await said(desk, rows, "monitors")
    for state, outcome, end in (
        (TicketState.DONE, "", "done"),
        (TicketState.DONE, "stop at 20%", "stop at 20%"),
        (TicketState.FAILED, "", "failed"),
        (TicketState.FAILED, "it is gone", "failed: it is gone"),
    ):
        desk.end = {"state": state, "outcome": outcome}
        (line,) = await said(desk, rows, "stop 1 15")
        assert line == f"{desk.given[-1].describe()}: {end}"


@pytest.mark.parametrize("line", ["mirror 1 now", "dismiss 1 now", "approve 1 now"])
async def test_what_takes_no_further_word_is_not_sent_with_one(line: str) -> None:
    desk, rows = Still(whole()), PlainRows()
    await said(desk, rows, "signals")
    await said(desk, rows, "approvals")
    assert await said(desk, rows, line) == ["too many words: leave out now"]
    assert desk.given == []


@pytest.mark.parametrize("number", ["0", "99", "0000000012", "9" * 5_000])
async def test_a_number_of_no_row_does_nothing(number: str) -> None:
    desk, rows = Still(whole()), PlainRows()
    await said(desk, rows, "approvals")
    assert await said(desk, rows, f"refuse {number}") == ["no such number: approvals lists them"]
    assert desk.given == []


async def test_positions_of_real_money_are_listed_until_they_are_paid() -> None:
    state = whole()
    held = replace(
        state.positions[0], venue=Venue.EVM, question="Is it open?", side=Side.NO,
        shares=Micros(50 * ONE), average=0.2, mark_price=0.4, exit_value=Micros(19 * ONE),
        unrealized=Micros(9 * ONE), status=MarketStatus.ACTIVE,
    )  # fmt: skip
    ended = replace(held, question="Is it?", status=MarketStatus.RESOLVED)
    won = replace(ended, market_id="m-won", mark_value=Micros(50 * ONE))
    paid = replace(ended, market_id="m-paid", mark_value=Micros(0))
    desk = Still(replace(state, positions=(), on_venues=(paid, held, won)))
    line, waiting = await said(desk, PlainRows(), "positions")
    assert waiting.startswith("2  Is it? NO, won: 50.00 USDC.e to redeem")
    assert " ".join(line.split()) == (
        "1 Is it open? NO, 50.00 shares; average 0.200, now 0.400; if sold now 19.00 USDC.e; "
        "P&L +9.00 USDC.e"
    )
    # What does not fit one line goes on below the text, not below the number.
    first, *others = line.split("\n")
    assert first.startswith("1  Is")
    assert others
    assert all(other.startswith("   ") and other[3] != " " for other in others)


@pytest.mark.parametrize(
    ("is_read", "comes", "within_s", "said_first"),
    [
        (False, True, READ_S, "1  "), (True, True, RENEWED_S, "1  "),
        (True, False, RENEWED_S, "1  "), (False, False, READ_S, "positions not loaded yet"),
    ],
)  # fmt: skip
async def test_positions_are_read_anew_before_they_are_listed(
    monkeypatch: pytest.MonkeyPatch, *, is_read: bool, comes: bool, within_s: float, said_first: str
) -> None:
    asked: list[object] = []

    async def until(desk: Still, is_newer: Callable[[DeskState], bool], most_s: float) -> bool:
        asked.append(most_s)
        assert is_newer(replace(desk.state, seen={Topic.POSITIONS: NOW}))
        assert not is_newer(replace(desk.state, seen={Topic.POSITIONS: Timestamp(NOW - 1)}))
        assert not is_newer(replace(desk.state, seen={}))
        return comes

    monkeypatch.setattr("service_tui.cli.plain_rows.until", until)
    seen = {Topic.POSITIONS: Timestamp(NOW - 60)} if is_read else {}
    desk = Still(replace(whole(), seen=seen))
    monkeypatch.setattr(desk, "refresh", asked.append)
    listed = await said(desk, PlainRows(), "positions")
    assert asked == [Topic.POSITIONS, within_s]
    assert listed[0].startswith(said_first)


async def test_a_signal_names_its_wallet_and_what_a_mirror_spends() -> None:
    state = whole()
    signal = replace(
        state.reactor.signals[0], state=SignalState.PENDING, label="whale", side=Side.YES,
        question="Rain?", price=0.25, price_now=0.3, amount=Micros(5 * ONE), venue=Venue.SIM,
        expires_at=Timestamp(NOW + 60),
    )  # fmt: skip
    late = replace(
        signal, signal_id="s-late", label="", wallet="0x" + "ab" * 20, expires_at=Timestamp(NOW - 9)
    )
    done = replace(signal, signal_id="s-done", state=SignalState.SKIPPED)
    desk = Still(replace(state, reactor=replace(state.reactor, signals=(done, signal, late))))
    first, second = (" ".join(one.split()) for one in await said(desk, PlainRows(), "signals"))
    assert first == (
        "1 Rain? YES, bought by whale at 0.250; now 0.300; a mirror spends 5.00 $SIM; 1m 00s left"
    )
    assert second.startswith("2 Rain? YES, bought by 0xabab")
    assert second.endswith("; 0s left")

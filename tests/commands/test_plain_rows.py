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
from kit.samples.fleet import fleet_state, pending_trade_of
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
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade
from service_tui.desk.commands.reactor import DismissSignal, MirrorSignal
from service_tui.desk.commands.risk import RemoveMonitor, SetMonitor
from service_tui.desk.slices.notices import Notice
from service_tui.desk.slices.reactor import SignalState
from service_tui.desk.slices.supervision import PendingTradeView
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


async def printed(desk: Still, rows: PlainRows, line: str) -> list[str]:
    return list(await rows.answer(desk, line.split()))  # type: ignore[arg-type]


async def test_a_pending_trade_is_listed_confirmed_and_approved_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk, rows = Still(whole()), PlainRows()
    listed = await printed(desk, rows, "approvals")
    assert len(listed) == len(desk.state.supervision.pending_trades) > 1
    assert listed[0].startswith("1  Will it rain at dawn? YES, buy 25.00 $SIM for heron; price")
    typed(monkeypatch, "no\n")
    assert await printed(desk, rows, "approve 1") == ["nothing was sent"]
    typed(monkeypatch, "y\n")
    assert "done" in (await printed(desk, rows, "approve 1"))[0]
    await printed(desk, rows, "refuse 2 too thin")
    first, second, *_ = desk.state.supervision.pending_trades
    approved, refused = desk.given
    assert isinstance(approved, ApproveTrade)
    assert approved.pending_id == first.pending_id
    assert isinstance(refused, RefuseTrade)
    assert (refused.pending_id, refused.reason) == (second.pending_id, "too thin")


async def test_a_number_means_the_row_it_was_printed_with(monkeypatch: pytest.MonkeyPatch) -> None:
    desk, rows = Still(whole()), PlainRows()
    assert await printed(desk, rows, "refuse 1") == ["no such number: approvals lists them"]
    await printed(desk, rows, "approvals")
    first, *others = desk.state.supervision.pending_trades
    newer = pending_trade_of("h-new", agent_name="newcomer")
    supervision = replace(desk.state.supervision, pending_trades=(newer, first, *others))
    desk.state = replace(desk.state, supervision=supervision)
    await printed(desk, rows, "refuse 1")
    assert [one.pending_id for one in desk.given if isinstance(one, RefuseTrade)] == [
        first.pending_id
    ]
    # A row that was decided meanwhile is not replaced by its neighbour, not even during the prompt.
    gone = replace(supervision, pending_trades=(newer, *others))
    desk.state = replace(desk.state, supervision=gone)
    assert "waits no more" in (await printed(desk, rows, "refuse 1"))[0]
    assert len(desk.given) == 1
    await printed(desk, rows, "approvals")

    class Slow(io.StringIO):
        def readline(self, *_: object) -> str:  # type: ignore[override]
            desk.state = replace(desk.state, supervision=replace(gone, pending_trades=()))
            return "y\n"

    typed(monkeypatch, Slow())
    assert "waits no more" in (await printed(desk, rows, "approve 1"))[0]
    assert len(desk.given) == 1


async def test_thresholds_of_a_monitor_are_changed_one_at_a_time() -> None:
    desk, rows = Still(whole()), PlainRows()
    await printed(desk, rows, "monitors")
    one = desk.state.risk.monitors[0]
    await printed(desk, rows, "stop 1 15")
    await printed(desk, rows, "target 1 50")
    stop, target = desk.given
    assert isinstance(stop, SetMonitor)
    assert isinstance(target, SetMonitor)
    assert stop.thresholds == replace(one.thresholds, stop_loss_pct=0.15)
    assert target.thresholds == replace(one.thresholds, take_profit_pct=0.5)
    for line in ("stop 1", "stop 1 -5", "stop 1 200", "stop 1 much", "stop x 5", "stop 99 5"):
        answer = await printed(desk, rows, line)
        assert len(desk.given) == 2, line
        assert answer, line
    bare = replace(
        one, take_profit_pct=None, trailing_stop_pct=None, trailing_stop_points=None, exit_at=None
    )
    desk.state = replace(desk.state, risk=replace(desk.state.risk, monitors=(bare,)))
    await printed(desk, rows, "stop 1 off")
    assert isinstance(desk.given[-1], RemoveMonitor)


async def test_positions_are_numbered_with_the_question_first_and_fit_a_terminal() -> None:
    desk, rows = Still(whole()), PlainRows()
    listed = await printed(desk, rows, "positions")
    assert len(listed) == len(desk.state.positions) > 1
    for place, (held, text) in enumerate(zip(desk.state.positions, listed, strict=True), 1):
        whole_text = " ".join(text.split())
        assert whole_text.startswith(f"{place} {short_question(held.question)} ")
        assert f"{held.side.value.upper()}, {held.shares / ONE:,.2f} shares" in whole_text
        assert held.market_id not in text
        assert max(map(len, text.split("\n"))) <= 80


async def test_a_result_that_was_a_notice_is_not_printed_twice() -> None:
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
    await printed(desk, rows, "monitors")
    assert await printed(desk, rows, "stop 1 15") == []
    desk.notices = False
    (line,) = await printed(desk, rows, "stop 1 16")
    assert line.endswith(": accepted")


async def test_a_signal_is_mirrored_or_dismissed(monkeypatch: pytest.MonkeyPatch) -> None:
    desk, rows = Still(whole()), PlainRows()
    pending = [one for one in desk.state.reactor.signals if one.state is SignalState.PENDING]
    assert len(await printed(desk, rows, "signals")) == len(pending)
    typed(monkeypatch, "y\n")
    await printed(desk, rows, "mirror 1")
    await printed(desk, rows, "dismiss 2")
    mirrored, dismissed = desk.given
    assert isinstance(mirrored, MirrorSignal)
    assert isinstance(dismissed, DismissSignal)
    assert mirrored.signal_id == pending[0].signal_id
    assert dismissed.signal_id == pending[1].signal_id


async def test_real_money_commands_are_refused_and_point_to_the_screens() -> None:
    state = whole()
    real = pending_trade_of("h-real", venue=Venue.EVM)
    signal = replace(state.reactor.signals[0], venue=Venue.EVM, state=SignalState.PENDING)
    state = replace(
        state,
        service=replace(state.service, embedded=False),
        supervision=replace(state.supervision, pending_trades=(real,)),
        reactor=replace(state.reactor, signals=(signal,)),
    )
    desk, rows = Still(state), PlainRows()
    await printed(desk, rows, "approvals")
    await printed(desk, rows, "signals")
    assert await printed(desk, rows, "approve 1") == [REAL]
    assert await printed(desk, rows, "mirror 1") == [REAL]
    assert desk.given == []


async def test_amounts_are_masked_and_hostile_text_is_inert() -> None:
    state = whole()
    hostile = pending_trade_of("h", agent_name="[/red]\x1b[2J", reasoning="buy 25.00 now\n\x1b]0;x")
    state = replace(
        state,
        preferences={"privacy": "on"},
        supervision=replace(state.supervision, pending_trades=(hostile,)),
    )
    (line,) = await printed(Still(state), PlainRows(), "approvals")
    assert "25.00" not in line
    assert line.replace("\n", "").isprintable()


async def test_an_empty_list_prints_so_and_extra_words_are_refused() -> None:
    desk, rows = Still(DeskState(whole().service)), PlainRows()
    empty = Still(replace(desk.state, seen={Topic.POSITIONS: NOW}))
    assert await printed(empty, rows, "positions") == ["no positions"]
    for name in ("approvals", "monitors", "signals"):
        assert await printed(desk, rows, name) == [f"no {name}"]
        assert "too many words" in (await printed(desk, rows, f"{name} now"))[0]
    for name in ROW_COMMANDS:
        assert "the number in the list of" in (await printed(desk, rows, name))[0]


async def test_a_pending_sale_and_a_pending_buy_print_all_their_figures() -> None:
    state = whole()
    sale = filled(
        PendingTradeView, 3, agent_name="heron", action=Action.SELL, side=Side.NO,
        question="Is it so?", shares=Micros(12 * ONE), amount=Micros(99 * ONE), price=0.31,
        average=0.7, reasoning="", created_at=NOW, expires_at=Timestamp(NOW + 120), venue=Venue.EVM,
    )  # fmt: skip
    buy = replace(sale, action=Action.BUY, reasoning="it pays")
    supervision = replace(state.supervision, pending_trades=(sale, buy))
    desk, rows = Still(replace(state, supervision=supervision)), PlainRows()
    sale, bought = (" ".join(one.split()) for one in await printed(desk, rows, "approvals"))
    assert sale == (
        "1 Is it so? NO, sell 12.00 shares for heron; price 0.310; 2m 00s left; no reason given"
    )
    assert bought == (
        "2 Is it so? NO, buy 99.00 USDC.e for heron; price 0.310; 2m 00s left; it pays"
    )


async def test_a_command_prints_its_outcome_or_else_its_state() -> None:
    desk, rows = Still(whole()), PlainRows()
    await printed(desk, rows, "monitors")
    for state, outcome, end in (
        (TicketState.DONE, "", "done"),
        (TicketState.DONE, "stop at 20%", "stop at 20%"),
        (TicketState.FAILED, "", "failed"),
        (TicketState.FAILED, "it is gone", "failed: it is gone"),
    ):
        desk.end = {"state": state, "outcome": outcome}
        (line,) = await printed(desk, rows, "stop 1 15")
        assert line == f"{desk.given[-1].describe()}: {end}"


@pytest.mark.parametrize("line", ["mirror 1 now", "dismiss 1 now", "approve 1 now"])
async def test_a_command_with_an_extra_word_is_not_sent(line: str) -> None:
    desk, rows = Still(whole()), PlainRows()
    await printed(desk, rows, "signals")
    await printed(desk, rows, "approvals")
    assert await printed(desk, rows, line) == ["too many words: leave out now"]
    assert desk.given == []


@pytest.mark.parametrize("number", ["0", "99", "0000000012", "9" * 5_000])
async def test_a_number_without_a_row_sends_nothing(number: str) -> None:
    desk, rows = Still(whole()), PlainRows()
    await printed(desk, rows, "approvals")
    assert await printed(desk, rows, f"refuse {number}") == ["no such number: approvals lists them"]
    assert desk.given == []


async def test_real_money_positions_are_listed_until_they_are_redeemed() -> None:
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
    line, waiting = await printed(desk, PlainRows(), "positions")
    assert waiting.startswith("2  Is it? NO, won: 50.00 USDC.e to redeem")
    assert " ".join(line.split()) == (
        "1 Is it open? NO, 50.00 shares; average 0.200, now 0.400; if sold now 19.00 USDC.e; "
        "P&L +9.00 USDC.e"
    )
    # Continuation lines are indented to the text, not to the number.
    first, *others = line.split("\n")
    assert first.startswith("1  Is")
    assert others
    assert all(other.startswith("   ") and other[3] != " " for other in others)


@pytest.mark.parametrize(
    ("is_read", "comes", "within_s", "first_printed"),
    [
        (False, True, READ_S, "1  "), (True, True, RENEWED_S, "1  "),
        (True, False, RENEWED_S, "1  "), (False, False, READ_S, "positions not loaded yet"),
    ],
)  # fmt: skip
async def test_positions_are_refreshed_before_they_are_listed(
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_read: bool,
    comes: bool,
    within_s: float,
    first_printed: str,
) -> None:
    requested: list[object] = []

    async def until(desk: Still, is_newer: Callable[[DeskState], bool], most_s: float) -> bool:
        requested.append(most_s)
        assert is_newer(replace(desk.state, seen={Topic.POSITIONS: NOW}))
        assert not is_newer(replace(desk.state, seen={Topic.POSITIONS: Timestamp(NOW - 1)}))
        assert not is_newer(replace(desk.state, seen={}))
        return comes

    monkeypatch.setattr("service_tui.cli.plain_rows.until", until)
    seen = {Topic.POSITIONS: Timestamp(NOW - 60)} if is_read else {}
    desk = Still(replace(whole(), seen=seen))
    monkeypatch.setattr(desk, "refresh", requested.append)
    listed = await printed(desk, PlainRows(), "positions")
    assert requested == [Topic.POSITIONS, within_s]
    assert listed[0].startswith(first_printed)


async def test_a_signal_prints_its_wallet_and_the_cost_of_a_mirror() -> None:
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
    first, second = (" ".join(one.split()) for one in await printed(desk, PlainRows(), "signals"))
    assert first == (
        "1 Rain? YES, bought by whale at 0.250; now 0.300; a mirror spends 5.00 $SIM; 1m 00s left"
    )
    assert second.startswith("2 Rain? YES, bought by 0xabab")
    assert second.endswith("; 0s left")

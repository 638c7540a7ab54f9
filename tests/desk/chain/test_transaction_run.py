"""Each step of a run: what it signs, sends, writes down and shows, and when it stops."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from kit.desk.chain_line import ChainLine
from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, OutcomeUnknownError, UnreachableError
from service_tui.desk.chain.gateway import Place, Watch
from service_tui.desk.chain.refusals import FIXES, RunRefusal
from service_tui.desk.chain.run_state import SignedCall, TransactionRunState, load
from service_tui.desk.chain.transaction_run import (
    BROADCAST,
    CHECK,
    CONFIRM,
    CONFIRM_WAIT_S,
    DEAD_AFTER_S,
    DEATHS_MAX,
    FAILED,
    LOOK_LATER_S,
    LOOK_S,
    NOT_FINAL_S,
    PREPARED,
    REFUSED,
    RESEND_S,
    SIGN,
    TransactionRun,
)
from service_tui.desk.changes import Changed, changed
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.redemption import (
    CallView,
    ChainRunState,
    RunProblem,
    RunView,
    Step,
    StepView,
)
from service_tui.signing.chain import Receipt
from service_tui.signing.errors import ChainError, LockedError
from service_tui.storage.chain_runs import ChainRun
from service_tui.storage.errors import StorageError
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp
from service_tui.wire.chain import BroadcastBody

CALLED = Called("POST", "/x")
OPENED = Timestamp(NOW - 60)
CALL = CallView(
    "d1", "Contract", "0xto", "redeem", (), chain_id=137, nonce=5, gas=1, fee_gwei=1.0,
    fee_max=Micros(1),
)  # fmt: skip
TO_SIGN = SignedCall(
    chain_id=137, nonce=5, gas=1, max_fee=1, max_priority_fee=1, to="0x" + "11" * 20, data=""
)


class Run(TransactionRun):
    """A run whose own steps do nothing but note that they came."""

    finished: Receipt | None = None
    checks = 0
    refusal: Exception | None = None
    undone = True
    faults: Sequence[Exception] = ()

    async def finish(self, receipt: Receipt) -> None:
        self.finished = receipt
        self.step = "over"

    async def check(self) -> None:
        self.checks += 1
        if self.checks <= len(self.faults):
            raise self.faults[self.checks - 1]
        if self.refusal is not None:
            raise self.refusal

    async def is_undone(self) -> bool:
        return self.undone


def made(step: str, line: ChainLine | None = None, **other: Any) -> tuple[Run, Offline, ChainLine]:
    on, chain = Offline(sample_state(8)), line or ChainLine()
    view = RunView("m1", Side.YES, Venue.EVM, "Will it?", ChainRunState.RUNNING, call=CALL)
    body = TransactionRunState(view, TO_SIGN, confirmed=True)
    row = ChainRun(
        subject="redeem:m1:yes", wallet="0xWALLET", opened_at=OPENED, changed_at=NOW, step=step,
        body="", number=7, nonce=5, raw="0xraw", tx_hash="0xhash",
    )  # fmt: skip
    run = Run(on.ports, cast("Any", chain), row, replace(body, **other))
    return run, on, chain


def test_a_run_of_the_journal_is_what_was_written_down() -> None:
    run, _, _ = made(CONFIRM)
    assert (run.number, run.wallet, run.subject) == (7, "0xWALLET", "redeem:m1:yes")
    assert (run.step, run.raw, run.nonce) == (CONFIRM, "0xraw", 5)
    assert (run.view.tx_hash, run.view.opened_at, run.view.settled_at) == ("0xhash", OPENED, None)


def test_a_run_that_is_over_was_over_when_the_journal_says() -> None:
    run, on, line = made(CONFIRM)
    row = ChainRun(
        subject="redeem:m1:yes", wallet="0xWALLET", opened_at=OPENED, changed_at=NOW,
        settled_at=NOW, step=FAILED, body="", number=8,
    )  # fmt: skip
    over = Run(on.ports, cast("Any", line), row, run.body)
    assert (over.view.settled_at, over.view.opened_at, over.raw) == (NOW, OPENED, "")
    assert over.view.tx_hash == "0xhash", "without one of its own the row leaves that of its body"


async def test_whatever_is_written_down_is_shown_then_and_not_before() -> None:
    run, on, line = made(PREPARED)
    for written in (
        run.move(SIGN, words="signing"), run.settle(FAILED, state=ChainRunState.FAILED),
    ):  # fmt: skip
        on.facts.clear()
        await written
        assert on.facts == [Changed(run.view)]
    line.runs.problem = StorageError("disk full")
    for refused in (run.move(CONFIRM, words="never shown"), run.settle(REFUSED)):
        on.facts.clear()
        with pytest.raises(StorageError):
            await refused
        assert (on.facts, run.step, run.view.state) == ([], FAILED, ChainRunState.FAILED)


# -- the person's yes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "call", "digest", "is_yes"),
    [
        (PREPARED, CALL, "d1", True),
        (PREPARED, CALL, "d2", False),
        (PREPARED, None, "d1", False),
        (CHECK, CALL, "d1", False),
        (SIGN, CALL, "d1", False),
    ],
)
async def test_a_yes_holds_for_the_call_that_was_shown(
    step: str, call: CallView | None, digest: str, *, is_yes: bool
) -> None:
    run, _, line = made(step, confirmed=False)
    run.show(call=call, state=ChainRunState.PREPARED)
    assert await run.confirm(digest) is is_yes
    assert run.body.confirmed is is_yes
    assert line.runs.written == ([("move", 7, SIGN)] if is_yes else [])
    if is_yes:
        assert (run.view.state, run.view.words) == (ChainRunState.RUNNING, "signing")


# -- signing ------------------------------------------------------------------------------------


async def test_what_was_confirmed_is_signed_in_its_turn_after_one_more_check() -> None:
    run, on, line = made(SIGN)
    assert await run.signed() is True
    assert (run.checks, line.turn.taken, line.signed) == (1, 1, [(7, "0xWALLET")])
    assert (run.step, run.raw, run.nonce, run.view.tx_hash) == (BROADCAST, "0xraw", 5, "0xhash")
    assert run.view.steps == (StepView(Step.SIGNED, NOW, "nonce 5"),)
    assert run.view.words == "sending"
    assert on.words == []


@pytest.mark.parametrize("other", [{"confirmed": False}, {"to_sign": None}])
async def test_what_was_not_confirmed_is_not_signed(other: dict[str, Any]) -> None:
    run, on, line = made(SIGN, **other)
    assert await run.signed() is False
    assert (line.signed, run.checks, run.step) == ([], 0, REFUSED)
    assert run.view.reason is RunProblem.OUTSIDE_POLICY
    assert on.words == [("bad", "not done, Will it?: not confirmed by you")]


@pytest.mark.parametrize(
    ("place", "is_free"),
    [
        (Place(5, 5, 0, frozenset(), frozenset()), True),
        (Place(4, 6, 0, frozenset(), frozenset({5})), True),
        (Place(4, 6, 0, frozenset({5}), frozenset()), False),
        (Place(6, 6, 0, frozenset(), frozenset({5})), False),
        (Place(5, 6, 0, frozenset(), frozenset()), False),
        (Place(5, 5, 1, frozenset(), frozenset()), False),
    ],
)
async def test_a_place_that_was_taken_meanwhile_is_not_signed(
    place: Place, *, is_free: bool
) -> None:
    run, _, line = made(SIGN, ChainLine(at=place))
    assert await run.signed() is is_free
    assert len(line.signed) == is_free
    if not is_free:
        assert run.view.reason is RunProblem.CHAIN
        assert "nonce 5 was used by another transaction" in run.view.words


async def test_a_gap_is_a_surprise_where_no_call_was_shown() -> None:
    run, _, line = made(SIGN, ChainLine(at=Place(5, 5, 1, frozenset(), frozenset())))
    run.show(call=None)
    assert (await run.signed(), line.signed) == (False, [])


async def test_a_gap_that_was_shown_is_no_surprise() -> None:
    run, _, _ = made(SIGN, ChainLine(at=Place(5, 5, 2, frozenset(), frozenset())))
    run.show(call=replace(CALL, gap=2))
    assert await run.signed() is True


@pytest.mark.parametrize("where", ["check", "sign"])
async def test_a_refusal_right_before_signing_ends_the_run(where: str) -> None:
    run, on, line = made(SIGN)
    error = LockedError("the wallet is locked")
    if where == "check":
        run.refusal = error
    else:
        line.problem = error
    assert await run.signed() is False
    assert (run.step, run.view.reason) == (REFUSED, RunProblem.LOCKED)
    assert (run.view.state, run.view.settled_at) == (ChainRunState.REFUSED, NOW)
    assert run.view.fix == FIXES[RunProblem.LOCKED]
    assert on.words == [("warn", "not done, Will it?: the wallet is locked")]
    assert line.runs.written == [("settle", 7, REFUSED)]


async def test_what_is_not_final_yet_is_tried_again_later() -> None:
    run, _, _ = made(SIGN)
    run.refusal = RunRefusal(RunProblem.NOT_FINAL, "not yet")
    assert await run.signed() is False
    assert run.view.again_at == NOW + NOT_FINAL_S
    run, _, _ = made(SIGN)
    run.refusal = RunRefusal(RunProblem.CHAIN, "no answer")
    assert await run.signed() is False
    assert run.view.again_at is None


# -- sending ------------------------------------------------------------------------------------


def relay(*, success: bool = True, **other: Any) -> BroadcastBody:
    return BroadcastBody(success=success, **({"tx_hash": "0xHASH"} | other))


def receipt(*, succeeded: bool = True) -> Receipt:
    return Receipt("0xhash", succeeded, 88, 3)


def clocked(on: Offline) -> list[float]:
    """Pauses, which pass at once."""
    slept: list[float] = []

    async def sleep(delay_s: float) -> None:
        slept.append(delay_s)
        on.clock.set(on.clock.now() + delay_s)

    on.clock.sleep = sleep  # type: ignore[method-assign]
    return slept


@pytest.mark.parametrize(
    ("answer", "words", "fix", "notices"),
    [
        (relay(), "sent, waiting for confirmation", "", []),
        (relay(tx_hash=None), "sent, waiting for confirmation", "", []),
        (
            relay(tx_hash="0xother"),
            "the relay reports another transaction, 0xother; following ours",
            "",
            [
                (
                    "warn",
                    "Will it?: the relay reports another transaction, 0xother; following ours",
                )
            ],
        ),
        (
            relay(success=False, error="known", fix="look"),
            "refused by the relay: known",
            "look",
            [],
        ),
        (relay(success=False), "refused by the relay: no reason", "", []),
        (
            OutcomeUnknownError("no answer", CALLED),
            "sent, no response: no answer (POST /x)",
            "",
            [],
        ),
    ],
)
async def test_what_may_have_left_is_followed_on_the_chain(
    answer: object, words: str, fix: str, notices: list[tuple[str, str]]
) -> None:
    run, on, line = made(BROADCAST, ChainLine(answers=[answer], receipts=[receipt()]))
    await run.go()
    assert (run.finished, run.view.words, run.view.fix) == (receipt(), words, fix)
    assert run.view.steps == (StepView(Step.BROADCAST, NOW, "0xhash"),)
    assert (line.sent, on.words) == (["0xraw"], notices)
    assert line.runs.written == [("move", 7, CONFIRM)]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (UnreachableError("no connection", CALLED), "no connection (POST /x)"),
        (relay(success=False, retryable=True, error="busy"), "busy"),
        (relay(success=False, retryable=True), "the relay asks to retry later"),
    ],
)
async def test_what_has_surely_not_left_is_sent_again(answer: object, problem: str) -> None:
    line = ChainLine(answers=[*[answer] * 8, relay()], receipts=[receipt()])
    run, on, line = made(BROADCAST, line)
    slept = clocked(on)
    await run.go()
    assert slept == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]
    assert line.sent == ["0xraw"] * 9
    assert line.runs.written == [("move", 7, CONFIRM)]
    first = changed(on.facts[0], RunView)
    assert first is not None
    assert first.words == f"signed, not sent yet: {problem}"


# -- confirming ---------------------------------------------------------------------------------


async def test_a_receipt_that_succeeded_finishes_the_run() -> None:
    run, on, line = made(CONFIRM, ChainLine(receipts=[receipt()]))
    await run.go()
    assert (run.finished, on.words) == (receipt(), [])
    assert line.asked == [("confirmed", "0xhash")]


async def test_a_receipt_that_failed_ends_the_run() -> None:
    run, on, line = made(CONFIRM, ChainLine(receipts=[receipt(succeeded=False)]))
    await run.go()
    assert run.finished is None
    assert (run.step, run.view.state, run.view.reason) == (
        FAILED,
        ChainRunState.FAILED,
        RunProblem.REVERTED,
    )
    assert run.view.words == "reverted in block 88: nothing done"
    assert run.view.fix == FIXES[RunProblem.REVERTED]
    assert on.words == [("bad", "reverted on chain: Will it?")]
    assert line.runs.written == [("settle", 7, FAILED)]


async def test_a_chain_that_does_not_answer_ends_nothing() -> None:
    line = ChainLine(receipts=[ChainError("no answer"), receipt()])
    run, on, line = made(CONFIRM, line)
    clocked(on)
    await run.go()
    assert (run.finished, run.view.words, line.runs.written) == (receipt(), "sent; no answer", [])


# -- a place that another took ------------------------------------------------------------------


LOOKS = 120
"""So often it is looked for in a test, far beyond the time after which a run may be dead."""


class Seen(ChainLine):
    """A node that shows a receipt that is not sure until the last look."""

    async def confirmed(self, tx_hash: str, watch: Watch) -> Receipt | None:
        found = await super().confirmed(tx_hash, watch)
        watch.seen = receipt()
        return found


class Wavering(ChainLine):
    """A node whose count of the wallet goes back every few looks."""

    looks = 0

    async def next_nonce(self, wallet: str) -> int:
        await super().next_nonce(wallet)
        self.looks += 1
        return 5 if self.looks % 20 == 0 else 6


def never(kind: type[ChainLine] = ChainLine, **other: Any) -> ChainLine:
    """A chain on which the receipt comes at the last look."""
    given = {"at": Place(6, 6, 0, frozenset(), frozenset()), "next_free": 6, **other}
    return kind(receipts=[*[None] * LOOKS, receipt()], answers=[relay()] * LOOKS, **given)


async def test_a_run_whose_place_was_taken_for_long_is_void_and_not_before() -> None:
    run, on, line = made(CONFIRM, never())
    slept = clocked(on)
    await run.go()
    assert (run.step, run.view.fix) == (FAILED, "start again")
    assert run.view.words == "replaced by another transaction: this one is void"
    assert DEAD_AFTER_S <= sum(slept) < DEAD_AFTER_S + LOOK_LATER_S
    assert {one for one, _ in line.asked} == {"confirmed", "next", "receipt"}


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (never(receipt_now=receipt()), {}),
        (never(Seen), {}),
        (never(Wavering, at=Place(5, 6, 0, frozenset(), frozenset())), {}),
        (never(next_free=99), {"to_sign": None}),
        (never(), {"undone": False}),
    ],
)
async def test_what_may_still_come_is_not_given_up(line: ChainLine, other: dict[str, Any]) -> None:
    is_undone = other.pop("undone", True)
    run, on, _ = made(CONFIRM, line, **other)
    run.undone = is_undone
    if other:
        run.nonce = None
    slept = clocked(on)
    await run.go()
    assert run.finished == receipt()
    assert sum(slept) > 2 * DEAD_AFTER_S


@pytest.mark.parametrize(("free", "is_stuck"), [(5, True), (6, False)])
async def test_a_run_beyond_every_place_is_stuck_and_may_be_given_up(
    free: int, *, is_stuck: bool
) -> None:
    place = Place(4, free, 0, frozenset(), frozenset())
    run, on, _ = made(CONFIRM, never(at=place, next_free=5))
    async with asyncio.TaskGroup() as tasks:
        going = tasks.create_task(run.go())
        await on.clock.advance(0)
        if is_stuck:
            assert run.view.words == "nonce 5 is unusable: the wallet is at 5"
            assert run.view.fix == Fix.ABANDON
        assert await run.abandon() is is_stuck
        assert run.step == (FAILED if is_stuck else CONFIRM)
        going.cancel()


@pytest.mark.parametrize("step", [CHECK, PREPARED, SIGN])
async def test_a_run_that_was_not_sent_is_not_abandoned(step: str) -> None:
    run, _, line = made(step)
    run.is_stuck = True
    assert await run.abandon() is False
    assert line.runs.written == []


# -- after a crash ------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", range(DEATHS_MAX + 2))
async def test_a_step_that_ended_the_program_too_often_is_set_aside(begun: int) -> None:
    run, on, line = made(CONFIRM, begun=begun)
    run.come_back()
    assert run.is_aside is (begun >= DEATHS_MAX)
    assert bool(on.facts) is run.is_aside
    if run.is_aside:
        assert "set aside: the program ended 2 times" in run.view.words
        assert run.view.fix == Fix.REDEEM_AGAIN
    await run.hold_steady()
    assert run.body.begun == 0
    assert line.runs.written == ([("move", 7, CONFIRM)] if begun else [])
    assert all(load(body) == run.body and at == NOW for body, at in line.runs.bodies)


async def test_a_step_that_goes_on_after_a_restart_is_counted_once() -> None:
    run, _, _ = made("over", begun=0)
    run.come_back()
    await run.go()
    assert run.body.begun == 1
    await run.go()
    assert run.body.begun == 1


async def test_a_disk_that_takes_nothing_stops_the_run_where_it_is() -> None:
    run, _, line = made(BROADCAST, ChainLine(answers=[relay()]))
    line.runs.problem = StorageError("disk full")
    await run.go()
    assert run.step == BROADCAST
    assert (run.view.words, run.view.fix) == ("disk full; stopped here", Fix.FREE_DISK)


async def test_each_step_is_counted_once_and_each_move_begins_a_new_one() -> None:
    run, _, _ = made(CHECK, begun=5)
    await run.move(PREPARED, done=Step.CHECKED, text="first")
    await run.move(PREPARED, done=Step.CHECKED, text="second")
    assert run.view.steps == (StepView(Step.CHECKED, NOW, "first"),)
    assert run.body.begun == 1
    await run.drop("not wanted")
    assert (run.step, run.view.state, run.view.words) == (
        REFUSED,
        ChainRunState.REFUSED,
        "not wanted",
    )


# -- by the clock -------------------------------------------------------------------------------


async def test_a_step_that_fails_is_tried_again_after_a_pause_that_doubles() -> None:
    run, on, _ = made(SIGN, ChainLine(answers=[relay()], receipts=[receipt()]))
    slept = clocked(on)
    run.faults = [ValueError("odd")] * 8
    await run.go()
    assert slept == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]
    shown = [one.words for fact in on.facts if (one := changed(fact, RunView)) is not None]
    assert shown[7].endswith("; retrying in 300 s")
    assert run.finished == receipt()


@pytest.mark.parametrize("answer", [relay(), UnreachableError("away", CALLED)])
async def test_a_receipt_is_looked_for_closely_for_a_minute_and_then_more_seldom(
    answer: object,
) -> None:
    run, on, line = made(CONFIRM, never(next_free=5))
    line.answers = [answer] * LOOKS
    slept = clocked(on)
    await run.go()
    closely = [one for one in slept if one == LOOK_S]
    assert slept == [*closely, *[LOOK_LATER_S] * (LOOKS - len(closely))]
    assert sum(closely) == CONFIRM_WAIT_S
    # Once a minute the same bytes go out again; a resend that fails changes nothing.
    assert line.sent == ["0xraw"] * int((sum(slept) - slept[-1]) // RESEND_S)
    assert on.words == [("warn", "broadcast, unconfirmed: Will it?")]
    assert line.runs.written == [("move", 7, CONFIRM)]
    assert (run.view.state, run.view.reason, run.view.fix) == (
        ChainRunState.UNCONFIRMED, RunProblem.TIMEOUT, Fix.CHECK_HASH,
    )  # fmt: skip


async def test_what_the_chain_has_seen_is_not_sent_again() -> None:
    run, on, line = made(CONFIRM, never(Seen))
    clocked(on)
    await run.go()
    assert line.sent == []


async def test_a_run_of_the_plain_kind_is_undone_until_something_proves_it() -> None:
    assert await TransactionRun.is_undone(made(CONFIRM)[0]) is True

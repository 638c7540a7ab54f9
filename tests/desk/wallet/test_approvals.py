"""Approvals one at a time: which are shown, priced, written down, signed and gone on with."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from kit.desk.chain_line import ChainLine
from kit.desk.offline import Offline
from kit.desk.redeeming import CountingSigner
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import wallet_of
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.chain.gateway import Place, shown
from service_tui.desk.chain.run_state import TransactionRunState, dump, load
from service_tui.desk.chain.transaction_run import BROADCAST, CONFIRM, REFUSED, SIGN
from service_tui.desk.commands.wallet import APPROVE_WORD, SetApprovals
from service_tui.desk.slices.redemption import ChainRunState, RunView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import ApprovalView, Ownership
from service_tui.desk.vault import Vault
from service_tui.desk.wallet import handlers
from service_tui.desk.wallet.handlers import GAS_S, SUBJECT, Approving, WalletHandlers
from service_tui.signing.approvals import APPROVAL_GAS, approvals
from service_tui.signing.chain import Receipt
from service_tui.signing.errors import ChainError
from service_tui.signing.policy import Price, SignableCall, SigningPolicy
from service_tui.signing.transactions import Transaction
from service_tui.storage.chain_runs import ChainRun
from service_tui.storage.errors import StorageError, TakenError
from service_tui.terms import Side, Venue
from service_tui.units import Micros
from service_tui.wire.chain import BroadcastBody
from service_tui.wire.wallet import AllowancesBody

ME = CountingSigner().address
POLICY = SigningPolicy()
NEEDED = approvals(POLICY.book, POLICY.exchange)
ASKED = Price(nonce=900, gas=150_000, max_fee=40_000_000_000, max_priority_fee=30_000_000_000)
SENT = BroadcastBody(success=True, tx_hash="0xhash")
SILENT = UnreachableError("no connection", Called("GET", "/x"))


@dataclass
class Line(ChainLine):
    """A chain that prices calls as well."""

    price_now: Price = ASKED
    priced: list[tuple[str, str]] = field(default_factory=list)
    built_for: list[tuple[str, str, int]] = field(default_factory=list)
    checks: int = 0

    async def check(self) -> None:
        self.checks += 1

    async def price(self, signable: SignableCall, wallet: str) -> Price:
        self.priced.append((signable.to, wallet))
        return self.price_now

    async def built(self, signable: SignableCall, wallet: str, *, nonce: int) -> Transaction:
        self.built_for.append((signable.to, wallet, nonce))
        return POLICY.transaction(signable, replace(self.price_now, nonce=nonce), spent_today=0)


class Work:
    """The handlers of a linked wallet that has given some of its approvals."""

    def __init__(self, *given: int) -> None:
        wallet = wallet_of(address=ME, approvals=(), approvals_at=None)
        self.on = Offline(replace(sample_state(8), wallet=wallet))
        self.line = Line(at=Place(7, 9, 1, frozenset(), frozenset()))
        self.line.vault = Vault(None, CountingSigner())
        self.handlers = WalletHandlers(self.on.ports, cast("Any", self.line), executes=lambda: True)
        self.give(*given)

    def give(self, *given: int) -> None:
        self.on.answers[handlers.ALLOWANCES] = AllowancesBody.model_construct(
            allowances={one.key: place in given for place, one in enumerate(NEEDED)}
        )

    def seen(self, gap: int = 1) -> None:
        """The list as a person saw it, with so many strange places before it."""
        call = shown(transaction_of(0, 9), POLICY.approval(NEEDED[0]), gap=gap)
        self.on.state = replace(
            self.on.state,
            wallet=replace(
                self.on.state.wallet,
                approvals=(ApprovalView(NEEDED[0].key, "", "", "", is_set=False, call=call),),
            ),
        )


def transaction_of(place: int, nonce: int, gas: int = 150_000) -> Transaction:
    price = replace(ASKED, nonce=nonce, gas=gas)
    return POLICY.transaction(POLICY.approval(NEEDED[place]), price, spent_today=0)


async def test_what_is_not_given_is_shown_with_the_call_that_would_give_it() -> None:
    it = Work(*[place for place in range(len(NEEDED)) if place not in {1, 4}])
    await it.handlers.read_approvals()
    calls = {
        place: view.call
        for place, view in enumerate(it.on.state.wallet.approvals)
        if view.call is not None
    }
    # Each has the next place, and all say what lies before them.
    assert calls == {
        place: shown(transaction_of(place, nonce), POLICY.approval(NEEDED[place]), gap=1)
        for place, nonce in ((1, 9), (4, 10))
    }
    assert it.line.priced == [(NEEDED[1].to, ME)]
    assert it.line.checks == 1
    (asked,) = it.on.asked
    assert (asked.path, asked.query.no_cache) == ({"address": ME}, True)  # type: ignore[union-attr]
    assert it.on.state.wallet.approvals_at == NOW


async def test_an_estimate_below_the_usual_gas_is_raised_to_it() -> None:
    it = Work()
    it.line.price_now = replace(ASKED, gas=APPROVAL_GAS - 1)
    await it.handlers.read_approvals()
    call = it.on.state.wallet.approvals[0].call
    assert call is not None
    assert (call.gas, call.nonce) == (APPROVAL_GAS, 9)


async def test_with_all_given_nothing_is_priced() -> None:
    it = Work(*range(len(NEEDED)))
    await it.handlers.read_approvals()
    assert (it.line.checks, it.line.priced, it.line.asked) == (0, [], [])
    assert all(view.is_set and view.call is None for view in it.on.state.wallet.approvals)


async def test_a_wallet_that_is_not_linked_yet_is_asked_for_by_its_key() -> None:
    it = Work()
    it.on.state = replace(
        it.on.state, wallet=replace(it.on.state.wallet, address="", key_address="0xKEY")
    )
    await it.handlers.read_approvals()
    assert it.on.asked[0].path == {"address": "0xKEY"}
    assert it.line.priced == [(NEEDED[0].to, "0xKEY")]


async def test_only_what_was_asked_for_and_is_not_set_is_signed_in_the_order_of_the_list() -> None:
    it = Work(0, 2)
    it.seen()
    keys = (NEEDED[3].key, NEEDED[1].key, NEEDED[2].key)
    await it.handlers.set_approvals(SetApprovals(keys, APPROVE_WORD))
    assert it.on.words == []
    assert it.line.built_for == [(NEEDED[place].to, ME, 9) for place in (1, 3)]
    assert [run.subject for run in it.line.runs.rows] == [
        f"{SUBJECT}{NEEDED[place].key}" for place in (1, 3)
    ]
    assert it.line.signed == [(1, ME), (2, ME)]
    assert it.line.turn.taken == 4
    (first, _) = it.line.runs.rows
    assert (first.wallet, first.opened_at, first.changed_at, first.step) == (ME, NOW, NOW, SIGN)
    body = load(first.body)
    call = shown(transaction_of(1, 9), POLICY.approval(NEEDED[1]), gap=1)
    assert body.run == RunView(
        market_id=NEEDED[1].key, side=Side.YES, venue=Venue.EVM, question=NEEDED[1].about,
        state=ChainRunState.RUNNING, call=call,
    )  # fmt: skip
    assert body.confirmed
    assert body.to_sign is not None
    assert (body.to_sign.nonce, body.to_sign.to) == (9, NEEDED[1].to)
    # Both are sent and followed.
    it.line.answers, it.line.receipts = [SENT, SENT], [None] * 99
    async with running(it):
        assert it.line.sent == ["0xraw"] * 2


async def test_one_that_is_under_way_already_is_passed_over() -> None:
    it = Work()
    it.seen()
    it.line.runs.problem = TakenError("in flight")
    await it.handlers.set_approvals(SetApprovals((NEEDED[0].key, NEEDED[1].key), APPROVE_WORD))
    assert len(it.line.built_for) == 2
    assert (it.line.signed, it.on.words) == ([], [])


async def test_one_that_cannot_be_signed_stops_those_behind_it() -> None:
    it = Work()
    it.seen()
    it.line.problem = ChainError("the node is away")
    await it.handlers.set_approvals(SetApprovals((NEEDED[0].key, NEEDED[1].key), APPROVE_WORD))
    assert len(it.line.runs.rows) == 1
    assert it.on.words[-1][0] == "bad"
    assert it.on.words[-1][1].startswith("approvals: ")
    assert it.on.state.wallet.problem


@pytest.mark.parametrize(("gap_shown", "is_signed"), [(1, True), (0, False), (2, True)])
async def test_nothing_is_signed_while_more_strange_nonces_lie_before_it_than_were_shown(
    gap_shown: int, *, is_signed: bool
) -> None:
    it = Work()
    it.seen(gap_shown)
    await it.handlers.set_approvals(SetApprovals((NEEDED[0].key,), APPROVE_WORD))
    assert bool(it.line.signed) is is_signed
    if not is_signed:
        text = "approvals: 1 nonces of the wallet are not from this desk: review again"
        assert it.on.words == [("bad", text)]
        assert it.line.runs.rows == []


def turn_of(it: Work, number: int = 4, step: str = CONFIRM) -> Approving:
    return Approving(it.on.ports, cast("Any", it.line), row(number, step), body_of())


def body_of() -> TransactionRunState:
    view = RunView(NEEDED[0].key, Side.YES, Venue.EVM, "USDC may be taken", ChainRunState.RUNNING)
    return TransactionRunState(view, confirmed=True)


def row(number: int, step: str, subject: str = f"{SUBJECT}k") -> ChainRun:
    return ChainRun(
        subject=subject, wallet=ME, opened_at=NOW - 9, changed_at=NOW - 8, step=step,
        body=dump(body_of()), number=number, nonce=5, raw="0xraw", tx_hash="0xhash",
    )  # fmt: skip


async def test_a_confirmed_approval_is_settled_with_its_block_and_told() -> None:
    it = Work()
    turn = turn_of(it)
    await turn.finish(Receipt("0xhash", succeeded=True, block=88, cost=1))
    assert it.line.runs.written == [("settle", 4, "done")]
    assert (turn.view.state, turn.view.words) == (ChainRunState.DONE, "given in block 88")
    assert turn.view.last is not None
    assert turn.view.last.value == "confirmed"
    assert it.on.words == [("good", "approved: USDC may be taken")]


@pytest.mark.parametrize("can_read", [True, False])
async def test_an_approval_is_followed_to_its_end_and_the_list_is_read_again(
    *, can_read: bool
) -> None:
    it = Work(0)
    it.line.runs.rows = [row(3, CONFIRM)]
    it.line.receipts = [Receipt("0xhash", succeeded=True, block=88, cost=1)]
    if not can_read:
        it.on.answers[handlers.ALLOWANCES] = SILENT
    async with running(it):
        assert it.line.runs.written[-1] == ("settle", 3, "done")
        assert [one.is_set for one in it.on.state.wallet.approvals[:1]] == [True] * can_read
        assert Topic.WALLET in it.on.woken
        assert it.on.words == [("good", "approved: USDC may be taken")]


async def test_after_a_restart_what_was_signed_goes_on_and_the_rest_is_let_go() -> None:
    it = Work()
    it.line.runs.rows = [
        row(1, SIGN),
        row(2, BROADCAST),
        row(3, CONFIRM, subject="redeem:m:yes"),
        replace(row(5, CONFIRM), body="{"),
        replace(row(6, CONFIRM), tx_hash="0xsix"),
        row(7, "ask"),
        row(8, "check"),
        row(9, "prepared"),
    ]
    it.line.answers, it.line.receipts = [SENT], [None] * 99
    async with running(it):
        dropped = {number for _, number, step in it.line.runs.written if step == REFUSED}
        assert dropped == {1, 7, 8, 9}
        assert load(it.line.runs.bodies[0][0]).run.words == "the program ended before signing"
        assert it.line.sent == ["0xraw"]
        followed = {tx for what, tx in it.line.asked if what == "confirmed"}
        assert followed == {"0xhash", "0xsix"}


@asynccontextmanager
async def running(it: Work) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(it.handlers.run())
        for _ in range(3):
            await it.on.clock.advance(0)
            # The journal is read in a thread.
            await asyncio.sleep(0.005)
        try:
            yield
        finally:
            task.cancel()


async def test_the_gas_of_a_linked_wallet_is_read_again_and_again() -> None:
    it = Work(*range(len(NEEDED)))
    it.line.balance_wei = 2_345_678_999_999_999_999
    async with running(it):
        assert it.on.state.wallet.gas == Micros(2_345_678)
        assert it.line.asked == [("balance", ME)]
        await it.on.clock.advance(GAS_S - 0.1)
        assert len(it.line.asked) == 1
        await it.on.clock.advance(0.1)
        assert len(it.line.asked) == 2


@pytest.mark.parametrize("change", ["unlinked", "read only"])
async def test_the_gas_of_no_wallet_is_read(change: str) -> None:
    it = Work()
    if change == "unlinked":
        it.on.state = replace(it.on.state, wallet=wallet_of(ownership=Ownership.MANAGED))
    else:
        service = replace(it.on.state.service, read_only=True)
        it.on.state = replace(it.on.state, service=service)
    async with running(it):
        await it.on.clock.advance(GAS_S)
        assert [one for one in it.line.asked if one[0] == "balance"] == []


async def test_a_journal_that_cannot_be_read_is_read_later() -> None:
    it = Work()
    reads: list[float] = []
    problems: list[Exception] = [StorageError("locked")]

    def unsettled() -> list[ChainRun]:
        reads.append(it.on.clock.monotonic())
        if problems:
            raise problems.pop()
        return []

    it.line.runs.unsettled = unsettled  # type: ignore[method-assign]
    async with running(it):
        await it.on.clock.advance(GAS_S)
        assert reads == [0.0, GAS_S]
        it.handlers.take_up()
        await it.on.clock.advance(0)
        assert reads == [0.0, GAS_S, GAS_S]

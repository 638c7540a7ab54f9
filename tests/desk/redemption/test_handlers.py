"""Which redemptions begin, go on, wait or are refused, by hand and by themselves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from kit.desk.chain_line import ChainLine
from kit.desk.offline import Asked, Offline
from kit.desk.redeeming import CountingSigner
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import call_of
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.chain.run_state import SignedCall, TransactionRunState, dump, load
from service_tui.desk.chain.transaction_run import (
    BROADCAST,
    CHECK,
    CONFIRM,
    PREPARED,
    REFUSED,
    REPORT,
    REQUEST,
    SERVED,
    SIGN,
)
from service_tui.desk.commands.wallet import (
    AbandonRun,
    PrepareRedemption,
    Redeem,
    RedeemAll,
    SetAutoRedeem,
)
from service_tui.desk.facts import Noticed, PreferenceSet
from service_tui.desk.redemption.handlers import (
    AGAIN_MAX_S,
    AGAIN_S,
    ALLOWED,
    CYCLE_S,
    HOLDER,
    NextStep,
    Redemptions,
    Standing,
    gas_problem,
    is_due,
    key_problem,
    may_go_on,
    next_step,
    pause_s,
    reverts_in_a_row,
)
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.redemption import (
    AutoChanged,
    AutoView,
    ChainRunState,
    RedemptionRow,
    RedemptionView,
    RunProblem,
    RunView,
    Stage,
    Step,
    StepView,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.vault import Vault
from service_tui.signing.chain import Receipt
from service_tui.storage.chain_runs import ChainRun, RunSignature
from service_tui.storage.errors import StorageError, TakenError
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.agents import AgentSettingsBody, AgentSettingsPatch
from service_tui.wire.chain import BroadcastBody
from service_tui.wire.endpoints.public import PATCH_AGENT
from service_tui.wire.endpoints.wallet import REDEEM, REPORT_REDEMPTION
from service_tui.wire.redemption import ReportBody

KEY = "m1:no"
HASH = "0x" + "2a" * 32
OWN = CountingSigner().address
ROW = RedemptionRow(
    "m1", "Will it?", Side.NO, Venue.EVM, Stage.READY, Micros(9 * ONE), Micros(4 * ONE),
    Micros(8 * ONE),
)  # fmt: skip
VIEW = RunView("m1", Side.NO, Venue.EVM, "Will it?", ChainRunState.RUNNING)
SILENT = UnreachableError("no connection", Called("POST", "/x"))
WEI = 10**12

# -- decisions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "may"),
    [
        (Standing(PREPARED), False),
        (Standing(REFUSED), False),
        (Standing(BROADCAST), True),
        (Standing(BROADCAST, has_row=False, has_key=False), True),
        (Standing(BROADCAST, is_aside=True), False),
        (Standing(REQUEST), True),
        (Standing(REQUEST, has_key=False), True),
        (Standing(REQUEST, has_row=False), False),
        (Standing(CHECK, has_row=False), False),
        (Standing(REQUEST, has_row=False, is_managed=True), True),
        (Standing(REQUEST, is_aside=True, is_managed=True), False),
        (Standing(SIGN), True),
        (Standing(SIGN, has_key=False), False),
        (Standing(SIGN, has_row=False), False),
    ],
)
def test_a_run_goes_on_where_what_it_needs_is_there(at: Standing, *, may: bool) -> None:
    assert may_go_on(at) is may


@pytest.mark.parametrize(
    ("state", "reason", "by_itself", "then"),
    [
        (ChainRunState.DONE, None, True, NextStep(is_over=True)),
        (ChainRunState.DONE, RunProblem.CHAIN, True, NextStep(is_over=True)),
        (ChainRunState.FAILED, RunProblem.REVERTED, True, NextStep(True, True)),  # noqa: FBT003
        (ChainRunState.REFUSED, RunProblem.SERVICE, True, NextStep(True, True)),  # noqa: FBT003
        (ChainRunState.REFUSED, RunProblem.CHAIN, False, NextStep(True, True)),  # noqa: FBT003
        (ChainRunState.REFUSED, RunProblem.LOST, True, NextStep(is_over=True)),
        (ChainRunState.UNCONFIRMED, RunProblem.TIMEOUT, True, NextStep()),
        (ChainRunState.RUNNING, RunProblem.SERVICE, True, NextStep()),
        (
            ChainRunState.REFUSED,
            RunProblem.NO_GAS,
            True,
            NextStep(is_over=True, pause="gas too low: send some"),
        ),
        (ChainRunState.REFUSED, RunProblem.NO_GAS, False, NextStep(is_over=True)),
    ],
)
def test_what_follows_a_run_at_rest(
    state: ChainRunState, reason: RunProblem | None, *, by_itself: bool, then: NextStep
) -> None:
    run = replace(VIEW, state=state, reason=reason, by_itself=by_itself, fix="send some")
    assert next_step(run) == then


def test_what_was_refused_rests_ever_longer() -> None:
    waits = [pause_s(tries) for tries in range(6)]
    assert waits == [AGAIN_S * 2**tries for tries in range(5)] + [AGAIN_MAX_S]


def refused(reason: RunProblem | None = None, again_s: float | None = None) -> RunView:
    again = None if again_s is None else Timestamp(NOW + again_s)
    return replace(VIEW, state=ChainRunState.REFUSED, reason=reason, again_at=again)


@pytest.mark.parametrize(
    ("run", "due"),
    [
        (None, True),
        (replace(VIEW, state=ChainRunState.PREPARED), True),
        (replace(VIEW, state=ChainRunState.DONE), False),
        (replace(VIEW, state=ChainRunState.DONE, again_at=Timestamp(NOW - 9)), False),
        (refused(RunProblem.LOST), False),
        (refused(RunProblem.ALREADY), False),
        (refused(RunProblem.OUTSIDE_POLICY, -9), False),
        (refused(again_s=0), True),
        (refused(again_s=1), False),
        (refused(RunProblem.LOCKED), True),
        (refused(RunProblem.NO_GAS), True),
        (refused(RunProblem.CHAIN), False),
    ],
)
def test_a_row_is_redeemed_by_itself_as_long_as_its_last_run_allows_it(
    run: RunView | None, *, due: bool
) -> None:
    assert is_due(run, NOW) is due


def reverted(when: float, **other: Any) -> RunView:
    steps = (
        StepView(Step.SIGNED, Timestamp(NOW - 9_000)),
        StepView(Step.BROADCAST, Timestamp(NOW + when)),
    )
    run = replace(VIEW, state=ChainRunState.FAILED, reason=RunProblem.REVERTED, steps=steps)
    return replace(run, **other)


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ((), 0),
        ((reverted(-1), reverted(-2)), 2),
        ((reverted(-1), reverted(-2, reason=RunProblem.CHAIN), reverted(-3)), 2),
        ((reverted(-1), reverted(-2, state=ChainRunState.DONE), reverted(-3)), 1),
        ((reverted(-1), reverted(-101), reverted(-2)), 1),
        ((reverted(-100),), 1),
        ((reverted(-1, steps=()), reverted(-2)), 0),
    ],
)
def test_reverts_in_a_row_are_counted_since_it_was_turned_on(
    runs: tuple[RunView, ...], count: int
) -> None:
    assert reverts_in_a_row(runs, f"{NOW - 100:.0f}") == count


def test_a_time_that_is_no_number_counts_every_revert() -> None:
    assert reverts_in_a_row((reverted(-9_000),), "\u0664") == 1


@pytest.mark.parametrize(
    ("key", "reverts", "why"),
    [
        ("0xABC", 0, ""),
        ("0xABC", 1, ""),
        ("0xABC", 2, "2 redemptions in a row reverted: turn auto-redeem on again"),
        (None, 2, "the wallet is locked: unlock it with its passphrase"),
        ("0xDEF", 2, "the unlocked key is not the key of the linked wallet"),
    ],
)
def test_which_key_signs_nothing_by_itself(key: str | None, reverts: int, why: str) -> None:
    assert key_problem(key, "0xabc", reverts) == why


@pytest.mark.parametrize(
    ("held", "needed", "why"),
    [
        (20_000, 20_000, ""),
        (19_999, 20_000, "gas too low: 0.0200 POL, a redemption needs 0.0200"),
        (0, 0, "gas too low: 0.0000 POL, a redemption needs 0.0000"),
        (1, 0, ""),
    ],
)
def test_how_much_gas_is_too_low(held: int, needed: int, why: str) -> None:
    assert gas_problem(Micros(held), Micros(needed)) == why


# -- a desk without a service, a node or a disk -------------------------------------------------


class Preferences:
    """Notes what the desk is to remember."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, str]] = []

    async def prefer(self, name: str, value: str) -> None:
        self.kept.append((name, value))


class Deaf(ChainLine):
    """A chain that cannot be reached the first time."""

    async def balance(self, address: str) -> int:
        if not self.asked:
            self.asked.append(("balance", ""))
            raise SILENT
        return await super().balance(address)


class Signing(ChainLine):
    """A key whose transaction has a hash that may be reported."""

    async def sign(self, number: int, body: TransactionRunState, wallet: str) -> RunSignature:
        return replace(await super().sign(number, body, wallet), tx_hash=HASH)


class Work:
    """Redemptions that run on a journal with these rows."""

    def __init__(
        self,
        *rows: ChainRun,
        queue: tuple[RedemptionRow, ...] = (ROW,),
        line: ChainLine | None = None,
        executes: bool = True,
        auto: bool = False,
        **wallet: Any,
    ) -> None:
        state = sample_state(8)
        given = {
            "ownership": Ownership.EXTERNAL,
            "address": OWN.lower(),
            "gas_needed": Micros(20_000),
        }
        view = RedemptionView(queue, auto=AutoView(on_service=auto, allowed=auto))
        preferences = {ALLOWED: "5"} if auto else {}
        self.on = Offline(
            replace(
                state,
                wallet=replace(state.wallet, **(given | wallet)),
                redemption=view,
                preferences=preferences,
            )
        )
        self.line = line or ChainLine()
        self.line.vault = Vault(None, CountingSigner())
        self.line.runs.rows = list(rows)
        self.known = len(rows)
        self.line.receipts = [None] * 500
        self.on.answers[REDEEM] = [SILENT] * 500
        self.on.answers[REPORT_REDEMPTION] = [SILENT] * 500
        self.memory = Preferences()
        self.is_signer = executes
        self.its = Redemptions(
            self.on.ports,
            cast("Any", self.line),
            cast("Any", self.memory),
            executes=lambda: self.is_signer,
        )

    def lock(self) -> None:
        self.line.vault = Vault()

    def read_only(self) -> None:
        service = replace(self.on.state.service, read_only=True)
        self.on.state = replace(self.on.state, service=service)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.its.run())
            await self.later(0.0)
            yield
            task.cancel()

    async def later(self, seconds: float) -> None:
        """Let this time pass, and what reads the disk in a thread come back."""
        for pause in (seconds, 0.0, 0.0):
            await self.on.clock.advance(pause)
            await asyncio.sleep(0.005)

    def run(self, key: str = KEY) -> RunView:
        run = self.on.state.redemption.run(key)
        assert run is not None
        return run

    @property
    def begun(self) -> list[TransactionRunState]:
        return [load(one.body) for one in self.line.runs.rows[self.known :]]

    def reported(self) -> list[str]:
        """Markets whose payout the service was told of."""
        bodies = [one.body for one in self.on.asked if one.endpoint is REPORT_REDEMPTION]
        return [cast("Any", body).market_id for body in bodies]


def stored(number: int, market: str, step: str, **body: Any) -> ChainRun:
    view = replace(VIEW, market_id=market, words="as written", **body.pop("view", {}))
    return ChainRun(
        subject=f"redeem:{market}:no", wallet=OWN, opened_at=NOW, changed_at=NOW, step=step,
        body=dump(TransactionRunState(view, **({"confirmed": True} | body))), number=number,
        nonce=5, tx_hash=HASH, raw="0xraw",
    )  # fmt: skip


def shown(**other: Any) -> ChainRun:
    """A run that waits for the person's yes; it outlived a restart as it was confirmed once."""
    call = replace(call_of(), digest="d1")
    to_sign = SignedCall(
        chain_id=137, nonce=5, gas=9, max_fee=2, max_priority_fee=1, to="0x" + "66" * 20, data="05"
    )
    row = stored(1, "m1", PREPARED, to_sign=to_sign, view={"call": call}, **other)
    return replace(row, tx_hash=None, raw=None, nonce=None)


PREPARE = PrepareRedemption("m1", Side.NO, Venue.EVM)
YES = Redeem("m1", Side.NO, Venue.EVM, digest="d1")

# -- by hand ------------------------------------------------------------------------------------


async def test_a_yes_to_what_was_shown_becomes_money_and_another_yes_nothing() -> None:
    it = Work(shown(), line=Signing())
    it.line.answers = [BroadcastBody(success=True, tx_hash=HASH)]
    it.line.receipts = [Receipt(HASH, succeeded=True, block=8, cost=3)]
    it.on.answers[REPORT_REDEMPTION] = ReportBody(success=True)
    async with it.running():
        await it.its.redeem(replace(YES, digest="d2"))
        differs = "the transaction differs from the one shown; nothing signed: review it again"
        signer = it.line.vault
        it.lock()
        await it.its.redeem(YES)
        locked = "wallet locked: unlock it with its passphrase, then confirm again"
        assert it.on.words == [("warn", differs), ("warn", locked)]
        assert it.line.runs.written == []
        it.line.vault = signer
        await it.its.redeem(YES)
        await it.later(0.0)
        assert it.line.signed == [(1, OWN)]
        assert it.line.sent == ["0xraw"]
        assert it.run().state is ChainRunState.DONE
        steps = dict.fromkeys(step for _, _, step in it.line.runs.written)
        assert list(steps) == [SIGN, CONFIRM, REPORT, "done"]
        # It is over: nothing is left to confirm.
        await it.its.redeem(YES)
        assert it.on.words[-1] == ("warn", differs)


async def test_what_stands_in_the_way_is_named_and_nothing_begins() -> None:
    lost = replace(ROW, lost=True)
    for it, text in (
        (Work(executes=False), HOLDER),
        (Work(queue=(lost,)), "position lost: it pays nothing, and nothing is burned"),
        (Work(ownership=None), None),
    ):
        await it.its.prepare(PREPARE)
        await it.its.redeem_all(RedeemAll((KEY,)))
        if text is not None:
            assert it.on.words == [("warn", f"not redeemed, Will it?: {text}")] * 2
        assert it.begun == []
    it = Work(queue=())
    await it.its.redeem_all(RedeemAll((KEY,)))
    assert it.on.words == [("warn", f"not redeemed, {KEY}: position no longer in the queue")]
    it = Work()
    it.read_only()
    await it.its.redeem_all(RedeemAll((KEY,)))
    assert it.on.words == [("warn", f"not redeemed, Will it?: {HOLDER}")]


async def test_a_run_that_waits_for_the_person_gives_way_and_one_at_work_does_not() -> None:
    it = Work(shown(), stored(2, "m2", REPORT), queue=(ROW, replace(ROW, market_id="m2")))
    async with it.running():
        before = it.run("m2:no")
        await it.its.redeem_all(RedeemAll((KEY, "m2:no")))
        assert it.on.words == [("warn", "not redeemed, Will it?: already in progress")]
        assert it.run("m2:no") == before
        assert ("settle", 1, REFUSED) in it.line.runs.written
        assert len(it.begun) == 1


async def test_several_are_begun_each_confirmed_and_written_down() -> None:
    other = replace(ROW, market_id="m2", amount=Micros(2 * ONE))
    lost = replace(ROW, market_id="m3", lost=True)
    it = Work(queue=(ROW, other, lost))
    await it.its.redeem_all(RedeemAll((KEY, "m2:no", "m3:no")))
    assert it.line.runs.written == [
        ("open", f"redeem:{KEY}", REQUEST),
        ("open", "redeem:m2:no", REQUEST),
    ]
    first, second = it.begun
    begun = replace(VIEW, amount=Micros(8 * ONE), words="checking", opened_at=NOW)
    assert (first.confirmed, first.run, second.run.amount) == (True, begun, 2 * ONE)
    assert {one.wallet for one in it.line.runs.rows} == {OWN.lower()}
    run = it.run("m3:no")
    assert (run.state, run.reason) == (ChainRunState.REFUSED, RunProblem.LOST)
    assert (run.settled_at, run.by_itself) == (NOW, False)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (TakenError("taken"), ("warn", "Will it?: already in progress")),
        (StorageError("disk full"), ("bad", "disk full; nothing redeemed")),
    ],
)
async def test_what_cannot_be_written_down_is_not_begun(
    problem: Exception, words: tuple[str, str]
) -> None:
    it = Work()
    it.line.runs.problem = problem
    await it.its.redeem_all(RedeemAll((KEY,)))
    assert (it.on.words, it.on.state.redemption.runs) == ([words], ())


async def test_a_redemption_is_prepared_without_the_persons_yes_and_checked_anew() -> None:
    it = Work()
    await it.its.prepare(PREPARE)
    (body,) = it.begun
    assert (body.confirmed, body.run.by_itself, body.run.managed) == (False, False, False)
    again = Work(shown())
    async with again.running():
        await again.its.prepare(PREPARE)
        assert ("settle", 1, REFUSED) in again.line.runs.written
        assert not again.begun[-1].confirmed


async def test_what_the_service_signs_is_requested_after_the_yes_alone() -> None:
    it = Work(ownership=Ownership.MANAGED)
    await it.its.prepare(PREPARE)
    run = it.run()
    assert (run.state, run.managed, run.by_itself, run.words) == (
        ChainRunState.PREPARED, True, False, "needs your confirmation",
    )  # fmt: skip
    await it.its.redeem(YES)
    assert it.begun == [], "a digest is of a wallet of one's own"
    own = Work()
    await own.its.redeem(replace(YES, digest=""))
    assert own.begun == [], "an own wallet signs what was shown alone"
    await it.its.redeem(replace(YES, digest=""))
    (body,) = it.begun
    assert (body.confirmed, body.run.managed) == (True, True)


async def test_a_run_is_given_up_only_where_its_nonce_is_lost() -> None:
    it = Work(stored(1, "m1", CONFIRM))
    no = ("warn", "not abandoned: its nonce can still be used")
    it.line.at = replace(it.line.at, nonce=6)
    async with it.running():
        await it.its.abandon(AbandonRun(KEY))
        await it.its.abandon(AbandonRun("m9:no"))
        assert it.on.words == [no, no]
        it.line.at = replace(it.line.at, nonce=5)
        await it.later(2.0)
        await it.its.abandon(AbandonRun(KEY))
        assert it.run().state is ChainRunState.FAILED
        # Its place is free for another run.
        await it.later(2.0)
        await it.its.redeem_all(RedeemAll((KEY,)))
        assert len(it.begun) == 1


@pytest.mark.parametrize("step", [PREPARED, REQUEST])
async def test_a_run_that_was_set_aside_goes_on_by_a_persons_word(step: str) -> None:
    it = Work(stored(1, "m1", step, begun=2))
    async with it.running():
        assert it.run().words == "set aside: the program ended 2 times in this step"
        assert (it.on.asked, it.line.runs.written) == ([], [])
        await it.its.prepare(PREPARE)
        body, _ = it.line.runs.bodies[0]
        assert (load(body).begun, it.begun) == (0, [])
        await it.later(0.0)
        assert [one.endpoint for one in it.on.asked] == ([REDEEM] if step == REQUEST else [])


# -- the standing yes ---------------------------------------------------------------------------


@pytest.mark.parametrize("on", [True, False])
async def test_redeeming_by_itself_is_on_once_the_service_agreed_and_off_at_once(
    *, on: bool
) -> None:
    it = Work(auto=not on)
    order, since = SetAutoRedeem(on=on), f"{NOW:.0f}" if on else ""
    it.on.answers[PATCH_AGENT] = [SILENT, AgentSettingsBody(auto_redeem_enabled=on, name="a")]
    await it.its.set_auto(order)
    assert it.memory.kept == ([] if on else [(ALLOWED, "")])
    assert it.on.words == [("bad", f"{order.describe()}: {SILENT}")]
    assert not it.on.state.redemption.auto.is_on
    it.on.facts.clear()
    await it.its.set_auto(order)
    body = AgentSettingsPatch(auto_redeem_enabled=on)
    assert it.on.asked == [Asked(PATCH_AGENT, body=body)] * 2
    assert it.memory.kept[-1] == (ALLOWED, since)
    allowing = [PreferenceSet(ALLOWED, since), AutoChanged(allowed=on, paused="")]
    assert it.on.facts == [*allowing, AutoChanged(on_service=on)]


async def test_a_desk_that_only_reads_changes_no_standing_yes() -> None:
    it = Work()
    it.read_only()
    await it.its.set_auto(SetAutoRedeem(on=True))
    await it.its.set_auto(SetAutoRedeem(on=False))
    assert (it.on.asked, it.memory.kept) == ([], [])
    assert it.on.words == [("warn", "this desk is read-only")] * 2


# -- by itself ----------------------------------------------------------------------------------


async def test_all_that_is_due_begins_by_itself_confirmed_and_once() -> None:
    it = Work(queue=(ROW, replace(ROW, market_id="m2")), auto=True)
    async with it.running():
        assert [(one.run.market_id, one.confirmed) for one in it.begun] == [
            ("m1", True), ("m2", True),
        ]  # fmt: skip
        assert {one.run.by_itself for one in it.begun} == {True}
        # No answer: both rest, and are tried again after ever longer pauses.
        await it.later(CYCLE_S)
        assert len(it.begun) == 2
        await it.later(AGAIN_S)
        assert len(it.begun) == 4
        await it.later(AGAIN_S + CYCLE_S)
        assert len(it.begun) == 4
        await it.later(AGAIN_S)
        assert len(it.begun) == 6


@pytest.mark.parametrize("change", ["off", "managed", "read only", "closing", "other", "unseen"])
async def test_nothing_begins_by_itself_where_it_may_not(change: str) -> None:
    ownership = Ownership.MANAGED if change == "managed" else Ownership.EXTERNAL
    it = Work(executes=change != "other", auto=change != "off", ownership=ownership)
    if change == "read only":
        it.read_only()
    if change == "closing":
        it.its.close()
    if change == "unseen":
        seen = {one: when for one, when in it.on.state.seen.items() if one != Topic.REDEMPTIONS}
        it.on.state = replace(it.on.state, seen=seen)
    async with it.running():
        await it.later(3 * CYCLE_S)
    assert it.begun == []
    assert it.on.words == []


async def test_a_pause_is_told_once_and_so_is_its_end() -> None:
    it = Work(auto=True)
    it.line.balance_wei = 0
    async with it.running():
        await it.later(CYCLE_S)
        why = "gas too low: 0.0000 POL, a redemption needs 0.0200"
        text = f"winning positions to redeem, auto-redeem paused: {why}"
        assert it.on.told == [Noticed("bad", text, NoticeKind.ALERT)]
        assert (it.begun, it.on.state.redemption.auto.paused) == ([], why)
        it.line.balance_wei = 10**18
        await it.later(CYCLE_S)
        resumed = Noticed("good", "auto-redeem resumed", NoticeKind.ALERT)
        assert it.on.told[1] == resumed
        assert len(it.begun) == 1


async def test_a_pause_ends_where_nothing_is_left_to_redeem() -> None:
    it = Work(auto=True)
    it.lock()
    async with it.running():
        assert "locked" in it.on.state.redemption.auto.paused
        view = replace(it.on.state.redemption, rows=())
        it.on.state = replace(it.on.state, redemption=view)
        await it.later(CYCLE_S)
        assert it.on.state.redemption.auto.paused == ""
    assert it.line.asked == [], "a locked wallet needs no reading of the chain"


async def test_with_the_key_of_another_wallet_nothing_begins_by_itself() -> None:
    it = Work(auto=True, address="0x" + "77" * 20)
    async with it.running():
        assert "not the key of the linked wallet" in it.on.state.redemption.auto.paused
    assert (it.begun, it.line.asked) == ([], [])


async def test_a_cycle_that_fails_is_followed_by_the_next() -> None:
    it = Work(auto=True, line=Deaf())
    async with it.running():
        assert it.begun == []
        await it.later(CYCLE_S)
        assert len(it.begun) == 1


# -- the journal --------------------------------------------------------------------------------


async def test_runs_of_the_journal_go_on_and_what_was_not_confirmed_is_dropped() -> None:
    it = Work(
        stored(1, "m1", REPORT),
        stored(2, "m2", PREPARED, confirmed=False),
        replace(stored(3, "m3", REPORT), body="{}"),
        replace(stored(4, "m4", REPORT), settled_at=NOW),
        replace(stored(5, "m5", REPORT), subject="approve:x"),
        stored(6, "m6", REPORT),
        stored(7, "m1", REPORT),
        auto=True,
    )
    async with it.running():
        assert it.reported() == ["m1", "m6"]
        assert it.line.runs.written[0] == ("settle", 2, REFUSED)
        dropped = "the program ended before confirmation; nothing signed"
        assert it.run("m2:no").words == dropped
        assert it.on.state.redemption.run("m4:no") is not None
        assert it.on.state.redemption.executes
        # A look finds nothing to take up a second time.
        it.its.wake()
        await it.later(0.0)
        assert it.reported() == ["m1", "m6"]


async def test_what_cannot_be_released_is_not_carried_out_either() -> None:
    it = Work(stored(1, "m1", CHECK, confirmed=False), stored(2, "m2", REPORT))
    it.line.runs.problem = StorageError("disk full")
    async with it.running():
        await it.later(CYCLE_S)
        assert it.reported() == ["m2", "m2"]
        assert [one for one in it.on.asked if one.endpoint is REDEEM] == []


class Unreadable(ChainLine):
    """A journal that the disk gives only at the third time."""

    reads = 0

    def __init__(self) -> None:
        super().__init__()
        self.runs.unsettled = self.unsettled  # type: ignore[method-assign]

    def unsettled(self) -> list[ChainRun]:
        self.reads += 1
        if self.reads < 3:
            raise StorageError("disk gone")
        return self.runs.rows


async def test_a_journal_that_cannot_be_read_is_read_by_a_later_cycle() -> None:
    line = Unreadable()
    it = Work(stored(1, "m1", REPORT), line=line, auto=True)
    async with it.running():
        assert (it.reported(), it.begun) == ([], [])
        await it.later(2 * CYCLE_S)
        assert (set(it.reported()), it.begun) == ({"m1"}, [])
        await it.later(CYCLE_S)
        assert line.reads == 3


async def test_a_desk_that_signs_from_now_on_reads_the_journal_again() -> None:
    it = Work(stored(1, "m1", REPORT), executes=False)
    async with it.running():
        await it.later(3 * CYCLE_S)
        assert it.reported() == []
        it.is_signer = True
        it.line.runs.rows = [stored(2, "m2", REPORT)]
        it.its.take_up()
        await it.later(0.0)
        # What the last holder settled is gone, what it began goes on.
        assert it.reported() == ["m2"]


@pytest.mark.parametrize(
    ("step", "is_busy"), [(REPORT, False), (SERVED, False), (REQUEST, True)]
)  # fmt: skip
async def test_closing_waits_for_a_step_that_cannot_be_repeated(
    step: str, *, is_busy: bool
) -> None:
    it = Work(stored(1, "m1", step))
    held = asyncio.Event()

    async def call(*_: object, **__: object) -> None:
        await held.wait()

    it.on.ports = replace(it.on.ports, client=cast("Any", type("Held", (), {"call": call})()))
    its = Redemptions(it.on.ports, cast("Any", it.line), cast("Any", it.memory), executes=bool)
    assert not its.is_busy
    it.its = Redemptions(
        it.on.ports, cast("Any", it.line), cast("Any", it.memory), executes=lambda: True
    )
    async with it.running():
        assert it.its.is_busy is is_busy


async def test_a_run_that_lasts_a_whole_cycle_is_no_death_of_the_program() -> None:
    it = Work(stored(1, "m1", REPORT))
    async with it.running():
        await it.later(CYCLE_S - 1)
        assert [load(body).begun for body, _ in it.line.runs.bodies] == [1]
        await it.later(1 + CYCLE_S)
        assert load(it.line.runs.bodies[-1][0]).begun == 0


async def test_a_program_that_ends_in_order_leaves_no_step_as_its_death() -> None:
    it = Work(stored(1, "m1", REPORT), stored(2, "m2", REPORT, begun=2))
    async with it.running():
        await it.its.rest()
        assert [number for _, number, _ in it.line.runs.written] == [1, 1]
        assert load(it.line.runs.bodies[-1][0]).begun == 0
        it.line.runs.problem = StorageError("disk full")
        await it.its.rest()

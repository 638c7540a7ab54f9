"""Which redemptions begin, wait or are refused, by hand and by themselves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.chain_line import ChainLine
from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.chain.run_state import TransactionRunState, dump, load
from service_tui.desk.chain.transaction_run import BROADCAST, CHECK, PREPARED, REQUEST, SIGN
from service_tui.desk.changes import changed
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
    REVERTS_MAX,
    Redemptions,
)
from service_tui.desk.redemption.redemption_run import RedemptionRun
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
from service_tui.desk.slices.wallet import KeyState, Ownership
from service_tui.signing.errors import SigningError
from service_tui.storage.chain_runs import ChainRun
from service_tui.storage.errors import ClaimedError, StorageError
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.agents import AgentSettingsPatch
from service_tui.wire.endpoints.public import PATCH_AGENT

KEY = "m1:no"
OWN = "0xABC"
ROW = RedemptionRow(
    "m1", "Will it?", Side.NO, Venue.EVM, Stage.READY, Micros(9 * ONE), Micros(4 * ONE),
    Micros(8 * ONE),
)  # fmt: skip
VIEW = RunView("m1", Side.NO, Venue.EVM, "Will it?", ChainRunState.RUNNING)


class Work:
    """Redemptions on a desk without a service, a chain or a disk."""

    def __init__(self, *, executes: bool = True, row: RedemptionRow | None = ROW) -> None:
        state = sample_state(8)
        wallet = replace(
            state.wallet, ownership=Ownership.EXTERNAL, address=OWN.lower(),
            gas_needed=Micros(20_000),
        )  # fmt: skip
        auto = AutoView(on_service=True, allowed=True)
        rows = () if row is None else (row,)
        view = RedemptionView(rows, auto=auto, executes=executes)
        self.on = Offline(replace(state, wallet=wallet, redemption=view))
        self.line = ChainLine()
        self.key_state, self.signer = KeyState.UNLOCKED, SimpleNamespace(address=OWN)
        self.line.vault = self
        self.preferred: list[tuple[str, str]] = []
        self.its = Redemptions(
            self.on.ports,
            cast("Any", self.line),
            cast("Any", SimpleNamespace(prefer=self._prefer)),
            executes=lambda: executes,
        )
        self.its._unread = False

    def view(self) -> SimpleNamespace:
        return SimpleNamespace(state=self.key_state)

    async def _prefer(self, name: str, value: str) -> None:
        self.preferred.append((name, value))

    def set(self, **other: Any) -> None:
        """Change the redemptions as they are shown."""
        self.on.state = replace(
            self.on.state, redemption=replace(self.on.state.redemption, **other)
        )

    def wallet(self, **other: Any) -> None:
        self.on.state = replace(self.on.state, wallet=replace(self.on.state.wallet, **other))

    def turn(self, step: str, **other: Any) -> RedemptionRun:
        """A run that is there already."""
        body = TransactionRunState(VIEW, **other)
        row = ChainRun(
            subject=f"redeem:{KEY}", wallet=OWN, opened_at=NOW, changed_at=NOW, step=step, body="",
            number=4,
        )  # fmt: skip
        run = RedemptionRun(self.on.ports, cast("Any", self.line), row, body)
        self.its._turns[KEY] = run
        return run

    @property
    def begun(self) -> list[TransactionRunState]:
        return [load(one.body) for one in self.line.runs.rows]


# -- by hand ------------------------------------------------------------------------------------


def reason(it: Work) -> str:
    refusal = it.its._why_not(KEY)
    return "" if refusal is None else refusal.text


def test_a_row_that_is_ready_is_redeemed() -> None:
    assert reason(Work()) == ""


def test_what_stands_in_the_way_is_named() -> None:
    assert reason(Work(executes=False)) == HOLDER
    it = Work()
    it.on.state = replace(it.on.state, service=replace(it.on.state.service, read_only=True))
    assert reason(it) == HOLDER
    assert reason(Work(row=None)) == "position no longer in the queue"
    lost = reason(Work(row=replace(ROW, lost=True)))
    assert lost.startswith("position lost")
    it = Work()
    it.wallet(ownership=None)
    assert reason(it) == "wallet not loaded yet"
    it = Work()
    it.its._busy.add(KEY)
    assert reason(it) == "already in progress"


@pytest.mark.parametrize(
    ("step", "begun", "is_held"),
    [(REQUEST, 0, True), (SIGN, 1, True), (PREPARED, 0, False), (SIGN, 2, False)],
)
def test_a_run_that_waits_for_the_person_or_is_set_aside_holds_nothing(
    step: str, begun: int, *, is_held: bool
) -> None:
    it = Work()
    it.turn(step, begun=begun)
    assert reason(it) == ("already in progress" if is_held else "")


async def test_several_are_begun_each_confirmed_and_written_down() -> None:
    other = replace(ROW, market_id="m2", amount=Micros(2 * ONE))
    lost = replace(ROW, market_id="m3", lost=True)
    it = Work()
    it.set(rows=(ROW, other, lost))
    await it.its.redeem_all(RedeemAll((KEY, "m2:no", "m3:no")))
    assert it.line.runs.written == [
        ("open", f"redeem:{KEY}", REQUEST),
        ("open", "redeem:m2:no", REQUEST),
    ]
    first, second = it.begun
    assert (first.confirmed, first.run) == (
        True,
        RunView(
            "m1",
            Side.NO,
            Venue.EVM,
            "Will it?",
            ChainRunState.RUNNING,
            amount=Micros(8 * ONE),
            words="checking",
            opened_at=NOW,
        ),
    )
    assert second.run.amount == 2 * ONE
    assert {one.wallet for one in it.line.runs.rows} == {OWN.lower()}
    assert set(it.its._turns) == {KEY, "m2:no"}
    assert it.its._awake.is_set()
    run = it.on.state.redemption.run("m3:no")
    assert run is not None
    assert (run.state, run.reason) == (ChainRunState.REFUSED, RunProblem.LOST)
    assert (run.settled_at, run.words, run.by_itself) == (
        NOW,
        "position lost: it pays nothing, and nothing is burned",
        False,
    )
    assert it.on.words == [("warn", f"not redeemed, Will it?: {run.words}")]


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (ClaimedError("taken"), ("warn", "Will it?: already in progress")),
        (StorageError("disk full"), ("bad", "disk full; nothing redeemed")),
    ],
)
async def test_what_cannot_be_written_down_is_not_begun(
    problem: Exception, words: tuple[str, str]
) -> None:
    it = Work()
    it.line.runs.problem = problem
    await it.its.redeem_all(RedeemAll((KEY,)))
    assert (it.its._turns, it.on.words) == ({}, [words])
    assert it.on.state.redemption.runs == ()


async def test_a_refusal_leaves_the_run_that_is_under_way_as_it_is_shown() -> None:
    it = Work()
    it.its._busy.add(KEY)
    it.set(runs=(VIEW,))
    await it.its.redeem_all(RedeemAll((KEY,)))
    assert it.on.state.redemption.runs == (VIEW,)
    assert it.on.words == [("warn", "not redeemed, Will it?: already in progress")]


REDEEM = Redeem("m1", Side.NO, Venue.EVM, digest="d1")


async def test_a_yes_needs_the_open_key_and_the_call_that_was_shown() -> None:
    it = Work()
    it.key_state = KeyState.LOCKED
    await it.its.redeem(REDEEM)
    locked = "wallet locked: unlock it with its passphrase, then confirm again"
    assert it.on.words == [("warn", locked)]
    it.key_state = KeyState.UNLOCKED
    await it.its.redeem(REDEEM)
    differs = "the transaction differs from the one shown; nothing signed: review it again"
    assert it.on.words[1:] == [("warn", differs)]
    assert not it.its._awake.is_set()
    asked: list[str] = []
    run = it.turn(PREPARED)

    async def confirm(digest: str) -> bool:
        asked.append(digest)
        return digest == "d1"

    run.confirm = confirm  # type: ignore[method-assign]
    await it.its.redeem(replace(REDEEM, digest="d2"))
    assert not it.its._awake.is_set()
    it.its._busy.add(KEY)
    await it.its.redeem(REDEEM)
    assert asked == ["d2"]
    it.its._busy.clear()
    await it.its.redeem(REDEEM)
    assert asked == ["d2", "d1"]
    assert it.its._awake.is_set()
    assert len(it.on.words) == 4


async def test_a_run_is_given_up_only_where_its_place_is_lost() -> None:
    it = Work()
    run = it.turn(BROADCAST)
    no = ("warn", "not abandoned: its nonce can still be used")
    await it.its.abandon(AbandonRun(KEY))
    await it.its.abandon(AbandonRun("m9:no"))
    assert it.on.words == [no, no]
    assert set(it.its._turns) == {KEY}
    run.is_stuck = True
    await it.its.abandon(AbandonRun(KEY))
    assert it.its._turns == {}
    assert run.view.state is ChainRunState.FAILED


PREPARE = PrepareRedemption("m1", Side.NO, Venue.EVM)


async def test_a_redemption_is_prepared_without_the_persons_yes() -> None:
    it = Work()
    await it.its.prepare(PREPARE)
    (body,) = it.begun
    assert (body.confirmed, body.run.by_itself, body.run.managed) == (False, False, False)
    # Prepared once more it is checked anew, and the one before is let go.
    it.line.runs.rows.clear()
    before = it.turn(PREPARED)
    await it.its.prepare(PREPARE)
    assert (before.view.state, before.view.words) == (ChainRunState.REFUSED, "checking again")
    assert len(it.begun) == 1
    assert it.its._turns[KEY] is not before


async def test_what_the_service_signs_is_asked_for_after_the_yes_alone() -> None:
    it = Work()
    it.wallet(ownership=Ownership.MANAGED)
    await it.its.prepare(PREPARE)
    assert it.begun == []
    run = it.on.state.redemption.run(KEY)
    assert run is not None
    assert (run.state, run.managed, run.by_itself, run.words) == (
        ChainRunState.PREPARED,
        True,
        False,
        "needs your confirmation",
    )
    await it.its.redeem(replace(REDEEM, digest="d1"))
    assert it.begun == [], "a digest is of a wallet of one's own"
    await it.its.redeem(replace(REDEEM, digest=""))
    (body,) = it.begun
    assert (body.confirmed, body.run.managed) == (True, True)


async def test_an_own_wallet_is_never_redeemed_without_what_was_shown() -> None:
    it = Work()
    await it.its.redeem(replace(REDEEM, digest=""))
    assert it.begun == []


@pytest.mark.parametrize("step", [PREPARED, REQUEST])
async def test_a_run_that_was_set_aside_goes_on_by_a_persons_word(step: str) -> None:
    it = Work()
    run = it.turn(step, begun=2)
    await it.its.prepare(PREPARE)
    assert (run.is_aside, it.begun, it.its._awake.is_set()) == (False, [], True)


async def test_what_cannot_be_redeemed_is_not_prepared() -> None:
    for it in (Work(row=None), Work(row=replace(ROW, lost=True)), Work(executes=False)):
        await it.its.prepare(PREPARE)
        assert it.begun == []
        assert [tone for tone, _ in it.on.words] == ["warn"]


async def test_several_that_were_prepared_are_begun_anew() -> None:
    it = Work()
    before = it.turn(PREPARED)
    await it.its.redeem_all(RedeemAll((KEY,)))
    assert before.view.words == "restarted"
    assert it.its._turns[KEY] is not before


@pytest.mark.parametrize("on", [True, False])
async def test_a_desk_that_only_reads_changes_no_standing_yes(*, on: bool) -> None:
    it = Work()
    it.on.state = replace(it.on.state, service=replace(it.on.state.service, read_only=True))
    await it.its.set_auto(SetAutoRedeem(on=on))
    assert (it.on.asked, it.preferred) == ([], [])
    assert it.on.words == [("warn", "this desk is read-only")]


async def test_a_program_that_ends_in_order_leaves_no_step_as_its_death() -> None:
    it = Work()
    going = it.turn(BROADCAST, begun=1)
    aside = it.turn(BROADCAST, begun=2)
    it.its._turns = {"a": going, "b": aside}
    await it.its.rest()
    assert (going.body.begun, aside.body.begun) == (0, 2)
    it.line.runs.problem = StorageError("disk full")
    it.turn(BROADCAST, begun=1)
    await it.its.rest()


@pytest.mark.parametrize(
    ("state", "reason", "stays", "paused"),
    [
        (ChainRunState.DONE, None, False, ""),
        (ChainRunState.FAILED, RunProblem.REVERTED, False, ""),
        (ChainRunState.UNCONFIRMED, RunProblem.TIMEOUT, True, ""),
        (ChainRunState.REFUSED, RunProblem.NO_GAS, False, "gas too low: send some"),
    ],
)
async def test_a_run_that_is_over_is_forgotten_and_lack_of_gas_pauses_the_rest(
    state: ChainRunState, reason: RunProblem | None, paused: str, *, stays: bool
) -> None:
    it = Work()
    run = it.turn(BROADCAST)

    async def go() -> None:
        run.show(state=state, reason=reason, fix="send some")

    run.go = go  # type: ignore[method-assign]
    run.body = replace(run.body, run=replace(run.view, by_itself=True))
    it.its._busy.add(KEY)
    await it.its._go(run)
    assert (KEY in it.its._turns, it.its._busy) == (stays, set())
    assert it.on.state.redemption.auto.paused == paused


# -- the standing yes ---------------------------------------------------------------------------


@pytest.mark.parametrize("on", [True, False])
async def test_redeeming_by_itself_is_on_once_the_service_agreed_and_off_at_once(
    *, on: bool
) -> None:
    it = Work()
    it.set(auto=AutoView(on_service=not on, allowed=not on, paused="of before"))
    it.its._tried[KEY] = 3
    it.on.answers[PATCH_AGENT] = SimpleNamespace(auto_redeem_enabled=on)
    await it.its.set_auto(SetAutoRedeem(on=on))
    assert it.on.asked == [Asked(PATCH_AGENT, body=AgentSettingsPatch(auto_redeem_enabled=on))]
    since = f"{NOW:.0f}" if on else ""
    assert it.preferred == [(ALLOWED, since)]
    allowing = [PreferenceSet(ALLOWED, since), AutoChanged(allowed=on, paused="")]
    assert it.on.facts == [*allowing, AutoChanged(on_service=on)]
    assert (it.its._tried, it.its._awake.is_set()) == ({}, True)


@pytest.mark.parametrize("on", [True, False])
async def test_a_service_that_does_not_agree_leaves_it_off(*, on: bool) -> None:
    it = Work()
    error = UnreachableError("no connection", Called("PATCH", "/x"))
    it.on.answers[PATCH_AGENT] = error
    order = SetAutoRedeem(on=on)
    await it.its.set_auto(order)
    assert it.preferred == ([] if on else [(ALLOWED, "")])
    assert it.on.words == [("bad", f"{order.describe()}: {error}")]
    assert not it.its._awake.is_set()


# -- by itself ----------------------------------------------------------------------------------


def at(seconds: float) -> Timestamp:
    return Timestamp(NOW + seconds)


@pytest.mark.parametrize(
    ("run", "is_due"),
    [
        (None, True),
        (replace(VIEW, state=ChainRunState.PREPARED), True),
        (replace(VIEW, state=ChainRunState.DONE), False),
        (replace(VIEW, state=ChainRunState.REFUSED, reason=RunProblem.LOST), False),
        (replace(VIEW, state=ChainRunState.REFUSED, reason=RunProblem.ALREADY), False),
        (
            replace(
                VIEW,
                state=ChainRunState.REFUSED,
                reason=RunProblem.OUTSIDE_POLICY,
                again_at=at(-9),
            ),
            False,
        ),
        (replace(VIEW, state=ChainRunState.REFUSED, again_at=at(0)), True),
        (replace(VIEW, state=ChainRunState.REFUSED, again_at=at(1)), False),
        (replace(VIEW, state=ChainRunState.REFUSED, reason=RunProblem.LOCKED), True),
        (replace(VIEW, state=ChainRunState.REFUSED, reason=RunProblem.NO_GAS), True),
        (replace(VIEW, state=ChainRunState.REFUSED, reason=RunProblem.CHAIN), False),
    ],
)
def test_a_row_is_redeemed_by_itself_as_long_as_its_last_run_allows_it(
    run: RunView | None, *, is_due: bool
) -> None:
    it = Work()
    it.set(runs=() if run is None else (run,))
    assert it.its._is_due(ROW) is is_due
    it.its._turns[KEY] = cast("Any", object())
    assert it.its._is_due(ROW) is False


def test_nothing_is_due_before_the_queue_was_read() -> None:
    it = Work()
    seen = {topic: when for topic, when in it.on.state.seen.items() if topic != Topic.REDEMPTIONS}
    it.on.state = replace(it.on.state, seen=seen)
    assert it.its._is_due(ROW) is False


WEI = 10**12


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"signer": None}, "the wallet is locked: unlock it with its passphrase"),
        ({"signer": "0xDEF"}, "the unlocked key is not the key of the linked wallet"),
        ({"held": 20_000}, ""),
        ({"held": 19_999}, "gas too low: 0.0200 POL, a redemption needs 0.0200"),
        ({"held": 0, "needed": None}, "gas too low: 0.0000 POL, a redemption needs 0.0000"),
        ({"held": 1, "needed": None}, ""),
    ],
)
async def test_what_holds_redeeming_up_is_named(change: dict[str, Any], why: str) -> None:
    it = Work()
    if "signer" in change:
        name = change["signer"]
        it.signer = None if name is None else SimpleNamespace(address=name)  # type: ignore[assignment]
    it.line.balance_wei = change.get("held", 20_000) * WEI
    if "needed" in change:
        it.wallet(gas_needed=change["needed"])
    assert await it.its._held_up() == why
    if not why:
        assert it.line.asked == [("balance", OWN)]


def reverted(when: float, **other: Any) -> RunView:
    run = replace(
        VIEW,
        state=ChainRunState.FAILED,
        reason=RunProblem.REVERTED,
        steps=(StepView(Step.SIGNED, at(-9_000)), StepView(Step.BROADCAST, at(when))),
    )
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
async def test_reverts_in_a_row_are_counted_since_it_was_turned_on(
    runs: tuple[RunView, ...], count: int
) -> None:
    it = Work()
    it.set(runs=runs)
    it.on.state = replace(it.on.state, preferences={ALLOWED: f"{NOW - 100:.0f}"})
    assert it.its._reverts() == count
    why = f"{REVERTS_MAX} redemptions in a row reverted: turn auto-redeem on again"
    assert (await it.its._held_up() == why) is (count >= REVERTS_MAX)


async def test_what_is_due_begins_by_itself_confirmed() -> None:
    it = Work()
    await it.its._by_itself()
    (body,) = it.begun
    assert (body.confirmed, body.run.by_itself) == (True, True)
    assert it.line.runs.written == [("open", f"redeem:{KEY}", REQUEST)]
    await it.its._by_itself()
    assert len(it.begun) == 1
    # All that is due begins, and not the first alone.
    two = Work()
    two.set(rows=(ROW, replace(ROW, market_id="another")))
    await two.its._by_itself()
    assert [one.run.market_id for one in two.begun] == [ROW.market_id, "another"]


@pytest.mark.parametrize("change", ["off", "managed", "read only", "closing", "unread", "other"])
async def test_nothing_begins_by_itself_where_it_may_not(change: str) -> None:
    it = Work(executes=change != "other")
    it.set(auto=AutoView(on_service=True, allowed=change != "off", paused="no gas"))
    if change == "managed":
        it.wallet(ownership=Ownership.MANAGED)
    if change == "read only":
        it.on.state = replace(it.on.state, service=replace(it.on.state.service, read_only=True))
    if change == "closing":
        it.its.close()
    it.its._unread = change == "unread"
    await it.its._by_itself()
    assert it.begun == []
    assert it.on.state.redemption.auto.paused == ""


async def test_a_pause_is_told_once_and_so_is_its_end() -> None:
    it = Work()
    it.line.balance_wei = 0
    for _ in range(2):
        await it.its._by_itself()
    why = "gas too low: 0.0000 POL, a redemption needs 0.0200"
    paused = Noticed(
        "bad", f"winning positions to redeem, auto-redeem paused: {why}", NoticeKind.ALERT
    )
    assert it.on.told == [paused]
    assert (it.begun, it.on.state.redemption.auto.paused) == ([], why)
    it.line.balance_wei = 10**18
    await it.its._by_itself()
    assert it.on.told[1:] == [Noticed("good", "auto-redeem resumed", NoticeKind.ALERT)]
    assert len(it.begun) == 1


async def test_a_pause_ends_where_nothing_is_left_to_redeem() -> None:
    it = Work()
    it.set(auto=AutoView(True, True, "no gas"), runs=(replace(VIEW, again_at=at(9)),))  # noqa: FBT003
    it.set(runs=(replace(VIEW, state=ChainRunState.REFUSED, again_at=at(9)),))
    await it.its._by_itself()
    assert it.on.state.redemption.auto.paused == "no gas"
    it.set(rows=())
    await it.its._by_itself()
    assert it.on.state.redemption.auto.paused == ""


def test_what_was_refused_is_tried_again_after_ever_longer_pauses() -> None:
    it = Work()
    refused = replace(VIEW, state=ChainRunState.REFUSED, reason=RunProblem.SERVICE)

    def pause(run: RunView) -> float | None:
        it.on.facts.clear()
        it.its._count(run)
        shown = [row for fact in it.on.facts if (row := changed(fact, RunView)) is not None]
        if not shown:
            return None
        assert shown == [replace(run, again_at=shown[0].again_at)]
        return (shown[0].again_at or 0.0) - NOW

    assert [pause(refused) for _ in range(6)] == [
        AGAIN_S, 2 * AGAIN_S, 4 * AGAIN_S, 8 * AGAIN_S, 16 * AGAIN_S, AGAIN_MAX_S,
    ]  # fmt: skip
    assert pause(replace(refused, reason=RunProblem.LOST)) is None
    assert pause(replace(refused, state=ChainRunState.DONE)) is None
    for problem in (RunProblem.CHAIN, RunProblem.REVERTED):
        assert pause(replace(refused, reason=problem)) is not None
        it.its._count(replace(refused, state=ChainRunState.DONE))
    assert pause(refused) == AGAIN_S


# -- which run goes on --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "change", "may"),
    [
        (PREPARED, "", False),
        (BROADCAST, "", True),
        (BROADCAST, "no row", True),
        (BROADCAST, "aside", False),
        (REQUEST, "", True),
        (REQUEST, "no key", True),
        (REQUEST, "no row", False),
        (CHECK, "no row", False),
        (REQUEST, "managed", True),
        (SIGN, "", True),
        (SIGN, "no key", False),
        (SIGN, "other key", False),
        (SIGN, "no row", False),
    ],
)
def test_a_run_goes_on_where_what_it_needs_is_there(step: str, change: str, *, may: bool) -> None:
    it = Work(row=None if change in {"no row", "managed"} else ROW)
    run = it.turn(step, begun=2 if change == "aside" else 0)
    run.show(managed=change == "managed")
    if change == "no key":
        it.signer = None  # type: ignore[assignment]
    if change == "other key":
        it.signer = SimpleNamespace(address="0xDEF")
    assert it.its._may_go_on(run) is may
    assert it.its._idle() == ([run] if may else [])
    it.its._busy.add(KEY)
    assert it.its._idle() == []
    assert it.its.is_busy is (step in {REQUEST, CHECK, SIGN})


@pytest.mark.parametrize("change", ["closing", "unread", "other"])
def test_no_run_goes_on_where_this_desk_does_not_sign(change: str) -> None:
    it = Work(executes=change != "other")
    it.turn(BROADCAST)
    it.its._unread = change == "unread"
    if change == "closing":
        it.its.close()
    assert it.its._idle() == []


async def test_the_journal_is_read_again_by_a_desk_that_signs_from_now_on() -> None:
    it = Work()
    going, resting = it.turn(SIGN), it.turn(BROADCAST)
    it.its._turns = {KEY: going, "m2:no": resting}
    it.its._busy.add(KEY)
    it.its.take_up()
    assert (it.its._turns, it.its._unread, it.its._awake.is_set()) == ({KEY: going}, True, True)


def stored(number: int, market: str, step: str, *, confirmed: bool = True) -> ChainRun:
    view = replace(VIEW, market_id=market, words="as written")
    return ChainRun(
        subject=f"redeem:{market}:no", wallet=OWN, opened_at=NOW, changed_at=NOW, step=step,
        body=dump(TransactionRunState(view, confirmed=confirmed)), number=number,
    )  # fmt: skip


async def test_runs_of_the_journal_go_on_and_what_was_not_confirmed_is_dropped() -> None:
    it = Work()
    it.on.state = replace(it.on.state, preferences={ALLOWED: "5"})
    settled = replace(stored(4, "m4", BROADCAST), settled_at=NOW)
    broken = replace(stored(5, "m5", BROADCAST), body="{}")
    foreign = replace(stored(6, "m6", BROADCAST), subject="approve:x")
    it.line.runs.rows = [
        stored(1, "m1", BROADCAST),
        stored(2, "m2", PREPARED, confirmed=False),
        stored(3, "m3", REQUEST),
        settled,
        broken,
        foreign,
    ]
    await it.its._try_to_read()
    assert {key: run.number for key, run in it.its._turns.items()} == {"m1:no": 1, "m3:no": 3}
    assert it.line.runs.written == [("settle", 2, "refused")]
    dropped = it.on.state.redemption.run("m2:no")
    assert dropped is not None
    assert dropped.words == "the program ended before confirmation; nothing signed"
    assert it.on.state.redemption.run("m4:no") is not None
    assert it.on.facts[-1] == AutoChanged(allowed=True, executes=True)
    assert all(run._was_left for run in it.its._turns.values())
    assert it.its._unread is False


# -- at work ------------------------------------------------------------------------------------


class AtWork(Work):
    """Redemptions that run, with every step of a run held until the test lets it end."""

    def __init__(self, *rows: ChainRun, executes: bool = True) -> None:
        super().__init__(executes=executes)
        self.set(auto=AutoView())
        self.line.runs.rows = list(rows)
        self.went: list[str] = []
        self.free = asyncio.Event()

    @asynccontextmanager
    async def running(self, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
        async def go(run: RedemptionRun) -> None:
            self.went.append(run.view.key)
            await self.free.wait()

        monkeypatch.setattr(RedemptionRun, "go", go)
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.its.run())
            await self.on.clock.advance(0.0)
            yield
            task.cancel()


@pytest.mark.parametrize(
    ("busy", "step", "is_busy"),
    [
        ({KEY}, REQUEST, True), ({KEY}, CHECK, True), ({KEY}, SIGN, True),
        ({KEY}, BROADCAST, False), (set(), SIGN, False),
    ],
)  # fmt: skip
def test_closing_waits_for_a_step_that_is_taken_and_cannot_be_repeated(
    busy: set[str], step: str, *, is_busy: bool
) -> None:
    it = Work()
    waiting, taken = it.turn(BROADCAST), it.turn(step)
    it.its._turns = {"m0:no": waiting, KEY: taken}
    it.its._busy = {*busy, "m0:no"}
    assert it.its.is_busy is is_busy


async def test_the_runs_of_the_journal_are_taken_up_each_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = AtWork(stored(1, "m1", BROADCAST), stored(2, "m2", BROADCAST))
    async with it.running(monkeypatch):
        assert (it.went, it.its._busy) == (["m1:no", "m2:no"], {"m1:no", "m2:no"})
        it.its.wake()
        await it.on.clock.advance(CYCLE_S)
        assert it.went == ["m1:no", "m2:no"]
        it.free.set()
        await it.on.clock.advance(0.0)
        assert it.its._busy == set()
        # Neither has come to its end: the next look finds both again.
        await it.on.clock.advance(CYCLE_S)
        assert it.went == ["m1:no", "m2:no", "m1:no", "m2:no"]


async def test_nothing_goes_on_before_the_journal_was_read() -> None:
    it = Work()
    fresh = Redemptions(it.on.ports, cast("Any", it.line), cast("Any", None), executes=lambda: True)
    fresh._turns = {KEY: it.turn(BROADCAST)}
    assert (fresh._idle(), len(it.its._idle())) == ([], 1)
    fresh.wake()
    assert fresh._awake.is_set()


async def test_a_desk_that_does_not_sign_takes_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    it = AtWork(stored(1, "m1", BROADCAST), executes=False)
    async with it.running(monkeypatch):
        await it.on.clock.advance(3 * CYCLE_S)
        assert (it.went, set(it.its._turns)) == ([], {"m1:no"})


async def test_a_journal_that_cannot_be_read_is_read_by_a_later_cycle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = AtWork(stored(1, "m1", BROADCAST))
    reads: list[str] = []

    def unsettled() -> list[ChainRun]:
        reads.append("read")
        if len(reads) < 3:
            raise StorageError("disk gone")
        return it.line.runs.rows

    it.line.runs.unsettled = unsettled  # type: ignore[method-assign]
    async with it.running(monkeypatch):
        assert it.its._unread
        await it.on.clock.advance(2 * CYCLE_S)
        assert (it.went, it.its._unread) == (["m1:no"], False)
        await it.on.clock.advance(CYCLE_S)
        assert len(reads) == 3


async def test_a_desk_that_signs_from_now_on_reads_the_journal_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = AtWork()
    async with it.running(monkeypatch):
        it.line.runs.rows = [stored(1, "m1", BROADCAST)]
        it.its.take_up()
        await it.on.clock.advance(0.0)
        assert it.went == ["m1:no"]


async def test_a_run_that_lasts_a_whole_cycle_is_no_death_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = load(stored(1, "m1", BROADCAST).body)
    row = replace(stored(1, "m1", BROADCAST), body=dump(replace(begun, begun=1)))
    it = AtWork(row)
    async with it.running(monkeypatch):
        (run,) = it.its._turns.values()
        await it.on.clock.advance(CYCLE_S - 1.0)
        assert run.body.begun == 1
        await it.on.clock.advance(1.0 + CYCLE_S)
        assert run.body.begun == 0


@pytest.mark.parametrize(
    "problem",
    [
        UnreachableError("silent", Called("POST", "/rpc")),
        StorageError("disk full"),
        SigningError("no answer of the chain"),
    ],
)
async def test_a_cycle_that_fails_is_followed_by_the_next(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    it = AtWork()
    looks: list[float] = []

    async def by_itself() -> None:
        looks.append(it.on.clock.now() - NOW)
        if len(looks) == 1:
            raise problem

    it.its._by_itself = by_itself  # type: ignore[method-assign]
    async with it.running(monkeypatch):
        await it.on.clock.advance(2 * CYCLE_S)
    assert looks == [0.0, CYCLE_S, 2 * CYCLE_S]


async def test_a_row_has_one_run_however_the_journal_lists_it() -> None:
    """What is unsettled is among the recent ones too, and a later row of one position is not it."""
    it = Work()
    it.line.runs.rows = [stored(7, "m1", BROADCAST), stored(3, "m1", BROADCAST)]
    await it.its._try_to_read()
    assert {key: run.number for key, run in it.its._turns.items()} == {KEY: 3}


async def test_one_that_was_damaged_hides_none_after_it() -> None:
    it = Work()
    it.line.runs.rows = [
        replace(stored(1, "m1", BROADCAST), subject="approve:x"),
        replace(stored(2, "m2", BROADCAST), body="{}"),
        stored(3, "m3", BROADCAST),
    ]
    await it.its._try_to_read()
    assert set(it.its._turns) == {"m3:no"}


async def test_what_cannot_be_let_go_is_not_carried_out_either() -> None:
    it = Work()
    it.line.runs.rows = [stored(1, "m1", CHECK, confirmed=False), stored(2, "m2", BROADCAST)]
    it.line.runs.problem = StorageError("disk full")
    await it.its._try_to_read()
    assert set(it.its._turns) == {"m2:no"}
    assert it.its._unread is False


async def test_the_least_gas_that_is_named_is_above_nothing() -> None:
    it = Work()
    it.wallet(gas_needed=None)
    it.line.balance_wei = 0
    assert "a redemption needs 0.0000" in await it.its._held_up()
    it.line.balance_wei = 10**12
    assert await it.its._held_up() == ""


async def test_an_end_forgets_its_own_run_alone_and_one_by_hand_pauses_nothing() -> None:
    it = Work()
    newer = it.turn(SIGN)
    run = it.turn(REQUEST)

    async def go() -> None:
        run.show(state=ChainRunState.REFUSED, reason=RunProblem.NO_GAS, by_itself=False)
        it.its._turns[KEY] = newer

    run.go = go  # type: ignore[method-assign]
    it.its._busy.add(KEY)
    await it.its._go(run)
    assert it.its._turns == {KEY: newer}
    assert it.its._busy == set()
    assert it.on.state.redemption.auto.paused == ""
    run.show(by_itself=True)

    async def again() -> None:
        """It has ended already."""

    run.go = again  # type: ignore[method-assign]
    await it.its._go(run)
    assert it.on.state.redemption.auto.paused.startswith("gas too low")

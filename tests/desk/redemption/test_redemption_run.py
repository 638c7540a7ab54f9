"""What a redemption asks, checks and reports, without a chain."""

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from kit.desk.chain_line import ChainLine
from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import (
    Called,
    NotFoundError,
    OutcomeUnknownError,
    RefusalReason,
    UnreachableError,
)
from service_tui.desk.chain.gateway import Place
from service_tui.desk.chain.run_state import TransactionRunState
from service_tui.desk.chain.transaction_run import (
    CHECK,
    DONE,
    PREPARED,
    REFUSED,
    REPORT,
    REQUEST,
    SERVED,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.redemption.redemption_run import (
    AGAIN_MAX_S,
    AGAIN_S,
    POL_PRICE_USUAL,
    RedemptionRun,
    own_nonce,
    priced,
    redemption_of,
)
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.redemption import (
    CONFIRM_WAIT_S,
    CallView,
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
from service_tui.desk.trading.live_orders import token_of
from service_tui.signing.calls import RedeemNegRisk
from service_tui.signing.chain import Receipt
from service_tui.signing.errors import NotRedeemableError, Obstacle, PolicyRefusedError, Rule
from service_tui.signing.policy import Redemption, SignableCall, SigningPolicy, Unsigned
from service_tui.signing.transactions import Transaction
from service_tui.storage.chain_runs import ChainRun
from service_tui.storage.kept_tokens import KeptToken
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.chain import UnsignedTxBody
from service_tui.wire.endpoints.wallet import REDEEM, REPORT_REDEMPTION
from service_tui.wire.redemption import RedeemBody, RedeemRequest, ReportBody, ReportRequest

CALLED = Called("POST", "/x")
SILENT = UnreachableError("no connection", CALLED)
CONDITION = "0x" + "1f" * 32
HASH = "0x" + "2a" * 32
ROW = RedemptionRow(
    "m1", "Will it?", Side.NO, Venue.EVM, Stage.READY, Micros(9 * ONE), Micros(4 * ONE),
    Micros(8 * ONE), condition_id=CONDITION, token_id="77", neg_risk=True,  # noqa: S106
)  # fmt: skip
KEPT = KeptToken(
    market_id="m1", side="no", venue="evm_venue", wallet="0xwallet", token=ROW.token_id,
    condition_id=CONDITION, neg_risk=True, at=NOW, bought=True,
)  # fmt: skip
UNSIGNED = UnsignedTxBody.model_construct(
    to="0xto", data="0xdata", sender="0xfrom", gas=90, chain_id=137, value=1
)
CALL = CallView(
    "d", "c", "0xto", "f", (), chain_id=137, nonce=5, gas=1, fee_gwei=1.0, fee_max=Micros(2 * ONE)
)


def made(
    step: str = REQUEST,
    line: ChainLine | None = None,
    row: RedemptionRow | None = ROW,
    **other: Any,
) -> tuple[RedemptionRun, Offline, ChainLine]:
    state = sample_state(8)
    rows = () if row is None else (row,)
    on, chain = Offline(replace(state, redemption=RedemptionView(rows))), line or ChainLine()
    view = RunView(
        "m1", Side.NO, Venue.EVM, "Will it?", ChainRunState.RUNNING, amount=Micros(3 * ONE), **other
    )
    body = TransactionRunState(view, confirmed=True)
    stored = ChainRun(
        subject="redeem:m1:no", wallet="0xWALLET", opened_at=NOW, changed_at=NOW, step=step,
        body="", number=7,
    )  # fmt: skip
    return RedemptionRun(on.ports, cast("Any", chain), stored, body), on, chain


def answered(**other: Any) -> RedeemBody:
    given = {"success": True, "tx_hash": None, "unsigned_tx": UNSIGNED, "payout": 8.25, **other}
    return RedeemBody.model_construct(**given)


# -- asking -------------------------------------------------------------------------------------


async def test_what_is_to_be_signed_is_asked_for_the_side_that_won() -> None:
    run, on, line = made()
    on.answers[REDEEM] = answered()
    await run.go()
    assert on.asked == [Asked(REDEEM, body=RedeemRequest(market_id="m1", side=Side.NO))]
    assert run.view.amount == 8_250_000
    assert run.view.steps == (StepView(Step.REQUESTED, NOW),)
    assert line.runs.written[0] == ("move", 7, CHECK)
    # What came is checked next, and is no call that anybody would sign.
    assert (run.step, run.view.reason) == (REFUSED, RunProblem.OUTSIDE_POLICY)


async def test_a_payout_that_is_not_named_is_the_one_of_the_queue() -> None:
    run, on, _ = made()
    on.answers[REDEEM] = answered(payout=0.0)
    await run.go()
    assert run.view.amount == 3 * ONE


@pytest.mark.parametrize("managed", [True, False])
async def test_a_redemption_that_the_service_signs_is_followed_by_its_hash(
    *, managed: bool
) -> None:
    run, on, _ = made(managed=managed)
    on.answers[REDEEM] = answered(tx_hash="0xserved", unsigned_tx=UNSIGNED if managed else None)
    await going(run, on, 1)
    assert (run.step, run.view.tx_hash, run.view.managed) == (SERVED, "0xserved", True)
    assert run.view.words == "signed and sent by the service; confirming on chain"
    assert run.view.steps == (StepView(Step.REQUESTED, NOW),)


@pytest.mark.parametrize(
    ("managed", "answer", "reason", "text", "fix"),
    [
        (
            True,
            answered(),
            RunProblem.SERVICE,
            "the service returned neither a transaction nor a hash",
            "",
        ),
        (
            False,
            answered(success=False, payout=0.0),
            RunProblem.SERVICE,
            "refused by the service without a reason",
            "",
        ),
        (
            False,
            OutcomeUnknownError("no answer", CALLED),
            RunProblem.SERVICE,
            "no response: no answer (POST /x)",
            "retry",
        ),
        (
            False,
            NotFoundError(RefusalReason("no such market", "look again"), CALLED, status=404),
            RunProblem.SERVICE,
            "no such market",
            "look again",
        ),
        (False, SILENT, RunProblem.SERVICE, str(SILENT), "retry"),
    ],
)
async def test_a_request_that_leads_nowhere_ends_the_run_with_its_reason(
    answer: object, reason: RunProblem, text: str, fix: str, *, managed: bool
) -> None:
    run, on, line = made(managed=managed)
    on.answers[REDEEM] = answer
    await run.go()
    assert (run.step, run.view.reason, run.view.words) == (REFUSED, reason, text)
    assert run.view.fix == fix
    assert line.runs.written == [("settle", 7, REFUSED)]


async def test_a_request_that_the_service_may_have_carried_out_is_looked_for() -> None:
    run, on, _ = made(managed=True)
    on.answers[REDEEM] = OutcomeUnknownError("no answer", CALLED)
    await going(run, on, 1)
    assert (run.step, run.view.words) == (SERVED, "sent, no response: no answer (POST /x)")


# -- what the service signs ---------------------------------------------------------------------


async def going(run: RedemptionRun, on: Offline, seconds: float) -> None:
    """Let a run go on for so long."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run.go())
        await on.clock.advance(0)
        await on.clock.advance(seconds)
        task.cancel()


async def test_a_redemption_of_the_service_is_over_when_the_queue_says_so() -> None:
    paid = replace(ROW, stage=Stage.REDEEMED, tx_hash="0xqueue")
    run, on, line = made(SERVED, row=paid, managed=True)
    await going(run, on, 3)
    assert (run.step, run.view.state, run.view.tx_hash) == (DONE, ChainRunState.DONE, "0xqueue")
    assert [one.step for one in run.view.steps] == [Step.CONFIRMED, Step.REPORTED]
    assert line.runs.written == [("settle", 7, DONE)]


async def test_one_without_a_hash_keeps_its_own() -> None:
    run, on, _ = made(SERVED, row=replace(ROW, stage=Stage.REDEEMED), managed=True)
    run.show(tx_hash="0xown")
    await going(run, on, 3)
    assert run.view.tx_hash == "0xown"


async def test_one_that_never_comes_into_the_queue_ends_after_a_minute() -> None:
    run, on, _ = made(SERVED, managed=True)
    await going(run, on, CONFIRM_WAIT_S + 5)
    assert run.view.words == "sent, no response, and not in the queue"
    run, on, _ = made(SERVED, managed=True)
    run.show(tx_hash="0xown")
    await going(run, on, CONFIRM_WAIT_S - 5)
    assert run.view.state is ChainRunState.RUNNING
    run, on, _ = made(SERVED, managed=True)
    run.show(tx_hash="0xown")
    await going(run, on, CONFIRM_WAIT_S + 5)
    assert run.view.state is ChainRunState.UNCONFIRMED
    assert set(on.woken) == {Topic.REDEMPTIONS}


# -- checking -----------------------------------------------------------------------------------


def test_the_position_is_taken_from_the_own_records() -> None:
    whole = Redemption(
        condition_id=bytes.fromhex("1f" * 32), is_yes=False, is_neg_risk=True, shares=9 * ONE
    )
    assert redemption_of(Side.NO, ROW) == whole
    assert redemption_of(Side.YES, ROW) == replace(whole, is_yes=True)
    unnamed = replace(whole, condition_id=None, is_neg_risk=None)
    for text in ("", "0x1f", "0x" + "1f" * 33, "condition"):
        assert redemption_of(Side.NO, replace(ROW, condition_id=text)) == unnamed, text
    assert redemption_of(Side.NO, None) == replace(unnamed, shares=None)
    # What was kept since the buy counts, whatever the queue names now.
    lies = replace(ROW, condition_id="0x" + "2e" * 32, neg_risk=False)
    for row in (ROW, lies, replace(ROW, condition_id="")):
        assert redemption_of(Side.NO, row, KEPT) == whole
    assert redemption_of(Side.NO, None, KEPT) == replace(whole, shares=None)


@pytest.mark.parametrize(("earlier", "nonce"), [(3, 6), (4, 4), (5, 5), (6, 6), (7, 6)])
def test_one_redemption_never_has_two_nonces_that_both_may_come(earlier: int, nonce: int) -> None:
    assert own_nonce(Place(4, 6, 0, frozenset(), frozenset()), earlier) == nonce


@pytest.mark.parametrize(
    ("last", "receipt", "nonce"),
    [
        ({"nonce": 4, "tx_hash": "0xold"}, None, 4),
        ({"nonce": 4, "tx_hash": "0xold"}, Receipt("0xold", succeeded=False, block=1, cost=1), 5),
        ({"nonce": None, "tx_hash": "0xold"}, None, 5),
        ({"nonce": 4, "tx_hash": None}, None, 5),
        (None, None, 5),
    ],
)
async def test_an_earlier_transaction_that_may_come_keeps_its_nonce(
    last: dict[str, Any] | None,
    receipt: Receipt | None,
    nonce: int,
) -> None:
    run, _, line = checked()
    line.at, line.receipt_now = Place(4, 5, 0, frozenset(), frozenset()), receipt
    if last is not None:
        line.runs.last = ChainRun(
            subject="redeem:m1:no", wallet="w", opened_at=NOW, changed_at=NOW, step="confirm",
            body="", **last,
        )  # fmt: skip
    await run.go()
    assert run.body.to_sign is not None
    assert run.body.to_sign.nonce == nonce
    assert line.runs.looked_for == ["redeem:m1:no"]


class Checked(RedemptionRun):
    """A run whose chain and policy say what a test wants."""

    note = ""
    checks = 0
    problem: Exception | None = None
    certain = True
    is_signed = False
    own = redemption_of(Side.NO, ROW)

    async def check_chain(self, redemption: Redemption) -> str:
        self.checks += 1
        assert redemption == self.own
        if self.problem is not None:
            raise self.problem
        return self.note

    async def sign_in_turn(self) -> None:
        self.is_signed = True
        self.step = "signed"


SIGNABLE = SignableCall(
    to="0xto",
    call=RedeemNegRisk(b"\x1f" * 32, (0, 1)),
    contract="conditional tokens",
    lines=("amount: 5",),
)


class Judge(ChainLine):
    """A policy that lets every call through, and a node that prices it."""

    signable = SIGNABLE
    own = redemption_of(Side.NO, ROW)

    def __init__(self, **other: Any) -> None:
        super().__init__(**other)
        self.policy = self
        self.judged: list[tuple[Unsigned, str]] = []

    def redemption(self, redemption: Redemption, unsigned: Unsigned, wallet: str) -> SignableCall:
        assert redemption == self.own
        self.judged.append((unsigned, wallet))
        return self.signable

    async def built(self, call: SignableCall, wallet: str, *, nonce: int) -> Transaction:
        assert (call, wallet) == (self.signable, "0xWALLET")
        return Transaction(
            chain_id=137, nonce=nonce, max_priority_fee=1, max_fee=10**12, gas=2_000_000,
            to="0x" + "11" * 20, data=b"\x05",
        )  # fmt: skip


def checked(
    *, certain: bool = True, confirmed: bool = True, gap: int = 0, by_itself: bool = False
) -> tuple[Checked, Offline, Judge]:
    """A run that has the transaction to sign."""
    line = Judge(at=Place(5, 5, gap, frozenset(), frozenset()))
    line.signable = replace(SIGNABLE, is_certain=certain)
    plain, on, _ = made(REQUEST, line, by_itself=by_itself)
    on.answers[REDEEM] = answered(payout=0.0)
    stored = ChainRun(
        subject="redeem:m1:no", wallet="0xWALLET", opened_at=NOW, changed_at=NOW, step=REQUEST,
        body="", number=7,
    )  # fmt: skip
    run = Checked(on.ports, cast("Any", line), stored, replace(plain.body, confirmed=confirmed))
    return run, on, line


async def test_a_confirmed_redemption_is_signed_in_the_turn_that_read_its_place() -> None:
    run, _, line = checked()
    await run.go()
    assert run.is_signed
    assert line.turn.taken == 1
    ((unsigned, wallet),) = line.judged
    assert wallet == "0xWALLET"
    assert (unsigned.to, unsigned.data, unsigned.sender) == ("0xto", "0xdata", "0xfrom")
    assert (unsigned.gas, unsigned.chain_id, unsigned.value) == (90, 137, 1)
    to_sign = run.body.to_sign
    assert to_sign is not None
    assert (to_sign.nonce, to_sign.gas, to_sign.data) == (5, 2_000_000, "05")
    assert run.view.steps[1:] == (StepView(Step.CHECKED, NOW, "pays 3.00 USDC.e"),)
    assert run.view.call is not None
    assert run.view.call.fee_money == round(2 * ONE * POL_PRICE_USUAL)
    assert run.view.words == "signing"


async def test_what_was_kept_of_a_position_is_redeemed_whatever_the_queue_names() -> None:
    run, on, line = checked()
    kept = replace(KEPT, condition_id="0x" + "2e" * 32, neg_risk=False)
    on.tokens.kept[kept.place] = kept
    run.own = line.own = replace(
        redemption_of(Side.NO, ROW), condition_id=b"\x2e" * 32, is_neg_risk=False
    )
    await run.go()
    assert run.is_signed
    assert (len(line.judged), run.checks) == (1, 1)


@pytest.mark.parametrize("by_itself", [False, True])
async def test_what_was_only_listed_binds_what_no_person_confirms(*, by_itself: bool) -> None:
    run, on, line = checked(by_itself=by_itself)
    listed = replace(KEPT, condition_id="0x" + "2e" * 32, neg_risk=False, bought=False)
    on.tokens.kept[listed.place] = listed
    if by_itself:
        run.own = line.own = replace(
            redemption_of(Side.NO, ROW), condition_id=b"\x2e" * 32, is_neg_risk=False
        )
    await run.go()
    # The run and the policy compare it with what is redeemed.
    assert run.is_signed
    assert (len(line.judged), run.checks) == (1, 1)


@pytest.mark.parametrize("by_itself", [False, True])
async def test_what_was_bought_in_another_market_is_not_redeemed_by_itself(
    *, by_itself: bool
) -> None:
    run, on, _ = checked(by_itself=by_itself)
    token = token_of(CONDITION, Side.NO, neg_risk=True)
    there = replace(KEPT, market_id="m0", token=token)
    on.tokens.kept[there.place] = there
    await run.go()
    assert run.is_signed is not by_itself
    if by_itself:
        assert (run.step, run.view.reason) == (REFUSED, RunProblem.OUTSIDE_POLICY)
        assert "the token was bought in market m0, not in m1" in run.view.words


@pytest.mark.parametrize("other", [{"confirmed": False}, {"certain": False}, {"gap": 1}])
async def test_whatever_is_not_sure_waits_for_the_person(
    other: dict[str, Any],
) -> None:
    run, _, line = checked(**other)
    run.note = "compare it yourself"
    await run.go()
    assert not run.is_signed
    assert (run.step, run.view.state) == (PREPARED, ChainRunState.PREPARED)
    assert run.view.words == "needs your confirmation"
    assert run.view.call is not None
    assert ("note", "compare it yourself") in run.view.call.arguments
    assert run.view.call.gap == other.get("gap", 0)
    assert line.runs.written == [("move", 7, CHECK), ("move", 7, PREPARED)]


async def test_nothing_uncertain_is_redeemed_by_itself() -> None:
    run, on, _ = checked(certain=False, by_itself=True)
    await run.go()
    assert (run.step, run.view.reason, run.checks) == (REFUSED, RunProblem.OUTSIDE_POLICY, 0)
    assert run.view.fix == "redeem by hand: the decoded call is shown then"
    assert on.words == [("bad", "not done, Will it?: the service does not name the condition")]


async def test_what_the_chain_does_not_pay_is_not_signed() -> None:
    run, _, _ = checked()
    run.problem = NotRedeemableError(Obstacle.POSITION_LOST, "lost")
    await run.go()
    assert (run.step, run.view.reason) == (REFUSED, RunProblem.LOST)
    run, _, _ = checked()
    run.problem = PolicyRefusedError(Rule.ARGUMENT, "another token")
    await run.go()
    assert run.view.reason is RunProblem.OUTSIDE_POLICY


async def test_the_contracts_say_whether_it_has_happened() -> None:
    run, _, _ = checked()
    assert await run.is_undone() is True
    await run.check()
    assert run.checks == 2
    run.problem = NotRedeemableError(Obstacle.ALREADY_REDEEMED, "paid")
    assert await run.is_undone() is False


async def test_after_a_restart_the_transaction_is_asked_for_again() -> None:
    run, on, line = made(CHECK)
    on.answers[REDEEM] = SILENT
    await run.go()
    assert [one.endpoint for one in on.asked] == [REDEEM]
    assert line.runs.written == [("move", 7, REQUEST), ("settle", 7, REFUSED)]


@pytest.mark.parametrize("row", [replace(ROW, condition_id=""), None])
async def test_a_position_without_a_condition_is_not_looked_for_on_the_chain(
    row: RedemptionRow | None,
) -> None:
    run, _, line = made(row=row)
    note = await run.check_chain(redemption_of(Side.NO, run.row))
    assert note == "the service does not name the condition: compare it yourself"
    assert line.asked == []


@pytest.mark.parametrize("unknown", [{"condition_id": None}, {"is_neg_risk": None}])
async def test_a_position_of_which_one_fact_is_unknown_is_not_looked_for_on_the_chain(
    unknown: dict[str, Any],
) -> None:
    run, _, line = made()
    note = await run.check_chain(replace(redemption_of(Side.NO, run.row), **unknown))
    assert note == "the service does not name the condition: compare it yourself"
    assert line.asked == []


class Paying(Judge):
    """A chain on which the position has won."""

    async def check(self) -> None:
        self.asked.append(("check", ""))

    async def contracts(self) -> "Paying":
        return self

    async def payout_denominator(self, condition_id: bytes) -> int:
        assert condition_id.hex() == CONDITION[2:]
        return 1

    async def payout_numerator(self, _: bytes, *, is_yes: bool) -> int:
        return 0 if is_yes else 1

    async def token_id(self, *_: object, **__: object) -> int:
        return 77

    async def token_balance(self, owner: str, token_id: int) -> int:
        assert (owner, token_id) == ("0xWALLET", 77)
        return 7 * ONE


async def test_the_payout_is_the_one_of_the_chain() -> None:
    line = Paying()
    line.policy = SigningPolicy()
    run, _, _ = made(line=line)
    assert await run.check_chain(redemption_of(Side.NO, run.row)) == ""
    assert run.view.amount == 7 * ONE
    assert line.asked == [("check", "")]


# -- the end ------------------------------------------------------------------------------------


async def test_a_confirmed_payout_is_reported_until_it_is_acknowledged() -> None:
    run, on, line = made(REPORT)
    run.show(tx_hash=HASH)
    on.answers[REPORT_REDEMPTION] = ReportBody(success=True, error=None)
    await run.go()
    body = ReportRequest(market_id="m1", side=Side.NO, tx_hash=HASH)
    assert on.asked == [Asked(REPORT_REDEMPTION, body=body)]
    assert (run.step, run.view.state, run.view.words) == (
        DONE,
        ChainRunState.DONE,
        "3.00 USDC.e received",
    )
    assert run.view.settled_at == NOW
    assert on.told == [Noticed("good", "redeemed: 3.00 USDC.e received, Will it?", NoticeKind.FILL)]
    assert on.woken == [Topic.REDEMPTIONS, Topic.WALLET, Topic.POSITIONS, Topic.ACCOUNT]
    assert line.runs.written == [("settle", 7, DONE)]


async def test_a_report_that_is_refused_is_repeated_after_ever_longer_pauses() -> None:
    run, on, _ = made(REPORT, reason=RunProblem.SERVICE, fix="wait", tx_hash=HASH)
    no = ReportBody(success=False, error="")
    yes = ReportBody(success=True, error=None)
    on.answers[REPORT_REDEMPTION] = [SILENT, *[no] * 7, yes]
    pauses: list[tuple[float, str]] = []

    async def sleep(delay_s: float) -> None:
        pauses.append((delay_s, run.view.words))

    on.clock.sleep = sleep  # type: ignore[method-assign]
    await run.go()
    again = "paid; reporting again: "
    assert pauses == [
        (AGAIN_S, f"{again}no connection (POST /x)"),
        *((min(AGAIN_MAX_S, AGAIN_S * 2**one), f"{again}not accepted yet") for one in range(1, 8)),
    ]
    assert pauses[-1][0] == AGAIN_MAX_S
    assert (run.view.state, run.view.reason, run.view.fix) == (ChainRunState.DONE, None, "")


async def test_a_receipt_is_followed_by_the_report() -> None:
    run, _, line = made("confirm", reason=RunProblem.TIMEOUT, fix="look")
    await run.finish(Receipt("0xhash", succeeded=True, block=88, cost=3))
    assert (run.step, run.view.state) == (REPORT, ChainRunState.REPORTING)
    assert run.view.steps == (StepView(Step.CONFIRMED, NOW, "block 88"),)
    assert (run.view.words, run.view.reason, run.view.fix) == (
        "confirmed; reporting to the service",
        None,
        "",
    )
    assert line.runs.written == [("move", 7, REPORT)]


@pytest.mark.parametrize(
    ("own", "served_price", "price"),
    [
        ("0.5", 0.3, 0.5),
        ("", 0.3, 0.3),
        ("words", 0.3, 0.3),
        ("0", 0.3, 0.3),
        ("-1", None, POL_PRICE_USUAL),
        ("1000000", 0.3, 0.3),
        ("nan", 0.3, 0.3),
        ("", 0.0, POL_PRICE_USUAL),
        ("", None, POL_PRICE_USUAL),
    ],
)
def test_a_fee_is_told_in_money_by_the_best_price_that_is_known(
    own: str, served_price: float | None, price: float
) -> None:
    assert priced(CALL, own, served_price) == replace(
        CALL, fee_money=Micros(round(2 * ONE * price))
    )

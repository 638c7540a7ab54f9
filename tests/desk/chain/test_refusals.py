"""Why a run ends before anything is signed, and what to do then."""

from dataclasses import replace
from typing import Any

import pytest

from service_tui.desk.chain.refusals import FIXES, RunRefusal, against, refusal_for, refusal_of
from service_tui.desk.chain.translate import BY_HAND
from service_tui.desk.slices.redemption import RedemptionRow, RunProblem, Stage
from service_tui.signing.errors import (
    ChainError,
    LockedError,
    MalformedError,
    NotEnoughGasError,
    NotRedeemableError,
    Obstacle,
    PolicyRefusedError,
    Rule,
    SigningError,
)
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.redemption import RedeemBody

ROW = RedemptionRow(
    "m1", "Will it?", Side.NO, Venue.EVM, Stage.READY, Micros(9 * ONE), Micros(4 * ONE),
    Micros(8 * ONE), next_text="what comes next",
)  # fmt: skip


def parts(refusal: RunRefusal) -> tuple[RunProblem, str, str]:
    return refusal.reason, refusal.text, refusal.fix


@pytest.mark.parametrize(
    ("answer", "reason", "text", "fix"),
    [
        ({"error_code": "NOT_HELD", "error": "lost"}, RunProblem.ALREADY, "lost", None),
        ({"error_code": "not_finalized", "error": "x"}, RunProblem.NOT_FINAL, "x", None),
        ({"error_code": "POSITION_LOST", "error": "x"}, RunProblem.LOST, "x", None),
        ({"error_code": "INSUFFICIENT_GAS", "error": "x"}, RunProblem.NO_GAS, "x", None),
        ({"error": "Position BALANCE is 0"}, RunProblem.ALREADY, "Position BALANCE is 0", None),
        ({"error": "Not finalized yet"}, RunProblem.NOT_FINAL, "Not finalized yet", None),
        ({"error": "the side lost"}, RunProblem.LOST, "the side lost", None),
        ({"error_code": "NOT_REDEEMABLE", "error": "no"}, RunProblem.SERVICE, "no", ""),
        ({}, RunProblem.SERVICE, "refused by the service without a reason", ""),
        ({"error": "no", "error_hint": "hint"}, RunProblem.SERVICE, "no", "hint"),
        ({"error": "no", "error_hint": "hint", "fix": "fix"}, RunProblem.SERVICE, "no", "fix"),
    ],
)
def test_the_service_s_refusal_has_a_reason_by_its_code_else_by_its_words(
    answer: dict[str, Any], reason: RunProblem, text: str, fix: str | None
) -> None:
    refusal = refusal_of(RedeemBody(success=False, **answer))
    assert parts(refusal) == (reason, text, FIXES[reason] if fix is None else fix)


@pytest.mark.parametrize(
    ("error", "reason", "fix"),
    [
        (NotRedeemableError(Obstacle.ALREADY_REDEEMED, "x"), RunProblem.ALREADY, None),
        (NotRedeemableError(Obstacle.NOT_FINALIZED, "x"), RunProblem.NOT_FINAL, None),
        (NotRedeemableError(Obstacle.POSITION_LOST, "x"), RunProblem.LOST, None),
        (PolicyRefusedError(Rule.TIME, "x"), RunProblem.CHAIN, "check your clock, then retry"),
        (PolicyRefusedError(Rule.TARGET, "x"), RunProblem.OUTSIDE_POLICY, None),
        (NotEnoughGasError(needed=2, balance=1), RunProblem.NO_GAS, None),
        (LockedError("x"), RunProblem.LOCKED, None),
        (ChainError("x"), RunProblem.CHAIN, None),
        (MalformedError("x"), RunProblem.OUTSIDE_POLICY, None),
    ],
)
def test_each_error_of_signing_is_a_reason(
    error: SigningError, reason: RunProblem, fix: str | None
) -> None:
    refusal = refusal_for(error)
    assert parts(refusal) == (reason, str(error), FIXES[reason] if fix is None else fix)


def test_what_the_policy_refused_is_shown_decoded() -> None:
    refusal = refusal_for(PolicyRefusedError(Rule.SELECTOR, "no", ("to: 0x1", "function: burn")))
    assert refusal.text == "not signed: no (to: 0x1; function: burn)"


@pytest.mark.parametrize(
    ("row", "reason", "text", "fix"),
    [
        (None, RunProblem.SERVICE, "position no longer in the queue", ""),
        (
            replace(ROW, manual=True), RunProblem.MANUAL, BY_HAND,
            "open the venue's dashboard in your browser",
        ),
        (
            replace(ROW, venue=Venue.SOL, stage=Stage.ACTIVE), RunProblem.MANUAL, BY_HAND,
            "open the venue's dashboard in your browser",
        ),
        (
            replace(ROW, stage=Stage.REDEEMED, lost=True), RunProblem.ALREADY, "already redeemed",
            None,
        ),
        (
            replace(ROW, lost=True), RunProblem.LOST,
            "position lost: it pays nothing, and nothing is burned", None,
        ),
        (
            replace(ROW, stage=Stage.AWAITING), RunProblem.NOT_FINAL, "what comes next",
            "retry when it is ready",
        ),
        (
            replace(ROW, stage=Stage.ACTIVE), RunProblem.NOT_FINAL, "what comes next",
            "retry when it is ready",
        ),
    ],
)  # fmt: skip
def test_a_position_that_is_not_ready_here_is_refused_with_its_reason(
    row: RedemptionRow | None, reason: RunProblem, text: str, fix: str | None
) -> None:
    refusal = against(row)
    assert refusal is not None
    assert parts(refusal) == (reason, text, FIXES[reason] if fix is None else fix)


def test_a_position_that_is_ready_is_not_refused() -> None:
    assert against(ROW) is None

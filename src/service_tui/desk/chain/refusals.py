"""Reasons why a transaction run ends before anything is signed, from service, chain and policy.

Distinguishes the four topics of the spec.
"""

from typing import Final

from service_tui.desk.chain.translate import BY_HAND
from service_tui.desk.slices.redemption import RedemptionRow, RunProblem, Stage
from service_tui.signing.errors import (
    ChainError,
    LockedError,
    NotEnoughGasError,
    NotRedeemableError,
    Obstacle,
    PolicyRefusedError,
    Rule,
    SigningError,
)
from service_tui.terms import Venue
from service_tui.wire.redemption import RedeemBody

_CODES: Final = {
    "ALREADY_REDEEMED": RunProblem.ALREADY,
    "NOT_HELD": RunProblem.ALREADY,
    "NOT_FINALIZED": RunProblem.NOT_FINAL,
    "POSITION_LOST": RunProblem.LOST,
    "INSUFFICIENT_GAS": RunProblem.NO_GAS,
}
_OBSTACLES: Final = {
    Obstacle.ALREADY_REDEEMED: RunProblem.ALREADY,
    Obstacle.NOT_FINALIZED: RunProblem.NOT_FINAL,
    Obstacle.POSITION_LOST: RunProblem.LOST,
}
_TOPICS: Final = (
    ("balance is 0", RunProblem.ALREADY),
    ("already", RunProblem.ALREADY),
    ("not finalized", RunProblem.NOT_FINAL),
    ("lost", RunProblem.LOST),
)
"""Words of a message without a code. Source: spec, "Redemption error messages"."""

FIXES: Final = {
    RunProblem.ALREADY: "nothing to do: already claimed at the service",
    RunProblem.NOT_FINAL: "retry in 10 to 30 minutes",
    RunProblem.LOST: "nothing to do: the losing side pays nothing",
    RunProblem.NO_GAS: "send some POL to the wallet; it continues then",
    RunProblem.OUTSIDE_POLICY: "do not sign it elsewhere until this is resolved",
    RunProblem.LOCKED: "unlock the wallet with its passphrase",
    RunProblem.CHAIN: "retry when the chain responds",
    RunProblem.REVERTED: "check the transaction before you retry",
}


class RunRefusal(Exception):
    """Reason why a run ends before anything is signed."""

    def __init__(self, reason: RunProblem, text: str, fix: str = "") -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text
        self.fix = fix or FIXES.get(reason, "")


def refusal_of(answer: RedeemBody) -> RunRefusal:
    """Refusal for the service's answer to a redeem request."""
    text = answer.error or "refused by the service without a reason"
    lowered = text.lower()
    by_text = next((reason for word, reason in _TOPICS if word in lowered), RunProblem.SERVICE)
    reason = _CODES.get((answer.error_code or "").upper(), by_text)
    return RunRefusal(reason, text, answer.fix or answer.error_hint or "")


def refusal_for(error: SigningError) -> RunRefusal:
    """Refusal for an error of `signing`; a call that the policy refused is shown decoded."""
    match error:
        case NotRedeemableError():
            return RunRefusal(_OBSTACLES[error.obstacle], str(error))
        case PolicyRefusedError(rule=Rule.TIME):
            return RunRefusal(RunProblem.CHAIN, str(error), "check your clock, then retry")
        case PolicyRefusedError():
            decoded = f" ({'; '.join(error.decoded)})" if error.decoded else ""
            return RunRefusal(RunProblem.OUTSIDE_POLICY, f"{error}{decoded}")
        case _:
            reason = next((why for kind, why in _KINDS if isinstance(error, kind)), None)
            return RunRefusal(reason or RunProblem.OUTSIDE_POLICY, str(error))


def against(row: RedemptionRow | None) -> RunRefusal | None:
    """Refusal for a position that cannot be redeemed here, by its row in the queue."""
    if row is None or row.is_ready:
        gone = RunRefusal(RunProblem.SERVICE, "position no longer in the queue")
        return gone if row is None else None
    if row.manual or row.venue is Venue.SOL:
        return RunRefusal(RunProblem.MANUAL, BY_HAND, "open the venue's dashboard in your browser")
    if row.stage is Stage.REDEEMED:
        return RunRefusal(RunProblem.ALREADY, "already redeemed")
    if row.lost:
        return RunRefusal(RunProblem.LOST, "position lost: it pays nothing, and nothing is burned")
    return RunRefusal(RunProblem.NOT_FINAL, row.next_text, "retry when it is ready")


_KINDS: Final[tuple[tuple[type[SigningError], RunProblem], ...]] = (
    (NotEnoughGasError, RunProblem.NO_GAS),
    (LockedError, RunProblem.LOCKED),
    (ChainError, RunProblem.CHAIN),
)

"""Reasons why a transaction run ends before anything is signed, from service, chain and policy.

Distinguishes the four topics of the spec.
"""

from typing import Final

from service_tui.desk.chain.translate import BY_HAND
from service_tui.desk.slices.redemption import NoReason, RedemptionRow, Stage
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
    "ALREADY_REDEEMED": NoReason.ALREADY,
    "NOT_HELD": NoReason.ALREADY,
    "NOT_FINALIZED": NoReason.NOT_FINAL,
    "POSITION_LOST": NoReason.LOST,
    "INSUFFICIENT_GAS": NoReason.NO_GAS,
}
_OBSTACLES: Final = {
    Obstacle.ALREADY_REDEEMED: NoReason.ALREADY,
    Obstacle.NOT_FINALIZED: NoReason.NOT_FINAL,
    Obstacle.POSITION_LOST: NoReason.LOST,
}
_TOPICS: Final = (
    ("balance is 0", NoReason.ALREADY),
    ("already", NoReason.ALREADY),
    ("not finalized", NoReason.NOT_FINAL),
    ("lost", NoReason.LOST),
)
"""Words of a message without a code. Source: spec, "Redemption error messages"."""

FIXES: Final = {
    NoReason.ALREADY: "nothing to do: already claimed at the service",
    NoReason.NOT_FINAL: "retry in 10 to 30 minutes",
    NoReason.LOST: "nothing to do: the losing side pays nothing",
    NoReason.NO_GAS: "send some POL to the wallet; it continues then",
    NoReason.OUTSIDE_POLICY: "do not sign it elsewhere until this is resolved",
    NoReason.LOCKED: "unlock the wallet with its passphrase",
    NoReason.CHAIN: "retry when the chain responds",
    NoReason.REVERTED: "check the transaction before you retry",
}


class RunRefusal(Exception):
    """Reason why a run ends before anything is signed."""

    def __init__(self, reason: NoReason, text: str, fix: str = "") -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text
        self.fix = fix or FIXES.get(reason, "")


def refusal_of(answer: RedeemBody) -> RunRefusal:
    """Refusal for the service's answer to a redeem request."""
    text = answer.error or "refused by the service without a reason"
    lowered = text.lower()
    by_text = next((reason for word, reason in _TOPICS if word in lowered), NoReason.SERVICE)
    reason = _CODES.get((answer.error_code or "").upper(), by_text)
    return RunRefusal(reason, text, answer.fix or answer.error_hint or "")


def refusal_for(error: SigningError) -> RunRefusal:
    """Refusal for an error of `signing`; a call that the policy refused is shown decoded."""
    match error:
        case NotRedeemableError():
            return RunRefusal(_OBSTACLES[error.obstacle], str(error))
        case PolicyRefusedError(rule=Rule.TIME):
            return RunRefusal(NoReason.CHAIN, str(error), "check your clock, then retry")
        case PolicyRefusedError():
            decoded = f" ({'; '.join(error.decoded)})" if error.decoded else ""
            return RunRefusal(NoReason.OUTSIDE_POLICY, f"{error}{decoded}")
        case _:
            reason = next((why for kind, why in _KINDS if isinstance(error, kind)), None)
            return RunRefusal(reason or NoReason.OUTSIDE_POLICY, str(error))


def against(row: RedemptionRow | None) -> RunRefusal | None:
    """Refusal for a position that cannot be redeemed here, by its row in the queue."""
    if row is None or row.is_ready:
        gone = RunRefusal(NoReason.SERVICE, "position no longer in the queue")
        return gone if row is None else None
    if row.manual or row.venue is Venue.SOL:
        return RunRefusal(NoReason.MANUAL, BY_HAND, "open the venue's dashboard in your browser")
    if row.stage is Stage.REDEEMED:
        return RunRefusal(NoReason.ALREADY, "already redeemed")
    if row.lost:
        return RunRefusal(NoReason.LOST, "position lost: it pays nothing, and nothing is burned")
    return RunRefusal(NoReason.NOT_FINAL, row.next_text, "retry when it is ready")


_KINDS: Final[tuple[tuple[type[SigningError], NoReason], ...]] = (
    (NotEnoughGasError, NoReason.NO_GAS),
    (LockedError, NoReason.LOCKED),
    (ChainError, NoReason.CHAIN),
)

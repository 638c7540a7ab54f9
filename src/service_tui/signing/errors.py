"""Reasons why nothing was signed.

    SigningError
    ├── KeyFormatError         what was given is no private key
    ├── LockedError            the signer has no key at hand now
    ├── MalformedError         bytes or text that are not what they must be
    │   ├── UnknownCallError   call data of no function that is known here
    │   └── OtherTypeError     a transaction of another type than is signed here
    ├── PolicyRefusedError     well formed, but nothing that a person would sign
    ├── NotRedeemableError     the chain shows that there is nothing to redeem; four topics
    ├── NotEnoughGasError      the wallet cannot pay for it; top it up, then it goes on
    ├── ChainError             the chain's answer is missing or makes no sense
    └── KeystoreError          a key file that cannot be read, opened or written

No error holds a key, a passphrase or a signature. `str()` is one sentence that may be shown.
"""

from enum import StrEnum


class SigningError(Exception):
    """Nothing was signed."""


class KeyFormatError(SigningError):
    """The input is no private key; its text is never repeated."""


class LockedError(SigningError):
    """The key is locked."""


class MalformedError(SigningError):
    """Bytes or text that are not what they must be."""


class UnknownCallError(MalformedError):
    """Call data of no function that is known here."""


class OtherTypeError(MalformedError):
    """A transaction of another type than is signed here."""


class Rule(StrEnum):
    """The rule of the policy that a request breaks."""

    CHAIN = "chain"
    TARGET = "target"
    SELECTOR = "selector"
    SENDER = "sender"
    VALUE = "value"
    ARGUMENT = "argument"
    GAS = "gas"
    FEE = "fee"
    TOTAL = "total"
    DAY = "day"
    NONCE = "nonce"
    FORM = "form"
    TEXT = "text"
    TIME = "time"
    PRICE = "price"
    TICK = "tick"
    OUTCOME = "outcome"
    UNSEEN = "unseen"


class PolicyRefusedError(SigningError):
    """Well formed, but nothing that a person would sign.

    `rule` names what was broken; `decoded` holds what was requested, a line a fact, to be shown.
    """

    def __init__(self, rule: Rule, sentence: str, decoded: tuple[str, ...] = ()) -> None:
        super().__init__(f"not signed: {sentence}")
        self.rule = rule
        self.sentence = sentence
        self.decoded = decoded


class Obstacle(StrEnum):
    """Reason why a position cannot be redeemed. Source: spec, "Errors", redemption topics."""

    NOT_FINALIZED = "not_finalized"
    ALREADY_REDEEMED = "already_redeemed"
    POSITION_LOST = "position_lost"


class NotRedeemableError(SigningError):
    """The chain has nothing to redeem; no transaction was built."""

    def __init__(self, obstacle: Obstacle, sentence: str) -> None:
        super().__init__(sentence)
        self.obstacle = obstacle


class NotEnoughGasError(SigningError):
    """The wallet holds less of the gas token than the transaction may cost; both in wei."""

    def __init__(self, *, needed: int, balance: int) -> None:
        super().__init__("the wallet holds too little POL for gas: top it up")
        self.needed = needed
        self.balance = balance


class ChainError(SigningError):
    """The chain's answer is missing, of the wrong form, or of another chain."""


class KeystoreError(SigningError):
    """A key file that cannot be read, opened or written, with the fix."""

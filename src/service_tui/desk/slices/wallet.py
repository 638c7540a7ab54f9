"""The wallet as shown to the operator: owner, balances, missing setup steps, pay per call."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.desk.reasons import Fix
from service_tui.desk.slices.redemption import CallView
from service_tui.units import Micros, Timestamp


class KeyState(StrEnum):
    """State of the wallet's key on this machine."""

    NONE = "no key here"
    LOCKED = "locked"
    UNLOCKED = "unlocked"


class Ownership(StrEnum):
    """Owner of the wallet's key. Source: spec, "Wallet types"."""

    MANAGED = "managed"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class StoredKeyView:
    """An encrypted key in the data directory."""

    address: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """One permission that the venue needs: which contract may move which token."""

    key: str
    token: str
    spender: str
    spender_address: str
    is_set: bool
    call: CallView | None = None


@dataclass(frozen=True, slots=True)
class CheckView:
    """One setup step before the first real trade. `fix` is what to do; empty once done.

    `is_done` None: not known yet.
    """

    name: str
    is_done: bool | None
    detail: str
    fix: str = ""


CASH_CHECK: Final = "USDC.e balance"
"""Name of the step that wants money in the wallet."""

KEY_CHECK: Final = {
    True: CheckView("key", is_done=True, detail="this machine can sign for the wallet"),
    False: CheckView(
        "key",
        is_done=False,
        detail="this machine cannot sign for the wallet now",
        fix=Fix.OPEN_OR_KEEP_KEY,
    ),
}

LIVE_CHECK: Final = {
    True: CheckView("real money", is_done=True, detail="orders may leave for the real venues"),
    False: CheckView(
        "real money",
        is_done=False,
        detail="switched off on this desk",
        fix=Fix.SWITCH_ON_REAL_MONEY,
    ),
}
"""The setup steps that this desk itself adds, by whether they are done."""


class WalletJob(StrEnum):
    """Job in progress on the wallet."""

    UNLOCK = "unlocking"
    LINK = "linking"
    APPROVE = "setting approvals"
    CREDENTIALS = "making credentials"
    KEY = "encrypting the key"


@dataclass(frozen=True, slots=True)
class OfferView:
    """A paid call that a 429 offers. Shown whole before payment.

    `why_not` is why it cannot be paid; empty if it can.
    """

    offer_id: str
    at: Timestamp
    host: str
    path: str
    price: Micros
    recipient: str = ""
    network: str = ""
    token: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class ChallengeView:
    """The text that links a wallet once its key has signed it; shown whole before that."""

    address: str
    nonce: str
    message: str
    expires_at: Timestamp


@dataclass(frozen=True, slots=True)
class PayView:
    """Paying per call: off unless the person gave it a cap for the day.

    `spent` is what was paid since midnight UTC, unsettled payments included.
    """

    day_max: Micros | None = None
    spent: Micros = Micros(0)
    offer: OfferView | None = None

    @property
    def is_on(self) -> bool:
        """True if payments are allowed."""
        return self.day_max is not None


@dataclass(frozen=True, slots=True)
class WalletView:
    """The wallet of the desk's own agent.

    `address` is the one that the service knows, `key_address` the one that this machine can sign
    for; both empty where there is none. Balances are micros of their money, None until known:
    `usdc` is bridged USDC, which the venue accepts, `usdc_native` the kind that it does not accept,
    `gas` the chain's own token, with its price `pol_price`, None if not reported.
    `restricted` is the venue's reason for refusing the wallet, empty if it does not. `live`: the
    person has turned live trading on in this session. `served` are the setup steps that the service
    reports; `problem` is why the last job failed, `fix` what to do. `passed_over` describes each
    file among the keys that is ignored. `managed_address` is that of the wallet
    that the service holds, empty for one that is linked. `challenge` is the text that would be
    signed to link the wallet, once it was read and checked. `is_read`: the service has answered.
    """

    address: str = ""
    key_address: str = ""
    key_state: KeyState = KeyState.NONE
    key_source: str = ""
    stored: tuple[StoredKeyView, ...] = ()
    ownership: Ownership | None = None
    usdc: Micros | None = None
    usdc_native: Micros | None = None
    gas: Micros | None = None
    gas_needed: Micros | None = None
    pol_price: float | None = None
    approvals: tuple[ApprovalView, ...] = ()
    approvals_at: Timestamp | None = None
    has_credentials: bool | None = None
    real_trading: bool = False
    restricted: str = ""
    live: bool = False
    simulated: bool = False
    job: WalletJob | None = None
    job_text: str = ""
    problem: str = ""
    fix: str = ""
    served: tuple[CheckView, ...] = ()
    pay: PayView = PayView()
    passed_over: tuple[str, ...] = ()
    managed_address: str = ""
    challenge: ChallengeView | None = None
    is_read: bool = False

    @property
    def is_linked(self) -> bool:
        """True if the service knows the wallet as an external one."""
        return self.ownership is Ownership.EXTERNAL and bool(self.address)

    @property
    def can_sign(self) -> bool:
        """True if this desk can sign for the linked wallet now."""
        same = self.key_address.lower() == self.address.lower()
        return self.key_state is KeyState.UNLOCKED and (same or not self.address)

    @property
    def checks(self) -> tuple[CheckView, ...]:
        """Setup steps for real trades: the service's list, and this desk's own."""
        own = (KEY_CHECK[self.can_sign],) if self.ownership is not Ownership.MANAGED else ()
        return (*self.served, *own, LIVE_CHECK[self.live])

    @property
    def lacks(self) -> tuple[CheckView, ...]:
        """Setup steps that are missing."""
        return tuple(one for one in self.checks if not one.is_done)

    @property
    def unset(self) -> tuple[ApprovalView, ...]:
        """Approvals that are not given yet."""
        return tuple(one for one in self.approvals if not one.is_set)

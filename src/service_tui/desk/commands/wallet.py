"""Commands for redemptions, the wallet and real money; no repr or text shows a secret."""

from dataclasses import dataclass, field
from typing import ClassVar, Final

from service_tui.desk.command import Command
from service_tui.terms import Side, Venue, counted
from service_tui.units import Micros, decimal

LIVE_WORD: Final = "LIVE"
"""What a person types to switch real money on."""

APPROVE_WORD: Final = "APPROVE"
"""What a person types to let contracts move tokens."""

TAIL: Final = 6
"""Last letters of its address that a person types before a key is deleted."""

GAP_WORD: Final = "ANOTHER SIGNS"
"""What a person types where places of the wallet are taken that no run here explains."""

REDEEM_WORD: Final = "REDEEM"
"""What a person types to redeem several positions, or to have that done from now on."""


@dataclass(frozen=True, slots=True)
class PrepareRedemption(Command):
    """Request a redemption and check it for the confirmation dialog. Signs nothing."""

    kind: ClassVar[str] = "prepare redemption"

    market_id: str
    side: Side
    venue: Venue
    question: str = ""

    @property
    def key(self) -> str:
        """Identity of its row."""
        return f"{self.market_id}:{self.side.value}"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"prepare the redemption of {self.side.value.upper()}"


@dataclass(frozen=True, slots=True)
class Redeem(Command):
    """Sign, broadcast, confirm and report what was shown; `digest` names it.

    An empty digest is a word for a wallet that the service signs for.
    """

    kind: ClassVar[str] = "redeem"

    market_id: str
    side: Side
    venue: Venue
    digest: str = ""
    question: str = ""

    @property
    def key(self) -> str:
        """Identity of its row."""
        return f"{self.market_id}:{self.side.value}"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"redeem {self.side.value.upper()}"


@dataclass(frozen=True, slots=True)
class RedeemAll(Command):
    """Redeem these rows, one after the other, each within the caps that were shown."""

    kind: ClassVar[str] = "redeem"

    keys: tuple[str, ...]

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"redeem {counted(len(self.keys), 'position')}"


@dataclass(frozen=True, slots=True)
class AbandonRun(Command):
    """Give up a redemption whose nonce can never be used. Signs nothing."""

    kind: ClassVar[str] = "redeem"

    key: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "abandon a redemption"


@dataclass(frozen=True, slots=True)
class SetAutoRedeem(Command):
    """Have winning positions redeemed by themselves, within the caps that were shown, or not."""

    kind: ClassVar[str] = "auto-redeem"

    on: bool

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"turn auto-redeem {'on' if self.on else 'off'}"


@dataclass(frozen=True, slots=True)
class UnlockWallet(Command):
    """Open the key with its passphrase, which only the signer receives."""

    kind: ClassVar[str] = "wallet"

    passphrase: str = field(repr=False)
    address: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "unlock the wallet"


@dataclass(frozen=True, slots=True)
class LockWallet(Command):
    """Forget the opened key."""

    kind: ClassVar[str] = "wallet"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "lock the wallet"


@dataclass(frozen=True, slots=True)
class KeepKey(Command):
    """Keep a key encrypted on this machine. Without a `secret` a new one is made."""

    kind: ClassVar[str] = "wallet"

    passphrase: str = field(repr=False)
    secret: str = field(default="", repr=False)

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "import a key" if self.secret else "create a key"


@dataclass(frozen=True, slots=True)
class RemoveKey(Command):
    """Delete an encrypted key from this machine; `tail` is the end of its address, typed."""

    kind: ClassVar[str] = "wallet"

    address: str
    tail: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"remove the key of {self.address}"


@dataclass(frozen=True, slots=True)
class RequestLink(Command):
    """Read the service's challenge to link this wallet, and show its text. Signs nothing."""

    kind: ClassVar[str] = "wallet"

    address: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"request the challenge to link the wallet {self.address}"


@dataclass(frozen=True, slots=True)
class LinkWallet(Command):
    """Sign the challenge that was shown, and trade with this wallet from then on.

    `nonce` is that of the challenge; another one is not signed.
    """

    kind: ClassVar[str] = "wallet"

    address: str
    nonce: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"link the wallet {self.address}"


@dataclass(frozen=True, slots=True)
class ReadApprovals(Command):
    """Read which approvals are set, and what setting the others would sign. Signs nothing."""

    kind: ClassVar[str] = "wallet"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "check the approvals"


@dataclass(frozen=True, slots=True)
class SetApprovals(Command):
    """Give the approvals with these keys, which were shown; skip those already set."""

    kind: ClassVar[str] = "wallet"

    keys: tuple[str, ...]
    word: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"give {len(self.keys)} approvals"


@dataclass(frozen=True, slots=True)
class MakeCredentials(Command):
    """Have the venue's credentials derived from a signature of the wallet."""

    kind: ClassVar[str] = "wallet"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "derive the venue's credentials"


@dataclass(frozen=True, slots=True)
class AllowReal(Command):
    """Let the service accept real trades of the desk's own agent."""

    kind: ClassVar[str] = "wallet"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "allow this agent real trades"


@dataclass(frozen=True, slots=True)
class SetLive(Command):
    """Let orders for real money leave this desk, in this session, or no longer. Starts typed."""

    kind: ClassVar[str] = "live"

    on: bool
    word: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "turn live trading on" if self.on else "turn live trading off"


@dataclass(frozen=True, slots=True)
class SetPay(Command):
    """Allow paying per call up to so much a day; None turns it off."""

    kind: ClassVar[str] = "pay per call"

    day_max: Micros | None

    def describe(self) -> str:
        """Describe the command in plain English."""
        if self.day_max is None:
            return "turn payments per call off"
        return f"pay for calls, max {decimal(self.day_max):,.3f} a day"


@dataclass(frozen=True, slots=True)
class PayOffer(Command):
    """Pay the offer that was shown, once."""

    kind: ClassVar[str] = "pay per call"

    offer_id: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "pay for one call"

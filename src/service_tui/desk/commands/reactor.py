"""Commands of the reactor. Frozen values."""

from dataclasses import dataclass, field
from typing import ClassVar

from service_tui.desk.command import Command
from service_tui.desk.slices.reactor import MIRROR, Policy
from service_tui.terms import Venue
from service_tui.units import Micros


@dataclass(frozen=True, slots=True)
class MirrorSignal(Command):
    """Mirror one signal now, whatever the policy of its wallet."""

    kind: ClassVar[str] = MIRROR
    # The mirror itself writes the row, under a name made of the signal's own.

    signal_id: str
    question: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"mirror a signal{f', {self.question}' if self.question else ''}"


@dataclass(frozen=True, slots=True)
class MirrorAllFrom(Command):
    """Mirror every signal of a wallet that waits now, oldest first."""

    kind: ClassVar[str] = MIRROR

    wallet: str
    label: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"mirror every signal of {self.label or self.wallet}"


@dataclass(frozen=True, slots=True)
class DismissSignal(Command):
    """Remove a signal: it will not be mirrored."""

    kind: ClassVar[str] = "dismiss"

    signal_id: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "dismiss a signal"


@dataclass(frozen=True, slots=True)
class SetWalletPolicy(Command):
    """Set the policy for a wallet's signals: ask, auto or off. Stays on this machine.

    `auto` is a standing authorisation: from then on its signals are mirrored without a question,
    within the caps of the config.
    """

    kind: ClassVar[str] = "policy"

    address: str
    policy: Policy
    label: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"signals of {self.label or self.address}: {self.policy.value}"


@dataclass(frozen=True, slots=True)
class LabelWallet(Command):
    """Give a wallet a name; an empty one removes it. Stays on this machine."""

    kind: ClassVar[str] = "label"

    address: str
    label: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"call {self.address} {self.label!r}" if self.label else f"unname {self.address}"


@dataclass(frozen=True, slots=True)
class FollowWallet(Command):
    """Put a wallet on the watchlist; `address` as it was typed, checked by the desk.

    `label` is the name that the person gives it, `known_as` the one that it has without.
    """

    kind: ClassVar[str] = "watchlist"

    address: str
    label: str = ""
    known_as: str = field(default="", compare=False)

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"follow {self.label or self.known_as or self.address}"


@dataclass(frozen=True, slots=True)
class UnfollowWallet(Command):
    """Remove a wallet from the watchlist; its label, policy and history stay."""

    kind: ClassVar[str] = "watchlist"

    address: str
    label: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"unfollow {self.label or self.address}"


@dataclass(frozen=True, slots=True)
class SetReactorConfig(Command):
    """Change the reactor's config on the service; what is None stays.

    Sizes are micros of shares, `daily_cap` micros of money; `mirror_fraction` is 0 to 1,
    `price_buffer` 0 to 0.2. `wallets` is the whole watchlist, as it was typed.
    """

    kind: ClassVar[str] = "reactor"

    wallets: tuple[str, ...] | None = None
    min_size: Micros | None = None
    max_size: Micros | None = None
    mirror_fraction: float | None = None
    daily_cap: Micros | None = None
    venue: Venue | None = None
    enabled: bool | None = None
    price_buffer: float | None = None

    def describe(self) -> str:
        """Describe the command in plain English."""
        if self.enabled is not None:
            return "turn the reactor on" if self.enabled else "turn the reactor off"
        return "change the reactor's config"


@dataclass(frozen=True, slots=True)
class ResetBreaker(Command):
    """Close the circuit breaker now, and count failures from 0 again."""

    kind: ClassVar[str] = "breaker"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "reset the circuit breaker"

"""What just became known of the reactor.

Knows records. Must not know where a fact came from.
Used by pollers and handlers (which yield them) and by desk.reduce_reactor.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from service_tui.desk.records_reactor import (
    BreakerView,
    KnownWalletView,
    ReactorConfigView,
    SignalView,
    WalletChoice,
)
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class ReactorSeen:
    """The service told its config of the reactor, and how its breaker stands."""

    config: ReactorConfigView
    breaker: BreakerView | None = None
    day_spent: Micros | None = None


@dataclass(frozen=True, slots=True)
class ReactorBarred:
    """The service has no reactor for us; `words` say why and what to do."""

    words: str


@dataclass(frozen=True, slots=True)
class SignalsSeen:
    """The signals that wait, oldest first, as the service lists them. `at` is wall time.

    `labels` are the names that came with them, by address. `dropped` signals could not be used;
    `broken` says why of the first.
    """

    at: Timestamp
    signals: tuple[SignalView, ...]
    breaker: BreakerView | None = None
    day_spent: Micros | None = None
    labels: Mapping[str, str] | None = None
    dropped: int = 0
    broken: str = ""


@dataclass(frozen=True, slots=True)
class SignalChanged:
    """A signal was mirrored, skipped or failed, or its mirror has come further."""

    signal: SignalView


@dataclass(frozen=True, slots=True)
class BreakerSeen:
    """The service told how the breaker stands."""

    breaker: BreakerView


@dataclass(frozen=True, slots=True)
class KnownWalletsSeen:
    """The service told which wallets can be followed here."""

    wallets: tuple[KnownWalletView, ...]


@dataclass(frozen=True, slots=True)
class WalletChosen:
    """The person gave a wallet a name or a policy."""

    choice: WalletChoice


ReactorFact = (
    ReactorSeen
    | ReactorBarred
    | SignalsSeen
    | SignalChanged
    | BreakerSeen
    | KnownWalletsSeen
    | WalletChosen
)
"""Every fact about the reactor."""

"""What just became known of redemptions, the wallet and pay per call.

Knows records. Must not know where a fact came from.
Used by pollers and handlers (which yield them) and by desk.reduce_wallet.
"""

from dataclasses import dataclass

from service_tui.desk.records_redemption import RedemptionRow, RunView
from service_tui.desk.records_wallet import PayView, WalletView


@dataclass(frozen=True, slots=True)
class QueueSeen:
    """The service told what is held on the real venues, settled or not."""

    rows: tuple[RedemptionRow, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class ChainRunChanged:
    """A redemption was prepared, or has come further."""

    run: RunView


@dataclass(frozen=True, slots=True)
class AutoChanged:
    """Redeeming by itself was turned, rests or goes on; None leaves a part as it is.

    `executes`: this desk redeems, as its program holds the data directory.
    """

    on_service: bool | None = None
    allowed: bool | None = None
    paused: str | None = None
    executes: bool | None = None


@dataclass(frozen=True, slots=True)
class WalletSeen:
    """The wallet as it stands, but for what is paid per call."""

    wallet: WalletView


@dataclass(frozen=True, slots=True)
class PaySeen:
    """What may be paid per call, what was, and what is on offer."""

    pay: PayView


WalletFact = QueueSeen | ChainRunChanged | AutoChanged | WalletSeen | PaySeen
"""Every fact about redemptions, the wallet and pay per call."""
